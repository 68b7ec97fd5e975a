/* exchange_atomics.cuh: *p = op(*p, v) by one atomic operation, of i32, i64, s and d: what forest/plan.c lets through.
 *
 * Where the GPU has no such operation, compare-and-swap takes its place.  Its float sums flush subnormal numbers to
 * zero. */
#ifndef GIK_FOREST_EXCHANGE_ATOMICS_CUH
#define GIK_FOREST_EXCHANGE_ATOMICS_CUH

#include <cstring>

#include "kernels/forest/exchange_values.cuh"

namespace gik
{

/* W: as wide as T. */
template <typename W, typename T> static __device__ void combine_by_swap(int op, T *p, T v)
{
  W old = *(volatile W *)p;
  for (;;) {
    T before, after;
    W next;
    memcpy(&before, &old, sizeof old);
    after = combine(op, before, v);
    memcpy(&next, &after, sizeof next);
    if (next == old) return;
    const W seen = atomicCAS((W *)p, old, next);
    if (seen == old) return;
    old = seen;
  }
}

/* Other units: never called. */
template <typename T> static __device__ __forceinline__ void combine_atomically(int, T *, T) {}

static __device__ __forceinline__ void combine_atomically(int op, int32_t *p, int32_t v)
{
  switch (op) {
  case GABLE_FOREST_OP_SUM: atomicAdd((unsigned *)p, (unsigned)v); break;
  case GABLE_FOREST_OP_MIN: atomicMin((int *)p, v); break;
  case GABLE_FOREST_OP_MAX: atomicMax((int *)p, v); break;
  case GABLE_FOREST_OP_BAND: atomicAnd((unsigned *)p, (unsigned)v); break;
  case GABLE_FOREST_OP_BOR: atomicOr((unsigned *)p, (unsigned)v); break;
  case GABLE_FOREST_OP_BXOR: atomicXor((unsigned *)p, (unsigned)v); break;
  default: combine_by_swap<unsigned>(op, p, v);
  }
}

static __device__ __forceinline__ void combine_atomically(int op, int64_t *p, int64_t v)
{
  unsigned long long *const q = (unsigned long long *)p;
  switch (op) {
  case GABLE_FOREST_OP_SUM: atomicAdd(q, (unsigned long long)v); break;
  case GABLE_FOREST_OP_MIN: atomicMin((long long *)p, (long long)v); break;
  case GABLE_FOREST_OP_MAX: atomicMax((long long *)p, (long long)v); break;
  case GABLE_FOREST_OP_BAND: atomicAnd(q, (unsigned long long)v); break;
  case GABLE_FOREST_OP_BOR: atomicOr(q, (unsigned long long)v); break;
  case GABLE_FOREST_OP_BXOR: atomicXor(q, (unsigned long long)v); break;
  default: combine_by_swap<unsigned long long>(op, p, v);
  }
}

static __device__ __forceinline__ void combine_atomically(int op, float *p, float v)
{
  if (op == GABLE_FOREST_OP_SUM)
    atomicAdd(p, v);
  else
    combine_by_swap<unsigned>(op, p, v);
}

static __device__ __forceinline__ void combine_atomically(int op, double *p, double v)
{
  if (op == GABLE_FOREST_OP_SUM)
    atomicAdd(p, v);
  else
    combine_by_swap<unsigned long long>(op, p, v);
}

} /* namespace gik */

#endif
