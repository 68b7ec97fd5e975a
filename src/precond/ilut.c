/* ilut.c: ILUT, row by row.  The row is dense; its columns left of the diagonal wait in a heap, for fill comes in any
 * order and elimination wants them from left to right. */
#include <math.h>
#include <stdlib.h>

#include "base/index_heap.h"
#include "base/pulse.h"
#include "precond/ilu_fill.h"

typedef struct entry {
  gable_idx column;
  double value;
} entry;

typedef struct numeric {
  gable_context *ctx;
  double *row;             /* [n] row i; 0 outside of it */
  unsigned char *present;  /* [n] 1: the column is in the row */
  gable_idx *heap, *right; /* [n] columns left of the diagonal that are not eliminated; those right of it */
  gable_idx in_heap, n_right;
  entry *left, *kept; /* [n] of L, finished; of U, to choose from */
  gable_idx n_left, n_kept;
  gi_csc *out;
  gable_off capacity;
  gable_off *diagonal; /* [n] place of the pivot of each row */
} numeric;

/* row[j] += value, in row i. */
static void add(numeric *x, gable_idx i, gable_idx j, double value)
{
  if (!x->present[j]) {
    x->present[j] = 1;
    if (j < i) gi_heap_push(x->heap, &x->in_heap, j);
    if (j > i) x->right[x->n_right++] = j;
  }
  x->row[j] += value;
}

static double take(numeric *x, gable_idx j)
{
  const double value = x->row[j];
  x->row[j] = 0;
  x->present[j] = 0;
  return value;
}

/* Eliminates the columns left of the diagonal; what is below least is dropped, so NaN stays. */
static void eliminate(numeric *x, gable_idx i, double least)
{
  const gi_csc *u = x->out;
  while (x->in_heap) {
    const gable_idx k = gi_heap_pop(x->heap, &x->in_heap);
    const double factor = take(x, k) / u->val[x->diagonal[k]];
    if (fabs(factor) < least) continue;
    x->left[x->n_left++] = (entry){k, factor};
    for (gable_off q = x->diagonal[k] + 1; q < u->ptr[k + 1]; q++) add(x, i, u->idx[q], -factor * u->val[q]);
  }
}

static int by_size(const void *a, const void *b)
{
  const entry *x = a, *y = b;
  if (fabs(x->value) != fabs(y->value)) return fabs(x->value) > fabs(y->value) ? -1 : 1;
  return x->column < y->column ? -1 : x->column > y->column;
}

static int by_column(const void *a, const void *b)
{
  const entry *x = a, *y = b;
  return x->column < y->column ? -1 : x->column > y->column;
}

/* The most largest of count entries, by column; returns how many there are. */
static gable_idx choose(entry *e, gable_idx count, gable_idx most)
{
  if (count > most) {
    qsort(e, (size_t)count, sizeof *e, by_size);
    count = most;
  }
  qsort(e, (size_t)count, sizeof *e, by_column);
  return count;
}

static gable_status reserve(numeric *x, gable_off count)
{
  gable_status status = GABLE_OK;
  const gable_off more = count > 2 * x->capacity ? count : 2 * x->capacity;
  void *larger;
  if (count <= x->capacity) goto done;
  larger = gi_grow(x->ctx, x->out->idx, x->capacity, more, sizeof *x->out->idx);
  GI_REQUIRE(larger, GABLE_ERR_MEMORY, "out of memory: %.1f MB for the columns of ILUT", 4e-6 * (double)more);
  x->out->idx = larger;
  larger = gi_grow(x->ctx, x->out->val, x->capacity, more, sizeof *x->out->val);
  GI_REQUIRE(larger, GABLE_ERR_MEMORY, "out of memory: %.1f MB for the values of ILUT", 8e-6 * (double)more);
  x->out->val = larger;
  x->capacity = more;
done:
  return status;
}

static void append(gi_csc *out, gable_off *q, const entry *e, gable_idx count)
{
  for (gable_idx k = 0; k < count; k++) {
    out->idx[*q] = e[k].column;
    out->val[(*q)++] = e[k].value;
  }
}

static gable_status check_finite(const entry *e, gable_idx count, gable_idx i)
{
  gable_status status = GABLE_OK;
  for (gable_idx k = 0; k < count; k++)
    GI_REQUIRE(isfinite(e[k].value), GABLE_ERR_NOT_FINITE,
               "ILUT: the factors have %g in row %d, column %d (counted from 0)", e[k].value, i, e[k].column);
done:
  return status;
}

static gable_status end_row(numeric *x, gable_idx i, double least, gable_idx row_fill)
{
  gable_status status = GABLE_OK;
  const double pivot = take(x, i);
  x->n_kept = 0;
  for (gable_idx k = 0; k < x->n_right; k++) {
    const gable_idx j = x->right[k];
    const double value = take(x, j);
    if (!(fabs(value) < least)) x->kept[x->n_kept++] = (entry){j, value};
  }
  GI_REQUIRE(isfinite(pivot) && isfinite(1 / pivot), isfinite(pivot) ? GABLE_ERR_SINGULAR : GABLE_ERR_NOT_FINITE,
             "ILUT: the pivot of row %d (counted from 0) is %g", i, pivot);
  GI_TRY(check_finite(x->left, x->n_left, i));
  GI_TRY(check_finite(x->kept, x->n_kept, i));
  x->n_left = choose(x->left, x->n_left, row_fill);
  x->n_kept = choose(x->kept, x->n_kept, row_fill);
  gable_off q = x->out->ptr[i];
  GI_TRY(reserve(x, q + x->n_left + x->n_kept + 1));
  append(x->out, &q, x->left, x->n_left);
  x->diagonal[i] = q;
  append(x->out, &q, &(entry){i, pivot}, 1);
  append(x->out, &q, x->kept, x->n_kept);
  x->out->ptr[i + 1] = q;
done:
  return status;
}

static double norm_of_row(const gi_csc *a, gable_idx i)
{
  double largest = 0, sum = 0;
  for (gable_off p = a->ptr[i]; p < a->ptr[i + 1]; p++) largest = fmax(largest, fabs(a->val[p]));
  if (!(largest > 0) || isinf(largest)) return largest;
  for (gable_off p = a->ptr[i]; p < a->ptr[i + 1]; p++) sum += a->val[p] / largest * (a->val[p] / largest);
  return largest * sqrt(sum);
}

gable_status gi_ilut(gable_context *ctx, const gi_csc *a, double drop, gable_idx row_fill, gi_csc *out)
{
  gable_status status = GABLE_OK;
  const gable_idx n = a->n_cols;
  gi_pulse pulse = gi_pulse_begin(ctx, "ILUT");
  numeric x = {.ctx = ctx, .out = out};
  out->n_rows = out->n_cols = n;
  GI_ALLOC_ZERO(ctx, out->ptr, (gable_off)n + 1);
  GI_ALLOC_ZERO(ctx, x.row, n);
  GI_ALLOC_ZERO(ctx, x.present, n);
  GI_ALLOC(ctx, x.heap, n + 1);
  GI_ALLOC(ctx, x.right, n);
  GI_ALLOC(ctx, x.left, n);
  GI_ALLOC(ctx, x.kept, n);
  GI_ALLOC(ctx, x.diagonal, n);
  GI_TRY(reserve(&x, a->ptr[n] + n + 1));
  for (gable_idx i = 0; i < n; i++) {
    const double least = drop * norm_of_row(a, i);
    if (i % GI_ROWS_A_LOOK == 0) GI_TRY(gi_pulse_tell(&pulse, (double)i / n));
    x.n_left = x.n_right = 0;
    for (gable_off p = a->ptr[i]; p < a->ptr[i + 1]; p++) add(&x, i, a->idx[p], a->val[p]);
    eliminate(&x, i, least);
    GI_TRY(end_row(&x, i, least, row_fill));
  }
  GI_TRY(gi_csc_trim(ctx, out));
done:
  GI_FREE(ctx, x.row, x.present, x.heap, x.right, x.left, x.kept, x.diagonal);
  return status;
}
