/* bench_solver_cusparse_absent.c: a build without CUDA. */
#include <stdio.h>

#include "bench_solver.h"

int bench_solver_cusparse(bench_solver *c, char *why, size_t why_bytes)
{
  (void)c;
  snprintf(why, why_bytes, "this build has no CUDA, so there is no cuSPARSE to compare with");
  return 0;
}
