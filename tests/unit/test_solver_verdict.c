/* What a solver says about what it was given: NaN and infinity in b and in values, by row and column from 0; a matrix
 * that is numerically singular. */
#include "support/test.h"

#include "base/random.h"
#include "support/place.h"
#include "support/systems.h"

enum { N = 30 };

static gable_context *ctx;

/* b is refused before x is touched, in every layout and type. */
static void not_finite_b(void)
{
  enum { COUNT = 3, BAD = 17 };
  test_system a = test_system_make(TEST_DOMINANT, N, 3);
  gable_matrix_view v = test_system_view(&a);
  gable_solver *s = test_factored(ctx, &v, NULL);
  gable_solver_work *w = NULL;
  double b[N * COUNT], x[N * COUNT];
  float fb[N * COUNT];
  const double wrong[] = {NAN, INFINITY, -INFINITY};
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int form = 0; form < 4; form++) {
    const int by_rows = form & 1, bad = by_rows ? BAD * COUNT + 2 : BAD + 2 * N;
    gable_vectors_view vb = test_vectors(N, COUNT, b), vx = test_vectors(N, COUNT, x);
    if (by_rows) vb.major = GABLE_MAJOR_ROW;
    if (by_rows) vb.ld = COUNT;
    if (form & 2) vb.type = GABLE_TYPE_S;
    if (form & 2) vb.data = fb;
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < N * COUNT; i++) b[i] = fb[i] = 1;
      for (int i = 0; i < N * COUNT; i++) x[i] = 7;
      b[bad] = wrong[k];
      fb[bad] = (float)wrong[k];
      CHECK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx) == GABLE_ERR_NOT_FINITE &&
                strstr(gable_last_error(), "row 17, column 2 (counted from 0)"),
            "form %d: %s", form, gable_last_error());
      for (int i = 0; i < N * COUNT; i++) CHECK(x[i] == 7);
    }
    b[bad] = fb[bad] = 1;
    CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

static void expect_said(const gable_matrix_view *v, gable_status want, const char *words)
{
  gable_solver *s = NULL;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  const gable_status got = gable_solver_analyse(s, v);
  CHECK(got == want && strstr(gable_last_error(), words), "%d, not %d: %s, not %s", (int)got, (int)want,
        gable_last_error(), words);
  gable_solver_destroy(&s);
}

/* Lists of CSR are rows, those of CSC columns, and both count from 0 whatever the base of the view. */
static void rows_count_from_0(void)
{
  for (int base = 0; base < 2; base++)
    for (int by_rows = 0; by_rows < 2; by_rows++) {
      int64_t ptr[] = {base, base + 2, base + 3, base + 5};
      gable_idx idx[] = {base, base + 2, base + 1, base, base + 2};
      double val[] = {4, 1, 4, 2, 4};
      gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
      v.n_rows = v.n_cols = 3;
      v.format = by_rows ? GABLE_FORMAT_CSR : GABLE_FORMAT_CSC;
      v.base = base;
      v.ptr = ptr;
      v.idx = idx;
      v.val = val;
      val[1] = NAN;
      expect_said(&v, GABLE_ERR_NOT_FINITE, by_rows ? "row 0, column 2 (" : "row 2, column 0 (");
      val[1] = 1;
      idx[4] = base;
      expect_said(&v, GABLE_ERR_ARGUMENT, by_rows ? "in row 2 (counted from 0)" : "in column 2 (counted from 0)");
      idx[4] = base + 2;
      ptr[1] = base + 4;
      expect_said(&v, GABLE_ERR_ARGUMENT, by_rows ? "after row 1 (counted from 0)" : "after column 1 (counted from 0)");
      ptr[1] = base + 2;
      idx[2] = base + 2; /* nothing is left for row or column 1 */
      v.val = val;
      expect_said(&v, GABLE_ERR_SINGULAR, by_rows ? "row" : "row 1 (counted from 0)");
    }
}

static int64_t integer_of(const gable_solver *s, gable_solver_key key)
{
  int64_t value = -1;
  CHECK_OK(gable_solver_get(s, key, &value, sizeof value));
  return value;
}

/* [1 2; 2 4]: an answer, and a status of its own; strict: an error of factor. */
static void numerically_singular(void)
{
  int64_t ptr[] = {0, 2, 4};
  gable_idx idx[] = {0, 1, 0, 1};
  double val[] = {1, 2, 2, 4}, regular[] = {1, 2, 2, 5}, b[] = {1, 1}, x[2], rcond;
  const test_system a = {2, ptr, idx, val};
  gable_matrix_view v = test_system_view(&a);
  for (int form = 0; form < 4; form++) {
    gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
    gable_solver *s = NULL;
    gable_solver_work *w = NULL;
    gable_vectors_view vb = test_vectors(2, 1, b), vx = test_vectors(2, 1, x);
    options.method = form & 1 ? GABLE_METHOD_LU : GABLE_METHOD_AUTO;
    options.strict = form >> 1;
    CHECK_OK(gable_solver_create(ctx, &options, &s));
    CHECK_OK(gable_solver_analyse(s, &v));
    if (options.strict) {
      CHECK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING) == GABLE_ERR_SINGULAR &&
                strstr(gable_last_error(), "numerically singular: 1 pivots"),
            "form %d: %s", form, gable_last_error());
    } else {
      CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
      CHECK(integer_of(s, GABLE_SOLVER_NUMERICALLY_SINGULAR) == 1, "form %d", form);
      CHECK_OK(gable_solver_work_create(s, 1, &w));
      memset(x, 0xff, sizeof x);
      const gable_status status = gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx);
      CHECK(status == GABLE_NUMERICALLY_SINGULAR, "form %d: %s", form, gable_last_error());
      CHECK(test_backward_error(&a, GABLE_OP_N, b, x) <= 1e-12);
      CHECK(isfinite(x[0]) && isfinite(x[1]));
      CHECK_OK(gable_solver_rcond(s, w, &rcond));
      CHECK(rcond < 2.2e-16, "form %d: rcond %g", form, rcond);
      gable_solver_work_destroy(&w);
    }
    CHECK_OK(gable_solver_factor(s, regular, GABLE_REUSE_NOTHING));
    CHECK(integer_of(s, GABLE_SOLVER_NUMERICALLY_SINGULAR) == 0, "form %d", form);
    CHECK_OK(gable_solver_work_create(s, 1, &w));
    CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
    gable_solver_work_destroy(&w);
    gable_solver_destroy(&s);
  }
}

/* rcond of s is 0 but for rounding.  Where pivots were replaced, which is when 1 is returned, s is numerically
 * singular, and so is a solver that has loaded its factor. */
static int said_singular(gable_solver *s, const gable_matrix_view *v, const gable_solver_options *options)
{
  gable_solver *loaded = NULL;
  gable_solver_work *w = NULL;
  char image[16384];
  size_t bytes = sizeof image;
  double rcond = -1;
  const int replaced = integer_of(s, GABLE_SOLVER_PERTURBED_PIVOTS) > 0;
  CHECK(!replaced || integer_of(s, GABLE_SOLVER_NUMERICALLY_SINGULAR) == 1, "tolerance %g, %d corrections",
        options->tolerance, options->refine_steps);
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  CHECK_OK(gable_solver_rcond(s, w, &rcond));
  CHECK(rcond < 2.2e-16, "tolerance %g, factor type %d: rcond %g", options->tolerance, (int)options->factor_type,
        rcond);
  gable_solver_work_destroy(&w);
  if (!replaced) return 0;
  CHECK_OK(gable_solver_save_memory(s, image, &bytes));
  CHECK_OK(gable_solver_create(ctx, options, &loaded));
  CHECK_OK(gable_solver_load_memory(loaded, v, image, bytes));
  CHECK(integer_of(loaded, GABLE_SOLVER_NUMERICALLY_SINGULAR) == 1, "loaded");
  gable_solver_destroy(&loaded);
  return 1;
}

/* Full matrices with a row that is a multiple of another, whatever tolerance and refinement solves are to have. */
static void singular_whatever_solves_do(void)
{
  enum { ROWS = 9, MATRICES = 60 };
  static const double tolerances[] = {0, 1e-8, 1e-4};
  int64_t ptr[ROWS + 1];
  gable_idx idx[ROWS * ROWS];
  double val[ROWS * ROWS];
  const test_system a = {ROWS, ptr, idx, val};
  const gable_matrix_view v = test_system_view(&a); /* by columns */
  gi_random r = gi_random_seed(5);
  int replaced = 0;
  for (int j = 0; j <= ROWS; j++) ptr[j] = j * ROWS;
  for (int k = 0; k < ROWS * ROWS; k++) idx[k] = k % ROWS;
  for (int m = 0; m < MATRICES; m++) {
    for (int k = 0; k < ROWS * ROWS; k++) val[k] = 2 * gi_random_unit(&r) - 1;
    for (int j = 0; j < ROWS; j++) val[j * ROWS + 5] = 0.7 * val[j * ROWS + 2];
    for (int form = 0; form < 6; form++) {
      gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
      options.tolerance = tolerances[form % 3];
      options.refine_steps = form < 3 ? -1 : 0;
      options.match = m % 2 ? GABLE_CHOICE_NEVER : GABLE_CHOICE_AUTO;
      options.factor_type = m % 3 ? GABLE_TYPE_D : GABLE_TYPE_S;
      gable_solver *s = test_factored(ctx, &v, &options);
      replaced += said_singular(s, &v, &options);
      gable_solver_destroy(&s);
    }
  }
  CHECK(replaced > 50, "pivots were replaced in %d factors", replaced);
}

/* A row or a column without a number but zero, in values of a pattern that has none: rcond is 0. */
static void empty_rows(void)
{
  int64_t ptr[] = {0, 2, 4};
  gable_idx idx[] = {0, 1, 0, 1};
  double regular[] = {1, 2, 2, 5}, wrong[][4] = {{0, 0, 0, 0}, {1, 2, 0, 0}, {1, 0, 2, 0}}, rcond = -1;
  const test_system a = {2, ptr, idx, regular};
  const gable_matrix_view v = test_system_view(&a);
  for (int k = 0; k < 6; k++) {
    gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
    gable_solver_work *w = NULL;
    options.match = GABLE_CHOICE_NEVER;
    options.strict = k % 2;
    gable_solver *s = test_factored(ctx, &v, &options);
    const gable_status status = gable_solver_factor(s, wrong[k / 2], GABLE_REUSE_ALL);
    CHECK(status == (k % 2 ? GABLE_ERR_SINGULAR : GABLE_OK), "case %d: status %d: %s", k, (int)status,
          gable_last_error());
    if (!status) {
      CHECK(integer_of(s, GABLE_SOLVER_NUMERICALLY_SINGULAR) == 1, "case %d", k);
      CHECK_OK(gable_solver_work_create(s, 1, &w));
      CHECK_OK(gable_solver_rcond(s, w, &rcond));
      CHECK(rcond == 0, "case %d: rcond %g", k, rcond);
      gable_solver_work_destroy(&w);
    }
    gable_solver_destroy(&s);
  }
}

/* Two singular matrices of which the estimate of rcond meets right-hand sides alone that have a solution; these have
 * none, and their huge x tells. */
static void huge_answers(void)
{
  enum { ROWS = 3 };
  int64_t ptr[] = {0, 3, 6, 9};
  gable_idx idx[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  double val[][ROWS * ROWS] = {{-1, 2, 2, -2, 1, -1, 1, -2, -2}, {-1, 1, 1, -1, 1, 1, -1, 1, 1}}, x[ROWS];
  double b[][ROWS] = {{4, -4, 0}, {2, 1, -1}};
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.match = GABLE_CHOICE_NEVER;
  options.method = GABLE_METHOD_LU;
  for (int k = 0; k < 4; k++) {
    const int in_place = k / 2;
    const test_system a = {ROWS, ptr, idx, val[k % 2]};
    const gable_matrix_view v = test_system_view(&a);
    gable_vectors_view vb = test_vectors(ROWS, 1, b[k % 2]), vx = test_vectors(ROWS, 1, in_place ? b[k % 2] : x);
    gable_solver_work *w = NULL;
    gable_solver *s = test_factored(ctx, &v, &options);
    CHECK_OK(gable_solver_work_create(s, 1, &w));
    CHECK(integer_of(s, GABLE_SOLVER_NUMERICALLY_SINGULAR) == 0, "matrix %d: known before", k % 2);
    const gable_status status = gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx);
    CHECK(status == GABLE_NUMERICALLY_SINGULAR && strstr(gable_last_error(), "so large"), "matrix %d: status %d: %s",
          k % 2, (int)status, gable_last_error());
    gable_solver_work_destroy(&w);
    gable_solver_destroy(&s);
  }
}

/* What rounding x to float makes of the report: x = 2^-140 (1 + 2^-12) has an error only then, in the column that has
 * it; an x beyond the range of floats is no stalled refinement. */
static void float_vectors(void)
{
  enum { COUNT = 4, WORST = 2 };
  int64_t ptr[] = {0, 1};
  gable_idx idx[] = {0};
  double val[] = {0x1p40};
  float b[COUNT] = {0, 0, 0x1.001p-100f, 0}, x[COUNT];
  const test_system a = {1, ptr, idx, val};
  const gable_matrix_view v = test_system_view(&a);
  gable_vectors_view vb = test_vectors(1, COUNT, NULL), vx = test_vectors(1, COUNT, NULL);
  gable_solver_work *w = NULL;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.tolerance = 1e-2;
  vb.type = vx.type = GABLE_TYPE_S;
  vb.data = b;
  vx.data = x;
  gable_solver *s = test_factored(ctx, &v, &options);
  CHECK_OK(gable_solver_work_create(s, COUNT, &w));
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
  CHECK_OK(gable_solver_work_report(w, &report));
  CHECK(report.worst == WORST && report.backward_error > 1e-5 && report.first_error == 0,
        "column %d, error %g, before rounding %g", report.worst, report.backward_error, report.first_error);
  val[0] = 1e-30;
  b[WORST] = 1e20f;
  CHECK_OK(gable_solver_factor(s, val, GABLE_REUSE_ALL));
  CHECK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx) == GABLE_ERR_TOLERANCE, "an x beyond floats");
  CHECK_OK(gable_solver_work_report(w, &report));
  CHECK(report.worst == WORST && strstr(report.reason, "overflows"), "column %d: %s", report.worst, report.reason);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
}

/* New values that floats do not hold under the old scalings: all pivots are replaced, GMRES solves, and the bound is
 * that of the matrix, not of such a factor. */
static void forward_error_of_replaced_pivots(void)
{
  enum { ROWS = 6 };
  test_system a = test_system_make(TEST_DOMINANT, ROWS, 3);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver_work *w = NULL;
  double b[ROWS], x[ROWS], bound = 0;
  gable_vectors_view vb = test_vectors(ROWS, 1, b), vx = test_vectors(ROWS, 1, x);
  options.factor_type = GABLE_TYPE_S;
  gable_solver *s = test_factored(ctx, &v, &options);
  for (int64_t k = 0; k < a.ptr[ROWS]; k++) a.val[k] *= 0x1p-200;
  for (int i = 0; i < ROWS; i++) b[i] = 1 + i;
  CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ALL));
  CHECK(integer_of(s, GABLE_SOLVER_PERTURBED_PIVOTS) == ROWS, "pivots were not replaced");
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
  CHECK_OK(gable_solver_forward_error(s, w, GABLE_OP_N, &vb, &vx, &bound));
  CHECK(bound > 1e-16 && bound < 1e-9, "forward error %g", bound);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

int main(int argc, char **argv)
{
  ctx = test_place(argc, argv, NULL);
  not_finite_b();
  rows_count_from_0();
  numerically_singular();
  singular_whatever_solves_do();
  empty_rows();
  huge_answers();
  float_vectors();
  forward_error_of_replaced_pivots();
  gable_context_destroy(&ctx);
  return 0;
}
