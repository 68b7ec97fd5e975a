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

} /* namespace gik */

#endif
