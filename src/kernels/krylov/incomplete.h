/* incomplete.h: incomplete factorizations without fill; on a GPU a warp a row, rows in the order of their levels. */
#ifndef GIK_INCOMPLETE_H
#define GIK_INCOMPLETE_H

#include "kernels/list.h"
#include "kernels/sparse/row_product.h"
#include "kernels/trisolve/trisolve_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gik_incomplete {
  const gik_rows *a;     /* double */
  const unsigned *order; /* [n] rows by level of the lower triangle */
  double *factor;        /* [nnz] in the pattern of a */
  double shift;          /* ic0: the share by which the diagonal is enlarged */
  unsigned char *ready;  /* [n] scratch */
  int *fault;            /* lowered to the lowest row whose pivot will not do */
  gik_control *control;  /* made ready by gik_solve_prepare; fault_row: a wait that was given up */
  unsigned long long deadline_ns;
  void *stream;
} gik_incomplete;

struct gik_incomplete_factors {
  /* factor = strictly lower L (unit diagonal) and U, L U ~ A: the same operations in the same order as the CPU's. */
  gable_status (*ilu0)(const gik_incomplete *f);
  /* lower part of factor = L, L L^T ~ A + shift diag(A), from the lower part of A; the upper part is left alone. */
  gable_status (*ic0)(const gik_incomplete *f);
};

#ifdef __cplusplus
}
#endif

#endif
