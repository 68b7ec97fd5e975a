/* triangles.c: see triangles.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/portable.h"
#include "base/random.h"
#include "support/test.h"
#include "support/triangles.h"

enum { CAPACITY = 2000000 };

/* Row by row: columns are appended in any order, then the row is closed: sorted, without doubles, with its diagonal. */
typedef struct builder {
  test_triangle t;
  gi_random random;
} builder;

static void append(builder *b, gable_idx i, gable_idx j)
{
  if (j >= 0 && j < i && b->t.ptr[i + 1] < CAPACITY - 2) b->t.idx[b->t.ptr[i + 1]++] = j;
}

static int by_value(const void *p, const void *q)
{
  gable_idx a = *(const gable_idx *)p, b = *(const gable_idx *)q;
  return (a > b) - (a < b);
}

static void close_row(builder *b, gable_idx i)
{
  test_triangle *t = &b->t;
  int64_t begin = t->ptr[i], end = t->ptr[i + 1], q = begin;
  qsort(t->idx + begin, (size_t)(end - begin), sizeof *t->idx, by_value);
  for (int64_t p = begin; p < end; p++)
    if (q == begin || t->idx[q - 1] != t->idx[p]) t->idx[q++] = t->idx[p];
  for (int64_t p = begin; p < q; p++) t->val[p] = (2 * gi_random_unit(&b->random) - 1) / (double)(q - begin);
  t->idx[q] = i;
  t->val[q++] = (gi_random_u64(&b->random) & 1 ? 1 : -1) * (1 + gi_random_unit(&b->random));
  t->ptr[i + 1] = q;
}

typedef void row_rule(builder *b, gable_idx i);

static void empty_row(builder *b, gable_idx i)
{
  (void)b;
  (void)i;
}
static void chain(builder *b, gable_idx i)
{
  append(b, i, i - 1);
}
static void dense(builder *b, gable_idx i)
{
  for (gable_idx j = 0; j < i; j++) append(b, i, j);
}
static void grid5(builder *b, gable_idx i)
{
  append(b, i, i - 60);
  if (i % 60) append(b, i, i - 1);
}
static void grid9(builder *b, gable_idx i)
{
  grid5(b, i);
  if (i % 60) append(b, i, i - 61);
  if (i % 60 != 59) append(b, i, i - 59);
}
static void grid7(builder *b, gable_idx i)
{
  append(b, i, i - 225);
  if (i / 15 % 15) append(b, i, i - 15);
  if (i % 15) append(b, i, i - 1);
}
static void near_dag(builder *b, gable_idx i)
{
  for (int64_t c = gi_random_below(&b->random, 6); c > 0; c--)
    append(b, i, i - 1 - (gable_idx)gi_random_below(&b->random, 40));
}
static void wide_dag(builder *b, gable_idx i)
{
  for (int64_t c = gi_random_below(&b->random, 5); c > 0 && i; c--)
    append(b, i, (gable_idx)gi_random_below(&b->random, i));
}
static void long_row(builder *b, gable_idx i)
{
  if (i == b->t.n - 2) dense(b, i);
}
static void long_column(builder *b, gable_idx i)
{
  append(b, i, 0);
}
static void arrow_and_chain(builder *b, gable_idx i)
{
  append(b, i, i - 1);
  append(b, i, 7);
  if (i == b->t.n - 1)
    for (gable_idx j = 0; j < i; j += 3) append(b, i, j);
}
static void two_levels(builder *b, gable_idx i)
{
  if (i >= b->t.n / 2)
    for (int c = 0; c < 3; c++) append(b, i, (gable_idx)gi_random_below(&b->random, b->t.n / 2));
}
static void uneven_levels(builder *b, gable_idx i)
{
  if (i < b->t.n / 3) return;
  for (int64_t c = gi_random_below(&b->random, 31); c > 0; c--)
    append(b, i, (gable_idx)gi_random_below(&b->random, b->t.n / 3));
}
/* Levels of about 2500 rows: a third of them empty, most short, one in twenty long. */
static void uneven_blocks(builder *b, gable_idx i)
{
  const gable_idx before = i / 2500 * 2500;
  if (!before || i % 3 == 0) return;
  for (int64_t c = gi_random_below(&b->random, i % 20 ? 9 : 200); c > 0; c--)
    append(b, i, (gable_idx)gi_random_below(&b->random, before));
}

/* Unknowns at the nodes of a grid with lines of twenty: rows at a node are alike, and full among themselves. */
static void nodes(builder *b, gable_idx i)
{
  static const gable_idx first[] = {0, 1, 3, 6, 10, 13, 15}; /* rows of six nodes */
  gable_idx node = 0;
  while (first[node + 1] <= i % 15) node++;
  const gable_idx at = i / 15 * 6 + node, around[] = {at - 20, at - 1};
  for (int k = 0; k < 2; k++)
    for (gable_idx q = 0; around[k] >= 0 && q < first[around[k] % 6 + 1] - first[around[k] % 6]; q++)
      append(b, i, around[k] / 6 * 15 + first[around[k] % 6] + q);
  for (gable_idx j = i / 15 * 15 + first[node]; j < i; j++) append(b, i, j);
}

static const struct {
  const char *name;
  gable_idx n, few; /* few: under a sanitizer, where an access costs tens of times as much */
  row_rule *rule;
} shapes[] = {
    {"empty", 0, 0, empty_row},
    {"one row", 1, 1, empty_row},
    {"two rows", 2, 2, chain},
    {"diagonal", 1000, 1000, empty_row},
    {"chain", 5000, 600, chain},
    {"dense", 300, 120, dense},
    {"5 point grid", 3600, 1200, grid5},
    {"9 point grid", 3600, 1200, grid9},
    {"7 point grid", 3375, 1350, grid7},
    {"DAG with near edges", 4000, 1000, near_dag},
    {"DAG with far edges", 4000, 1000, wide_dag},
    {"one long row", 3000, 1000, long_row},
    {"one long column", 3000, 1000, long_column},
    {"arrow and chain", 2000, 600, arrow_and_chain},
    {"two levels", 4000, 2000, two_levels},
    {"100000 levels of width 1", 100000, 2500, chain},
    {"wide levels of uneven rows", 51000, 6000, uneven_levels},
    {"blocks of uneven rows", 7500, 5500, uneven_blocks},
    {"several unknowns a node", 3003, 900, nodes},
};

const char *test_triangle_name(int kind)
{
  return kind >= 0 && kind < (int)(sizeof shapes / sizeof *shapes) ? shapes[kind].name : NULL;
}

test_triangle test_triangle_make(int kind, uint64_t seed)
{
  return test_triangle_make_small(kind, seed, INT32_MAX);
}

test_triangle test_triangle_make_small(int kind, uint64_t seed, gable_idx most)
{
  builder b;
  memset(&b, 0, sizeof b);
  b.random = gi_random_seed(seed);
  const gable_idx n = GI_SANITIZED ? shapes[kind].few : shapes[kind].n;
  b.t.n = n < most ? n : most;
  b.t.ptr = calloc((size_t)b.t.n + 1, sizeof *b.t.ptr);
  b.t.idx = malloc(CAPACITY * sizeof *b.t.idx);
  b.t.val = malloc(CAPACITY * sizeof *b.t.val);
  for (gable_idx i = 0; i < b.t.n; i++) {
    b.t.ptr[i + 1] = b.t.ptr[i];
    shapes[kind].rule(&b, i);
    close_row(&b, i);
  }
  return b.t;
}

test_triangle test_triangle_transpose(const test_triangle *t)
{
  test_triangle out = {t->n, calloc((size_t)t->n + 2, sizeof *out.ptr), NULL, NULL};
  const size_t nnz = (size_t)t->ptr[t->n];
  out.idx = malloc((nnz + 1) * sizeof *out.idx);
  out.val = malloc((nnz + 1) * sizeof *out.val);
  for (size_t p = 0; p < nnz; p++) out.ptr[t->idx[p] + 2]++;
  for (gable_idx i = 1; i <= t->n; i++) out.ptr[i + 1] += out.ptr[i];
  for (gable_idx i = 0; i < t->n; i++)
    for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++) {
      int64_t q = out.ptr[t->idx[p] + 1]++;
      out.idx[q] = i;
      out.val[q] = t->val[p];
    }
  return out;
}

test_triangle test_triangle_named(const char *name, uint64_t seed)
{
  return test_triangle_named_small(name, seed, INT32_MAX);
}

test_triangle test_triangle_named_small(const char *name, uint64_t seed, gable_idx most)
{
  int kind = 0;
  while (test_triangle_name(kind) && strcmp(test_triangle_name(kind), name)) kind++;
  CHECK(test_triangle_name(kind), "no shape has the name '%s'", name);
  return test_triangle_make_small(kind, seed, most);
}

void test_triangle_set_diagonal(test_triangle *t, double value)
{
  for (gable_idx i = 0; i < t->n; i++) t->val[t->ptr[i + 1] - 1] = value;
}

gable_matrix_view test_triangle_view(const test_triangle *t)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = t->n;
  v.part = GABLE_PART_LOWER;
  v.ptr = t->ptr;
  v.idx = t->idx;
  v.val = t->val;
  return v;
}

void test_triangle_free(test_triangle *t)
{
  free(t->ptr);
  free(t->idx);
  free(t->val);
  memset(t, 0, sizeof *t);
}

double test_bound_ratio(const test_triangle *t, const double *x, const double *b, ptrdiff_t stride, int is_float)
{
  double worst = 0;
  for (gable_idx i = 0; i < t->n; i++) {
    long double r = b[i * stride], size = fabs(b[i * stride]);
    for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++) {
      long double term = (long double)t->val[p] * x[t->idx[p] * stride];
      r -= term;
      size += fabsl(term);
    }
    if (!isfinite((double)r)) return INFINITY;
    double bound = (double)(4 * (t->ptr[i + 1] - t->ptr[i])) * (is_float ? 0x1p-24 : 0x1p-53) * (double)size;
    double ratio = r == 0 ? 0 : bound > 0 ? (double)fabsl(r) / bound : INFINITY;
    if (ratio > worst) worst = ratio;
  }
  return worst;
}
