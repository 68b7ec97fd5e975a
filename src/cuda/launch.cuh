/* launch.cuh: every kernel of Gable is launched here.
 *
 * launches on(stream);
 * on.launch(kernel, grid, threads, shared, arguments...);
 * return on.status("what they do");
 *
 * The first launch that fails ends the sequence, and its own return code is the error.  cudaGetLastError is not asked:
 * it may hold an error of the application, which is neither ours to report nor ours to clear.  A sequence without a
 * stream is an error: nothing runs on CUDA's default stream unless a caller names it (cudaStreamLegacy). */
#ifndef GIK_LAUNCH_CUH
#define GIK_LAUNCH_CUH

#include "cuda/status.cuh"

namespace gik
{

class launches
{
public:
  const cudaStream_t stream;

  explicit launches(void *on) : stream((cudaStream_t)on), error(on ? cudaSuccess : cudaErrorInvalidResourceHandle) {}

  /* kernel<<<grid, threads, shared, stream>>>(arguments...); shared: dynamic bytes a block. */
  template <typename... A, typename... B>
  void launch(void (*kernel)(A...), dim3 grid, unsigned threads, size_t shared, B... arguments)
  {
    if (!error) error = by_address((const void *)kernel, grid, threads, shared, A(arguments)...);
  }

  /* The same, but the kernel may begin while the one before it on the stream still runs: its blocks read what that one
   * does not write, then call after_last_launch(), and let the next one begin by next_launch().  first: 1: it waits
   * for whatever comes before it. */
  template <typename... A, typename... B>
  void dependent(void (*kernel)(A...), dim3 grid, unsigned threads, size_t shared, bool first, B... arguments)
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
    how.numAttrs = first ? 0 : 1;
    if (!error) error = cudaLaunchKernelEx(&how, kernel, A(arguments)...);
  }

  /* Another call that belongs to the sequence: f() returns cudaError_t. */
  template <typename F> void call(F f)
  {
    if (!error) error = f();
  }

  gable_status status(const char *what) const { return checked(error, what); }

private:
  cudaError_t error;

  template <typename... A>
  cudaError_t by_address(const void *kernel, dim3 grid, unsigned threads, size_t shared, A... arguments)
  {
    void *at[] = {(void *)&arguments...};
    return cudaLaunchKernel(kernel, grid, dim3(threads), at, shared, stream);
  }
};

/* One launch of the second kind. */
template <typename... A, typename... B>
gable_status dependent_launch(const char *what, void *stream, void (*kernel)(A...), dim3 grid, unsigned threads,
                              size_t shared, B... arguments)
{
  launches on(stream);
  on.dependent(kernel, grid, threads, shared, false, arguments...);
  return on.status(what);
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
