/* The inertia of Cholesky and L D L^T beside the eigenvalues by Jacobi's method, with pivots of one and two columns, in
 * double and float, on 1 and 3 threads, from a file; negated matrices, replaced pivots, and who does not know it. */
#include "support/test.h"

#include <unistd.h>

#include "support/systems.h"

typedef struct inertia {
  int64_t positive, negative, zero;
} inertia;

static gable_context *ctx, *three_threads;

static inertia inertia_of(const gable_solver *s)
{
  inertia found;
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_POSITIVE_EIGENVALUES, &found.positive, sizeof found.positive));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_NEGATIVE_EIGENVALUES, &found.negative, sizeof found.negative));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ZERO_EIGENVALUES, &found.zero, sizeof found.zero));
  return found;
}

static void expect(const gable_solver *s, inertia right, const char *name)
{
  const inertia found = inertia_of(s);
  CHECK(found.positive == right.positive && found.negative == right.negative && found.zero == right.zero,
        "%s: (%lld,%lld,%lld), not (%lld,%lld,%lld)", name, (long long)found.positive, (long long)found.negative,
        (long long)found.zero, (long long)right.positive, (long long)right.negative, (long long)right.zero);
}

/* Rotations that make the largest entry off the diagonal zero, sweep by sweep, until A is diagonal. */
static inertia by_jacobi(const test_system *s)
{
  const gable_idx n = s->n;
  double *a = calloc((size_t)n * (size_t)n + 1, sizeof *a), norm = 0, off;
  inertia found = {0, 0, 0};
  for (gable_idx j = 0; j < n; j++)
    for (int64_t p = s->ptr[j]; p < s->ptr[j + 1]; p++) a[s->idx[p] + (gable_off)j * n] += s->val[p];
  for (gable_idx k = 0; k < n * n; k++) norm = fmax(norm, fabs(a[k]));
  do {
    off = 0;
    for (gable_idx p = 0; p < n; p++)
      for (gable_idx q = p + 1; q < n; q++) {
        const double apq = a[p + q * n];
        off = fmax(off, fabs(apq));
        if (fabs(apq) <= 1e-18 * norm) continue;
        const double theta = (a[q + q * n] - a[p + p * n]) / (2 * apq);
        const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1);
        for (gable_idx k = 0; k < n; k++) {
          const double x = a[k + p * n], y = a[k + q * n];
          a[k + p * n] = c * x - t * c * y;
          a[k + q * n] = t * c * x + c * y;
        }
        for (gable_idx k = 0; k < n; k++) {
          const double x = a[p + k * n], y = a[q + k * n];
          a[p + k * n] = c * x - t * c * y;
          a[q + k * n] = t * c * x + c * y;
        }
      }
  } while (off > 1e-14 * norm);
  for (gable_idx k = 0; k < n; k++) {
    const double x = a[k + k * n];
    CHECK(fabs(x) > 1e-9 * norm, "a matrix whose inertia is not clear");
    *(x > 0 ? &found.positive : &found.negative) += 1;
  }
  free(a);
  return found;
}

static void check_kinds(void)
{
  static const test_kind kinds[] = {TEST_SPD, TEST_NEGATIVE, TEST_INDEFINITE, TEST_SADDLE};
  int pairs = 0;
  for (int k = 0; k < 4; k++)
    for (gable_idx n = 1; n <= 61; n += 12)
      for (uint64_t seed = 1; seed <= 3; seed++)
        for (int how = 0; how < 8; how++) {
          test_system a = test_system_make(kinds[k], n, seed);
          const gable_matrix_view v = test_system_view(&a);
          gable_solver_options o = GABLE_SOLVER_OPTIONS_INIT;
          int64_t method;
          o.method = how & 1 ? GABLE_METHOD_LDLT : GABLE_METHOD_AUTO;
          o.match = how & 2 ? GABLE_CHOICE_ALWAYS : GABLE_CHOICE_AUTO;
          o.factor_type = how & 4 ? GABLE_TYPE_S : GABLE_TYPE_D;
          gable_solver *s = test_factored(how & 1 ? three_threads : ctx, &v, &o);
          CHECK_OK(gable_solver_get(s, GABLE_SOLVER_METHOD, &method, sizeof method));
          int64_t replaced;
          CHECK_OK(gable_solver_get(s, GABLE_SOLVER_PERTURBED_PIVOTS, &replaced, sizeof replaced));
          if (method != GABLE_METHOD_LU && !replaced) expect(s, by_jacobi(&a), test_kind_name(kinds[k]));
          pairs += method == GABLE_METHOD_LDLT && kinds[k] == TEST_SADDLE && n > 30;
          gable_solver_destroy(&s);
          test_system_free(&a);
        }
  CHECK(pairs >= 20, "%d saddle points by L D L^T", pairs);
}

static void make(const gable_idx n, const int64_t *ptr, const gable_idx *idx, const double *val, gable_method method,
                 gable_solver **s)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  gable_solver_options o = GABLE_SOLVER_OPTIONS_INIT;
  o.method = method;
  v.n_rows = v.n_cols = n;
  v.ptr = ptr;
  v.idx = idx;
  v.val = val;
  *s = test_factored(ctx, &v, &o);
}

/* Of known eigenvalues: 1 and 3, 2 and -2; 2 and 0; of LU nobody's. */
static void check_small(void)
{
  const int64_t ptr[] = {0, 2, 4, 5, 6}, full[] = {0, 2, 4};
  const gable_idx idx[] = {0, 1, 0, 1, 3, 2};
  const double pair[] = {2, 1, 1, 2, 2, 2}, ones[] = {1, 1, 1, 1};
  int64_t count;
  gable_solver *s = NULL;
  make(4, ptr, idx, pair, GABLE_METHOD_LDLT, &s);
  expect(s, (inertia){3, 1, 0}, "a pair");
  gable_solver_destroy(&s);
  make(2, full, idx, ones, GABLE_METHOD_LDLT, &s);
  expect(s, (inertia){1, 0, 1}, "rank one");
  gable_solver_destroy(&s);
  make(4, ptr, idx, pair, GABLE_METHOD_LU, &s);
  CHECK(gable_solver_get(s, GABLE_SOLVER_NEGATIVE_EIGENVALUES, &count, sizeof count) == GABLE_ERR_STATE &&
            strstr(gable_last_error(), "the factor is LU"),
        "%s", gable_last_error());
  gable_solver_destroy(&s);
}

/* A saddle point [H B^T; B 0] with H positive definite of order M and B of full rank K: (M, K, 0).  From a file too,
 * and after new values. */
static void check_large(void)
{
  enum { M = 900, K = 300, N = M + K };
  int64_t ptr[N + 1] = {0};
  gable_idx *idx = malloc(sizeof *idx * 8 * N);
  double *val = malloc(sizeof *val * 8 * N);
  char path[] = "/tmp/gable-inertia-XXXXXX";
  const int file = mkstemp(path);
  for (gable_idx i = 0; i < N; i++) {
    int64_t p = ptr[i];
    if (i < M) {
      if (i) idx[p] = i - 1, val[p++] = -1;
      idx[p] = i, val[p++] = 2.5;
      if (i + 1 < M) idx[p] = i + 1, val[p++] = -1;
      idx[p] = M + i / (M / K), val[p++] = 1 + i % 3;
    } else {
      for (gable_idx j = 0; j < M / K; j++) idx[p] = (i - M) * (M / K) + j, val[p++] = 1 + j % 3;
    }
    ptr[i + 1] = p;
  }
  gable_solver *s = NULL, *loaded = NULL;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = N;
  v.ptr = ptr;
  v.idx = idx;
  v.val = val;
  gable_solver_options o = GABLE_SOLVER_OPTIONS_INIT;
  o.method = GABLE_METHOD_LDLT;
  s = test_factored(ctx, &v, &o);
  expect(s, (inertia){M, K, 0}, "saddle point");
  CHECK(file >= 0 && !close(file));
  CHECK_OK(gable_solver_save(s, path));
  CHECK_OK(gable_solver_create(ctx, NULL, &loaded));
  CHECK_OK(gable_solver_load(loaded, &v, path));
  expect(loaded, (inertia){M, K, 0}, "loaded");
  for (int64_t p = 0; p < ptr[N]; p++) val[p] = -val[p];
  CHECK_OK(gable_solver_load(loaded, &v, path));
  int64_t count;
  CHECK(gable_solver_get(loaded, GABLE_SOLVER_ZERO_EIGENVALUES, &count, sizeof count) == GABLE_ERR_STATE &&
            strstr(gable_last_error(), "other values"),
        "%s", gable_last_error());
  CHECK_OK(gable_solver_factor(s, val, GABLE_REUSE_ALL));
  expect(s, (inertia){K, M, 0}, "negated");
  remove(path);
  gable_solver_destroy(&s);
  gable_solver_destroy(&loaded);
  free(idx);
  free(val);
}

int main(void)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.threads = 1;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  options.threads = 3;
  CHECK_OK(gable_context_create("cpu", &options, &three_threads));
  check_small();
  check_kinds();
  check_large();
  gable_context_destroy(&ctx);
  gable_context_destroy(&three_threads);
  return 0;
}
