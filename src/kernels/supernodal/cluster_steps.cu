/* cluster_steps.cu: products of dense operators with gathered values on the FP64 tensor cores, level by level.
 *
 * Outline of a product; a thread block computes OUTPUTS outputs of one cluster:
 *   0. forward, a launch of its own: each column adds its slots
 *   1. find the cluster; load the first values of the operator while the launch before still runs
 *   2. warps share the inputs, 4 at a time: operator and inputs go to registers, the operator one round ahead
 *   3. add the sums of the warps in order and store; outputs of rows add the slots of their positions
 * The order of a sum depends on the operator's shape alone, never on R, so columns have the bits that they have alone.
 * A thread block has R right-hand sides; blocks of the same outputs follow each other, so that they read the operator
 * from the cache.
 */
#include <cuda_runtime.h>

#include "cuda/launch.cuh"
#include "kernels/supernodal/cluster_steps.h"

namespace
{

enum { THREADS = 256, WARPS = THREADS / 32, OUTPUTS = GIK_CLUSTER_OUTPUTS, STRIPS = OUTPUTS / 8, AHEAD = 4 };
constexpr unsigned ALL_LANES = 0xffffffffu;

/* The outputs of one thread block. */
struct tile {
  gable_idx first, width, inputs, outputs, begin, count; /* begin, count: of its outputs among the cluster's */
  gable_off list, at;                                    /* of the cluster's rows; of output begin in the operator */
  gable_off out_step, in_step;                           /* to the next output, to the next input */
};

/* The last of begin .. end-1 whose key is at most k; the lanes of a warp ask together. */
template <typename F> __device__ __forceinline__ gable_idx find(gable_idx begin, gable_idx end, gable_off k, F key)
{
  while (end - begin > 1) {
    const gable_idx step = (end - begin + 31) / 32, here = begin + (gable_idx)(threadIdx.x % 32) * step;
    begin += (__popc(__ballot_sync(ALL_LANES, here < end && key(here) <= k)) - 1) * step;
    end = min(end, begin + step);
  }
  return begin;
}

__device__ __forceinline__ tile tile_of(const gik_cluster_product &p, gable_off number)
{
  const auto key = [&](gable_idx j) { return gik_cluster_tile(p.first[j] + (p.forward ? p.ptr[j] : 0), j); };
  const gable_idx j = find(p.begin, p.end, number, key);
  tile t;
  t.first = p.first[j];
  t.width = p.first[j + 1] - t.first;
  t.list = p.ptr[j];
  const gable_idx all = t.width + (gable_idx)(p.ptr[j + 1] - t.list);
  t.inputs = p.forward ? t.width : all;
  t.outputs = p.forward ? all : t.width;
  t.begin = (gable_idx)(number - key(j)) * OUTPUTS;
  t.count = min((gable_idx)OUTPUTS, t.outputs - t.begin);
  t.out_step = p.transposed ? 1 : t.inputs;
  t.in_step = p.transposed ? t.outputs : 1;
  t.at = p.value_at[j] + t.begin * t.out_step;
  return t;
}

/* What descendants add at a position. */
__device__ __forceinline__ double slots_of(const gik_cluster_product &p, gable_off position, gable_idx r)
{
  double sum = 0;
  for (gable_off k = p.in_ptr[position]; k < p.in_ptr[position + 1]; k++) sum += p.slots[p.in_slot[k] * p.rhs + r];
  return sum;
}

/* Right-hand sides of column i of a level. */
__global__ void __launch_bounds__(THREADS) slots_kernel(const gik_cluster_product p)
{
  const gable_off e = (gable_off)blockIdx.x * THREADS + threadIdx.x;
  const gable_idx i = p.column + (gable_idx)min(e / p.rhs, (gable_off)p.columns - 1);
  gik::next_launch();
  gable_idx begin = p.begin, end = p.end;
  while (end - begin > 1) {
    const gable_idx middle = begin + (end - begin) / 2;
    (p.first[middle] <= i ? begin : end) = middle;
  }
  const gable_off position = i + p.ptr[begin];
  gik::after_last_launch();
  if (e < (gable_off)p.columns * p.rhs)
    p.own[(gable_off)p.column * p.rhs + e] += slots_of(p, position, (gable_idx)(e % p.rhs));
}

/* The same of many right-hand sides, a warp a column. */
__global__ void __launch_bounds__(THREADS) wide_slots_kernel(const gik_cluster_product p)
{
  const gable_off e = (gable_off)blockIdx.x * WARPS + threadIdx.x / 32;
  gik::next_launch();
  if (e >= p.columns) return;
  const gable_idx i = p.column + (gable_idx)e;
  const gable_off position = i + p.ptr[find(p.begin, p.end, i, [&](gable_idx j) { return p.first[j]; })];
  const gable_off begin = p.in_ptr[position], end = p.in_ptr[position + 1];
  gik::after_last_launch();
  for (gable_idx r = (gable_idx)threadIdx.x % 32; r < p.rhs; r += 32) {
    double sum = 0;
    for (gable_off k = begin; k < end; k++) sum += p.slots[p.in_slot[k] * p.rhs + r];
    p.own[(gable_off)i * p.rhs + r] += sum;
  }
}

/* Input i < inputs of the cluster, right-hand side r. */
__device__ __forceinline__ const double *input(const gik_cluster_product &p, const tile &t, gable_idx i, gable_idx r)
{
  return r + (i < t.width ? p.own + (gable_off)(t.first + i) * p.rhs
                          : p.out + (gable_off)p.row[t.list + i - t.width] * p.rhs);
}

/* Output o of the cluster. */
__device__ __forceinline__ void put(const gik_cluster_product &p, const tile &t, gable_idx o, gable_idx r, double sum)
{
  if (o < t.width)
    p.out[(gable_off)(t.first + o) * p.rhs + r] = sum;
  else
    p.slots[(t.list + o - t.width) * p.rhs + r] = sum + (p.leaves ? 0 : slots_of(p, t.first + t.list + o, r));
}

/* c += a b for 8 x 4 times 4 x 8. */
__device__ __forceinline__ void multiply(double c[2], double a, double b)
{
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

/* This lane's values of the operator for inputs of 4 from s, s + WARPS, ... on. */
template <typename T>
__device__ __forceinline__ void load_operator(const T *m, const tile &t, int s, double (&x)[AHEAD][STRIPS])
{
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int u = 0; u < AHEAD; u++)
#pragma unroll
    for (int k = 0; k < STRIPS; k++) {
      const gable_idx i = (s + u * WARPS) * 4 + lane % 4, o = k * 8 + lane / 4;
      x[u][k] = i < t.inputs && o < t.count ? (double)m[o * t.out_step + i * t.in_step] : 0;
    }
}

template <typename T, int R> __global__ void __launch_bounds__(THREADS) product_kernel(const gik_cluster_product p)
{
  constexpr int NT = (R + 7) / 8;
  __shared__ double part[WARPS][OUTPUTS][NT * 8];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  gik::next_launch();
  const gable_idx groups = p.rhs / R, right = (gable_idx)blockIdx.x % groups * R; /* right: the first of the block's */
  const tile t = tile_of(p, p.tile + (gable_idx)blockIdx.x / groups);
  const T *const m = (const T *)p.values + t.at;
  if (t.count <= 0) return;
  double x[AHEAD][STRIPS], sum[STRIPS][NT][2] = {};
  load_operator(m, t, warp, x);
  gik::after_last_launch();
  for (int s = warp; s * 4 < t.inputs; s += AHEAD * WARPS) {
    double y[AHEAD][NT], next[AHEAD][STRIPS];
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      const gable_idx i = (s + u * WARPS) * 4 + lane % 4;
      const double *const v = i < t.inputs ? input(p, t, i, right) : NULL;
#pragma unroll
      for (int n = 0; n < NT; n++) y[u][n] = v ? v[(n * 8 + lane / 4) % R] : 0;
    }
    load_operator(m, t, s + AHEAD * WARPS, next);
#pragma unroll
    for (int u = 0; u < AHEAD; u++)
#pragma unroll
      for (int k = 0; k < STRIPS; k++) {
#pragma unroll
        for (int n = 0; n < NT; n++) multiply(sum[k][n], x[u][k], y[u][n]);
        x[u][k] = next[u][k];
      }
  }
#pragma unroll
  for (int k = 0; k < STRIPS; k++)
#pragma unroll
    for (int n = 0; n < NT; n++)
#pragma unroll
      for (int e = 0; e < 2; e++) part[warp][k * 8 + lane / 4][n * 8 + lane % 4 * 2 + e] = sum[k][n][e];
  __syncthreads();
  for (int e = threadIdx.x; e < t.count * R; e += THREADS) {
    double all = 0;
    for (int k = 0; k < WARPS; k++) all += part[k][e / R][e % R];
    put(p, t, t.begin + e / R, right + e % R, all);
  }
}

/* Adds what one warp of product_kernel would have summed to the whole, and begins the next one's. */
template <int NT>
__device__ __forceinline__ void close_part(double (&all)[STRIPS][NT][2], double (&part)[STRIPS][NT][2])
{
#pragma unroll
  for (int k = 0; k < STRIPS; k++)
#pragma unroll
    for (int n = 0; n < NT; n++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        all[k][n][e] += part[k][n][e];
        part[k][n][e] = 0;
      }
}

/* The same for clusters of few inputs: a warp OUTPUTS outputs and 16 right-hand sides.  It takes the inputs in the
 * order in which product_kernel adds them: those of its warp 0, then of warp 1, ... */
template <typename T> __global__ void __launch_bounds__(THREADS, 3) narrow_product_kernel(const gik_cluster_product p)
{
  constexpr int R = GIK_CLUSTER_MOST_RHS, NT = R / 8;
  const gable_off id = (gable_off)blockIdx.x * WARPS + threadIdx.x / 32;
  const gable_idx groups = p.rhs / R, right = (gable_idx)(id % groups) * R;
  const int lane = threadIdx.x % 32;
  gik::next_launch();
  if (id / groups >= p.tiles) return;
  const tile t = tile_of(p, p.tile + id / groups);
  const T *const m = (const T *)p.values + t.at;
  if (t.count <= 0) return;
  const int steps = (t.inputs + 3) / 4;
  double all[STRIPS][NT][2] = {}, part[STRIPS][NT][2] = {};
  gik::after_last_launch();
  for (int warp = 0, s = 0; s < steps;) {
    double x[AHEAD][STRIPS], y[AHEAD][NT];
    int begins = 0; /* bit u: step u is the first of its warp */
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      const gable_idx i = s * 4 + lane % 4;
      const bool mine = i < t.inputs;
      const double *const v = mine ? input(p, t, i, right) + lane / 4 : NULL;
      begins |= (s == warp) << u;
#pragma unroll
      for (int k = 0; k < STRIPS; k++) {
        const gable_idx o = k * 8 + lane / 4;
        x[u][k] = mine && o < t.count ? (double)m[o * t.out_step + i * t.in_step] : 0;
      }
#pragma unroll
      for (int n = 0; n < NT; n++) y[u][n] = mine ? v[n * 8] : 0;
      s += WARPS;
      if (s >= steps && warp + 1 < WARPS) s = ++warp;
    }
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      if (begins >> u & 1) close_part(all, part);
#pragma unroll
      for (int k = 0; k < STRIPS; k++)
#pragma unroll
        for (int n = 0; n < NT; n++) multiply(part[k][n], x[u][k], y[u][n]);
    }
  }
  close_part(all, part);
#pragma unroll
  for (int k = 0; k < STRIPS; k++) {
    const gable_idx o = k * 8 + lane / 4;
    if (o >= t.count) continue;
#pragma unroll
    for (int n = 0; n < NT; n++)
#pragma unroll
      for (int e = 0; e < 2; e++) put(p, t, t.begin + o, right + n * 8 + lane % 4 * 2 + e, all[k][n][e]);
  }
}

/* A warp a row of F and right-hand side. */
template <typename T> __global__ void __launch_bounds__(THREADS) off_kernel(const gik_cluster_off p)
{
  const gable_off e = (gable_off)blockIdx.x * WARPS + threadIdx.x / 32;
  const gable_idx i = p.begin + (gable_idx)(e / p.rhs), r = (gable_idx)(e % p.rhs);
  const int lane = threadIdx.x % 32;
  gik::next_launch();
  gik::after_last_launch();
  if (i >= p.end) return;
  double sum = 0;
  for (gable_off k = p.ptr[i] + lane; k < p.ptr[i + 1]; k += 32)
    sum += (double)((const T *)p.value)[k] * p.v[(gable_off)p.col[k] * p.rhs + r];
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, o);
  if (!lane) p.v[(gable_off)i * p.rhs + r] -= sum;
}

/* A warp a row of F and 32 right-hand sides, a lane each. */
template <typename T> __global__ void __launch_bounds__(THREADS) wide_off_kernel(const gik_cluster_off p)
{
  const gable_idx groups = p.rhs / GIK_CLUSTER_WIDE;
  const gable_off e = (gable_off)blockIdx.x * WARPS + threadIdx.x / 32;
  const gable_idx i = p.begin + (gable_idx)(e / groups);
  const gable_idx r = (gable_idx)(e % groups) * GIK_CLUSTER_WIDE + (gable_idx)threadIdx.x % 32;
  gik::next_launch();
  gik::after_last_launch();
  if (i >= p.end) return;
  double sum = 0;
  for (gable_off k = p.ptr[i]; k < p.ptr[i + 1]; k++)
    sum += (double)((const T *)p.value)[k] * p.v[(gable_off)p.col[k] * p.rhs + r];
  p.v[(gable_off)i * p.rhs + r] -= sum;
}

__global__ void __launch_bounds__(THREADS) diagonal_kernel(const gik_cluster_diagonal p)
{
  const gable_off e = (gable_off)blockIdx.x * THREADS + threadIdx.x;
  gik::next_launch();
  gik::after_last_launch();
  if (e >= (gable_off)p.n * p.rhs) return;
  const gable_idx i = (gable_idx)(e / p.rhs);
  const double a = p.dinv[i], v = p.v[e];
  const double above = p.coupling && i > 0 ? p.coupling[i - 1] : 0;
  const double below = p.coupling && i + 1 < p.n ? p.coupling[i] : 0, c = below != 0 ? below : above;
  if (c == 0) {
    p.out[e] = p.divide ? v * a : v / a;
    return;
  }
  const gable_idx step = below != 0 ? 1 : -1; /* the other row of a 2 x 2 block */
  const double other = p.v[e + step * p.rhs], d = p.dinv[i + step];
  p.out[e] = p.divide ? a * v + c * other : (d * v - c * other) / (a * d - c * c);
}

template <typename T> __global__ void __launch_bounds__(THREADS) frame_kernel(const gik_cluster_frame p)
{
  const gable_off e = (gable_off)blockIdx.x * THREADS + threadIdx.x;
  gik::next_launch();
  gik::after_last_launch();
  if (e >= (gable_off)p.n * p.rhs) return;
  const gable_idx k = (gable_idx)(e / p.rhs), i = p.place ? p.place[k] : k, r = (gable_idx)(e % p.rhs);
  const double scale = p.scale ? p.scale[i] : 1;
  T *const at = (T *)p.data + i * p.row + r * p.column;
  if (p.in)
    p.work[e] = r < p.count ? scale * (double)*at : 0;
  else if (r < p.count)
    *at = (T)(scale * p.work[e]);
}

/* The same of many right-hand sides, a thread block 32 entries of the caller's and 32 columns: a warp reads or writes
 * 32 in a row on both sides, by way of shared memory where the caller's lie in columns. */
template <typename T> __global__ void __launch_bounds__(THREADS) wide_frame_kernel(const gik_cluster_frame p)
{
  enum { SIDE = 32 };
  __shared__ double part[SIDE][SIDE + 1];
  const gable_idx first = (gable_idx)blockIdx.x * SIDE, right = (gable_idx)blockIdx.y * SIDE;
  const gable_idx fast = (gable_idx)threadIdx.x % SIDE, slow = (gable_idx)threadIdx.x / SIDE;
  const int by_rows = p.column == 1;
  /* entry i and column r of the caller's, of this thread in turn e */
  const auto i_of = [&](gable_idx e) { return first + (by_rows ? e : fast); };
  const auto r_of = [&](gable_idx e) { return right + (by_rows ? fast : e); };
  const auto at = [&](gable_idx e) { return (T *)p.data + i_of(e) * p.row + r_of(e) * p.column; };
  const auto scale_of = [&](gable_idx e) { return p.scale ? p.scale[i_of(e)] : 1; };
  const auto is_there = [&](gable_idx e) { return i_of(e) < p.n && r_of(e) < p.count; };
  const auto spot = [&](gable_idx e) -> double & { return by_rows ? part[e][fast] : part[fast][e]; };
  gik::next_launch();
  gik::after_last_launch();
  for (gable_idx e = slow; e < SIDE; e += WARPS)
    if (p.in)
      spot(e) = is_there(e) ? scale_of(e) * (double)*at(e) : 0;
    else if (first + e < p.n)
      part[e][fast] = p.work[(gable_off)p.inverse[first + e] * p.rhs + right + fast];
  __syncthreads();
  for (gable_idx e = slow; e < SIDE; e += WARPS)
    if (p.in && first + e < p.n)
      p.work[(gable_off)p.inverse[first + e] * p.rhs + right + fast] = part[e][fast];
    else if (!p.in && is_there(e))
      *at(e) = (T)(scale_of(e) * spot(e));
}

unsigned blocks_for(gable_off elements)
{
  return (unsigned)((elements + THREADS - 1) / THREADS);
}

template <typename T> void launch_product(const gik_cluster_product *p, gik::launches *on)
{
  if (p->narrow) {
    const gable_off warps = p->tiles * (p->rhs / GIK_CLUSTER_MOST_RHS);
    on->dependent(narrow_product_kernel<T>, blocks_for(warps * 32), THREADS, 0, false, *p);
    return;
  }
  const gable_off groups = p->rhs > GIK_CLUSTER_MOST_RHS ? p->rhs / GIK_CLUSTER_WIDE : 1;
  on->dependent(p->rhs == 1    ? product_kernel<T, 1>
                : p->rhs == 4  ? product_kernel<T, 4>
                : p->rhs == 16 ? product_kernel<T, 16>
                               : product_kernel<T, GIK_CLUSTER_WIDE>,
                (unsigned)(p->tiles * groups), THREADS, 0, false, *p);
}

gable_status product(gable_context *ctx, const gik_cluster_product *p, void *stream)
{
  gik::launches on(stream);
  (void)ctx;
  if (p->begin == p->end) return GABLE_OK;
  if (p->forward && !p->leaves) {
    if (p->rhs > GIK_CLUSTER_MOST_RHS)
      on.dependent(wide_slots_kernel, blocks_for((gable_off)p->columns * 32), THREADS, 0, false, *p);
    else
      on.dependent(slots_kernel, blocks_for((gable_off)p->columns * p->rhs), THREADS, 0, false, *p);
  }
  if (p->type == GABLE_TYPE_S)
    launch_product<float>(p, &on);
  else
    launch_product<double>(p, &on);
  return on.status("product of clusters");
}

gable_status off(gable_context *ctx, const gik_cluster_off *p, void *stream)
{
  gik::launches on(stream);
  const int wide = p->rhs > GIK_CLUSTER_MOST_RHS, single = p->type == GABLE_TYPE_S;
  const unsigned blocks = blocks_for((gable_off)(p->end - p->begin) * p->rhs * (wide ? 1 : 32));
  (void)ctx;
  if (!blocks) return GABLE_OK;
  if (wide)
    on.dependent(single ? wide_off_kernel<float> : wide_off_kernel<double>, blocks, THREADS, 0, false, *p);
  else
    on.dependent(single ? off_kernel<float> : off_kernel<double>, blocks, THREADS, 0, false, *p);
  return on.status("entries right of the diagonal blocks");
}

gable_status diagonal(gable_context *ctx, const gik_cluster_diagonal *p, void *stream)
{
  gik::launches on(stream);
  (void)ctx;
  if (!p->n) return GABLE_OK;
  on.dependent(diagonal_kernel, blocks_for((gable_off)p->n * p->rhs), THREADS, 0, false, *p);
  return on.status("diagonal of a factor");
}

/* The first launch of a solve, in, waits for all that came before on the stream. */
gable_status frame(gable_context *ctx, const gik_cluster_frame *p, void *stream)
{
  gik::launches on(stream);
  (void)ctx;
  if (!p->n) return GABLE_OK;
  const int single = p->type == GABLE_TYPE_S;
  const unsigned blocks = blocks_for((gable_off)p->n * p->rhs);
  if (p->inverse)
    on.dependent(single ? wide_frame_kernel<float> : wide_frame_kernel<double>,
                 dim3((unsigned)(p->n + 31) / 32, (unsigned)p->rhs / 32), THREADS, 0, p->in != 0, *p);
  else
    on.dependent(single ? frame_kernel<float> : frame_kernel<double>, blocks, THREADS, 0, p->in != 0, *p);
  return on.status("vectors to or from solve order");
}

} /* namespace */

extern "C" const gik_cluster_steps gik_cluster_steps_cuda = {product, off, diagonal, frame};
