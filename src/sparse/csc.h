/* csc.h: the compressed matrix that all host code shares.  By columns unless its owner says "rows". */
#ifndef GI_CSC_H
#define GI_CSC_H

#include "base/context.h"

typedef struct gi_csc {
  gable_idx n_rows, n_cols;
  gable_off *ptr; /* [n_cols+1], 0 based */
  gable_idx *idx; /* [ptr[n_cols]] row of each entry, increasing within a column, no duplicates */
  double *val;    /* [ptr[n_cols]], or NULL: pattern only; complex owners store pairs */
} gi_csc;

/* Frees the arrays, not the struct.  Fine on a zeroed one, and twice. */
void gi_csc_release(gable_context *ctx, gi_csc *a);

/* *out = A^T; out must be zeroed.  O(nnz + n). */
gable_status gi_csc_transpose(gable_context *ctx, const gi_csc *a, gi_csc *out);

/* *out = A(row_perm, col_perm): entry (i,j) of out is A(row_perm[i], col_perm[j]).  NULL is the identity. */
gable_status gi_csc_permute(gable_context *ctx, const gi_csc *a, const gable_idx *row_perm, const gable_idx *col_perm,
                            gi_csc *out);

/* *out = both triangles of a matrix of which one is stored. */
gable_status gi_csc_expand(gable_context *ctx, const gi_csc *a, gable_structure structure, gi_csc *out);

/* *out = what a caller's view shows (host memory), checked, as CSC, base 0, double; a symmetric view with one part
 * stored keeps that part. */
gable_status gi_csc_from_view(gable_context *ctx, const gable_matrix_view *view, gi_csc *out);

/* *out = pattern of A + A^T without the diagonal, square. */
gable_status gi_csc_symmetrise(gable_context *ctx, const gi_csc *a, gi_csc *out);

#endif
