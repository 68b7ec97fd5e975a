/* rows_cuda_variable.cuh: how a variable record lies in memory, and how its entries are read. */
#ifndef GIK_ROWS_CUDA_VARIABLE_CUH
#define GIK_ROWS_CUDA_VARIABLE_CUH

#include "kernels/trisolve/rows_cuda_flow.cuh"

namespace gik
{

/* values [K][32] pairs | places [K][32] pairs | 1/diagonal [32] | row [32] */
template <typename M> struct variable_layout {
  static constexpr int K = GIK_VARIABLE_PAIRS, places = K * 64 * (int)sizeof(M), inverse = places + K * 256;
  static constexpr int row = inverse + 32 * (int)sizeof(double), bytes = row + 128;
};

/* The used parts of a record into L2, a line of 128 bytes a lane. */
template <typename M>
static __device__ __forceinline__ void prefetch_variable(const char *record, unsigned pairs, unsigned lane)
{
  typedef variable_layout<M> L;
  const unsigned values = pairs * (64 * (unsigned)sizeof(M) / 128), places = values + 2 * pairs;
  if (lane < values)
    prefetch_line(record + lane * 128);
  else if (lane < places)
    prefetch_line(record + L::places + (lane - values) * 128);
  else if (lane < places + (L::bytes - L::inverse) / 128)
    prefetch_line(record + L::inverse + (lane - places) * 128);
}

/* What a record gives its lanes, read once: it makes room in L2 for what is read again. */
template <typename T>
static __device__ __forceinline__ pair<T> stream_pair(const pair<T> *p, unsigned long long policy);
template <>
__device__ __forceinline__ pair<double> stream_pair<double>(const pair<double> *p, unsigned long long policy)
{
  pair<double> v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v2.f64 {%0, %1}, [%2], %3;"
               : "=d"(v.x), "=d"(v.y)
               : "l"(p), "l"(policy));
  return v;
}
template <> __device__ __forceinline__ pair<float> stream_pair<float>(const pair<float> *p, unsigned long long policy)
{
  pair<float> v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v2.f32 {%0, %1}, [%2], %3;"
               : "=f"(v.x), "=f"(v.y)
               : "l"(p), "l"(policy));
  return v;
}
static __device__ __forceinline__ uint2 stream_places(const uint2 *p, unsigned long long policy)
{
  uint2 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
               : "=r"(v.x), "=r"(v.y)
               : "l"(p), "l"(policy));
  return v;
}
static __device__ __forceinline__ unsigned long long read_once()
{
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/* A lane's entries: the first `pairs` pairs of a record. */
template <typename M>
static __device__ __forceinline__ void load_entries(pair<M> *a, uint2 *place, const char *record, unsigned pairs,
                                                    unsigned lane, unsigned long long policy)
{
#pragma unroll
  for (int k = 0; k < GIK_VARIABLE_PAIRS; k++) {
    a[k] = {0, 0};
    place[k] = make_uint2(NONE, NONE);
    if (k < pairs) {
      a[k] = stream_pair<M>((const pair<M> *)record + k * 32 + lane, policy);
      place[k] = stream_places((const uint2 *)(record + variable_layout<M>::places) + k * 32 + lane, policy);
    }
  }
}

} /* namespace gik */

#endif
