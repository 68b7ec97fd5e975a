/* block_tile.cuh: what the kernels over tiles of block columns share: panels, slots, inputs and outputs of a tile. */
#ifndef GIK_BLOCK_TILE_CUH
#define GIK_BLOCK_TILE_CUH

#include <cuda_runtime.h>

#include "cuda/launch.cuh"
#include "kernels/supernodal/block_steps.h"

namespace gik
{

/* ROOM: inputs times right-hand sides that are in shared memory at a time; AHEAD: values of a panel that a thread reads
 * before it waits. */
enum { WARPS = GIK_BLOCK_WARPS, THREADS = 32 * WARPS, NARROW = GIK_BLOCK_NARROW, ROOM = 4096, AHEAD = 16 };
enum { BUFFER = ROOM / 4 * 5, WARP_BUFFER = BUFFER / WARPS };
constexpr unsigned ALL_LANES = 0xffffffffu;

struct panel {
  gable_idx first, w, rows;
  gable_off list, ld, position; /* position: of the first column */
  const double *m;
};

__device__ __forceinline__ panel panel_of(const gik_block_panels &p, gable_idx b)
{
  panel c;
  c.first = p.first[b];
  c.w = p.first[b + 1] - c.first;
  c.list = p.row_at[b];
  c.rows = (gable_idx)(p.row_at[b + 1] - c.list);
  c.ld = (gable_off)c.w + c.rows;
  c.position = c.first + c.list;
  c.m = p.value + p.value_at[b];
  return c;
}

__device__ __forceinline__ void prefetch_l2(const void *p)
{
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

/* Rows begin .. end-1 of columns from .. to-1 into L2, by count threads. */
__device__ __forceinline__ void prefetch(const panel &c, gable_idx begin, gable_idx end, gable_idx from, gable_idx to,
                                         int thread, int count)
{
  enum { LINE = 16 };
  const gable_idx lines = (end - begin + LINE - 1) / LINE;
  for (gable_off e = thread; e < (gable_off)lines * (to - from); e += count)
    prefetch_l2(c.m + (from + e / lines) * c.ld + begin + e % lines * LINE);
}

/* Which slots a position adds; the list is read when this is made, before the launch waits. */
struct slot_list {
  gable_off begin, end;
  gable_idx first;
};

__device__ __forceinline__ slot_list slots_at(const gik_block_batch &p, gable_off position)
{
  slot_list l = {p.panels.in_ptr[position], p.panels.in_ptr[position + 1], 0};
  if (l.begin < l.end) l.first = p.panels.in_slot[l.begin];
  return l;
}

template <int R> __device__ __forceinline__ double sum_of(const gik_block_batch &p, const slot_list &l, int r)
{
  double sum = 0;
  if (l.begin < l.end) sum = p.slots[(gable_off)l.first * R + r];
  for (gable_off k = l.begin + 1; k < l.end; k++) sum += p.slots[(gable_off)p.panels.in_slot[k] * R + r];
  return sum;
}

/* Forward input k of the block. */
template <int R>
__device__ __forceinline__ double input(const gik_block_batch &p, const panel &c, gable_idx k, int r,
                                        const slot_list &l)
{
  const double own = p.own[(gable_off)(c.first + k) * R + r];
  return p.part == GIK_BLOCK_BELOW ? own : own - sum_of<R>(p, l, r);
}

template <int R> __device__ __forceinline__ double input(const gik_block_batch &p, const panel &c, gable_idx k, int r)
{
  return input<R>(p, c, k, r, slots_at(p, c.position + k));
}

/* Of input i of a transposed product: its row in the vector. */
__device__ __forceinline__ gable_idx tall_row(const gik_block_batch &p, const panel &c, gable_idx i)
{
  return i < c.w ? c.first + i : p.panels.row[c.list + i - c.w];
}

template <int R>
__device__ __forceinline__ double tall_input(const gik_block_batch &p, const panel &c, gable_idx i, int r,
                                             gable_idx row)
{
  return i < c.w ? p.own[(gable_off)row * R + r] : -p.x[(gable_off)row * R + r];
}

/* Step 5 of a product. */
template <int R>
__device__ __forceinline__ void put(const gik_block_batch &p, const panel &c, gable_idx i, int r, double sum,
                                    const slot_list &l)
{
  if (i < c.w)
    p.out[(gable_off)(c.first + i) * R + r] = sum;
  else
    p.slots[(c.list + i - c.w) * R + r] = sum + sum_of<R>(p, l, r);
}

/* The slots that output i adds: none where it is one of the block's columns. */
__device__ __forceinline__ slot_list slots_out(const gik_block_batch &p, const panel &c, gable_idx i, gable_idx end)
{
  return i >= c.w && i < end ? slots_at(p, c.position + i) : slot_list{0, 0, 0};
}

/* Step 5 of a transposed product. */
template <int R>
__device__ __forceinline__ void put_column(const gik_block_batch &p, const panel &c, gable_idx k, int r, double sum)
{
  const gable_off at = (gable_off)(c.first + k) * R + r;
  p.out[at] = p.part == GIK_BLOCK_BELOW ? p.own[at] + sum : sum;
}

/* Above the diagonal of D^-1 nothing is read. */
__device__ __forceinline__ double entry(const panel &c, gable_idx i, gable_idx k)
{
  return i >= c.w || k <= i ? c.m[i + (gable_off)k * c.ld] : 0;
}

/* sum += a g; g is aligned to 16 bytes where R is even. */
template <int R> __device__ __forceinline__ void multiply_add(double a, const double *g, double (&sum)[R])
{
  if constexpr (R == 1) {
    sum[0] += a * g[0];
  } else {
#pragma unroll
    for (int r = 0; r < R; r += 2) {
      const double2 two = *(const double2 *)(g + r);
      sum[r] += a * two.x;
      sum[r + 1] += a * two.y;
    }
  }
}

template <int R> __device__ __forceinline__ void multiply_add_apart(double a, const double *g, double (&sum)[R])
{
#pragma unroll
  for (int r = 0; r < R; r++) sum[r] += a * g[r];
}

/* Apart by an odd number of doubles, so that lanes of neighbouring rows meet different banks. */
template <int R> __device__ __forceinline__ constexpr int pitch()
{
  return R == 1 ? 1 : R + 1;
}

/* The tile of this warp: wide(t) by its thread block, or narrow(t). */
template <class Wide, class Narrow>
__device__ __forceinline__ void run_tile(const gik_block_tiles &tiles, Wide wide, Narrow narrow)
{
  const bool is_wide = (gable_idx)blockIdx.x < tiles.wide;
  const gable_idx at = is_wide
                           ? (gable_idx)blockIdx.x
                           : tiles.wide + ((gable_idx)blockIdx.x - tiles.wide) * WARPS + (gable_idx)threadIdx.x / 32;
  next_launch();
  if (at >= tiles.wide + tiles.narrow) {
    after_last_launch();
    return;
  }
  const gik_block_tile t = tiles.tile[at];
  if (is_wide)
    wide(t);
  else
    narrow(t);
}

static inline unsigned blocks_of(const gik_block_tiles *tiles)
{
  return (unsigned)(tiles->wide + (tiles->narrow + WARPS - 1) / WARPS);
}

/* A launch for tiles of the kernel that serves rhs. */
template <class Kernel>
gable_status launch_tiles(const gik_block_batch *p, const gik_block_tiles *tiles, Kernel one, Kernel four, Kernel all,
                          void *stream, const char *what)
{
  launches on(stream);
  const unsigned blocks = blocks_of(tiles);
  if (!blocks) return GABLE_OK;
  on.dependent(p->rhs == 1 ? one : p->rhs == 4 ? four : all, blocks, THREADS, 0, false, *p, *tiles);
  return on.status(what);
}

} // namespace gik

#endif
