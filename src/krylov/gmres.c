/* gmres.c: restarted flexible GMRES, see iteration.h. */
#include <math.h>
#include <stddef.h>

#include "krylov/iteration.h"

/* Of w->small. */
typedef struct coefficients {
  double *h;     /* [restart+2] of one projection */
  double *total; /* [restart+2] of a column of the Hessenberg matrix */
  double *y;     /* [restart+2] */
  double *parts; /* [dot_parts * (restart+2)] */
} coefficients;

static coefficients split(const gi_krylov_vectors *w)
{
  const size_t step = (size_t)w->q.restart + 2;
  return (coefficients){w->small, w->small + step, w->small + 2 * step, w->small + 3 * step};
}

/* basis[0] = (b - A x) / its norm; result's iterations are the device's. */
static gable_status start(gi_krylov_vectors *w, gi_operator apply, void *user, const double *b, const double *x,
                          const gi_iteration_result *result)
{
  gable_status status = GABLE_OK;
  char *state = (char *)w->k.state;
  const int iteration = result->iterations;
  GI_TRY(w->device->copy_in(w->ctx, state + offsetof(gik_krylov_state, iteration), &iteration, sizeof iteration, NULL));
  GI_TRY(apply(user, x, w->vectors));
  GI_TRY(w->steps->residual(&w->k, b, w->vectors, w->vectors));
  GI_TRY(w->steps->normalise(&w->k, w->vectors, split(w).h));
done:
  return status;
}

/* Column k: A z against the basis; the host gets it. */
static gable_status enlarge(gi_krylov_vectors *w, gi_operator apply, gi_operator precondition, void *user, gable_idx k)
{
  gable_status status = GABLE_OK;
  const coefficients c = split(w);
  const ptrdiff_t n = w->k.n;
  double *v = w->vectors + k * n, *z = precondition ? w->z + k * n : v, *next = v + n;
  if (precondition) GI_TRY(precondition(user, v, z));
  GI_TRY(apply(user, z, next));
  for (int pass = 0; pass < 2; pass++) {
    GI_TRY(w->steps->dots(&w->k, k + 1, w->vectors, next, c.parts, c.h, pass));
    GI_TRY(w->steps->project(&w->k, k + 1, w->vectors, c.h, next, c.total, pass));
  }
  GI_TRY(w->steps->normalise(&w->k, next, c.total + k + 1));
  GI_TRY(w->device->copy_out(w->ctx, gi_hessenberg_column(&w->q, k), c.total, ((size_t)k + 2) * sizeof *c.total, NULL));
  GI_TRY(w->device->synchronise(w->ctx, NULL));
done:
  return status;
}

static gable_status update(gi_krylov_vectors *w, gable_idx k, const double *z, double *x)
{
  gable_status status = GABLE_OK;
  const coefficients c = split(w);
  double *step = w->vectors + (ptrdiff_t)k * w->k.n; /* the last vector of the basis has served */
  gi_hessenberg_solve(&w->q, k);
  GI_TRY(w->device->copy_in(w->ctx, c.y, w->q.g, (size_t)k * sizeof *c.y, NULL));
  GI_TRY(w->steps->combine(&w->k, k, z, c.y, step, x));
done:
  return status;
}

gable_status gi_gmres(gi_krylov_vectors *w, gi_operator apply, gi_operator precondition, void *user, const double *b,
                      double *x, const gi_iteration *how, gi_iteration_result *result)
{
  gable_status status = GABLE_OK;
  const gi_iteration quiet = {.tolerance = how->tolerance,
                              .max_iterations = how->max_iterations}; /* the state knows the restarts alone */
  gik_krylov_state state;
  gable_idx seen = 0;
  *result = (gi_iteration_result){GI_STOP_ITERATIONS, 0, 0};
  GI_TRY(gi_krylov_begin(w, b, how));
  for (;;) {
    GI_TRY(start(w, apply, user, b, x, result));
    GI_TRY(gi_krylov_look(w, &quiet, &seen, &state, result));
    if (how->history) how->history[result->iterations] = state.residual;
    if (how->monitor && !result->iterations) GI_TRY(how->monitor(how->user, 0, state.residual));
    if (state.stop) goto done;
    gable_idx k = 0;
    w->q.g[0] = state.norm;
    while (k < w->q.restart && result->iterations < how->max_iterations &&
           (!k || fabs(w->q.g[k]) > how->tolerance * state.norm_b)) {
      const double *column = gi_hessenberg_column(&w->q, k);
      GI_TRY(enlarge(w, apply, precondition, user, k));
      if (!isfinite(column[k + 1])) break;
      gi_hessenberg_rotate(&w->q, k++);
      result->iterations++;
      if (how->history) how->history[result->iterations] = fabs(w->q.g[k]) / state.norm_b;
      if (how->monitor) GI_TRY(how->monitor(how->user, result->iterations, fabs(w->q.g[k]) / state.norm_b));
      if (column[k - 1] == 0) break;
    }
    if (!k) {
      result->stop = GI_STOP_NOT_FINITE;
      goto done;
    }
    GI_TRY(update(w, k, precondition ? w->z : w->vectors, x));
  }
done:
  return status;
}
