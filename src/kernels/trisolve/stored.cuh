/* stored.cuh: the numbers of a record, and the coefficients that they are for vectors of T.
 *
 * A matrix of doubles is stored as a_ij / a_ii.  A matrix of floats is stored as it is, once for vectors of both types:
 * a kernel multiplies by 1 / a_ii, which is a double in every record, before it waits for what the row needs.  Of a
 * part of a row that is 1; where a row takes over a part -1 stands in the place of an entry. */
#ifndef GIK_STORED_CUH
#define GIK_STORED_CUH

#include "kernels/trisolve/trisolve_cuda.h"

namespace gik
{

static __device__ __forceinline__ double coefficient(double a, double)
{
  return a;
}
/* volatile: where it stands, not where it is used, which is behind the wait. */
static __device__ __forceinline__ double coefficient(float a, double inverse)
{
  double c;
  asm volatile("{.reg .f64 t; cvt.f64.f32 t, %1; mul.f64 %0, t, %2;}" : "=d"(c) : "f"(a), "d"(inverse));
  return c;
}
static __device__ __forceinline__ float coefficient(float a, float inverse)
{
  float c;
  asm volatile("mul.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(inverse));
  return c;
}

template <typename T> struct __align__(2 * sizeof(T)) pair
{
  T x, y;
};

/* The coefficients of K pairs of entries: a, once what is stored has been read and scaled. */
template <typename T, typename M, int K> struct coefficients {
  pair<T> a[K];

  __device__ __forceinline__ pair<M> *stored() { return given; }
  __device__ __forceinline__ void scale(T inverse)
  {
#pragma unroll
    for (int k = 0; k < K; k++) a[k] = {coefficient(given[k].x, inverse), coefficient(given[k].y, inverse)};
  }

private:
  pair<M> given[K];
};
template <int K> struct coefficients<double, double, K> {
  pair<double> a[K];

  __device__ __forceinline__ pair<double> *stored() { return a; }
  __device__ __forceinline__ void scale(double) {}
};

/* f(T, M) by the types of vectors and of what is stored. */
template <typename F> static auto by_types(gable_type vectors, gable_type stored, const F &f)
{
  if (stored == GABLE_TYPE_D) return f(double(), double());
  return vectors == GABLE_TYPE_D ? f(double(), float()) : f(float(), float());
}

} /* namespace gik */

#endif
