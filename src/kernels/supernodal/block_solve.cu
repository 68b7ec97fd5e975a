/* block_solve.cu: TRSM with the block columns of one level and GEMV with what is below them, in one launch; the steps
 * are those of block_steps.cu.
 *
 *   forward      every tile of a block solves with its triangle, then multiplies its rows by the solution: tiles that
 *                solve alike cost less than a launch, and no tile waits for another one
 *   transposed   the tiles of a block multiply; the last of them to come, whichever it is, solves
 */
#include "kernels/supernodal/block_solve.h"

#include "cuda/shared_memory.cuh"
#include "cuda/undisturbed.cuh"
#include "kernels/supernodal/block_transposed.cuh"

using namespace gik;

namespace
{

/* A triangle of w <= 32 columns in a warp: lane i has row i (transposed: column i) in a, its other entries zero.  Rows
 * are scaled by the reciprocals of the diagonal, of which the lane's is returned: each step is then a shuffle and a
 * multiplication. */
__device__ __forceinline__ double scale_triangle(int w, double (&a)[NARROW])
{
  const int lane = threadIdx.x % 32;
  double diagonal = 1;
#pragma unroll
  for (int k = 0; k < NARROW; k++)
    if (lane == k && lane < w) diagonal = a[k];
  const double inverse = 1 / diagonal;
#pragma unroll
  for (int k = 0; k < NARROW; k++) a[k] = lane == k ? 0 : a[k] * inverse;
  return inverse;
}

/* x_i of N columns.  False where some x is not finite: d_ik / d_ii may overflow where x does not, and a zero times
 * infinity reaches rows that do not depend on it. */
template <int N>
__device__ __forceinline__ bool substitute_scaled(bool transposed, const double (&a)[NARROW], double inverse,
                                                  double (&x)[N])
{
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

/* The warp's x := D^-1 x, or D^-T x; read() sets x anew, a is the scaled triangle. */
template <int N, typename Read>
__device__ __forceinline__ void substitute_warp(const panel &c, gable_idx k0, int w, bool transposed,
                                                const double (&a)[NARROW], double inverse, double (&x)[N], Read read)
{
  read();
  if (substitute_scaled<N>(transposed, a, inverse, x)) return;
  read();
  substitute_in_order<N>(c, k0, w, transposed, x);
}

/* ---- forward ---- */

/* g: [w][R] of the warp. */
template <int R> __device__ void narrow_forward(const gik_block_batch &p, const gik_block_tile &t, double *g)
{
  const panel c = panel_of(p.panels, t.block);
  const int lane = threadIdx.x % 32;
  const bool mine = lane < c.w;
  const slot_list in = mine ? slots_at(p, c.position + lane) : slot_list{0, 0, 0};
  const gable_idx first = max(t.begin, c.w), own = first + lane;
  const slot_list added = slots_out(p, c, own, t.end);
  double a[NARROW], x[R] = {};
  read_triangle(c, 0, c.w, false, a);
  prefetch(c, first, max(first, t.end), 0, c.w, lane, 32);
  const double inverse = scale_triangle(c.w, a);
  gik::after_last_launch();
  substitute_warp<R>(c, 0, c.w, false, a, inverse, x, [&] {
#pragma unroll
    for (int r = 0; r < R; r++) x[r] = mine ? p.own[(gable_off)(c.first + lane) * R + r] - sum_of<R>(p, in, r) : 0;
  });
#pragma unroll
  for (int r = 0; r < R; r++) {
    if (mine && !t.begin) p.out[(gable_off)(c.first + lane) * R + r] = x[r];
    if (mine) g[lane * R + r] = x[r];
  }
  __syncwarp();
  for (gable_idx i = own; i < t.end; i += 32) {
    double sum[R] = {};
#pragma unroll 16
    for (int k = 0; k < c.w; k++) multiply_add<R>(c.m[i + k * c.ld], g + k * R, sum);
    const slot_list l = i == own ? added : slots_out(p, c, i, t.end);
#pragma unroll
    for (int r = 0; r < R; r++) put<R>(p, c, i, r, sum[r], l);
  }
}

/* Strips of 32 columns one after another.  A warp solves with the strip's triangle for some of the right-hand sides;
 * then each thread takes the strip off its output, whose entries it has read before, half by half.  x: [outputs][R],
 * the block's columns, then (forward) rows of the panel from w + skipped on; begin() sets it. */
template <int R, bool TRANSPOSED, typename Begin>
__device__ __forceinline__ void solve_strips(const panel &c, gable_idx outputs, gable_idx skipped, double *x,
                                             Begin begin)
{
  constexpr int EACH = R < WARPS ? 1 : R / WARPS, HALF = NARROW / 2;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, strips = (c.w + NARROW - 1) / NARROW;
  const bool solves = warp * EACH < R;
  double a[NARROW], d[NARROW];
  const auto first_of = [&](int s) { return (TRANSPOSED ? strips - 1 - s : s) * NARROW; };
  const auto read_next = [&](int s) {
    const gable_idx k = first_of(s);
    if (solves && s < strips) read_triangle(c, k, min(NARROW, c.w - k), TRANSPOSED, d);
  };
  read_next(0);
  begin();
  for (int s = 0; s < strips; s++) {
    const gable_idx k0 = first_of(s), k1 = min(k0 + NARROW, c.w);
    const gable_idx from = TRANSPOSED ? 0 : k1, end = TRANSPOSED ? k0 : outputs;
    for (gable_idx o = from + (gable_idx)threadIdx.x, once = 1; once || o < end; o += THREADS, once = 0) {
      const gable_off at = TRANSPOSED ? k0 + (gable_off)o * c.ld : (o < c.w ? o : o + skipped) + k0 * c.ld;
#pragma unroll
      for (int k = 0; k < NARROW; k++) a[k] = o < end && k0 + k < k1 ? c.m[at + k * (TRANSPOSED ? 1 : c.ld)] : 0;
      if (once) {
        const double inverse = solves ? scale_triangle(k1 - k0, d) : 0;
        __syncthreads();
        if (solves) {
          double v[EACH];
          double *known = x + (gable_off)(k0 + lane) * R + warp * EACH;
          substitute_warp<EACH>(c, k0, k1 - k0, TRANSPOSED, d, inverse, v, [&] {
#pragma unroll
            for (int n = 0; n < EACH; n++) v[n] = k0 + lane < k1 ? known[n] : 0;
          });
#pragma unroll
          for (int n = 0; n < EACH; n++)
            if (k0 + lane < k1) known[n] = v[n];
        }
        __syncthreads();
        read_next(s + 1);
      }
      if (o >= end) continue;
      double left[R];
#pragma unroll
      for (int r = 0; r < R; r++) left[r] = x[(gable_off)o * R + r];
#pragma unroll
      for (int half = 0; half < NARROW; half += HALF) {
        double sum[R] = {};
#pragma unroll
        for (int k = half; k < half + HALF; k++)
          if (k0 + k < k1) multiply_add<R>(a[k], x + (gable_off)(k0 + k) * R, sum);
#pragma unroll
        for (int r = 0; r < R; r++) left[r] -= sum[r];
      }
#pragma unroll
      for (int r = 0; r < R; r++) x[(gable_off)o * R + r] = left[r];
    }
  }
  __syncthreads();
}

/* x of columns and rows in shared memory, room doubles, where they fit; else of columns, without rows, in the output
 * itself. */
template <int R>
__device__ void wide_forward(const gik_block_batch &p, const gik_block_tile &t, double *shared, gable_idx room,
                             slot_list *lists)
{
  const panel c = panel_of(p.panels, t.block);
  const gable_idx first = max(t.begin, c.w), rows = max(t.end - first, 0), outputs = c.w + rows, skipped = first - c.w;
  const bool fits = (gable_off)outputs * R <= room;
  double *out = p.out + (gable_off)c.first * R, *x = fits ? shared : out;
  const auto list_of = [&](gable_idx o) { return slots_at(p, c.position + (o < c.w ? o : o + skipped)); };
  if ((int)threadIdx.x < outputs) lists[threadIdx.x] = list_of((gable_idx)threadIdx.x);
  prefetch(c, 0, c.w, 0, c.w, threadIdx.x, THREADS);
  prefetch(c, first, first + rows, 0, c.w, threadIdx.x, THREADS);
  __syncthreads();
  solve_strips<R, false>(c, outputs, skipped, x, [&] {
    gik::after_last_launch();
    for (gable_off e = threadIdx.x; e < (gable_off)outputs * R; e += THREADS) {
      const gable_idx o = (gable_idx)(e / R);
      const double own = o < c.w ? p.own[(gable_off)c.first * R + e] : 0;
      x[e] = own - sum_of<R>(p, o < THREADS ? lists[o] : list_of(o), (int)(e % R));
    }
  });
  for (gable_off e = threadIdx.x; fits && !t.begin && e < (gable_off)c.w * R; e += THREADS) out[e] = x[e];
  for (gable_idx e = (gable_idx)threadIdx.x; e < rows * R; e += THREADS)
    p.slots[(c.list + skipped) * R + e] = -x[c.w * R + e];
}

/* Bytes of static shared memory, and of both kinds that every launch may have. */
enum { LISTS = THREADS * sizeof(slot_list), WITHOUT_ASKING = 48 << 10 };

template <int R>
__global__ void __launch_bounds__(THREADS)
    forward_kernel(const gik_block_batch p, const gik_block_tiles tiles, const gable_idx room)
{
  extern __shared__ __align__(16) double x[];
  __shared__ slot_list lists[THREADS];
  run_tile(
      tiles, [&](const gik_block_tile &t) { wide_forward<R>(p, t, x, room, lists); },
      [&](const gik_block_tile &t) { narrow_forward<R>(p, t, x + threadIdx.x / 32 * NARROW * R); });
}

/* ---- transposed ---- */

/* By one thread when its tile is stored: have all tiles of the block come? */
__device__ __forceinline__ bool is_last_tile(const gik_block_batch &p, const gik_block_tile &t)
{
  if (t.parts == 1) return true;
  __threadfence();
  const bool last = atomicAdd(p.arrived + t.block, 1) == t.parts - 1;
  if (last) p.arrived[t.block] = 0;
  return last;
}

template <int R> __device__ void narrow_backward(const gik_block_batch &p, const gik_block_tile &t, double *g)
{
  const panel c = panel_of(p.panels, t.block);
  const int lane = threadIdx.x % 32;
  const bool mine = lane < c.w;
  const double *from = t.team ? p.out : p.own;
  double a[NARROW], x[R] = {};
  if (!t.begin) prefetch(c, 0, c.w, 0, c.w, lane, 32);
  if (t.team) {
    narrow_transposed<R>(p, t, g);
    __syncwarp();
    if (!__any_sync(ALL_LANES, !lane && is_last_tile(p, t))) return;
    __threadfence();
  } else {
    gik::after_last_launch();
  }
  read_triangle(c, 0, c.w, true, a);
  const double inverse = scale_triangle(c.w, a);
  substitute_warp<R>(c, 0, c.w, true, a, inverse, x, [&] {
#pragma unroll
    for (int r = 0; r < R; r++) x[r] = mine ? __ldcg(from + (gable_off)(c.first + lane) * R + r) : 0;
  });
#pragma unroll
  for (int r = 0; r < R; r++)
    if (mine) p.out[(gable_off)(c.first + lane) * R + r] = x[r];
}

/* x in shared memory where it fits, else the output itself. */
template <int R>
__device__ void wide_backward(const gik_block_batch &p, const gik_block_tile &t, double *buffer, double *part)
{
  const panel c = panel_of(p.panels, t.block);
  const bool fits = c.w * R <= ROOM;
  double *out = p.out + (gable_off)c.first * R, *x = fits ? buffer : out;
  const double *from = t.team ? out : p.own + (gable_off)c.first * R;
  if (!t.begin) prefetch(c, 0, c.w, 0, c.w, threadIdx.x, THREADS);
  if (t.team) {
    wide_transposed<R>(p, t, buffer, part);
    __syncthreads();
    if (!__syncthreads_or(!threadIdx.x && is_last_tile(p, t))) return;
    __threadfence();
  } else {
    gik::after_last_launch();
  }
  solve_strips<R, true>(c, c.w, 0, x, [&] {
    for (gable_off e = threadIdx.x; e < (gable_off)c.w * R; e += THREADS) x[e] = __ldcg(from + e);
  });
  for (gable_off e = threadIdx.x; fits && e < (gable_off)c.w * R; e += THREADS) out[e] = x[e];
}

template <int R>
__global__ void __launch_bounds__(THREADS) backward_kernel(const gik_block_batch p, const gik_block_tiles tiles)
{
  __shared__ __align__(16) double buffer[BUFFER];
  __shared__ double part[WARPS * R];
  run_tile(
      tiles, [&](const gik_block_tile &t) { wide_backward<R>(p, t, buffer, part); },
      [&](const gik_block_tile &t) { narrow_backward<R>(p, t, buffer + threadIdx.x / 32 * WARP_BUFFER); });
}

/* The limit is the function's, not the launch's: all get the most there is. */
template <int R> cudaError_t raise_limit()
{
  return gik::undisturbed([] {
    return cudaFuncSetAttribute(forward_kernel<R>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)most_shared(LISTS));
  });
}

template <int R> gable_status launch_forward(const gik_block_batch *p, const gik_block_tiles *tiles, void *stream)
{
  gik::launches on(stream);
  const unsigned blocks = blocks_of(tiles);
  const gable_idx room = R * max(tiles->most, (gable_idx)(WARPS * NARROW));
  const size_t bytes = (size_t)room * sizeof(double);
  if (!blocks) return GABLE_OK;
  if (bytes + LISTS > WITHOUT_ASKING) on.call([] { return raise_limit<R>(); });
  on.dependent(forward_kernel<R>, blocks, THREADS, bytes, false, *p, *tiles, room);
  return on.status("a batch of solves");
}

} /* namespace */

extern "C" gable_status gik_solve_blocks(gable_context *ctx, const gik_block_batch *p, const gik_block_tiles *tiles,
                                         void *stream)
{
  (void)ctx;
  if (p->transposed)
    return gik::launch_tiles(p, tiles, backward_kernel<1>, backward_kernel<4>, backward_kernel<16>, stream,
                             "a batch of transposed solves");
  return p->rhs == 1   ? launch_forward<1>(p, tiles, stream)
         : p->rhs == 4 ? launch_forward<4>(p, tiles, stream)
                       : launch_forward<16>(p, tiles, stream);
}
