/* trisolve_tiles.cu: warps that stream tiles.
 *
 * A block takes a tile by ticket; tickets are handed out in an order in which every tile depends on earlier ones only.
 * Three kinds of warps share it.  One computes: a record holds 32/P rows of one level, P lanes a row; the operands are
 * slots of shared memory, so a step is: load operands, multiply, store the result.  One loads: records by the copy
 * engine into a ring, and b gathered behind it.  NP warps poll the values that other tiles publish and copy them to
 * border slots.  Results stay in a window of the last records; an operand older than the window comes back as a border
 * value. */
#include "kernels/device_wait.cuh"

namespace gik
{

enum { MOST_SHARED = 226 * 1024 }; /* bytes of a block */

template <int KP> struct ring {
  static constexpr int S = KP <= 2 ? 4 : 2; /* records a copy */
  static constexpr int D = KP <= 2 ? 6 : 8; /* copies in the ring */
  static constexpr int E = D / 2;           /* copies that b is gathered ahead of the computing warp */
};

/* values [KP][32] pairs | slots [KP][32] two of 16 bits | meta [32/P] {published place, row}: a negative row has
 * neither b nor x | 1/diagonal [32/P] */
template <typename T, int P, int KP> struct layout {
  static constexpr int R = 32 / P;
  static constexpr int slots = KP * 64 * (int)sizeof(T), meta = slots + KP * 128, inverse = meta + R * 8;
  static constexpr int bytes = (inverse + R * (int)sizeof(T) + 15) / 16 * 16;
};

template <typename T> struct pair {
  T x, y;
};
template <> struct __align__(16) pair<double>
{
  double x, y;
};
template <> struct __align__(8) pair<float>
{
  float x, y;
};

template <typename T, int P, int KP> struct step {
  pair<T> a[KP];
  unsigned slot[KP];
  T rhs;
  unsigned place, row;

  __device__ __forceinline__ void fetch(const char *record, const T *b, int lane)
  {
    typedef layout<T, P, KP> L;
    const int r = lane / P;
#pragma unroll
    for (int k = 0; k < KP; k++) {
      a[k] = ((const pair<T> *)record)[k * 32 + lane];
      slot[k] = ((const unsigned *)(record + L::slots))[k * 32 + lane];
    }
    const uint2 m = ((const uint2 *)(record + L::meta))[r];
    place = m.x;
    row = m.y;
    rhs = ((const T *)(record + L::inverse))[r] * b[r];
    if ((P > 1 && lane % P) || (int)row < 0) rhs = 0;
  }

  __device__ __forceinline__ void operands(T *v, unsigned base) const
  {
#pragma unroll
    for (int k = 0; k < KP; k++) {
      load_shared(base + (slot[k] & 0xffff) * (unsigned)sizeof(T), &v[2 * k]);
      load_shared(base + (slot[k] >> 16) * (unsigned)sizeof(T), &v[2 * k + 1]);
    }
  }

  /* rhs - sum a v over the P lanes of a row, always in the same order. */
  __device__ __forceinline__ T dot(const T *v) const
  {
    T even = rhs, odd = 0;
#pragma unroll
    for (int k = 0; k < KP; k++) {
      even = fma(-a[k].x, v[2 * k], even);
      if (KP == 1)
        even = fma(-a[k].y, v[2 * k + 1], even);
      else
        odd = fma(-a[k].y, v[2 * k + 1], odd);
    }
    if (KP > 1) even += odd;
#pragma unroll
    for (int d = P / 2; d > 0; d >>= 1) even += __shfl_xor_sync(ALL, even, d);
    return even;
  }

  static __device__ __forceinline__ bool missing(const T *v)
  {
    bool m = false;
#pragma unroll
    for (int k = 0; k < 2 * KP; k++) m |= not_yet(v[k]);
    return m;
  }

  /* Whether v may hold a value that is not there: exact for few operands, by the result for many. */
  static __device__ __forceinline__ bool suspect(const T *v, T result)
  {
    if (KP > 2) return result != result;
    bool m = false;
#pragma unroll
    for (int k = 0; k < 2 * KP; k++) m |= perhaps_not_yet(v[k]);
    return m;
  }
};

/* The arguments of one kernel, by value. */
template <typename T> struct tiles_arguments {
  const gik_tile *tile;
  const char *record;
  const unsigned *border;
  const T *b;
  T *x;
  T *published; /* [count][2][n_published] */
  gik_control *control;
  ptrdiff_t b_row, b_rhs, x_row, x_rhs;
  unsigned n_published, pieces, count; /* pieces = tiles * count */
  int capacity, window;                /* slots, records */
  unsigned long long deadline_ns;
};

/* Where a block's parts lie in shared memory, and what of its tile all its warps know. */
template <typename T, int P, int KP> struct block {
  typedef layout<T, P, KP> L;
  typedef ring<KP> K;
  T *x;                                  /* slots: 0 is zero, then the window, then the border */
  char *records;                         /* [D][S] */
  T *b;                                  /* [D][S][R] */
  unsigned slots, full, gathered, empty; /* addresses: slots, and barriers [D] each */
  unsigned local, records_of_tile, copies;
  const char *source;
  const T *b_in;
  T *x_out, *mine, *next; /* published values of this solve, and those of the next, to be cleared */

  __device__ __forceinline__ void place_in(char *memory, int capacity)
  {
    x = (T *)memory;
    records = memory + (size_t)capacity * sizeof(T);
    b = (T *)(records + (size_t)K::D * K::S * L::bytes);
    unsigned long long *barriers = (unsigned long long *)(b + K::D * K::S * L::R);
    slots = shared_address(x);
    full = shared_address(barriers);
    gathered = full + 8 * K::D;
    empty = gathered + 8 * K::D;
    if (threadIdx.x) return;
    for (int i = 0; i < K::D; i++) {
      barrier_init(full + 8 * i, 1);
      barrier_init(gathered + 8 * i, 32);
      barrier_init(empty + 8 * i, 1);
    }
    barrier_init_fence();
  }
  __device__ __forceinline__ const char *record_at(unsigned copy) const
  {
    return records + (size_t)copy * K::S * L::bytes;
  }
};

/* A position in the ring, and the phase of its barriers. */
template <int D> struct cursor {
  unsigned at = 0, phase = 0;
  __device__ __forceinline__ void advance()
  {
    if (++at == D) {
      at = 0;
      phase ^= 1;
    }
  }
};

template <typename T, int P, int KP> struct loader {
  typedef layout<T, P, KP> L;
  typedef ring<KP> K;
  cursor<K::D> issue_at, gather_at;
  unsigned issued, got;

  __device__ __forceinline__ loader() { issue_at.phase = 1; }

  __device__ __forceinline__ void issue(const block<T, P, KP> &k, int lane)
  {
    barrier_wait(k.empty + 8 * issue_at.at, issue_at.phase);
    if (!lane)
      copy_bulk(shared_address(k.record_at(issue_at.at)), k.source + (size_t)issued * K::S * L::bytes, K::S * L::bytes,
                k.full + 8 * issue_at.at);
    issued++;
    issue_at.advance();
  }

  __device__ __forceinline__ void gather(const block<T, P, KP> &k, const tiles_arguments<T> &g, int lane)
  {
    barrier_wait(k.full + 8 * gather_at.at, gather_at.phase);
    const char *record = k.record_at(gather_at.at);
#pragma unroll
    for (int s = 0; s < K::S; s++)
      if (lane < L::R) {
        const unsigned row = ((const uint2 *)(record + s * L::bytes + L::meta))[lane].y;
        copy_one(shared_address(k.b + (gather_at.at * K::S + s) * L::R + lane),
                 k.b_in + ((int)row < 0 ? 0 : row * g.b_row));
      }
    copy_arrive(k.gathered + 8 * gather_at.at);
    gather_at.advance();
    got++;
  }

  /* The first copies do not wait for the block's barrier. */
  __device__ __forceinline__ void begin(const block<T, P, KP> &k, int lane)
  {
    issued = got = 0;
    while (issued < K::D && issued < k.copies) issue(k, lane);
  }

  __device__ __forceinline__ void run(const block<T, P, KP> &k, const tiles_arguments<T> &g, int lane)
  {
    while (got < K::E && got < k.copies) gather(k, g, lane);
    while (got < k.copies) {
      if (issued < k.copies) issue(k, lane);
      gather(k, g, lane);
    }
  }
};

/* Entries of the border are dealt to the lanes of all pollers, four each in flight. */
template <typename T, int NP>
static __device__ __forceinline__ void poll(const gik_tile &tile, const unsigned *border, const T *mine, unsigned slots,
                                            unsigned first_slot, gik_control *control, unsigned long long deadline_ns,
                                            int poller, int lane)
{
  enum { FLIGHT = 4, STRIDE = FLIGHT * 32 * NP };
  const unsigned n = tile.n_borders, *list = border + tile.border;
  unsigned e[FLIGHT], place[FLIGHT], ahead[FLIGHT];
  patience p;
#pragma unroll
  for (int j = 0; j < FLIGHT; j++) {
    e[j] = (j * NP + poller) * 32 + lane;
    place[j] = e[j] < n ? list[e[j]] : 0;
    ahead[j] = e[j] + STRIDE < n ? list[e[j] + STRIDE] : 0;
  }
  while (__any_sync(ALL, e[0] < n)) {
    T v[FLIGHT];
    bool got = false;
#pragma unroll
    for (int j = 0; j < FLIGHT; j++)
      if (e[j] < n) v[j] = load_relaxed(mine + place[j]);
#pragma unroll
    for (int j = 0; j < FLIGHT; j++)
      if (e[j] < n && !not_yet(v[j])) {
        store_shared(slots + (first_slot + e[j]) * (unsigned)sizeof(T), v[j]);
        e[j] += STRIDE;
        place[j] = ahead[j];
        if (e[j] + STRIDE < n) ahead[j] = list[e[j] + STRIDE];
        got = true;
      }
      /* keep e[0] the smallest of the lane, so that it alone tells whether the lane is done */
#pragma unroll
    for (int j = 1; j < FLIGHT; j++)
      if (e[j] < e[0]) {
        const unsigned t = e[0], q = place[0], a = ahead[0];
        e[0] = e[j], place[0] = place[j], ahead[0] = ahead[j];
        e[j] = t, place[j] = q, ahead[j] = a;
      }
    if (!__any_sync(ALL, got) && __any_sync(ALL, p.lost(control, deadline_ns, -1))) break;
  }
}

template <typename T, int P, int KP>
static __device__ __forceinline__ void compute(const block<T, P, KP> &k, const tiles_arguments<T> &g,
                                               cursor<ring<KP>::D> &c, int lane)
{
  typedef layout<T, P, KP> L;
  typedef ring<KP> K;
  if (!k.copies) return;
  step<T, P, KP> now, then;
  patience p;
  unsigned offset = 0;
  const unsigned own = k.slots + (1 + lane / P) * (unsigned)sizeof(T), wrap = k.local * (unsigned)sizeof(T);
  barrier_wait(k.full + 8 * c.at, c.phase);
  barrier_wait(k.gathered + 8 * c.at, c.phase);
  const char *record = k.record_at(c.at);
  const T *b = k.b + c.at * K::S * L::R;
  now.fetch(record, b, lane);
  for (unsigned q = 0; q < k.copies; q++) {
#pragma unroll
    for (int s = 0; s < K::S; s++) {
      T v[2 * KP];
      now.operands(v, k.slots);
      if (s < K::S - 1) {
        then.fetch(record + (s + 1) * L::bytes, b + (s + 1) * L::R, lane);
      } else {
        __syncwarp();
        if (!lane) barrier_arrive(k.empty + 8 * c.at);
        c.advance();
        if (q + 1 < k.copies) {
          barrier_wait(k.full + 8 * c.at, c.phase);
          barrier_wait(k.gathered + 8 * c.at, c.phase);
          record = k.record_at(c.at);
          b = k.b + c.at * K::S * L::R;
          then.fetch(record, b, lane);
        }
      }
      T r = now.dot(v);
      while (__any_sync(ALL, now.suspect(v, r))) {
        const bool missing = now.missing(v);
        if (!__any_sync(ALL, missing)) break;
        if (__any_sync(ALL, p.lost(g.control, g.deadline_ns, missing ? (int)(now.row & 0x7fffffff) : -1))) break;
        now.operands(v, k.slots);
        r = now.dot(v);
      }
      p.until = 0;
      if (P == 1 || lane % P == 0) {
        store_shared(own + offset, r);
        if (now.place != NONE) {
          store_relaxed(k.mine + now.place, r);
          store_not_yet(k.next + now.place);
        }
        if ((int)now.row >= 0) k.x_out[now.row * g.x_row] = r;
      }
      offset += L::R * (unsigned)sizeof(T);
      if (offset == wrap) offset = 0;
      now = then;
    }
  }
}

template <typename T, int P, int KP, int NP>
static __global__ void __launch_bounds__((2 + NP) * 32) tiles_kernel(const tiles_arguments<T> g)
{
  extern __shared__ __align__(128) char memory[];
  __shared__ unsigned ticket;
  typedef ring<KP> K;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned first_parity = g.control->parity[0];
  block<T, P, KP> k;
  loader<T, P, KP> load;
  cursor<K::D> c;
  k.place_in(memory, g.capacity);
  k.local = g.window * (32 / P);
  if (!threadIdx.x) ticket = atomicAdd(&g.control->ticket, 1u);
  __syncthreads();
  for (;;) {
    const unsigned piece = ticket;
    if (piece >= g.pieces) break;
    const unsigned rhs = piece % g.count, copy = copy_of(g.control, first_parity, rhs);
    const gik_tile tile = g.tile[piece / g.count];
    k.copies = (tile.end - tile.first) / K::S;
    k.source = g.record + (size_t)tile.first * layout<T, P, KP>::bytes;
    k.b_in = g.b + rhs * g.b_rhs;
    k.x_out = g.x + rhs * g.x_rhs;
    k.mine = g.published + (size_t)(2 * rhs + copy) * g.n_published;
    k.next = g.published + (size_t)(2 * rhs + (copy ^ 1)) * g.n_published;
    if (warp == 1) load.begin(k, lane);
    for (unsigned i = threadIdx.x; i <= k.local + tile.n_borders; i += blockDim.x)
      if (i <= k.local)
        k.x[i] = 0;
      else
        store_not_yet(k.x + i);
    __syncthreads();
    if (warp == 0) {
      compute(k, g, c, lane);
    } else if (warp == 1) {
      load.run(k, g, lane);
    } else {
      unsigned next = 0;
      if (threadIdx.x == 64) next = atomicAdd(&g.control->ticket, 1u);
      poll<T, NP>(tile, g.border, k.mine, k.slots, 1 + k.local, g.control, g.deadline_ns, warp - 2, lane);
      if (threadIdx.x == 64) ticket = next;
    }
    __syncthreads();
  }
  leave(g.control, g.count);
}

/* The shapes that exist. */
#define GIK_SHAPES(X) X(1, 1) X(1, 2) X(1, 7) X(2, 2) X(4, 1) X(4, 2) X(8, 2) X(16, 2) X(8, 4) X(32, 4)

template <typename T> using tiles_function = void (*)(const tiles_arguments<T>);

template <typename T> static tiles_function<T> tiles_pick(int lanes, int pairs, int pollers)
{
#define GIK_PICK(P, KP)                                                                                                \
  if (lanes == P && pairs == KP)                                                                                       \
    return pollers == 1   ? tiles_kernel<T, P, KP, 1>                                                                  \
           : pollers <= 4 ? tiles_kernel<T, P, KP, 4>                                                                  \
                          : tiles_kernel<T, P, KP, 6>;
  GIK_SHAPES(GIK_PICK)
#undef GIK_PICK
  return nullptr;
}

static size_t tiles_memory(const gik_tiles *t, size_t size, size_t record)
{
  const size_t held = t->pairs <= 2 ? 24 : 16;
  return (((size_t)t->slots + 15) / 16 * 16) * size + held * (record + 32 / t->lanes * size) + 3 * 8 * 8 + 128;
}

template <typename T> static int tiles_fit(const gik_tiles *t, gable_type type, int processors)
{
  const tiles_function<T> f = tiles_pick<T>(t->lanes, t->pairs, t->pollers);
  const size_t memory = tiles_memory(t, sizeof(T), gik_tiles_record_bytes(t->lanes, t->pairs, type));
  int blocks = 0;
  if (!f || memory > MOST_SHARED) return 0;
  /* the limit belongs to the function, not to this plan: always the largest */
  if (cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST_SHARED)) return 0;
  const int pollers = t->pollers == 1 ? 1 : t->pollers <= 4 ? 4 : 6;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, (2 + pollers) * 32, memory)) return 0;
  return blocks * processors;
}

template <typename T> static void tiles_launch(const gik_tiles *t, gable_type type, const gik_solve *s, int blocks)
{
  const int pollers = t->pollers == 1 ? 1 : t->pollers <= 4 ? 4 : 6;
  const unsigned pieces = (unsigned)t->count * (unsigned)s->v.count;
  const tiles_arguments<T> g = {t->tile,
                                (const char *)t->record[type == GABLE_D],
                                t->border,
                                (const T *)s->v.b,
                                (T *)s->v.x,
                                (T *)s->published,
                                s->control,
                                s->v.b_row,
                                s->v.b_rhs,
                                s->v.x_row,
                                s->v.x_rhs,
                                t->n_published,
                                pieces,
                                (unsigned)s->v.count,
                                (t->slots + 15) / 16 * 16,
                                t->window,
                                s->deadline_ns};
  const tiles_function<T> f = tiles_pick<T>(t->lanes, t->pairs, t->pollers);
  const size_t memory = tiles_memory(t, sizeof(T), gik_tiles_record_bytes(t->lanes, t->pairs, type));
  const unsigned grid = pieces < (unsigned)blocks ? pieces : (unsigned)blocks;
  f<<<grid, (2 + pollers) * 32, memory, (cudaStream_t)s->stream>>>(g);
}

} /* namespace gik */

extern "C" {

size_t gik_tiles_record_bytes(int lanes, int pairs, gable_type vectors)
{
  const size_t size = vectors == GABLE_D ? 8 : 4, rows = 32 / (size_t)lanes, k = (size_t)pairs;
  return (k * 64 * size + k * 128 + rows * (8 + size) + 15) / 16 * 16;
}

int gik_tiles_shape(int lanes, int pairs)
{
  return gik::tiles_pick<double>(lanes, pairs, 1) != nullptr;
}

int gik_tiles_blocks(const gik_tiles *t, gable_type vectors, int processors)
{
  return vectors == GABLE_D ? gik::tiles_fit<double>(t, vectors, processors)
                            : gik::tiles_fit<float>(t, vectors, processors);
}

gable_status gik_tiles_solve(const gik_tiles *t, gable_type vectors, int blocks, const gik_solve *s)
{
  gable_status status = GABLE_OK;
  cudaError_t e = cudaSuccess;
  if (vectors == GABLE_D)
    gik::tiles_launch<double>(t, vectors, s, blocks);
  else
    gik::tiles_launch<float>(t, vectors, s, blocks);
  e = cudaGetLastError();
  GI_REQUIRE(!e, GABLE_ERR_BACKEND, "tiles: %s", cudaGetErrorString(e));
done:
  return status;
}

} /* extern "C" */
