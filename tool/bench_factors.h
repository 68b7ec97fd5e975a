/* bench_factors.h: other packages on the factors or the matrix of `gable bench supernodal`. */
#ifndef TOOL_BENCH_FACTORS_H
#define TOOL_BENCH_FACTORS_H

#include "workbench.h"

/* Who solves with the vectors of a workbench: x of there_b[turn], asynchronously on its stream. */
typedef struct bench_sweep bench_sweep;
struct bench_sweep {
  double prepare_s, bytes;                /* seconds and least bytes of a solve, filled by whoever opens it */
  int direct;                             /* 1: its solves are not to be captured in a graph */
  int (*solve)(bench_sweep *s, int turn); /* 0: enqueued */
  double (*error)(bench_sweep *s, const double *b, const double *x); /* backward error of one column, on the host */
  void (*close)(bench_sweep *s);
  void *state;
};

/* cuSPARSE's SpSV (SpSM for several right-hand sides) with L, then U, of the factors of s, as they are: no permutation,
 * no scaling, no entries right of the diagonal blocks.  0 with the reason where this build or this machine has none. */
int bench_factors_cusparse(const gable_solver *s, workbench *bench, bench_sweep *out, char *why, size_t why_bytes);

/* cuDSS 1 with the matrix, base 0: its own ordering, factorization (prepare_s) and solve.  path: of the library, or
 * NULL: libcudss.so.1.  0 with the reason where it cannot be opened. */
int bench_factors_cudss(const char *path, const gable_matrix_view *a, gable_method kind, workbench *bench,
                        bench_sweep *out, char *why, size_t why_bytes);

#endif
