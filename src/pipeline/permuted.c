#include "pipeline/permuted.h"

#include <math.h>
#include <string.h>

gable_status gi_permuted_init(gable_context *ctx, const gi_problem *p, const gable_idx *row_perm,
                              const gable_idx *col_perm, int lower, gi_permuted *out)
{
  gable_status status = GABLE_OK;
  gable_idx *place = NULL;
  int symmetric;
  GI_ALLOC(ctx, place, p->n);
  for (gable_idx k = 0; k < p->n; k++) place[col_perm[k]] = k;
  const gi_gather_plan by_columns = {&p->rows, row_perm, place, lower};
  GI_TRY(gi_gather_transpose(ctx, &by_columns, &out->columns, &out->from));
  if (lower) goto done;
  if (p->pattern_symmetric && !memcmp(row_perm, col_perm, (size_t)p->n * sizeof *row_perm)) {
    GI_TRY(gi_gather_mirror(ctx, &out->columns, &out->from_columns, &symmetric));
    out->rows = out->columns;
  } else {
    const gi_gather_plan by_rows = {.a = &out->columns};
    GI_TRY(gi_gather_transpose(ctx, &by_rows, &out->rows, &out->from_columns));
  }
done:
  gi_free(ctx, place);
  if (status) gi_permuted_release(ctx, out);
  return status;
}

static int rows_are_columns(const gi_permuted *a)
{
  return a->rows.ptr && a->rows.ptr == a->columns.ptr;
}

void gi_permuted_release(gable_context *ctx, gi_permuted *a)
{
  if (rows_are_columns(a)) {
    a->rows.ptr = NULL;
    a->rows.idx = NULL;
  }
  gi_csc_release(ctx, &a->columns);
  gi_csc_release(ctx, &a->rows);
  gi_gather_release(ctx, &a->from);
  gi_gather_release(ctx, &a->from_columns);
  memset(a, 0, sizeof *a);
}

/* v r c without leaving the exponents on the way when v is extreme; by table, since sizes are in nobody's range to
 * predict. */
static inline double scaled(double v, double r, double c)
{
  const double by[2] = {r < c ? r : c, r < c ? c : r};
  const int small = fabs(v) <= 1;
  return v * by[small] * by[!small];
}

/* Fewer entries than this are filled by one thread. */
enum { MANY = 100000 };

/* columns->val = r_i a_ij c_j; rows, columns [n]: the scales in the numbering of A'. */
static void fill_columns(gi_csc *a, const gi_gather *from, const double *val, const double *rows, const double *columns,
                         int threads)
{
  const uint32_t *small = from->small;
  const gable_idx *idx = a->idx;
  const gable_off *ptr = a->ptr;
  double *GI_RESTRICT out = a->val;
  (void)threads; /* of a build without OpenMP: one */
  GI_OMP(parallel for schedule(static) num_threads(threads) if (threads > 1 && from->count > MANY))
  for (gable_idx j = 0; j < a->n_cols; j++) {
    const double scale = columns[j];
    if (GI_LIKELY(small != NULL)) {
      for (gable_off k = ptr[j]; k < ptr[j + 1]; k++) out[k] = scaled(val[small[k]], rows[idx[k]], scale);
      continue;
    }
    for (gable_off k = ptr[j]; k < ptr[j + 1]; k++) {
      double sign;
      out[k] = scaled(val[gi_gather_from(from, k, &sign)], rows[idx[k]], scale);
    }
  }
}

/* rows->val, entry by entry those of the columns. */
static void copy_to_rows(gi_csc *rows, const gi_gather *from, const double *val, int threads)
{
  const uint32_t *small = from->small;
  double *GI_RESTRICT out = rows->val;
  (void)threads;
  if (!small) {
    gi_gather_values(from, GABLE_TYPE_D, val, out);
    return;
  }
  GI_OMP(parallel for schedule(static) num_threads(threads) if (threads > 1 && from->count > MANY))
  for (gable_off k = 0; k < from->count; k++) out[k] = val[small[k]];
}

gable_status gi_permuted_fill(gable_context *ctx, gi_permuted *a, const gi_problem *p, const gable_idx *row_perm,
                              const gable_idx *col_perm, const double *r, const double *c)
{
  gable_status status = GABLE_OK;
  double *rows = NULL, *columns = NULL;
  GI_ALLOC(ctx, rows, p->n);
  GI_ALLOC(ctx, columns, p->n);
  for (gable_idx k = 0; k < p->n; k++) {
    rows[k] = r[row_perm[k]];
    columns[k] = c[col_perm[k]];
  }
  if (!a->columns.val) GI_ALLOC(ctx, a->columns.val, a->columns.ptr[p->n]);
  fill_columns(&a->columns, &a->from, p->rows.val, rows, columns, ctx->threads);
  if (a->rows.ptr) {
    if (!a->rows.val) GI_ALLOC(ctx, a->rows.val, a->rows.ptr[p->n]);
    copy_to_rows(&a->rows, &a->from_columns, a->columns.val, ctx->threads);
  }
done:
  GI_FREE(ctx, rows, columns);
  return status;
}

void gi_permuted_empty(gable_context *ctx, gi_permuted *a)
{
  GI_FREE(ctx, a->columns.val, a->rows.val);
  a->columns.val = a->rows.val = NULL;
}

gable_off gi_permuted_bytes(const gi_permuted *a)
{
  gable_off bytes = gi_gather_bytes(&a->from) + gi_gather_bytes(&a->from_columns);
  const gi_csc *both[] = {&a->columns, &a->rows};
  for (int k = 0; k < 2; k++) {
    if (!both[k]->ptr) continue;
    const gable_off nnz = both[k]->ptr[both[k]->n_cols];
    if (k == 0 || !rows_are_columns(a)) bytes += 8 * (both[k]->n_cols + 1) + 4 * nnz;
    if (both[k]->val) bytes += 8 * nnz;
  }
  return bytes;
}

gable_off gi_permuted_most_bytes(const gi_problem *p, int lower)
{
  if (!p->rows.ptr) return 0;
  const gable_off n = p->n, nnz = p->rows.ptr[n];
  const gable_off one =
      8 * (n + 1) + 16 * (lower ? nnz / 2 + n : nnz); /* offsets; a place, a source and a value each */
  return lower ? one : 2 * one;
}
