/* passes.cuh: what analysis on the GPU is made of: a pass over rows or entries, a prefix sum, a radix sort. */
#ifndef GI_TRISOLVE_CUDA_PASSES_CUH
#define GI_TRISOLVE_CUDA_PASSES_CUH

#include <cuda_runtime.h>

#include "cuda/launch.cuh"
#include "device/cuda_place.h"
#include "trisolve/cuda/schedule.h"

namespace gi
{

typedef unsigned long long u64;

using gik::checked;

/* f(i) for i < n.  Begins while the kernel before it still runs, and waits. */
template <typename F> __global__ void each_kernel(size_t n, F f)
{
  gik::next_launch();
  gik::after_last_launch();
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) f(i);
}

template <typename F> gable_status each(void *stream, size_t n, F f)
{
  const size_t blocks = (n + 255) / 256;
  gik::launches on(stream);
  if (n) on.dependent(each_kernel<F>, (unsigned)(blocks < 8192 ? blocks : 8192), 256, 0, false, n, f);
  return on.status("analysis");
}

/* count words become value; beside kernels a driver's memset would wait for the one before it to end. */
inline gable_status fill(void *stream, void *at, unsigned value, size_t count)
{
  unsigned *word = (unsigned *)at;
  return each(stream, count, [=] __device__(size_t i) { word[i] = value; });
}

enum { ROW_THREADS = 256 };

/* f(k, p) for every entry p of every row k: the entries of 256 rows lie side by side and are dealt to the threads of a
 * block one by one, so that a long row is nobody's alone. */
template <typename F> __global__ void __launch_bounds__(ROW_THREADS) entries_kernel(size_t n, const unsigned *ptr, F f)
{
  __shared__ unsigned start[ROW_THREADS + 1];
  gik::next_launch();
  gik::after_last_launch();
  for (size_t base = blockIdx.x * (size_t)ROW_THREADS; base < n; base += (size_t)gridDim.x * ROW_THREADS) {
    const unsigned rows = n - base < ROW_THREADS ? (unsigned)(n - base) : ROW_THREADS;
    __syncthreads();
    if (threadIdx.x < rows) start[threadIdx.x] = ptr[base + threadIdx.x];
    if (!threadIdx.x) start[rows] = ptr[base + rows];
    __syncthreads();
    for (unsigned p = start[0] + threadIdx.x; p < start[rows]; p += ROW_THREADS) {
      unsigned lo = 0, hi = rows; /* the last row that starts at p or before */
      while (lo + 1 < hi) {
        const unsigned mid = (lo + hi) / 2;
        if (start[mid] <= p)
          lo = mid;
        else
          hi = mid;
      }
      f(base + lo, p);
    }
  }
}

template <typename F> gable_status each_entry(void *stream, size_t n, const unsigned *ptr, F f)
{
  const size_t blocks = (n + ROW_THREADS - 1) / ROW_THREADS;
  gik::launches on(stream);
  if (n) on.dependent(entries_kernel<F>, (unsigned)(blocks < 8192 ? blocks : 8192), ROW_THREADS, 0, false, n, ptr, f);
  return on.status("analysis");
}

template <typename T> gable_status take(gi_device_memory *m, size_t count, T **out)
{
  return gi_device_take(m, (count ? count : 1) * sizeof(T), (void **)out);
}

/* What is on m's stream has written device before; waits. */
template <typename T> gable_status fetch(const gi_device_memory *m, T *host, const T *device, size_t count)
{
  return gi_cuda_fetch(m->ctx, m->stream, host, device, count * sizeof(T));
}

/* Two of them with one wait. */
inline gable_status fetch_both(const gi_device_memory *m, unsigned out[2], const unsigned *first,
                               const unsigned *second)
{
  return gi_cuda_fetch_two(m->ctx, m->stream, out, first, sizeof *out, out + 1, second, sizeof *out);
}

/* No entries in a lane of a record (width lanes, two numbers of so many bytes a pair): an update leaves it alone. */
__device__ __forceinline__ void clear_lane(char *values, unsigned pairs, unsigned width, unsigned lane, size_t size)
{
  for (unsigned m = 0; m < pairs; m++)
    for (unsigned w = 0; w < size / 4; w++) ((uint2 *)(values + (m * width + lane) * 2 * size))[w] = make_uint2(0, 0);
}

/* out[i] = in[0] + ... + in[i-1], n+1 of them (in has n; in may be out). */
gable_status offsets(gi_device_memory *m, unsigned *in, unsigned *out, size_t n);

/* Stable, by the low bits of key; the results are in *key and *value. */
gable_status sort(gi_device_memory *m, unsigned **key, unsigned **value, size_t n, int bits);
gable_status sort(gi_device_memory *m, u64 **key, unsigned **value, size_t n, int bits);

inline int bits_of(u64 largest)
{
  int b = 1;
  while (b < 64 && largest >> b) b++;
  return b;
}

} /* namespace gi */

#endif
