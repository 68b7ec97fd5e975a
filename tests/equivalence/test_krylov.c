/* Every solver with every preconditioner: true residuals, and that preconditioners pay; breakdowns and errors. */
#include "support/test.h"

#include "device/device.h"
#include "support/place.h"

/* The 5 point Laplacian of an m x m grid, and with wind != 0 a convection that makes it nonsymmetric. */
typedef struct grid {
  gable_idx n;
  int64_t *ptr;
  gable_idx *idx;
  double *val;
} grid;

static grid make(gable_idx m, double wind)
{
  const gable_idx n = m * m;
  grid g = {n, malloc(((size_t)n + 1) * 8), malloc((size_t)n * 20), malloc((size_t)n * 40)};
  int64_t q = 0;
  g.ptr[0] = 0;
  for (gable_idx i = 0; i < n; i++) {
    const gable_idx x = i % m, y = i / m;
    const struct {
      int there;
      gable_idx j;
      double v;
    } e[] = {{y > 0, i - m, -1},
             {x > 0, i - 1, -1 - wind},
             {1, i, 4},
             {x < m - 1, i + 1, -1 + wind},
             {y < m - 1, i + m, -1}};
    for (int k = 0; k < 5; k++)
      if (e[k].there) {
        g.idx[q] = e[k].j;
        g.val[q++] = e[k].v;
      }
    g.ptr[i + 1] = q;
  }
  return g;
}

static gable_matrix_view view_of(const grid *g)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = g->n;
  v.ptr = g->ptr;
  v.idx = g->idx;
  v.val = g->val;
  return v;
}

static gable_idx solve(gable_context *ctx, const grid *g, gable_krylov_solver solver, gable_preconditioner precond)
{
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov_info info = GABLE_KRYLOV_INFO_INIT;
  gable_matrix_view view = view_of(g);
  gable_krylov *k = NULL;
  double *b = malloc((size_t)g->n * 8), *x = calloc((size_t)g->n, 8), *history = malloc(2001 * 8);
  options.solver = solver;
  options.preconditioner = precond;
  options.max_iterations = 2000;
  for (gable_idx i = 0; i < g->n; i++) b[i] = 1 + (i % 3);
  CHECK_OK(gable_krylov_create(ctx, &options, &k));
  CHECK_OK(gable_krylov_set_matrix(k, &view));
  CHECK_OK(gable_krylov_solve(k, b, x, history));
  CHECK_OK(gable_krylov_get_info(k, &info));
  CHECK(info.converged && info.true_residual <= 1e-7, "solver %d precond %d: %g", (int)solver, (int)precond,
        info.true_residual);
  CHECK(history[info.iterations] == info.residual && history[0] > history[info.iterations]);
  double worst = 0; /* the residual once more, by hand */
  for (gable_idx i = 0; i < g->n; i++) {
    double r = b[i];
    for (int64_t p = g->ptr[i]; p < g->ptr[i + 1]; p++) r -= g->val[p] * x[g->idx[p]];
    worst = fmax(worst, fabs(r));
  }
  CHECK(worst < 1e-5, "%g", worst);
  gable_krylov_destroy(&k);
  free(b);
  free(x);
  free(history);
  return info.iterations;
}

/* b = 0 has x = 0 at once; a NaN in b is told and leaves x alone; vectors of the place give the bits of host vectors.
 */
static void check_vectors(gable_context *ctx, const grid *g, gable_krylov_solver solver, gable_preconditioner precond)
{
  const gable_idx n = g->n;
  const size_t bytes = (size_t)n * 8;
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov_info info = GABLE_KRYLOV_INFO_INIT;
  gable_matrix_view view = view_of(g);
  gable_vectors_view bv = GABLE_VECTORS_VIEW_INIT, xv;
  gable_krylov *k = NULL;
  double *b = calloc((size_t)n, 8), *x = malloc(bytes), *again = malloc(bytes), history[1001];
  char row[40];
  options.solver = solver;
  options.preconditioner = precond;
  CHECK_OK(gable_krylov_create(ctx, &options, &k));
  CHECK_OK(gable_krylov_set_matrix(k, &view));
  for (gable_idx i = 0; i < n; i++) x[i] = 1;
  CHECK_OK(gable_krylov_solve(k, b, x, history));
  CHECK_OK(gable_krylov_get_info(k, &info));
  for (gable_idx i = 0; i < n; i++) CHECK(x[i] == 0, "solver %d: x[%d] = %g for b = 0", (int)solver, i, x[i]);
  CHECK(info.converged && info.iterations == 0 && info.true_residual == 0, "%d", info.iterations);

  snprintf(row, sizeof row, "in row %d (counted from 0)", n / 2);
  for (int in_x = 1; in_x >= 0; in_x--) {
    for (gable_idx i = 0; i < n; i++) b[i] = x[i] = 1;
    (in_x ? x : b)[n / 2] = NAN;
    CHECK(gable_krylov_solve(k, b, x, history) == GABLE_ERR_NOT_FINITE, "%s", gable_last_error());
    CHECK(strstr(gable_last_error(), in_x ? "x, the first" : "b holds") && strstr(gable_last_error(), row), "%s",
          gable_last_error());
    for (gable_idx i = 0; i < n; i++)
      CHECK(x[i] == 1 || (in_x && i == n / 2), "solver %d: x[%d] = %g after a NaN", (int)solver, i, x[i]);
  }

  for (gable_idx i = 0; i < n; i++) b[i] = 1 + (i % 5);
  CHECK_OK(gable_krylov_solve(k, b, x, NULL));
  bv.n = n;
  bv.ld = n;
  bv.space = gable_context_space(ctx);
  CHECK_OK(gable_device_alloc(ctx, bytes, &bv.data));
  xv = bv;
  CHECK_OK(gable_device_alloc(ctx, bytes, &xv.data));
  for (gable_idx i = 0; i < n; i++) again[i] = 1;
  CHECK_OK(gable_device_copy_in(ctx, bv.data, b, bytes, NULL));
  CHECK_OK(gable_device_copy_in(ctx, xv.data, again, bytes, NULL));
  CHECK(gable_krylov_solve_vectors(k, &bv, &bv, NULL) == GABLE_ERR_ARGUMENT);
  CHECK_OK(gable_krylov_solve_vectors(k, &bv, &xv, NULL));
  CHECK_OK(gable_device_copy_out(ctx, again, xv.data, bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  CHECK(!memcmp(x, again, bytes), "solver %d precond %d: vectors of the place give other bits", (int)solver,
        (int)precond);
  gable_device_free(ctx, &bv.data);
  gable_device_free(ctx, &xv.data);
  gable_krylov_destroy(&k);
  free(b);
  free(x);
  free(again);
}

/* Entry k of the history is what is left when the solver is stopped after k iterations, restarts included. */
static void check_history(gable_context *ctx, const grid *g, gable_krylov_solver solver, gable_preconditioner precond)
{
  const gable_idx n = g->n;
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_matrix_view view = view_of(g);
  double *b = malloc((size_t)n * 8), *x = malloc((size_t)n * 8), whole[1001], history[1001];
  gable_idx iterations = 0;
  options.solver = solver;
  options.preconditioner = precond;
  options.restart = 5;
  for (gable_idx i = 0; i < n; i++) b[i] = 1 + (i % 4);
  for (gable_idx last = 0; last <= 12 && (!last || last < iterations); last++) { /* first all of them */
    gable_krylov_info info = GABLE_KRYLOV_INFO_INIT;
    gable_krylov *k = NULL;
    options.max_iterations = last;
    for (gable_idx i = 0; i < n; i++) x[i] = 0;
    for (int i = 0; i <= 1000; i++) history[i] = -1;
    CHECK_OK(gable_krylov_create(ctx, &options, &k));
    CHECK_OK(gable_krylov_set_matrix(k, &view));
    CHECK(gable_krylov_solve(k, b, x, history) == (last ? GABLE_ERR_TOLERANCE : GABLE_OK));
    CHECK_OK(gable_krylov_get_info(k, &info));
    gable_krylov_destroy(&k);
    if (!last) {
      iterations = info.iterations;
      memcpy(whole, history, sizeof whole);
      CHECK(fabs(whole[0] - 1) < 1e-12 && whole[iterations] <= 1e-8 && whole[iterations + 1] == -1, "solver %d",
            (int)solver);
      continue;
    }
    CHECK(info.iterations == last && history[last] == info.residual, "solver %d: %d", (int)solver, info.iterations);
    CHECK(fabs(whole[last] - info.true_residual) <= 1e-6 * info.true_residual,
          "solver %d precond %d, iteration %d: %.9g in the history, %.9g left", (int)solver, (int)precond, last,
          whole[last], info.true_residual);
  }
  free(b);
  free(x);
}

/* The context's own device, which notes whether the last fill of device memory has been waited for. */
static struct {
  const gi_device *own;
  gi_device table;
  int under_way;
} planted;

static gable_status noting_fill(gable_context *on, void *p, int byte, size_t bytes, void *stream)
{
  planted.under_way = 1;
  return planted.own->fill(on, p, byte, bytes, stream);
}

static gable_status noting_synchronise(gable_context *on, void *stream)
{
  planted.under_way = 0;
  return planted.own->synchronise(on, stream);
}

/* b = 0 has x = 0, which is written when the call returns. */
static void check_zero(gable_context *ctx)
{
  int64_t ptr[] = {0, 1, 2};
  gable_idx idx[] = {0, 1};
  double val[] = {2, 4}, b[] = {0, 0}, x[] = {1, 1};
  grid g = {2, ptr, idx, val};
  const gable_matrix_view view = view_of(&g);
  gable_vectors_view bv = GABLE_VECTORS_VIEW_INIT, xv;
  gable_krylov *k = NULL;
  planted.own = ctx->device;
  planted.table = *ctx->device;
  planted.table.fill = noting_fill;
  planted.table.synchronise = noting_synchronise;
  ctx->device = &planted.table;
  bv.n = 2;
  bv.space = gable_context_space(ctx);
  xv = bv;
  CHECK_OK(gable_krylov_create(ctx, NULL, &k));
  CHECK_OK(gable_krylov_set_matrix(k, &view));
  CHECK_OK(gable_device_alloc(ctx, sizeof b, &bv.data));
  CHECK_OK(gable_device_alloc(ctx, sizeof x, &xv.data));
  CHECK_OK(gable_device_copy_in(ctx, bv.data, b, sizeof b, NULL));
  CHECK_OK(gable_device_copy_in(ctx, xv.data, x, sizeof x, NULL));
  CHECK_OK(gable_krylov_solve_vectors(k, &bv, &xv, NULL));
  CHECK(!planted.under_way, "the call returned before x was written");
  CHECK_OK(gable_device_copy_out(ctx, x, xv.data, sizeof x, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  CHECK(x[0] == 0 && x[1] == 0, "x = %g, %g", x[0], x[1]);
  gable_device_free(ctx, &bv.data);
  gable_device_free(ctx, &xv.data);
  gable_krylov_destroy(&k);
  ctx->device = planted.own;
}

static void check_breakdown(gable_context *ctx)
{
  int64_t ptr[] = {0, 2, 4};
  gable_idx idx[] = {0, 1, 0, 1};
  double indefinite[] = {1, 2, 2, 1}, zero[] = {0, 1, 1, 0}, b[] = {1, -1}, x[] = {0, 0};
  grid g = {2, ptr, idx, indefinite};
  gable_matrix_view view = view_of(&g);
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov_info info = GABLE_KRYLOV_INFO_INIT;
  gable_krylov *k = NULL;
  options.solver = GABLE_KRYLOV_CG; /* auto takes it on a CPU, which finds the symmetry, but not on a GPU */
  CHECK_OK(gable_krylov_create(ctx, &options, &k));
  CHECK(gable_krylov_solve(k, b, x, NULL) == GABLE_ERR_STATE);
  CHECK_OK(gable_krylov_set_matrix(k, &view));
  CHECK(gable_krylov_solve(k, b, x, NULL) == GABLE_ERR_TOLERANCE && strstr(gable_last_error(), "breakdown"));
  gable_krylov_destroy(&k);
  options.preconditioner = GABLE_PRECOND_IC0; /* needs a shift: 1 - 4 < 0 */
  CHECK_OK(gable_krylov_create(ctx, &options, &k));
  CHECK_OK(gable_krylov_set_matrix(k, &view));
  CHECK_OK(gable_krylov_get_info(k, &info));
  CHECK(info.shift > 0.9);
  gable_krylov_destroy(&k);
  view.value_type = GABLE_TYPE_Z; /* idx and ptr would do, val has two numbers an entry */
  CHECK_OK(gable_krylov_create(ctx, &options, &k));
  CHECK(gable_krylov_set_matrix(k, &view), "complex values taken for real ones");
  view.value_type = GABLE_TYPE_D;
  view.part = GABLE_PART_LOWER;
  CHECK(gable_krylov_set_matrix(k, &view), "one triangle taken for the matrix");
  view.part = GABLE_PART_FULL;
  gable_krylov_destroy(&k);
  options.preconditioner = GABLE_PRECOND_GS;
  options.method = "no such";
  CHECK(gable_krylov_create(ctx, &options, &k) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "no such"), "%s",
        gable_last_error());
  options.method = NULL;
  view.val = zero;
  for (int p = GABLE_PRECOND_JACOBI; p <= GABLE_PRECOND_IC0; p++) {
    options.preconditioner = (gable_preconditioner)p;
    CHECK_OK(gable_krylov_create(ctx, &options, &k));
    CHECK(gable_krylov_set_matrix(k, &view) == GABLE_ERR_SINGULAR && strstr(gable_last_error(), "row 0"), "%d: %s", p,
          gable_last_error());
    gable_krylov_destroy(&k);
  }
}

/* Squares of what is in b and A overflow or vanish: norms do not.  On a GPU they do, and so do dot products: an error.
 */
static void check_scale(gable_context *ctx)
{
  const double of_a[] = {1e200, 1, 1}, of_b[] = {1, 1e160, 1e-170};
  for (int s = test_place_is_gpu(ctx); s < 3; s++) {
    gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
    gable_krylov_info info = GABLE_KRYLOV_INFO_INIT;
    gable_krylov *k = NULL;
    grid g = make(8, 0.3);
    double b[64], x[64] = {0};
    long double left = 0, whole = 0;
    for (int64_t p = 0; p < g.ptr[g.n]; p++) g.val[p] *= of_a[s];
    for (gable_idx i = 0; i < g.n; i++) b[i] = of_b[s] * (1 + i % 3);
    const gable_matrix_view view = view_of(&g);
    options.solver = GABLE_KRYLOV_GMRES;
    CHECK_OK(gable_krylov_create(ctx, &options, &k));
    CHECK_OK(gable_krylov_set_matrix(k, &view));
    const gable_status status = gable_krylov_solve(k, b, x, NULL);
    CHECK(status == (test_place_is_gpu(ctx) ? GABLE_ERR_NOT_FINITE : GABLE_OK), "%d: %s", s, gable_last_error());
    CHECK_OK(gable_krylov_get_info(k, &info));
    for (gable_idx i = 0; i < g.n; i++) {
      long double r = b[i];
      for (int64_t p = g.ptr[i]; p < g.ptr[i + 1]; p++) r -= (long double)g.val[p] * x[g.idx[p]];
      left += r * r;
      whole += (long double)b[i] * b[i];
    }
    CHECK(status || fabs(info.true_residual / (double)sqrtl(left / whole) - 1) < 1e-3, "%d: %g", s, info.true_residual);
    CHECK(status || info.true_residual <= 1e-7, "%d: %g, not %g", s, info.true_residual, (double)sqrtl(left / whole));
    gable_krylov_destroy(&k);
    free(g.ptr);
    free(g.idx);
    free(g.val);
  }
}

static void check_options(gable_context *ctx)
{
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov *k = NULL;
  options.threads = -1;
  CHECK(gable_krylov_create(ctx, &options, &k) == GABLE_ERR_ARGUMENT && !k, "%s", gable_last_error());
  options.threads = 0;
  options.restart = INT32_MAX;
  CHECK(gable_krylov_create(ctx, &options, &k) == GABLE_ERR_ARGUMENT && !k, "%s", gable_last_error());
  options.restart = -1;
  CHECK(gable_krylov_create(ctx, &options, &k) == GABLE_ERR_ARGUMENT && !k, "%s", gable_last_error());
}

int main(int argc, char **argv)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.threads = 2;
  gable_context *ctx = test_place(argc, argv, &options);
  enum { SIDE = 50 };
  const gable_idx side = argc > 2 ? (gable_idx)atol(argv[2]) : SIDE; /* of the grid: smaller for slow tools */
  grid symmetric = make(side, 0), windy = make(side, 0.4);
  for (int s = GABLE_KRYLOV_CG; s <= GABLE_KRYLOV_GMRES; s++) {
    gable_idx count[5] = {0};
    for (int p = 0; p < 5; p++) {
      if (side < SIDE && p != s) continue; /* for slow tools: each once */
      count[p] = solve(ctx, &symmetric, (gable_krylov_solver)s, (gable_preconditioner)p);
      if (s != GABLE_KRYLOV_CG && p != GABLE_PRECOND_IC0)
        solve(ctx, &windy, (gable_krylov_solver)s, (gable_preconditioner)p);
    }
    if (side < SIDE) continue;
    CHECK(2 * count[GABLE_PRECOND_IC0] < count[0] && 2 * count[GABLE_PRECOND_ILU0] < count[0] &&
              count[GABLE_PRECOND_GS] < count[0],
          "solver %d: %d %d %d %d %d", s, count[0], count[1], count[2], count[3], count[4]);
    if (s == GABLE_KRYLOV_CG) /* on a symmetric matrix both factorizations are the same preconditioner */
      CHECK(abs(count[GABLE_PRECOND_IC0] - count[GABLE_PRECOND_ILU0]) <= 1, "%d %d", count[3], count[4]);
  }
  for (int s = GABLE_KRYLOV_CG; s <= GABLE_KRYLOV_GMRES; s++)
    for (int p = 0; p < 5; p++)
      if (side == SIDE || p == s + 2) check_vectors(ctx, &symmetric, (gable_krylov_solver)s, (gable_preconditioner)p);
  for (int s = GABLE_KRYLOV_CG; s <= GABLE_KRYLOV_GMRES; s++) {
    check_history(ctx, &symmetric, (gable_krylov_solver)s, GABLE_PRECOND_GS);
    if (side == SIDE)
      check_history(ctx, s == GABLE_KRYLOV_CG ? &symmetric : &windy, (gable_krylov_solver)s, GABLE_PRECOND_ILU0);
  }
  check_zero(ctx);
  check_breakdown(ctx);
  check_scale(ctx);
  check_options(ctx);
  free(symmetric.ptr);
  free(symmetric.idx);
  free(symmetric.val);
  free(windy.ptr);
  free(windy.idx);
  free(windy.val);
  gable_context_destroy(&ctx);
  return 0;
}
