/* passes.cuh: one function for each number, row or entry, as a kernel that begins while the one before it still runs.
 */
#ifndef GIK_PASSES_CUH
#define GIK_PASSES_CUH

#include "cuda/launch.cuh"

namespace gik
{

/* f(i) for i < n.  Begins while the kernel before it still runs, and waits. */
template <typename F> __global__ void each_kernel(size_t n, F f)
{
  next_launch();
  after_last_launch();
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) f(i);
}

template <typename F> gable_status each(void *stream, size_t n, F f)
{
  const size_t blocks = (n + 255) / 256;
  launches on(stream);
  if (n) on.dependent(each_kernel<F>, (unsigned)(blocks < 8192 ? blocks : 8192), 256, 0, false, n, f);
  return on.status("a pass");
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
  next_launch();
  after_last_launch();
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
  launches on(stream);
  if (n) on.dependent(entries_kernel<F>, (unsigned)(blocks < 8192 ? blocks : 8192), ROW_THREADS, 0, false, n, ptr, f);
  return on.status("a pass");
}

inline int bits_of(unsigned long long largest)
{
  int b = 1;
  while (b < 64 && largest >> b) b++;
  return b;
}

} /* namespace gik */

#endif
