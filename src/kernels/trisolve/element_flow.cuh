/* element_flow.cuh: what the element methods of Li and Zhang share on a GPU.
 *
 * The grid is launched cooperatively, so that all of its W warps run at once, and warp k takes the rows at places k, k
 * + W, k + 2W, ... of an order in which every row comes after those that it needs.  Of the unfinished rows the one with
 * the lowest place therefore belongs to a resident warp that has finished its earlier rows, and every value that it
 * waits for is stored: at least one warp makes progress, whatever the order in which blocks start.
 *
 * Polling loads compete for L2 with the stores that they wait for: 2 blocks a multiprocessor are faster than 4 unless
 * levels are wide, and then a short sleep between two polls pays.  The figures are in docs/algorithms/elmr.md. */
#ifndef GIK_ELEMENT_FLOW_CUH
#define GIK_ELEMENT_FLOW_CUH

#include "cuda/device_wait.cuh"
#include "cuda/launch.cuh"
#include "kernels/trisolve/trisolve_cuda.h"

namespace gik
{

enum { FLOW_BLOCK = 512, WIDE_LEVEL = 1500, NAP_NS = 40 };

/* *p, after which this thread sees what was stored before a subtract_release that it has seen. */
static __device__ __forceinline__ int load_acquire(const int *p)
{
  int v;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

/* *p -= d, after everything that this thread has stored. */
static __device__ __forceinline__ void subtract_release(int *p, int d)
{
  asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(p), "r"(-d) : "memory");
}

/* Places of an order that a warp takes; the first of them all is the control block's ticket, which is 0. */
struct warp_places {
  unsigned at, step;
  __device__ __forceinline__ explicit warp_places(const gik_control *c)
      : at(c->ticket + (blockIdx.x * blockDim.x + threadIdx.x) / 32), step(gridDim.x * blockDim.x / 32)
  {
  }
};

/* Waits that are all given up at one deadline. */
struct flow_waits {
  gik_control *control;
  unsigned long long deadline_ns;
  unsigned nap; /* between two looks; 0: none */

  __device__ __forceinline__ bool over(patience *patient, int row) const
  {
    if (patient->lost(control, deadline_ns, row)) return true;
    if (nap) __nanosleep(nap);
    return false;
  }

  /* The value of a row, whose place holds "not yet" until it is there. */
  template <typename T> __device__ __forceinline__ T value(const T *place, patience *patient, int row) const
  {
    T v = load_relaxed(place);
    while (not_yet(v) && !over(patient, row)) v = load_relaxed(place);
    return v;
  }
};

/* The sum of a warp in lane 0, where lanes from length on bring zeros. */
template <typename T> static __device__ __forceinline__ T sum_of_warp(T sum, unsigned length)
{
  if (length > 16) sum += __shfl_down_sync(ALL, sum, 16);
  if (length > 8) sum += __shfl_down_sync(ALL, sum, 8);
  if (length > 4) sum += __shfl_down_sync(ALL, sum, 4);
  sum += __shfl_down_sync(ALL, sum, 2);
  return sum + __shfl_down_sync(ALL, sum, 1);
}

/* A warp a row, by R as in level_launch.cuh, which has further: prepare(), what else can be done before it waits;
 * more(), whether it has an entry; term(g, now, patient), the product of that entry and x_j, for which it waits;
 * solved(g, sum), x_i; BLOCKS a multiprocessor at least, 0: as many as fit.  A place of g.published, [2][g.rows()],
 * holds "not yet" until x_j is there. */
template <typename R>
static __global__ void __launch_bounds__(FLOW_BLOCK, R::BLOCKS) rows_flow_kernel(const typename R::arguments g)
{
  typedef typename R::number T;
  const unsigned lane = threadIdx.x % 32, n = g.rows(), half = g.waits.control->parity[0] & 1;
  T *now = g.published + (half ? n : 0), *then = g.published + (half ? 0 : n);
  warp_places w(g.waits.control);
  for (unsigned row = w.at < n ? g.order[w.at] : 0; w.at < n;) {
    R r;
    patience patient;
    T sum = 0;
    r.locate(g, row);
    r.fill(g, lane);
    r.prepare();
    w.at += w.step;
    if (w.at < n) row = g.order[w.at];
    if (r.more()) sum = r.term(g, now, &patient);
    while (r.p < r.end) { /* more than 32 entries */
      r.next(g);
      sum += r.term(g, now, &patient);
    }
    __syncwarp();
    sum = sum_of_warp(sum, r.end - r.begin);
    if (!lane) {
      const T x = r.solved(g, sum);
      store_relaxed(now + r.i, x);
      *g.at(r.i) = x;
      store_not_yet(then + r.i);
    } /* no barrier: that the other lanes go on meanwhile is worth 0.2 us a level */
  }
  leave(g.waits.control, 1);
}

/* kernel(g) by a grid of which every block runs at once; g.waits.nap is set.  full: every multiprocessor is. */
template <typename G> static void flow_launch(void (*kernel)(G), G *g, int n, int levels, bool full, launches *on)
{
  const bool wide = !full && levels > 0 && n / levels > WIDE_LEVEL;
  const int wanted = (n + FLOW_BLOCK / 32 - 1) / (FLOW_BLOCK / 32), most = wide || full ? 4 : 2;
  int device = 0, processors = 1, fit = 1;
  void *arguments[] = {g};
  on->call([&] { return cudaGetDevice(&device); });
  on->call([&] { return cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device); });
  on->call([&] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, FLOW_BLOCK, 0); });
  fit = (fit < most ? fit : most) * processors;
  g->waits.nap = wide ? NAP_NS : 0;
  on->call([&] {
    return cudaLaunchCooperativeKernel((const void *)kernel, dim3((unsigned)(wanted < fit ? wanted : fit)),
                                       dim3(FLOW_BLOCK), arguments, 0, on->stream);
  });
}

} /* namespace gik */

#endif
