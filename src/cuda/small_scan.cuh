/* small_scan.cuh: running sums and maxima by one block, where launches and waits would take longer than the work. */
#ifndef GIK_SMALL_SCAN_CUH
#define GIK_SMALL_SCAN_CUH

#include <cub/block/block_scan.cuh>

namespace gik
{

enum { SMALL_THREADS = 1024, SMALL_ITEMS = 8 };

struct larger {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return max(a, b); }
};

/* Running sums and maxima over a list by one block, SMALL_THREADS * SMALL_ITEMS at a time. */
struct small_scan {
  typedef cub::BlockScan<unsigned, SMALL_THREADS> scan;
  scan::TempStorage space;

  /* For i < n: put(i, get(0) + ... + get(i-1), get(i)); the sum of all. */
  template <typename G, typename P> __device__ unsigned sum(unsigned n, G get, P put)
  {
    unsigned before = 0;
    for (unsigned base = 0; base < n; base += SMALL_THREADS * SMALL_ITEMS) {
      unsigned v[SMALL_ITEMS], own = 0, at = 0, all = 0;
#pragma unroll
      for (unsigned j = 0; j < SMALL_ITEMS; j++) {
        const unsigned i = base + threadIdx.x * SMALL_ITEMS + j;
        v[j] = i < n ? get(i) : 0;
        own += v[j];
      }
      __syncthreads();
      scan(space).ExclusiveSum(own, at, all);
      at += before;
      before += all;
#pragma unroll
      for (unsigned j = 0; j < SMALL_ITEMS; j++) {
        const unsigned i = base + threadIdx.x * SMALL_ITEMS + j;
        if (i < n) put(i, at, v[j]);
        at += v[j];
      }
    }
    __syncthreads();
    return before;
  }

  /* For i < n: put(i, the largest of get(0) ... get(i)). */
  template <typename G, typename P> __device__ void largest(unsigned n, G get, P put)
  {
    unsigned before = 0;
    for (unsigned base = 0; base < n; base += SMALL_THREADS * SMALL_ITEMS) {
      unsigned v[SMALL_ITEMS], own = 0, at = 0, all = 0;
#pragma unroll
      for (unsigned j = 0; j < SMALL_ITEMS; j++) {
        const unsigned i = base + threadIdx.x * SMALL_ITEMS + j;
        v[j] = i < n ? get(i) : 0;
        own = max(own, v[j]);
      }
      __syncthreads();
      scan(space).ExclusiveScan(own, at, 0u, larger(), all);
      at = max(at, before);
      before = max(before, all);
#pragma unroll
      for (unsigned j = 0; j < SMALL_ITEMS; j++) {
        const unsigned i = base + threadIdx.x * SMALL_ITEMS + j;
        at = max(at, v[j]);
        if (i < n) put(i, at);
      }
    }
    __syncthreads();
  }
};

} /* namespace gik */

#endif
