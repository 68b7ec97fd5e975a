#include "factor/partial_pivoting.h"

#include <math.h>
#include <string.h>

/* L grows by columns: unit diagonal not stored, rows with their numbers in a. */
typedef struct growing {
  gable_idx n;
  const gi_csc *a;
  gable_idx *column_of; /* [n] column whose pivot each row is, or -1 */
  gable_idx *row_of;    /* [n] */
  gable_off *l_ptr;     /* [n+1] */
  gable_idx *l_row;     /* [room] */
  double *l_val;        /* [room] */
  gable_off room;
  double *x;           /* [n] the column in work, zero outside of it */
  gable_idx *mark;     /* [n] last column that visited each row */
  gable_idx *reach;    /* [n] rows of the column, topological order from top on */
  gable_idx *stack;    /* [n] */
  gable_off *position; /* [n] next edge of each row on the stack */
  gable_off *pruned;   /* [n] end of the part of each column of L that the search follows */
} growing;

static gable_status growing_init(gable_context *ctx, const gi_csc *a, gable_idx *row_of, growing *g)
{
  gable_status status = GABLE_OK;
  gable_idx n = a->n_cols;
  g->n = n;
  g->a = a;
  g->row_of = row_of;
  g->room = 4 * a->ptr[n] + n;
  GI_ALLOC(ctx, g->column_of, n);
  GI_ALLOC_ZERO(ctx, g->l_ptr, n + 1);
  GI_ALLOC(ctx, g->l_row, g->room);
  GI_ALLOC(ctx, g->l_val, g->room);
  GI_ALLOC_ZERO(ctx, g->x, n);
  GI_ALLOC(ctx, g->mark, n);
  GI_ALLOC(ctx, g->reach, n);
  GI_ALLOC(ctx, g->stack, n);
  GI_ALLOC(ctx, g->position, n);
  GI_ALLOC(ctx, g->pruned, n);
  for (gable_idx i = 0; i < n; i++) g->column_of[i] = g->mark[i] = row_of[i] = -1;
done:
  return status;
}

static void growing_release(gable_context *ctx, growing *g)
{
  void *owned[] = {g->column_of, g->l_ptr, g->l_row, g->l_val,    g->x,
                   g->mark,      g->reach, g->stack, g->position, g->pruned};
  for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) gi_free(ctx, owned[k]);
}

/* Depth-first search from row over the columns of L whose pivots are reached; returns the new top of reach. */
static gable_idx search(growing *g, gable_idx row, gable_idx column, gable_idx top)
{
  gable_idx depth = 0;
  g->stack[0] = row;
  g->mark[row] = column;
  g->position[row] = g->column_of[row] >= 0 ? g->l_ptr[g->column_of[row]] : 0;
  while (depth >= 0) {
    gable_idx i = g->stack[depth], k = g->column_of[i];
    int deeper = 0;
    if (k >= 0)
      while (g->position[i] < g->pruned[k]) {
        gable_idx next = g->l_row[g->position[i]++];
        if (g->mark[next] == column) continue;
        g->mark[next] = column;
        g->position[next] = g->column_of[next] >= 0 ? g->l_ptr[g->column_of[next]] : 0;
        g->stack[++depth] = next;
        deeper = 1;
        break;
      }
    if (!deeper) {
      g->reach[--top] = i;
      depth--;
    }
  }
  return top;
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

/* x = L^-1 a(:, j) on the rows reach[top..n). */
static gable_idx eliminate(growing *g, gable_idx j)
{
  const gi_csc *a = g->a;
  gable_idx top = g->n;
  for (gable_off k = a->ptr[j]; k < a->ptr[j + 1]; k++)
    if (g->mark[a->idx[k]] != j) top = search(g, a->idx[k], j, top);
  for (gable_off k = a->ptr[j]; k < a->ptr[j + 1]; k++) g->x[a->idx[k]] = a->val[k];
  for (gable_idx p = top; p < g->n; p++) {
    gable_idx i = g->reach[p], k = g->column_of[i];
    double value = g->x[i];
    if (k < 0 || value == 0) continue;
    subtract(g->l_row + g->l_ptr[k], g->l_val + g->l_ptr[k], g->l_ptr[k + 1] - g->l_ptr[k], value, g->x);
  }
  return top;
}

static gable_idx choose_pivot(const growing *g, gable_idx j, gable_idx top, double threshold)
{
  gable_idx best = -1;
  double largest = 0;
  for (gable_idx p = top; p < g->n; p++) {
    gable_idx i = g->reach[p];
    if (g->column_of[i] >= 0 || !(fabs(g->x[i]) > largest)) continue;
    best = i;
    largest = fabs(g->x[i]);
  }
  if (g->column_of[j] < 0 && g->mark[j] == j && largest > 0 && fabs(g->x[j]) >= threshold * largest) best = j;
  return best;
}

static gable_status store_column(gable_context *ctx, growing *g, gable_idx j, gable_idx top, gable_idx pivot)
{
  gable_status status = GABLE_OK;
  gable_off to = g->l_ptr[j], want = to + (g->n - top);
  if (want > g->room) {
    gable_off room = 2 * g->room + g->n;
    gable_idx *row = gi_grow(ctx, g->l_row, to, room, sizeof *row);
    GI_REQUIRE(row, GABLE_ERR_MEMORY, "out of memory: %.1f MB for pivoting", (double)room * 12e-6);
    g->l_row = row;
    double *val = gi_grow(ctx, g->l_val, to, room, sizeof *val);
    GI_REQUIRE(val, GABLE_ERR_MEMORY, "out of memory: %.1f MB for pivoting", (double)room * 12e-6);
    g->l_val = val;
    g->room = room;
  }
  double d = pivot >= 0 ? g->x[pivot] : 1;
  for (gable_idx p = top; p < g->n; p++) {
    gable_idx i = g->reach[p];
    if (pivot >= 0 && i != pivot && g->column_of[i] < 0) { /* zeros too: pruning counts on the structure */
      g->l_row[to] = i;
      g->l_val[to++] = g->x[i] / d;
    }
    g->x[i] = 0;
  }
  g->l_ptr[j + 1] = g->pruned[j] = to;
  g->row_of[j] = pivot;
  if (pivot >= 0) g->column_of[pivot] = j;
done:
  return status;
}

/* Symmetric pruning (Eisenstat and Liu, 1992): once U has an entry (k, j) and column k of L the pivot row of j,
 * searches through k need follow only the rows that are pivots by now.  The column is split so that those come first.
 */
static void prune(growing *g, gable_idx j, gable_idx top, gable_idx pivot)
{
  for (gable_idx p = top; p < g->n; p++) {
    gable_idx k = g->column_of[g->reach[p]];
    if (k < 0 || k == j || g->pruned[k] < g->l_ptr[k + 1]) continue;
    int holds = 0;
    for (gable_off m = g->l_ptr[k]; m < g->l_ptr[k + 1] && !holds; m++) holds = g->l_row[m] == pivot;
    if (!holds) continue;
    gable_off low = g->l_ptr[k], high = g->l_ptr[k + 1];
    while (low < high) {
      if (g->column_of[g->l_row[low]] >= 0) {
        low++;
        continue;
      }
      gable_idx row = g->l_row[--high];
      double val = g->l_val[high];
      g->l_row[high] = g->l_row[low];
      g->l_val[high] = g->l_val[low];
      g->l_row[low] = row;
      g->l_val[low] = val;
    }
    g->pruned[k] = low;
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
    gable_idx top = eliminate(&g, j), pivot = choose_pivot(&g, j, top, threshold);
    GI_TRY(store_column(ctx, &g, j, top, pivot));
    if (pivot >= 0) prune(&g, j, top, pivot);
  }
  pair_leftovers(&g);
done:
  growing_release(ctx, &g);
  return status;
}
