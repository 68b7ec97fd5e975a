#include "sparse/symmetry.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/type_size.h"

typedef struct walker {
  gable_context *ctx;
  const gi_csc *lists;
  int by_rows;
  gable_structure structure;
  const char *why;
  gable_type type;
  const void *val;
  double *largest; /* [n] of each list, once two values differ; NULL before */
} walker;

static const char *declaration(gable_structure structure)
{
  switch (structure) {
  case GABLE_STRUCTURE_SPD: return "the view declares GABLE_STRUCTURE_SPD";
  case GABLE_STRUCTURE_SKEW: return "the view declares GABLE_STRUCTURE_SKEW";
  case GABLE_STRUCTURE_HERMITIAN: return "the view declares GABLE_STRUCTURE_HERMITIAN";
  default: return "the view declares GABLE_STRUCTURE_SYMMETRIC";
  }
}

static gable_status find_largest(walker *w)
{
  gable_status status = GABLE_OK;
  const gi_csc *a = w->lists;
  if (w->largest) return GABLE_OK;
  GI_ALLOC_ZERO(w->ctx, w->largest, a->n_cols);
  for (gable_idx i = 0; i < a->n_cols; i++)
    for (gable_off k = a->ptr[i]; k < a->ptr[i + 1]; k++)
      w->largest[i] = fmax(w->largest[i], fabs(gi_number_at(w->type, w->val, k, 0)));
done:
  return status;
}

/* Entry k of list i, index j, and entry m of list j, index i. */
static gable_status compare(walker *w, gable_idx i, gable_off k, gable_idx j, gable_off m)
{
  gable_status status = GABLE_OK;
  const double eps = w->type == GABLE_TYPE_S ? FLT_EPSILON : DBL_EPSILON;
  const double one = gi_number_at(w->type, w->val, k, 0), other = gi_number_at(w->type, w->val, m, 0);
  const double apart = fabs(w->structure == GABLE_STRUCTURE_SKEW ? one + other : one - other);
  if (GI_LIKELY(apart <= 4 * eps * fabs(one)) || apart != apart) return GABLE_OK; /* NaN is found by others */
  GI_TRY(find_largest(w));
  GI_REQUIRE(apart <= 64 * eps * fmax(w->largest[i], w->largest[j]), GABLE_ERR_ARGUMENT,
             "%s, but the entry in row %d, column %d (counted from 0) is %g and its mirror image %g", w->why,
             w->by_rows ? i : j, w->by_rows ? j : i, one, other);
done:
  return status;
}

/* Entry (i,j) of the lists is alone. */
static gable_status alone(const walker *w, gable_idx i, gable_idx j)
{
  gable_status status = GABLE_OK;
  const gable_idx row = w->by_rows ? i : j, column = w->by_rows ? j : i;
  GI_REQUIRE(
      0, GABLE_ERR_ARGUMENT,
      "%s and GABLE_PART_FULL, but the entry in row %d, column %d (counted from 0) has no mirror image: give both "
      "triangles, or declare %s or GABLE_STRUCTURE_GENERAL",
      w->why, row, column, row > column ? "GABLE_PART_LOWER" : "GABLE_PART_UPPER");
done:
  return status;
}

/* Most mirror images are equal, and no call is made for those.  NaN is not equal. */
static inline int differ(const walker *w, gable_off k, gable_off m)
{
  const double *val = w->val;
  return w->type != GABLE_TYPE_D || w->structure == GABLE_STRUCTURE_SKEW || val[k] != val[m];
}

/* cursor [n]: the first entry of each list whose mirror image was not met; all before list i were walked. */
static gable_status walk(walker *w, gable_off *cursor)
{
  gable_status status = GABLE_OK;
  const gi_csc *a = w->lists;
  for (gable_idx i = 0; i < a->n_cols; i++) {
    gable_off k = cursor[i];
    const gable_off end = a->ptr[i + 1];
    if (k < end && a->idx[k] < i) GI_TRY(alone(w, i, a->idx[k]));
    if (k < end && a->idx[k] == i) {
      if (w->val && differ(w, k, k)) GI_TRY(compare(w, i, k, i, k));
      k++;
    }
    for (; k < end; k++) {
      const gable_idx j = a->idx[k];
      const gable_off m = cursor[j]++;
      const int here = m < a->ptr[j + 1];
      if (here && a->idx[m] < i) GI_TRY(alone(w, j, a->idx[m]));
      if (!here || a->idx[m] != i) GI_TRY(alone(w, i, j));
      if (w->val && differ(w, k, m)) GI_TRY(compare(w, i, k, j, m));
    }
  }
done:
  return status;
}

gable_status gi_symmetry_check(gable_context *ctx, const gi_csc *lists, int by_rows, gable_structure structure,
                               const char *why, gable_type type, const void *val)
{
  gable_status status = GABLE_OK;
  walker w = {ctx, lists, by_rows, structure, why ? why : declaration(structure), type, val, NULL};
  gable_off *cursor = NULL;
  GI_ALLOC(ctx, cursor, lists->n_cols);
  if (lists->n_cols) memcpy(cursor, lists->ptr, (size_t)lists->n_cols * sizeof *cursor);
  GI_TRY(walk(&w, cursor));
done:
  GI_FREE(ctx, cursor, w.largest);
  return status;
}

gable_status gi_symmetry_check_view(gable_context *ctx, const gable_matrix_view *view)
{
  gable_status status = GABLE_OK;
  gi_csc lists = {0};
  gable_matrix_view pattern = *view;
  const int real = view->value_type == GABLE_TYPE_S || view->value_type == GABLE_TYPE_D;
  pattern.val = NULL;
  if (view->space != GABLE_SPACE_HOST || !gi_declares_symmetry(view->structure, view->part)) return GABLE_OK;
  GI_TRY(gi_csc_lists_from_view(ctx, &pattern, &lists));
  GI_TRY(gi_symmetry_check(ctx, &lists, view->format == GABLE_FORMAT_CSR, view->structure, NULL, view->value_type,
                           real ? view->val : NULL));
done:
  gi_csc_release(ctx, &lists);
  return status;
}
