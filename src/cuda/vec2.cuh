/* vec2.cuh: two values at a time, neighbours in memory: 8 or 16 bytes in one access, of which each half is whole
 * by itself. */
#ifndef GIK_VALUE_TWINS_CUH
#define GIK_VALUE_TWINS_CUH

#include "cuda/device_wait.cuh"

namespace gik
{

template <typename T> struct __align__(2 * sizeof(T)) vec2
{
  T x, y;
};

/* Through L2, between blocks. */
static __device__ __forceinline__ vec2<double> load_vec2(const double *p)
{
  vec2<double> v;
  asm volatile("ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(p) : "memory");
  return v;
}
static __device__ __forceinline__ vec2<float> load_vec2(const float *p)
{
  vec2<float> v;
  asm volatile("ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p) : "memory");
  return v;
}
static __device__ __forceinline__ void store_vec2(double *p, vec2<double> v)
{
  asm volatile("st.relaxed.gpu.global.v2.f64 [%0], {%1, %2};" ::"l"(p), "d"(v.x), "d"(v.y) : "memory");
}
static __device__ __forceinline__ void store_vec2(float *p, vec2<float> v)
{
  asm volatile("st.relaxed.gpu.global.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(v.x), "f"(v.y) : "memory");
}

/* In shared memory, between the warps of a block; a is a shared-window address. */
static __device__ __forceinline__ void load_shared(unsigned a, vec2<double> *v)
{
  asm volatile("ld.volatile.shared.v2.f64 {%0, %1}, [%2];" : "=d"(v->x), "=d"(v->y) : "r"(a) : "memory");
}
static __device__ __forceinline__ void load_shared(unsigned a, vec2<float> *v)
{
  asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v->x), "=f"(v->y) : "r"(a) : "memory");
}
static __device__ __forceinline__ void store_shared(unsigned a, vec2<double> v)
{
  asm volatile("st.volatile.shared.v2.f64 [%0], {%1, %2};" ::"r"(a), "d"(v.x), "d"(v.y) : "memory");
}
static __device__ __forceinline__ void store_shared(unsigned a, vec2<float> v)
{
  asm volatile("st.volatile.shared.v2.f32 [%0], {%1, %2};" ::"r"(a), "f"(v.x), "f"(v.y) : "memory");
}

template <typename T> static __device__ __forceinline__ bool not_yet(const vec2<T> &v)
{
  return not_yet(v.x) || not_yet(v.y);
}
template <typename T> static __device__ __forceinline__ vec2<T> vec2_not_yet()
{
  return {word<T>::value(), word<T>::value()};
}

} /* namespace gik */

#endif
