/* triangle.h: one triangle of a caller's matrix in the order in which it is solved.
 *
 * Every solve is a lower solve here: where op(T) is upper its rows are numbered from the end, so that row k depends on
 * rows c < k only.  Solve number k is row gi_natural(t, k) of the matrix, and back. */
#ifndef GI_TRISOLVE_TRIANGLE_H
#define GI_TRISOLVE_TRIANGLE_H

#include "trisolve/plan.h"

typedef struct gi_triangle {
  gable_idx n;
  int reverse;     /* 1: solve number k is row n-1-k */
  gable_off *ptr;  /* [n+1] */
  gable_idx *col;  /* [ptr[n]] c < k, increasing within row k */
  gable_off *from; /* [ptr[n]] place of the entry in the caller's val */
} gi_triangle;

static inline gable_idx gi_natural(const gi_triangle *t, gable_idx k)
{
  return t->reverse ? t->n - 1 - k : k;
}

/* The rows of op(T) for the op whose rows are stored one after another: N of CSR, T of CSC.  diagonal_from: [n] place
 * of each row's diagonal entry in val, -1 without one, in the matrix's own numbering; owned by the caller.  *bad_row is
 * set on GABLE_ERR_ARGUMENT and _SINGULAR (a missing diagonal, when need_diagonal).  O(nnz). */
gable_status gi_triangle_read(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a, int need_diagonal,
                              gi_triangle *out, gable_off **diagonal_from, gable_idx *bad_row);

/* The other op: *out = the rows of the transpose, again as a lower triangle.  O(nnz). */
gable_status gi_triangle_transpose(gable_context *ctx, const gi_triangle *t, gi_triangle *out);

/* Frees the arrays.  Fine on a zeroed one, and twice. */
void gi_triangle_release(gable_context *ctx, gi_triangle *t);

#endif
