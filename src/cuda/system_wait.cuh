/* system_wait.cuh: waits of device_wait.cuh at system scope: for values that the host or another GPU stores.
 *
 * The place holds "not yet" until its number is stored in one access; the wait has the same deadline and the same
 * control block, which another GPU may abort by storing there. */
#ifndef GIK_SYSTEM_WAIT_CUH
#define GIK_SYSTEM_WAIT_CUH

#include "cuda/device_wait.cuh"

namespace gik
{

static __device__ __forceinline__ double load_relaxed_system(const double *p)
{
  double v;
  asm volatile("ld.relaxed.sys.global.f64 %0, [%1];" : "=d"(v) : "l"(p) : "memory");
  return v;
}
static __device__ __forceinline__ float load_relaxed_system(const float *p)
{
  float v;
  asm volatile("ld.relaxed.sys.global.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
  return v;
}
static __device__ __forceinline__ void store_relaxed_system(double *p, double v)
{
  asm volatile("st.relaxed.sys.global.f64 [%0], %1;" ::"l"(p), "d"(v) : "memory");
}
static __device__ __forceinline__ void store_relaxed_system(float *p, float v)
{
  asm volatile("st.relaxed.sys.global.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory");
}

/* The value at p, or "not yet" when the deadline has passed: the control block then names row, or the one that was
 * first. */
template <typename T>
static __device__ __forceinline__ T await_system(const T *p, gik_control *control, unsigned long long deadline_ns,
                                                 int row)
{
  patience waiter;
  T v = load_relaxed_system(p);
  while (not_yet(v) && !waiter.lost(control, deadline_ns, row)) {
    __nanosleep(20);
    v = load_relaxed_system(p);
  }
  return v;
}

} /* namespace gik */

#endif
