/* pinned_mailbox.cuh: what a kernel has found, written by its last block to pinned memory, where the host looks for it.
 */
#ifndef GI_TRISOLVE_CUDA_LANDING_CUH
#define GI_TRISOLVE_CUDA_LANDING_CUH

#include "cuda/device_wait.cuh"
#include "trisolve/cuda/passes.cuh"

namespace gi
{

static_assert(sizeof(gi_findings) <= GI_CUDA_LANDING, "a mailbox has room for what is found");

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
  before = __shfl_sync(gik::ALL, before, 0);
  __syncwarp();
  return before == gridDim.x - 1;
}

/* By the first warp, whose lanes have written to the mailbox: the host may look. */
__device__ __forceinline__ void post(gi_findings *mailbox)
{
  __threadfence_system();
  __syncwarp();
  if (!threadIdx.x) *(volatile unsigned *)&mailbox->posted = 1;
}

} /* namespace gi */

#endif
