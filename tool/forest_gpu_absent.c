/* forest_gpu_absent.c: a build without CUDA knows no GPU. */
#include "forest_gpu.h"

gable_status forest_gpu_about(gable_context *ctx, forest_gpu *out)
{
  (void)ctx;
  (void)out;
  return GABLE_ERR_UNAVAILABLE;
}

gable_status forest_gpu_synchronise(gable_context *ctx)
{
  (void)ctx;
  return GABLE_ERR_UNAVAILABLE;
}
