/* The solves and sweeps that are expected decide whether auto analyses for tiles; the answer has the same bits. */
#include "krylov/krylov.h"
#include "support/test.h"

#include <string.h>

enum { SIDE = 60, N = SIDE * SIDE, MANY = 1000000000 };

static gable_context *ctx;
static gable_off ptr[N + 1];
static gable_idx idx[5 * N];
static double val[5 * N];

static gable_matrix_view grid(void)
{
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_off nnz = 0;
  for (gable_idx i = 0; i < N; i++) {
    const gable_idx near[] = {i - SIDE, i - 1, i, i + 1, i + SIDE};
    for (int q = 0; q < 5; q++) {
      const int outside = near[q] < 0 || near[q] >= N || (q == 1 && i % SIDE == 0) || (q == 3 && i % SIDE == SIDE - 1);
      if (outside) continue;
      idx[nnz] = near[q];
      val[nnz++] = q == 2 ? 4.25 : -1;
    }
    ptr[i + 1] = nnz;
  }
  a.n_rows = a.n_cols = N;
  a.ptr = ptr;
  a.idx = idx;
  a.val = val;
  return a;
}

static void fill(double *b)
{
  for (gable_idx i = 0; i < N; i++) b[i] = 1.0 / (1 + i % 7);
}

static gable_vectors_view column(double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = N;
  v.ld = N;
  v.data = data;
  return v;
}

/* x = L^-1 b; returns whether auto said that tiles cannot earn their analysis. */
static int solved_by_serial(int64_t solves, double *x)
{
  static double b[N];
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  gable_trisolve *t = NULL;
  gable_trisolve_work *w = NULL;
  const gable_matrix_view a = grid();
  gable_vectors_view bv = column(b), xv = column(x);
  fill(b);
  options.uplo = GABLE_PART_LOWER;
  options.solves = solves;
  options.typical_rhs = 2;
  CHECK_OK(gable_trisolve_create(ctx, &options, &t));
  CHECK_OK(gable_trisolve_analyse(t, &a));
  CHECK_OK(gable_trisolve_update(t, a.val));
  CHECK_OK(gable_trisolve_work_create(t, 1, &w));
  CHECK_OK(gable_trisolve_solve(t, w, GABLE_OP_N, &bv, &xv));
  CHECK_OK(gable_trisolve_get_info(t, GABLE_OP_N, &info));
  const int serial = strstr(info.why, "cannot earn") != NULL;
  CHECK(!serial || !strcmp(info.method_used, "serial"), "%s by %s", info.why, info.method_used);
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&t);
  return serial;
}

static int swept_by_serial(int64_t sweeps, double *x)
{
  static double b[N];
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  gable_smoother_info info = GABLE_SMOOTHER_INFO_INIT;
  gable_smoother *s = NULL;
  const gable_matrix_view a = grid();
  gable_vectors_view bv = column(b), xv = column(x);
  fill(b);
  memset(x, 0, N * sizeof *x);
  options.solves = sweeps;
  CHECK_OK(gable_smoother_create(ctx, &options, &s));
  CHECK_OK(gable_smoother_analyse(s, &a));
  CHECK_OK(gable_smoother_update(s, a.val));
  CHECK_OK(gable_smoother_apply(s, &bv, &xv, 3, NULL));
  CHECK_OK(gable_smoother_get_info(s, &info));
  const int serial = strstr(info.why, "cannot earn") != NULL;
  CHECK(!serial || !strcmp(info.method_used, "serial"), "%s by %s", info.why, info.method_used);
  gable_smoother_destroy(&s);
  return serial;
}

/* Whether auto said so of the plans of a preconditioner, for so many solves of a Krylov method. */
static int preconditioned_by_serial(gable_precond *p)
{
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  gable_smoother_info sweeps = GABLE_SMOOTHER_INFO_INIT;
  const gable_matrix_view a = grid();
  CHECK_OK(gable_precond_analyse(p, &a));
  CHECK_OK(gable_precond_update(p, a.val));
  if (p->smoother) CHECK_OK(gable_smoother_get_info(p->smoother, &sweeps));
  if (p->first) CHECK_OK(gable_trisolve_get_info(p->first, GABLE_OP_N, &info));
  return strstr(p->smoother ? sweeps.why : info.why, "cannot earn") != NULL;
}

static void weighed_by_preconditioner(gable_preconditioner kind)
{
  gable_precond_options options = GABLE_PRECOND_OPTIONS_INIT;
  options.kind = kind;
  for (int64_t solves = 0; solves <= 10; solves += solves ? 9 : 1) {
    gable_precond *p = NULL;
    options.solves = solves;
    CHECK_OK(gable_precond_create(ctx, &options, &p));
    CHECK(preconditioned_by_serial(p) == (solves == 1), "%s, %d solves", gable_preconditioner_text(kind), (int)solves);
    gable_precond_destroy(&p);
  }
}

static void weighed_by_krylov(void)
{
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov *k = NULL;
  CHECK(options.solves == 10, "%d solves by default", (int)options.solves);
  options.preconditioner = GABLE_PRECOND_ILU0;
  options.solves = 7;
  CHECK_OK(gable_krylov_create(ctx, &options, &k));
  CHECK(gi_precond_applications(&k->own->options) == 7 * 30, "7 solves are %d applications",
        (int)gi_precond_applications(&k->own->options));
  gable_krylov_destroy(&k);
}

/* Numbers in the panels of the factor, zeros included, as it is expected to solve so often. */
static double panel_values(gable_form form, int64_t solves)
{
  gable_symbolic_options options = GABLE_SYMBOLIC_OPTIONS_INIT;
  gable_symbolic_info info = GABLE_SYMBOLIC_INFO_INIT;
  gable_symbolic *s = NULL;
  const gable_matrix_view a = grid();
  options.order = "natural";
  options.form = form;
  options.solves = solves;
  CHECK_OK(gable_symbolic_create(ctx, &a, &options, &s));
  CHECK_OK(gable_symbolic_get_info(s, &info));
  gable_symbolic_destroy(&s);
  return (double)info.stored;
}

/* Few solves take wider supernodes with more zeros, many take fewer. */
static void weighed_by_amalgamation(void)
{
  static const gable_form forms[] = {GABLE_FORM_CHOLESKY, GABLE_FORM_SYMMETRIC, GABLE_FORM_UNSYMMETRIC};
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
    const double few = panel_values(forms[f], 1), usual = panel_values(forms[f], 10),
                 many = panel_values(forms[f], 1000);
    CHECK(few > usual && usual > many, "%s: %g, %g and %g numbers", gable_form_text(forms[f]), few, usual, many);
    CHECK(panel_values(forms[f], 100) == usual, "%s: 100 solves are not as 10", gable_form_text(forms[f]));
  }
}

static void refused(void)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_smoother_options sweeps = GABLE_SMOOTHER_OPTIONS_INIT;
  gable_precond_options precond = GABLE_PRECOND_OPTIONS_INIT;
  gable_krylov_options krylov = GABLE_KRYLOV_OPTIONS_INIT;
  gable_trisolve *t = NULL;
  gable_smoother *s = NULL;
  gable_precond *p = NULL;
  gable_krylov *k = NULL;
  options.solves = -1;
  sweeps.solves = -1;
  precond.solves = krylov.solves = -1;
  CHECK(gable_precond_create(ctx, &precond, &p) == GABLE_ERR_ARGUMENT, "-1 solves are taken");
  CHECK(gable_krylov_create(ctx, &krylov, &k) == GABLE_ERR_ARGUMENT, "-1 solves are taken");
  CHECK(gable_trisolve_create(ctx, &options, &t) == GABLE_ERR_ARGUMENT, "-1 solves are taken");
  CHECK(gable_smoother_create(ctx, &sweeps, &s) == GABLE_ERR_ARGUMENT, "-1 sweeps are taken");
}

int main(void)
{
  static double many[N], few[N];
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  const gable_trisolve_options solve = GABLE_TRISOLVE_OPTIONS_INIT;
  const gable_smoother_options sweep = GABLE_SMOOTHER_OPTIONS_INIT;
  CHECK(solve.solves == 10 && sweep.solves == 10, "%d solves and %d sweeps by default", (int)solve.solves,
        (int)sweep.solves);
  CHECK(!solved_by_serial(0, many), "serial without a number of solves");
  CHECK(solved_by_serial(solve.solves, few) && !memcmp(many, few, sizeof many), "tiles by default");
  CHECK(!solved_by_serial(MANY, few) && !memcmp(many, few, sizeof many), "serial for many solves");
  CHECK(!solved_by_serial(INT64_MAX, few), "serial for all solves that a number holds");
  CHECK(solved_by_serial(1, few), "tiles for one solve");
  CHECK(!memcmp(many, few, sizeof many), "other bits");
  CHECK(!swept_by_serial(0, many), "serial without a number of sweeps");
  CHECK(!swept_by_serial(MANY, few) && !memcmp(many, few, sizeof many), "serial for many sweeps");
  CHECK(swept_by_serial(1, few), "tiles for one sweep");
  CHECK(!memcmp(many, few, sizeof many), "other bits");
  weighed_by_preconditioner(GABLE_PRECOND_GS);
  weighed_by_preconditioner(GABLE_PRECOND_ILU0);
  weighed_by_preconditioner(GABLE_PRECOND_IC0);
  weighed_by_krylov();
  weighed_by_amalgamation();
  refused();
  gable_context_destroy(&ctx);
  return 0;
}
