/* csc_view.c: a caller's view, checked entry by entry, becomes a compressed matrix of our own. */
#include <string.h>

#include "base/type_size.h"
#include "sparse/csc.h"
#include "sparse/view.h"

/* Do idx[begin, end) increase within least .. most-1? */
static int is_increasing(const gable_idx *idx, gable_off begin, gable_off end, int64_t least, int64_t most)
{
  if (begin == end) return 1;
  int fine = idx[begin] >= least && idx[end - 1] < most;
  for (gable_off p = begin + 1; p < end; p++) fine &= idx[p - 1] < idx[p];
  return fine;
}

static gable_status check_entries(const gable_matrix_view *v, gable_idx n_lists, gable_idx n_inside)
{
  gable_status status = GABLE_OK;
  const char *list = v->format == GABLE_FORMAT_CSR ? "row" : "column";
  GI_REQUIRE(gi_view_offset(v, 0) == 0, GABLE_ERR_ARGUMENT, "ptr[0] is %lld, the base is %d",
             (long long)(gi_view_offset(v, 0) + v->base), v->base);
  for (gable_idx k = 0; k < n_lists; k++)
    GI_REQUIRE(gi_view_offset(v, k) <= gi_view_offset(v, k + 1), GABLE_ERR_ARGUMENT,
               "ptr decreases after %s %d (counted from 0)", list, k);
  for (gable_idx k = 0; k < n_lists; k++)
    GI_REQUIRE(gi_view_offset(v, k + 1) - gi_view_offset(v, k) <= n_inside, GABLE_ERR_ARGUMENT,
               "by ptr %s %d (counted from 0) has %lld entries in %d places: ptr is wrong, or entries come twice", list,
               k, (long long)(gi_view_offset(v, k + 1) - gi_view_offset(v, k)), n_inside);
  GI_REQUIRE(v->idx || gi_view_offset(v, n_lists) == 0, GABLE_ERR_ARGUMENT, "the view has no idx");
  for (gable_idx k = 0; k < n_lists; k++) {
    gable_off end = gi_view_offset(v, k + 1);
    int64_t last = (int64_t)v->base - 1;
    if (GI_LIKELY(is_increasing(v->idx, gi_view_offset(v, k), end, v->base, (int64_t)n_inside + v->base))) continue;
    for (gable_off p = gi_view_offset(v, k); p < end; p++) {
      int64_t i = v->idx[p];
      GI_REQUIRE(i >= v->base && i < (int64_t)n_inside + v->base, GABLE_ERR_ARGUMENT,
                 "idx[%lld] is %lld in %s %d (counted from 0): not in %d .. %lld", (long long)p, (long long)i, list, k,
                 v->base, (long long)n_inside - 1 + v->base);
      GI_REQUIRE(i > last, GABLE_ERR_ARGUMENT,
                 "idx[%lld] is %lld after %lld in %s %d (counted from 0): indices must increase", (long long)p,
                 (long long)i, (long long)last, list, k);
      last = i;
    }
  }
done:
  return status;
}

/* Copies the lists of the view as they are: columns of A from CSC, of A^T from CSR. */
static gable_status copy_lists(gable_context *ctx, const gable_matrix_view *v, gable_idx n_lists, gable_idx n_inside,
                               gi_csc *out)
{
  gable_status status = GABLE_OK;
  int words = !v->val ? 0 : v->value_type == GABLE_TYPE_C || v->value_type == GABLE_TYPE_Z ? 2 : 1;
  gable_part part = v->part;
  if (v->format == GABLE_FORMAT_CSR && part != GABLE_PART_FULL)
    part = part == GABLE_PART_LOWER ? GABLE_PART_UPPER : GABLE_PART_LOWER;
  GI_TRY(gi_csc_init(ctx, n_inside, n_lists, gi_view_offset(v, n_lists), words, out));
  gable_off q = 0;
  if (part == GABLE_PART_FULL && v->base == 0 && !words) { /* as it stands */
    for (gable_idx k = 0; k <= n_lists; k++) out->ptr[k] = gi_view_offset(v, k);
    if (out->ptr[n_lists]) memcpy(out->idx, v->idx, (size_t)out->ptr[n_lists] * sizeof *out->idx);
    goto done;
  }
  for (gable_idx k = 0; k < n_lists; k++) {
    for (gable_off p = gi_view_offset(v, k); p < gi_view_offset(v, k + 1); p++) {
      gable_idx i = v->idx[p] - v->base;
      if ((part == GABLE_PART_LOWER && i < k) || (part == GABLE_PART_UPPER && i > k)) continue;
      out->idx[q] = i;
      for (int w = 0; w < words; w++) out->val[words * q + w] = gi_number_at(v->value_type, v->val, p, w);
      q++;
    }
    out->ptr[k + 1] = q;
  }
done:
  return status;
}

gable_status gi_csc_lists_from_view(gable_context *ctx, const gable_matrix_view *view, gi_csc *out)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_view_check(view));
  GI_REQUIRE(view->space == GABLE_SPACE_HOST, GABLE_ERR_ARGUMENT, "the view must be in host memory here");
  const int by_rows = view->format == GABLE_FORMAT_CSR;
  const gable_idx n_lists = by_rows ? view->n_rows : view->n_cols, n_inside = by_rows ? view->n_cols : view->n_rows;
  GI_TRY(check_entries(view, n_lists, n_inside));
  GI_TRY(copy_lists(ctx, view, n_lists, n_inside, out));
done:
  return status;
}

gable_status gi_csc_from_view(gable_context *ctx, const gable_matrix_view *view, gi_csc *out)
{
  gable_status status = GABLE_OK;
  gi_csc lists = {0};
  GI_TRY(gi_csc_lists_from_view(ctx, view, &lists));
  if (view->format == GABLE_FORMAT_CSR) {
    GI_TRY(gi_csc_transpose(ctx, &lists, out));
  } else {
    *out = lists;
    memset(&lists, 0, sizeof lists);
  }
done:
  gi_csc_release(ctx, &lists);
  return status;
}
