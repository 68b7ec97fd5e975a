/* symmetric.cuh: what kernels do in symmetric memory (comm/shared.h, which has the same for threads of a CPU): the
 * bytes of each rank, which every rank's kernels read and write by address: of GPUs of one process, of processes by
 * CUDA IPC, and of NVSHMEM's heap where nvshmem_ptr has addresses.  Nothing here calls a library.
 *
 *   a value that is its own flag   store_relaxed_system, await_system (system_wait.cuh)
 *   put with signal                put_with_signal, put_with_count: bytes, then a flag, a count that only grows
 *   wait-any                       await_any: the first of a masked set of flags
 *
 * Waits end after a deadline, or when another one of the control block has, as those of device_wait.cuh. */
#ifndef GIK_SYMMETRIC_CUH
#define GIK_SYMMETRIC_CUH

#include "cuda/system_wait.cuh"

namespace gik
{

static __device__ __forceinline__ unsigned load_acquire_system(const unsigned *p)
{
  unsigned v;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
static __device__ __forceinline__ void store_release_system(unsigned *p, unsigned v)
{
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
static __device__ __forceinline__ void add_release_system(unsigned *p, unsigned v)
{
  asm volatile("red.release.sys.global.add.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

/* Threads that move bytes together; all of them make the call. */
struct of_warp {
  static __device__ __forceinline__ unsigned rank() { return threadIdx.x % 32; }
  static __device__ __forceinline__ unsigned size() { return 32; }
  static __device__ __forceinline__ void sync() { __syncwarp(); }
};
struct of_block {
  static __device__ __forceinline__ unsigned rank() { return threadIdx.x; }
  static __device__ __forceinline__ unsigned size() { return blockDim.x; }
  static __device__ __forceinline__ void sync() { __syncthreads(); }
};

template <typename Team, typename W> static __device__ void put_words(void *to, const void *from, size_t bytes)
{
  for (size_t i = Team::rank(); i < bytes / sizeof(W); i += Team::size()) ((W *)to)[i] = ((const W *)from)[i];
}

/* What the team has written before may be in from.  Afterwards the team's thread 0 may raise a flag with release, which
 * covers all threads' stores. */
template <typename Team> static __device__ void put_bytes(void *to, const void *from, size_t bytes)
{
  const size_t all = (size_t)to | (size_t)from | bytes;
  Team::sync();
  if (all % sizeof(uint4) == 0)
    put_words<Team, uint4>(to, from, bytes);
  else if (all % sizeof(unsigned) == 0)
    put_words<Team, unsigned>(to, from, bytes);
  else
    put_words<Team, char>(to, from, bytes);
  Team::sync();
}

/* bytes of from to another rank's memory, then its flag becomes value.  Who reads the flag with acquire reads the
 * bytes.
 */
template <typename Team>
static __device__ void put_with_signal(void *to, const void *from, size_t bytes, unsigned *flag, unsigned value)
{
  put_bytes<Team>(to, from, bytes);
  if (!Team::rank()) store_release_system(flag, value);
}

/* The same, and the flag grows by 1: it counts what several ranks put. */
template <typename Team> static __device__ void put_with_count(void *to, const void *from, size_t bytes, unsigned *flag)
{
  put_bytes<Team>(to, from, bytes);
  if (!Team::rank()) add_release_system(flag, 1);
}

/* What await_any returns besides the number of a flag: none is awaited; the deadline has passed. */
enum { NONE_AWAITED = -1, GAVE_UP = -2 };

/* By a warp: until one of n flags whose bit of mask is set has come to value (modulo 2^32): its number, whose bit is
 * cleared.  The search goes round from `from` on.  mask [(n + 31) / 32]: the warp's own, in shared or global memory.
 * row: what the control block names beyond the deadline, plus the number of the first flag that is awaited. */
static __device__ int await_any(const unsigned *flag, unsigned *mask, int n, unsigned value, int from,
                                gik_control *control, unsigned long long deadline_ns, int row)
{
  const int lane = (int)threadIdx.x % 32, words = (n + 31) / 32, first = from / 32;
  patience waiter;
  for (;;) {
    int awaited = NONE_AWAITED;
    for (int step = 0; step < words; step++) {
      const int w = first + step < words ? first + step : first + step - words;
      const unsigned m = *(volatile unsigned *)&mask[w];
      if (!m) continue;
      if (awaited < 0) awaited = 32 * w + __ffs((int)m) - 1;
      const bool here = m >> lane & 1 && (int)(load_acquire_system(&flag[32 * w + lane]) - value) >= 0;
      unsigned found = __ballot_sync(ALL, here);
      if (!found) continue;
      if (!step && found & ALL << from % 32) found &= ALL << from % 32;
      const int k = __ffs((int)found) - 1;
      if (!lane) *(volatile unsigned *)&mask[w] = m & ~(1u << k);
      __syncwarp();
      return 32 * w + k;
    }
    if (awaited < 0) return NONE_AWAITED;
    const int lost = !lane && waiter.lost(control, deadline_ns, row + awaited);
    if (__shfl_sync(ALL, lost, 0)) return GAVE_UP;
    __nanosleep(20);
  }
}

} /* namespace gik */

#endif
