/* trisolve_tiles.cu: warps that stream tiles.
 *
 * A block takes a tile by ticket; tickets are handed out in an order in which every tile depends on earlier ones only.
 * Three kinds of warps share it.  W warps compute, in step with each other: a record holds 32 W / P rows of one level,
 * P lanes a row; the operands are slots of shared memory, so a step is: load operands, multiply, store the result.
 * Others load: records by the copy engine into a ring, and b gathered behind it.  NP warps poll the values that other
 * tiles publish and copy them to border slots.  Results stay in a window of the last records; an operand older than the
 * window comes back as a border value. */
#include <climits>

#include "kernels/cuda_status.cuh"
#include "kernels/tile_flow.cuh"

namespace gik
{

enum { MOST_SHARED = 226 * 1024 }; /* bytes of a block */

/* A result on its way out: it leaves during the next step, while that one's operands are fetched. */
template <typename T> struct outgoing {
  T r = 0;
  unsigned place = NONE, row = NONE;

  /* What the first lane of a row has found; nothing for the others. */
  __device__ __forceinline__ void take(T result, bool first, unsigned published, unsigned of)
  {
    r = result;
    place = first ? published : NONE;
    row = first ? of : NONE;
  }

  __device__ __forceinline__ void leave(T *mine, T *next, char *x, unsigned x_step) const
  {
    if (place != NONE) {
      store_relaxed(mine + place, r);
      store_weak(next + place, word<T>::value());
    }
    if ((int)row >= 0) store_weak((T *)(x + (size_t)row * x_step), r);
  }
};

/* The operands of a step some of which are not there yet: looks again until they are, or the deadline has passed. */
template <typename T, int P, int KP, int W>
static __device__ __forceinline__ T await(const step<T, P, KP, W> &now, T rhs, T *v, T r, gik_control *control,
                                          unsigned long long deadline_ns)
{
  patience p;
  for (;;) {
    const bool missing = now.missing(v);
    if (!__any_sync(ALL, missing)) return r;
    if (__any_sync(ALL, p.lost(control, deadline_ns, missing ? (int)(now.row & 0x7fffffff) : -1))) return r;
    now.operands(v);
    r = now.dot(rhs, v);
  }
}

/* p by way of a shuffle: else it is computed again from its parts at every use. */
template <typename T> static __device__ __forceinline__ T *held(T *p)
{
  return (T *)__shfl_sync(ALL, (uintptr_t)p, 0);
}

/* One computing warp's way through a tile; t: thread among the computing ones.  A step's own record was fetched during
 * the one before it, its slots one earlier still. */
template <typename T, int P, int KP, int W>
static __device__ __forceinline__ void compute(const block<T, P, KP, W> &k, const tiles_arguments<T> &g,
                                               cursor<ring<layout<T, P, KP, W>, KP, W>::D> &c, int t)
{
  typedef layout<T, P, KP, W> L;
  typedef ring<L, KP, W> K;
  typedef step<T, P, KP, W> S;
  if (!k.copies) return;
  const int lane = t % 32;
  const bool first = P == 1 || lane % P == 0;
  const unsigned wrap = k.local * (unsigned)sizeof(T), own = k.slots + (1 + t / P) * (unsigned)sizeof(T);
  T *const mine = held(k.mine), *const next = held(k.next);
  char *const x = held(k.x_out);
  const unsigned x_step = __shfl_sync(ALL, g.x_step, 0);
  S now, then;
  outgoing<T> last;
  unsigned slot[KP], offset = 0;
  const char *record = k.record_at(c.at);
  const T *b = k.b_at(c.at);
  barrier_wait(k.full + 8 * c.at, c.phase);
  S::fetch_slots(slot, record, t);
  now.aim(slot, k.slots);
  S::fetch_slots(slot, record + L::bytes, t);
  now.fetch(record, b, t);
  for (unsigned q = 0; q < k.copies; q++) {
    cursor<K::D> following = c;
    following.advance();
    const char *record_then = k.record_at(following.at);
    const T *b_then = k.b_at(following.at);
    const bool more = q + 1 < k.copies;
#pragma unroll
    for (int s = 0; s < K::S; s++) {
      T v[2 * KP];
      now.operands(v);
      then.aim(slot, k.slots);
      if (s + 2 < K::S) {
        S::fetch_slots(slot, record + (s + 2) * L::bytes, t);
      } else if (more) {
        if (s + 2 == K::S) barrier_wait(k.full + 8 * following.at, following.phase);
        S::fetch_slots(slot, record_then + (s + 2 - K::S) * L::bytes, t);
      }
      last.leave(mine, next, x, x_step);
      if (s + 1 < K::S) {
        then.fetch(record + (s + 1) * L::bytes, b + (s + 1) * L::R, t);
      } else if (more) {
        then.fetch(record_then, b_then, t);
      }
      const T rhs = now.start(lane);
      T r = now.dot(rhs, v);
      if (__any_sync(ALL, S::suspect(v, r))) r = await(now, rhs, v, r, g.control, g.deadline_ns);
      if (first) store_shared(own + offset, r);
      last.take(r, first, now.place, now.row);
      step_barrier<W>();
      offset += L::R * (unsigned)sizeof(T);
      if (offset == wrap) offset = 0;
      now = then;
    }
    if (!lane) barrier_arrive(k.empty + 8 * c.at);
    c = following;
    record = record_then;
    b = b_then;
  }
  last.leave(mine, next, x, x_step);
}

template <typename T, int P, int KP, int W, int NP>
static __global__ void __launch_bounds__((crew<W, NP>::all), 1) tiles_kernel(const tiles_arguments<T> g)
{
  extern __shared__ __align__(128) char memory[];
  __shared__ unsigned ticket;
  typedef ring<layout<T, P, KP, W>, KP, W> K;
  typedef crew<W, NP> C;
  const int thread = threadIdx.x, poller = thread - C::compute - C::load;
  const unsigned first_parity = g.control->parity[0];
  block<T, P, KP, W> k;
  loader<T, P, KP, W> load;
  cursor<K::D> c;
  k.place_in(memory, g.capacity);
  k.local = g.window * (32 * W / P);
  if (!thread) ticket = atomicAdd(&g.control->ticket, 1u);
  __syncthreads();
  for (;;) {
    const unsigned piece = ticket;
    if (piece >= g.pieces) break;
    const unsigned rhs = piece % g.count, copy = copy_of(g.control, first_parity, rhs);
    const gik_tile tile = g.tile[piece / g.count];
    k.copies = (tile.end - tile.first) / K::S;
    k.source = g.record + (size_t)tile.first * layout<T, P, KP, W>::bytes;
    k.row = g.row + (size_t)tile.first * layout<T, P, KP, W>::R;
    k.b_in = (const char *)(g.b + rhs * g.b_rhs);
    k.x_out = (char *)(g.x + rhs * g.x_rhs);
    k.mine = g.published + (size_t)(2 * rhs + copy) * g.n_published;
    k.next = g.published + (size_t)(2 * rhs + (copy ^ 1)) * g.n_published;
    if (thread >= C::compute && thread < C::compute + C::load) load.begin(k, g.b_step, thread - C::compute);
    for (unsigned i = thread; i <= k.local + tile.n_borders; i += C::all)
      if (i <= k.local)
        k.x[i] = 0;
      else
        store_not_yet(k.x + i);
    for (unsigned i = thread; i < tile.n_borders; i += C::all) k.border[i] = g.border[tile.border + i];
    __syncthreads();
    if (thread < C::compute) {
      compute(k, g, c, thread);
    } else if (thread < C::compute + C::load) {
      load.run(k, g.b_step, k.copies, thread - C::compute);
    } else {
      unsigned next = 0;
      if (!poller) next = atomicAdd(&g.control->ticket, 1u);
      poll<T, NP>(k.border, tile.n_borders, k.mine, k.slots + (1 + k.local) * (unsigned)sizeof(T), g.control,
                  g.deadline_ns, poller);
      if (!poller) ticket = next;
    }
    __syncthreads();
  }
  leave(g.control, g.count);
}

/* The shapes that exist: lanes a row, pairs of entries a lane, computing warps. */
#define GIK_SHAPES(X)                                                                                                  \
  X(1, 1, 1)                                                                                                           \
  X(1, 2, 1)                                                                                                           \
  X(1, 7, 1) X(2, 2, 1) X(4, 1, 1) X(4, 2, 1) X(8, 2, 1) X(16, 2, 1) X(8, 4, 1) X(32, 4, 1) X(1, 2, 2) X(2, 4, 2)

template <typename T> struct variant {
  void (*kernel)(const tiles_arguments<T>);
  int threads;
  size_t (*bytes)(size_t slots);
};

template <typename T, int P, int KP, int W, int NP> static variant<T> variant_of()
{
  return {tiles_kernel<T, P, KP, W, NP>, crew<W, NP>::all, block<T, P, KP, W>::bytes};
}

template <typename T> static variant<T> tiles_pick(int lanes, int pairs, int warps, int pollers)
{
#define GIK_PICK(P, KP, W)                                                                                             \
  if (lanes == P && pairs == KP && warps == W)                                                                         \
    return pollers <= 2 ? variant_of<T, P, KP, W, 2>() : variant_of<T, P, KP, W, 8>();
  GIK_SHAPES(GIK_PICK)
#undef GIK_PICK
  return {nullptr, 0, nullptr};
}

template <typename T> static variant<T> tiles_variant(const gik_tiles *t)
{
  return tiles_pick<T>(t->lanes, t->pairs, t->warps, t->pollers);
}

static size_t tiles_capacity(const gik_tiles *t)
{
  return ((size_t)t->slots + 15) / 16 * 16;
}

template <typename T> static int tiles_fit(const gik_tiles *t, int processors)
{
  const variant<T> v = tiles_variant<T>(t);
  int blocks = 0;
  if (!v.kernel || v.bytes(tiles_capacity(t)) > MOST_SHARED) return 0;
  /* the limit belongs to the function, not to this plan: always the largest */
  if (cudaFuncSetAttribute(v.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST_SHARED)) return 0;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, v.kernel, v.threads, v.bytes(tiles_capacity(t)))) return 0;
  return blocks * processors;
}

template <typename T> static gable_status tiles_launch(const gik_tiles *t, const gik_solve *s, int blocks)
{
  gable_status status = GABLE_OK;
  const variant<T> v = tiles_variant<T>(t);
  const unsigned pieces = (unsigned)t->count * (unsigned)s->v.count;
  const unsigned grid = pieces < (unsigned)blocks ? pieces : (unsigned)blocks;
  const ptrdiff_t most = UINT_MAX / sizeof(T);
  const tiles_arguments<T> g = {t->tile,
                                (const char *)t->record[sizeof(T) == 8],
                                t->row,
                                t->border,
                                (const T *)s->v.b,
                                (T *)s->v.x,
                                (T *)s->published,
                                s->control,
                                s->v.b_rhs,
                                s->v.x_rhs,
                                (unsigned)(s->v.b_row * (ptrdiff_t)sizeof(T)),
                                (unsigned)(s->v.x_row * (ptrdiff_t)sizeof(T)),
                                t->n_published,
                                pieces,
                                (unsigned)s->v.count,
                                (int)tiles_capacity(t),
                                t->window,
                                s->deadline_ns};
  GI_REQUIRE(s->v.b_row <= most && s->v.x_row <= most, GABLE_ERR_LIMIT, "vectors by rows: more than 2^32 bytes a row");
  v.kernel<<<grid, (unsigned)v.threads, v.bytes(tiles_capacity(t)), (cudaStream_t)s->stream>>>(g);
  GI_TRY(launched("tiles"));
done:
  return status;
}

} /* namespace gik */

extern "C" {

size_t gik_tiles_record_bytes(int lanes, int pairs, int warps, gable_type vectors)
{
  const size_t size = vectors == GABLE_D ? 8 : 4, c = 32 * (size_t)warps, rows = c / (size_t)lanes, k = (size_t)pairs;
  return (k * c * (2 * size + 4) + rows * (8 + size) + 15) / 16 * 16;
}

int gik_tiles_blocks(const gik_tiles *t, gable_type vectors, int processors)
{
  return vectors == GABLE_D ? gik::tiles_fit<double>(t, processors) : gik::tiles_fit<float>(t, processors);
}

gable_status gik_tiles_solve(const gik_tiles *t, gable_type vectors, int blocks, const gik_solve *s)
{
  return vectors == GABLE_D ? gik::tiles_launch<double>(t, s, blocks) : gik::tiles_launch<float>(t, s, blocks);
}

} /* extern "C" */
