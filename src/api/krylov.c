/* krylov.c: gable_krylov: checks arguments and phases, runs the solver. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "base/timer.h"
#include "device/device.h"
#include "krylov/bicgstab.h"
#include "precond/precond.h"

struct gable_krylov {
  gable_context *ctx;
  gable_krylov_options options; /* filled in */
  gi_precond precond;
  gable_idx n;
  int ready;
  double *work;         /* CG, BiCGSTAB: their vectors; one more for the true residual */
  gi_gmres_work *gmres; /* GMRES */
  gable_krylov_info info;
};

static gable_status options_from(const gable_context *ctx, const gable_krylov_options *given, gable_krylov_options *own)
{
  gable_status status = GABLE_OK;
  *own = (gable_krylov_options)GABLE_KRYLOV_OPTIONS_INIT;
  GI_TRY(gi_options_take(given, own, sizeof *own, "GABLE_KRYLOV_OPTIONS_INIT"));
  GI_REQUIRE(own->solver >= GABLE_CG && own->solver <= GABLE_GMRES, GABLE_ERR_ARGUMENT, "solver is %d",
             (int)own->solver);
  GI_REQUIRE(own->preconditioner >= GABLE_PRECOND_NONE && own->preconditioner <= GABLE_PRECOND_IC0, GABLE_ERR_ARGUMENT,
             "preconditioner is %d", (int)own->preconditioner);
  GI_REQUIRE(own->tolerance >= 0 && own->tolerance < 1, GABLE_ERR_ARGUMENT, "tolerance is %g", own->tolerance);
  GI_REQUIRE(own->max_iterations >= 0 && own->restart >= 0, GABLE_ERR_ARGUMENT, "max_iterations is %d, restart %d",
             own->max_iterations, own->restart);
  if (own->tolerance == 0) own->tolerance = 1e-8;
  if (!own->max_iterations) own->max_iterations = 1000;
  if (!own->restart) own->restart = 30;
  if (own->threads <= 0 || own->threads > ctx->threads) own->threads = ctx->threads;
done:
  return status;
}

gable_status gable_krylov_create(gable_context *ctx, const gable_krylov_options *options, gable_krylov **out)
{
  gable_status status = GABLE_OK;
  gable_krylov *k = NULL;
  gable_krylov_options own;
  GI_REQUIRE(ctx && out, GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "out" : "ctx");
  *out = NULL;
  GI_REQUIRE(ctx->automatic || ctx->device != &gi_device_cuda, GABLE_ERR_UNAVAILABLE,
             "Krylov solvers run on the CPU so far: create the context with \"cpu\"");
  GI_TRY(options_from(ctx, options, &own));
  GI_ALLOC_ZERO(ctx, k, 1);
  k->ctx = ctx;
  k->options = own;
  k->info = (gable_krylov_info)GABLE_KRYLOV_INFO_INIT;
  *out = k;
done:
  return status;
}

static void forget(gable_krylov *k)
{
  gi_precond_release(k->ctx, &k->precond);
  gi_free(k->ctx, k->work);
  gi_gmres_work_destroy(k->ctx, &k->gmres);
  k->work = NULL;
  k->ready = 0;
}

void gable_krylov_destroy(gable_krylov **k)
{
  if (!k || !*k) return;
  gable_krylov *p = *k;
  *k = NULL;
  forget(p);
  gi_free(p->ctx, p);
}

/* A by rows, whatever the view. */
static gable_status read_rows(gable_context *ctx, const gable_matrix_view *a, gi_csc *rows)
{
  gable_status status = GABLE_OK;
  gi_csc columns;
  memset(&columns, 0, sizeof columns);
  GI_REQUIRE(a && a->val, GABLE_ERR_ARGUMENT, "the matrix or its values are NULL");
  GI_REQUIRE(a->n_rows == a->n_cols, GABLE_ERR_ARGUMENT, "the matrix is %d x %d, not square", a->n_rows, a->n_cols);
  GI_REQUIRE(a->space == GABLE_HOST, GABLE_ERR_UNAVAILABLE, "Krylov solvers want the matrix in host memory");
  GI_TRY(gi_csc_from_view(ctx, a, &columns));
  GI_TRY(gi_csc_transpose(ctx, &columns, rows));
done:
  gi_csc_release(ctx, &columns);
  return status;
}

gable_status gable_krylov_set_matrix(gable_krylov *k, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  const double start = gi_now();
  gi_csc rows;
  memset(&rows, 0, sizeof rows);
  GI_REQUIRE(k, GABLE_ERR_ARGUMENT, "the solver is NULL");
  forget(k);
  k->info = (gable_krylov_info)GABLE_KRYLOV_INFO_INIT;
  GI_TRY(read_rows(k->ctx, a, &rows));
  k->n = rows.n_cols;
  GI_TRY(gi_precond_make(k->ctx, k->options.preconditioner, k->options.method, k->options.threads, &rows, &k->precond));
  GI_ALLOC(k->ctx, k->work, (gable_off)(GI_BICGSTAB_VECTORS + 1) * k->n);
  if (k->options.solver == GABLE_GMRES) GI_TRY(gi_gmres_work_create(k->ctx, k->n, k->options.restart, &k->gmres));
  if (k->precond.first) {
    gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
    GI_TRY(gable_trisolve_get_info(k->precond.first, GABLE_N, &info));
    memcpy(k->info.method_used, info.method_used, sizeof info.method_used);
  }
  k->info.shift = k->precond.shift;
  k->info.setup_s = gi_now() - start;
  k->ready = 1;
done:
  if (k) gi_csc_release(k->ctx, &rows);
  return status;
}

static gable_status apply(void *user, const double *x, double *y)
{
  gable_krylov *k = user;
  gi_precond_multiply(&k->precond, k->options.threads, x, y);
  return GABLE_OK;
}

static gable_status precondition(void *user, const double *x, double *y)
{
  return gi_precond_apply(&((gable_krylov *)user)->precond, x, y);
}

static gable_status run(gable_krylov *k, const double *b, double *x, double *history, const char **stop)
{
  static const char *const stops[] = {"converged", "iterations", "breakdown", "not finite"};
  gable_status status = GABLE_OK;
  const gable_krylov_options *o = &k->options;
  const gi_operator m = o->preconditioner == GABLE_PRECOND_NONE ? NULL : precondition;
  if (o->solver == GABLE_GMRES) {
    gi_gmres_result r;
    GI_TRY(gi_gmres(apply, m, k, b, x, o->tolerance, o->max_iterations, k->gmres, &r));
    k->info.iterations = r.iterations;
    k->info.residual = r.residual;
    *stop = stops[r.reason == GI_GMRES_NOT_FINITE ? 3 : r.reason];
  } else {
    gi_iteration how = {o->tolerance, o->max_iterations, history, k->work};
    gi_iteration_result r = {GI_STOP_ITERATIONS, 0, 0};
    GI_TRY((o->solver == GABLE_CG ? gi_cg : gi_bicgstab)(k->n, apply, m, k, b, x, &how, &r));
    k->info.iterations = r.iterations;
    k->info.residual = r.residual;
    *stop = stops[r.stop];
  }
done:
  return status;
}

gable_status gable_krylov_solve(gable_krylov *k, const double *b, double *x, double *history)
{
  gable_status status = GABLE_OK;
  const double start = gi_now();
  const char *stop = "";
  double *r, norm;
  GI_REQUIRE(k, GABLE_ERR_ARGUMENT, "the solver is NULL");
  GI_REQUIRE(k->ready, GABLE_ERR_STATE, "solve before set_matrix");
  GI_REQUIRE((b && x) || !k->n, GABLE_ERR_ARGUMENT, "%s is NULL", b ? "x" : "b");
  k->precond.seconds = 0;
  GI_TRY(run(k, b, x, history, &stop));
  k->info.solve_s = gi_now() - start;
  k->info.precond_s = k->precond.seconds;
  snprintf(k->info.stop, sizeof k->info.stop, "%s", stop);
  r = k->work + (size_t)GI_BICGSTAB_VECTORS * (size_t)k->n;
  gi_precond_multiply(&k->precond, k->options.threads, x, r);
  for (gable_idx i = 0; i < k->n; i++) r[i] = b[i] - r[i];
  norm = gi_norm2(k->n, b);
  k->info.true_residual = gi_norm2(k->n, r) / (norm > 0 ? norm : 1);
  k->info.converged = !strcmp(stop, "converged") && k->info.true_residual <= 10 * k->options.tolerance;
  GI_REQUIRE(k->info.converged, GABLE_ERR_TOLERANCE, "%s after %d iterations: ||b - A x|| / ||b|| is %.3g, not %.3g",
             strcmp(stop, "converged") ? stop : "the recurrence drifted", k->info.iterations, k->info.true_residual,
             k->options.tolerance);
done:
  return status;
}

gable_status gable_krylov_get_info(const gable_krylov *k, gable_krylov_info *info)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(k && info, GABLE_ERR_ARGUMENT, "%s is NULL", k ? "info" : "the solver");
  GI_REQUIRE(info->size == sizeof *info, GABLE_ERR_ARGUMENT, "info of %zu bytes: start from GABLE_KRYLOV_INFO_INIT",
             info->size);
  GI_REQUIRE(k->ready, GABLE_ERR_STATE, "get_info before set_matrix");
  *info = k->info;
done:
  return status;
}
