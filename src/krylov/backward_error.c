/* backward_error.c: residuals and the weights that they are measured by. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "krylov/refine.h"

static void column_norms(const gi_csc *rows, double *sum, double *top)
{
  const size_t bytes = (size_t)rows->n_cols * sizeof *sum;
  memset(sum, 0, bytes);
  memset(top, 0, bytes);
  for (gable_off k = 0; k < rows->ptr[rows->n_cols]; k++) {
    const double size = fabs(rows->val[k]);
    const gable_idx j = rows->idx[k];
    sum[j] += size;
    top[j] = size > top[j] ? size : top[j];
  }
}

void gi_system_norms(const gi_csc *rows, double *row_sum, double *row_max, double *col_sum, double *col_max)
{
  for (gable_idx i = 0; i < rows->n_cols; i++) {
    double sum = 0, top = 0;
    for (gable_off k = rows->ptr[i]; k < rows->ptr[i + 1]; k++) {
      double size = fabs(rows->val[k]);
      sum += size;
      top = size > top ? size : top;
    }
    row_sum[i] = sum;
    row_max[i] = top;
  }
  if (col_sum) column_norms(rows, col_sum, col_max);
}

/* Threads for a pass over the entries of a: one where there are few. */
static int threads_for(const gi_system *a)
{
  enum { FEW = 100000 };
  return a->rows->ptr[a->n] > FEW ? a->threads : 1;
}

/* Transposed, threads share the columns: each goes through all rows and takes its own range of columns from them, so
 * that the terms of a column are added in the order of the rows, whoever does it. */
typedef struct columns {
  gable_idx begin, end;
} columns;

static columns share_of(const gi_system *a, int number, int threads)
{
  return (columns){(gable_idx)((gable_off)a->n * number / threads),
                   (gable_idx)((gable_off)a->n * (number + 1) / threads)};
}

/* The first entry of row i in column c or after. */
static gable_off first_from(const gi_csc *rows, gable_idx i, gable_idx c)
{
  gable_off low = rows->ptr[i], high = rows->ptr[i + 1];
  if (low == high || rows->idx[low] >= c) return low;
  if (rows->idx[high - 1] < c) return high;
  while (high - low > 1) {
    const gable_off middle = low + (high - low) / 2;
    if (rows->idx[middle] < c)
      low = middle;
    else
      high = middle;
  }
  return high;
}

static void apply_transposed(const gi_csc *rows, columns c, const double *x, double *y)
{
  memset(y + c.begin, 0, (size_t)(c.end - c.begin) * sizeof *y);
  for (gable_idx i = 0; i < rows->n_cols; i++)
    for (gable_off k = first_from(rows, i, c.begin); k < rows->ptr[i + 1] && rows->idx[k] < c.end; k++)
      y[rows->idx[k]] += rows->val[k] * x[i];
}

void gi_system_apply(const gi_system *a, gable_op op, const double *x, double *y)
{
  const gi_csc *rows = a->rows;
  const int threads = threads_for(a);
  if (op == GABLE_OP_N) {
    GI_OMP(parallel for schedule(static) num_threads(threads))
    for (gable_idx i = 0; i < a->n; i++) {
      double sum = 0;
      for (gable_off k = rows->ptr[i]; k < rows->ptr[i + 1]; k++) sum += rows->val[k] * x[rows->idx[k]];
      y[i] = sum;
    }
    return;
  }
  GI_OMP(parallel for schedule(static) num_threads(threads))
  for (int t = 0; t < threads; t++) apply_transposed(rows, share_of(a, t, threads), x, y);
}

/* r = b - A x, w = |A||x|. */
static void residual_plain(const gi_system *a, const double *b, const double *x, double *r, double *w)
{
  const gi_csc *rows = a->rows;
  GI_OMP(parallel for schedule(static) num_threads(threads_for(a)))
  for (gable_idx i = 0; i < a->n; i++) {
    double sum = b[i], size = 0;
    for (gable_off k = rows->ptr[i]; k < rows->ptr[i + 1]; k++) {
      double term = rows->val[k] * x[rows->idx[k]];
      sum -= term;
      size += fabs(term);
    }
    r[i] = sum;
    w[i] = size;
  }
}

/* Both in the columns c. */
static void residual_columns(const gi_csc *rows, columns c, const double *b, const double *x, double *r, double *w)
{
  memcpy(r + c.begin, b + c.begin, (size_t)(c.end - c.begin) * sizeof *r);
  memset(w + c.begin, 0, (size_t)(c.end - c.begin) * sizeof *w);
  for (gable_idx i = 0; i < rows->n_cols; i++)
    for (gable_off k = first_from(rows, i, c.begin); k < rows->ptr[i + 1] && rows->idx[k] < c.end; k++) {
      const double term = rows->val[k] * x[i];
      r[rows->idx[k]] -= term;
      w[rows->idx[k]] += fabs(term);
    }
}

/* r = b - A^T x, w = |A|^T |x|. */
static void residual_transposed(const gi_system *a, const double *b, const double *x, double *r, double *w)
{
  const int threads = threads_for(a);
  GI_OMP(parallel for schedule(static) num_threads(threads))
  for (int t = 0; t < threads; t++) residual_columns(a->rows, share_of(a, t, threads), b, x, r, w);
}

gi_errors gi_backward_error(const gi_system *a, gable_op op, const double *b, const double *x, double *r, double *w)
{
  const double *sum = op == GABLE_OP_N ? a->row_sum : a->col_sum, *top = op == GABLE_OP_N ? a->row_max : a->col_max;
  double norm_x = 0, omega_1 = 0, omega_2 = 0, strict = 0, slack = 1000 * (double)a->n * DBL_EPSILON;
  int finite = 1;
  (op == GABLE_OP_N ? residual_plain : residual_transposed)(a, b, x, r, w);
  for (gable_idx i = 0; i < a->n; i++) {
    norm_x = fmax(norm_x, fabs(x[i]));
    finite &= isfinite(x[i]) && isfinite(r[i]);
  }
  if (!finite) return (gi_errors){INFINITY, INFINITY};
  for (gable_idx i = 0; i < a->n; i++) {
    double size = fabs(r[i]), weight = w[i] + fabs(b[i]);
    if (size > 0) {
      double ratio = size / weight;
      strict = fmax(strict, ratio);
      if (weight > slack * (top[i] * norm_x + fabs(b[i])))
        omega_1 = fmax(omega_1, ratio);
      else
        omega_2 = fmax(omega_2, size / (w[i] + sum[i] * norm_x));
    }
    w[i] = weight;
  }
  return (gi_errors){omega_1 + omega_2, strict};
}
