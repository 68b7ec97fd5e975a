/* row_pattern.cu: see row_pattern.h. */
#include <cstdint>

#include "cuda/launch.cuh"
#include "kernels/sparse/row_pattern.h"

using gik::launches;

namespace
{

enum { BLOCK = 256, LANES = 4 };

unsigned blocks_for(size_t threads)
{
  return (unsigned)((threads + BLOCK - 1) / BLOCK);
}

template <typename O>
__global__ void offsets_kernel(gable_idx n, unsigned nnz, const O *from, int base, unsigned *ptr,
                               gik_pattern_flags *flags)
{
  const ptrdiff_t i = blockIdx.x * (ptrdiff_t)BLOCK + threadIdx.x;
  if (i > n) return;
  const O at = from[i] - base;
  if (at < 0 || at > (O)nnz || (i == 0 && at != 0) || (i < n && from[i + 1] < from[i])) flags->irregular = 1;
  ptr[i] = (unsigned)at;
}

gable_status offsets(gable_idx n, unsigned nnz, const void *from, int wide, int base, unsigned *ptr,
                     gik_pattern_flags *flags, void *stream)
{
  const unsigned blocks = blocks_for((size_t)n + 1);
  launches on(stream);
  if (wide)
    on.launch(offsets_kernel<int64_t>, blocks, BLOCK, 0, n, nnz, (const int64_t *)from, base, ptr, flags);
  else
    on.launch(offsets_kernel<int32_t>, blocks, BLOCK, 0, n, nnz, (const int32_t *)from, base, ptr, flags);
  return on.status("offsets");
}

/* A few threads a row. */
__global__ void indices_kernel(gable_idx n, const unsigned *ptr, int base, const gable_idx *given, gable_idx *idx,
                               unsigned *diagonal, gik_pattern_flags *flags)
{
  const gable_idx i = (gable_idx)((blockIdx.x * (size_t)BLOCK + threadIdx.x) / LANES);
  const unsigned lane = threadIdx.x % LANES;
  unsigned left = 0, met = 0;
  const unsigned begin = i < n ? ptr[i] : 0, end = i < n ? ptr[i + 1] : 0;
  for (unsigned p = begin + lane; p < end; p += LANES) {
    const gable_idx j = given[p] - base;
    if (j < 0 || j >= n || (p > begin && given[p - 1] >= given[p])) flags->irregular = 1;
    left += j < i;
    met |= j == i;
    idx[p] = j;
  }
#pragma unroll
  for (int d = LANES / 2; d > 0; d >>= 1) {
    left += __shfl_xor_sync(0xffffffffu, left, d);
    met |= __shfl_xor_sync(0xffffffffu, met, d);
  }
  if (i >= n || lane) return;
  if (!met) flags->hollow = 1;
  diagonal[i] = begin + left;
}

gable_status indices(gable_idx n, const unsigned *ptr, int base, const gable_idx *given, gable_idx *idx,
                     unsigned *diagonal, gik_pattern_flags *flags, void *stream)
{
  launches on(stream);
  if (n) on.launch(indices_kernel, blocks_for((size_t)n * LANES), BLOCK, 0, n, ptr, base, given, idx, diagonal, flags);
  return on.status("indices");
}

__global__ void compare_kernel(const gik_rows a, gik_pattern_flags *flags, unsigned long long *below)
{
  const gable_idx i = (gable_idx)(blockIdx.x * (size_t)BLOCK + threadIdx.x);
  unsigned long long count = 0;
  if (i < a.n) {
    count = a.diagonal[i] - a.ptr[i];
    for (unsigned p = a.ptr[i]; p < a.diagonal[i]; p++) {
      const gable_idx j = a.idx[p];
      unsigned low = a.diagonal[j] + 1, high = a.ptr[j + 1];
      const unsigned end = high;
      while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (a.idx[middle] < i)
          low = middle + 1;
        else
          high = middle;
      }
      if (low == end || a.idx[low] != i) flags->unequal = 1;
    }
  }
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) count += __shfl_xor_sync(0xffffffffu, count, d);
  if (threadIdx.x % 32 == 0 && count) atomicAdd(below, count);
}

gable_status compare(const gik_rows *a, gik_pattern_flags *flags, void *stream)
{
  launches on(stream);
  if (a->n) on.launch(compare_kernel, blocks_for((size_t)a->n), BLOCK, 0, *a, flags, &flags->below);
  return on.status("comparison of a pattern with its transpose");
}

} /* namespace */

extern "C" const gik_row_patterns gik_row_patterns_cuda = {offsets, indices, compare};
