#include "pipeline/problem.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "sparse/file/checksum.h"
#include "sparse/symmetry.h"
#include "sparse/view.h"

/* 0 where the offsets are wrong, which gi_csc_from_view will say better. */
static gable_off count_given(const gable_matrix_view *view)
{
  gable_idx major = view->format == GABLE_FORMAT_CSR ? view->n_rows : view->n_cols;
  gable_idx minor = view->format == GABLE_FORMAT_CSR ? view->n_cols : view->n_rows;
  for (gable_idx k = 0; k < major; k++) {
    const gable_off begin = gi_view_offset(view, k), end = gi_view_offset(view, k + 1);
    if (begin > end || end - begin > minor) return 0;
  }
  return major >= 0 && gi_view_offset(view, 0) == 0 ? gi_view_offset(view, major) : 0;
}

/* One triangle is stored, or used: p->rows = A by rows, positions sent through the functions that arrange values. */
static gable_status rows_of_triangle(gable_context *ctx, const gable_matrix_view *view, gable_off given, gi_problem *p)
{
  gable_status status = GABLE_OK;
  gable_matrix_view v = *view;
  gi_csc stored = {0}, both = {0};
  double *positions = NULL;
  GI_TRY(gi_gather_positions(ctx, given, &positions));
  v.val = positions;
  v.value_type = GABLE_TYPE_D;
  GI_TRY(gi_csc_lists_from_view(ctx, &v, &stored));
  GI_TRY(gi_csc_expand(ctx, &stored,
                       view->structure == GABLE_STRUCTURE_SPD ? GABLE_STRUCTURE_SYMMETRIC : view->structure, &both));
  gi_csc_release(ctx, &stored);
  if (view->format == GABLE_FORMAT_CSR ||
      (view->structure != GABLE_STRUCTURE_SKEW && view->structure != GABLE_STRUCTURE_GENERAL)) {
    p->rows = both;
    memset(&both, 0, sizeof both);
  } else {
    GI_TRY(gi_csc_transpose(ctx, &both, &p->rows));
  }
  gi_free(ctx, positions);
  positions = p->rows.val;
  p->rows.val = NULL;
  GI_TRY(gi_gather_init(ctx, p->rows.ptr[p->n], positions, given, &p->from_caller));
done:
  gi_free(ctx, positions);
  gi_csc_release(ctx, &stored);
  gi_csc_release(ctx, &both);
  return status;
}

/* p->rows = A by rows, whether its pattern is symmetric, and the gather.  The lists of the view are rows of A, or of
 * A^T: where the pattern is symmetric they serve as both. */
static gable_status rows_of_view(gable_context *ctx, const gable_matrix_view *view, gi_problem *p)
{
  gable_status status = GABLE_OK;
  gi_csc lists = {0};
  gable_matrix_view v = *view;
  v.val = NULL;
  if (view->part != GABLE_PART_FULL) {
    GI_TRY(rows_of_triangle(ctx, view, p->given, p));
    GI_TRY(gi_gather_mirror(ctx, &p->rows, NULL, &p->pattern_symmetric));
    goto done;
  }
  GI_TRY(gi_csc_lists_from_view(ctx, &v, &lists));
  GI_TRY(gi_gather_mirror(ctx, &lists, NULL, &p->pattern_symmetric));
  p->mirrored = view->format == GABLE_FORMAT_CSC && p->pattern_symmetric;
  if (view->format == GABLE_FORMAT_CSR || p->mirrored) {
    p->from_caller = (gi_gather){.count = p->given, .identity = 1};
    p->rows = lists;
    memset(&lists, 0, sizeof lists);
  } else {
    const gi_gather_plan plan = {.a = &lists};
    GI_TRY(gi_gather_transpose(ctx, &plan, &p->rows, &p->from_caller));
    p->columns = lists;
    memset(&lists, 0, sizeof lists);
  }
done:
  gi_csc_release(ctx, &lists);
  return status;
}

static uint64_t pattern_hash(const gi_csc *rows)
{
  uint64_t h = gi_checksum((uint64_t)rows->n_cols, rows->ptr, ((size_t)rows->n_cols + 1) * sizeof *rows->ptr);
  return gi_checksum(h, rows->idx, (size_t)rows->ptr[rows->n_cols] * sizeof *rows->idx);
}

static void look_at_diagonal(gi_problem *p)
{
  const gi_csc *a = &p->rows;
  p->diagonal_full = p->diagonal_positive = p->diagonal_negative = 1;
  for (gable_idx i = 0; i < p->n; i++) {
    double value = 0;
    gable_off k = a->ptr[i];
    while (k < a->ptr[i + 1] && a->idx[k] < i) k++;
    if (k < a->ptr[i + 1] && a->idx[k] == i) value = a->val ? a->val[k] : 1;
    p->diagonal_full &= value != 0;
    p->diagonal_positive &= a->val && value > 0;
    p->diagonal_negative &= a->val && value < 0;
  }
}

/* The columns that came, with their values. */
static gable_status columns_as_they_came(gable_context *ctx, gi_problem *p, const void *val)
{
  gable_status status = GABLE_OK;
  const gi_gather plain = {.count = p->given, .identity = 1};
  GI_ALLOC(ctx, p->columns.val, p->given);
  gi_gather_values(&plain, p->value_type, val, p->columns.val);
done:
  return status;
}

gable_status gi_problem_init(gable_context *ctx, const gable_matrix_view *view, gi_problem *p)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_view_check(view));
  GI_REQUIRE(view->n_rows == view->n_cols, GABLE_ERR_ARGUMENT, "the matrix is %d by %d: a solver needs a square one",
             view->n_rows, view->n_cols);
  GI_REQUIRE(view->space == GABLE_SPACE_HOST, GABLE_ERR_UNAVAILABLE,
             "the matrix is in device memory: give it in host memory");
  GI_REQUIRE(view->value_type == GABLE_TYPE_D || view->value_type == GABLE_TYPE_S, GABLE_ERR_UNAVAILABLE,
             "values are neither float nor double: complex matrices are not solved yet");
  p->n = view->n_rows;
  p->given = count_given(view);
  p->value_type = view->value_type;
  p->promised_spd = view->structure == GABLE_STRUCTURE_SPD;
  GI_TRY(rows_of_view(ctx, view, p));
  if (gi_declares_symmetry(view->structure, view->part)) p->declared = view->structure;
  if (p->declared && !p->pattern_symmetric)
    GI_TRY(gi_symmetry_check(ctx, &p->rows, 1, p->declared, NULL, p->value_type, NULL));
  p->hash = pattern_hash(&p->rows);
  GI_ALLOC(ctx, p->norms, 4 * (gable_off)p->n);
  if (view->val || p->given == 0) {
    GI_TRY(gi_problem_check_values(ctx, p, view->val));
    GI_TRY(gi_problem_set_values(ctx, p, view->val));
    if (p->columns.ptr) GI_TRY(columns_as_they_came(ctx, p, view->val));
  } else {
    look_at_diagonal(p);
  }
done:
  if (status) gi_problem_release(ctx, p);
  return status;
}

/* Row and column of the caller's value k, which is gathered. */
static void place_of(const gi_problem *p, gable_off k, gable_idx *row, gable_idx *column)
{
  for (gable_idx i = 0; i < p->n; i++)
    for (gable_off m = p->rows.ptr[i]; m < p->rows.ptr[i + 1]; m++) {
      double sign;
      if (gi_gather_from(&p->from_caller, m, &sign) != k) continue;
      *row = p->mirrored ? p->rows.idx[m] : i;
      *column = p->mirrored ? i : p->rows.idx[m];
      return;
    }
}

gable_status gi_problem_check_values(gable_context *ctx, const gi_problem *p, const void *val)
{
  gable_status status = GABLE_OK;
  const gable_off wrong = gi_gather_check(&p->from_caller, p->value_type, val, p->given);
  gable_idx row = -1, column = -1;
  if (wrong >= 0) place_of(p, wrong, &row, &column);
  GI_REQUIRE(wrong < 0, GABLE_ERR_NOT_FINITE,
             "value %lld of the matrix, in row %d, column %d (counted from 0), is NaN or infinite", (long long)wrong,
             row, column);
  if (p->declared) /* both triangles were given, so the values come as the lists lie */
    GI_TRY(gi_symmetry_check(ctx, &p->rows, !p->mirrored, p->declared, p->declared_why, p->value_type, val));
done:
  return status;
}

gable_status gi_problem_set_values(gable_context *ctx, gi_problem *p, const void *val)
{
  gable_status status = GABLE_OK;
  gable_off *cursor = NULL;
  if (p->pattern_symmetric) GI_ALLOC(ctx, cursor, p->n);
  if (!p->rows.val) GI_ALLOC(ctx, p->rows.val, p->rows.ptr[p->n]);
  gi_gather_values(&p->from_caller, p->value_type, val, p->rows.val);
  p->values_symmetric = p->pattern_symmetric && gi_gather_transpose_values(&p->rows, cursor, p->mirrored);
  look_at_diagonal(p);
  gi_problem_forget_matching(ctx, p);
  p->measured = 0;
  if (!p->pattern_symmetric) gi_problem_measure(p); /* the arrangement looks at them */
done:
  gi_free(ctx, cursor);
  return status;
}

void gi_problem_measure(gi_problem *p)
{
  const gable_off n = p->n;
  double *columns = p->values_symmetric ? NULL : p->norms + 2 * n;
  if (p->measured) return;
  gi_system_norms(&p->rows, p->norms, p->norms + n, columns, columns ? columns + n : NULL);
  p->measured = 1;
}

int gi_problem_is_dominant(const gi_problem *p)
{
  const double *row_sum = p->norms, *col_sum = p->values_symmetric ? row_sum : row_sum + 2 * (gable_off)p->n;
  int by_rows = 1, by_columns = 1;
  for (gable_idx i = 0; i < p->n && (by_rows || by_columns); i++) {
    double d = 0;
    for (gable_off k = p->rows.ptr[i]; k < p->rows.ptr[i + 1]; k++)
      if (p->rows.idx[k] == i) d = fabs(p->rows.val[k]);
    by_rows &= 2 * d >= row_sum[i] * (1 - 1e-12);
    by_columns &= 2 * d >= col_sum[i] * (1 - 1e-12);
  }
  return by_rows || by_columns;
}

gable_status gi_problem_match(gable_context *ctx, gi_problem *p, const gi_csc *columns)
{
  return p->matching.row_of ? GABLE_OK : gi_match(ctx, columns, &p->matching);
}

void gi_problem_forget_matching(gable_context *ctx, gi_problem *p)
{
  gi_match_release(ctx, &p->matching);
}

/* A symmetric pattern is its own transpose, and only its values change places. */
static gable_status copy_mirrored(gable_context *ctx, const gi_problem *p, gi_csc *out)
{
  gable_status status = GABLE_OK;
  gable_off *cursor = NULL;
  GI_ALLOC(ctx, cursor, p->n);
  GI_TRY(gi_csc_copy(ctx, &p->rows, out));
  if (out->val) gi_gather_transpose_values(out, cursor, 1);
done:
  gi_free(ctx, cursor);
  return status;
}

gable_status gi_problem_take_columns(gable_context *ctx, gi_problem *p, gi_csc *out)
{
  if (p->pattern_symmetric) return copy_mirrored(ctx, p, out);
  if (!p->columns.ptr) return gi_csc_transpose(ctx, &p->rows, out);
  *out = p->columns;
  memset(&p->columns, 0, sizeof p->columns);
  return GABLE_OK;
}

void gi_problem_release(gable_context *ctx, gi_problem *p)
{
  gi_csc_release(ctx, &p->rows);
  gi_csc_release(ctx, &p->columns);
  gi_gather_release(ctx, &p->from_caller);
  gi_problem_forget_matching(ctx, p);
  gi_free(ctx, p->norms);
  memset(p, 0, sizeof *p);
}

gi_system gi_problem_system(const gi_problem *p, int threads)
{
  const gable_off n = p->n;
  const double *rows = p->norms, *columns = p->values_symmetric ? rows : rows + 2 * n;
  return (gi_system){p->n, &p->rows, rows, rows + n, columns, columns + n, threads};
}

double gi_largest(gable_idx n, const double *v)
{
  double top = 0;
  for (gable_idx i = 0; i < n; i++) top = fmax(top, fabs(v[i]));
  return top;
}

gable_off gi_problem_bytes(const gi_problem *p)
{
  if (!p->rows.ptr) return 0;
  gable_off n = p->n, nnz = p->rows.ptr[n];
  return nnz * (p->rows.val ? 12 : 4) + 8 * (n + 1) + 32 * n + gi_gather_bytes(&p->from_caller) +
         (p->matching.row_of ? 20 * n : 0);
}
