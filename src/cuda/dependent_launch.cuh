/* dependent_launch.cuh: a kernel that begins while the one before it on its stream still runs. */
#ifndef GIK_DEPENDENT_LAUNCH_CUH
#define GIK_DEPENDENT_LAUNCH_CUH

#include <cuda_runtime.h>

namespace gik
{

/* A launch that may begin while the one before it on the stream still runs: its blocks read what that one does not
 * write, then call after_last_launch(), and let the next one begin by next_launch().  shared: bytes a block. */
template <typename... A, typename... B>
static void dependent_launch(void (*kernel)(A...), dim3 grid, unsigned threads, size_t shared, bool first,
                             cudaStream_t stream, B... arguments)
{
  cudaLaunchAttribute early = {};
  cudaLaunchConfig_t how = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  how.gridDim = grid;
  how.blockDim = dim3(threads);
  how.dynamicSmemBytes = shared;
  how.stream = stream;
  how.attrs = &early;
  how.numAttrs = first ? 0 : 1; /* the first of ours waits for whatever came before */
  (void)cudaLaunchKernelEx(&how, kernel, A(arguments)...);
}

static __device__ __forceinline__ void next_launch()
{
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
static __device__ __forceinline__ void after_last_launch()
{
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

} /* namespace gik */

#endif
