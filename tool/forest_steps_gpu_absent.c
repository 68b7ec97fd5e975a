/* forest_steps_gpu_absent.c: a build without CUDA has no steps on a GPU. */
#include "forest_steps.h"

gable_status forest_steps_gpu_prepare(gable_context *ctx)
{
  (void)ctx;
  return GABLE_ERR_UNAVAILABLE;
}

gable_status forest_steps_gpu(gable_context *ctx, forest_step step, const forest_arrays *a, gable_off from,
                              gable_off to)
{
  (void)ctx;
  (void)step;
  (void)a;
  (void)from;
  (void)to;
  return GABLE_ERR_UNAVAILABLE;
}
