/* sweep_rows.cu: see sweep_rows.h.  As in the triangular solves of the same names, warps take their rows by ticket and
 * waits end at a deadline.
 *
 * In place, row i reads x_j on the far side of the diagonal before j, which depends on i, writes it: the flag of i is
 * raised after x_i is stored, and x_i depends on what was read. */
#include "kernels/cuda_status.cuh"
#include "kernels/device_wait.cuh"
#include "kernels/sweep_rows.h"

using gik::launched;

namespace gik
{

enum { SWEEP_BLOCK = 512 };

template <typename A, typename V> struct sweep_arguments {
  gik_rows a;
  int backward;
  const unsigned *order;
  const V *b, *old;
  V *x;
  ptrdiff_t b_step, x_step;
  V omega;
  unsigned char *ready;
  gik_control *control;
  unsigned long long deadline_ns;

  __device__ __forceinline__ bool newer(gable_idx j, gable_idx i) const { return backward ? j > i : j < i; }
  __device__ __forceinline__ V value(gable_idx j, gable_idx i) const
  {
    return old && !newer(j, i) ? old[j] : *(volatile V *)(x + j * x_step);
  }
  __device__ __forceinline__ void store(gable_idx i, V sum) const
  {
    const V solved = (b[i * b_step] - sum) / (V)((const A *)a.val)[a.diagonal[i]];
    volatile V *to = x + i * x_step;
    *to = omega == 1 ? solved : *to + omega * (solved - *to);
  }
};

template <typename A, typename V, int P>
static __device__ __forceinline__ void sweep_level(const sweep_arguments<A, V> &g, unsigned group, unsigned groups,
                                                   unsigned l1, unsigned l2)
{
  const unsigned lane = threadIdx.x % P;
  for (unsigned p0 = l1 + group; __any_sync(ALL, p0 < l2); p0 += groups) {
    V sum = 0;
    gable_idx i = 0;
    if (p0 < l2) {
      i = (gable_idx)g.order[p0];
      for (unsigned p = g.a.ptr[i] + lane; p < g.a.ptr[i + 1]; p += P) {
        const gable_idx j = g.a.idx[p];
        if (j != i) sum += (V)((const A *)g.a.val)[p] * g.value(j, i);
      }
    }
#pragma unroll
    for (int d = P / 2; d > 0; d >>= 1) sum += __shfl_down_sync(ALL, sum, d, P);
    if (p0 < l2 && lane == 0) g.store(i, sum);
  }
}

template <typename A, typename V, int P>
static __global__ void sweep_level_kernel(const sweep_arguments<A, V> g, unsigned l1, unsigned l2)
{
  sweep_level<A, V, P>(g, (blockIdx.x * blockDim.x + threadIdx.x) / P, gridDim.x * blockDim.x / P, l1, l2);
}

/* Several levels that fit one block, a barrier between two. */
template <typename A, typename V, int P>
static __global__ void sweep_chain_kernel(const sweep_arguments<A, V> g, const unsigned *start, int first, int last)
{
  for (int m = first; m < last; m++) {
    sweep_level<A, V, P>(g, threadIdx.x / P, blockDim.x / P, start[m], start[m + 1]);
    __threadfence();
    __syncthreads();
  }
}

/* A warp a row; ready[j] says that the new x_j is there. */
template <typename A, typename V> static __global__ void sweep_elements_kernel(const sweep_arguments<A, V> g)
{
  const unsigned lane = threadIdx.x % 32;
  volatile unsigned char *ready = g.ready;
  unsigned w = 0;
  if (!lane) w = atomicAdd(&g.control->ticket, 1u);
  w = __shfl_sync(ALL, w, 0);
  while (w < (unsigned)g.a.n) {
    unsigned later = 0;
    if (!lane) later = atomicAdd(&g.control->ticket, 1u);
    const gable_idx i = (gable_idx)g.order[w];
    patience patient;
    V sum = 0;
    for (unsigned p = g.a.ptr[i] + lane; p < g.a.ptr[i + 1]; p += 32) {
      const gable_idx j = g.a.idx[p];
      if (j == i) continue;
      if (g.newer(j, i)) {
        while (!ready[j] && !patient.lost(g.control, g.deadline_ns, j)) {
        }
        __threadfence();
      }
      sum += (V)((const A *)g.a.val)[p] * g.value(j, i);
    }
    __syncwarp();
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(ALL, sum, d);
    if (!lane) {
      g.store(i, sum);
      __threadfence();
      ready[i] = 1;
    }
    w = __shfl_sync(ALL, later, 0);
  }
  leave(g.control, 0);
}

template <typename A, typename V>
static sweep_arguments<A, V> arguments_of(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s)
{
  sweep_arguments<A, V> g = {};
  g.a = *a;
  g.backward = o->backward;
  g.order = o->order;
  g.b = (const V *)s->b;
  g.old = (const V *)s->old;
  g.x = (V *)s->x;
  g.b_step = s->b_step;
  g.x_step = s->x_step;
  g.omega = (V)s->omega;
  g.ready = s->ready;
  g.control = s->control;
  g.deadline_ns = s->deadline_ns;
  return g;
}

/* Threads a row. */
static unsigned lanes_of(const gik_rows *a)
{
  unsigned lanes = 2;
  while (lanes < 32 && (double)lanes * a->n < (double)a->nnz) lanes *= 2;
  return lanes;
}

/* The end of the run of levels from m on that go in one launch: levels that one block takes at once. */
static int run_end(const gik_sweep_order *o, int m, unsigned rows)
{
  int e = m;
  while (e < o->levels && o->start[e + 1] - o->start[e] <= rows) e++;
  return e > m ? e : m + 1;
}

template <typename A, typename V, int P>
static void levels_run(const sweep_arguments<A, V> &g, const gik_sweep_order *o, cudaStream_t stream)
{
  const unsigned rows = SWEEP_BLOCK / P;
  for (int m = 0; m < o->levels;) {
    const int e = run_end(o, m, rows);
    const unsigned width = o->start[m + 1] - o->start[m];
    if (width <= rows)
      sweep_chain_kernel<A, V, P><<<1, SWEEP_BLOCK, 0, stream>>>(g, o->device_start, m, e);
    else
      sweep_level_kernel<A, V, P>
          <<<(width + rows - 1) / rows, SWEEP_BLOCK, 0, stream>>>(g, o->start[m], o->start[m + 1]);
    m = e;
  }
}

template <typename A, typename V>
static void levels_launch(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s)
{
  const sweep_arguments<A, V> g = arguments_of<A, V>(a, o, s);
  const cudaStream_t stream = (cudaStream_t)s->stream;
  switch (lanes_of(a)) {
  case 2: levels_run<A, V, 2>(g, o, stream); break;
  case 4: levels_run<A, V, 4>(g, o, stream); break;
  case 8: levels_run<A, V, 8>(g, o, stream); break;
  case 16: levels_run<A, V, 16>(g, o, stream); break;
  default: levels_run<A, V, 32>(g, o, stream);
  }
}

template <typename A, typename V>
static void elements_launch(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s)
{
  const sweep_arguments<A, V> g = arguments_of<A, V>(a, o, s);
  const unsigned wanted = ((unsigned)a->n + SWEEP_BLOCK / 32 - 1) / (SWEEP_BLOCK / 32);
  int device = 0, processors = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  const unsigned most = 4u * (unsigned)processors, grid = wanted < most ? wanted : most;
  cudaMemsetAsync(s->ready, 0, (size_t)a->n, (cudaStream_t)s->stream);
  sweep_elements_kernel<<<grid, SWEEP_BLOCK, 0, (cudaStream_t)s->stream>>>(g);
}

} /* namespace gik */

namespace
{

gable_status levels(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s)
{
  if (a->value_type == GABLE_D)
    gik::levels_launch<double, double>(a, o, s);
  else if (s->type == GABLE_D)
    gik::levels_launch<float, double>(a, o, s);
  else
    gik::levels_launch<float, float>(a, o, s);
  return launched("a sweep by levels");
}

gable_status elements(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s)
{
  if (!a->n) return GABLE_OK;
  if (a->value_type == GABLE_D)
    gik::elements_launch<double, double>(a, o, s);
  else if (s->type == GABLE_D)
    gik::elements_launch<float, double>(a, o, s);
  else
    gik::elements_launch<float, float>(a, o, s);
  return launched("a sweep by elements");
}

gable_status prepare(gik_control *control, void *stream)
{
  return gik_solve_prepare(control, nullptr, 0, GABLE_D, stream);
}

int launches(const gik_rows *a, const gik_sweep_order *o)
{
  int count = 0;
  for (int m = 0; m < o->levels; count++) m = gik::run_end(o, m, gik::SWEEP_BLOCK / gik::lanes_of(a));
  return count;
}

} /* namespace */

extern "C" const gik_row_sweeps gik_row_sweeps_cuda = {levels, elements, prepare, launches};
