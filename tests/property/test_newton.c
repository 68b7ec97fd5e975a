/* A sequence of Jacobians of one pattern: the first one is symmetric positive definite by chance, later ones are not.
 * Under every level of reuse the values decide the method: x is right after few corrections, without GMRES. */
#include "support/test.h"

#include "support/systems.h"

enum { SIDE = 24, N = SIDE * SIDE, MOST = 5 * N };

typedef enum jacobian {
  POSITIVE,   /* 5-point Laplacian */
  CONVECTIVE, /* with a strong first derivative */
  SHIFTED,    /* symmetric, eigenvalues of both signs */
  MIXED,      /* both */
  HOLLOW,     /* symmetric, a third of the diagonal is zero */
  JACOBIANS
} jacobian;

static const char *const names[JACOBIANS] = {"positive", "convective", "shifted", "mixed", "hollow"};

static gable_context *ctx;
static int64_t ptr[N + 1];
static gable_idx idx[MOST];
static double val[MOST];

static double entry(jacobian kind, int i, int j)
{
  const double wind = kind == CONVECTIVE ? 0.9 : kind == MIXED ? 0.1 : 0;
  if (i != j) return -1 + (i < j ? wind : -wind) + (wind > 0 ? 0.01 * (i % 7) : 0);
  if (kind == HOLLOW && i % 3 == 0) return 0;
  return 4.1 - (kind == SHIFTED || kind == MIXED ? 3.3 + 0.1 * (i % 5) : 0);
}

static test_system make(jacobian kind)
{
  int64_t at = 0;
  for (int j = 0; j < N; j++) {
    const int near[] = {j - SIDE, j - 1, j, j + 1, j + SIDE};
    ptr[j] = at;
    for (int k = 0; k < 5; k++) {
      if (near[k] < 0 || near[k] >= N || (k == 1 && j % SIDE == 0) || (k == 3 && j % SIDE == SIDE - 1)) continue;
      idx[at] = near[k];
      val[at++] = entry(kind, near[k], j);
    }
  }
  ptr[N] = at;
  return (test_system){N, ptr, idx, val};
}

static int64_t integer_of(const gable_solver *s, gable_solver_key key)
{
  int64_t value = -1;
  CHECK_OK(gable_solver_get(s, key, &value, sizeof value));
  return value;
}

static void check_answer(const gable_solver *s, const test_system *a, const char *name)
{
  gable_solver_work *w = NULL;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  double b[N], x[N];
  gable_vectors_view vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, x);
  for (int i = 0; i < N; i++) b[i] = (i * 7 % 11) - 4.5;
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int op = 0; op < 2; op++) {
    const gable_status status = gable_solver_solve(s, w, (gable_op)op, &vb, &vx);
    CHECK(status == GABLE_OK, "%s, op %d: %s", name, op, gable_last_error());
    const double error = test_backward_error(a, (gable_op)op, b, x);
    CHECK(error <= 1e-12, "%s, op %d: %g", name, op, error);
    CHECK_OK(gable_solver_work_report(w, &report));
    CHECK(report.gmres_iterations == 0 && report.refine_steps <= 3, "%s, op %d: %d steps, %d of GMRES", name, op,
          report.refine_steps, report.gmres_iterations);
  }
  gable_solver_work_destroy(&w);
}

static int symmetric(jacobian kind)
{
  return kind != CONVECTIVE && kind != MIXED;
}

/* The first Jacobian is analysed, then this one comes, then the first again. */
static void check_turn(jacobian kind, gable_reuse reuse, gable_structure structure)
{
  char name[100];
  snprintf(name, sizeof name, "%s, reuse %d, structure %d", names[kind], (int)reuse, (int)structure);
  test_system a = make(POSITIVE);
  gable_matrix_view v = test_system_view(&a);
  v.structure = structure;
  gable_solver *s = test_factored(ctx, &v, NULL);
  CHECK(integer_of(s, GABLE_SOLVER_METHOD) == GABLE_METHOD_CHOLESKY, "%s", name);
  make(kind);
  const gable_status status = gable_solver_factor(s, val, reuse);
  if (structure != GABLE_STRUCTURE_GENERAL && !symmetric(kind)) {
    CHECK(status == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "mirror image"), "%s: %s", name,
          gable_last_error());
    make(POSITIVE);
    check_answer(s, &a, name);
  } else {
    CHECK(status == GABLE_OK, "%s: %s", name, gable_last_error());
    CHECK(!integer_of(s, GABLE_SOLVER_DRIFT), "%s", name);
    check_answer(s, &a, name);
    make(POSITIVE);
    CHECK_OK(gable_solver_factor(s, val, reuse));
    check_answer(s, &a, name);
  }
  gable_solver_destroy(&s);
}

/* All of them in turn with one solver. */
static void check_sequence(gable_reuse reuse)
{
  static const jacobian order[] = {POSITIVE, SHIFTED, HOLLOW, SHIFTED, CONVECTIVE, POSITIVE, MIXED, CONVECTIVE};
  test_system a = make(POSITIVE);
  gable_matrix_view v = test_system_view(&a);
  gable_solver *s = test_factored(ctx, &v, NULL);
  for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
    make(order[k]);
    CHECK_OK(gable_solver_factor(s, val, reuse));
    check_answer(s, &a, names[order[k]]);
  }
  gable_solver_destroy(&s);
}

/* What was asked for is not left: an error names the entry, or the pivot and another method. */
static void check_asked(void)
{
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.method = GABLE_METHOD_CHOLESKY;
  test_system a = make(POSITIVE);
  gable_matrix_view v = test_system_view(&a);
  gable_solver *s = test_factored(ctx, &v, &options), *other = NULL;
  make(CONVECTIVE);
  CHECK(gable_solver_factor(s, val, GABLE_REUSE_ALL) == GABLE_ERR_ARGUMENT &&
            strstr(gable_last_error(), "Cholesky was asked for"),
        "%s", gable_last_error());
  CHECK_OK(gable_solver_create(ctx, &options, &other));
  CHECK(gable_solver_analyse(other, &v) == GABLE_ERR_ARGUMENT, "unsymmetric values");
  make(SHIFTED);
  CHECK(gable_solver_factor(s, val, GABLE_REUSE_ALL) == GABLE_ERR_SINGULAR &&
            strstr(gable_last_error(), "not positive definite"),
        "%s", gable_last_error());
  gable_solver_destroy(&s);
  gable_solver_destroy(&other);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (int reuse = GABLE_REUSE_NOTHING; reuse <= GABLE_REUSE_ALL; reuse++) {
    for (int kind = CONVECTIVE; kind < JACOBIANS; kind++) {
      check_turn((jacobian)kind, (gable_reuse)reuse, GABLE_STRUCTURE_GENERAL);
      check_turn((jacobian)kind, (gable_reuse)reuse, GABLE_STRUCTURE_SYMMETRIC);
      check_turn((jacobian)kind, (gable_reuse)reuse, GABLE_STRUCTURE_SPD);
    }
    check_sequence((gable_reuse)reuse);
  }
  check_asked();
  gable_context_destroy(&ctx);
  return 0;
}
