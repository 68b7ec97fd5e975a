/* csc.h: the compressed matrix that all host code shares.  By columns unless its owner says "rows". */
#ifndef GI_CSC_H
#define GI_CSC_H

#include "base/context.h"

typedef struct gi_csc {
  gable_idx n_rows, n_cols;
  gable_off *ptr; /* [n_cols+1], 0 based */
  gable_idx *idx; /* [ptr[n_cols]] row of each entry, increasing within a column, no duplicates */
  double *val;    /* [ptr[n_cols]], or NULL: pattern only; pairs (re, im) when is_complex */
  int is_complex; /* 1: val is [2*ptr[n_cols]] */
} gi_csc;

/* Memory for nnz entries of words doubles each (0: pattern, 1: real, 2: complex); ptr [n_cols+1] is zeroed, the rest is
 * not.  out must be zeroed. */
gable_status gi_csc_init(gable_context *ctx, gable_idx n_rows, gable_idx n_cols, gable_off nnz, int words, gi_csc *out);

/* Doubles per entry: 0, 1 or 2. */
static inline int gi_csc_words(const gi_csc *a)
{
  return a->val ? 1 + a->is_complex : 0;
}

/* Frees the arrays, not the struct.  Fine on a zeroed one, and twice. */
void gi_csc_release(gable_context *ctx, gi_csc *a);

/* Gives back what idx and val have room for beyond ptr[n_cols] entries. */
gable_status gi_csc_trim(gable_context *ctx, gi_csc *a);

gable_status gi_csc_copy(gable_context *ctx, const gi_csc *a, gi_csc *out);

/* *out = A^T; out must be zeroed.  O(nnz + n). */
gable_status gi_csc_transpose(gable_context *ctx, const gi_csc *a, gi_csc *out);

/* *out = A(row_perm, col_perm): entry (i,j) of out is A(row_perm[i], col_perm[j]).  NULL is the identity. */
gable_status gi_csc_permute(gable_context *ctx, const gi_csc *a, const gable_idx *row_perm, const gable_idx *col_perm,
                            gi_csc *out);

/* *out = A(row_perm, col_perm)^T, in half the time. */
gable_status gi_csc_permute_transposed(gable_context *ctx, const gi_csc *a, const gable_idx *row_perm,
                                       const gable_idx *col_perm, gi_csc *out);

/* *out = both triangles of a matrix of which one is stored (either; GABLE_ERR_ARGUMENT when entries stand on both
 * sides).  The mirrored entry is the same, the negative (GABLE_STRUCTURE_SKEW) or the conjugate
 * (GABLE_STRUCTURE_HERMITIAN); GABLE_STRUCTURE_GENERAL copies. */
gable_status gi_csc_expand(gable_context *ctx, const gi_csc *a, gable_structure structure, gi_csc *out);

/* *out = what a caller's view shows (host memory), checked, as CSC, base 0, double.  With part GABLE_PART_LOWER or
 * GABLE_PART_UPPER only that triangle (with the diagonal) is used and kept.  GABLE_ERR_ARGUMENT names the entry that is
 * out of range or out of order. */
gable_status gi_csc_from_view(gable_context *ctx, const gable_matrix_view *view, gi_csc *out);

/* The same without the turn: A by columns from CSC, A by rows (so A^T by columns) from CSR. */
gable_status gi_csc_lists_from_view(gable_context *ctx, const gable_matrix_view *view, gi_csc *out);

#endif
