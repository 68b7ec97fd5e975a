/* A value that never comes, through the solver object, on the place that the first argument names: the first task of
 * every sweep is missing.  Solves, applies and estimates end with an error that names a cluster, once; works beside
 * them and solves after them have the right bits. */
#include "support/test.h"

#include "device/device.h"
#include "kernels/supernodal/cluster_flow.h"
#include "support/place.h"
#include "support/systems.h"

static gable_context *ctx;

/* The context's own device, but for the sweeps. */
static struct {
  const gi_device *own;
  gi_device device;
  gik_kernels kernels;
  gik_cluster_flows flows;
  int missing; /* 1: the first task */
} planted;

static gable_status planted_solve(gable_context *on, const gik_cluster_flow *p, void *stream)
{
  gik_cluster_flow flow = *p;
  flow.skip = planted.missing;
  if (planted.missing) flow.deadline_ns = 20000000;
  return planted.own->kernels->cluster_flows->solve(on, &flow, stream);
}

static void plant(void)
{
  planted.own = ctx->device;
  planted.device = *ctx->device;
  planted.kernels = *ctx->device->kernels;
  planted.flows = *ctx->device->kernels->cluster_flows;
  planted.flows.solve = planted_solve;
  planted.kernels.cluster_flows = &planted.flows;
  planted.device.kernels = &planted.kernels;
  ctx->device = &planted.device;
}

static void check_named(gable_status status, const char *what)
{
  CHECK(status == GABLE_ERR_DEADLINE && strstr(gable_last_error(), "(supernodes "), "%s: %d, %s", what, (int)status,
        gable_last_error());
}

/* Everything that sweeps, with a work of its own: what a GPU has recorded for it misses the task for ever. */
static void check_missing(const gable_solver *s, const double *b, double *x, void *db, void *dx)
{
  gable_solver_work *w = NULL;
  gable_idx n;
  double number;
  int64_t rows;
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_N, &rows, sizeof rows));
  n = (gable_idx)rows;
  gable_vectors_view hb = test_vectors(n, 1, (double *)(uintptr_t)b), hx = test_vectors(n, 1, x), tb = hb, tx = hx;
  tb.space = tx.space = GABLE_SPACE_DEVICE;
  tb.data = db;
  tx.data = dx;
  planted.missing = 1;
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int op = 0; op < 2; op++) {
    check_named(gable_solver_apply(s, w, (gable_op)op, GABLE_FACTOR_ALL, &hb, &hx), "apply");
    check_named(gable_solver_solve(s, w, (gable_op)op, &hb, &hx), "solve");
    CHECK_OK(gable_solver_work_status(w));
    CHECK_OK(gable_solver_apply(s, w, (gable_op)op, GABLE_FACTOR_ALL, &tb, &tx));
    check_named(gable_solver_work_status(w), "apply in device memory");
    CHECK_OK(gable_solver_work_status(w)); /* told once */
    CHECK_OK(gable_solver_solve(s, w, (gable_op)op, &tb, &tx));
    check_named(gable_solver_work_status(w), "solve in device memory");
    CHECK_OK(gable_solver_work_status(w));
    check_named(gable_solver_forward_error(s, w, (gable_op)op, &hb, &hb, &number), "forward error");
  }
  check_named(gable_solver_rcond(s, w, &number), "rcond");
  planted.missing = 0;
  CHECK_OK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_ALL, &hb, &hx)); /* which nothing records */
  gable_solver_work_destroy(&w);
}

static void check_kind(gable_method method)
{
  enum { SIDE = 60, N = SIDE * SIDE };
  test_system a = test_system_make(TEST_SPD, N, 3);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver_work *w = NULL;
  double *b = malloc(3 * N * sizeof *b), *x = b + N, *first = b + 2 * (size_t)N;
  void *db = NULL, *dx = NULL;
  int64_t levels = 0;
  gable_vectors_view vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, x);
  options.method = method;
  gable_solver *s = test_factored(ctx, &v, &options);
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_DEVICE_LEVELS, &levels, sizeof levels));
  CHECK(levels > 1, "one task waits for nobody");
  CHECK_OK(gable_device_alloc(ctx, N * sizeof *b, &db));
  CHECK_OK(gable_device_alloc(ctx, N * sizeof *b, &dx));
  for (int i = 0; i < N; i++) b[i] = 1 + i % 5;
  CHECK_OK(gable_device_copy_in(ctx, db, b, N * sizeof *b, NULL));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int round = 0; round < 2; round++) {
    CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
    if (!round) memcpy(first, x, N * sizeof *x);
    CHECK(!memcmp(first, x, N * sizeof *x), "other bits after a solve that failed");
    if (!round) check_missing(s, b, x, db, dx);
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  gable_device_free(ctx, &db);
  gable_device_free(ctx, &dx);
  test_system_free(&a);
  free(b);
}

int main(int argc, char **argv)
{
  ctx = test_place(argc, argv, NULL);
  if (gable_context_space(ctx) != GABLE_SPACE_DEVICE) SKIP("the CPU has no device memory: give mirror or cuda:0");
  plant();
  check_kind(GABLE_METHOD_CHOLESKY);
  check_kind(GABLE_METHOD_LU);
  ctx->device = planted.own;
  gable_context_destroy(&ctx);
  return 0;
}
