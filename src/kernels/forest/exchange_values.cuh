/* exchange_values.cuh: the values of each unit on a GPU, and the ops on two of them: those of combine.c bit for bit. */
#ifndef GIK_FOREST_EXCHANGE_VALUES_CUH
#define GIK_FOREST_EXCHANGE_VALUES_CUH

#include <gable/forest.h>
#include <stdint.h>

namespace gik
{

template <typename V, typename P> struct pair {
  V value;
  P place;
};
template <typename R> struct complex_of {
  R re, im;
};

/* Never contracted, as on the CPU. */
static __device__ __forceinline__ float add(float a, float b)
{
  return __fadd_rn(a, b);
}
static __device__ __forceinline__ double add(double a, double b)
{
  return __dadd_rn(a, b);
}
static __device__ __forceinline__ float multiply(float a, float b)
{
  return __fmul_rn(a, b);
}
static __device__ __forceinline__ double multiply(double a, double b)
{
  return __dmul_rn(a, b);
}

template <typename T> static __device__ __forceinline__ T real_op(int op, T a, T b)
{
  switch (op) {
  case GABLE_FOREST_OP_SUM: return add(a, b);
  case GABLE_FOREST_OP_PROD: return multiply(a, b);
  case GABLE_FOREST_OP_MIN: return b < a ? b : a;
  case GABLE_FOREST_OP_MAX: return b > a ? b : a;
  default: return b;
  }
}

/* U: unsigned and as wide as arithmetic is, so that sums wrap. */
template <typename U, typename T> static __device__ __forceinline__ T whole_op(int op, T a, T b)
{
  switch (op) {
  case GABLE_FOREST_OP_SUM: return (T)((U)a + (U)b);
  case GABLE_FOREST_OP_PROD: return (T)((U)a * (U)b);
  case GABLE_FOREST_OP_MIN: return b < a ? b : a;
  case GABLE_FOREST_OP_MAX: return b > a ? b : a;
  case GABLE_FOREST_OP_LAND: return (T)(a && b);
  case GABLE_FOREST_OP_BAND: return (T)(a & b);
  case GABLE_FOREST_OP_LOR: return (T)(a || b);
  case GABLE_FOREST_OP_BOR: return (T)(a | b);
  case GABLE_FOREST_OP_LXOR: return (T)(!a != !b);
  case GABLE_FOREST_OP_BXOR: return (T)(a ^ b);
  default: return b;
  }
}

static __device__ __forceinline__ float combine(int op, float a, float b)
{
  return real_op(op, a, b);
}
static __device__ __forceinline__ double combine(int op, double a, double b)
{
  return real_op(op, a, b);
}
static __device__ __forceinline__ signed char combine(int op, signed char a, signed char b)
{
  return whole_op<unsigned>(op, a, b);
}
static __device__ __forceinline__ unsigned char combine(int op, unsigned char a, unsigned char b)
{
  return whole_op<unsigned>(op, a, b);
}
static __device__ __forceinline__ int32_t combine(int op, int32_t a, int32_t b)
{
  return whole_op<uint32_t>(op, a, b);
}
static __device__ __forceinline__ int64_t combine(int op, int64_t a, int64_t b)
{
  return whole_op<uint64_t>(op, a, b);
}

template <typename R> static __device__ __forceinline__ complex_of<R> combine(int op, complex_of<R> a, complex_of<R> b)
{
  if (op == GABLE_FOREST_OP_SUM) return {add(a.re, b.re), add(a.im, b.im)};
  if (op == GABLE_FOREST_OP_PROD)
    return {add(multiply(a.re, b.re), -multiply(a.im, b.im)), add(multiply(a.re, b.im), multiply(a.im, b.re))};
  return b;
}

template <typename V, typename P>
static __device__ __forceinline__ pair<V, P> combine(int op, pair<V, P> a, pair<V, P> b)
{
  const bool smaller_place = b.value == a.value && b.place < a.place;
  if (op == GABLE_FOREST_OP_MINLOC) return b.value < a.value || smaller_place ? b : a;
  if (op == GABLE_FOREST_OP_MAXLOC) return b.value > a.value || smaller_place ? b : a;
  return b;
}

/* An op whose code stands once, behind a call: where it would be written out many times, and speed is not all. */
struct called_op {
  gable_forest_op op;
};

template <typename T> static __device__ __noinline__ T combine_called(int op, T a, T b)
{
  return combine(op, a, b);
}
template <typename T> static __device__ __forceinline__ T combine(called_op o, T a, T b)
{
  return combine_called(o.op, a, b);
}

} /* namespace gik */

#endif
