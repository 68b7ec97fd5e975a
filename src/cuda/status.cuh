/* status.cuh: CUDA's errors as statuses. */
#ifndef GIK_CUDA_STATUS_CUH
#define GIK_CUDA_STATUS_CUH

#include <cuda_runtime.h>

#include "base/status.h"

namespace gik
{

inline gable_status checked(cudaError_t e, const char *what)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(!e, GABLE_ERR_BACKEND, "%s: %s", what, cudaGetErrorString(e));
done:
  return status;
}

/* For calls of ours whose failure is an answer and no error, as an allocation that is tried again: such a failure
 * becomes the thread's last error, which the application must not find.  An error that was pending before stays. */
class expected_failures
{
public:
  void forget() const
  {
    if (!pending) (void)cudaGetLastError();
  }

  const cudaError_t pending = cudaPeekAtLastError(); /* the application's */
};

} /* namespace gik */

#endif
