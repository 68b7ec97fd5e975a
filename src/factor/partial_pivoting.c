/* partial_pivoting.c: L grows by columns.  Neighbours with one structure are a supernode: one list of rows, a dense
 * block of values, one node of the search for what a column needs (J. W. Demmel and others, A supernodal approach to
 * sparse partial pivoting, SIAM J. Matrix Anal. Appl. 20, 1999). */
#include "factor/partial_pivoting.h"

#include <math.h>
#include <string.h>

#include "kernels/dense/dense.h"

enum { MOST_WIDTH = 64 }; /* columns of a supernode */

/* Columns first .. first + width - 1.  Its rows: the pivot rows of its columns, in order, then those below.  Values are
 * by columns, rows apart; on and above the diagonal they are undefined. */
typedef struct super {
  gable_idx first, width, rows;
  gable_off row, value;   /* where its rows and values begin */
  gable_idx search;       /* rows that a search through it follows */
  gable_idx seen, entry;  /* the last column that it reached, and by which of its columns that one is entered */
  gable_idx next_on_path; /* of the search: the next of its rows */
} super;

typedef struct growing {
  gable_idx n;
  const gi_csc *a;
  gable_idx *column_of; /* [n] column whose pivot each row is, or -1 */
  gable_idx *row_of;    /* [n] */
  gable_idx *super_of;  /* [n] by column; -1: it found no pivot */
  super *supers;        /* [n] */
  gable_idx n_super;
  gable_idx *row;         /* [row_room] lists of rows */
  gable_idx *follow;      /* [follow_room] the same, in the order in which a search follows them */
  double *value;          /* [value_room] */
  gable_off rows, values; /* so many are there */
  gable_off row_room, follow_room, value_room;
  double *x;        /* [n] the column in work, zero outside of it */
  double *sum;      /* [n] what it gets from one supernode, zero */
  gable_idx *mark;  /* [n] last column that visited each row without a column */
  gable_idx *below; /* [n] those rows */
  gable_idx *reach; /* [n] supernodes of the column, topological order from top on */
  gable_idx *stack; /* [n] */
  gable_idx n_below, top;
} growing;

static gable_status growing_init(gable_context *ctx, const gi_csc *a, gable_idx *row_of, growing *g)
{
  gable_status status = GABLE_OK;
  const gable_idx n = a->n_cols;
  g->n = n;
  g->a = a;
  g->row_of = row_of;
  GI_ALLOC(ctx, g->column_of, n);
  GI_ALLOC(ctx, g->super_of, n);
  GI_ALLOC(ctx, g->supers, n);
  GI_ALLOC_ZERO(ctx, g->x, n);
  GI_ALLOC_ZERO(ctx, g->sum, n);
  GI_ALLOC(ctx, g->mark, n);
  GI_ALLOC(ctx, g->below, n);
  GI_ALLOC(ctx, g->reach, n);
  GI_ALLOC(ctx, g->stack, n);
  for (gable_idx i = 0; i < n; i++) g->column_of[i] = g->mark[i] = row_of[i] = g->super_of[i] = -1;
done:
  return status;
}

static void growing_release(gable_context *ctx, growing *g)
{
  void *owned[] = {g->column_of, g->super_of, g->supers, g->row,   g->follow, g->value,
                   g->x,         g->sum,      g->mark,   g->below, g->reach,  g->stack};
  for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) gi_free(ctx, owned[k]);
}

/* Column j holds row i: a row below, or the supernode whose pivot it is; that one, when it has not been seen, or -1. */
static inline gable_idx visit(growing *g, gable_idx i, gable_idx j)
{
  const gable_idx k = g->column_of[i];
  if (k < 0) {
    if (g->mark[i] != j) g->below[g->n_below++] = i;
    g->mark[i] = j;
    return -1;
  }
  super *s = g->supers + g->super_of[k];
  if (s->seen == j) {
    if (k < s->entry) s->entry = k;
    return -1;
  }
  s->seen = j;
  s->entry = k;
  s->next_on_path = 0;
  return g->super_of[k];
}

/* Depth-first search from a supernode that has just been seen. */
static void search(growing *g, gable_idx from, gable_idx j)
{
  gable_idx depth = 0;
  g->stack[0] = from;
  while (depth >= 0) {
    super *s = g->supers + g->stack[depth];
    const gable_idx *follow = g->follow + s->row;
    gable_idx next = -1;
    while (next < 0 && s->next_on_path < s->search) next = visit(g, follow[s->next_on_path++], j);
    if (next >= 0)
      g->stack[++depth] = next;
    else
      g->reach[--g->top] = g->stack[depth--];
  }
}

/* x(row) -= val value; the rows are distinct.  Four at a time, loads before stores. */
static inline void subtract(const gable_idx *row, const double *val, gable_off count, double value, double *x)
{
  gable_off m = 0;
  for (; m + 4 <= count; m += 4) {
    const gable_idx a = row[m], b = row[m + 1], c = row[m + 2], d = row[m + 3];
    const double xa = x[a] - val[m] * value, xb = x[b] - val[m + 1] * value, xc = x[c] - val[m + 2] * value,
                 xd = x[d] - val[m + 3] * value;
    x[a] = xa;
    x[b] = xb;
    x[c] = xc;
    x[d] = xd;
  }
  for (; m < count; m++) x[row[m]] -= val[m] * value;
}

/* x -= what the columns of s from its entry on give, whose own rows of x become zero. */
static void apply(growing *g, const super *s)
{
  double u[MOST_WIDTH], *x = g->x;
  const gable_idx *row = g->row + s->row;
  const gable_idx skipped = s->entry - s->first, count = s->width - skipped;
  const gable_off ld = s->rows;
  const double *l = g->value + s->value + skipped * ld;
  for (gable_idx t = 0; t < count; t++) {
    u[t] = x[row[skipped + t]];
    x[row[skipped + t]] = 0;
  }
  for (gable_idx t = 0; t < count; t++)
    for (gable_idx i = t + 1; i < count; i++) u[i] -= l[t * ld + skipped + i] * u[t];
  const gable_idx m = s->rows - s->width;
  row += s->width;
  l += s->width;
  if (count == 1) {
    if (u[0] != 0) subtract(row, l, m, u[0], x);
    return;
  }
  double *sum = g->sum; /* the rows are in no order, so that the product cannot go to them at once */
  gik_multiply_d(m, 1, count, l, ld, u, 1, 1, sum, m, NULL, NULL);
  for (gable_idx i = 0; i < m; i++) {
    x[row[i]] += sum[i];
    sum[i] = 0;
  }
}

/* x = L^-1 a(:, j) on the rows below. */
static void eliminate(growing *g, gable_idx j)
{
  const gi_csc *a = g->a;
  g->top = g->n;
  g->n_below = 0;
  for (gable_off k = a->ptr[j]; k < a->ptr[j + 1]; k++) {
    const gable_idx s = visit(g, a->idx[k], j);
    if (s >= 0) search(g, s, j);
  }
  for (gable_off k = a->ptr[j]; k < a->ptr[j + 1]; k++) g->x[a->idx[k]] = a->val[k];
  for (gable_idx p = g->top; p < g->n; p++) apply(g, g->supers + g->reach[p]);
}

static gable_idx choose_pivot(const growing *g, gable_idx j, double threshold)
{
  gable_idx best = -1;
  double largest = 0;
  for (gable_idx p = 0; p < g->n_below; p++) {
    const gable_idx i = g->below[p];
    if (!(fabs(g->x[i]) > largest)) continue;
    best = i;
    largest = fabs(g->x[i]);
  }
  if (g->column_of[j] < 0 && g->mark[j] == j && largest > 0 && fabs(g->x[j]) >= threshold * largest) best = j;
  return best;
}

/* The supernode that column j continues, with the rows that are left of it and no others; or -1. */
static gable_idx continued(const growing *g, gable_idx j)
{
  const gable_idx at = j > 0 ? g->super_of[j - 1] : -1;
  const super *s = g->supers + at;
  return at >= 0 && s->seen == j && s->width < MOST_WIDTH && g->n_below == s->rows - s->width ? at : -1;
}

/* The pivot row changes places with the first row below. */
static void raise_pivot(growing *g, const super *s, gable_idx pivot)
{
  gable_idx *row = g->row + s->row, at = s->width;
  while (row[at] != pivot) at++;
  row[at] = row[s->width];
  row[s->width] = pivot;
  for (gable_idx t = 0; t < s->width; t++) {
    double *l = g->value + s->value + (gable_off)t * s->rows;
    const double held = l[at];
    l[at] = l[s->width];
    l[s->width] = held;
  }
}

/* A supernode of no columns with the rows below. */
static gable_status begin_super(gable_context *ctx, growing *g, gable_idx j, gable_idx *out)
{
  gable_status status = GABLE_OK;
  const gable_idx count = g->n_below;
  GI_RESERVE(ctx, g->row, g->rows, g->rows + count, g->row_room, "pivoting");
  GI_RESERVE(ctx, g->follow, g->rows, g->rows + count, g->follow_room, "pivoting");
  g->supers[g->n_super] =
      (super){.first = j, .rows = count, .row = g->rows, .value = g->values, .search = count, .seen = j, .entry = j};
  if (count) {
    memcpy(g->row + g->rows, g->below, (size_t)count * sizeof *g->row);
    memcpy(g->follow + g->rows, g->below, (size_t)count * sizeof *g->row);
  }
  g->rows += count;
  *out = g->n_super++;
done:
  return status;
}

/* Column j of L; zeros, too: pruning counts on the structure. */
static gable_status store_column(gable_context *ctx, growing *g, gable_idx j, gable_idx pivot)
{
  gable_status status = GABLE_OK;
  if (pivot >= 0) {
    gable_idx at = continued(g, j);
    if (at < 0) GI_TRY(begin_super(ctx, g, j, &at));
    super *s = g->supers + at;
    GI_RESERVE(ctx, g->value, g->values, g->values + s->rows, g->value_room, "pivoting");
    raise_pivot(g, s, pivot);
    double *l = g->value + g->values;
    const gable_idx *row = g->row + s->row;
    for (gable_idx i = ++s->width; i < s->rows; i++) l[i] = g->x[row[i]] / g->x[pivot];
    g->values += s->rows;
    g->super_of[j] = at;
    g->column_of[pivot] = j;
  }
  g->row_of[j] = pivot;
  for (gable_idx p = 0; p < g->n_below; p++) g->x[g->below[p]] = 0;
done:
  return status;
}

/* Symmetric pruning (Eisenstat and Liu, 1992): once U has an entry (k, j) and column k of L the pivot row of j,
 * searches through k need follow only the rows that are pivots by now.  They come first then. */
static void prune(growing *g, gable_idx j, gable_idx pivot)
{
  for (gable_idx p = g->top; p < g->n; p++) {
    super *s = g->supers + g->reach[p];
    if (g->reach[p] == g->super_of[j] || s->search < s->rows) continue;
    gable_idx *follow = g->follow + s->row, low = 0, high = s->rows;
    int holds = 0;
    for (gable_idx m = 0; m < s->rows && !holds; m++) holds = follow[m] == pivot;
    if (!holds) continue;
    while (low < high) {
      const gable_idx i = follow[low];
      if (g->column_of[i] >= 0) {
        low++;
        continue;
      }
      follow[low] = follow[--high];
      follow[high] = i;
    }
    s->search = low;
  }
}

/* Columns that found nothing take the rows that nobody took. */
static void pair_leftovers(growing *g)
{
  gable_idx row = 0;
  for (gable_idx j = 0; j < g->n; j++) {
    if (g->row_of[j] >= 0) continue;
    while (g->column_of[row] >= 0) row++;
    g->row_of[j] = row++;
  }
}

gable_status gi_partial_pivoting(gable_context *ctx, const gi_csc *a, double threshold, gable_idx *row_of)
{
  gable_status status = GABLE_OK;
  growing g = {0};
  GI_TRY(growing_init(ctx, a, row_of, &g));
  for (gable_idx j = 0; j < g.n; j++) {
    if (j % 1024 == 0) GI_TRY(gi_progress(ctx, "pivoting", (double)j / (double)g.n));
    eliminate(&g, j);
    const gable_idx pivot = choose_pivot(&g, j, threshold);
    GI_TRY(store_column(ctx, &g, j, pivot));
    if (pivot >= 0) prune(&g, j, pivot);
  }
  pair_leftovers(&g);
done:
  growing_release(ctx, &g);
  return status;
}
