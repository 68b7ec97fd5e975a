/* bench_factors.h: other packages on the factors or the matrix of `gable bench supernodal`. */
#ifndef TOOL_BENCH_FACTORS_H
#define TOOL_BENCH_FACTORS_H

#include "workbench.h"

/* Who solves with the vectors of a workbench: x of there_b[turn], asynchronously on its stream. */
typedef struct bench_sweep bench_sweep;
struct bench_sweep {
  double prepare_s, bytes;                /* seconds and least bytes of a solve, filled by whoever opens it */
  int (*solve)(bench_sweep *s, int turn); /* 0: enqueued */
  void (*close)(bench_sweep *s);
  void *state;
};

/* cuSPARSE's SpSV (SpSM for several right-hand sides) with L, then U, of the factors of s, as they are: no permutation,
 * no scaling, no entries right of the diagonal blocks.  0 with the reason where this build or this machine has none. */
int bench_factors_cusparse(const gable_solver *s, workbench *bench, bench_sweep *out, char *why, size_t why_bytes);

#endif
