/* The solves and sweeps that are expected decide whether auto analyses for tiles; the answer has the same bits. */
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
  gable_work *w = NULL;
  const gable_matrix_view a = grid();
  gable_vectors_view bv = column(b), xv = column(x);
  fill(b);
  options.uplo = GABLE_PART_LOWER;
  options.solves = solves;
  CHECK_OK(gable_trisolve_create(ctx, &options, &t));
  CHECK_OK(gable_trisolve_analyse(t, &a));
  CHECK_OK(gable_trisolve_update(t, a.val));
  CHECK_OK(gable_work_create(t, 1, &w));
  CHECK_OK(gable_trisolve_solve(t, w, GABLE_OP_N, &bv, &xv));
  CHECK_OK(gable_trisolve_get_info(t, GABLE_OP_N, &info));
  const int serial = strstr(info.why, "cannot earn") != NULL;
  CHECK(!serial || !strcmp(info.method_used, "serial"), "%s by %s", info.why, info.method_used);
  gable_work_destroy(&w);
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
  options.sweeps = sweeps;
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

static void refused(void)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_smoother_options sweeps = GABLE_SMOOTHER_OPTIONS_INIT;
  gable_trisolve *t = NULL;
  gable_smoother *s = NULL;
  options.solves = -1;
  sweeps.sweeps = -1;
  CHECK(gable_trisolve_create(ctx, &options, &t) == GABLE_ERR_ARGUMENT, "-1 solves are taken");
  CHECK(gable_smoother_create(ctx, &sweeps, &s) == GABLE_ERR_ARGUMENT, "-1 sweeps are taken");
}

int main(void)
{
  static double many[N], few[N];
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  CHECK(!solved_by_serial(0, many), "serial without a number of solves");
  CHECK(!solved_by_serial(MANY, few) && !memcmp(many, few, sizeof many), "serial for many solves");
  CHECK(solved_by_serial(1, few), "tiles for one solve");
  CHECK(!memcmp(many, few, sizeof many), "other bits");
  CHECK(!swept_by_serial(0, many), "serial without a number of sweeps");
  CHECK(!swept_by_serial(MANY, few) && !memcmp(many, few, sizeof many), "serial for many sweeps");
  CHECK(swept_by_serial(1, few), "tiles for one sweep");
  CHECK(!memcmp(many, few, sizeof many), "other bits");
  refused();
  gable_context_destroy(&ctx);
  return 0;
}
