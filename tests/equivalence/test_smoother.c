/* Sweeps by every method against a plain loop over the rows, in place and with the second vector, and their history. */
#include "support/test.h"

#include "base/random.h"
#include "support/triangles.h"

/* A dominant matrix by rows: the lower triangle, and above it its transpose's pattern or another one. */
typedef struct square {
  gable_idx n;
  int64_t *ptr;
  gable_idx *idx;
  double *val;
} square;

static square make(int kind, int symmetric, uint64_t seed)
{
  test_triangle lower = test_triangle_make(kind, seed), other = test_triangle_make(kind, symmetric ? seed : seed + 1);
  test_triangle upper = test_triangle_transpose(&other);
  const gable_idx n = lower.n;
  const size_t nnz = (size_t)(lower.ptr[n] + upper.ptr[n]);
  square s = {n, calloc((size_t)n + 1, 8), malloc((nnz + 1) * 4), malloc((nnz + 1) * 8)};
  int64_t used = 0;
  for (gable_idx i = 0; i < n; i++) {
    int64_t diagonal = 0;
    double sum = 1;
    for (int64_t p = lower.ptr[i]; p < lower.ptr[i + 1]; p++) {
      if (lower.idx[p] == i) diagonal = used;
      s.idx[used] = lower.idx[p];
      s.val[used++] = lower.val[p];
      sum += fabs(lower.val[p]);
    }
    for (int64_t p = upper.ptr[i]; p < upper.ptr[i + 1]; p++) {
      if (upper.idx[p] == i) continue;
      s.idx[used] = upper.idx[p];
      s.val[used++] = upper.val[p];
      sum += fabs(upper.val[p]);
    }
    s.val[diagonal] = sum;
    s.ptr[i + 1] = used;
  }
  test_triangle_free(&lower);
  test_triangle_free(&other);
  test_triangle_free(&upper);
  return s;
}

static void drop(square *s)
{
  free(s->ptr);
  free(s->idx);
  free(s->val);
}

/* The oracle: one sweep in place, row after row. */
static void plain(const square *a, const double *b, double *x, double omega, int backward)
{
  for (gable_idx k = 0; k < a->n; k++) {
    const gable_idx i = backward ? a->n - 1 - k : k;
    double s = b[i], d = 1;
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
      if (a->idx[p] == i)
        d = a->val[p];
      else
        s -= a->val[p] * x[a->idx[p]];
    }
    x[i] += omega * (s / d - x[i]);
  }
}

static double residual(const square *a, const double *b, const double *x)
{
  double sum = 0;
  for (gable_idx i = 0; i < a->n; i++) {
    double r = b[i];
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) r -= a->val[p] * x[a->idx[p]];
    sum += r * r;
  }
  return sqrt(sum);
}

/* The same by columns, as the caller's storage: positions of values change. */
static square by_columns(const square *a)
{
  test_triangle t = test_triangle_transpose(&(test_triangle){a->n, a->ptr, a->idx, a->val});
  return (square){t.n, t.ptr, t.idx, t.val};
}

static void check(gable_context *ctx, const square *a, const char *method, gable_sweep sweep, double omega, int csc,
                  int symmetric)
{
  enum { SWEEPS = 3 };
  const gable_idx n = a->n;
  square stored = csc ? by_columns(a) : *a;
  double *b = malloc(((size_t)n + 1) * 8), *x = malloc(((size_t)n + 1) * 16), *own = malloc(((size_t)n + 1) * 8);
  double history[SWEEPS + 1], scale = 0;
  gi_random r = gi_random_seed(7);
  for (gable_idx i = 0; i < n; i++) {
    b[i] = 2 * gi_random_unit(&r) - 1;
    x[2 * i] = own[i] = 2 * gi_random_unit(&r) - 1;
    scale = fmax(scale, fabs(b[i]));
  }
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  view.n_rows = view.n_cols = n;
  view.format = csc ? GABLE_CSC : GABLE_CSR;
  view.ptr = stored.ptr;
  view.idx = stored.idx;
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  options.method = method;
  options.sweep = sweep;
  options.omega = omega;
  gable_smoother *s = NULL;
  CHECK_OK(gable_smoother_create(ctx, &options, &s));
  CHECK_OK(gable_smoother_analyse(s, &view));
  CHECK_OK(gable_smoother_update(s, stored.val));
  gable_vectors_view bv = GABLE_VECTORS_VIEW_INIT, xv;
  bv.n = n;
  bv.ld = n;
  bv.data = b;
  xv = bv;
  xv.major = GABLE_ROW_MAJOR;
  xv.ld = 2;
  xv.data = x;
  CHECK_OK(gable_smoother_apply(s, &bv, &xv, SWEEPS, history));
  gable_smoother_info info = GABLE_SMOOTHER_INFO_INIT;
  CHECK_OK(gable_smoother_get_info(s, &info));
  CHECK(!symmetric || info.in_place, "%s", method);
  for (int k = 0; k <= SWEEPS; k++) {
    const double norm = residual(a, b, own);
    CHECK(fabs(history[k] - norm) <= 1e-11 * (1 + history[0]), "sweep %d: %g instead of %g", k, history[k], norm);
    if (k == SWEEPS) break;
    if (sweep != GABLE_SWEEP_BACKWARD) plain(a, b, own, omega, 0);
    if (sweep != GABLE_SWEEP_FORWARD) plain(a, b, own, omega, 1);
  }
  for (gable_idx i = 0; i < n; i++)
    CHECK(fabs(x[2 * i] - own[i]) <= 1e-12 * (1 + scale), "row %d: %g instead of %g", i, x[2 * i], own[i]);
  CHECK(n == 0 || omega != 1 || history[SWEEPS] <= history[0] * (1 + 1e-9), "a dominant matrix: sweeps converge");
  gable_smoother_destroy(&s);
  if (csc) drop(&stored);
  free(b);
  free(x);
  free(own);
}

static void check_errors(gable_context *ctx)
{
  int64_t ptr[] = {0, 1, 2};
  gable_idx idx[] = {0, 0};
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_smoother *s = NULL;
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  view.n_rows = view.n_cols = 2;
  view.ptr = ptr;
  view.idx = idx;
  options.omega = 2;
  CHECK(gable_smoother_create(ctx, &options, &s) == GABLE_ERR_ARGUMENT);
  CHECK_OK(gable_smoother_create(ctx, NULL, &s));
  CHECK(gable_smoother_update(s, ptr) == GABLE_ERR_STATE);
  CHECK(gable_smoother_analyse(s, &view) == GABLE_ERR_SINGULAR && strstr(gable_last_error(), "row 1"));
  idx[1] = 1;
  CHECK_OK(gable_smoother_analyse(s, &view));
  CHECK(gable_smoother_update(s, (double[]){1, 0}) == GABLE_ERR_SINGULAR && strstr(gable_last_error(), "row 1"));
  CHECK(gable_smoother_apply(s, NULL, NULL, 1, NULL) == GABLE_ERR_STATE);
  gable_smoother_destroy(&s);
}

int main(int argc, char **argv)
{
  static const char *const methods[] = {"serial", "levr", "tiles", "auto"};
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_context *ctx = NULL;
  options.threads = 2;
  CHECK_OK(gable_context_create(argc > 1 ? argv[1] : "cpu", &options, &ctx));
  for (int kind = 0; test_triangle_name(kind); kind++)
    for (int symmetric = 0; symmetric < 2; symmetric++) {
      square a = make(kind, symmetric, 11);
      if (a.n > 50000) {
        drop(&a);
        continue;
      }
      for (int m = 0; m < 4; m++)
        for (int sweep = 1; sweep <= 3; sweep++)
          check(ctx, &a, methods[m], (gable_sweep)sweep, sweep == 2 ? 1.3 : 1.0, (m + sweep) % 2, symmetric);
      drop(&a);
    }
  check_errors(ctx);
  gable_context_destroy(&ctx);
  return 0;
}
