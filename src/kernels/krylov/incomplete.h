/* incomplete.h: incomplete factorizations in a given pattern: plain loops row by row, on a GPU a warp a row, rows in
 * the order of their levels.
 *
 * Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, sections 10.3.2 (ILU(0)) and 10.8 (IC); shifts
 * after T. A. Manteuffel, An incomplete factorization technique for positive definite linear systems, Math. Comp. 34
 * (1980). */
#ifndef GIK_INCOMPLETE_H
#define GIK_INCOMPLETE_H

#include "kernels/list.h"
#include "kernels/sparse/row_product.h"
#include "kernels/trisolve/trisolve_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gik_incomplete {
  const gik_rows *a;     /* double; every row has its diagonal entry */
  const gable_off *wide; /* [n+1] offsets in the place of a->ptr and a->diagonal, which are not read; or NULL */
  const unsigned *order; /* [n] rows by level of the lower triangle; NULL, on a CPU: as they stand */
  double *factor;        /* [nnz] in the pattern of a; ilu0 on a CPU: may be a->val */
  double shift;          /* ic0: the share by which the diagonal is enlarged */
  gable_idx first, last; /* the part of order to take, after those before it; a GPU takes all rows in one call */
  void *scratch;         /* [n] times bytes_a_row; kept from the first part to the last */
  int *fault;            /* lowered to the lowest row whose pivot will not do */
  gik_control *control;  /* made ready by gik_solve_prepare; fault_row: a wait that was given up */
  unsigned long long deadline_ns;
  void *stream;
} gik_incomplete;

struct gik_incomplete_factors {
  /* factor = strictly lower L (unit diagonal) and U, L U ~ A on the pattern, the same bits on a CPU and a GPU.  A pivot
   * will not do when it or its reciprocal is not finite.  O(sum of row lengths of the rows that each row uses). */
  gable_status (*ilu0)(const gik_incomplete *f);
  /* lower part of factor = L, L L^T ~ A + shift diag(A), from the lower part of A; the upper part is left alone.  A
   * pivot will not do when it is not positive or not finite. */
  gable_status (*ic0)(const gik_incomplete *f);
  size_t bytes_a_row; /* of scratch */
};

#ifdef __cplusplus
}
#endif

#endif
