/* cluster_product.cuh: products of dense tiles, 64 x 32 sums a thread block of 4 warps, on the FP64 tensor cores.
 *
 * A warp has 16 x 32 of the sums in registers: a lane those of columns 16 warp + 8 h + lane / 4 and rows 8 t + 2 (lane
 * % 4) + e, h, e < 2, t < 4.  Operands come through shared memory, 64 x 16 and 32 x 16 values a stage, where three
 * stages are under way at a time. */
#ifndef GIK_CLUSTER_PRODUCT_CUH
#define GIK_CLUSTER_PRODUCT_CUH

#include <cuda_runtime.h>

#include "kernels/supernodal/cluster_inverse.h"

namespace
{

enum {
  WARP = 32,
  WARPS = 4,
  THREADS = WARP * WARPS,
  TILE = GIK_INVERSE_TILE,
  STEP = 32,
  DEPTH = 16,
  STAGES = 3,
  RESIDENT = 4
};
/* Rows of so many numbers: a warp's loads of 8 x 4 numbers, either way, meet no bank twice. */
enum { NARROW = DEPTH + 4, SQUARE = STEP + 4, WIDE = TILE + 4 };

typedef double sums[2][4][2];

struct stage {
  double a[TILE * NARROW]; /* or [DEPTH][WIDE] */
  double b[STEP * NARROW]; /* or [DEPTH][SQUARE] */
};

/* What a block shares. */
struct room {
  union {
    stage stages[STAGES];
    double block[STEP * SQUARE]; /* on the diagonal of T */
  };
  double pivot[STEP], size[STEP];
};

__device__ __forceinline__ int lane()
{
  return threadIdx.x % WARP;
}
__device__ __forceinline__ int column_of(int h)
{
  return threadIdx.x / WARP * 16 + 8 * h + lane() / 4;
}
__device__ __forceinline__ int row_of(int t, int e)
{
  return 8 * t + 2 * (lane() % 4) + e;
}

/* c += a b for 8 x 4 times 4 x 8. */
__device__ __forceinline__ void multiply(double c[2], double a, double b)
{
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

/* sum(m,n) += sum over k < DEPTH of a[m AM + k AK] b[n BN + k BK]. */
template <int AM, int AK, int BN, int BK> __device__ __forceinline__ void multiply_stage(sums &c, const stage &s)
{
#pragma unroll
  for (int k = 0; k < DEPTH; k += 4) {
    double x[2], y[4];
    const int mine = k + lane() % 4;
    for (int h = 0; h < 2; h++) x[h] = s.a[column_of(h) * AM + mine * AK];
    for (int t = 0; t < 4; t++) y[t] = s.b[(8 * t + lane() / 4) * BN + mine * BK];
    for (int h = 0; h < 2; h++)
      for (int t = 0; t < 4; t++) multiply(c[h][t], x[h], y[t]);
  }
}

/* *to = *from, or 0; doubles some time before the next wait_for_stage. */
__device__ __forceinline__ void fetch(double *to, const double *from, bool there)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from),
               "r"(there ? 8 : 0)
               : "memory");
}
__device__ __forceinline__ void fetch(double *to, const float *from, bool there)
{
  *to = there ? (double)*from : 0;
}
__device__ __forceinline__ void end_stage()
{
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int YOUNGER> __device__ __forceinline__ void wait_for_stage()
{
  asm volatile("cp.async.wait_group %0;" ::"n"(YOUNGER) : "memory");
}

/* to[i LD + k] = (i,k) of `from` at row i0 and column k0, zeros beyond rows and columns. */
template <int ROWS, int COLUMNS, int LD, typename T>
__device__ __forceinline__ void load(double *to, const T *values, const gik_inverse_view &from, int i0, int rows,
                                     int k0, int columns)
{
  const int i = threadIdx.x / COLUMNS, k = threadIdx.x % COLUMNS;
  const bool inside = k0 + k < columns;
  const T *at = values + from.at + (i0 + i) * from.row + (k0 + k) * from.column;
#pragma unroll
  for (int e = 0; e < ROWS; e += THREADS / COLUMNS) {
    const bool there = inside && i0 + i + e < rows;
    fetch(to + (i + e) * LD + k, there ? at + e * from.row : values, there);
  }
}

/* c += products of all stages from `from` to end; load_stage(q, s) fetches what begins at q.  Before and after it the
 * stages belong to nobody. */
template <int AM, int AK, int BN, int BK, typename F>
__device__ __forceinline__ void multiply_stages(sums &c, room &r, int from, int end, F load_stage)
{
  for (int k = 0; k < STAGES - 1; k++) {
    if (from + k * DEPTH < end) load_stage(from + k * DEPTH, r.stages[k]);
    end_stage();
  }
  for (int q = from, k = 0; q < end; q += DEPTH, k = k + 1 < STAGES ? k + 1 : 0) {
    const int free = k ? k - 1 : STAGES - 1, next = q + (STAGES - 1) * DEPTH;
    wait_for_stage<STAGES - 2>();
    __syncthreads(); /* stage k is there for all, and all have read the one before it */
    if (next < end) load_stage(next, r.stages[free]);
    end_stage();
    multiply_stage<AM, AK, BN, BK>(c, r.stages[k]);
  }
  __syncthreads();
}

__device__ __forceinline__ void clear(sums &c)
{
  for (int h = 0; h < 2; h++)
    for (int t = 0; t < 4; t++) c[h][t][0] = c[h][t][1] = 0;
}

} /* namespace */

#endif
