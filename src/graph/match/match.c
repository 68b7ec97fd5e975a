/* match.c: shortest augmenting paths on the reduced costs.
 *
 * Costs c_ij = log max_k |a_kj| - log |a_ij| >= 0.  Duals: u_i + v_j <= c_ij for all entries, equal on matched ones,
 * prove that a matching is best, and are the logarithms of the scalings. */
#include "graph/match/match.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { UNSEEN = -1, SETTLED = -2, DEAD = -3 }; /* in place[], where >= 0 is a position in the heap */
enum { STEPS = 4 }; /* of a free column, on the average: more leave fewer to the searches and take longer */

/* A row in the heap, with its d. */
typedef struct node {
  double d;
  gable_idx row;
} node;

typedef struct search {
  gable_idx n;
  const gable_off *ptr;
  const gable_idx *idx;
  double *cost;      /* [nnz] */
  double *u, *v;     /* [n] duals of rows, of columns */
  double *d;         /* [n] length of the shortest path to each row seen */
  gable_idx *row_of; /* [n] by column */
  gable_idx *col_of; /* [n] by row, -1: free */
  gable_off *at;     /* [n] the matched entry of each column */
  gable_off *via;    /* [n] entry by which each row was reached */
  gable_idx *from;   /* [n] and its column */
  gable_idx *place;  /* [n] */
  node *heap;        /* [n] smallest d first */
  gable_idx *queue;  /* [n] settled rows in the order of d */
  gable_idx n_heap, n_queue;
} search;

/* A node goes to place k, or as far up, or down, as its distance says. */
static void heap_up(search *s, gable_idx k, node moved)
{
  while (k > 0) {
    const gable_idx up = (k - 1) / 2;
    if (s->heap[up].d <= moved.d) break;
    s->heap[k] = s->heap[up];
    s->place[s->heap[k].row] = k;
    k = up;
  }
  s->heap[k] = moved;
  s->place[moved.row] = k;
}

static void heap_down(search *s, gable_idx k, node moved)
{
  for (;;) {
    gable_idx low = 2 * k + 1;
    if (low >= s->n_heap) break;
    low += low + 1 < s->n_heap && s->heap[low + 1].d < s->heap[low].d;
    if (moved.d <= s->heap[low].d) break;
    s->heap[k] = s->heap[low];
    s->place[s->heap[k].row] = k;
    k = low;
  }
  s->heap[k] = moved;
  s->place[moved.row] = k;
}

static void heap_remove(search *s, gable_idx k)
{
  const node last = s->heap[--s->n_heap];
  if (k == s->n_heap) return;
  if (k > 0 && last.d < s->heap[(k - 1) / 2].d)
    heap_up(s, k, last);
  else
    heap_down(s, k, last);
}

static void settle(search *s, gable_idx row)
{
  if (s->place[row] >= 0) heap_remove(s, s->place[row]);
  s->place[row] = SETTLED;
  s->queue[s->n_queue++] = row;
}

/* Follows the edges of column j, which lies at distance base; *best is the nearest free row so far, at distance
 * *length. */
static void scan_column(search *s, gable_idx j, double base, double *length, gable_idx *best)
{
  for (gable_off k = s->ptr[j]; k < s->ptr[j + 1]; k++) {
    gable_idx i = s->idx[k];
    if (s->place[i] <= SETTLED) continue;
    double reduced = s->cost[k] - s->u[i] - s->v[j];
    double far = base + (reduced > 0 ? reduced : 0);
    if (far >= *length || far >= s->d[i]) continue;
    s->via[i] = k;
    s->from[i] = j;
    if (s->col_of[i] < 0) {
      *length = far;
      *best = i;
      if (far <= base) return;
      continue;
    }
    s->d[i] = far;
    if (far <= base) {
      settle(s, i);
    } else {
      heap_up(s, s->place[i] == UNSEEN ? s->n_heap++ : s->place[i], (node){far, i});
    }
  }
}

/* Augments along the path that ends in the free row i, and keeps the duals feasible. */
static void augment(search *s, gable_idx j0, gable_idx i, double length)
{
  gable_idx end = i, j;
  do {
    j = s->from[i];
    gable_idx next = s->row_of[j];
    s->row_of[j] = i;
    s->col_of[i] = j;
    s->at[j] = s->via[i];
    i = next;
  } while (j != j0);
  for (gable_idx k = 0; k < s->n_queue; k++) {
    gable_idx row = s->queue[k];
    s->u[row] += s->d[row] - length;
    s->v[s->col_of[row]] = s->cost[s->at[s->col_of[row]]] - s->u[row];
  }
  s->v[s->col_of[end]] = s->cost[s->at[s->col_of[end]]] - s->u[end];
}

/* Matches column j0 by a shortest path to a free row.  No path: every row seen can never lead to one, and is dead. */
static int match_column(search *s, gable_idx j0)
{
  double length = INFINITY, base = 0;
  gable_idx best = -1, j = j0, head = 0;
  s->n_heap = s->n_queue = 0;
  for (;;) {
    scan_column(s, j, base, &length, &best);
    if (length <= base) break;
    if (head == s->n_queue) {
      if (!s->n_heap || s->heap[0].d >= length) break;
      const double nearest = s->heap[0].d;
      while (s->n_heap && s->heap[0].d <= nearest) settle(s, s->heap[0].row);
    }
    gable_idx row = s->queue[head++];
    base = s->d[row];
    j = s->col_of[row];
  }
  if (best >= 0) augment(s, j0, best, length);
  for (gable_idx k = 0; k < s->n_queue; k++) {
    s->place[s->queue[k]] = best >= 0 ? UNSEEN : DEAD;
    s->d[s->queue[k]] = INFINITY;
  }
  for (gable_idx k = 0; k < s->n_heap; k++) {
    s->place[s->heap[k].row] = UNSEEN;
    s->d[s->heap[k].row] = INFINITY;
  }
  return best >= 0;
}

/* log x for normal x, to a few units in the last place: x = 2^e m, m in (sqrt 1/2, sqrt 2], log m = 2
 * atanh((m-1)/(m+1)). No branch and no call, so that loops over it become vectors. */
static inline double quick_log(double x)
{
  const uint64_t mantissa = 0x000FFFFFFFFFFFFFu, one = 0x3FF0000000000000u, two_52 = 0x4330000000000000u;
  uint64_t bits, exponent_bits, m_bits;
  double e, m;
  memcpy(&bits, &x, sizeof bits);
  exponent_bits = (bits >> 52) | two_52;
  m_bits = (bits & mantissa) | one;
  memcpy(&e, &exponent_bits, sizeof e);
  memcpy(&m, &m_bits, sizeof m);
  e -= 0x1p52 + 1023;
  double upper = m > 1.4142135623730951 ? 1.0 : 0.0;
  m *= 1 - 0.5 * upper;
  double s = (m - 1) / (m + 1), z = s * s;
  double series = 1.0 / 19;
  series = series * z + 1.0 / 17;
  series = series * z + 1.0 / 15;
  series = series * z + 1.0 / 13;
  series = series * z + 1.0 / 11;
  series = series * z + 1.0 / 9;
  series = series * z + 1.0 / 7;
  series = series * z + 1.0 / 5;
  series = series * z + 1.0 / 3;
  return (e + upper) * 0.69314718055994531 + 2 * s * (1 + z * series);
}

GI_CLONES static void logarithms(gable_off count, const double *val, double *out)
{
  for (gable_off k = 0; k < count; k++) out[k] = quick_log(fabs(val[k]));
}

/* e^x for |x| <= 690 by 2^k e^r, |r| <= log 2 / 2, in the same way. */
static inline double quick_exp(double x)
{
  const double integers = 0x1.8p52; /* added to a number, it leaves its nearest integer in the low bits */
  uint64_t k_bits;
  double k = x * 1.4426950408889634 + integers, scale;
  memcpy(&k_bits, &k, sizeof k_bits);
  k -= integers;
  const double r = (x - k * 0x1.62e42feep-1) - k * 1.9082149292705877e-10;
  double series = 1 + r / 13;
  series = 1 + series * r * (1.0 / 12);
  series = 1 + series * r * (1.0 / 11);
  series = 1 + series * r * (1.0 / 10);
  series = 1 + series * r * (1.0 / 9);
  series = 1 + series * r * (1.0 / 8);
  series = 1 + series * r * (1.0 / 7);
  series = 1 + series * r * (1.0 / 6);
  series = 1 + series * r * (1.0 / 5);
  series = 1 + series * r * (1.0 / 4);
  series = 1 + series * r * (1.0 / 3);
  series = 1 + series * r * (1.0 / 2);
  series = 1 + series * r;
  k_bits = (k_bits + 1023) << 52;
  memcpy(&scale, &k_bits, sizeof scale);
  return series * scale;
}

GI_CLONES static void exponentials(gable_idx n, double *x)
{
  for (gable_idx k = 0; k < n; k++) {
    const double low = x[k] < -690 ? -690 : x[k];
    x[k] = quick_exp(low > 690 ? 690 : low);
  }
}

/* Without a branch that depends on the numbers. */
static inline double larger(double x, double y)
{
  return x > y ? x : y;
}
static inline double smaller(double x, double y)
{
  return x < y ? x : y;
}

/* cost [count] of the entries of a column, INFINITY for a zero; comes with their logarithms.  Returns log max |val|, or
 * 0 where all are zeros. */
static double column_costs(gable_off count, const double *val, double *cost)
{
  double log_top = -(double)INFINITY;
  for (gable_off k = 0; k < count; k++) {
    const double size = fabs(val[k]);
    if (GI_UNLIKELY(size < DBL_MIN)) cost[k] = size > 0 ? log(size) : -(double)INFINITY;
    log_top = larger(log_top, cost[k]);
  }
  if (log_top < -DBL_MAX) log_top = 0;
  for (gable_off k = 0; k < count; k++) cost[k] = log_top - cost[k];
  return log_top;
}

/* cost[k] of every entry; log_top[j] = log max |a_ij|. */
static void set_costs(gable_idx n, const gi_csc *a, double *cost, double *log_top)
{
  if (!a->val) {
    for (gable_off k = 0; k < a->ptr[n]; k++) cost[k] = 0;
    for (gable_idx j = 0; j < n; j++) log_top[j] = 0;
    return;
  }
  logarithms(a->ptr[n], a->val, cost);
  for (gable_idx j = 0; j < n; j++)
    log_top[j] = column_costs(a->ptr[j + 1] - a->ptr[j], a->val + a->ptr[j], cost + a->ptr[j]);
}

static void take(search *s, gable_off k, gable_idx i, gable_idx j)
{
  s->row_of[j] = i;
  s->col_of[i] = j;
  s->at[j] = k;
}

/* Column j has tight entries, all in taken rows: can one of those rows' columns move to a free row along a tight entry?
 */
static int shift_one(search *s, gable_idx j)
{
  for (gable_off k = s->ptr[j]; k < s->ptr[j + 1]; k++) {
    gable_idx i = s->idx[k];
    if (s->cost[k] - s->u[i] - s->v[j] > 0) continue;
    gable_idx other = s->col_of[i];
    for (gable_off m = s->ptr[other]; m < s->ptr[other + 1]; m++) {
      gable_idx free_row = s->idx[m];
      if (s->col_of[free_row] >= 0 || s->cost[m] - s->u[free_row] - s->v[other] > 0) continue;
      take(s, m, free_row, other);
      take(s, k, i, j);
      return 1;
    }
  }
  return 0;
}

/* First duals, and a matching within their tight entries: the diagonal first, then any, then augmentations by one. */
static void cheap_assignment(search *s)
{
  gable_idx n = s->n;
  for (gable_idx i = 0; i < n; i++) s->u[i] = INFINITY;
  for (gable_off k = 0; k < s->ptr[n]; k++) s->u[s->idx[k]] = smaller(s->u[s->idx[k]], s->cost[k]);
  for (gable_idx i = 0; i < n; i++)
    if (s->u[i] == (double)INFINITY) s->u[i] = 0;
  for (gable_idx j = 0; j < n; j++) {
    double least = INFINITY;
    gable_off diagonal = -1;
    for (gable_off k = s->ptr[j]; k < s->ptr[j + 1]; k++) {
      least = smaller(least, s->cost[k] - s->u[s->idx[k]]);
      diagonal = s->idx[k] == j ? k : diagonal;
    }
    s->v[j] = least < (double)INFINITY ? least : 0;
    if (diagonal >= 0 && s->cost[diagonal] - s->u[j] <= s->v[j]) take(s, diagonal, j, j);
  }
  for (gable_idx j = 0; j < n; j++)
    for (gable_off k = s->ptr[j]; k < s->ptr[j + 1] && s->row_of[j] < 0; k++)
      if (s->col_of[s->idx[k]] < 0 && s->cost[k] - s->u[s->idx[k]] <= s->v[j]) take(s, k, s->idx[k], j);
  for (gable_idx j = 0; j < n; j++)
    if (s->row_of[j] < 0) shift_one(s, j);
}

/* Column j takes its cheapest row, whose dual falls until its second cheapest row costs as much.  Returns the column
 * that held the row, -1 when none did, or j itself when two rows are equally cheap and both are held. */
static gable_idx take_cheapest(search *s, gable_idx j)
{
  double first = INFINITY, second = INFINITY;
  gable_off best = -1;
  for (gable_off k = s->ptr[j]; k < s->ptr[j + 1]; k++) {
    double reduced = s->cost[k] - s->u[s->idx[k]];
    if (reduced >= second) continue;
    second = reduced < first ? first : reduced;
    if (reduced >= first) continue;
    first = reduced;
    best = k;
  }
  if (best < 0) return j;
  gable_idx i = s->idx[best], holder = s->col_of[i];
  int falls = first < second && second < (double)INFINITY;
  s->v[j] = first;
  if (!falls && holder >= 0) return j;
  if (falls) {
    s->u[i] -= second - first;
    s->v[j] = s->cost[best] - s->u[i];
  }
  take(s, best, i, j);
  if (holder >= 0) s->row_of[holder] = -1;
  return holder;
}

/* Augmenting row reduction (Jonker and Volgenant, Computing 38, 1987): free columns push each other around.  Duals stay
 * feasible and matched entries tight, and far fewer columns are left to the longer searches. */
static void reduce_free_columns(search *s)
{
  gable_idx count = 0;
  for (gable_idx j = 0; j < s->n; j++)
    if (s->row_of[j] < 0) s->queue[count++] = j;
  gable_off budget = (gable_off)STEPS * count;
  for (gable_idx k = 0; k < count; k++) {
    gable_idx j = s->queue[k], next = take_cheapest(s, j);
    for (; next >= 0 && next != j && budget > 0; budget--) {
      j = next;
      next = take_cheapest(s, j);
    }
  }
}

/* r_i = exp(u_i - t), c_j = exp(v_j + t) / max_i |a_ij|; t levels the two, for duals are free up to it.  Both keep
 * within the exponents of a double: beyond e^+-690, that is when a chain of entries differs by more than 1e295, the
 * bound gives way first. */
static void set_scalings(const search *s, const double *log_top, gi_matching *m)
{
  double t = 0;
  for (gable_idx j = 0; j < s->n; j++) t += s->u[j] - s->v[j] + log_top[j];
  if (s->n) t /= 2.0 * (double)s->n;
  for (gable_idx j = 0; j < s->n; j++) {
    m->r[j] = s->u[j] - t;
    m->c[j] = s->v[j] + t - log_top[j];
  }
  exponentials(s->n, m->r);
  exponentials(s->n, m->c);
}

static gable_status search_init(gable_context *ctx, const gi_csc *a, search *s)
{
  gable_status status = GABLE_OK;
  gable_idx n = a->n_cols;
  s->n = n;
  s->ptr = a->ptr;
  s->idx = a->idx;
  GI_ALLOC(ctx, s->cost, a->ptr[n]);
  GI_ALLOC(ctx, s->u, n);
  GI_ALLOC(ctx, s->v, n);
  GI_ALLOC(ctx, s->d, n);
  GI_ALLOC(ctx, s->col_of, n);
  GI_ALLOC(ctx, s->at, n);
  GI_ALLOC(ctx, s->via, n);
  GI_ALLOC(ctx, s->from, n);
  GI_ALLOC(ctx, s->place, n);
  GI_ALLOC(ctx, s->heap, n);
  GI_ALLOC(ctx, s->queue, n);
  for (gable_idx i = 0; i < n; i++) {
    s->row_of[i] = s->col_of[i] = -1;
    s->place[i] = UNSEEN;
    s->d[i] = INFINITY;
  }
done:
  return status;
}

static void search_release(gable_context *ctx, search *s)
{
  void *owned[] = {s->cost, s->u, s->v, s->d, s->col_of, s->at, s->via, s->from, s->place, s->heap, s->queue};
  for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) gi_free(ctx, owned[k]);
}

gable_status gi_match(gable_context *ctx, const gi_csc *a, gi_matching *m)
{
  gable_status status = GABLE_OK;
  gable_idx n = a->n_cols;
  search s = {0};
  double *log_top = NULL;
  GI_REQUIRE(a->n_rows == n, GABLE_ERR_ARGUMENT, "a matching needs a square matrix, this one is %d by %d", a->n_rows,
             n);
  m->n = n;
  GI_ALLOC(ctx, m->row_of, n);
  GI_ALLOC(ctx, m->r, n);
  GI_ALLOC(ctx, m->c, n);
  GI_ALLOC(ctx, log_top, n);
  s.row_of = m->row_of;
  GI_TRY(search_init(ctx, a, &s));
  set_costs(n, a, s.cost, log_top);
  cheap_assignment(&s);
  reduce_free_columns(&s);
  m->rank = 0;
  for (gable_idx j = 0; j < n; j++) {
    if (j % 65536 == 0) GI_TRY(gi_progress(ctx, "matching", (double)j / (double)n));
    m->rank += s.row_of[j] >= 0 || match_column(&s, j);
  }
  set_scalings(&s, log_top, m);
done:
  search_release(ctx, &s);
  gi_free(ctx, log_top);
  if (status) gi_match_release(ctx, m);
  return status;
}

void gi_match_release(gable_context *ctx, gi_matching *m)
{
  GI_FREE(ctx, m->row_of, m->r, m->c);
  memset(m, 0, sizeof *m);
}
