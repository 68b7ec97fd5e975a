/* value_twins.cuh: two values at a time, neighbours in memory: 8 or 16 bytes in one access, of which each half is whole
 * by itself. */
#ifndef GIK_VALUE_TWINS_CUH
#define GIK_VALUE_TWINS_CUH

#include "kernels/device_wait.cuh"

namespace gik
{

template <typename T> struct __align__(2 * sizeof(T)) twin
{
  T x, y;
};

/* Through L2, between blocks. */
static __device__ __forceinline__ twin<double> load_twin(const double *p)
{
  twin<double> v;
  asm volatile("ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(p) : "memory");
  return v;
}
static __device__ __forceinline__ twin<float> load_twin(const float *p)
{
  twin<float> v;
  asm volatile("ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p) : "memory");
  return v;
}
static __device__ __forceinline__ void store_twin(double *p, twin<double> v)
{
  asm volatile("st.relaxed.gpu.global.v2.f64 [%0], {%1, %2};" ::"l"(p), "d"(v.x), "d"(v.y) : "memory");
}
static __device__ __forceinline__ void store_twin(float *p, twin<float> v)
{
  asm volatile("st.relaxed.gpu.global.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(v.x), "f"(v.y) : "memory");
}

/* In shared memory, between the warps of a block; a is a shared-window address. */
static __device__ __forceinline__ void load_shared(unsigned a, twin<double> *v)
{
  asm volatile("ld.volatile.shared.v2.f64 {%0, %1}, [%2];" : "=d"(v->x), "=d"(v->y) : "r"(a) : "memory");
}
static __device__ __forceinline__ void load_shared(unsigned a, twin<float> *v)
{
  asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v->x), "=f"(v->y) : "r"(a) : "memory");
}
static __device__ __forceinline__ void store_shared(unsigned a, twin<double> v)
{
  asm volatile("st.volatile.shared.v2.f64 [%0], {%1, %2};" ::"r"(a), "d"(v.x), "d"(v.y) : "memory");
}
static __device__ __forceinline__ void store_shared(unsigned a, twin<float> v)
{
  asm volatile("st.volatile.shared.v2.f32 [%0], {%1, %2};" ::"r"(a), "f"(v.x), "f"(v.y) : "memory");
}

template <typename T> static __device__ __forceinline__ bool not_yet(const twin<T> &v)
{
  return not_yet(v.x) || not_yet(v.y);
}
template <typename T> static __device__ __forceinline__ twin<T> twin_not_yet()
{
  return {word<T>::value(), word<T>::value()};
}

} /* namespace gik */

#endif
