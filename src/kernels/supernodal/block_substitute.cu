/* block_substitute.cu: a batch of TRSM over the block columns of one level; the steps are those of block_steps.cu. */
#include "kernels/supernodal/block_substitute.h"

#include "kernels/supernodal/block_tile.cuh"

using namespace gik;

namespace
{

/* A triangle of w <= 32 columns in a warp: lane i has row i (transposed: column i) in a, its other entries zero, and
 * x_i of N columns.  Rows are scaled by the reciprocals of the diagonal first: each step is then a shuffle and a
 * multiplication.  False where some x is not finite: d_ik / d_ii may overflow where x does not, and a zero times
 * infinity reaches rows that do not depend on it. */
template <int N>
__device__ __forceinline__ bool substitute_scaled(int w, bool transposed, double (&a)[NARROW], double (&x)[N])
{
  const int lane = threadIdx.x % 32;
  double diagonal = 1;
#pragma unroll
  for (int k = 0; k < NARROW; k++)
    if (lane == k && lane < w) diagonal = a[k];
  const double inverse = 1 / diagonal;
#pragma unroll
  for (int k = 0; k < NARROW; k++) a[k] = lane == k ? 0 : a[k] * inverse;
#pragma unroll
  for (int n = 0; n < N; n++) x[n] *= inverse;
  if (transposed) {
#pragma unroll
    for (int k = NARROW - 1; k >= 0; k--)
#pragma unroll
      for (int n = 0; n < N; n++) x[n] -= a[k] * __shfl_sync(ALL_LANES, x[n], k);
  } else {
#pragma unroll
    for (int k = 0; k < NARROW; k++)
#pragma unroll
      for (int n = 0; n < N; n++) x[n] -= a[k] * __shfl_sync(ALL_LANES, x[n], k);
  }
  bool finite = true;
#pragma unroll
  for (int n = 0; n < N; n++) finite = finite && isfinite(x[n]);
  return __all_sync(ALL_LANES, finite);
}

/* The same for columns k0 .. k0+w-1 of the panel in the order of the CPU: each x is divided last. */
template <int N>
__device__ __forceinline__ void substitute_in_order(const panel &c, gable_idx k0, int w, bool transposed,
                                                    double (&x)[N])
{
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int step = 0; step < w; step++) {
    const int k = transposed ? w - 1 - step : step;
    const bool depends = lane < w && (transposed ? lane < k : lane > k);
    const gable_idx i = k0 + (transposed ? k : lane), j = k0 + (transposed ? lane : k);
    const double entry = depends ? c.m[i + (gable_off)j * c.ld] : 0, diagonal = c.m[(gable_off)(k0 + k) * (c.ld + 1)];
#pragma unroll
    for (int n = 0; n < N; n++) {
      if (lane == k) x[n] /= diagonal;
      const double known = __shfl_sync(ALL_LANES, x[n], k);
      if (depends) x[n] -= entry * known;
    }
  }
}

/* Row lane (transposed: column lane) of the triangle of columns k0 .. k0+w-1. */
__device__ __forceinline__ void read_triangle(const panel &c, gable_idx k0, int w, bool transposed, double (&a)[NARROW])
{
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < NARROW; k++) {
    const bool mine = lane < w && k < w && (transposed ? k >= lane : k <= lane);
    const gable_idx i = k0 + (transposed ? k : lane), j = k0 + (transposed ? lane : k);
    a[k] = mine ? c.m[i + (gable_off)j * c.ld] : 0;
  }
}

template <int R> __device__ void narrow_substitute(const gik_block_batch &p, const gik_block_tile &t)
{
  const panel c = panel_of(p.panels, t.block);
  const int lane = threadIdx.x % 32;
  const bool mine = lane < c.w;
  const slot_list in = mine && !p.transposed ? slots_at(p, c.position + lane) : slot_list{0, 0, 0};
  double a[NARROW], x[R] = {};
  const auto read_inputs = [&] {
#pragma unroll
    for (int r = 0; r < R; r++) x[r] = mine ? p.own[(gable_off)(c.first + lane) * R + r] - sum_of<R>(p, in, r) : 0;
  };
  read_triangle(c, 0, c.w, p.transposed, a);
  gik::after_last_launch();
  read_inputs();
  if (!substitute_scaled<R>(c.w, p.transposed, a, x)) {
    read_inputs();
    substitute_in_order<R>(c, 0, c.w, p.transposed, x);
  }
#pragma unroll
  for (int r = 0; r < R; r++)
    if (mine) p.out[(gable_off)(c.first + lane) * R + r] = x[r];
}

/* Strips of 32 columns one after another.  A warp solves with the strip's triangle for some of the right-hand sides;
 * then each thread takes the strip off its output, whose entries it has read before.  x: [w][R] in shared memory where
 * it fits, else the output itself. */
template <int R> __device__ void wide_substitute(const gik_block_batch &p, const gik_block_tile &t, double *shared)
{
  constexpr int EACH = R < WARPS ? 1 : R / WARPS;
  const panel c = panel_of(p.panels, t.block);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, strips = (c.w + NARROW - 1) / NARROW;
  const bool fits = c.w * R <= ROOM;
  double *out = p.out + (gable_off)c.first * R, *x = fits ? shared : out;
  double a[NARROW], d[NARROW];
  prefetch(c, 0, c.w, 0, c.w, threadIdx.x, THREADS);
  gik::after_last_launch();
  for (gable_off e = threadIdx.x; e < (gable_off)c.w * R; e += THREADS) {
    const gable_idx k = (gable_idx)(e / R);
    x[e] = p.transposed ? p.own[(gable_off)c.first * R + e] : input<R>(p, c, k, (int)(e % R));
  }
  for (int s = 0; s < strips; s++) {
    const gable_idx k0 = (p.transposed ? strips - 1 - s : s) * NARROW, k1 = min(k0 + NARROW, c.w);
    const gable_idx begin = p.transposed ? 0 : k1, end = p.transposed ? k0 : c.w;
    if (warp * EACH < R) read_triangle(c, k0, k1 - k0, p.transposed, d);
    for (gable_idx o = begin + (gable_idx)threadIdx.x, once = 1; once || o < end; o += THREADS, once = 0) {
#pragma unroll
      for (int k = 0; k < NARROW; k++)
        a[k] = o < end && k0 + k < k1 ? c.m[p.transposed ? k0 + k + (gable_off)o * c.ld : o + (k0 + k) * c.ld] : 0;
      if (once) {
        __syncthreads();
        if (warp * EACH < R) {
          double v[EACH];
          double *at = x + (gable_off)(k0 + lane) * R + warp * EACH;
          const auto read_inputs = [&] {
#pragma unroll
            for (int n = 0; n < EACH; n++) v[n] = k0 + lane < k1 ? at[n] : 0;
          };
          read_inputs();
          if (!substitute_scaled<EACH>(k1 - k0, p.transposed, d, v)) {
            read_inputs();
            substitute_in_order<EACH>(c, k0, k1 - k0, p.transposed, v);
          }
#pragma unroll
          for (int n = 0; n < EACH; n++)
            if (k0 + lane < k1) at[n] = v[n];
        }
        __syncthreads();
      }
      if (o >= end) continue;
      double sum[R] = {};
#pragma unroll
      for (int k = 0; k < NARROW; k++)
        if (k0 + k < k1) multiply_add<R>(a[k], x + (gable_off)(k0 + k) * R, sum);
#pragma unroll
      for (int r = 0; r < R; r++) x[(gable_off)o * R + r] -= sum[r];
    }
  }
  __syncthreads();
  for (gable_off e = threadIdx.x; fits && e < (gable_off)c.w * R; e += THREADS) out[e] = x[e];
}

template <int R>
__global__ void __launch_bounds__(THREADS) substitute_kernel(const gik_block_batch p, const gik_block_tiles tiles)
{
  __shared__ __align__(16) double x[ROOM];
  run_tile(
      tiles, [&](const gik_block_tile &t) { wide_substitute<R>(p, t, x); },
      [&](const gik_block_tile &t) { narrow_substitute<R>(p, t); });
}

} /* namespace */

extern "C" gable_status gik_substitute(gable_context *ctx, const gik_block_batch *p, const gik_block_tiles *tiles,
                                       void *stream)
{
  (void)ctx;
  return gik::launch_tiles(p, tiles, substitute_kernel<1>, substitute_kernel<4>, substitute_kernel<16>, stream,
                           "a batch of substitutions");
}
