/* backward_error.c: residuals and the weights that they are measured by. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/portable.h"
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

/* What the rows of one column have shown so far. */
typedef struct tally {
  double omega_1, omega_2, strict;
  int finite; /* 0: some x or r is not */
} tally;

static const tally nothing = {0, 0, 0, 1};

static inline double larger(double a, double b)
{
  return a > b ? a : b;
}

/* What a row is measured against: its entries, the column's norm of x. */
typedef struct measure {
  const double *sum, *top; /* [n] */
  double slack;
} measure;

static measure measure_of(const gi_system *a, gable_op op)
{
  const double slack = 1000 * (double)a->n * DBL_EPSILON;
  return op == GABLE_OP_N ? (measure){a->row_sum, a->row_max, slack} : (measure){a->col_sum, a->col_max, slack};
}

/* Row i: its residual r, w = (|A||x|)_i, b_i. */
static inline void judge_row(const measure *m, gable_idx i, double r, double w, double b, double norm_x, tally *t)
{
  const double size = fabs(r), of_b = fabs(b), weight = w + of_b, ratio = size > 0 ? size / weight : 0;
  const int heavy = weight > m->slack * (m->top[i] * norm_x + of_b);
  t->finite &= size <= DBL_MAX;
  t->strict = larger(t->strict, ratio);
  t->omega_1 = larger(t->omega_1, heavy ? ratio : 0);
  if (!heavy && size > 0) t->omega_2 = larger(t->omega_2, size / (w + m->sum[i] * norm_x));
}

static gi_errors errors_of(const tally *t)
{
  return t->finite ? (gi_errors){t->omega_1 + t->omega_2, t->strict} : (gi_errors){INFINITY, INFINITY};
}

enum { TOGETHER = GI_ERROR_COLUMNS };

/* A number for each of four columns, or of four rows of one.  Not an argument by value: how it is handed over depends
 * on the instruction set. */
typedef double quad __attribute__((vector_size(8 * TOGETHER), aligned(8), may_alias));
typedef int64_t quad_bits __attribute__((vector_size(8 * TOGETHER), aligned(8), may_alias));

static const quad_bits no_signs = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
static const quad largest_numbers = {DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX};

#define SIZE_OF(v) ((quad)((quad_bits)(v)&no_signs))
#define WHERE(bits, v) ((quad)((bits) & (quad_bits)(v)))
#define LARGER(a, b) ((quad)(((quad_bits)((a) > (b)) & (quad_bits)(a)) | (~(quad_bits)((a) > (b)) & (quad_bits)(b))))
#define LOAD(v, i) ((quad){(v)->column[0][i], (v)->column[1][i], (v)->column[2][i], (v)->column[3][i]})

/* judge_row for four numbers each: |r|, |A||x|, the weight |A||x| + |b|, the bar of heavy rows, and the sum of a row's
 * entries times ||x||. */
#define JUDGE(own, size, of_x, weight, bar, beyond)                                                                    \
  do {                                                                                                                 \
    const quad_bits wrong = (quad_bits)((size) > (quad){0}), heavy = (quad_bits)((weight) > (bar));                    \
    const quad_bits light = wrong & ~heavy;                                                                            \
    const quad ratio = WHERE(wrong, (size) / (weight)), of_heavy = WHERE(heavy, ratio);                                \
    (own)->finite &= (quad_bits)((size) <= largest_numbers);                                                           \
    (own)->strict = LARGER((own)->strict, ratio);                                                                      \
    (own)->omega_1 = LARGER((own)->omega_1, of_heavy);                                                                 \
    if (light[0] | light[1] | light[2] | light[3]) {                                                                   \
      const quad other = WHERE(light, (size) / ((of_x) + (beyond)));                                                   \
      (own)->omega_2 = LARGER((own)->omega_2, other);                                                                  \
    }                                                                                                                  \
  } while (0)

/* ||x||_inf; infinite where an entry is not finite. */
GI_CLONES static double norm_of(gable_idx n, const double *x)
{
  quad tops = {0};
  quad_bits finite = {-1, -1, -1, -1};
  double top = 0;
  int fine = 1;
  gable_idx i = 0;
  for (; i + TOGETHER <= n; i += TOGETHER) {
    const quad size = SIZE_OF(*(const quad *)(x + i));
    tops = LARGER(size, tops);
    finite &= (quad_bits)(size <= largest_numbers);
  }
  for (int c = 0; c < TOGETHER; c++) {
    top = larger(top, tops[c]);
    fine &= finite[c] != 0;
  }
  for (; i < n; i++) {
    top = larger(top, fabs(x[i]));
    fine &= fabs(x[i]) <= DBL_MAX;
  }
  return fine ? top : INFINITY;
}

/* What the rows of the columns, or every fourth row of one, have shown so far. */
typedef struct tally_block {
  quad omega_1, omega_2, strict;
  quad_bits finite; /* -1 or 0 */
} tally_block;

/* Maxima: in which order they come does not matter. */
static void add_lane(const tally_block *from, int c, tally *to)
{
  to->omega_1 = larger(to->omega_1, from->omega_1[c]);
  to->omega_2 = larger(to->omega_2, from->omega_2[c]);
  to->strict = larger(to->strict, from->strict[c]);
  to->finite &= from->finite[c] != 0;
}

/* judge_row for all rows of one column; w becomes the weight, |A||x| + |b|. */
GI_CLONES static void judge_column(const measure *m, gable_idx n, const double *b, const double *r, double *w,
                                   double norm_x, tally *t)
{
  tally_block own = {.finite = {-1, -1, -1, -1}};
  gable_idx i = 0;
  for (; i + TOGETHER <= n; i += TOGETHER) {
    const quad top = *(const quad *)(m->top + i), sum = *(const quad *)(m->sum + i);
    const quad size = SIZE_OF(*(const quad *)(r + i)), of_b = SIZE_OF(*(const quad *)(b + i));
    const quad of_x = *(const quad *)(w + i), weight = of_x + of_b;
    JUDGE(&own, size, of_x, weight, m->slack * (top * norm_x + of_b), sum * norm_x);
    *(quad *)(w + i) = weight;
  }
  for (int c = 0; c < TOGETHER; c++) add_lane(&own, c, t);
  for (; i < n; i++) {
    judge_row(m, i, r[i], w[i], b[i], norm_x, t);
    w[i] += fabs(b[i]);
  }
}

gi_errors gi_backward_error(const gi_system *a, gable_op op, const double *b, const double *x, double *r, double *w)
{
  const measure m = measure_of(a, op);
  const double norm_x = norm_of(a->n, x);
  tally t = nothing;
  (op == GABLE_OP_N ? residual_plain : residual_transposed)(a, b, x, r, w);
  t.finite = norm_x <= DBL_MAX;
  judge_column(&m, a->n, b, r, w, norm_x, &t);
  return errors_of(&t);
}

/* Up to TOGETHER columns; the last one stands for those that are not there. */
typedef struct block {
  const double *column[TOGETHER];
} block;

static block block_of(gable_idx count, const double *v, gable_off ld)
{
  block out;
  for (gable_idx c = 0; c < TOGETHER; c++) out.column[c] = v + (c < count ? c : count - 1) * ld;
  return out;
}

/* norm [TOGETHER]: norm_of of each column. */
GI_CLONES static void interleave(gable_idx n, const block *v, double *out, double *norm)
{
  const block from = *v; /* which no store to out can change */
  quad *to = (quad *)out, top = {0};
  quad_bits finite = {-1, -1, -1, -1};
  for (gable_idx i = 0; i < n; i++) {
    const quad entries = LOAD(&from, i), size = SIZE_OF(entries);
    to[i] = entries;
    top = LARGER(size, top);
    finite &= (quad_bits)(size <= largest_numbers);
  }
  for (int c = 0; c < TOGETHER; c++) norm[c] = finite[c] ? top[c] : INFINITY;
}

/* residual_columns for a block; r holds b, w zeros. */
GI_CLONES static void residual_block(const gi_csc *rows, const columns *part, const block *x, double *r, double *w)
{
  const block from = *x;
  for (gable_idx i = 0; i < rows->n_cols; i++) {
    const quad xi = LOAD(&from, i);
    for (gable_off k = first_from(rows, i, part->begin); k < rows->ptr[i + 1] && rows->idx[k] < part->end; k++) {
      const quad term = rows->val[k] * xi;
      ((quad *)r)[rows->idx[k]] -= term;
      ((quad *)w)[rows->idx[k]] += SIZE_OF(term);
    }
  }
}

enum { CHUNK = 128 }; /* rows whose residuals stay in the first cache until they are judged */

/* judge_row for rows begin .. end-1 of a block; r and w of the first of them first. */
static GI_INLINE void judge_chunk(const measure *m, gable_idx begin, gable_idx end, const quad *r, const quad *w,
                                  const block *b, const quad *norm_x, tally_block *t)
{
  tally_block own = *t;
  for (gable_idx i = begin; i < end; i++, r++, w++) {
    const quad size = SIZE_OF(*r), bi = LOAD(b, i), of_b = SIZE_OF(bi), weight = *w + of_b;
    JUDGE(&own, size, *w, weight, m->slack * (m->top[i] * *norm_x + of_b), m->sum[i] * *norm_x);
  }
  *t = own;
}

/* The rows of part of b - A x for a block: x interleaved. */
GI_CLONES static void judge_rows(const gi_csc *rows, const measure *m, const columns *part, const block *b,
                                 const double *x, const double *norm_x, tally_block *t)
{
  const block of_b = *b;
  const quad norms = *(const quad *)norm_x, *xs = (const quad *)x;
  quad r[CHUNK], w[CHUNK];
  for (gable_idx begin = part->begin; begin < part->end; begin += CHUNK) {
    const gable_idx end = part->end - begin < CHUNK ? part->end : begin + CHUNK;
    for (gable_idx i = begin; i < end; i++) {
      quad sum = LOAD(&of_b, i), size = {0};
      for (gable_off k = rows->ptr[i]; k < rows->ptr[i + 1]; k++) {
        const quad term = rows->val[k] * xs[rows->idx[k]];
        sum -= term;
        size += SIZE_OF(term);
      }
      r[i - begin] = sum;
      w[i - begin] = size;
    }
    judge_chunk(m, begin, end, r, w, &of_b, &norms, t);
  }
}

/* The same for A^T, where the residual is there. */
GI_CLONES static void judge_residual(const measure *m, const columns *part, const block *b, const double *r,
                                     const double *w, const double *norm_x, tally_block *t)
{
  const block of_b = *b;
  const quad norms = *(const quad *)norm_x;
  judge_chunk(m, part->begin, part->end, (const quad *)r + part->begin, (const quad *)w + part->begin, &of_b, &norms,
              t);
}

void gi_backward_errors(const gi_system *a, gable_op op, gable_idx count, const double *b, gable_off ldb,
                        const double *x, gable_off ldx, double *scratch, double *more, gi_errors *errors)
{
  const measure m = measure_of(a, op);
  const block of_b = block_of(count, b, ldb), of_x = block_of(count, x, ldx);
  const int threads = threads_for(a);
  double norm_x[TOGETHER];
  tally all[TOGETHER];
  interleave(a->n, op == GABLE_OP_N ? &of_x : &of_b, scratch, norm_x);
  for (int c = 0; c < TOGETHER; c++) {
    if (op != GABLE_OP_N) norm_x[c] = c < count ? norm_of(a->n, of_x.column[c]) : norm_x[count - 1];
    all[c] = nothing;
    all[c].finite = norm_x[c] <= DBL_MAX;
  }
  if (op != GABLE_OP_N) memset(more, 0, (size_t)a->n * TOGETHER * sizeof *more);
  GI_OMP(parallel for schedule(static) num_threads(threads))
  for (int k = 0; k < threads; k++) {
    const columns part = share_of(a, k, threads);
    tally_block own = {.finite = {-1, -1, -1, -1}};
    if (op == GABLE_OP_N) {
      judge_rows(a->rows, &m, &part, &of_b, scratch, norm_x, &own);
    } else {
      residual_block(a->rows, &part, &of_x, scratch, more);
      judge_residual(&m, &part, &of_b, scratch, more, norm_x, &own);
    }
    GI_OMP(critical(gable_backward_errors))
    for (int c = 0; c < TOGETHER; c++) add_lane(&own, c, &all[c]);
  }
  for (gable_idx c = 0; c < count; c++) errors[c] = errors_of(&all[c]);
}
