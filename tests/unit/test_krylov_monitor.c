/* The monitor of a Krylov solver hears of every iteration once, in order, with the residuals of the history, and stops
 * the solve at each of them; GABLE_KRYLOV_AUTO takes CG for what is symmetric and BiCGSTAB for all else. */
#include "support/test.h"

enum { N = 400, MOST = 300 };

static gable_context *ctx;

/* A tridiagonal matrix: 2.1 on the diagonal, -1 - wind left of it and -1 + wind right of it. */
typedef struct band {
  int64_t ptr[N + 1];
  gable_idx idx[3 * N];
  double val[3 * N], b[N], x[N];
} band;

static void make_values(band *a, double wind)
{
  for (gable_idx i = 0; i < N; i++)
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) a->val[p] = a->idx[p] == i ? 2.1 : -1 + (a->idx[p] - i) * wind;
}

static gable_matrix_view view_of(band *a)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  int64_t p = 0;
  for (gable_idx i = 0; i < N; i++) {
    a->ptr[i] = p;
    for (gable_idx j = i ? i - 1 : 0; j <= i + 1 && j < N; j++) a->idx[p++] = j;
    a->b[i] = 1 + i % 3;
  }
  a->ptr[N] = p;
  v.n_rows = v.n_cols = N;
  v.ptr = a->ptr;
  v.idx = a->idx;
  v.val = a->val;
  return v;
}

typedef struct listener {
  int calls, stop_at; /* -1: never */
  double residual[MOST + 1];
} listener;

static int listen(void *user, gable_idx iteration, double residual)
{
  listener *l = user;
  CHECK(iteration == l->calls, "iteration %d comes after %d calls", iteration, l->calls);
  l->residual[l->calls++] = residual;
  return iteration == l->stop_at;
}

static gable_status solve(gable_krylov *k, band *a, double *history)
{
  for (gable_idx i = 0; i < N; i++) a->x[i] = 0;
  return gable_krylov_solve(k, a->b, a->x, history);
}

static gable_krylov *made(gable_krylov_solver solver, gable_preconditioner preconditioner, const gable_matrix_view *v)
{
  gable_krylov_options o = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov *k = NULL;
  o.solver = solver;
  o.preconditioner = preconditioner;
  o.max_iterations = MOST;
  o.restart = 7;
  CHECK_OK(gable_krylov_create(ctx, &o, &k));
  if (v) CHECK_OK(gable_krylov_set_matrix(k, v));
  return k;
}

static void check_monitor(gable_krylov_solver solver)
{
  static band a;
  static listener l;
  static double history[MOST + 1], x[N];
  gable_krylov_info info = GABLE_KRYLOV_INFO_INIT;
  gable_matrix_view v = view_of(&a);
  make_values(&a, solver == GABLE_KRYLOV_CG ? 0 : 0.2);
  gable_krylov *k = made(solver, GABLE_PRECOND_JACOBI, &v);
  CHECK_OK(solve(k, &a, history));
  memcpy(x, a.x, sizeof x);
  CHECK_OK(gable_krylov_set_monitor(k, listen, &l));
  l.stop_at = -1;
  CHECK_OK(solve(k, &a, NULL));
  CHECK_OK(gable_krylov_get_info(k, &info));
  CHECK(info.iterations > 10 && l.calls == info.iterations + 1, "%d calls in %d iterations", l.calls, info.iterations);
  for (int i = 0; i <= info.iterations; i++) /* GMRES computes the one at a restart again */
    CHECK(fabs(l.residual[i] - history[i]) <= 1e-6 * history[i], "residual %d: %g, %g", i, l.residual[i], history[i]);
  CHECK(!memcmp(x, a.x, sizeof x), "the monitor changes the answer");
  const int most = info.iterations;
  for (int stop = 0; stop < most; stop += 1 + most / 9) {
    l.calls = 0;
    l.stop_at = stop;
    CHECK(solve(k, &a, NULL) == GABLE_ERR_CANCELLED, "stop at %d", stop);
    char said[60];
    snprintf(said, sizeof said, "the monitor stopped the solver after %d iterations", stop);
    CHECK(l.calls == stop + 1 && strstr(gable_last_error(), said), "%d calls: %s", l.calls, gable_last_error());
    CHECK_OK(gable_krylov_get_info(k, &info));
    CHECK(info.iterations == stop && !info.converged && !strcmp(info.stop, "cancelled"), "%d, '%s'", info.iterations,
          info.stop);
  }
  CHECK_OK(gable_krylov_set_monitor(k, NULL, NULL));
  l.calls = 0;
  CHECK_OK(solve(k, &a, NULL));
  CHECK(!l.calls && !memcmp(x, a.x, sizeof x), "a monitor that was taken away hears of iterations, or is missed");
  CHECK(gable_krylov_set_monitor(NULL, listen, &l) == GABLE_ERR_ARGUMENT);
  gable_krylov_destroy(&k);
}

static gable_krylov_solver solver_of(gable_krylov *k, band *a)
{
  gable_krylov_info info = GABLE_KRYLOV_INFO_INIT;
  CHECK_OK(solve(k, a, NULL));
  CHECK_OK(gable_krylov_get_info(k, &info));
  return info.solver;
}

static gable_status multiply(void *user, const double *x, double *y)
{
  const band *a = user;
  for (gable_idx i = 0; i < N; i++) {
    y[i] = 0;
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) y[i] += a->val[p] * x[a->idx[p]];
  }
  return GABLE_OK;
}

static gable_status copy(void *user, const double *x, double *y)
{
  (void)user;
  memcpy(y, x, N * sizeof *y);
  return GABLE_OK;
}

static void check_auto(void)
{
  static band a;
  gable_matrix_view v = view_of(&a);
  make_values(&a, 0);
  for (int p = GABLE_PRECOND_NONE; p <= GABLE_PRECOND_IC0; p++) {
    gable_krylov *k = made(GABLE_KRYLOV_AUTO, (gable_preconditioner)p, &v);
    CHECK(solver_of(k, &a) == GABLE_KRYLOV_CG, "preconditioner %d", p);
    gable_krylov_destroy(&k);
  }
  gable_krylov *k = made(GABLE_KRYLOV_AUTO, GABLE_PRECOND_ILU0, &v);
  char said[200];
  snprintf(said, sizeof said, "%s", gable_last_error());
  make_values(&a, 0.3);
  CHECK_OK(gable_krylov_update(k, a.val)); /* the work stays */
  CHECK(!strcmp(said, gable_last_error()), "that A is not symmetric counts as an error: %s", gable_last_error());
  CHECK(solver_of(k, &a) == GABLE_KRYLOV_BICGSTAB);
  make_values(&a, 0);
  CHECK_OK(gable_krylov_update(k, a.val));
  CHECK(solver_of(k, &a) == GABLE_KRYLOV_CG);
  CHECK_OK(gable_krylov_set_precond_function(k, copy, NULL));
  CHECK(solver_of(k, &a) == GABLE_KRYLOV_BICGSTAB, "a callback's symmetry is not known");
  gable_krylov_destroy(&k);
  k = made(GABLE_KRYLOV_AUTO, GABLE_PRECOND_NONE, NULL);
  CHECK_OK(gable_krylov_set_operator(k, N, multiply, &a));
  CHECK(solver_of(k, &a) == GABLE_KRYLOV_BICGSTAB, "a callback's symmetry is not known");
  gable_krylov_destroy(&k);
  for (int s = GABLE_KRYLOV_CG; s <= GABLE_KRYLOV_GMRES; s++) {
    k = made((gable_krylov_solver)s, GABLE_PRECOND_NONE, &v);
    CHECK(solver_of(k, &a) == (gable_krylov_solver)s);
    gable_krylov_destroy(&k);
  }
  for (int negative = 0; negative < 2; negative++) { /* CG ends at a negative definite A at once: BiCGSTAB solves it */
    make_values(&a, 0);
    for (int64_t p = 0; p < a.ptr[N]; p++) a.val[p] *= negative ? -1 : 1;
    k = made(GABLE_KRYLOV_AUTO, GABLE_PRECOND_NONE, &v);
    CHECK(solver_of(k, &a) == (negative ? GABLE_KRYLOV_BICGSTAB : GABLE_KRYLOV_CG), "negative %d", negative);
    gable_krylov_destroy(&k);
  }
  v.n_rows = v.n_cols = 0; /* nothing is symmetric */
  k = made(GABLE_KRYLOV_AUTO, GABLE_PRECOND_NONE, &v);
  CHECK_OK(gable_krylov_solve(k, a.b, a.x, NULL));
  gable_krylov_destroy(&k);
}

static gable_status fail(void *user, const double *x, double *y)
{
  const char *text = user;
  (void)x;
  (void)y;
  return text ? gable_set_error(GABLE_ERR_IO, text) : GABLE_ERR_IO;
}

/* The error of a callback is its own where it left one, and never an older one. */
static void check_failing_callbacks(void)
{
  static char said[] = "the disk is full";
  static band a;
  (void)view_of(&a);
  make_values(&a, 0);
  for (int s = GABLE_KRYLOV_CG; s <= GABLE_KRYLOV_GMRES; s++)
    for (int preconditions = 0; preconditions < 2; preconditions++)
      for (int speaks = 0; speaks < 2; speaks++) {
        gable_krylov_options o = GABLE_KRYLOV_OPTIONS_INIT;
        gable_krylov *k = NULL;
        o.solver = (gable_krylov_solver)s;
        CHECK_OK(gable_krylov_create(ctx, &o, &k));
        CHECK_OK(gable_krylov_set_operator(k, N, preconditions ? multiply : fail,
                                           preconditions ? (void *)&a
                                           : speaks      ? said
                                                         : NULL));
        if (preconditions) CHECK_OK(gable_krylov_set_precond_function(k, fail, speaks ? said : NULL));
        CHECK(gable_set_error(GABLE_ERR_LIMIT, "an older one") == GABLE_ERR_LIMIT);
        CHECK(gable_krylov_solve(k, a.b, a.x, NULL) == GABLE_ERR_IO);
        const char *expected = speaks          ? said
                               : preconditions ? "the preconditioner returned 4: file cannot be read or written"
                                               : "the operator returned 4: file cannot be read or written";
        CHECK(!strcmp(gable_last_error(), expected), "solver %d: '%s', not '%s'", s, gable_last_error(), expected);
        gable_krylov_destroy(&k);
      }
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  check_failing_callbacks();
  for (int s = GABLE_KRYLOV_CG; s <= GABLE_KRYLOV_GMRES; s++) check_monitor((gable_krylov_solver)s);
  check_auto();
  gable_context_destroy(&ctx);
  return 0;
}
