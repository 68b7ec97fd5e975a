/* attributes.h: what kernels and their cost models ask of a GPU, read once from the driver. */
#ifndef GIK_CUDA_ATTRIBUTES_H
#define GIK_CUDA_ATTRIBUTES_H

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gik_gpu {
  int ordinal, major, minor; /* compute capability */
  int processors, threads;   /* multiprocessors; threads that one holds at a time */
  int shared;                /* bytes of shared memory that a block may ask for, beside 1 KB of static arrays */
  double clock_hz, bytes_s;  /* highest clock of a multiprocessor; bandwidth of memory by its clock and width */
} gik_gpu;

gable_status gik_gpu_read(int ordinal, gik_gpu *out);

/* GABLE_ERR_UNAVAILABLE with the GPU's compute capability where the kernels do not run on it. */
gable_status gik_gpu_check(const gik_gpu *gpu);

#ifdef __cplusplus
}
#endif

#endif
