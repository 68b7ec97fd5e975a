/* device_cost.h: is a factor worth its preparation on a GPU?  A cost function of its size.
 *
 * The constants stand in cuda/gpu_class.c; bench/device_cost.py fits them to bench/results. */
#ifndef GI_DEVICE_COST_H
#define GI_DEVICE_COST_H

#include <gable/types.h>

#include "cuda/gpu_class.h"

typedef struct gi_solve_size {
  double rows, supernodes;
  double entries; /* of L and of U, diagonals included */
  double height;  /* of the tree of columns */
  double flops;   /* of the factorization */
  double bytes;   /* that a sweep on the CPU reads and writes at least */
  int threads;    /* that a sweep on the CPU uses */
} gi_solve_size;

/* Seconds of one solve for rhs right-hand sides: on the CPU in windows of 16, on a GPU of up to 128. */
double gi_cost_host_solve_s(const gi_solve_size *size, gable_idx rhs);
double gi_cost_device_solve_s(const gik_gpu_class *gpu, const gi_solve_size *size, gable_idx rhs);

/* The same of a solve in so many launches level by level, which read bytes together, in windows of 16: where clusters
 * do not serve. */
double gi_cost_launches_s(const gik_gpu_class *gpu, double launches, double bytes, gable_idx rhs);

/* Seconds of merging, inverting and uploading. */
double gi_cost_prepare_s(const gik_gpu_class *gpu, const gi_solve_size *size);

#endif
