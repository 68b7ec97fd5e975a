/* lists.h: the matrix permuted to schedule order, and the gather that brings new values there. */
#ifndef GI_TRISOLVE_LISTS_H
#define GI_TRISOLVE_LISTS_H

#include "kernels/trisolve_rows.h"
#include "trisolve/triangle.h"

typedef struct gi_lists {
  gik_lists m;
  gable_off nnz;
  gable_off *from;  /* [nnz] place in the caller's val */
  gable_off *begin; /* [n+1] of each list, or NULL where the method walks lists in order */
} gi_lists;

/* Lists of t (rows of op(T), or its columns when t is the other op's triangle) in the given order: order[k] is a row in
 * the matrix's own numbering.  with_begin: also begin. */
gable_status gi_lists_build(gable_context *ctx, const gi_triangle *t, const gable_idx *order, gable_type value_type,
                            int with_begin, gi_lists *out);

/* Whole rows without the diagonal, for sweeps: list k holds first the entries of row order[k] in other, then those in
 * own, the triangle whose order this is.  shift is added to the indices of other's. */
gable_status gi_lists_build_rows(gable_context *ctx, const gi_triangle *own, const gi_triangle *other,
                                 const gable_idx *order, gable_type value_type, gable_idx shift, gi_lists *out);

/* rdiag[k] = 1 / diagonal(row k): from diagonal[] (separate), val[diagonal_from[]] (stored) or 1 (both NULL).
 * GABLE_ERR_SINGULAR and _NOT_FINITE with *bad_row, the lowest one. */
gable_status gi_lists_update(gi_lists *l, const void *val, const gable_off *diagonal_from, const void *diagonal,
                             gable_idx *bad_row);

size_t gi_lists_bytes(const gi_lists *l);
void gi_lists_release(gable_context *ctx, gi_lists *l);

#endif
