/* last_block.cuh: which block of a grid is the last to be done. */
#ifndef GIK_LAST_BLOCK_CUH
#define GIK_LAST_BLOCK_CUH

#include "cuda/device_wait.cuh"

namespace gik
{

/* By all threads of a block, after all that it has to do: whether the other blocks have been here, told to the first
 * warp alone; what the whole grid wrote to device memory is then there for it.  count: 0 before. */
__device__ __forceinline__ bool is_last_block(unsigned *count)
{
  unsigned before = 0;
  __syncthreads();
  if (threadIdx.x >= 32) return false;
  if (!threadIdx.x) {
    __threadfence();
    if (gridDim.x > 1) before = atomicAdd(count, 1u);
    __threadfence();
  }
  before = __shfl_sync(ALL, before, 0);
  __syncwarp();
  return before == gridDim.x - 1;
}

/* The same told to all threads of the block; the grid may have two dimensions. */
__device__ __forceinline__ bool whole_block_is_last(unsigned *count)
{
  __shared__ bool last;
  __syncthreads();
  if (!threadIdx.x) {
    __threadfence();
    last = atomicAdd(count, 1u) == gridDim.x * gridDim.y - 1;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

} /* namespace gik */

#endif
