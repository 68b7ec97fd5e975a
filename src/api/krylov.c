/* krylov.c: gable_krylov: checks arguments and phases, runs the solver. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/structs.h"
#include "base/options.h"
#include "base/timer.h"
#include "device/device.h"
#include "krylov/bicgstab.h"
#include "krylov/device_krylov.h"
#include "pipeline/gather.h"
#include "precond/device_precond.h"
#include "precond/precond.h"
#include "sparse/symmetry.h"
#include "sparse/vectors.h"
#include "trisolve/plan.h"

enum { MOST_RESTART = 65000 }; /* the kernels have a column of blocks for each vector of the basis */

struct gable_krylov {
  gable_context *ctx;
  gable_krylov_options options; /* filled in */
  int on_device;
  gi_precond precond;               /* on the CPU */
  gi_device_precond device_precond; /* on a GPU, and the three below */
  gi_device_krylov device;
  void *device_b, *device_x; /* [n] */
  gable_idx n;
  int ready;
  double *work;         /* CG, BiCGSTAB: their vectors; one more for the true residual */
  gi_gmres_work *gmres; /* GMRES */
  gable_krylov_info info;
};

static gable_status options_from(const gable_context *ctx, const gable_krylov_options *given, gable_krylov_options *own)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_take_krylov_options(given, own));
  GI_REQUIRE(own->solver >= GABLE_KRYLOV_CG && own->solver <= GABLE_KRYLOV_GMRES, GABLE_ERR_ARGUMENT, "solver is %d",
             (int)own->solver);
  GI_REQUIRE(own->preconditioner >= GABLE_PRECOND_NONE && own->preconditioner <= GABLE_PRECOND_IC0, GABLE_ERR_ARGUMENT,
             "preconditioner is %d", (int)own->preconditioner);
  GI_REQUIRE(own->tolerance >= 0 && own->tolerance < 1, GABLE_ERR_ARGUMENT, "tolerance is %g", own->tolerance);
  GI_REQUIRE(own->max_iterations >= 0 && own->restart >= 0, GABLE_ERR_ARGUMENT, "max_iterations is %d, restart %d",
             own->max_iterations, own->restart);
  GI_REQUIRE(own->restart <= MOST_RESTART, GABLE_ERR_ARGUMENT, "restart is %d: give at most %d", own->restart,
             MOST_RESTART);
  GI_TRY(gi_options_threads(&own->threads, ctx->threads, ctx->threads));
  if (own->tolerance == 0) own->tolerance = 1e-8;
  if (!own->max_iterations) own->max_iterations = 1000;
  if (!own->restart) own->restart = 30;
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
  GI_TRY(options_from(ctx, options, &own));
  GI_ALLOC_ZERO(ctx, k, 1);
  k->ctx = ctx;
  k->on_device = ctx->device->kind == GI_ON_CUDA;
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
  gi_device_precond_release(&k->device_precond);
  gi_device_krylov_release(&k->device);
  k->ctx->device->release(k->ctx, k->device_b);
  k->ctx->device->release(k->ctx, k->device_x);
  k->device_b = k->device_x = NULL;
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
  GI_REQUIRE(a->space == GABLE_SPACE_HOST, GABLE_ERR_UNAVAILABLE, "Krylov solvers want the matrix in host memory");
  GI_REQUIRE(a->value_type == GABLE_TYPE_D && a->part == GABLE_PART_FULL, GABLE_ERR_UNAVAILABLE,
             "Krylov solvers want doubles and both triangles");
  GI_TRY(gi_csc_from_view(ctx, a, &columns));
  GI_TRY(gi_csc_transpose(ctx, &columns, rows));
done:
  gi_csc_release(ctx, &columns);
  return status;
}

static gable_status set_on_cpu(gable_krylov *k, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gi_csc rows;
  memset(&rows, 0, sizeof rows);
  GI_TRY(read_rows(k->ctx, a, &rows));
  k->n = rows.n_cols;
  GI_TRY(gi_precond_make(k->ctx, k->options.preconditioner, k->options.method, k->options.threads, &rows, &k->precond));
  GI_ALLOC(k->ctx, k->work, (gable_off)(GI_BICGSTAB_VECTORS + 1) * k->n);
  if (k->options.solver == GABLE_KRYLOV_GMRES)
    GI_TRY(gi_gmres_work_create(k->ctx, k->n, k->options.restart, k->options.threads, &k->gmres));
  k->info.shift = k->precond.shift;
done:
  gi_csc_release(k->ctx, &rows);
  return status;
}

static gable_status set_on_device(gable_krylov *k, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  const gable_krylov_options *o = &k->options;
  size_t bytes;
  GI_REQUIRE(a, GABLE_ERR_ARGUMENT, "the matrix is NULL");
  GI_TRY(gi_device_precond_make(k->ctx, o->preconditioner, o->method, o->threads, a, &k->device_precond));
  k->n = a->n_rows;
  bytes = (size_t)k->n * sizeof(double) + 1;
  GI_TRY(gi_device_krylov_init(k->ctx, &gik_krylov_steps_cuda, k->n, o->solver == GABLE_KRYLOV_GMRES ? o->restart : 0,
                               o->preconditioner != GABLE_PRECOND_NONE, &k->device));
  GI_TRY(k->ctx->device->alloc(k->ctx, bytes, &k->device_b));
  GI_TRY(k->ctx->device->alloc(k->ctx, bytes, &k->device_x));
  GI_TRY(k->ctx->device->synchronise(k->ctx, NULL));
  k->info.shift = k->device_precond.shift;
done:
  return status;
}

gable_status gable_krylov_set_matrix(gable_krylov *k, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  const double start = gi_now();
  const gable_trisolve *first;
  gable_matrix_view view;
  GI_REQUIRE(k, GABLE_ERR_ARGUMENT, "the solver is NULL");
  GI_REQUIRE(a, GABLE_ERR_ARGUMENT, "the matrix is NULL");
  GI_TRY(gi_take_matrix_view(a, &view));
  GI_TRY(k->ctx->device->enter(k->ctx, &before));
  forget(k);
  k->info = (gable_krylov_info)GABLE_KRYLOV_INFO_INIT;
  GI_TRY(gi_symmetry_check_view(k->ctx, &view));
  GI_TRY((k->on_device ? set_on_device : set_on_cpu)(k, &view));
  first = k->on_device ? k->device_precond.first : k->precond.first;
  if (first) {
    gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
    GI_TRY(gable_trisolve_get_info(first, GABLE_OP_N, &info));
    memcpy(k->info.method_used, info.method_used, sizeof info.method_used);
  }
  k->info.setup_s = gi_now() - start;
  k->ready = 1;
done:
  if (k) k->ctx->device->leave(k->ctx, before);
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

static gi_stop stop_of(gi_gmres_reason reason)
{
  return reason == GI_GMRES_CONVERGED    ? GI_STOP_CONVERGED
         : reason == GI_GMRES_ITERATIONS ? GI_STOP_ITERATIONS
                                         : GI_STOP_NOT_FINITE;
}

static gable_status run(gable_krylov *k, const double *b, double *x, double *history, gi_stop *stop)
{
  gable_status status = GABLE_OK;
  const gable_krylov_options *o = &k->options;
  const gi_operator m = o->preconditioner == GABLE_PRECOND_NONE ? NULL : precondition;
  if (o->solver == GABLE_KRYLOV_GMRES) {
    gi_gmres_result r;
    GI_TRY(gi_gmres(apply, m, k, b, x, o->tolerance, o->max_iterations, history, k->gmres, &r));
    k->info.iterations = r.iterations;
    k->info.residual = r.residual;
    *stop = stop_of(r.reason);
  } else {
    gi_iteration how = {o->tolerance, o->max_iterations, history, k->work};
    gi_iteration_result r = {GI_STOP_ITERATIONS, 0, 0};
    GI_TRY((o->solver == GABLE_KRYLOV_CG ? gi_cg : gi_bicgstab)(k->n, apply, m, k, b, x, &how, &r));
    k->info.iterations = r.iterations;
    k->info.residual = r.residual;
    *stop = r.stop;
  }
done:
  return status;
}

/* The answer to b = 0, which no tolerance on ||b - A x|| / ||b|| could find: x = 0. */
static void answer_zero(gable_krylov *k, double *history, gi_stop *stop)
{
  k->info.iterations = 0;
  k->info.residual = k->info.true_residual = k->info.precond_s = 0;
  if (history) history[0] = 0;
  *stop = GI_STOP_CONVERGED;
}

static gable_status check_finite(gable_idx n, const double *v, const char *name)
{
  gable_status status = GABLE_OK;
  gable_idx i = 0;
  if (gi_all_finite(GABLE_TYPE_D, v, n)) return GABLE_OK;
  while (isfinite(v[i])) i++;
  GI_REQUIRE(0, GABLE_ERR_NOT_FINITE, "%s holds %g in row %d (counted from 0)", name, v[i], i);
done:
  return status;
}

/* x, and the true residual in k->info. */
static gable_status solve_on_cpu(gable_krylov *k, const double *b, double *x, double *history, gi_stop *stop)
{
  gable_status status = GABLE_OK;
  double *r = k->work + (size_t)GI_BICGSTAB_VECTORS * (size_t)k->n;
  const double norm = gi_norm2(k->n, b);
  GI_TRY(check_finite(k->n, b, "b"));
  GI_TRY(check_finite(k->n, x, "x, the first iterate,"));
  if (norm == 0) {
    for (gable_idx i = 0; i < k->n; i++) x[i] = 0;
    answer_zero(k, history, stop);
    goto done;
  }
  k->precond.seconds = 0;
  GI_TRY(run(k, b, x, history, stop));
  k->info.precond_s = k->precond.seconds;
  gi_precond_multiply(&k->precond, k->options.threads, x, r);
  for (gable_idx i = 0; i < k->n; i++) r[i] = b[i] - r[i];
  k->info.true_residual = gi_norm2(k->n, r) / norm;
done:
  return status;
}

static gable_status device_apply(void *user, const double *x, double *y)
{
  return gi_device_precond_multiply(&((gable_krylov *)user)->device_precond, x, y);
}

static gable_status device_precondition(void *user, const double *r, double *z)
{
  gable_krylov *k = user;
  return gi_device_precond_apply(&k->device_precond, &k->device.k, r, z);
}

/* The 2-norm of v [n] on the device; waits for it. */
static gable_status device_norm(gable_krylov *k, const double *v, double *norm)
{
  gable_status status = GABLE_OK;
  double *parts = k->device.k.parts, *sum = parts + GIK_SQUARE_PARTS;
  GI_TRY(k->device_precond.rows.kernels->square(k->n, GABLE_TYPE_D, v, parts, sum, gi_own_stream(k->ctx)));
  GI_TRY(k->ctx->device->copy_out(k->ctx, norm, sum, sizeof *norm, NULL));
  GI_TRY(k->ctx->device->synchronise(k->ctx, NULL));
  *norm = sqrt(*norm);
done:
  return status;
}

/* b and x on the device. */
static gable_status solve_there(gable_krylov *k, const double *b, double *x, double *history, gi_stop *stop)
{
  gable_status status = GABLE_OK;
  const gable_krylov_options *o = &k->options;
  const gi_operator m = o->preconditioner == GABLE_PRECOND_NONE ? NULL : device_precondition;
  const gi_iteration how = {o->tolerance, o->max_iterations, history, NULL};
  const gik_product residual = {.type = GABLE_TYPE_D,
                                .b = b,
                                .x = x,
                                .y = k->device.vectors,
                                .b_step = 1,
                                .x_step = 1,
                                .count = 1,
                                .stream = gi_own_stream(k->ctx)}; /* b - A x */
  gi_iteration_result r = {GI_STOP_ITERATIONS, 0, 0};
  double norm, left;
  GI_TRY(device_norm(k, b, &norm));
  GI_REQUIRE(isfinite(norm), GABLE_ERR_NOT_FINITE, "b holds NaN or infinity, or its 2-norm overflows");
  if (norm == 0) {
    GI_TRY(k->device_precond.rows.kernels->copy(k->n, GABLE_TYPE_D, NULL, 1, x, 1, gi_own_stream(k->ctx)));
    answer_zero(k, history, stop);
    goto done;
  }
  GI_TRY((o->solver == GABLE_KRYLOV_CG         ? gi_device_cg
          : o->solver == GABLE_KRYLOV_BICGSTAB ? gi_device_bicgstab
                                               : gi_device_gmres)(&k->device, device_apply, m, k, b, x, &how, &r));
  GI_TRY(gi_device_precond_status(&k->device_precond));
  k->info.iterations = r.iterations;
  k->info.residual = r.residual;
  *stop = r.stop;
  GI_TRY(k->device_precond.rows.kernels->product(&k->device_precond.rows.a, &residual));
  GI_TRY(device_norm(k, k->device.vectors, &left));
  k->info.true_residual = left / norm;
done:
  return status;
}

static gable_status solve_on_device(gable_krylov *k, const double *b, double *x, double *history, gi_stop *stop)
{
  gable_status status = GABLE_OK;
  const gi_device *device = k->ctx->device;
  const size_t bytes = (size_t)k->n * sizeof(double);
  GI_TRY(device->copy_in(k->ctx, k->device_b, b, bytes, NULL));
  GI_TRY(device->copy_in(k->ctx, k->device_x, x, bytes, NULL));
  GI_TRY(solve_there(k, k->device_b, k->device_x, history, stop));
  GI_TRY(device->copy_out(k->ctx, x, k->device_x, bytes, NULL));
  GI_TRY(device->synchronise(k->ctx, NULL));
done:
  return status;
}

/* How a solver stopped, why there is no solution then, and what may help. */
static const struct {
  const char *text, *failure, *advice;
} stops[] = {
    [GI_STOP_CONVERGED] = {"converged", "the recurrence drifted", "ask for a larger tolerance"},
    [GI_STOP_ITERATIONS] = {"iterations", "not there yet", "allow more iterations, or take a stronger preconditioner"},
    [GI_STOP_BREAKDOWN] = {"breakdown", "breakdown",
                           "take another solver (gmres does not break down) or preconditioner"},
    [GI_STOP_NOT_FINITE] = {"not finite", "not finite", "look for NaN or infinity in A and b, or scale them"},
};

typedef gable_status solve_way(gable_krylov *k, const double *b, double *x, double *history, gi_stop *stop);

static gable_status solve_by(gable_krylov *k, solve_way *way, const double *b, double *x, double *history)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  const double start = gi_now();
  gi_stop stop = GI_STOP_ITERATIONS;
  GI_TRY(k->ctx->device->enter(k->ctx, &before));
  GI_TRY(way(k, b, x, history, &stop));
  k->info.solve_s = gi_now() - start;
  snprintf(k->info.stop, sizeof k->info.stop, "%s", stops[stop].text);
  k->info.converged = stop == GI_STOP_CONVERGED && k->info.true_residual <= 10 * k->options.tolerance;
  GI_REQUIRE(k->info.converged, GABLE_ERR_TOLERANCE,
             "%s after %d iterations: ||b - A x|| / ||b|| is %.3g, not %.3g: %s", stops[stop].failure,
             k->info.iterations, k->info.true_residual, k->options.tolerance, stops[stop].advice);
done:
  k->ctx->device->leave(k->ctx, before);
  return status;
}

/* One column of n doubles in host memory. */
static gable_vectors_view column(gable_idx n, const double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = n;
  v.data = (void *)(uintptr_t)data;
  return v;
}

gable_status gable_krylov_solve(gable_krylov *k, const double *b, double *x, double *history)
{
  gable_status status = GABLE_OK;
  gi_vectors_pair v;
  GI_REQUIRE(k, GABLE_ERR_ARGUMENT, "the solver is NULL");
  GI_REQUIRE(k->ready, GABLE_ERR_STATE, "solve before set_matrix");
  GI_REQUIRE((b && x) || !k->n, GABLE_ERR_ARGUMENT, "%s is NULL", b ? "x" : "b");
  v.b = column(k->n, b);
  v.x = column(k->n, x);
  GI_TRY(gi_vectors_take_pair(&v.b, &v.x, k->n, GABLE_TYPE_D, GI_VECTORS_APART, &v));
  GI_TRY(solve_by(k, k->on_device ? solve_on_device : solve_on_cpu, b, x, history));
done:
  return status;
}

static gable_status check_vector(const gable_krylov *k, const gable_vectors_view *v, const char *name)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(v->count == 1 && (v->major == GABLE_MAJOR_COL || v->ld == 1), GABLE_ERR_UNAVAILABLE,
             "%s has %d columns or gaps: Krylov solvers want one dense vector", name, v->count);
  GI_REQUIRE(v->space == GABLE_SPACE_HOST || k->on_device, GABLE_ERR_UNAVAILABLE,
             "%s is in device memory, this context is %s", name, k->ctx->where);
done:
  return status;
}

gable_status gable_krylov_solve_vectors(gable_krylov *k, const gable_vectors_view *b, gable_vectors_view *x,
                                        double *history)
{
  gable_status status = GABLE_OK;
  gi_vectors_pair v;
  GI_REQUIRE(k, GABLE_ERR_ARGUMENT, "the solver is NULL");
  GI_REQUIRE(k->ready, GABLE_ERR_STATE, "solve before set_matrix");
  GI_REQUIRE(b && x, GABLE_ERR_ARGUMENT, "%s is NULL", b ? "x" : "b");
  GI_TRY(gi_take_vectors_view(b, &v.b));
  GI_TRY(gi_take_vectors_view(x, &v.x));
  GI_TRY(gi_vectors_take_pair(&v.b, &v.x, k->n, GABLE_TYPE_D, GI_VECTORS_APART, &v));
  GI_TRY(check_vector(k, &v.b, "b"));
  GI_TRY(check_vector(k, &v.x, "x"));
  GI_REQUIRE(b->space == x->space, GABLE_ERR_ARGUMENT, "b and x are in different memories");
  GI_TRY(solve_by(k,
                  b->space == GABLE_SPACE_DEVICE ? solve_there
                  : k->on_device                 ? solve_on_device
                                                 : solve_on_cpu,
                  b->data, x->data, history));
done:
  return status;
}

gable_status gable_krylov_get_info(const gable_krylov *k, gable_krylov_info *info)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(k && info, GABLE_ERR_ARGUMENT, "%s is NULL", k ? "info" : "the solver");
  GI_REQUIRE(k->ready, GABLE_ERR_STATE, "get_info before set_matrix");
  GI_TRY(gi_give_krylov_info(&k->info, info));
done:
  return status;
}
