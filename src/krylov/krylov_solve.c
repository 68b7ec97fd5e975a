/* krylov_solve.c: one solve with a work, on the CPU or on a GPU, and what it says in the end. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timer.h"
#include "device/device.h"
#include "krylov/krylov.h"

/* Before each product with A, one or two of which an iteration does: the caller may cancel. */
static gable_status ask(gable_krylov_work *w)
{
  const gable_krylov_options *o = &w->k->options;
  const double each = gi_krylov_solver_of(w->k) == GABLE_KRYLOV_BICGSTAB ? 2 : 1;
  return gi_pulse_tell(&w->pulse, w->applied++ / (each * o->max_iterations + 1));
}

/* y = M x by a function of the caller's. */
static gable_status call(gable_apply_function *f, void *user, const char *name, const double *x, double *y)
{
  const unsigned before = gi_error_count();
  return gi_from_caller(f(user, x, y), before, name);
}

static gable_status apply(void *user, const double *x, double *y)
{
  gable_status status = GABLE_OK;
  const gable_krylov *k = ((gable_krylov_work *)user)->k;
  GI_TRY(ask(user));
  if (k->apply)
    GI_TRY(call(k->apply, k->apply_user, "the operator", x, y));
  else
    GI_KERNELS(k->ctx, gi_matrix_rows_multiply(&k->rows, k->options.threads, x, y,
                                               ((gable_krylov_work *)user)->vectors.k.stream));
done:
  return status;
}

static gable_status precondition(void *user, const double *r, double *z)
{
  gable_status status = GABLE_OK;
  gable_krylov_work *w = user;
  const double start = gi_now();
  if (w->k->precond)
    GI_TRY(gi_precond_apply(w->k->precond, w->precond, r, z));
  else
    GI_TRY(call(w->k->precondition, w->k->precondition_user, "the preconditioner", r, z));
done:
  w->callback_s += gi_now() - start;
  return status;
}

static gable_status monitor(void *user, gable_idx iteration, double residual)
{
  gable_status status = GABLE_OK;
  const gable_krylov *k = ((gable_krylov_work *)user)->k;
  GI_REQUIRE(!k->monitor(k->monitor_user, iteration, residual), GABLE_ERR_CANCELLED,
             "the monitor stopped the solver after %d iterations, at ||b - A x|| / ||b|| = %.3g", iteration, residual);
done:
  return status;
}

/* The answer to b = 0, which no tolerance on ||b - A x|| / ||b|| could find: x = 0. */
static void answer_zero(gable_krylov_work *w, double *history, gi_stop *stop)
{
  w->info.iterations = 0;
  w->info.residual = w->info.true_residual = w->info.precond_s = 0;
  if (history) history[0] = 0;
  *stop = GI_STOP_CONVERGED;
}

static gable_status check_finite(gable_idx n, const double *v, const char *name)
{
  gable_status status = GABLE_OK;
  for (gable_idx i = 0; i < n; i++)
    GI_REQUIRE(isfinite(v[i]), GABLE_ERR_NOT_FINITE, "%s holds %g in row %d (counted from 0)", name, v[i], i);
done:
  return status;
}

/* b and x where the vectors of w are; x, and the true residual in w->info. */
static gable_status solve_there(gable_krylov_work *w, const double *b, double *x, double *history, gi_stop *stop)
{
  gable_status status = GABLE_OK;
  const gable_krylov *k = w->k;
  const gable_krylov_options *o = &k->options;
  const gi_operator m = k->precond || k->precondition ? precondition : NULL;
  const gable_krylov_solver solver = gi_krylov_solver_of(k);
  const gi_iteration how = {o->tolerance, o->max_iterations, history, k->monitor ? monitor : NULL, w};
  gi_iteration_result r = {GI_STOP_ITERATIONS, 0, 0};
  double norm, left;
  GI_TRY(gi_krylov_norm(&w->vectors, b, &norm));
  GI_REQUIRE(isfinite(norm), GABLE_ERR_NOT_FINITE,
             "b holds NaN or infinity, or its 2-norm overflows, or on a GPU underflows: scale the system");
  if (norm == 0) {
    GI_TRY(w->vectors.device->fill(k->ctx, x, 0, (size_t)k->n * sizeof *x, w->vectors.k.stream));
    GI_TRY(w->vectors.device->synchronise(k->ctx, w->vectors.k.stream));
    answer_zero(w, history, stop);
    goto done;
  }
  w->callback_s = 0;
  status = (solver == GABLE_KRYLOV_CG         ? gi_cg
            : solver == GABLE_KRYLOV_BICGSTAB ? gi_bicgstab
                                              : gi_gmres)(&w->vectors, apply, m, w, b, x, &how, &r);
  w->info.iterations = r.iterations; /* those before an error too */
  w->info.residual = r.residual;
  GI_TRY(status);
  if (w->precond) GI_TRY(gi_precond_work_status(w->precond));
  w->info.precond_s = w->device_b ? 0 : w->callback_s; /* on a GPU the callback returns before its work is done */
  *stop = r.stop;
  GI_TRY(gi_krylov_residual(&w->vectors, apply, w, b, x, &left));
  w->info.true_residual = left / norm;
done:
  return status;
}

/* b and x in host memory. */
static gable_status check_vectors(const gable_krylov_work *w, const double *b, const double *x)
{
  gable_status status = GABLE_OK;
  GI_TRY(check_finite(w->k->n, b, "b"));
  GI_TRY(check_finite(w->k->n, x, "x, the first iterate,"));
done:
  return status;
}

static gable_status solve_on_host(gable_krylov_work *w, const double *b, double *x, double *history, gi_stop *stop)
{
  gable_status status = GABLE_OK;
  GI_TRY(check_vectors(w, b, x));
  GI_TRY(solve_there(w, b, x, history, stop));
done:
  return status;
}

static gable_status solve_on_device(gable_krylov_work *w, const double *b, double *x, double *history, gi_stop *stop)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = w->k->ctx;
  const gi_device *device = ctx->device;
  const size_t bytes = (size_t)w->k->n * sizeof(double);
  void *const stream = w->vectors.k.stream;
  GI_TRY(check_vectors(w, b, x));
  GI_TRY(device->copy_in(ctx, w->device_b, b, bytes, stream));
  GI_TRY(device->copy_in(ctx, w->device_x, x, bytes, stream));
  GI_TRY(solve_there(w, w->device_b, w->device_x, history, stop));
  GI_TRY(device->copy_out(ctx, x, w->device_x, bytes, stream));
  GI_TRY(device->synchronise(ctx, stream));
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

gable_status gi_krylov_work_solve(gable_krylov_work *w, gable_space space, const double *b, double *x, double *history)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  const double start = gi_now();
  const gable_krylov *k = w->k;
  gi_stop stop = GI_STOP_ITERATIONS;
  w->info = (gable_krylov_info)GABLE_KRYLOV_INFO_INIT;
  w->pulse = gi_pulse_begin(k->ctx, "krylov");
  w->applied = 0;
  GI_TRY(k->ctx->device->enter(k->ctx, &before));
  GI_TRY((space == GABLE_SPACE_DEVICE ? solve_there
          : w->device_b               ? solve_on_device
                                      : solve_on_host)(w, b, x, history, &stop));
  w->info.solve_s = gi_now() - start;
  snprintf(w->info.stop, sizeof w->info.stop, "%s", stops[stop].text);
  w->info.converged = stop == GI_STOP_CONVERGED && w->info.true_residual <= 10 * k->options.tolerance;
  GI_REQUIRE(w->info.converged, GABLE_ERR_TOLERANCE,
             "%s after %d iterations: ||b - A x|| / ||b|| is %.3g, not %.3g: %s", stops[stop].failure,
             w->info.iterations, w->info.true_residual, k->options.tolerance, stops[stop].advice);
done:
  if (status == GABLE_ERR_CANCELLED) snprintf(w->info.stop, sizeof w->info.stop, "cancelled");
  k->ctx->device->leave(k->ctx, before);
  return status;
}
