/* tile_kernel.cuh: the kernel of tiles, for a block B that has slots for one or for several right-hand sides, its
 * shapes and its launch. */
#ifndef GIK_TILE_KERNEL_CUH
#define GIK_TILE_KERNEL_CUH

#include <climits>

#include "cuda/launch.cuh"
#include "cuda/shared_memory.cuh"
#include "cuda/undisturbed.cuh"
#include "kernels/trisolve/tile_flow.cuh"

namespace gik
{

/* A block takes a tile for a set of right-hand sides by ticket.  Tickets are handed out in an order in which every tile
 * depends on earlier ones only; the next one is asked for while a tile is done. */
template <typename B, int NP>
static __global__ void __launch_bounds__((crew<B::W, NP>::all), 1) tiles_kernel(const tiles_arguments<typename B::T> g)
{
  extern __shared__ __align__(128) char memory[];
  __shared__ unsigned ticket;
  typedef crew<B::W, NP> C;
  const int thread = threadIdx.x, poller = thread - C::compute - C::load;
  const unsigned first_parity = g.control->parity[0];
  B k;
  loader<B> load;
  cursor<B::K::D> c;
  k.place_in(memory, g.capacity);
  k.local = g.window * B::L::R;
  if (!thread) ticket = atomicAdd(&g.control->ticket, 1u);
  __syncthreads();
  for (;;) {
    const unsigned piece = ticket;
    if (piece >= g.pieces) break;
    const unsigned set = piece % g.sets;
    const gik_tile tile = g.tile[piece / g.sets];
    k.take(g, tile, set, copy_of(g.control, first_parity, set));
    if (thread >= C::compute && thread < C::compute + C::load) load.begin(k, g, thread - C::compute);
    for (unsigned i = thread; i <= k.local + tile.n_borders; i += C::all) k.clear(i, i <= k.local);
    for (unsigned i = thread; i < tile.n_borders; i += C::all) k.border[i] = g.border[tile.border + i];
    __syncthreads();
    if (thread < C::compute) {
      compute(k, g, c, thread);
    } else if (thread < C::compute + C::load) {
      load.finish(k, g, thread - C::compute);
    } else {
      unsigned next = 0;
      if (!poller) next = atomicAdd(&g.control->ticket, 1u);
      poll<typename B::V, NP, B::H>(k.border, tile.n_borders, k.mine, k.slots + (1 + k.local) * B::SLOT, k.plane(),
                                    g.control, g.deadline_ns, poller);
      if (!poller) ticket = next;
    }
    __syncthreads();
  }
  leave(g.control, g.sets);
}

/* The shapes that exist: lanes a row, pairs of entries a lane, computing warps. */
#define GIK_TILE_SHAPES(X)                                                                                             \
  X(1, 1, 1)                                                                                                           \
  X(1, 2, 1)                                                                                                           \
  X(1, 7, 1)                                                                                                           \
  X(2, 2, 1)                                                                                                           \
  X(4, 2, 1)                                                                                                           \
  X(8, 2, 1)                                                                                                           \
  X(16, 2, 1)                                                                                                          \
  X(32, 4, 1)                                                                                                          \
  X(1, 2, 2)                                                                                                           \
  X(2, 4, 2)

/* A kernel, and the shared memory of a block whose largest tile has so many slots. */
template <typename T> struct tile_variant {
  void (*kernel)(const tiles_arguments<T>);
  int threads, held; /* records whose x may still wait to be written */
  size_t (*bytes)(size_t slots);
};

template <typename B, int NP> static tile_variant<typename B::T> tile_variant_of()
{
  return {tiles_kernel<B, NP>, crew<B::W, NP>::all, B::WRITES ? B::K::S * B::K::D : 0, B::bytes};
}

/* f.of<P, KP, W>() for the shape of t. */
template <typename T, typename F> static tile_variant<T> tile_pick(const gik_tiles *t, const F &f)
{
#define GIK_PICK(P, KP, W)                                                                                             \
  if (t->lanes == P && t->pairs == KP && t->warps == W) return f.template of<P, KP, W>();
  GIK_TILE_SHAPES(GIK_PICK)
#undef GIK_PICK
  return {nullptr, 0, 0, nullptr};
}

static inline size_t tile_capacity(const gik_tiles *t)
{
  return ((size_t)t->slots + 15) / 16 * 16;
}

/* Blocks that the GPU holds at once; 0: one does not fit. */
template <typename T> static int tile_blocks(const tile_variant<T> &v, const gik_tiles *t, int processors)
{
  enum { STATIC = 1024 }; /* bytes of the kernel's static arrays, at most */
  const size_t bytes = v.kernel ? v.bytes(tile_capacity(t)) : 0, most = most_shared(STATIC);
  int blocks = 0;
  if (!v.kernel || v.held > t->window || bytes > most) return 0;
  /* the limit belongs to the function, not to this plan: always the largest */
  const cudaError_t e = undisturbed([&] {
    const cudaError_t set = cudaFuncSetAttribute(v.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most);
    return set ? set : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, v.kernel, v.threads, bytes);
  });
  return e ? 0 : blocks * processors;
}

/* q: right-hand sides of a set. */
template <typename T>
static gable_status tile_launch(const tile_variant<T> &v, const gik_tiles *t, int q, const gik_solve *s, int blocks)
{
  gable_status status = GABLE_OK;
  const ptrdiff_t most = UINT_MAX / sizeof(T);
  const unsigned sets = (unsigned)((s->v.count + q - 1) / q), pieces = (unsigned)t->count * sets;
  const unsigned grid = pieces < (unsigned)blocks ? pieces : (unsigned)blocks;
  tiles_arguments<T> g = {};
  launches on(s->stream);
  GI_REQUIRE(s->v.b_row <= most && s->v.x_row <= most, GABLE_ERR_LIMIT, "vectors by rows: more than 2^32 bytes a row");
  GI_TRY(countable("tiles", (double)t->count * sets));
  g.tile = t->tile;
  g.record = (const char *)t->record;
  g.row = t->row;
  g.border = t->border;
  g.b = (const T *)s->v.b;
  g.x = (T *)s->v.x;
  g.published = (T *)s->published;
  g.control = s->control;
  g.b_rhs = s->v.b_rhs;
  g.x_rhs = s->v.x_rhs;
  g.b_step = (unsigned)(s->v.b_row * (ptrdiff_t)sizeof(T));
  g.x_step = (unsigned)(s->v.x_row * (ptrdiff_t)sizeof(T));
  g.n_published = t->n_published;
  g.pieces = pieces;
  g.sets = sets;
  g.count = (unsigned)s->v.count;
  g.capacity = (int)tile_capacity(t);
  g.window = t->window;
  g.deadline_ns = s->deadline_ns;
  on.launch(v.kernel, grid, (unsigned)v.threads, v.bytes(tile_capacity(t)), g);
  GI_TRY(on.status("tiles"));
done:
  return status;
}

} /* namespace gik */

#endif
