/* forest_steps.h: the local work of a product and of conjugate gradients, on the CPU, the mirror and a GPU. */
#ifndef TOOL_FOREST_STEPS_H
#define TOOL_FOREST_STEPS_H

#include "forest_arrays.h"

/* The functions of forest_steps.inc. */
typedef enum forest_step {
  FOREST_PRODUCT,
  FOREST_START,
  FOREST_LANE_PQ,
  FOREST_LANE_RR,
  FOREST_FOLD,
  FOREST_TOTAL,
  FOREST_BEGIN,
  FOREST_UPDATE,
  FOREST_DIRECTION,
  FOREST_ADVANCE
} forest_step;

/* Local.  Elements [from, to) of the step on arrays of the context's place; on a GPU enqueued on the context's stream.
 * The mirror's memory is copied out, changed and copied in.  GABLE_ERR_MEMORY, _BACKEND. */
gable_status forest_steps_run(gable_context *ctx, forest_step step, const forest_arrays *a, gable_off from,
                              gable_off to);

/* forest_steps_gpu.cu: the same on a GPU.  prepare: makes it the calling thread's and loads the kernels, since loading
 * one later may wait for kernels that wait for this rank. */
gable_status forest_steps_gpu_prepare(gable_context *ctx);
gable_status forest_steps_gpu(gable_context *ctx, forest_step step, const forest_arrays *a, gable_off from,
                              gable_off to);

/* The same arrays in a block of the same layout at another address. */
forest_arrays forest_arrays_at(const forest_arrays *a, char *block);

#endif
