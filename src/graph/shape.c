#include "graph/shape.h"

#include "graph/match/matching_cardinality.h"

static int is_zero(const gi_csc *a, gable_off p)
{
  if (!a->val) return 0;
  return a->is_complex ? a->val[2 * p] == 0 && a->val[2 * p + 1] == 0 : a->val[p] == 0;
}

static int same_value(const gi_csc *a, gable_off p, const gi_csc *b, gable_off q)
{
  if (!a->val) return 1;
  if (!a->is_complex) return a->val[p] == b->val[q];
  return a->val[2 * p] == b->val[2 * q] && a->val[2 * p + 1] == b->val[2 * q + 1];
}

/* Shares of the entries off the diagonal that have a mirror image, and an equal one. */
static gable_status find_symmetry(gable_context *ctx, const gi_csc *a, gable_matrix_shape *shape)
{
  gable_status status = GABLE_OK;
  gi_csc t = {0};
  gable_off off = 0, mirrored = 0, equal = 0;
  GI_TRY(gi_csc_transpose(ctx, a, &t));
  for (gable_idx j = 0; j < a->n_cols; j++) {
    gable_off q = t.ptr[j];
    for (gable_off p = a->ptr[j]; p < a->ptr[j + 1]; p++) {
      if (a->idx[p] == j) continue;
      off++;
      while (q < t.ptr[j + 1] && t.idx[q] < a->idx[p]) q++;
      if (q == t.ptr[j + 1] || t.idx[q] != a->idx[p]) continue;
      mirrored++;
      equal += same_value(a, p, &t, q);
    }
  }
  shape->pattern_symmetry = off ? (double)mirrored / (double)off : 1;
  shape->value_symmetry = off ? (double)equal / (double)off : 1;
done:
  gi_csc_release(ctx, &t);
  return status;
}

static gable_status find_lengths(gable_context *ctx, const gi_csc *a, gable_matrix_shape *shape)
{
  gable_status status = GABLE_OK;
  gable_idx *length = NULL;
  GI_ALLOC_ZERO(ctx, length, a->n_rows);
  for (gable_idx j = 0; j < a->n_cols; j++) {
    gable_idx n = (gable_idx)(a->ptr[j + 1] - a->ptr[j]);
    shape->empty_cols += n == 0;
    if (n > shape->longest_col) shape->longest_col = n;
    for (gable_off p = a->ptr[j]; p < a->ptr[j + 1]; p++) {
      gable_idx i = a->idx[p];
      length[i]++;
      if (i > j && i - j > shape->lower_bandwidth) shape->lower_bandwidth = i - j;
      if (i < j && j - i > shape->upper_bandwidth) shape->upper_bandwidth = j - i;
      shape->diagonal += i == j && !is_zero(a, p);
    }
  }
  for (gable_idx i = 0; i < a->n_rows; i++) {
    shape->empty_rows += length[i] == 0;
    if (length[i] > shape->longest_row) shape->longest_row = length[i];
  }
done:
  gi_free(ctx, length);
  return status;
}

/* Explicit zeros are no entries here: nothing can be divided by them. */
static gable_status find_rank(gable_context *ctx, const gi_csc *a, gable_matrix_shape *shape)
{
  gable_status status = GABLE_OK;
  gi_csc kept = {0};
  gable_idx *row_of = NULL;
  gable_off q = 0;
  GI_TRY(gi_csc_init(ctx, a->n_rows, a->n_cols, a->ptr[a->n_cols], 0, &kept));
  for (gable_idx j = 0; j < a->n_cols; j++) {
    for (gable_off p = a->ptr[j]; p < a->ptr[j + 1]; p++)
      if (!is_zero(a, p)) kept.idx[q++] = a->idx[p];
    kept.ptr[j + 1] = q;
  }
  GI_ALLOC(ctx, row_of, a->n_cols);
  GI_TRY(gi_matching_cardinality(ctx, a->n_rows, a->n_cols, kept.ptr, kept.idx, row_of, &shape->structural_rank));
done:
  gi_free(ctx, row_of);
  gi_csc_release(ctx, &kept);
  return status;
}

gable_idx gi_triangle_levels(const gi_csc *a, gable_part triangle, gable_idx *level)
{
  gable_idx n = a->n_cols, count = 0;
  for (gable_idx k = 0; k < n; k++) level[k] = 0;
  for (gable_idx k = 0; k < n; k++) {
    gable_idx j = triangle == GABLE_PART_LOWER ? k : n - 1 - k;
    if (level[j] >= count) count = level[j] + 1;
    for (gable_off p = a->ptr[j]; p < a->ptr[j + 1]; p++) {
      gable_idx i = a->idx[p];
      if ((triangle == GABLE_PART_LOWER ? i > j : i < j) && level[i] <= level[j]) level[i] = level[j] + 1;
    }
  }
  return count;
}

static gable_status find_levels(gable_context *ctx, const gi_csc *a, gable_part triangle, gable_idx *count,
                                gable_idx *widest)
{
  gable_status status = GABLE_OK;
  gable_idx *level = NULL, *width = NULL;
  GI_ALLOC(ctx, level, a->n_cols);
  *count = gi_triangle_levels(a, triangle, level);
  GI_ALLOC_ZERO(ctx, width, *count);
  for (gable_idx k = 0; k < a->n_cols; k++)
    if (++width[level[k]] > *widest) *widest = width[level[k]];
done:
  GI_FREE(ctx, level, width);
  return status;
}

gable_status gi_shape(gable_context *ctx, const gi_csc *a, gable_matrix_shape *shape)
{
  gable_status status = GABLE_OK;
  *shape = (gable_matrix_shape)GABLE_MATRIX_SHAPE_INIT;
  shape->nnz = a->ptr[a->n_cols];
  GI_TRY(find_lengths(ctx, a, shape));
  GI_TRY(find_rank(ctx, a, shape));
  if (a->n_rows == a->n_cols) {
    GI_TRY(find_symmetry(ctx, a, shape));
    GI_TRY(find_levels(ctx, a, GABLE_PART_LOWER, &shape->lower_levels, &shape->lower_widest));
    GI_TRY(find_levels(ctx, a, GABLE_PART_UPPER, &shape->upper_levels, &shape->upper_widest));
  }
done:
  return status;
}
