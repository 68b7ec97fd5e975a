/* cluster_gather.cuh: how a group of warps sums the inputs of a task (cluster_flow.cu).  A place of the board that is
 * not there yet is asked again.  Sums run from left to right, whatever the number of right-hand sides. */
#ifndef GIK_CLUSTER_GATHER_CUH
#define GIK_CLUSTER_GATHER_CUH

#include <cuda_runtime.h>

#include "cuda/device_wait.cuh"
#include "kernels/supernodal/cluster_flow.h"

namespace
{

enum { WARP = 32 };
enum { COMPUTE_BARRIER = 1, GROUP_BARRIER }; /* numbers of named barriers; one of GROUP_BARRIER + group each */

__device__ __forceinline__ void group_barrier(int group, int threads)
{
  asm volatile("bar.sync %0, %1;" ::"r"(GROUP_BARRIER + group), "r"(threads) : "memory");
}

/* Where v of right-hand side r of input q lies: 16 wide, exclusive or spreads a step's operand over all banks. */
template <int R> __device__ __forceinline__ int place_of(int q, int r)
{
  return R == 16 ? q * 16 + (r ^ q % GIK_FLOW_STEP * 4) : q * R + r;
}

__device__ __forceinline__ double load_entry(const gik_flow_vectors &v, gable_idx i, int r)
{
  const gable_off k = i * v.row + r * v.column;
  const double value = v.type == GABLE_TYPE_S ? (double)((const float *)v.data)[k] : ((const double *)v.data)[k];
  return v.scale ? v.scale[i] * value : value;
}

/* Sums of gathered terms, C of each of LISTS lists at once, N right-hand sides a thread; LINES lists a round by WARPS
 * warps. */
template <int R, int WARPS> struct gatherer {
  static constexpr int N = R == 16 ? 2 : 1;
  static constexpr int LANES = R / N, LINES = WARPS * WARP / LANES, LISTS = 2, C = R == 16 ? 2 : 4;

  const gik_cluster_flow &p;
  const double *own; /* the copy of the board in use, at this thread's first right-hand side */
  gik::patience patience;
  int r;
  gable_idx cluster;

  __device__ __forceinline__ void load(gable_idx id, double v[N])
  {
    const double *at = own + (gable_off)id * R;
    if (N == 2)
      asm volatile("ld.relaxed.gpu.global.v2.f64 {%0,%1}, [%2];" : "=d"(v[0]), "=d"(v[N - 1]) : "l"(at) : "memory");
    else
      v[0] = gik::load_relaxed(at);
  }

  __device__ __forceinline__ bool missing(const double v[N])
  {
    return gik::not_yet(v[0]) || (N == 2 && gik::not_yet(v[N - 1]));
  }

  /* Asks for all places that are still empty together; those with id < 0 are none. */
  template <int M> __device__ __forceinline__ void wait(const gable_idx (&id)[M], double (&v)[M][N])
  {
    for (;;) {
      bool again = false;
#pragma unroll
      for (int k = 0; k < M; k++) again |= id[k] >= 0 && missing(v[k]);
      if (!again || patience.lost(p.control, p.deadline_ns, cluster)) return;
#pragma unroll
      for (int k = 0; k < M; k++)
        if (id[k] >= 0 && missing(v[k])) load(id[k], v[k]);
    }
  }

  /* Lists q, q + LINES, ... of LISTS into sum. */
  __device__ __forceinline__ void terms(const unsigned short *ptr, const gable_idx *term, int q, int count,
                                        double sum[LISTS][N])
  {
    int at[LISTS], end[LISTS];
    bool more = false;
#pragma unroll
    for (int u = 0; u < LISTS; u++) {
      const bool there = q + u * LINES < count;
      at[u] = there ? ptr[q + u * LINES] : 0;
      end[u] = there ? ptr[q + u * LINES + 1] : 0;
      more |= at[u] < end[u];
#pragma unroll
      for (int n = 0; n < N; n++) sum[u][n] = 0;
    }
    while (more) {
      gable_idx id[LISTS * C];
      double v[LISTS * C][N];
      more = false;
#pragma unroll
      for (int u = 0; u < LISTS; u++)
#pragma unroll
        for (int c = 0; c < C; c++) {
          const bool there = at[u] + c < end[u];
          id[u * C + c] = there ? term[at[u] + c] : 0;
#pragma unroll
          for (int n = 0; n < N; n++) v[u * C + c][n] = 0;
          if (there && id[u * C + c] >= 0) load(id[u * C + c], v[u * C + c]);
          if (there && id[u * C + c] < 0)
#pragma unroll
            for (int n = 0; n < N; n++)
              if (r + n < p.count) v[u * C + c][n] = load_entry(p.b, ~id[u * C + c], r + n);
        }
      wait(id, v);
#pragma unroll
      for (int u = 0; u < LISTS; u++) {
#pragma unroll
        for (int c = 0; c < C; c++)
#pragma unroll
          for (int n = 0; n < N; n++) sum[u][n] += v[u * C + c][n];
        at[u] += C;
        more |= at[u] < end[u];
      }
    }
  }

  /* Products of list q, C at a time; coefficients that are zero stand for no product. */
  __device__ __forceinline__ void products(const unsigned short *ptr, const gable_idx *product, int q, double sum[N])
  {
    const int end = ptr[q + 1];
    for (int k = ptr[q]; k < end; k += C) {
      gable_idx id[C];
      double a[C], v[C][N];
#pragma unroll
      for (int c = 0; c < C; c++) {
        const bool there = k + c < end;
        id[c] = there ? product[2 * (k + c) + 1] : -1;
        a[c] = there ? p.coefficient[product[2 * (k + c)]] : 0;
        if (there) load(id[c], v[c]);
      }
#pragma unroll
      for (int c = 0; c < C; c++)
        if (a[c] == 0) id[c] = -1;
      wait(id, v);
#pragma unroll
      for (int c = 0; c < C; c++)
#pragma unroll
        for (int n = 0; n < N; n++)
          if (a[c] != 0) sum[n] += a[c] * v[c][n];
    }
  }
};

/* thread: which of the group's this is. */
template <int R, int WARPS>
__device__ void gather_task(const gik_cluster_flow &p, const double *own, const unsigned char *record, int thread,
                            double *v)
{
  typedef gatherer<R, WARPS> G;
  const gik_flow_task *t = (const gik_flow_task *)record;
  const int line = thread / G::LANES, r = thread % G::LANES * G::N;
  G g = {p, own + r, {}, r, t->cluster};
  for (int base = line; base < t->sums; base += G::LINES * G::LISTS) {
    double sum[G::LISTS][G::N];
    g.terms((const unsigned short *)(record + t->ptr), (const gable_idx *)(record + t->term), base, t->sums, sum);
#pragma unroll
    for (int u = 0; u < G::LISTS; u++) {
      const int q = base + u * G::LINES;
      if (q >= t->sums) break;
      if (t->product_ptr)
        g.products((const unsigned short *)(record + t->product_ptr), (const gable_idx *)(record + t->product), q,
                   sum[u]);
#pragma unroll
      for (int n = 0; n < G::N; n++) v[place_of<R>(q, r) + n] = sum[u][n];
    }
  }
}

} /* namespace */

#endif
