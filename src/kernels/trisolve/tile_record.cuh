/* tile_record.cuh: a record of a tile, and one step of the march over it.
 *
 * A record holds the C / P rows of one level that the C = 32 W lanes of W warps compute together, P lanes a row. */
#ifndef GIK_TILE_RECORD_CUH
#define GIK_TILE_RECORD_CUH

#include "cuda/device_wait.cuh"
#include "kernels/trisolve/stored.cuh"

namespace gik
{

/* values [KP][C] pairs of M | slots [KP][C] two of 16 bits | meta [C/P] {published place, row}: a negative row has
 * neither b nor x | 1/diagonal [C/P] */
template <typename M, int P, int KP, int W> struct layout {
  static constexpr int C = 32 * W, R = C / P;
  static constexpr int slots = KP * 2 * C * (int)sizeof(M), meta = slots + KP * 4 * C, inverse = meta + R * 8;
  static constexpr int bytes = (inverse + R * (int)sizeof(double) + 15) / 16 * 16;
};

/* The W warps that use barrier ID wait for each other. */
template <int ID, int W> static __device__ __forceinline__ void group_barrier()
{
  if (W == 1)
    __syncwarp();
  else
    asm volatile("bar.sync %0, %1;" ::"n"(ID), "n"(32 * W) : "memory");
}

/* What a lane holds of a record.  Its parts are read at different times, ahead of their use: slots two records ahead,
 * the rest one, so that a step begins with its operands and waits for nothing else. */
template <typename T, typename M, int P, int KP, int W> struct step : coefficients<T, M, KP> {
  typedef layout<M, P, KP, W> L;
  using coefficients<T, M, KP>::a;
  unsigned at[2 * KP]; /* where the operands are in shared memory */
  T b, inverse;
  unsigned place, row;

  __device__ __forceinline__ void aim(const unsigned *slot, unsigned base)
  {
#pragma unroll
    for (int k = 0; k < KP; k++) {
      at[2 * k] = base + (slot[k] & 0xffff) * (unsigned)sizeof(T);
      at[2 * k + 1] = base + (slot[k] >> 16) * (unsigned)sizeof(T);
    }
  }

  static __device__ __forceinline__ void fetch_slots(unsigned *slot, const char *record, int t)
  {
#pragma unroll
    for (int k = 0; k < KP; k++) slot[k] = ((const unsigned *)(record + L::slots))[k * L::C + t];
  }

  __device__ __forceinline__ void fetch(const char *record, const T *rhs, int t)
  {
    const int r = t / P;
    pair<M> *stored = this->stored();
#pragma unroll
    for (int k = 0; k < KP; k++) stored[k] = ((const pair<M> *)record)[k * L::C + t];
    const uint2 m = ((const uint2 *)(record + L::meta))[r];
    place = m.x;
    row = m.y;
    inverse = (T)((const double *)(record + L::inverse))[r];
    b = rhs[r];
  }

  __device__ __forceinline__ void operands(T *v) const
  {
#pragma unroll
    for (int k = 0; k < 2 * KP; k++) load_shared(at[k], &v[k]);
  }

  /* The right-hand side of a row, in the first of its lanes. */
  __device__ __forceinline__ T start(int lane) const
  {
    return (P > 1 && lane % P) || (int)row < 0 ? (T)0 : inverse * b;
  }

  /* rhs - sum a v over the P lanes of a row, always in the same order. */
  __device__ __forceinline__ T dot(T rhs, const T *v) const
  {
    T even = rhs, odd = 0;
#pragma unroll
    for (int k = 0; k < KP; k++) {
      even = fma(-a[k].x, v[2 * k], even);
      if (KP == 1)
        even = fma(-a[k].y, v[2 * k + 1], even);
      else
        odd = fma(-a[k].y, v[2 * k + 1], odd);
    }
    if (KP > 1) even += odd;
#pragma unroll
    for (int d = P / 2; d > 0; d >>= 1) even += __shfl_xor_sync(ALL, even, d);
    return even;
  }

  static __device__ __forceinline__ bool missing(const T *v)
  {
    bool m = false;
#pragma unroll
    for (int k = 0; k < 2 * KP; k++) m |= not_yet(v[k]);
    return m;
  }

  /* Whether v may hold a value that is not there: exact for few operands, by the result for many. */
  static __device__ __forceinline__ bool suspect(const T *v, T result)
  {
    if (KP > 2) return result != result;
    bool m = false;
#pragma unroll
    for (int k = 0; k < 2 * KP; k++) m |= perhaps_not_yet(v[k]);
    return m;
  }
};

} /* namespace gik */

#endif
