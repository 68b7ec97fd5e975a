/* forest_gpu.h: what floors need to know of a GPU. */
#ifndef TOOL_FOREST_GPU_H
#define TOOL_FOREST_GPU_H

#include <gable/gable.h>

typedef struct forest_gpu {
  char name[64], bus[32]; /* "NVIDIA H200", "0000:1B:00.0" */
  double peak_bytes_s;    /* of its memory, by clock and width; 0: unknown */
} forest_gpu;

/* Local.  GABLE_ERR_UNAVAILABLE: ctx is on no GPU. */
gable_status forest_gpu_about(gable_context *ctx, forest_gpu *out);

/* Local.  Waits for all work of the context's GPU, on every stream. */
gable_status forest_gpu_synchronise(gable_context *ctx);

#endif
