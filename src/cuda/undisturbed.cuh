/* undisturbed.cuh: CUDA calls that change the thread's last error, without a trace in the application's. */
#ifndef GIK_UNDISTURBED_CUH
#define GIK_UNDISTURBED_CUH

#include <cuda_runtime.h>
#include <system_error>
#include <thread>

namespace gik
{

/* Returns f(), a cudaError_t, and leaves the calling thread's last error as it was.  For calls that clear it where they
 * succeed (cudaFuncSetAttribute of CUDA 13.0), that take it for one of their own launches (CUB), and whose failure is
 * an answer and no error, as an allocation that is tried again.
 *
 * CUDA has no call that sets the last error.  Where the application has one pending, f runs in a thread of its own,
 * on the same device; elsewhere in the calling thread, and a failure is cleared. */
template <typename F> cudaError_t undisturbed(F f)
{
  cudaError_t e = cudaSuccess;
  int device = 0;
  if (cudaPeekAtLastError() == cudaSuccess) {
    e = f();
    if (e) (void)cudaGetLastError();
    return e;
  }
  e = cudaGetDevice(&device);
  if (e) return e;
  try {
    std::thread([&] {
      e = cudaSetDevice(device);
      if (!e) e = f();
    }).join();
  } catch (const std::system_error &) {
    e = cudaErrorOperatingSystem;
  }
  return e;
}

} /* namespace gik */

#endif
