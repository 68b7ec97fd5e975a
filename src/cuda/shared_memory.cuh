/* shared_memory.cuh: the shared memory that a thread block may ask for at a launch. */
#ifndef GIK_SHARED_MEMORY_CUH
#define GIK_SHARED_MEMORY_CUH

#include <cuda_runtime.h>

namespace gik
{

/* Bytes on the current device, beside so many of static arrays; 0: the GPU does not say, or there are none left. */
static inline size_t most_shared(size_t arrays)
{
  int device = 0, bytes = 0;
  if (cudaGetDevice(&device)) return 0;
  if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device)) return 0;
  return (size_t)bytes > arrays ? (size_t)bytes - arrays : 0;
}

} /* namespace gik */

#endif
