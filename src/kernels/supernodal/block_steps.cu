/* block_steps.cu: batches over the block columns of one level.  A thread block computes a wide tile, a warp a narrow
 * one.
 *
 * Outline of a product:
 *   1. while the launch before still runs: read the tile, fetch the panel into L2
 *   2. gather the inputs into shared memory, with what lower levels left in slots
 *   3. a lane owns a row (transposed: the lanes of a team share a column), warps share the columns (the rows)
 *   4. reduce over warps, or over the lanes of a team, in a fixed order
 *   5. add the slots of the output's position and store
 * The order of a sum depends on the panel's shape and its level alone, never on R. */
#include <cuda_runtime.h>

#include "cuda/launch.cuh"
#include "kernels/supernodal/block_calls.h"
#include "kernels/supernodal/block_steps.h"

namespace
{

enum { WARPS = GIK_BLOCK_WARPS, THREADS = 32 * WARPS, NARROW = GIK_BLOCK_NARROW, BUFFER = 4096, HALF = BUFFER / 2 };
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

template <int R> __device__ __forceinline__ double slots_of(const gik_block_batch &p, gable_off position, int r)
{
  double sum = 0;
  const gable_off end = p.panels.in_ptr[position + 1];
  for (gable_off k = p.panels.in_ptr[position]; k < end; k++) sum += p.slots[(gable_off)p.panels.in_slot[k] * R + r];
  return sum;
}

/* Forward input k of the block. */
template <int R> __device__ __forceinline__ double input(const gik_block_batch &p, const panel &c, gable_idx k, int r)
{
  const double own = p.own[(gable_off)(c.first + k) * R + r];
  return p.part == GIK_BLOCK_BELOW ? own : own - slots_of<R>(p, c.position + k, r);
}

/* Input i of a transposed product. */
template <int R>
__device__ __forceinline__ double tall_input(const gik_block_batch &p, const panel &c, gable_idx i, int r)
{
  if (i < c.w) return p.own[(gable_off)(c.first + i) * R + r];
  return -p.x[(gable_off)p.panels.row[c.list + i - c.w] * R + r];
}

__device__ __forceinline__ void prefetch_l2(const void *p)
{
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

/* Rows begin .. end-1 of columns from .. to-1, by count threads. */
__device__ __forceinline__ void prefetch(const panel &c, gable_idx begin, gable_idx end, gable_idx from, gable_idx to,
                                         int thread, int count)
{
  enum { LINE = 16 };
  const gable_idx lines = (end - begin + LINE - 1) / LINE;
  for (gable_off e = thread; e < (gable_off)lines * (to - from); e += count)
    prefetch_l2(c.m + (from + e / lines) * c.ld + begin + e % lines * LINE);
}

/* Step 5 of a product. */
template <int R>
__device__ __forceinline__ void put(const gik_block_batch &p, const panel &c, gable_idx i, int r, double sum)
{
  if (i < c.w)
    p.out[(gable_off)(c.first + i) * R + r] = sum;
  else
    p.slots[(c.list + i - c.w) * R + r] = sum + slots_of<R>(p, c.position + i, r);
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

template <int R> __device__ void wide_product(const gik_block_batch &p, const gik_block_tile &t, double *buffer)
{
  constexpr int STEP = HALF / R, GROUP = R < 4 ? R : 4;
  double *part = buffer + HALF; /* [WARPS][32][GROUP] */
  const panel c = panel_of(p.panels, t.block);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const gable_idx i = t.begin + lane, columns = t.end < c.w ? t.end : c.w;
  double sum[R] = {};
  prefetch(c, t.begin, t.end, 0, columns, threadIdx.x, THREADS);
  gik::after_last_launch();
  if (p.going && !*p.going) return;
  for (gable_idx from = 0; from < columns; from += STEP) {
    const int count = min(STEP, columns - from);
    __syncthreads();
    for (int e = threadIdx.x; e < count * R; e += THREADS) buffer[e] = input<R>(p, c, from + e / R, e % R);
    __syncthreads();
    if (i < t.end) {
#pragma unroll 8
      for (int k = warp; k < count; k += WARPS) {
        const double a = entry(c, i, from + k);
#pragma unroll
        for (int r = 0; r < R; r++) sum[r] += a * buffer[k * R + r];
      }
    }
  }
#pragma unroll
  for (int first = 0; first < R; first += GROUP) {
    __syncthreads();
#pragma unroll
    for (int r = 0; r < GROUP; r++) part[(warp * 32 + lane) * GROUP + r] = sum[first + r];
    __syncthreads();
    for (int e = threadIdx.x; e < 32 * GROUP; e += THREADS) {
      const int row = e / GROUP, r = e % GROUP;
      double all = part[row * GROUP + r];
      for (int k = 1; k < WARPS; k++) all += part[(k * 32 + row) * GROUP + r];
      if (t.begin + row < t.end) put<R>(p, c, t.begin + row, first + r, all);
    }
  }
}

template <int R> __device__ void narrow_product(const gik_block_batch &p, const gik_block_tile &t, double *g)
{
  const panel c = panel_of(p.panels, t.block);
  const int lane = threadIdx.x % 32;
  const gable_idx columns = t.end < c.w ? t.end : c.w;
  prefetch(c, t.begin, t.end, 0, columns, lane, 32);
  gik::after_last_launch();
  if (p.going && !*p.going) return;
  for (int e = lane; e < columns * R; e += 32) g[e] = input<R>(p, c, e / R, e % R);
  __syncwarp();
  for (gable_idx i = t.begin + lane; i < t.end; i += 32) {
    double sum[R] = {};
#pragma unroll 8
    for (int k = 0; k < columns; k++) {
      const double a = entry(c, i, k);
#pragma unroll
      for (int r = 0; r < R; r++) sum[r] += a * g[k * R + r];
    }
#pragma unroll
    for (int r = 0; r < R; r++) put<R>(p, c, i, r, sum[r]);
  }
}

template <int R> __device__ __forceinline__ void over_lanes(double (&sum)[R])
{
#pragma unroll
  for (int r = 0; r < R; r++)
    for (int o = 16; o; o /= 2) sum[r] += __shfl_xor_sync(ALL_LANES, sum[r], o);
}

/* Teams of t.team warps, a column each; the columns of a tile are at most WARPS / t.team. */
template <int R> __device__ void wide_transposed(const gik_block_batch &p, const gik_block_tile &t, double *buffer)
{
  constexpr int STEP = HALF / R;
  double *part = buffer + HALF; /* [WARPS][R] */
  const panel c = panel_of(p.panels, t.block);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, mate = warp % t.team;
  const gable_idx k = t.begin + warp / t.team, begin = p.part & GIK_BLOCK_DIAGONAL ? 0 : c.w,
                  end = p.part & GIK_BLOCK_BELOW ? (gable_idx)c.ld : c.w;
  double sum[R] = {};
  prefetch(c, begin > t.begin ? begin : t.begin, end, t.begin, t.end, threadIdx.x, THREADS);
  gik::after_last_launch();
  if (p.going && !*p.going) return;
  for (gable_idx from = begin; from < end; from += STEP) {
    const int count = min(STEP, end - from);
    __syncthreads();
    for (int e = threadIdx.x; e < count * R; e += THREADS) buffer[e] = tall_input<R>(p, c, from + e / R, e % R);
    __syncthreads();
    if (k < t.end) {
#pragma unroll 8
      for (int i = mate * 32 + lane; i < count; i += 32 * t.team) {
        const double a = entry(c, from + i, k);
#pragma unroll
        for (int r = 0; r < R; r++) sum[r] += a * buffer[i * R + r];
      }
    }
  }
  over_lanes<R>(sum);
#pragma unroll
  for (int r = 0; r < R; r++)
    if (lane == r) part[warp * R + r] = sum[r];
  __syncthreads();
  if (mate || lane >= R || k >= t.end) return;
  double all = part[warp * R + lane];
  for (int q = 1; q < t.team; q++) all += part[(warp + q) * R + lane];
  put_column<R>(p, c, k, lane, all);
}

/* A column after another. */
template <int R> __device__ void narrow_transposed(const gik_block_batch &p, const gik_block_tile &t)
{
  const panel c = panel_of(p.panels, t.block);
  const int lane = threadIdx.x % 32;
  const gable_idx begin = p.part & GIK_BLOCK_DIAGONAL ? 0 : c.w, end = p.part & GIK_BLOCK_BELOW ? (gable_idx)c.ld : c.w;
  prefetch(c, begin, end, t.begin, t.end, lane, 32);
  gik::after_last_launch();
  if (p.going && !*p.going) return;
#pragma unroll 4
  for (gable_idx k = t.begin; k < t.end; k++) {
    double sum[R] = {};
#pragma unroll 4
    for (gable_idx i = begin + lane; i < end; i += 32) {
      const double a = entry(c, i, k);
#pragma unroll
      for (int r = 0; r < R; r++) sum[r] += a * tall_input<R>(p, c, i, r);
    }
    over_lanes<R>(sum);
#pragma unroll
    for (int r = 0; r < R; r++)
      if (lane == r) put_column<R>(p, c, k, r, sum[r]);
  }
}

/* Which tile a warp has; false: none. */
__device__ __forceinline__ bool take_tile(const gik_block_tiles &tiles, bool &wide, gik_block_tile &t)
{
  wide = (gable_idx)blockIdx.x < tiles.wide;
  const gable_idx at = wide ? (gable_idx)blockIdx.x
                            : tiles.wide + ((gable_idx)blockIdx.x - tiles.wide) * WARPS + (gable_idx)threadIdx.x / 32;
  if (at >= tiles.wide + tiles.narrow) return false;
  t = tiles.tile[at];
  return true;
}

template <int R>
__global__ void __launch_bounds__(THREADS) product_kernel(const gik_block_batch p, const gik_block_tiles tiles)
{
  __shared__ double buffer[BUFFER];
  bool wide;
  gik_block_tile t;
  gik::next_launch();
  if (!take_tile(tiles, wide, t))
    gik::after_last_launch();
  else if (wide)
    wide_product<R>(p, t, buffer);
  else
    narrow_product<R>(p, t, buffer + threadIdx.x / 32 * (BUFFER / WARPS));
}

template <int R>
__global__ void __launch_bounds__(THREADS) transposed_kernel(const gik_block_batch p, const gik_block_tiles tiles)
{
  __shared__ double buffer[BUFFER];
  bool wide;
  gik_block_tile t;
  gik::next_launch();
  if (!take_tile(tiles, wide, t))
    gik::after_last_launch();
  else if (wide)
    wide_transposed<R>(p, t, buffer);
  else
    narrow_transposed<R>(p, t);
}

/* x of a lane's row k < w of a triangle of at most 32 columns at d; entry(i, j) is row i of column j.  The reciprocals
 * are taken at once, so that no division stands on the chain. */
template <int R, typename F>
__device__ __forceinline__ void substitute_warp(gable_idx w, bool transposed, F entry_at, double (&x)[R])
{
  const int lane = threadIdx.x % 32;
  const double inverse = lane < w ? 1 / entry_at(lane, lane) : 0;
#pragma unroll 4
  for (int at = 0; at < w; at++) {
    const int k = transposed ? w - 1 - at : at;
    const bool mine = transposed ? lane < k : lane > k && lane < w;
    const double a = mine ? transposed ? entry_at(k, lane) : entry_at(lane, k) : 0;
#pragma unroll
    for (int r = 0; r < R; r++) {
      if (lane == k) x[r] *= inverse;
      const double from = __shfl_sync(ALL_LANES, x[r], k);
      if (mine) x[r] -= a * from;
    }
  }
}

/* A triangle of at most 32 columns. */
template <int R> __device__ void narrow_substitute(const gik_block_batch &p, const gik_block_tile &t)
{
  const panel c = panel_of(p.panels, t.block);
  const int lane = threadIdx.x % 32;
  double x[R] = {};
  prefetch(c, 0, c.w, 0, c.w, lane, 32);
  gik::after_last_launch();
  if (p.going && !*p.going) return;
#pragma unroll
  for (int r = 0; r < R; r++)
    if (lane < c.w) x[r] = p.transposed ? tall_input<R>(p, c, lane, r) : input<R>(p, c, lane, r);
  substitute_warp<R>(
      c.w, p.transposed, [&](int i, int k) { return c.m[i + (gable_off)k * c.ld]; }, x);
#pragma unroll
  for (int r = 0; r < R; r++)
    if (lane < c.w) p.out[(gable_off)(c.first + lane) * R + r] = x[r];
}

/* Columns k0 .. k1-1 of the triangle at hand: warp 0 solves with their diagonal block, x [32][R] what comes out. */
template <int R>
__device__ void substitute_strip(const gik_block_batch &p, const panel &c, gable_idx k0, gable_idx k1,
                                 double (*d)[NARROW + 1], double *x)
{
  const int lane = threadIdx.x % 32;
  const gable_idx w = k1 - k0;
  __syncthreads();
  for (int e = threadIdx.x; e < NARROW * w; e += THREADS)
    if (e % NARROW < w) d[e % NARROW][e / NARROW] = entry(c, k0 + e % NARROW, k0 + e / NARROW);
  __syncthreads();
  if (threadIdx.x < 32) {
    double v[R] = {};
    double *out = p.out + (gable_off)(c.first + k0 + lane) * R;
#pragma unroll
    for (int r = 0; r < R; r++)
      if (lane < w) v[r] = out[r];
    substitute_warp<R>(
        w, p.transposed, [&](int i, int k) { return d[i][k]; }, v);
#pragma unroll
    for (int r = 0; r < R; r++) {
      if (lane < w) out[r] = v[r];
      x[lane * R + r] = v[r];
    }
  }
  __syncthreads();
}

/* Rows below the strip: out -= D x. */
template <int R>
__device__ void update_below(const gik_block_batch &p, const panel &c, gable_idx k0, gable_idx k1, const double *x)
{
  for (gable_idx i = k1 + (gable_idx)threadIdx.x; i < c.w; i += THREADS) {
    double *out = p.out + (gable_off)(c.first + i) * R, sum[R] = {};
#pragma unroll 8
    for (gable_idx k = k0; k < k1; k++) {
      const double a = c.m[i + (gable_off)k * c.ld];
#pragma unroll
      for (int r = 0; r < R; r++) sum[r] += a * x[(k - k0) * R + r];
    }
#pragma unroll
    for (int r = 0; r < R; r++) out[r] -= sum[r];
  }
}

/* The strip's columns: out -= what D^T has of the rows below it; a warp a column. */
template <int R> __device__ void update_strip(const gik_block_batch &p, const panel &c, gable_idx k0, gable_idx k1)
{
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  __syncthreads();
  for (gable_idx k = k0 + warp; k < k1; k += WARPS) {
    double sum[R] = {};
#pragma unroll 4
    for (gable_idx i = k1 + lane; i < c.w; i += 32) {
      const double a = c.m[i + (gable_off)k * c.ld];
#pragma unroll
      for (int r = 0; r < R; r++) sum[r] += a * p.out[(gable_off)(c.first + i) * R + r];
    }
    over_lanes<R>(sum);
#pragma unroll
    for (int r = 0; r < R; r++)
      if (lane == r) p.out[(gable_off)(c.first + k) * R + r] -= sum[r];
  }
}

/* Strips of 32 columns one after another. */
template <int R>
__device__ void wide_substitute(const gik_block_batch &p, const gik_block_tile &t, double (*d)[NARROW + 1], double *x)
{
  const panel c = panel_of(p.panels, t.block);
  prefetch(c, 0, c.w, 0, c.w, threadIdx.x, THREADS);
  gik::after_last_launch();
  if (p.going && !*p.going) return;
  for (gable_off e = threadIdx.x; e < (gable_off)c.w * R; e += THREADS) {
    const gable_idx k = (gable_idx)(e / R);
    const int r = (int)(e % R);
    p.out[(gable_off)c.first * R + e] = p.transposed ? tall_input<R>(p, c, k, r) : input<R>(p, c, k, r);
  }
  const gable_idx strips = (c.w + NARROW - 1) / NARROW;
  for (gable_idx s = 0; s < strips; s++) {
    const gable_idx k0 = (p.transposed ? strips - 1 - s : s) * NARROW, k1 = min(k0 + NARROW, c.w);
    if (p.transposed) update_strip<R>(p, c, k0, k1);
    substitute_strip<R>(p, c, k0, k1, d, x);
    if (!p.transposed) update_below<R>(p, c, k0, k1, x);
  }
}

template <int R>
__global__ void __launch_bounds__(THREADS) substitute_kernel(const gik_block_batch p, const gik_block_tiles tiles)
{
  __shared__ double d[NARROW][NARROW + 1];
  __shared__ double x[NARROW * R];
  bool wide;
  gik_block_tile t;
  gik::next_launch();
  if (!take_tile(tiles, wide, t))
    gik::after_last_launch();
  else if (wide)
    wide_substitute<R>(p, t, d, x);
  else
    narrow_substitute<R>(p, t);
}

/* Row i of [v; y]. */
template <int R> __device__ __forceinline__ double *row_of(const gik_block_rows &p, gable_idx i)
{
  return i < p.n ? p.v + (gable_off)i * R : p.y + (gable_off)(i - p.n) * R;
}

/* p.lanes threads a row. */
template <int R> __global__ void __launch_bounds__(THREADS) rows_kernel(const gik_block_rows p)
{
  __shared__ double part[WARPS][R];
  const int lanes = p.lanes, lane = threadIdx.x % lanes;
  const gable_idx q = p.begin + (gable_idx)(blockIdx.x * (THREADS / lanes) + threadIdx.x / lanes);
  const bool any = q < p.end;
  const gable_off begin = any ? p.ptr[q] : 0, end = any ? p.ptr[q + 1] : 0;
  double sum[R] = {};
  gik::next_launch();
  for (gable_off k = begin + lane * 8; k < end; k += lanes * 8) {
    prefetch_l2(p.value + k);
    prefetch_l2(p.col + k);
  }
  gik::after_last_launch();
  if (p.going && !*p.going) return;
#pragma unroll 4
  for (gable_off k = begin + lane; k < end; k += lanes) {
    const double a = p.value[k];
    const double *u = row_of<R>(p, p.col[k]);
#pragma unroll
    for (int r = 0; r < R; r++) sum[r] += a * u[r];
  }
#pragma unroll
  for (int r = 0; r < R; r++)
    for (int o = (lanes < 32 ? lanes : 32) / 2; o; o /= 2) sum[r] += __shfl_xor_sync(ALL_LANES, sum[r], o);
  if (lanes <= 32) {
#pragma unroll
    for (int r = 0; r < R; r++)
      if (any && r % lanes == lane) row_of<R>(p, p.row[q])[r] = sum[r];
    return;
  }
#pragma unroll
  for (int r = 0; r < R; r++)
    if (threadIdx.x % 32 == r % 32) part[threadIdx.x / 32][r] = sum[r];
  __syncthreads();
  if (!any || threadIdx.x >= R) return;
  double all = part[0][threadIdx.x];
  for (int w = 1; w < WARPS; w++) all += part[w][threadIdx.x];
  row_of<R>(p, p.row[q])[threadIdx.x] = all;
}

unsigned blocks_of(const gik_block_tiles *tiles)
{
  return (unsigned)(tiles->wide + (tiles->narrow + WARPS - 1) / WARPS);
}

gable_status product(gable_context *ctx, const gik_block_batch *p, const gik_block_tiles *tiles, void *stream)
{
  gik::launches on(stream);
  const unsigned blocks = blocks_of(tiles);
  (void)ctx;
  if (!blocks) return GABLE_OK;
  if (p->rhs == 1)
    on.dependent(p->transposed ? transposed_kernel<1> : product_kernel<1>, blocks, THREADS, 0, false, *p, *tiles);
  else if (p->rhs == 4)
    on.dependent(p->transposed ? transposed_kernel<4> : product_kernel<4>, blocks, THREADS, 0, false, *p, *tiles);
  else
    on.dependent(p->transposed ? transposed_kernel<16> : product_kernel<16>, blocks, THREADS, 0, false, *p, *tiles);
  return on.status("a batch of products");
}

gable_status substitute(gable_context *ctx, const gik_block_batch *p, const gik_block_tiles *tiles, void *stream)
{
  gik::launches on(stream);
  const unsigned blocks = blocks_of(tiles);
  (void)ctx;
  if (!blocks) return GABLE_OK;
  if (p->rhs == 1)
    on.dependent(substitute_kernel<1>, blocks, THREADS, 0, false, *p, *tiles);
  else if (p->rhs == 4)
    on.dependent(substitute_kernel<4>, blocks, THREADS, 0, false, *p, *tiles);
  else
    on.dependent(substitute_kernel<16>, blocks, THREADS, 0, false, *p, *tiles);
  return on.status("a batch of substitutions");
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

extern "C" const gik_block_steps gik_block_steps_cuda = {product,         substitute,      rows,    gik_calls_open,
                                                         gik_calls_close, gik_calls_begin, gik_call};
