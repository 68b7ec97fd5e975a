/* csc.c: memory, transposition, permutation and symmetric completion of compressed matrices, all in O(nnz + n). */
#include "sparse/csc.h"

#include <string.h>

void gi_csc_release(gable_context *ctx, gi_csc *a)
{
  GI_FREE(ctx, a->ptr, a->idx, a->val);
  a->ptr = NULL;
  a->idx = NULL;
  a->val = NULL;
}

gable_status gi_csc_trim(gable_context *ctx, gi_csc *a)
{
  gable_status status = GABLE_OK;
  const gable_off nnz = a->ptr[a->n_cols];
  void *exact = gi_grow(ctx, a->idx, nnz, nnz, sizeof *a->idx);
  GI_REQUIRE_MEMORY(exact, (double)nnz * sizeof *a->idx, NULL);
  a->idx = exact;
  if (!a->val) goto done;
  exact = gi_grow(ctx, a->val, nnz, nnz, sizeof *a->val);
  GI_REQUIRE_MEMORY(exact, (double)nnz * sizeof *a->val, NULL);
  a->val = exact;
done:
  return status;
}

gable_status gi_csc_init(gable_context *ctx, gable_idx n_rows, gable_idx n_cols, gable_off nnz, int words, gi_csc *out)
{
  gable_status status = GABLE_OK;
  out->n_rows = n_rows;
  out->n_cols = n_cols;
  out->is_complex = words == 2;
  GI_ALLOC_ZERO(ctx, out->ptr, (gable_off)n_cols + 1);
  GI_ALLOC(ctx, out->idx, nnz);
  if (words) GI_ALLOC(ctx, out->val, nnz * words);
done:
  if (status) gi_csc_release(ctx, out);
  return status;
}

gable_status gi_csc_copy(gable_context *ctx, const gi_csc *a, gi_csc *out)
{
  gable_status status = GABLE_OK;
  gable_off nnz = a->ptr[a->n_cols];
  int words = gi_csc_words(a);
  GI_TRY(gi_csc_init(ctx, a->n_rows, a->n_cols, nnz, words, out));
  memcpy(out->ptr, a->ptr, ((size_t)a->n_cols + 1) * sizeof *a->ptr);
  if (nnz) memcpy(out->idx, a->idx, (size_t)nnz * sizeof *a->idx); /* an empty matrix may have no arrays */
  if (nnz && words) memcpy(out->val, a->val, (size_t)nnz * (size_t)words * sizeof *a->val);
done:
  return status;
}

static void copy_value(const gi_csc *from, gable_off p, gi_csc *to, gable_off q)
{
  if (!from->is_complex) {
    to->val[q] = from->val[p];
  } else {
    to->val[2 * q] = from->val[2 * p];
    to->val[2 * q + 1] = from->val[2 * p + 1];
  }
}

/* counts[k+1] holds the size of list k: makes it the offset where list k begins, in the array that is used as a cursor
 * and ends as the offsets: after filling, list k lies at counts[k] .. counts[k+1]-1. */
static void counts_to_cursors(gable_off *counts, gable_idx n)
{
  gable_off sum = 0;
  for (gable_idx k = 0; k < n; k++) {
    gable_off size = counts[k + 1];
    counts[k + 1] = sum;
    sum += size;
  }
}

/* *out = A(:, order)^T with rows renumbered: entry (i, order[k]) of A becomes entry (k, inverse[i]) of out.
 * NULL is the identity.  Columns come in increasing k, so each list of out is sorted. */
static gable_status transpose_through(gable_context *ctx, const gi_csc *a, const gable_idx *inverse,
                                      const gable_idx *order, gi_csc *out)
{
  gable_status status = GABLE_OK;
  gable_off nnz = a->ptr[a->n_cols];
  GI_TRY(gi_csc_init(ctx, a->n_cols, a->n_rows, nnz, gi_csc_words(a), out));
  gable_off *GI_RESTRICT cursor = out->ptr + 1;
  gable_idx *GI_RESTRICT idx = out->idx;
  const gable_off *begin = a->ptr;
  for (gable_off p = 0; p < nnz; p++) cursor[inverse ? inverse[a->idx[p]] : a->idx[p]]++;
  counts_to_cursors(out->ptr, a->n_rows);
  for (gable_idx k = 0; k < a->n_cols; k++) {
    const gable_idx j = order ? order[k] : k;
    for (gable_off p = begin[j]; p < begin[j + 1]; p++) {
      const gable_idx i = inverse ? inverse[a->idx[p]] : a->idx[p];
      const gable_off q = cursor[i]++;
      idx[q] = k;
      if (a->val) copy_value(a, p, out, q);
    }
  }
done:
  return status;
}

gable_status gi_csc_transpose(gable_context *ctx, const gi_csc *a, gi_csc *out)
{
  return transpose_through(ctx, a, NULL, NULL, out);
}

gable_status gi_csc_permute_transposed(gable_context *ctx, const gi_csc *a, const gable_idx *row_perm,
                                       const gable_idx *col_perm, gi_csc *out)
{
  gable_status status = GABLE_OK;
  gable_idx *inverse = NULL;
  if (row_perm) {
    GI_ALLOC(ctx, inverse, a->n_rows);
    for (gable_idx i = 0; i < a->n_rows; i++) inverse[row_perm[i]] = i;
  }
  GI_TRY(transpose_through(ctx, a, inverse, col_perm, out));
done:
  gi_free(ctx, inverse);
  return status;
}

gable_status gi_csc_permute(gable_context *ctx, const gi_csc *a, const gable_idx *row_perm, const gable_idx *col_perm,
                            gi_csc *out)
{
  gable_status status = GABLE_OK;
  gi_csc transposed = {0};
  GI_TRY(gi_csc_permute_transposed(ctx, a, row_perm, col_perm, &transposed));
  GI_TRY(transpose_through(ctx, &transposed, NULL, NULL, out));
done:
  gi_csc_release(ctx, &transposed);
  return status;
}

/* Which triangle a holds: -1 lower, 1 upper, 0 diagonal alone, 2 both. */
static int side_of(const gi_csc *a)
{
  int lower = 0, upper = 0;
  for (gable_idx j = 0; j < a->n_cols; j++) {
    if (a->ptr[j] == a->ptr[j + 1]) continue;
    upper |= a->idx[a->ptr[j]] < j;
    lower |= a->idx[a->ptr[j + 1] - 1] > j;
  }
  return lower && upper ? 2 : upper - lower;
}

/* Entry p of a, mirrored, becomes entry q of out. */
static void mirror_value(const gi_csc *a, gable_off p, gable_structure structure, gi_csc *out, gable_off q)
{
  copy_value(a, p, out, q);
  if (structure == GABLE_STRUCTURE_SKEW) {
    out->val[a->is_complex ? 2 * q : q] *= -1;
    if (a->is_complex) out->val[2 * q + 1] *= -1;
  } else if (structure == GABLE_STRUCTURE_HERMITIAN && a->is_complex) {
    out->val[2 * q + 1] *= -1;
  }
}

/* Appends the stored columns of a to the lists of out. */
static void append_stored(const gi_csc *a, gable_off *cursor, gi_csc *out)
{
  for (gable_idx j = 0; j < a->n_cols; j++) {
    for (gable_off p = a->ptr[j]; p < a->ptr[j + 1]; p++) {
      gable_off q = cursor[j]++;
      out->idx[q] = a->idx[p];
      if (a->val) copy_value(a, p, out, q);
    }
  }
}

/* Appends the mirror image of everything off the diagonal. */
static void append_mirrored(const gi_csc *a, gable_structure structure, gable_off *cursor, gi_csc *out)
{
  for (gable_idx j = 0; j < a->n_cols; j++) {
    for (gable_off p = a->ptr[j]; p < a->ptr[j + 1]; p++) {
      if (a->idx[p] == j) continue;
      gable_off q = cursor[a->idx[p]]++;
      out->idx[q] = j;
      if (a->val) mirror_value(a, p, structure, out, q);
    }
  }
}

gable_status gi_csc_expand(gable_context *ctx, const gi_csc *a, gable_structure structure, gi_csc *out)
{
  gable_status status = GABLE_OK;
  gable_off nnz = a->ptr[a->n_cols], total = nnz;
  if (structure == GABLE_STRUCTURE_GENERAL) return gi_csc_copy(ctx, a, out);
  GI_REQUIRE(a->n_rows == a->n_cols, GABLE_ERR_ARGUMENT, "a symmetric matrix is square; this one is %d by %d",
             a->n_rows, a->n_cols);
  int side = side_of(a);
  GI_REQUIRE(side != 2, GABLE_ERR_ARGUMENT, "entries on both sides of the diagonal: only one triangle can be mirrored");
  for (gable_idx j = 0; j < a->n_cols; j++)
    for (gable_off p = a->ptr[j]; p < a->ptr[j + 1]; p++) total += a->idx[p] != j;
  GI_TRY(gi_csc_init(ctx, a->n_rows, a->n_cols, total, gi_csc_words(a), out));
  gable_off *cursor = out->ptr + 1;
  for (gable_idx j = 0; j < a->n_cols; j++) {
    cursor[j] += a->ptr[j + 1] - a->ptr[j];
    for (gable_off p = a->ptr[j]; p < a->ptr[j + 1]; p++) cursor[a->idx[p]] += a->idx[p] != j;
  }
  counts_to_cursors(out->ptr, a->n_cols);
  /* The mirror image of a lower triangle comes above the diagonal, so before what is stored. */
  if (side < 0) append_mirrored(a, structure, cursor, out);
  append_stored(a, cursor, out);
  if (side > 0) append_mirrored(a, structure, cursor, out);
done:
  return status;
}
