/* block_steps.cu: batches over the block columns of one level.  A thread block computes a wide tile, a warp a narrow
 * one.
 *
 * Outline of a product:
 *   1. while the launch before still runs: read the tile and the lists, and the first values of the panel into
 * registers
 *   2. gather the inputs into shared memory, with what lower levels left in slots
 *   3. a lane owns a row (transposed: the lanes of a team share a column), warps share the columns (the rows)
 *   4. reduce over warps, or over the lanes of a team, in a fixed order
 *   5. add the slots of the output's position and store
 * The order of a sum depends on the panel's shape, its level and the device alone, never on R. */
#include "kernels/supernodal/block_calls.h"
#include "kernels/supernodal/block_solve.h"
#include "kernels/supernodal/block_spmv.h"
#include "kernels/supernodal/block_transposed.cuh"

using namespace gik;

namespace
{

/* Slots of the inputs and outputs of a wide tile. */
struct tile_lists {
  slot_list in[THREADS], out[32];
};

template <int R>
__device__ void wide_product(const gik_block_batch &p, const gik_block_tile &t, double *buffer, tile_lists &lists)
{
  constexpr int STEP = ROOM / R, LINE = 33; /* LINE: of part [WARPS][R][LINE] */
  static_assert(WARPS * R * LINE <= BUFFER, "sums of all warps fit");
  const panel c = panel_of(p.panels, t.block);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, columns = min(t.end, c.w);
  const gable_idx i = t.begin + lane;
  double a[AHEAD], sum[R] = {};
  if (p.part != GIK_BLOCK_BELOW && (int)threadIdx.x < columns)
    lists.in[threadIdx.x] = slots_at(p, c.position + threadIdx.x);
  if (!warp) lists.out[lane] = slots_out(p, c, i, t.end);
#pragma unroll
  for (int q = 0; q < AHEAD; q++) {
    const int k = warp + q * WARPS;
    a[q] = i < t.end && k < columns ? entry(c, i, k) : 0;
  }
  prefetch(c, t.begin, t.end, AHEAD * WARPS, columns, threadIdx.x, THREADS);
  gik::after_last_launch();
  for (int from = 0; from < columns; from += STEP) {
    const int count = min(STEP, columns - from);
    __syncthreads();
#pragma unroll 4
    for (int e = threadIdx.x; e < count * R; e += THREADS) {
      const int k = from + e / R;
      buffer[e] = k < THREADS ? input<R>(p, c, k, e % R, lists.in[k]) : input<R>(p, c, k, e % R);
    }
    __syncthreads();
    if (i >= t.end) continue;
    const int kept = from ? 0 : AHEAD;
#pragma unroll
    for (int q = 0; q < AHEAD; q++)
      if (q < kept && warp + q * WARPS < count) multiply_add<R>(a[q], buffer + (warp + q * WARPS) * R, sum);
#pragma unroll 8
    for (int k = warp + kept * WARPS; k < count; k += WARPS)
      multiply_add<R>(entry(c, i, from + k), buffer + k * R, sum);
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < R; r++) buffer[(warp * R + r) * LINE + lane] = sum[r];
  __syncthreads();
#pragma unroll 2
  for (int e = threadIdx.x; e < 32 * R; e += THREADS) {
    const int row = e / R, r = e % R;
    double all = buffer[r * LINE + row];
    for (int k = 1; k < WARPS; k++) all += buffer[(k * R + r) * LINE + row];
    if (t.begin + row < t.end) put<R>(p, c, t.begin + row, r, all, lists.out[row]);
  }
}

/* Rows begin .. end-1, a lane a row; g: the inputs of all columns. */
template <int R> __device__ void narrow_product(const gik_block_batch &p, const gik_block_tile &t, double *g)
{
  const panel c = panel_of(p.panels, t.block);
  const int lane = threadIdx.x % 32, columns = min(t.end, c.w);
  const slot_list in =
      p.part == GIK_BLOCK_BELOW || lane / R >= columns ? slot_list{0, 0, 0} : slots_at(p, c.position + lane / R);
  const gable_idx own = t.begin + lane;
  const slot_list added = slots_out(p, c, own, t.end);
  double a[AHEAD];
#pragma unroll
  for (int k = 0; k < AHEAD; k++) a[k] = own < t.end && k < columns ? entry(c, own, k) : 0;
  prefetch(c, t.begin, t.end, 0, columns, lane, 32);
  gik::after_last_launch();
  for (int e = lane; e < columns * R; e += 32)
    g[e] = e >= 32 ? input<R>(p, c, e / R, e % R) : input<R>(p, c, e / R, e % R, in);
  __syncwarp();
  for (gable_idx i = own; i < t.end; i += 32) {
    double sum[R] = {};
    const int kept = i == own ? AHEAD : 0;
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
      if (k < kept && k < columns) multiply_add<R>(a[k], g + k * R, sum);
#pragma unroll 8
    for (int k = kept; k < columns; k++) multiply_add<R>(entry(c, i, k), g + k * R, sum);
    const slot_list l = i == own ? added : slots_out(p, c, i, t.end);
#pragma unroll
    for (int r = 0; r < R; r++) put<R>(p, c, i, r, sum[r], l);
  }
}

template <int R>
__global__ void __launch_bounds__(THREADS) product_kernel(const gik_block_batch p, const gik_block_tiles tiles)
{
  __shared__ __align__(16) double buffer[BUFFER];
  __shared__ tile_lists lists;
  run_tile(
      tiles, [&](const gik_block_tile &t) { wide_product<R>(p, t, buffer, lists); },
      [&](const gik_block_tile &t) { narrow_product<R>(p, t, buffer + threadIdx.x / 32 * WARP_BUFFER); });
}

template <int R>
__global__ void __launch_bounds__(THREADS) transposed_kernel(const gik_block_batch p, const gik_block_tiles tiles)
{
  __shared__ double buffer[BUFFER];
  __shared__ double part[WARPS * R];
  run_tile(
      tiles, [&](const gik_block_tile &t) { wide_transposed<R>(p, t, buffer, part); },
      [&](const gik_block_tile &t) { narrow_transposed<R>(p, t, buffer + threadIdx.x / 32 * WARP_BUFFER); });
}

/* ---- SpMV ---- */

/* Row i of [v; y]. */
template <int R> __device__ __forceinline__ double *row_of(const gik_block_rows &p, gable_idx i)
{
  return i < p.n ? p.v + (gable_off)i * R : p.y + (gable_off)(i - p.n) * R;
}

/* p.lanes threads a row; the first entries of each are read before it waits. */
template <int R> __global__ void __launch_bounds__(THREADS) rows_kernel(const gik_block_rows p)
{
  enum { FEW = 4 };
  __shared__ double part[WARPS][R];
  const int lanes = p.lanes, lane = threadIdx.x % lanes;
  const gable_idx q = p.begin + (gable_idx)(blockIdx.x * (THREADS / lanes) + threadIdx.x / lanes);
  const bool any = q < p.end;
  gik::next_launch();
  const gable_off begin = any ? p.ptr[q] : 0, end = any ? p.ptr[q + 1] : 0;
  const gable_idx to = any ? p.row[q] : 0;
  double a[FEW], sum[R] = {};
  gable_idx col[FEW];
#pragma unroll
  for (int n = 0; n < FEW; n++) {
    const gable_off k = begin + lane + n * lanes;
    a[n] = k < end ? p.value[k] : 0;
    col[n] = k < end ? p.col[k] : -1;
  }
  for (gable_off k = begin + FEW * lanes + lane * 16; k < end; k += lanes * 16) {
    prefetch_l2(p.value + k);
    prefetch_l2(p.col + k);
  }
  gik::after_last_launch();
#pragma unroll
  for (int n = 0; n < FEW; n++)
    if (col[n] >= 0) multiply_add<R>(a[n], row_of<R>(p, col[n]), sum);
#pragma unroll 4
  for (gable_off k = begin + lane + FEW * lanes; k < end; k += lanes)
    multiply_add<R>(p.value[k], row_of<R>(p, p.col[k]), sum);
#pragma unroll
  for (int r = 0; r < R; r++)
    for (int o = (lanes < 32 ? lanes : 32) / 2; o; o /= 2) sum[r] += __shfl_xor_sync(ALL_LANES, sum[r], o);
  if (lanes <= 32) {
#pragma unroll
    for (int r = 0; r < R; r++)
      if (any && r % lanes == lane) row_of<R>(p, to)[r] = sum[r];
    return;
  }
#pragma unroll
  for (int r = 0; r < R; r++)
    if (threadIdx.x % 32 == r % 32) part[threadIdx.x / 32][r] = sum[r];
  __syncthreads();
  if (!any || threadIdx.x >= R) return;
  double all = part[0][threadIdx.x];
  for (int w = 1; w < WARPS; w++) all += part[w][threadIdx.x];
  row_of<R>(p, to)[threadIdx.x] = all;
}

gable_status product(gable_context *ctx, const gik_block_batch *p, const gik_block_tiles *tiles, void *stream)
{
  (void)ctx;
  if (p->transposed)
    return gik::launch_tiles(p, tiles, transposed_kernel<1>, transposed_kernel<4>, transposed_kernel<16>, stream,
                             "a batch of transposed products");
  return gik::launch_tiles(p, tiles, product_kernel<1>, product_kernel<4>, product_kernel<16>, stream,
                           "a batch of products");
}

gable_status rows(gable_context *ctx, const gik_block_rows *p, void *stream)
{
  gik::launches on(stream);
  const gable_idx each = THREADS / p->lanes;
  const unsigned blocks = (unsigned)((p->end - p->begin + each - 1) / each);
  (void)ctx;
  if (!blocks) return GABLE_OK;
  if (p->rhs == 1)
    on.dependent(rows_kernel<1>, blocks, THREADS, 0, false, *p);
  else if (p->rhs == 4)
    on.dependent(rows_kernel<4>, blocks, THREADS, 0, false, *p);
  else
    on.dependent(rows_kernel<16>, blocks, THREADS, 0, false, *p);
  return on.status("rows of a partitioned inverse");
}

} /* namespace */

extern "C" const gik_block_steps gik_block_steps_cuda = {product,          gik_solve_blocks, rows,     gik_calls_open,
                                                         gik_calls_close,  gik_calls_begin,  gik_call, gik_spmv_open,
                                                         gik_spmv_prepare, gik_spmv_close,   gik_spmv};
