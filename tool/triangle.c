/* triangle.c: see triangle.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "triangle.h"

static int inside(const triangle *t, gable_idx i, gable_idx j)
{
  return t->uplo == GABLE_PART_LOWER ? i >= j : i <= j;
}

/* The value of entry p as the solve sees it. */
static double value(const triangle *t, gable_off p)
{
  return t->single ? (double)t->single[p] : ((const double *)t->view.val)[p];
}

/* Of a diagonal that is not the matrix's own. */
static double diagonal_value(const triangle *t, gable_idx i)
{
  if (t->diag == GABLE_DIAG_UNIT) return 1;
  return t->value_type == GABLE_TYPE_S ? (double)((const float *)t->diagonal)[i] : ((const double *)t->diagonal)[i];
}

static gable_status make_dominant(triangle *t)
{
  const gable_idx n = t->view.n_rows;
  const int64_t *ptr = t->view.ptr;
  double *sum = calloc((size_t)n + 1, sizeof *sum);
  t->diagonal = calloc((size_t)n + 1, sizeof(double));
  if (!sum || !t->diagonal) {
    free(sum);
    return GABLE_ERR_MEMORY;
  }
  for (gable_idx j = 0; j < n; j++)
    for (int64_t p = ptr[j]; p < ptr[j + 1]; p++) {
      const gable_idx i = t->view.idx[p];
      if (i == j || !inside(t, i, j)) continue;
      sum[i] += fabs(value(t, p));
      sum[j] += fabs(value(t, p));
    }
  for (gable_idx i = 0; i < n; i++) {
    double d = sum[i] > 0 ? 1.1 * sum[i] : 1.0;
    if (t->value_type == GABLE_TYPE_S)
      ((float *)t->diagonal)[i] = (float)d;
    else
      ((double *)t->diagonal)[i] = d;
  }
  free(sum);
  return GABLE_OK;
}

/* A finite entry of the triangle that no float holds is named. */
static gable_status make_single(triangle *t, const char *path)
{
  const int64_t *ptr = t->view.ptr;
  const double *val = t->view.val;
  t->single = malloc(((size_t)ptr[t->view.n_cols] + 1) * sizeof *t->single);
  if (!t->single) return GABLE_ERR_MEMORY;
  for (gable_idx j = 0; j < t->view.n_cols; j++)
    for (int64_t p = ptr[j]; p < ptr[j + 1]; p++) {
      const gable_idx i = t->view.idx[p];
      t->single[p] = (float)val[p];
      const int used = inside(t, i, j) && (i != j || t->diag == GABLE_DIAG_STORED);
      if (isfinite(t->single[p]) || !isfinite(val[p]) || !used) continue;
      snprintf(t->wrong, sizeof t->wrong,
               "%.200s: the entry in row %d, column %d is %g, which overflows float: take --type d", session_name(path),
               (int)i + 1, (int)j + 1, val[p]);
      return GABLE_ERR_NOT_FINITE;
    }
  return GABLE_OK;
}

gable_status triangle_open(session *s, const char *path, int strict, gable_part uplo, gable_type value_type,
                           gable_diag diag, triangle *out)
{
  memset(out, 0, sizeof *out);
  out->uplo = uplo;
  out->diag = diag;
  out->value_type = value_type;
  out->view = (gable_matrix_view)GABLE_MATRIX_VIEW_INIT;
  gable_status status = session_read_whole(s, path, strict, &out->matrix, &out->view, &out->duplicates);
  if (status) return status;
  out->nnz = out->view.n_rows;
  for (gable_idx j = 0; j < out->view.n_cols; j++)
    for (int64_t p = ((const int64_t *)out->view.ptr)[j]; p < ((const int64_t *)out->view.ptr)[j + 1]; p++)
      out->nnz += out->view.idx[p] != j && inside(out, out->view.idx[p], j);
  if (value_type == GABLE_TYPE_S) status = make_single(out, path);
  out->view.value_type = value_type;
  if (!status && diag == GABLE_DIAG_SEPARATE && out->view.n_rows == out->view.n_cols) status = make_dominant(out);
  return status;
}

void triangle_close(triangle *t)
{
  gable_matrix_destroy(&t->matrix);
  free(t->single);
  free(t->diagonal);
  memset(t, 0, sizeof *t);
}

gable_status triangle_update(const triangle *t, gable_trisolve *plan)
{
  const void *val = t->single ? (const void *)t->single : t->view.val;
  return t->diagonal ? gable_trisolve_update_with_diagonal(plan, val, t->diagonal) : gable_trisolve_update(plan, val);
}

static size_t place(const gable_vectors_view *v, gable_idx i, gable_idx j)
{
  return (size_t)(v->major == GABLE_MAJOR_COL ? i + j * v->ld : i * v->ld + j);
}

static double entry(const gable_vectors_view *v, gable_idx i, gable_idx j)
{
  return v->type == GABLE_TYPE_S ? (double)((const float *)v->data)[place(v, i, j)]
                                 : ((double *)v->data)[place(v, i, j)];
}

void triangle_fill(gable_vectors_view *b, long round)
{
  uint64_t state = 0x9E3779B97F4A7C15u * (uint64_t)(round + 1);
  for (gable_idx j = 0; j < b->count; j++)
    for (gable_idx i = 0; i < b->n; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      double v = (double)(int32_t)(state >> 32) * 0x1p-31;
      if (b->type == GABLE_TYPE_S)
        ((float *)b->data)[place(b, i, j)] = (float)v;
      else
        ((double *)b->data)[place(b, i, j)] = v;
    }
}

typedef struct row_sum {
  long double residual, size;
  gable_off entries;
} row_sum;

/* The worst ratio of one right-hand side; sum is scratch [n]. */
static double column_ratio(const triangle *t, gable_op op, const gable_vectors_view *b, const gable_vectors_view *x,
                           gable_idx rhs, row_sum *sum)
{
  const gable_idx n = t->view.n_rows;
  const double eps = b->type == GABLE_TYPE_S ? 0x1p-24 : 0x1p-53;
  double worst = 0;
  for (gable_idx i = 0; i < n; i++) {
    double r = entry(b, i, rhs);
    sum[i] = (row_sum){r, fabs(r), 0};
  }
  for (gable_idx j = 0; j < n; j++)
    for (int64_t p = ((const int64_t *)t->view.ptr)[j]; p < ((const int64_t *)t->view.ptr)[j + 1]; p++) {
      const gable_idx i = t->view.idx[p];
      if (!inside(t, i, j) || (i == j && t->diag != GABLE_DIAG_STORED)) continue;
      row_sum *s = &sum[op == GABLE_OP_N ? i : j];
      long double term = (long double)value(t, p) * entry(x, op == GABLE_OP_N ? j : i, rhs);
      s->residual -= term;
      s->size += fabsl(term);
      s->entries++;
    }
  for (gable_idx i = 0; i < n; i++) {
    if (t->diag != GABLE_DIAG_STORED) {
      long double term = (long double)diagonal_value(t, i) * entry(x, i, rhs);
      sum[i].residual -= term;
      sum[i].size += fabsl(term);
      sum[i].entries++;
    }
    double r = (double)fabsl(sum[i].residual), bound = 4 * (double)sum[i].entries * eps * (double)sum[i].size;
    if (!(r <= 1e308)) return INFINITY;
    if (r > 0 && r / bound > worst) worst = r / bound;
  }
  return worst;
}

double triangle_bound_ratio(const triangle *t, gable_op op, const gable_vectors_view *b, const gable_vectors_view *x)
{
  double worst = 0;
  row_sum *sum = malloc(((size_t)t->view.n_rows + 1) * sizeof *sum);
  if (!sum) return INFINITY;
  for (gable_idx j = 0; j < b->count; j++) {
    double ratio = column_ratio(t, op, b, x, j, sum);
    if (!(ratio <= worst)) worst = ratio;
  }
  free(sum);
  return worst;
}
