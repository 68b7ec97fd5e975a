/* cluster_steps.cu: products of dense operators with gathered values, a thread block a tile.
 *
 * Outline of a product:
 *   1. while the launch before still runs: read the tile, fetch lists into L1 and the operator into L2
 *   2. gather the inputs into shared memory, CHUNK / R of them at a time
 *   3. direct: a group of lanes strides over a row; transposed: a lane owns a column, warps stride over the rows
 *   4. reduce over lanes, or over warps, in a fixed order
 *   5. add the slots of the output's position and store; or leave the sums to the last tile of these outputs
 * The order of a sum depends on the operator's shape alone, never on R, so columns have the bits that they have alone.
 */
#include <cuda_runtime.h>

#include "cuda/launch.cuh"
#include "kernels/supernodal/cluster_steps.h"

namespace
{

enum { THREADS = 256, WARPS = THREADS / 32, CHUNK = 4096 };
constexpr unsigned ALL_LANES = 0xffffffffu;

struct cluster {
  gable_idx first, width, outputs, inputs;
  gable_off list, position; /* of its rows; of its first column */
};

__device__ __forceinline__ cluster cluster_of(const gik_cluster_product &p, gable_idx j)
{
  cluster c;
  c.first = p.first[j];
  c.width = p.first[j + 1] - c.first;
  c.list = p.ptr[j];
  c.position = c.first + c.list;
  const gable_idx all = c.width + (gable_idx)(p.ptr[j + 1] - c.list);
  c.inputs = p.forward ? c.width : all;
  c.outputs = p.forward ? all : c.width;
  return c;
}

/* What descendants add at a position. */
template <int R> __device__ __forceinline__ double slots_of(const gik_cluster_product &p, gable_off position, int r)
{
  double sum = 0;
  for (gable_off k = p.in_ptr[position]; k < p.in_ptr[position + 1]; k++) sum += p.slots[p.in_slot[k] * R + r];
  return sum;
}

__device__ __forceinline__ void prefetch_l1(const void *p)
{
  asm volatile("prefetch.global.L1 [%0];" ::"l"(p));
}
__device__ __forceinline__ void prefetch_l2(const void *p)
{
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

/* Step 1: the lists of positions begin .. end-1; they are in order, so every 16th pointer touches each line. */
__device__ void prefetch_lists(const gik_cluster_product &p, const cluster &c, gable_idx begin, gable_idx end)
{
  enum { APART = 16 };
  for (gable_idx i = begin + (gable_idx)threadIdx.x * APART; i < end; i += THREADS * APART) {
    const gable_off *at = p.in_ptr + c.position + i;
    gable_off first;
    asm volatile("ld.global.b64 %0, [%1];" : "=l"(first) : "l"(at));
    prefetch_l1(p.in_slot + first);
  }
}

/* Step 1: the lists of a tile's inputs and outputs. */
__device__ void prefetch(const gik_cluster_product &p, const cluster &c, const gik_cluster_tile &t)
{
  enum { LINE = 128 };
  if (p.forward) {
    prefetch_lists(p, c, t.in_begin, t.in_end);
    if (t.end > c.width) prefetch_lists(p, c, max(t.begin, c.width), t.end);
    return;
  }
  for (gable_idx i = max(t.in_begin, c.width) + (gable_idx)threadIdx.x * (LINE / 4); i < t.in_end;
       i += THREADS * (LINE / 4))
    prefetch_l1(p.row + c.list + i - c.width);
}

/* Step 2: inputs begin .. begin+count-1 of right-hand side r into v[r * STEP ..]. */
template <int R>
__device__ void gather(const gik_cluster_product &p, const cluster &c, gable_idx begin, gable_idx count, double *v)
{
  for (int at = threadIdx.x; at < count * R; at += THREADS) {
    const gable_idx i = begin + at / R;
    const int r = at % R, e = r * (CHUNK / R) + at / R;
    if (p.forward)
      v[e] = p.own[(gable_off)(c.first + i) * R + r] + slots_of<R>(p, c.position + i, r);
    else if (i < c.width)
      v[e] = p.own[(gable_off)(c.first + i) * R + r];
    else
      v[e] = p.out[(gable_off)p.row[c.list + i - c.width] * R + r];
  }
}

/* Step 5. */
template <int R>
__device__ __forceinline__ void put(const gik_cluster_product &p, const cluster &c, gable_idx o, int r, double sum)
{
  if (o < c.width)
    p.out[(gable_off)(c.first + o) * R + r] = sum;
  else
    p.slots[(c.list + o - c.width) * R + r] = sum + slots_of<R>(p, c.position + o, r);
}

/* Step 5 of one part. */
template <int R>
__device__ __forceinline__ void finish(const gik_cluster_product &p, const cluster &c, const gik_cluster_tile &t,
                                       gable_idx o, int r, double sum)
{
  if (t.parts == 1)
    put<R>(p, c, o, r, sum);
  else
    __stcg(p.partial + (t.partial + (gable_off)t.part * (t.end - t.begin) + o - t.begin) * R + r, sum);
}

/* The last part to come adds all, in their order. */
template <int R> __device__ void add_parts(const gik_cluster_product &p, const cluster &c, const gik_cluster_tile &t)
{
  __shared__ unsigned before;
  const gable_idx size = t.end - t.begin;
  if (t.parts == 1) return;
  __threadfence();
  __syncthreads();
  if (!threadIdx.x) before = atomicAdd(p.counter + t.counter, 1u);
  __syncthreads();
  if (before != (unsigned)t.parts - 1) return;
  __threadfence();
  if (!threadIdx.x) p.counter[t.counter] = 0;
  for (int e = threadIdx.x; e < size * R; e += THREADS) {
    double sum = 0;
#pragma unroll 4
    for (gable_idx k = 0; k < t.parts; k++) sum += __ldcg(p.partial + (t.partial + (gable_off)k * size) * R + e);
    put<R>(p, c, t.begin + e / R, e % R, sum);
  }
}

/* Lanes that share a row: few for short rows. */
__device__ __forceinline__ int lanes_for(gable_idx inputs)
{
  return inputs >= 96 ? 32 : inputs >= 24 ? 8 : 4;
}

template <typename T, int R>
__global__ void __launch_bounds__(THREADS) direct_kernel(const gik_cluster_product p, const gik_cluster_tile *tiles)
{
  constexpr int ROWS = R == 1 ? 4 : R == 4 ? 2 : 1, STEP = CHUNK / R, LINE_VALUES = 128 / sizeof(T);
  /* ROWS of a group at a time */
  __shared__ double v[CHUNK];
  const gik_cluster_tile t = tiles[blockIdx.x];
  const cluster c = cluster_of(p, t.cluster);
  const T *m = (const T *)p.values + p.value_at[t.cluster];
  const int lanes = lanes_for(c.inputs), groups = THREADS / lanes;
  const int group = threadIdx.x / lanes, lane = threadIdx.x % lanes;
  gik::next_launch();
  prefetch(p, c, t);
  for (gable_idx o = t.begin + (gable_idx)threadIdx.x / 8; o < t.end; o += THREADS / 8)
    for (gable_idx i = t.in_begin + (gable_idx)(threadIdx.x % 8 * LINE_VALUES); i < t.in_end; i += 8 * LINE_VALUES)
      prefetch_l2(m + (gable_off)o * c.inputs + i);
  gik::after_last_launch();
  for (gable_idx base = t.begin; base < t.end; base += groups * ROWS) {
    double sum[ROWS][R] = {};
    const T *row[ROWS];
    for (int q = 0; q < ROWS; q++) row[q] = m + (gable_off)min(base + q * groups + group, t.end - 1) * c.inputs;
    for (gable_idx begin = t.in_begin; begin < t.in_end; begin += STEP) {
      const int count = min(STEP, t.in_end - begin);
      if (base == t.begin || t.in_end - t.in_begin > STEP) {
        __syncthreads();
        gather<R>(p, c, begin, count, v);
        __syncthreads();
      }
#pragma unroll 4
      for (int i = lane; i < count; i += lanes) {
        double a[ROWS];
#pragma unroll
        for (int q = 0; q < ROWS; q++) a[q] = (double)row[q][begin + i];
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
          for (int q = 0; q < ROWS; q++) sum[q][r] += a[q] * v[r * STEP + i];
      }
    }
    for (int q = 0; q < ROWS; q++)
      for (int r = 0; r < R; r++)
        for (int o = lanes / 2; o; o /= 2) sum[q][r] += __shfl_xor_sync(ALL_LANES, sum[q][r], o);
#pragma unroll
    for (int q = 0; q < ROWS; q++)
#pragma unroll
      for (int r = 0; r < R; r++) {
        const gable_idx o = base + q * groups + group;
        if (r % lanes == lane && o < t.end) finish<R>(p, c, t, o, r, sum[q][r]);
      }
  }
  add_parts<R>(p, c, t);
}

template <typename T, int R>
__global__ void __launch_bounds__(THREADS) transposed_kernel(const gik_cluster_product p, const gik_cluster_tile *tiles)
{
  constexpr int STEP = CHUNK / R, GROUP = R < 4 ? R : 4; /* right-hand sides that are reduced at a time */
  __shared__ double v[CHUNK];
  __shared__ double part[WARPS][32][GROUP];
  const gik_cluster_tile t = tiles[blockIdx.x];
  const cluster c = cluster_of(p, t.cluster);
  const T *m = (const T *)p.values + p.value_at[t.cluster];
  const int width = c.outputs > 16 ? 32 : c.outputs > 8 ? 16 : 8; /* columns of a warp; its lanes share the rows */
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, share = 32 / width;
  gik::next_launch();
  prefetch(p, c, t);
  for (gable_idx i = t.in_begin + (gable_idx)threadIdx.x; i < t.in_end; i += THREADS)
    for (gable_idx o = t.begin; o < t.end; o += 128 / sizeof(T)) prefetch_l2(m + (gable_off)i * c.outputs + o);
  gik::after_last_launch();
  for (gable_idx base = t.begin; base < t.end; base += width) {
    double sum[R] = {};
    const T *column = m + min(base + lane % width, t.end - 1);
    for (gable_idx begin = t.in_begin; begin < t.in_end; begin += STEP) {
      const int count = min(STEP, t.in_end - begin);
      if (base == t.begin || t.in_end - t.in_begin > STEP) {
        __syncthreads();
        gather<R>(p, c, begin, count, v);
        __syncthreads();
      }
#pragma unroll 8
      for (int i = warp * share + lane / width; i < count; i += WARPS * share) {
        const double a = (double)column[(gable_off)(begin + i) * c.outputs];
#pragma unroll
        for (int r = 0; r < R; r++) sum[r] += a * v[r * STEP + i];
      }
    }
#pragma unroll
    for (int r = 0; r < R; r++)
      for (int o = width; o < 32; o *= 2) sum[r] += __shfl_xor_sync(ALL_LANES, sum[r], o);
#pragma unroll
    for (int first = 0; first < R; first += GROUP) {
      __syncthreads();
#pragma unroll
      for (int r = 0; r < GROUP; r++) part[warp][lane][r] = sum[first + r];
      __syncthreads();
      for (int e = threadIdx.x; e < width * GROUP; e += THREADS) {
        const int column_of = e / GROUP, r = e % GROUP;
        double all = part[0][column_of][r];
        for (int k = 1; k < WARPS; k++) all += part[k][column_of][r];
        if (base + column_of < t.end) finish<R>(p, c, t, base + column_of, first + r, all);
      }
    }
  }
  add_parts<R>(p, c, t);
}

/* A warp a row of F. */
template <typename T, int R> __global__ void __launch_bounds__(THREADS) off_kernel(const gik_cluster_off p)
{
  const gable_idx i = p.begin + (gable_idx)(blockIdx.x * WARPS + threadIdx.x / 32);
  const int lane = threadIdx.x % 32;
  gik::next_launch();
  gik::after_last_launch();
  if (i >= p.end) return;
  double sum[R] = {};
  for (gable_off k = p.ptr[i] + lane; k < p.ptr[i + 1]; k += 32) {
    const double a = (double)((const T *)p.value)[k];
#pragma unroll
    for (int r = 0; r < R; r++) sum[r] += a * p.x[(gable_off)p.col[k] * R + r];
  }
#pragma unroll
  for (int r = 0; r < R; r++) {
    for (int o = 16; o; o /= 2) sum[r] += __shfl_xor_sync(ALL_LANES, sum[r], o);
    if (lane == r % 32) p.v[(gable_off)i * R + r] -= sum[r];
  }
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

template <typename T> __global__ void __launch_bounds__(THREADS) take_kernel(const gik_cluster_frame p)
{
  const gable_off e = (gable_off)blockIdx.x * THREADS + threadIdx.x;
  gik::next_launch();
  gik::after_last_launch();
  if (e >= (gable_off)p.n * p.rhs) return;
  const gable_idx i = p.place[e / p.rhs], r = (gable_idx)(e % p.rhs);
  double v = r < p.count ? (double)((const T *)p.data)[i * p.row + r * p.column] : 0;
  if (p.scale) v *= p.scale[i];
  p.work[e] = v;
}

template <typename T> __global__ void __launch_bounds__(THREADS) give_kernel(const gik_cluster_frame p)
{
  const gable_off e = (gable_off)blockIdx.x * THREADS + threadIdx.x;
  gik::next_launch();
  gik::after_last_launch();
  if (e >= (gable_off)p.n * p.rhs) return;
  const gable_idx k = (gable_idx)(e / p.rhs), i = p.place ? p.place[k] : k, r = (gable_idx)(e % p.rhs);
  if (r >= p.count) return;
  const double v = p.work[e];
  ((T *)p.data)[i * p.row + r * p.column] = (T)(p.scale ? p.scale[i] * v : v);
}

unsigned blocks_for(gable_off elements)
{
  return (unsigned)((elements + THREADS - 1) / THREADS);
}

template <typename T, int R>
void launch_product(const gik_cluster_product *p, const gik_cluster_tile *tiles, gable_idx count, gik::launches *on)
{
  if (p->transposed)
    on->dependent(transposed_kernel<T, R>, (unsigned)count, THREADS, 0, false, *p, tiles);
  else
    on->dependent(direct_kernel<T, R>, (unsigned)count, THREADS, 0, false, *p, tiles);
}

template <typename T>
void launch_width(const gik_cluster_product *p, const gik_cluster_tile *tiles, gable_idx count, gik::launches *on)
{
  if (p->rhs == 1)
    launch_product<T, 1>(p, tiles, count, on);
  else if (p->rhs == 4)
    launch_product<T, 4>(p, tiles, count, on);
  else
    launch_product<T, 16>(p, tiles, count, on);
}

gable_status product(gable_context *ctx, const gik_cluster_product *p, const gik_cluster_tile *tiles, gable_idx count,
                     void *stream)
{
  gik::launches on(stream);
  (void)ctx;
  if (!count) return GABLE_OK;
  if (p->type == GABLE_TYPE_S)
    launch_width<float>(p, tiles, count, &on);
  else
    launch_width<double>(p, tiles, count, &on);
  return on.status("product of clusters");
}

template <typename T> void launch_off(const gik_cluster_off *p, gik::launches *on)
{
  const unsigned blocks = (unsigned)((p->end - p->begin + WARPS - 1) / WARPS);
  if (p->rhs == 1)
    on->dependent(off_kernel<T, 1>, blocks, THREADS, 0, false, *p);
  else if (p->rhs == 4)
    on->dependent(off_kernel<T, 4>, blocks, THREADS, 0, false, *p);
  else
    on->dependent(off_kernel<T, 16>, blocks, THREADS, 0, false, *p);
}

gable_status off(gable_context *ctx, const gik_cluster_off *p, void *stream)
{
  gik::launches on(stream);
  (void)ctx;
  if (p->begin == p->end) return GABLE_OK;
  if (p->type == GABLE_TYPE_S)
    launch_off<float>(p, &on);
  else
    launch_off<double>(p, &on);
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

/* The first launch of a solve: it waits for all that came before on the stream. */
gable_status take(gable_context *ctx, const gik_cluster_frame *p, void *stream)
{
  gik::launches on(stream);
  (void)ctx;
  if (!p->n) return GABLE_OK;
  const unsigned blocks = blocks_for((gable_off)p->n * p->rhs);
  on.dependent(p->type == GABLE_TYPE_S ? take_kernel<float> : take_kernel<double>, blocks, THREADS, 0, true, *p);
  return on.status("right-hand sides into solve order");
}

gable_status give(gable_context *ctx, const gik_cluster_frame *p, void *stream)
{
  gik::launches on(stream);
  (void)ctx;
  if (!p->n) return GABLE_OK;
  const unsigned blocks = blocks_for((gable_off)p->n * p->rhs);
  on.dependent(p->type == GABLE_TYPE_S ? give_kernel<float> : give_kernel<double>, blocks, THREADS, 0, false, *p);
  return on.status("solutions out of solve order");
}

} /* namespace */

extern "C" const gik_cluster_steps gik_cluster_steps_cuda = {product, off, diagonal, take, give};
