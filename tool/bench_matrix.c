/* bench_matrix.c: see bench_matrix.h. */
#include "bench_matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "twin.h"

void bench_rows_free(bench_rows *r)
{
  free(r->ptr);
  free(r->idx);
  free(r->val);
  memset(r, 0, sizeof *r);
}

void bench_matrix_close(bench_matrix *m)
{
  for (int k = 0; k < 2; k++) {
    bench_rows_free(&m->part[k]);
    bench_rows_free(&m->transposed[k]);
  }
}

static int inside(gable_part part, gable_idx i, gable_idx j)
{
  return part == GABLE_PART_LOWER ? j < i : j > i;
}

static gable_status rows_allocate(bench_rows *r, gable_idx n, gable_off nnz)
{
  if (nnz >= INT32_MAX) return GABLE_ERR_LIMIT;
  r->n = n;
  r->nnz = nnz;
  r->ptr = malloc(((size_t)n + 1) * sizeof *r->ptr);
  r->idx = malloc(((size_t)nnz + 1) * sizeof *r->idx);
  r->val = malloc(((size_t)nnz + 1) * sizeof *r->val);
  return r->ptr && r->idx && r->val ? GABLE_OK : GABLE_ERR_MEMORY;
}

/* One triangle of a matrix given by rows: a view by columns, read as the rows of its transpose. */
static gable_status rows_take(const gable_matrix_view *a, gable_part part, bench_rows *r)
{
  const int64_t *ptr = a->ptr;
  const double *val = a->val;
  gable_off nnz = a->n_cols, q = 0;
  for (gable_idx i = 0; i < a->n_cols; i++)
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) nnz += inside(part, i, a->idx[p]);
  gable_status status = rows_allocate(r, a->n_cols, nnz);
  if (status) return status;
  r->part = part;
  r->ptr[0] = 0;
  for (gable_idx i = 0; i < a->n_cols; i++) {
    const gable_off diagonal = part == GABLE_PART_UPPER ? q++ : -1;
    double d = 1;
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
      if (a->idx[p] == i && val && val[p] != 0 && isfinite(val[p])) d = val[p];
      if (!inside(part, i, a->idx[p])) continue;
      r->idx[q] = a->idx[p];
      r->val[q++] = val ? val[p] : -1;
    }
    const gable_off at = diagonal < 0 ? q++ : diagonal;
    r->idx[at] = i;
    r->val[at] = d;
    r->ptr[i + 1] = (int32_t)q;
  }
  return GABLE_OK;
}

static int32_t diagonal_of(const bench_rows *r, gable_idx i)
{
  return r->part == GABLE_PART_LOWER ? r->ptr[i + 1] - 1 : r->ptr[i];
}

/* Levels, and whether plain substitution overflows: with b = 1, or with any b of such size, where sums may not cancel
 * as they happen to do with that one. */
static gable_status rows_walk(bench_rows *r, int single, int *overflows)
{
  gable_idx *level = malloc(((size_t)r->n + 1) * sizeof *level);
  double *x = malloc(((size_t)r->n + 1) * 2 * sizeof *x), *most = x ? x + r->n + 1 : NULL, worst = 0, worst_of_any = 0;
  gable_status status = level && x ? GABLE_OK : GABLE_ERR_MEMORY;
  for (gable_idx k = 0; k < r->n && !status; k++) {
    const gable_idx i = r->part == GABLE_PART_LOWER ? k : r->n - 1 - k;
    const int32_t d = diagonal_of(r, i);
    double sum = 1, size = 1;
    level[i] = 0;
    for (int32_t p = r->ptr[i]; p < r->ptr[i + 1]; p++) {
      if (p == d) continue;
      const gable_idx j = r->idx[p];
      sum -= r->val[p] * x[j];
      size += fabs(r->val[p]) * most[j];
      if (level[j] >= level[i]) level[i] = level[j] + 1;
    }
    x[i] = sum / r->val[d];
    most[i] = size / fabs(r->val[d]);
    if (!(fabs(x[i]) <= worst)) worst = fabs(x[i]);
    if (!(most[i] <= worst_of_any)) worst_of_any = most[i];
    if (level[i] >= r->levels) r->levels = level[i] + 1;
  }
  *overflows = !(worst < (single ? 1e15 : 1e100) && worst_of_any < (single ? 1e35 : 1e250));
  free(level);
  free(x);
  return status;
}

static void rows_scale(bench_rows *r)
{
  for (gable_idx i = 0; i < r->n; i++) {
    const int32_t d = diagonal_of(r, i);
    double sum = 0;
    for (int32_t p = r->ptr[i]; p < r->ptr[i + 1]; p++)
      if (p != d) sum += fabs(r->val[p]);
    for (int32_t p = r->ptr[i]; p < r->ptr[i + 1] && sum > 0; p++)
      if (p != d) r->val[p] *= 0.9 * fabs(r->val[d]) / sum;
  }
  r->scaled = 1;
}

static void rows_round(bench_rows *r)
{
  for (gable_off p = 0; p < r->nnz; p++) r->val[p] = (float)r->val[p];
}

static gable_status rows_transpose(const bench_rows *r, bench_rows *t)
{
  memset(t, 0, sizeof *t);
  gable_status status = rows_allocate(t, r->n, r->nnz);
  if (status) return status;
  t->part = r->part == GABLE_PART_LOWER ? GABLE_PART_UPPER : GABLE_PART_LOWER;
  t->scaled = r->scaled;
  memset(t->ptr, 0, ((size_t)r->n + 1) * sizeof *t->ptr);
  for (gable_off p = 0; p < r->nnz; p++) t->ptr[r->idx[p] + 1]++;
  for (gable_idx i = 0; i < r->n; i++) t->ptr[i + 1] += t->ptr[i];
  for (gable_idx i = 0; i < r->n; i++)
    for (int32_t p = r->ptr[i]; p < r->ptr[i + 1]; p++) {
      const int32_t at = t->ptr[r->idx[p]]++;
      t->idx[at] = i;
      t->val[at] = r->val[p];
    }
  for (gable_idx i = r->n; i > 0; i--) t->ptr[i] = t->ptr[i - 1];
  t->ptr[0] = 0;
  return GABLE_OK;
}

/* One triangle, and its transpose where that is asked for, scaled where a substitution with either overflows. */
static gable_status rows_finish(const gable_matrix_view *by_rows, gable_part part, const bench_reading *how,
                                bench_rows *r, bench_rows *transposed)
{
  int overflows = 0;
  gable_status status = rows_take(by_rows, part, r);
  if (!status) status = rows_walk(r, how->single, &overflows);
  if (!status && !overflows && how->transpose) {
    status = rows_transpose(r, transposed);
    if (!status) status = rows_walk(transposed, how->single, &overflows);
    if (overflows) bench_rows_free(transposed);
  }
  if (!status && overflows) rows_scale(r);
  if (!status && how->single) rows_round(r);
  if (status || !how->transpose) return status;
  bench_rows_free(transposed);
  return rows_transpose(r, transposed);
}

static gable_status read_or_generate(gable_context *ctx, const char *source, int strict, gable_matrix **out,
                                     char *reason)
{
  struct stat about;
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  reading.strict = strict;
  reading.accept_complex = 0;
  if (stat(source, &about) && strchr(source, ':')) return twin_or_generate(ctx, source, 1, out, reason);
  return gable_matrix_read(ctx, source, &reading, out);
}

static int has_upper(const gable_matrix_view *by_columns)
{
  const int64_t *ptr = by_columns->ptr;
  for (gable_idx j = 0; j < by_columns->n_cols; j++)
    if (ptr[j] < ptr[j + 1] && by_columns->idx[ptr[j]] < j) return 1;
  return 0;
}

/* a, which is square, by columns and by rows; what is stored of a symmetric matrix is its lower triangle, whose columns
 * are the rows of the upper one. */
static gable_status take_both(const gable_matrix *a, const gable_matrix *transposed, const bench_reading *how,
                              bench_matrix *m)
{
  gable_matrix_view columns = GABLE_MATRIX_VIEW_INIT, rows = GABLE_MATRIX_VIEW_INIT;
  gable_status status = gable_matrix_get_view(a, &columns);
  if (!status) status = gable_matrix_get_view(transposed, &rows);
  if (!status) status = rows_finish(&rows, GABLE_PART_LOWER, how, &m->part[0], &m->transposed[0]);
  if (!status)
    status = rows_finish(has_upper(&columns) ? &rows : &columns, GABLE_PART_UPPER, how, &m->part[1], &m->transposed[1]);
  return status;
}

gable_status bench_matrix_open(gable_context *ctx, const char *name, const char *source, const bench_reading *how,
                               bench_matrix *m, char *why, size_t why_bytes)
{
  gable_matrix *a = NULL, *full = NULL, *transposed = NULL;
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  char reason[TWIN_REASON_BYTES] = "";
  memset(m, 0, sizeof *m);
  snprintf(m->name, sizeof m->name, "%s", name);
  gable_status status = read_or_generate(ctx, source, how->strict, &a, reason);
  if (!status) status = gable_matrix_get_info(a, &info);
  m->duplicates = info.duplicates;
  if (!status && !(info.structure == GABLE_STRUCTURE_SYMMETRIC && info.part == GABLE_PART_LOWER)) {
    status = gable_matrix_expand(a, &full);
    gable_matrix_destroy(&a);
    a = full;
  }
  if (!status) status = gable_matrix_transpose(a, &transposed);
  if (status) {
    snprintf(why, why_bytes, "%s", *reason ? reason : gable_last_error());
  } else if (info.n_rows != info.n_cols) {
    status = GABLE_ERR_ARGUMENT;
    snprintf(why, why_bytes, "%s is %d by %d, not square", source, info.n_rows, info.n_cols);
  } else {
    status = take_both(a, transposed, how, m);
    if (status) snprintf(why, why_bytes, "%s: %s", source, gable_status_text(status));
  }
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&transposed);
  if (status) bench_matrix_close(m);
  return status;
}

gable_status bench_matrix_whole(const bench_matrix *m, bench_rows *whole)
{
  const bench_rows *lower = &m->part[0], *upper = &m->part[1];
  const gable_off nnz = lower->nnz + upper->nnz - lower->n;
  gable_off q = 0;
  memset(whole, 0, sizeof *whole);
  gable_status status = rows_allocate(whole, lower->n, nnz);
  for (gable_idx i = 0; i < lower->n && !status; i++) {
    const gable_off left = lower->ptr[i + 1] - lower->ptr[i], right = upper->ptr[i + 1] - upper->ptr[i] - 1;
    whole->ptr[i] = (int32_t)q;
    memcpy(whole->idx + q, lower->idx + lower->ptr[i], (size_t)left * sizeof *whole->idx);
    memcpy(whole->val + q, lower->val + lower->ptr[i], (size_t)left * sizeof *whole->val);
    q += left;
    memcpy(whole->idx + q, upper->idx + upper->ptr[i] + 1, (size_t)right * sizeof *whole->idx);
    memcpy(whole->val + q, upper->val + upper->ptr[i] + 1, (size_t)right * sizeof *whole->val);
    q += right;
  }
  if (status) return status;
  whole->ptr[lower->n] = (int32_t)q;
  whole->levels = lower->levels + upper->levels;
  whole->scaled = lower->scaled || upper->scaled;
  return status;
}
