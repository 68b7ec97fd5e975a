/* capability.c: which GPUs the kernels are for. */
#include "cuda/attributes.h"

enum { OLDEST = 9 }; /* compute capability: bulk copies into shared memory and their barriers */

gable_status gik_gpu_check(const gik_gpu *gpu)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(gpu->major >= OLDEST, GABLE_ERR_UNAVAILABLE,
             "cuda:%d has compute capability %d.%d: Gable's kernels need %d.0, for its asynchronous bulk copies",
             gpu->ordinal, gpu->major, gpu->minor, OLDEST);
done:
  return status;
}
