/* estimate_steps.cu: see estimate_steps.h.  Sums and maxima: each thread block leaves its own, the last block to arrive
 * takes them together in the order of their numbers. */
#include "kernels/refine/estimate_steps.h"

#include <cmath>

#include "cuda/block_sum.cuh"
#include "cuda/last_block.cuh"
#include "cuda/launch.cuh"

namespace
{

enum { THREADS = 256, BLOCKS = GIK_ESTIMATE_BLOCKS };
static_assert(THREADS == BLOCKS, "a thread a block when the last one takes what they left");

template <class Each> __global__ void __launch_bounds__(THREADS) each_kernel(gable_idx n, Each each)
{
  for (gable_off i = (gable_off)blockIdx.x * THREADS + threadIdx.x; i < n; i += (gable_off)gridDim.x * THREADS)
    each((gable_idx)i);
}

unsigned blocks_for(gable_idx n)
{
  const gable_off wanted = ((gable_off)n + THREADS - 1) / THREADS;
  return (unsigned)(wanted < 1 ? 1 : wanted < BLOCKS ? wanted : (gable_off)BLOCKS);
}

template <class Each> gable_status for_each(gable_idx n, void *stream, Each each)
{
  gik::launches on(stream);
  on.launch(each_kernel<Each>, blocks_for(n), THREADS, 0, n, each);
  return on.status("estimate of a norm");
}

__global__ void __launch_bounds__(THREADS) weigh_kernel(gable_idx n, const double *d, double *y, gik_estimate *out)
{
  __shared__ double room[THREADS];
  double sum = 0;
  for (gable_off i = (gable_off)blockIdx.x * THREADS + threadIdx.x; i < n; i += (gable_off)gridDim.x * THREADS) {
    if (d) y[i] *= d[i];
    sum += fabs(y[i]);
  }
  sum = gik::block_sum<THREADS>(sum, room);
  if (!threadIdx.x) out->part[blockIdx.x] = sum;
  if (!gik::whole_block_is_last(&out->arrived)) return;
  sum = gik::block_sum<THREADS>(threadIdx.x < gridDim.x ? __ldcg(&out->part[threadIdx.x]) : 0, room);
  if (threadIdx.x) return;
  out->sum = sum;
  out->arrived = 0;
}

/* An entry of x by size; where -1: none. */
struct entry {
  double size;
  gable_idx where;
};

__device__ entry larger(entry a, entry b)
{
  if (b.where < 0) return a;
  if (a.where < 0) return b;
  return b.size > a.size || (b.size == a.size && b.where < a.where) ? b : a;
}

/* Of a block; thread 0 gets it. */
__device__ entry block_largest(entry v, entry *room)
{
  __syncthreads();
  room[threadIdx.x] = v;
  for (int d = THREADS / 2; d > 0; d >>= 1) {
    __syncthreads();
    if ((int)threadIdx.x < d) room[threadIdx.x] = larger(room[threadIdx.x], room[threadIdx.x + d]);
  }
  return room[0];
}

__global__ void __launch_bounds__(THREADS)
    largest_kernel(gable_idx n, const double *x, gable_idx last, gik_estimate *out)
{
  __shared__ entry room[THREADS];
  entry found = {0, -1};
  for (gable_off i = (gable_off)blockIdx.x * THREADS + threadIdx.x; i < n; i += (gable_off)gridDim.x * THREADS) {
    const double size = fabs(x[i]);
    if (size > found.size || (found.where < 0 && size == 0)) found = {size, (gable_idx)i};
  }
  found = block_largest(found, room);
  if (!threadIdx.x) {
    out->part[blockIdx.x] = found.size;
    out->where[blockIdx.x] = found.where;
  }
  if (!gik::whole_block_is_last(&out->arrived)) return;
  found = {0, -1};
  if (threadIdx.x < gridDim.x) found = {__ldcg(&out->part[threadIdx.x]), __ldcg(&out->where[threadIdx.x])};
  found = block_largest(found, room);
  if (threadIdx.x) return;
  out->largest = found.size;
  out->best = found.where;
  out->last = last < 0 ? 0 : fabs(x[last]);
  out->arrived = 0;
}

gable_status start(gable_idx n, double *x, void *stream)
{
  return for_each(n, stream, [=] __device__(gable_idx i) { x[i] = 1.0 / (double)n; });
}

gable_status unit(gable_idx n, gable_idx k, double *x, void *stream)
{
  return for_each(n, stream, [=] __device__(gable_idx i) { x[i] = i == k; });
}

gable_status alternate(gable_idx n, double *x, void *stream)
{
  return for_each(n, stream, [=] __device__(gable_idx i) {
    x[i] = (i % 2 ? -1 : 1) * (1 + (n > 1 ? (double)i / (double)(n - 1) : 0));
  });
}

gable_status signs(gable_idx n, const double *d, double *y, void *stream)
{
  return for_each(n, stream, [=] __device__(gable_idx i) { y[i] = (y[i] < 0 ? -1 : 1) * (d ? d[i] : 1); });
}

gable_status weigh(gable_idx n, const double *d, double *y, gik_estimate *out, void *stream)
{
  gik::launches on(stream);
  on.launch(weigh_kernel, blocks_for(n), THREADS, 0, n, d, y, out);
  return on.status("estimate of a norm");
}

gable_status largest(gable_idx n, const double *x, gable_idx last, gik_estimate *out, void *stream)
{
  gik::launches on(stream);
  on.launch(largest_kernel, blocks_for(n), THREADS, 0, n, x, last, out);
  return on.status("estimate of a norm");
}

gable_status bound(gable_idx n, double slack, const double *weight, const double *b, double *r, void *stream)
{
  return for_each(n, stream, [=] __device__(gable_idx i) { r[i] = fabs(r[i]) + slack * (weight[i] + fabs(b[i])); });
}

} /* namespace */

extern "C" const gik_estimate_steps gik_estimate_steps_cuda = {start, unit, alternate, signs, weigh, largest, bound};
