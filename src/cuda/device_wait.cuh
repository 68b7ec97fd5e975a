/* device_wait.cuh: waiting on the GPU, written once.
 *
 * A value is its own flag: a place holds the reserved pattern NOT_YET until its number is stored, in one access of 4 or
 * 8 bytes, so no fence and no second word is needed.  NOT_YET is a signalling NaN, which no arithmetic returns: a
 * computed NaN is a quiet one, is never taken for "not yet" and comes out as NaN.  A wait is bounded by a deadline; the
 * first that passes it names its row in the control block, and from then on nobody waits. */
#ifndef GIK_DEVICE_WAIT_CUH
#define GIK_DEVICE_WAIT_CUH

#include <cstdint>
#include <cuda_runtime.h>

#include "base/status.h"
#include "cuda/control.h"

namespace gik
{

enum : unsigned { ALL = 0xffffffffu };                      /* lanes of a warp */
enum : unsigned { NONE = 0xffffffffu, PART = 0x80000000u }; /* no row, no place; the mark of one of a part of a row */
enum { PATIENCE = 1024 };                                   /* polls between two looks at the clock */

template <typename T> struct word;
template <> struct word<double> {
  typedef unsigned long long bits;
  static __device__ __forceinline__ bits not_yet() { return 0x7ff4deadbeef0001ull; }
  static __device__ __forceinline__ bits of(double v) { return (bits)__double_as_longlong(v); }
  static __device__ __forceinline__ double value() { return __longlong_as_double((long long)not_yet()); }
};
template <> struct word<float> {
  typedef unsigned bits;
  static __device__ __forceinline__ bits not_yet() { return 0x7fa5deadu; }
  static __device__ __forceinline__ bits of(float v) { return __float_as_uint(v); }
  static __device__ __forceinline__ float value() { return __uint_as_float(not_yet()); }
};

template <typename T> static __device__ __forceinline__ bool not_yet(T v)
{
  return word<T>::of(v) == word<T>::not_yet();
}

/* A cheap necessary condition of not_yet. */
static __device__ __forceinline__ bool perhaps_not_yet(double v)
{
  return __double2hiint(v) == 0x7ff4dead;
}
static __device__ __forceinline__ bool perhaps_not_yet(float v)
{
  return __float_as_int(v) == 0x7fa5dead;
}

template <typename T> static __device__ __forceinline__ void store_not_yet(T *p)
{
  *(typename word<T>::bits *)p = word<T>::not_yet();
}

/* Through L2, between blocks. */
static __device__ __forceinline__ double load_relaxed(const double *p)
{
  double v;
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(v) : "l"(p) : "memory");
  return v;
}
static __device__ __forceinline__ float load_relaxed(const float *p)
{
  float v;
  asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
  return v;
}
static __device__ __forceinline__ void store_relaxed(double *p, double v)
{
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(p), "d"(v) : "memory");
}
static __device__ __forceinline__ void store_relaxed(float *p, float v)
{
  asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory");
}

/* A plain store to global memory, whatever the compiler knows of p. */
static __device__ __forceinline__ void store_weak(double *p, double v)
{
  asm volatile("st.global.f64 [%0], %1;" ::"l"(p), "d"(v) : "memory");
}
static __device__ __forceinline__ void store_weak(float *p, float v)
{
  asm volatile("st.global.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory");
}

/* In shared memory, between the warps of a block; a is a shared-window address. */
static __device__ __forceinline__ unsigned shared_address(const void *p)
{
  return (unsigned)__cvta_generic_to_shared(p);
}
static __device__ __forceinline__ void load_shared(unsigned a, double *v)
{
  asm volatile("ld.volatile.shared.f64 %0, [%1];" : "=d"(*v) : "r"(a) : "memory");
}
static __device__ __forceinline__ void load_shared(unsigned a, float *v)
{
  asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(*v) : "r"(a) : "memory");
}
static __device__ __forceinline__ void store_shared(unsigned a, double v)
{
  asm volatile("st.volatile.shared.f64 [%0], %1;" ::"r"(a), "d"(v) : "memory");
}
static __device__ __forceinline__ void store_shared(unsigned a, float v)
{
  asm volatile("st.volatile.shared.f32 [%0], %1;" ::"r"(a), "f"(v) : "memory");
}

static __device__ __forceinline__ unsigned long long now_ns()
{
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

/* One waiter's patience.  True when it must stop waiting: its deadline has passed (row is then named, once), or
 * somebody else's has. */
struct patience {
  unsigned polls = 0;
  unsigned long long until = 0;

  __device__ __forceinline__ bool lost(gik_control *c, unsigned long long deadline_ns, int row)
  {
    if (++polls % PATIENCE) return false;
    if (*(volatile int *)&c->aborted) return true;
    const unsigned long long t = now_ns();
    if (!until) until = t + deadline_ns;
    if (t < until) return false;
    if (row >= 0) {
      atomicCAS(&c->fault_row, -1, row);
      *(volatile int *)&c->aborted = 1;
    }
    return row >= 0;
  }
};

/* Barriers of shared memory and asynchronous copies into it (sm_90). */
static __device__ __forceinline__ void barrier_init(unsigned a, unsigned count)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(a), "r"(count) : "memory");
}
static __device__ __forceinline__ void barrier_init_fence()
{
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
static __device__ __forceinline__ void barrier_arrive(unsigned a)
{
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(a) : "memory");
}
static __device__ __forceinline__ void barrier_wait(unsigned a, unsigned phase)
{
  asm volatile("{\n.reg .pred done;\nagain:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra over;\nbra again;\nover:\n}" ::"r"(a),
               "r"(phase)
               : "memory");
}
/* The phase of barrier ends when copies of so many bytes in all are there. */
static __device__ __forceinline__ void copy_expect(unsigned barrier, unsigned bytes)
{
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/* bytes from global to shared memory by the copy engine, some of those that barrier expects. */
static __device__ __forceinline__ void copy_part(unsigned to, const void *from, unsigned bytes, unsigned barrier)
{
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
/* A copy that is all that its barrier expects. */
static __device__ __forceinline__ void copy_bulk(unsigned to, const void *from, unsigned bytes, unsigned barrier)
{
  copy_expect(barrier, bytes);
  copy_part(to, from, bytes, barrier);
}
/* One number of this lane, asynchronously; copy_arrive ties the lane's copies so far to a barrier. */
template <typename T> static __device__ __forceinline__ void copy_one(unsigned to, const T *from)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(sizeof(T)) : "memory");
}
/* The same, or zero where there is none: from is then not read. */
template <typename T> static __device__ __forceinline__ void copy_one_or_zero(unsigned to, const T *from, bool there)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(sizeof(T)),
               "r"(there ? (int)sizeof(T) : 0)
               : "memory");
}
static __device__ __forceinline__ void copy_arrive(unsigned barrier)
{
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

/* The line of 128 bytes at p into L2. */
static __device__ __forceinline__ void prefetch_line(const void *p)
{
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

/* Pieces of work are counted by 32 bits, and warps ask for some beyond the last. */
static inline gable_status countable(const char *what, double pieces)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(pieces < 4.2e9, GABLE_ERR_LIMIT,
             "%s: %.3g pieces of work in one solve: at most 4.2e9; solve fewer right-hand sides at a time", what,
             pieces);
done:
  return status;
}

/* Which copy of its published values right-hand side rhs uses; first: parity[0], loaded early. */
static __device__ __forceinline__ unsigned copy_of(const gik_control *c, unsigned first, unsigned rhs)
{
  return (rhs < 32 ? first : c->parity[rhs / 32]) >> rhs % 32 & 1;
}

/* The last block to leave makes the control block ready for the next solve.  count: right-hand sides of this one. */
static __device__ __forceinline__ void leave(gik_control *c, unsigned count)
{
  __syncthreads();
  if (threadIdx.x) return;
  __threadfence();
  if (atomicAdd(&c->left, 1u) == gridDim.x - 1) {
    c->ticket = 0;
    c->left = 0;
    c->aborted = 0;
    for (unsigned r = 0; r < count; r += 32) c->parity[r / 32] ^= count - r < 32 ? (1u << (count - r)) - 1 : ALL;
  }
}

} /* namespace gik */

#endif
