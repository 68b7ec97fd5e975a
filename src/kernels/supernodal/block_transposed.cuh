/* block_transposed.cuh: tiles of a transposed product, out_J = M^T [own_J; -x_I] (block_steps.h), for the kernel of
 * products and the one of solves. */
#ifndef GIK_BLOCK_TRANSPOSED_CUH
#define GIK_BLOCK_TRANSPOSED_CUH

#include "kernels/supernodal/block_tile.cuh"

namespace gik
{

template <int N> __device__ __forceinline__ void over_lanes(double (&sum)[N])
{
#pragma unroll
  for (int r = 0; r < N; r++)
    for (int o = 16; o; o /= 2) sum[r] += __shfl_xor_sync(ALL_LANES, sum[r], o);
}

/* Teams of t.team warps, a column each; the columns of a tile are at most WARPS / t.team.  STEP is a multiple of what a
 * team takes at a time, so that a lane has the same inputs whatever R. */
template <int R>
__device__ __forceinline__ void wide_transposed(const gik_block_batch &p, const gik_block_tile &t, double *buffer,
                                                double *part)
{
  constexpr int STEP = ROOM / R, PITCH = pitch<R>();
  static_assert(STEP % THREADS == 0 && STEP * PITCH <= BUFFER, "a lane has the same inputs for every R");
  const panel c = panel_of(p.panels, t.block);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, mate = warp % t.team, stride = 32 * t.team;
  const gable_idx k = t.begin + warp / t.team, begin = p.part & GIK_BLOCK_DIAGONAL ? 0 : c.w,
                  end = p.part & GIK_BLOCK_BELOW ? (gable_idx)c.ld : c.w;
  const gable_idx own = begin + (gable_idx)threadIdx.x / R, own_row = own < end ? tall_row(p, c, own) : 0;
  double a[AHEAD], sum[R] = {};
#pragma unroll
  for (int q = 0; q < AHEAD; q++) {
    const gable_idx i = begin + mate * 32 + lane + q * stride;
    a[q] = k < t.end && i < end ? entry(c, i, k) : 0;
  }
  prefetch(c, begin + AHEAD * stride, max(end, begin + AHEAD * stride), t.begin, t.end, threadIdx.x, THREADS);
  gik::after_last_launch();
  for (gable_idx from = begin; from < end; from += STEP) {
    const int count = min(STEP, end - from);
    __syncthreads();
#pragma unroll 4
    for (int e = threadIdx.x; e < count * R; e += THREADS) {
      const gable_idx i = from + e / R;
      buffer[e / R * PITCH + e % R] =
          tall_input<R>(p, c, i, e % R, from == begin && e < THREADS ? own_row : tall_row(p, c, i));
    }
    __syncthreads();
    if (k >= t.end) continue;
    const int base = from - begin; /* what AHEAD covers of this step */
#pragma unroll
    for (int q = 0; q < AHEAD; q++) {
      const int i = mate * 32 + lane + q * stride - base;
      if (i >= 0 && i < count) multiply_add_apart<R>(a[q], buffer + i * PITCH, sum);
    }
    const int done = max(AHEAD * stride - base, 0);
#pragma unroll 8
    for (int i = mate * 32 + lane + done; i < count; i += stride)
      multiply_add_apart<R>(entry(c, from + i, k), buffer + i * PITCH, sum);
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

/* Some columns at a time; inputs in g where they fit. */
template <int R>
__device__ __forceinline__ void narrow_transposed(const gik_block_batch &p, const gik_block_tile &t, double *g)
{
  constexpr int COLUMNS = R == 1 ? 8 : R == 4 ? 4 : 1, PITCH = pitch<R>();
  const panel c = panel_of(p.panels, t.block);
  const int lane = threadIdx.x % 32;
  const gable_idx begin = p.part & GIK_BLOCK_DIAGONAL ? 0 : c.w, end = p.part & GIK_BLOCK_BELOW ? (gable_idx)c.ld : c.w;
  const gable_idx own = begin + lane / R, own_row = own < end ? tall_row(p, c, own) : 0;
  const bool fits = (end - begin) * PITCH <= WARP_BUFFER;
  prefetch(c, begin, end, t.begin, t.end, lane, 32);
  gik::after_last_launch();
  for (int e = lane; fits && e < (end - begin) * R; e += 32) {
    const gable_idx i = begin + e / R;
    g[e / R * PITCH + e % R] = tall_input<R>(p, c, i, e % R, e < 32 ? own_row : tall_row(p, c, i));
  }
  __syncwarp();
  for (gable_idx first = t.begin; first < t.end; first += COLUMNS) {
    double sum[COLUMNS * R] = {};
#pragma unroll 2
    for (gable_idx i = begin + lane; i < end; i += 32) {
      double a[COLUMNS], v[R];
      const gable_idx row = fits ? 0 : tall_row(p, c, i);
#pragma unroll
      for (int q = 0; q < COLUMNS; q++) a[q] = first + q < t.end ? entry(c, i, first + q) : 0;
#pragma unroll
      for (int r = 0; r < R; r++) v[r] = fits ? g[(i - begin) * PITCH + r] : tall_input<R>(p, c, i, r, row);
#pragma unroll
      for (int q = 0; q < COLUMNS; q++)
#pragma unroll
        for (int r = 0; r < R; r++) sum[q * R + r] += a[q] * v[r];
    }
    over_lanes<COLUMNS * R>(sum);
#pragma unroll
    for (int e = 0; e < COLUMNS * R; e++)
      if (lane == e % 32 && first + e / R < t.end) put_column<R>(p, c, first + e / R, e % R, sum[e]);
  }
}

} // namespace gik

#endif
