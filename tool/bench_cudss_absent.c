/* bench_cudss_absent.c: this build has no CUDA. */
#include <stdio.h>

#include "bench_factors.h"

int bench_factors_cudss(const char *path, const gable_matrix_view *a, gable_method kind, workbench *bench,
                        bench_sweep *out, char *why, size_t why_bytes)
{
  (void)path, (void)a, (void)kind, (void)bench, (void)out;
  snprintf(why, why_bytes, "this build has no CUDA");
  return 0;
}
