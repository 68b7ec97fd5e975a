#include "support/systems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "support/test.h"

static const char *const names[TEST_KINDS] = {"dominant", "unsymmetric", "reducible", "spd",
                                              "negative", "indefinite",  "saddle",    "wild",
                                              "growth",   "permutation", "dense"};

const char *test_kind_name(test_kind kind)
{
  return names[kind];
}

static double centred(gi_random *r)
{
  return 2 * gi_random_unit(r) - 1;
}

static gable_idx *shuffled(gable_idx n, gi_random *r)
{
  gable_idx *p = malloc(((size_t)n + 1) * sizeof *p);
  for (gable_idx i = 0; i < n; i++) p[i] = i;
  for (gable_idx i = n - 1; i > 0; i--) {
    gable_idx j = (gable_idx)gi_random_below(r, i + 1), t = p[i];
    p[i] = p[j];
    p[j] = t;
  }
  return p;
}

/* A dense array of values is enough for tests: NaN marks what is not stored. */
typedef struct sketch {
  gable_idx n;
  double *at; /* [n*n] by columns */
} sketch;

static double *entry(sketch *s, gable_idx i, gable_idx j)
{
  return &s->at[(size_t)j * (size_t)s->n + (size_t)i];
}

static void scatter(sketch *s, gi_random *r, double per_row, int symmetric, int upper_only)
{
  for (gable_idx j = 0; j < s->n; j++)
    for (gable_idx i = 0; i < s->n; i++) {
      if (symmetric && i < j) continue;
      if (upper_only && i > j) continue;
      if (gi_random_unit(r) * (double)s->n < per_row) *entry(s, i, j) = centred(r);
      if (symmetric) *entry(s, j, i) = *entry(s, i, j);
    }
}

static double row_weight(sketch *s, gable_idx i)
{
  double sum = 0;
  for (gable_idx j = 0; j < s->n; j++)
    if (j != i && !isnan(*entry(s, i, j))) sum += fabs(*entry(s, i, j));
  return sum;
}

static void permute_rows(sketch *s, gi_random *r)
{
  gable_idx *p = shuffled(s->n, r);
  double *column = malloc(((size_t)s->n + 1) * sizeof *column);
  for (gable_idx j = 0; j < s->n; j++) {
    memcpy(column, entry(s, 0, j), (size_t)s->n * sizeof *column);
    for (gable_idx i = 0; i < s->n; i++) *entry(s, p[i], j) = column[i];
  }
  free(column);
  free(p);
}

static void fill_symmetric(sketch *s, test_kind kind, gi_random *r)
{
  gable_idx n = s->n;
  scatter(s, r, 3, 1, 0);
  for (gable_idx i = 0; i < n; i++) {
    double weight = row_weight(s, i), sign = kind == TEST_INDEFINITE && i % 2 ? -1 : 1;
    *entry(s, i, i) = sign * (kind == TEST_INDEFINITE ? 0.1 + gi_random_unit(r) : weight + 0.01 + gi_random_unit(r));
    if (kind == TEST_NEGATIVE) *entry(s, i, i) *= -1;
  }
  if (kind == TEST_NEGATIVE) return;
  if (kind == TEST_SADDLE) /* [D B'; B 0], B with a row for each of the last third */
    for (gable_idx i = n - n / 3; i < n; i++)
      for (gable_idx j = n - n / 3; j < n; j++) *entry(s, i, j) = NAN;
  if (kind == TEST_SADDLE)
    for (gable_idx i = n - n / 3; i < n; i++)
      *entry(s, i, i - (n - n / 3)) = *entry(s, i - (n - n / 3), i) = 1 + gi_random_unit(r);
}

static void fill_unsymmetric(sketch *s, test_kind kind, gi_random *r)
{
  gable_idx n = s->n;
  scatter(s, r, kind == TEST_DENSE ? 2 * n : 3, 0, kind == TEST_REDUCIBLE);
  for (gable_idx i = 0; i < n; i++) {
    *entry(s, i, i) = kind == TEST_DOMINANT ? row_weight(s, i) + 0.1 : (1 + gi_random_unit(r)) * (i % 2 ? -1 : 1);
    /* blocks of up to 3 on the diagonal */
    if (kind == TEST_REDUCIBLE && i % 3) *entry(s, i, i - i % 3) = *entry(s, i - i % 3, i) = centred(r);
  }
  if (kind == TEST_WILD)
    for (gable_idx j = 0; j < n; j++) {
      double scale = pow(10, 100 * centred(r));
      for (gable_idx i = 0; i < n; i++) *entry(s, i, j) *= scale;
    }
  if (kind == TEST_WILD)
    for (gable_idx i = 0; i < n; i++) {
      double scale = pow(10, 100 * centred(r));
      for (gable_idx j = 0; j < n; j++) *entry(s, i, j) *= scale;
    }
  if (kind == TEST_UNSYMMETRIC || kind == TEST_REDUCIBLE || kind == TEST_WILD) permute_rows(s, r);
}

/* Rings of three: diagonal 1, neighbours -1/2.  Each is singular, so that eliminating two of its nodes leaves 0 on the
 * third, the hub; hubs are joined at random by entries just below 1.  The diagonal is the best matching, and nearly all
 * late pivots are 0. */
static void fill_growth(sketch *s, gi_random *r)
{
  gable_idx n = s->n, hubs = n / 3;
  for (gable_idx i = 0; i < n; i++) *entry(s, i, i) = 1;
  for (gable_idx h = 0; h < hubs; h++)
    for (gable_idx k = 0; k < 3; k++)
      *entry(s, 3 * h + k, 3 * h + (k + 1) % 3) = *entry(s, 3 * h + (k + 1) % 3, 3 * h + k) = -0.5;
  for (gable_idx k = 0; k < 3 * hubs; k++) {
    gable_idx i = (gable_idx)gi_random_below(r, hubs), j = (gable_idx)gi_random_below(r, hubs);
    if (i != j) *entry(s, 3 * i, 3 * j) = (0.5 + 0.4 * gi_random_unit(r)) * (gi_random_below(r, 2) ? 1 : -1);
  }
  for (gable_idx h = 0; h + 1 < hubs; h++) *entry(s, 3 * h, 3 * h + 3) = *entry(s, 3 * h + 3, 3 * h) = 0.9;
}

static test_system compress(const sketch *s)
{
  size_t n = (size_t)s->n, count = 0;
  test_system a = {.n = s->n, .ptr = calloc(n + 1, sizeof *a.ptr)};
  for (size_t k = 0; k < n * n; k++) count += isnan(s->at[k]) ? 0 : 1;
  a.idx = malloc((count + 1) * sizeof *a.idx);
  a.val = malloc((count + 1) * sizeof *a.val);
  int64_t to = 0;
  for (gable_idx j = 0; j < s->n; j++) {
    for (gable_idx i = 0; i < s->n; i++) {
      double value = s->at[(size_t)j * n + (size_t)i];
      if (isnan(value)) continue;
      a.idx[to] = i;
      a.val[to++] = value;
    }
    a.ptr[j + 1] = to;
  }
  return a;
}

test_system test_system_make(test_kind kind, gable_idx n, uint64_t seed)
{
  gi_random r = gi_random_seed(seed * 16 + (uint64_t)kind);
  sketch s = {n, malloc(((size_t)n * (size_t)n + 1) * sizeof(double))};
  for (size_t k = 0; k < (size_t)n * (size_t)n; k++) s.at[k] = NAN;
  switch (kind) {
  case TEST_SPD:
  case TEST_NEGATIVE:
  case TEST_INDEFINITE:
  case TEST_SADDLE: fill_symmetric(&s, kind, &r); break;
  case TEST_GROWTH: fill_growth(&s, &r); break;
  case TEST_PERMUTATION:
    for (gable_idx i = 0; i < n; i++) *entry(&s, i, i) = centred(&r) * pow(10, 20 * centred(&r));
    permute_rows(&s, &r);
    break;
  default: fill_unsymmetric(&s, kind, &r); break;
  }
  test_system a = compress(&s);
  free(s.at);
  return a;
}

void test_system_free(test_system *a)
{
  free(a->ptr);
  free(a->idx);
  free(a->val);
  memset(a, 0, sizeof *a);
}

gable_matrix_view test_system_view(const test_system *a)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = a->n;
  v.format = GABLE_FORMAT_CSC;
  v.ptr = a->ptr;
  v.idx = a->idx;
  v.val = a->val;
  return v;
}

gable_solver *test_factored(gable_context *ctx, const gable_matrix_view *v, const gable_solver_options *options)
{
  gable_solver *s = NULL;
  CHECK_OK(gable_solver_create(ctx, options, &s));
  CHECK_OK(gable_solver_analyse(s, v));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
  return s;
}

gable_vectors_view test_vectors(gable_idx n, gable_idx count, double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = n;
  v.count = count;
  v.ld = n;
  v.data = data;
  return v;
}

gable_solver *test_misfit(gable_context *ctx, test_system *a, const gable_solver_options *options)
{
  gable_solver *of = NULL, *s = NULL;
  gable_matrix_view v = test_system_view(a);
  size_t bytes = 0;
  of = test_factored(ctx, &v, NULL);
  CHECK_OK(gable_solver_save_memory(of, NULL, &bytes));
  void *saved = malloc(bytes);
  CHECK(saved, "memory");
  CHECK_OK(gable_solver_save_memory(of, saved, &bytes));
  for (int64_t k = 0; k < a->ptr[a->n]; k++) a->val[k] *= 1 + 0.9 * (double)(k * 37 % 101) / 101;
  CHECK_OK(gable_solver_create(ctx, options, &s));
  CHECK_OK(gable_solver_load_memory(s, &v, saved, bytes));
  gable_solver_destroy(&of);
  free(saved);
  return s;
}

double test_backward_error(const test_system *a, gable_op op, const double *b, const double *x)
{
  long double *r = calloc((size_t)a->n + 1, sizeof *r), *w = calloc((size_t)a->n + 1, sizeof *w), worst = 0;
  for (gable_idx j = 0; j < a->n; j++)
    for (int64_t k = a->ptr[j]; k < a->ptr[j + 1]; k++) {
      gable_idx row = op == GABLE_OP_N ? a->idx[k] : j, column = op == GABLE_OP_N ? j : a->idx[k];
      long double term = (long double)a->val[k] * x[column];
      r[row] -= term;
      w[row] += fabsl(term);
    }
  for (gable_idx i = 0; i < a->n; i++) {
    long double size = fabsl(r[i] + b[i]);
    if (isnan((double)size)) worst = INFINITY;
    if (size > 0) worst = fmaxl(worst, size / (w[i] + fabsl(b[i])));
  }
  free(r);
  free(w);
  return (double)worst;
}
