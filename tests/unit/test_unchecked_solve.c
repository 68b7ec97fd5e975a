/* options.unchecked: a solve is the sweep of gable_solver_apply, and no backward error is held against the tolerance.
 */
#include "support/test.h"

#include "support/systems.h"

enum { N = 200, COLUMNS = 3 };

static void solve(const char *where, const test_system *a, int unchecked)
{
  static double b[COLUMNS * N], x[COLUMNS * N], y[COLUMNS * N];
  gable_context *ctx = NULL;
  gable_solver_work *w = NULL;
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  const gable_matrix_view v = test_system_view(a);
  const gable_vectors_view vb = test_vectors(N, COLUMNS, b);
  gable_vectors_view vx = test_vectors(N, COLUMNS, x), vy = test_vectors(N, COLUMNS, y);
  for (int i = 0; i < COLUMNS * N; i++) b[i] = 1 + i % 7;
  CHECK_OK(gable_context_create(where, NULL, &ctx));
  options.refine_steps = 0;
  options.tolerance = 1e-300;
  options.unchecked = unchecked;
  gable_solver *s = test_factored(ctx, &v, &options);
  CHECK_OK(gable_solver_work_create(s, COLUMNS, &w));
  const gable_status status = gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx);
  CHECK(status == (unchecked ? GABLE_OK : GABLE_ERR_TOLERANCE), "%s: %s", where, gable_status_text(status));
  CHECK_OK(gable_solver_work_report(w, &report));
  CHECK(unchecked ? isnan(report.backward_error) : report.backward_error > 0, "%s: %g", where, report.backward_error);
  CHECK_OK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_ALL, &vb, &vy));
  CHECK(!memcmp(x, y, sizeof x), "%s: x is not that of a sweep", where);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  options.refine_steps = 1;
  CHECK((gable_solver_create(ctx, &options, &s) == GABLE_ERR_ARGUMENT) == unchecked, "%s: one step", where);
  gable_solver_destroy(&s);
  gable_context_destroy(&ctx);
}

int main(void)
{
  test_system a = test_system_make(TEST_UNSYMMETRIC, N, 3);
  for (int unchecked = 0; unchecked < 2; unchecked++) {
    solve("cpu", &a, unchecked);
    solve("mirror", &a, unchecked);
  }
  test_system_free(&a);
  return 0;
}
