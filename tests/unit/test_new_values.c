/* New values under an analysis: what is swept with are theirs, the scalings are found again where that was asked for
 * and not elsewhere, symmetry and backward errors are judged by them. Solutions are looked at before refinement, which
 * repairs a wrong factor. */
#include "support/test.h"

#include "support/place.h"
#include "support/systems.h"

enum { N = 200 };

static gable_context *ctx;

static int64_t integer_of(const gable_solver *s, gable_solver_key key)
{
  int64_t value = -1;
  CHECK_OK(gable_solver_get(s, key, &value, sizeof value));
  return value;
}

static void fill(double *b)
{
  for (gable_idx i = 0; i < N; i++) b[i] = 1 + i % 7;
}

/* One sweep, both ops. */
static void check_sweeps(const gable_solver *s, const test_system *a, const char *name)
{
  gable_solver_work *w = NULL;
  double b[N], x[N];
  gable_vectors_view vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, x);
  fill(b);
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int op = 0; op < 2; op++) {
    CHECK_OK(gable_solver_apply(s, w, (gable_op)op, GABLE_FACTOR_ALL, &vb, &vx));
    const double error = test_backward_error(a, (gable_op)op, b, x);
    CHECK(error <= 1e-11, "%s, op %d: backward error %g before refinement", name, op, error);
  }
  gable_solver_work_destroy(&w);
}

static void sweeps_have_new_values(test_kind kind, gable_method method)
{
  test_system a = test_system_make(kind, N, 4);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  const gable_matrix_view v = test_system_view(&a);
  options.method = method;
  gable_solver *s = test_factored(ctx, &v, &options);
  check_sweeps(s, &a, test_kind_name(kind));
  for (int64_t k = 0; k < a.ptr[N]; k++) a.val[k] *= 0.5; /* the second time the diagonal as well */
  CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ALL));
  check_sweeps(s, &a, test_kind_name(kind));
  for (gable_idx j = 0; j < N; j++)
    for (int64_t k = a.ptr[j]; k < a.ptr[j + 1]; k++) a.val[k] *= a.idx[k] == j ? 3 : 1;
  CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ROWS));
  check_sweeps(s, &a, test_kind_name(kind));
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* Rows from 2^-20 to 2^20 times what they were: GABLE_REUSE_ROWS scales them,
 * GABLE_REUSE_ALL does not. */
static void scalings_follow(void)
{
  test_system a = test_system_make(TEST_DOMINANT, N, 6);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver *s = test_factored(ctx, &v, NULL);
  double before[N], after[N], top[N] = {0}, column[N];
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ROW_SCALE, before, sizeof before));
  for (int64_t k = 0; k < a.ptr[N]; k++) a.val[k] = ldexp(a.val[k], (int)(a.idx[k] % 41) - 20);
  CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ALL));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ROW_SCALE, after, sizeof after));
  CHECK(!memcmp(before, after, sizeof after), "GABLE_REUSE_ALL found other scalings");
  CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ROWS));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ROW_SCALE, after, sizeof after));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_COLUMN_SCALE, column, sizeof column));
  for (gable_idx j = 0; j < N; j++)
    for (int64_t k = a.ptr[j]; k < a.ptr[j + 1]; k++)
      top[a.idx[k]] = fmax(top[a.idx[k]], fabs(a.val[k]) * after[a.idx[k]] * column[j]);
  for (gable_idx i = 0; i < N; i++)
    CHECK(top[i] >= 0.2 && top[i] <= 5, "the largest entry of row %d is %g after scaling", i, top[i]);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* Values are symmetric to a few units in the last place, not to a few digits.
 */
static void symmetry_is_of_values(void)
{
  static const struct {
    double apart;
    int symmetric;
  } cases[] = {{0, 1}, {2.3e-16, 1}, {1e-14, 0}, {1e-9, 0}, {1e-3, 0}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    test_system a = test_system_make(TEST_SPD, N, 8);
    const gable_matrix_view v = test_system_view(&a);
    int64_t k = a.ptr[0] + 1; /* below the diagonal of column 0 */
    CHECK(a.idx[k] > 0);
    a.val[k] *= 1 + cases[c].apart;
    gable_solver *s = test_factored(ctx, &v, NULL);
    CHECK(integer_of(s, GABLE_SOLVER_SYMMETRIC_PATTERN) == 1);
    CHECK(integer_of(s, GABLE_SOLVER_SYMMETRIC_VALUES) == cases[c].symmetric, "%g apart", cases[c].apart);
    gable_solver_destroy(&s);
    test_system_free(&a);
  }
}

/* The backward error is measured by the new values: 1e-12 times the old ones,
 * in float, without a step of refinement. */
static void errors_are_of_new_values(void)
{
  test_system a = test_system_make(TEST_SPD, N, 3);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver_work *w = NULL;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  double b[N], x[N];
  gable_vectors_view vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, x);
  options.factor_type = GABLE_TYPE_S;
  options.refine_steps = 0;
  options.tolerance = 1e-3;
  gable_solver *s = test_factored(ctx, &v, &options);
  for (int64_t k = 0; k < a.ptr[N]; k++) a.val[k] *= 1e-12;
  CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ROWS));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  fill(b);
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
  CHECK_OK(gable_solver_work_report(w, &report));
  const double defined = test_backward_error(&a, GABLE_OP_N, b, x);
  CHECK(defined > 1e-10 && fabs(report.backward_error - defined) <= 0.01 * defined, "%g, by definition %g",
        report.backward_error, defined);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* Floats have a loop of their own. */
static void every_float_is_looked_at(void)
{
  test_system a = test_system_make(TEST_DOMINANT, N, 5);
  float *val = malloc((size_t)a.ptr[N] * sizeof *val);
  gable_matrix_view v = test_system_view(&a);
  gable_solver *s = NULL;
  v.val = val;
  v.value_type = GABLE_TYPE_S;
  for (int64_t k = 0; k < a.ptr[N]; k++) val[k] = (float)a.val[k];
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  for (int64_t k = 0; k < a.ptr[N]; k++) {
    const float held = val[k];
    val[k] = k % 2 ? NAN : INFINITY;
    CHECK(gable_solver_analyse(s, &v) == GABLE_ERR_NOT_FINITE, "value %d", (int)k);
    val[k] = held;
  }
  CHECK_OK(gable_solver_analyse(s, &v));
  gable_solver_destroy(&s);
  free(val);
  test_system_free(&a);
}

int main(int argc, char **argv)
{
  ctx = test_place(argc, argv, NULL);
  sweeps_have_new_values(TEST_DOMINANT, GABLE_METHOD_LU);
  sweeps_have_new_values(TEST_SPD, GABLE_METHOD_CHOLESKY);
  sweeps_have_new_values(TEST_SPD, GABLE_METHOD_LDLT);
  scalings_follow();
  symmetry_is_of_values();
  errors_are_of_new_values();
  every_float_is_looked_at();
  gable_context_destroy(&ctx);
  return 0;
}
