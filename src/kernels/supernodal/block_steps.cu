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
 * The order of a sum depends on the panel's shape and its level alone, never on R. */
#include <cuda_runtime.h>

#include "cuda/launch.cuh"
#include "kernels/supernodal/block_calls.h"
#include "kernels/supernodal/block_steps.h"

namespace
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

template <int N> __device__ __forceinline__ void over_lanes(double (&sum)[N])
{
#pragma unroll
  for (int r = 0; r < N; r++)
    for (int o = 16; o; o /= 2) sum[r] += __shfl_xor_sync(ALL_LANES, sum[r], o);
}

/* Teams of t.team warps, a column each; the columns of a tile are at most WARPS / t.team.  STEP is a multiple of what a
 * team takes at a time, so that a lane has the same inputs whatever R. */
template <int R>
__device__ void wide_transposed(const gik_block_batch &p, const gik_block_tile &t, double *buffer, double *part)
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
template <int R> __device__ void narrow_transposed(const gik_block_batch &p, const gik_block_tile &t, double *g)
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
  __shared__ __align__(16) double buffer[BUFFER];
  __shared__ tile_lists lists;
  bool wide;
  gik_block_tile t;
  gik::next_launch();
  if (!take_tile(tiles, wide, t))
    gik::after_last_launch();
  else if (wide)
    wide_product<R>(p, t, buffer, lists);
  else
    narrow_product<R>(p, t, buffer + threadIdx.x / 32 * WARP_BUFFER);
}

template <int R>
__global__ void __launch_bounds__(THREADS) transposed_kernel(const gik_block_batch p, const gik_block_tiles tiles)
{
  __shared__ double buffer[BUFFER];
  __shared__ double part[WARPS * R];
  bool wide;
  gik_block_tile t;
  gik::next_launch();
  if (!take_tile(tiles, wide, t))
    gik::after_last_launch();
  else if (wide)
    wide_transposed<R>(p, t, buffer, part);
  else
    narrow_transposed<R>(p, t, buffer + threadIdx.x / 32 * WARP_BUFFER);
}

/* ---- TRSM ---- */

/* A triangle of w <= 32 columns in a warp: lane i has row i (transposed: column i) in a, its other entries zero, and
 * x_i of N columns.  Rows are scaled by the reciprocals of the diagonal first: each step is then a shuffle and a
 * multiplication. */
template <int N>
__device__ __forceinline__ void substitute_warp(int w, bool transposed, double (&a)[NARROW], double (&x)[N])
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
  read_triangle(c, 0, c.w, p.transposed, a);
  gik::after_last_launch();
#pragma unroll
  for (int r = 0; r < R; r++)
    if (mine) x[r] = p.own[(gable_off)(c.first + lane) * R + r] - sum_of<R>(p, in, r);
  substitute_warp<R>(c.w, p.transposed, a, x);
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
#pragma unroll
          for (int n = 0; n < EACH; n++) v[n] = k0 + lane < k1 ? at[n] : 0;
          substitute_warp<EACH>(k1 - k0, p.transposed, d, v);
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
  bool wide;
  gik_block_tile t;
  gik::next_launch();
  if (!take_tile(tiles, wide, t))
    gik::after_last_launch();
  else if (wide)
    wide_substitute<R>(p, t, x);
  else
    narrow_substitute<R>(p, t);
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
