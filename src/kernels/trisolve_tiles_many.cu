/* trisolve_tiles_many.cu: tiles for Q right-hand sides at a time.
 *
 * The schedule and the records are those of trisolve_tiles.cu, and so are the kinds of warps; a slot holds Q numbers,
 * one of each right-hand side, so that a record is read, a step begun and a border value waited for once for all of
 * them. */
#include "kernels/cuda_status.cuh"
#include "kernels/tile_flow.cuh"
#include "kernels/value_twins.cuh"

namespace gik
{

enum { MOST_SHARED_MANY = 226 * 1024 }; /* bytes of a block */

template <typename T> struct many_tiles_arguments {
  const gik_tile *tile;
  const char *record;
  const unsigned *row, *border;
  const T *b;
  T *x, *published; /* [chunks][2][n_published][Q] */
  gik_control *control;
  ptrdiff_t b_row, b_rhs, x_row, x_rhs;
  unsigned n_published, pieces, chunks, count; /* pieces = tiles * chunks */
  int capacity, window;                        /* slots, records */
  unsigned long long deadline_ns;
};

/* The ring of records and right-hand sides: shorter than for one, since slots take the room. */
template <typename L, int KP, int W> struct short_ring {
  static constexpr int S = ring<L, KP, W>::S, D = 4; /* D: even */
};

/* Where a block's parts lie in shared memory, and what of its tile all its warps know. */
template <typename T, int P, int KP, int W, int Q> struct many_block {
  typedef layout<T, P, KP, W> L;
  typedef short_ring<L, KP, W> K;
  twin<T> *x;       /* [Q/2][capacity] slots: 0 is zero, then the window, then the border */
  twin<T> *b;       /* [D][S][Q/2][R] */
  unsigned *border; /* published places of the border slots */
  char *records;    /* [D][S] */
  unsigned slots, full, empty;
  unsigned plane;                    /* bytes from a slot's first pair to its next */
  unsigned local, copies, rhs, here; /* first right-hand side, and how many there are of the chunk's */
  const char *source;
  const unsigned *row;
  T *mine, *next;

  static size_t bytes(size_t slots)
  {
    return slots * (Q * sizeof(T) + 4) + (size_t)K::D * K::S * (L::bytes + L::R * Q * sizeof(T)) + 2 * 8 * K::D;
  }
  __device__ __forceinline__ void place_in(char *memory, int capacity)
  {
    x = (twin<T> *)memory;
    b = x + (size_t)capacity * (Q / 2);
    records = (char *)(b + K::D * K::S * L::R * (Q / 2));
    unsigned long long *barriers = (unsigned long long *)(records + (size_t)K::D * K::S * L::bytes);
    border = (unsigned *)(barriers + 2 * K::D);
    slots = shared_address(x);
    plane = (unsigned)(capacity * sizeof(twin<T>));
    full = shared_address(barriers);
    empty = full + 8 * K::D;
    if (threadIdx.x) return;
    for (int i = 0; i < K::D; i++) {
      barrier_init(full + 8 * i, 1 + crew<W, 1>::load);
      barrier_init(empty + 8 * i, W);
    }
    barrier_init_fence();
  }
  __device__ __forceinline__ const char *record_at(unsigned copy) const
  {
    return records + (size_t)copy * K::S * L::bytes;
  }
  __device__ __forceinline__ const twin<T> *b_at(unsigned copy) const { return b + copy * K::S * L::R * (Q / 2); }
};

/* What a lane holds of a record; see step of tile_record.cuh. */
template <typename T, int P, int KP, int W, int Q> struct many_step {
  typedef layout<T, P, KP, W> L;
  enum { H = Q / 2 };
  pair<T> a[KP];
  unsigned at[2 * KP]; /* where the operands are in shared memory */
  twin<T> b[H];
  T inverse;
  unsigned place, row;

  __device__ __forceinline__ void fetch(const char *record, const twin<T> *rhs, unsigned base, int t)
  {
    const int r = t / P;
#pragma unroll
    for (int k = 0; k < KP; k++) {
      const unsigned slot = ((const unsigned *)(record + L::slots))[k * L::C + t];
      a[k] = ((const pair<T> *)record)[k * L::C + t];
      at[2 * k] = base + (slot & 0xffff) * (unsigned)sizeof(twin<T>);
      at[2 * k + 1] = base + (slot >> 16) * (unsigned)sizeof(twin<T>);
    }
    const uint2 m = ((const uint2 *)(record + L::meta))[r];
    place = m.x;
    row = m.y;
    inverse = ((const T *)(record + L::inverse))[r];
#pragma unroll
    for (int h = 0; h < H; h++) b[h] = rhs[h * L::R + r];
  }

  /* b - sum a v over the P lanes of a row, in every lane, in the order of step::dot. */
  __device__ __forceinline__ void solve(twin<T> *s, unsigned plane, int lane) const
  {
    const bool starts = (P == 1 || lane % P == 0) && (int)row >= 0;
#pragma unroll
    for (int h = 0; h < H; h++) {
      twin<T> even = {starts ? inverse * b[h].x : (T)0, starts ? inverse * b[h].y : (T)0}, odd = {0, 0};
#pragma unroll
      for (int k = 0; k < KP; k++) {
        twin<T> v, w;
        load_shared(at[2 * k] + h * plane, &v);
        load_shared(at[2 * k + 1] + h * plane, &w);
        even.x = fma(-a[k].x, v.x, even.x);
        even.y = fma(-a[k].x, v.y, even.y);
        twin<T> &second = KP == 1 ? even : odd;
        second.x = fma(-a[k].y, w.x, second.x);
        second.y = fma(-a[k].y, w.y, second.y);
      }
      s[h] = {KP == 1 ? even.x : even.x + odd.x, KP == 1 ? even.y : even.y + odd.y};
    }
#pragma unroll
    for (int d = P / 2; d > 0; d >>= 1)
#pragma unroll
      for (int h = 0; h < H; h++) {
        s[h].x += __shfl_xor_sync(ALL, s[h].x, d);
        s[h].y += __shfl_xor_sync(ALL, s[h].y, d);
      }
  }

  /* Whether the result may stem from a value that is not there: such a value is a NaN. */
  static __device__ __forceinline__ bool suspect(const twin<T> *s)
  {
    bool m = false;
#pragma unroll
    for (int h = 0; h < H; h++) m |= s[h].x != s[h].x || s[h].y != s[h].y;
    return m;
  }

  __device__ __forceinline__ bool missing(unsigned plane) const
  {
    bool m = false;
#pragma unroll
    for (int k = 0; k < 2 * KP; k++)
#pragma unroll
      for (int h = 0; h < H; h++) {
        twin<T> v;
        load_shared(at[k] + h * plane, &v);
        m |= not_yet(v);
      }
    return m;
  }
};

/* The results of a lane on their way out: of the Q of a row, the pairs that are congruent to the lane modulo P. */
template <typename T, int P, int Q> struct many_outgoing {
  enum { H = Q / 2, E = P >= H ? 1 : H / P };
  twin<T> r[E];
  unsigned place = NONE, row = NONE;

  __device__ __forceinline__ void take(const twin<T> *s, unsigned own, unsigned plane, unsigned place_, unsigned row_,
                                       int part)
  {
#pragma unroll
    for (int h = 0; h < H; h++)
      if (h % P == part) {
        r[h / P] = s[h];
        store_shared(own + h * plane, s[h]);
      }
    place = part < H ? place_ : NONE;
    row = part < H ? row_ : NONE;
  }

  template <typename B>
  __device__ __forceinline__ void leave(const many_tiles_arguments<T> &g, const B &k, int part) const
  {
#pragma unroll
    for (int e = 0; e < E; e++) {
      const unsigned first = 2 * (e * P + part);
      if (place != NONE) {
        store_twin(k.mine + (size_t)place * Q + first, r[e]);
        store_twin(k.next + (size_t)place * Q + first, twin_not_yet<T>());
      }
      if ((int)row < 0) continue;
      T *x = g.x + row * g.x_row + (ptrdiff_t)(k.rhs + first) * g.x_rhs;
      if (first < k.here) store_weak(x, r[e].x);
      if (first + 1 < k.here) store_weak(x + g.x_rhs, r[e].y);
    }
  }
};

/* A step some of whose operands are not there yet: looks until they are, or the deadline has passed. */
template <typename S, typename T>
static __device__ __forceinline__ void await_many(const S &now, twin<T> *sum, unsigned plane, int lane,
                                                  gik_control *control, unsigned long long deadline_ns)
{
  patience p;
  for (;;) {
    const bool missing = now.missing(plane);
    if (!__any_sync(ALL, missing)) break;
    if (__any_sync(ALL, p.lost(control, deadline_ns, missing ? (int)(now.row & 0x7fffffff) : -1))) break;
  }
  now.solve(sum, plane, lane);
}

/* One computing warp's way through a tile; t: thread among the computing ones. */
template <typename T, int P, int KP, int W, int Q>
static __device__ __forceinline__ void compute_many(const many_block<T, P, KP, W, Q> &k,
                                                    const many_tiles_arguments<T> &g,
                                                    cursor<short_ring<layout<T, P, KP, W>, KP, W>::D> &c, int t)
{
  typedef layout<T, P, KP, W> L;
  typedef short_ring<L, KP, W> K;
  typedef many_step<T, P, KP, W, Q> S;
  const int lane = t % 32, part = lane % P;
  const unsigned number = (unsigned)sizeof(twin<T>), wrap = k.local * number, own = k.slots + (1 + t / P) * number;
  S now, then;
  many_outgoing<T, P, Q> last;
  unsigned offset = 0;
  if (!k.copies) return;
  barrier_wait(k.full + 8 * c.at, c.phase);
  now.fetch(k.record_at(c.at), k.b_at(c.at), k.slots, t);
  for (unsigned q = 0; q < k.copies; q++) {
    cursor<K::D> following = c;
    following.advance();
#pragma unroll
    for (int s = 0; s < K::S; s++) {
      twin<T> sum[Q / 2];
      now.solve(sum, k.plane, lane);
      last.leave(g, k, part);
      if (s + 1 < K::S) {
        then.fetch(k.record_at(c.at) + (s + 1) * L::bytes, k.b_at(c.at) + (s + 1) * L::R * (Q / 2), k.slots, t);
      } else if (q + 1 < k.copies) {
        barrier_wait(k.full + 8 * following.at, following.phase);
        then.fetch(k.record_at(following.at), k.b_at(following.at), k.slots, t);
      }
      if (__any_sync(ALL, S::suspect(sum))) await_many(now, sum, k.plane, lane, g.control, g.deadline_ns);
      last.take(sum, own + offset, k.plane, now.place, now.row, part);
      step_barrier<W>();
      offset += L::R * number;
      if (offset == wrap) offset = 0;
      now = then;
    }
    if (!lane) barrier_arrive(k.empty + 8 * c.at);
    c = following;
  }
  last.leave(g, k, part);
}

/* The loading warps of a block; t: thread among them.  See loader of tile_flow.cuh. */
template <typename T, int P, int KP, int W, int Q> struct many_loader {
  typedef many_block<T, P, KP, W, Q> B;
  typedef typename B::L L;
  typedef typename B::K K;
  enum { N = crew<W, 1>::load, COUNT = K::S * L::R, EACH = (COUNT + N - 1) / N, FAR = 8 };
  cursor<K::D> to;
  unsigned issued, row[2][EACH];

  __device__ __forceinline__ many_loader() { to.phase = 1; }

  __device__ __forceinline__ void look_ahead(const B &k, unsigned *ahead, unsigned copy, int t)
  {
    const unsigned *from = k.row + (size_t)copy * COUNT;
#pragma unroll
    for (int i = 0; i < EACH; i++) ahead[i] = COUNT % N == 0 || i * N + t < COUNT ? from[i * N + t] : 0;
    if (t * 32 < COUNT && copy + FAR < k.copies) prefetch_line(from + FAR * COUNT + t * 32);
  }

  __device__ __forceinline__ void issue(const B &k, const many_tiles_arguments<T> &g, unsigned *own, int t)
  {
    const T *from[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) from[i] = g.b + own[i] * g.b_row + k.rhs * g.b_rhs;
    const unsigned full = k.full + 8 * to.at, into = shared_address(k.b_at(to.at));
    if (issued + 2 < k.copies) look_ahead(k, own, issued + 2, t);
    barrier_wait(k.empty + 8 * to.at, to.phase);
    if (!t)
      copy_bulk(shared_address(k.record_at(to.at)), k.source + (size_t)issued * K::S * L::bytes, K::S * L::bytes, full);
    issued++;
#pragma unroll
    for (int i = 0; i < EACH; i++)
      if (COUNT % N == 0 || i * N + t < COUNT)
#pragma unroll
        for (unsigned q = 0; q < Q; q++)
          copy_one_or_zero(into + ((i * N + t) / L::R * L::R * Q + (q / 2 * L::R + (i * N + t) % L::R) * 2 + q % 2) *
                                      (unsigned)sizeof(T),
                           from[i] + (q < k.here ? q * g.b_rhs : 0), q < k.here);
    copy_arrive(full);
    to.advance();
  }

  __device__ __forceinline__ void run(const B &k, const many_tiles_arguments<T> &g, unsigned most, int t)
  {
    while (issued < most) {
      issue(k, g, row[0], t);
      if (issued < most) issue(k, g, row[1], t);
    }
  }

  __device__ __forceinline__ void begin(const B &k, const many_tiles_arguments<T> &g, int t)
  {
    issued = 0;
    if (k.copies) look_ahead(k, row[0], 0, t);
    if (k.copies > 1) look_ahead(k, row[1], 1, t);
    run(k, g, k.copies < K::D ? k.copies : K::D, t);
  }
};

/* Pairs of border values dealt to the lanes of NP warps; see poll of tile_flow.cuh. */
template <typename T, int NP, int Q>
static __device__ __forceinline__ void poll_many(const unsigned *list, unsigned n, const T *mine, unsigned to,
                                                 unsigned plane, gik_control *control, unsigned long long deadline_ns,
                                                 int t)
{
  enum { H = Q / 2 };
  patience p;
  unsigned e = (unsigned)t, place = e < n * H ? list[e / H] : 0;
  if (t >= 32)
    for (;;) {
      twin<T> first = {0, 0};
      if (n) load_shared(to, &first);
      if (!not_yet(first) || p.lost(control, deadline_ns, -1)) break;
      __nanosleep(40);
    }
  __syncwarp();
  for (;;) {
    bool got = false;
    if (e < n * H) {
      const twin<T> v = load_twin(mine + (size_t)place * Q + e % H * 2);
      if (!not_yet(v)) {
        store_shared(to + e / H * (unsigned)sizeof v + e % H * plane, v);
        e += 32 * NP;
        if (e < n * H) place = list[e / H];
        got = true;
      }
    }
    if (!__any_sync(ALL, e < n * H)) break;
    if (!__any_sync(ALL, got) && __any_sync(ALL, p.lost(control, deadline_ns, -1))) break;
  }
}

template <typename T, int P, int KP, int W, int NP, int Q>
static __global__ void __launch_bounds__((crew<W, NP>::all), 1) many_tiles_kernel(const many_tiles_arguments<T> g)
{
  extern __shared__ __align__(128) char memory[];
  __shared__ unsigned ticket;
  typedef many_block<T, P, KP, W, Q> B;
  typedef typename B::K K;
  typedef crew<W, NP> C;
  const int thread = threadIdx.x, poller = thread - C::compute - C::load;
  const unsigned first_parity = g.control->parity[0];
  B k;
  many_loader<T, P, KP, W, Q> load;
  cursor<K::D> c;
  k.place_in(memory, g.capacity);
  k.local = g.window * (32 * W / P);
  if (!thread) ticket = atomicAdd(&g.control->ticket, 1u);
  __syncthreads();
  for (;;) {
    const unsigned piece = ticket;
    if (piece >= g.pieces) break;
    const unsigned chunk = piece % g.chunks, copy = copy_of(g.control, first_parity, chunk);
    const gik_tile tile = g.tile[piece / g.chunks];
    k.rhs = chunk * Q;
    k.here = g.count - k.rhs < Q ? g.count - k.rhs : Q;
    k.copies = (tile.end - tile.first) / K::S;
    k.source = g.record + (size_t)tile.first * B::L::bytes;
    k.row = g.row + (size_t)tile.first * B::L::R;
    k.mine = g.published + (size_t)(2 * chunk + copy) * g.n_published * Q;
    k.next = g.published + (size_t)(2 * chunk + (copy ^ 1)) * g.n_published * Q;
    if (thread >= C::compute && thread < C::compute + C::load) load.begin(k, g, thread - C::compute);
    for (unsigned i = thread; i < k.local + 1 + tile.n_borders; i += C::all)
      for (unsigned h = 0; h < Q / 2; h++) k.x[h * g.capacity + i] = i <= k.local ? twin<T>{0, 0} : twin_not_yet<T>();
    for (unsigned i = thread; i < tile.n_borders; i += C::all) k.border[i] = g.border[tile.border + i];
    __syncthreads();
    if (thread < C::compute) {
      compute_many(k, g, c, thread);
    } else if (thread < C::compute + C::load) {
      load.run(k, g, k.copies, thread - C::compute);
    } else {
      unsigned next = 0;
      if (!poller) next = atomicAdd(&g.control->ticket, 1u);
      poll_many<T, NP, Q>(k.border, tile.n_borders, k.mine, k.slots + (1 + k.local) * (unsigned)sizeof(twin<T>),
                          k.plane, g.control, g.deadline_ns, poller);
      if (!poller) ticket = next;
    }
    __syncthreads();
  }
  leave(g.control, g.chunks);
}

#define GIK_SHAPES(X)                                                                                                  \
  X(1, 1, 1)                                                                                                           \
  X(1, 2, 1)                                                                                                           \
  X(1, 7, 1) X(2, 2, 1) X(4, 1, 1) X(4, 2, 1) X(8, 2, 1) X(16, 2, 1) X(8, 4, 1) X(32, 4, 1) X(1, 2, 2) X(2, 4, 2)

template <typename T> struct many_variant {
  void (*kernel)(const many_tiles_arguments<T>);
  int threads;
  size_t (*bytes)(size_t slots);
};

template <typename T, int P, int KP, int W> static many_variant<T> many_variant_of(int q)
{
  enum { NP = 4 };
  if (q == 2) return {many_tiles_kernel<T, P, KP, W, NP, 2>, crew<W, NP>::all, many_block<T, P, KP, W, 2>::bytes};
  return {many_tiles_kernel<T, P, KP, W, NP, 4>, crew<W, NP>::all, many_block<T, P, KP, W, 4>::bytes};
}

template <typename T> static many_variant<T> many_tiles_variant(const gik_tiles *t, int q)
{
#define GIK_PICK(P, KP, W)                                                                                             \
  if (t->lanes == P && t->pairs == KP && t->warps == W) return many_variant_of<T, P, KP, W>(q);
  GIK_SHAPES(GIK_PICK)
#undef GIK_PICK
  return {nullptr, 0, nullptr};
}

static size_t many_capacity(const gik_tiles *t)
{
  return ((size_t)t->slots + 15) / 16 * 16;
}

template <typename T> static int many_tiles_fit(const gik_tiles *t, int q, int processors)
{
  const many_variant<T> v = many_tiles_variant<T>(t, q);
  int blocks = 0;
  if (!v.kernel || v.bytes(many_capacity(t)) > MOST_SHARED_MANY) return 0;
  if (cudaFuncSetAttribute(v.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST_SHARED_MANY)) return 0;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, v.kernel, v.threads, v.bytes(many_capacity(t)))) return 0;
  return blocks * processors;
}

template <typename T> static void many_tiles_launch(const gik_tiles *t, int q, const gik_solve *s, int blocks)
{
  const many_variant<T> v = many_tiles_variant<T>(t, q);
  const unsigned chunks = (unsigned)((s->v.count + q - 1) / q), pieces = (unsigned)t->count * chunks;
  const unsigned grid = pieces < (unsigned)blocks ? pieces : (unsigned)blocks;
  const many_tiles_arguments<T> g = {t->tile,
                                     (const char *)t->record[sizeof(T) == 8],
                                     t->row,
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
                                     chunks,
                                     (unsigned)s->v.count,
                                     (int)many_capacity(t),
                                     t->window,
                                     s->deadline_ns};
  v.kernel<<<grid, (unsigned)v.threads, v.bytes(many_capacity(t)), (cudaStream_t)s->stream>>>(g);
}

} /* namespace gik */

extern "C" {

int gik_tiles_many_blocks(const gik_tiles *t, int q, gable_type vectors, int processors)
{
  return vectors == GABLE_D ? gik::many_tiles_fit<double>(t, q, processors)
                            : gik::many_tiles_fit<float>(t, q, processors);
}

gable_status gik_tiles_solve_many(const gik_tiles *t, int q, gable_type vectors, int blocks, const gik_solve *s)
{
  if (vectors == GABLE_D)
    gik::many_tiles_launch<double>(t, q, s, blocks);
  else
    gik::many_tiles_launch<float>(t, q, s, blocks);
  return gik::launched("tiles");
}

} /* extern "C" */
