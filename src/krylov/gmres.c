/* gmres.c: restarted flexible GMRES, see iteration.h. */
#include "krylov/iteration.h"

/* basis_0 = (b - A x) / its norm. */
static gable_status start(gi_krylov_vectors *w, gi_operator apply, void *user, const double *b, const double *x)
{
  gable_status status = GABLE_OK;
  GI_TRY(apply(user, x, w->q.basis));
  GI_KERNELS(w->ctx, w->steps->residual(&w->k, b, w->q.basis, w->q.basis));
  GI_KERNELS(w->ctx, w->steps->cycle(&w->k, &w->q));
done:
  return status;
}

gable_status gi_gmres_orthogonalise(const gik_krylov_steps *steps, const gik_krylov *k, const gik_gmres *q, int most,
                                    double *v)
{
  gable_status status = GABLE_OK;
  for (int pass = 0; pass < 2; pass++) {
    GI_TRY(steps->dots(k, q, most, v, pass));
    GI_TRY(steps->project(k, q, v, pass));
  }
  GI_TRY(steps->enlarge(k, q, v));
done:
  return status;
}

/* A z_k against the basis. */
static gable_status iterate(gi_krylov_vectors *w, gi_operator apply, gi_operator precondition, void *user, gable_idx k)
{
  gable_status status = GABLE_OK;
  const ptrdiff_t n = w->k.n;
  double *v = w->q.basis + k * n, *z = precondition ? w->z + k * n : v, *next = v + n;
  if (precondition) GI_TRY(precondition(user, v, z));
  GI_TRY(apply(user, z, next));
  GI_KERNELS(w->ctx, gi_gmres_orthogonalise(w->steps, &w->k, &w->q, k + 1, next));
done:
  return status;
}

gable_status gi_gmres(gi_krylov_vectors *w, gi_operator apply, gi_operator precondition, void *user, const double *b,
                      double *x, const gi_iteration *how, gi_iteration_result *result)
{
  gable_status status = GABLE_OK;
  const gable_idx restart = w->q.restart;
  gik_krylov_state state;
  gable_idx seen = 0;
  *result = (gi_iteration_result){GI_STOP_ITERATIONS, 0, 0};
  GI_TRY(gi_krylov_begin(w, b, how));
  for (;;) {
    GI_TRY(start(w, apply, user, b, x));
    GI_TRY(gi_krylov_look(w, how, &seen, &state, result));
    if (how->history) how->history[result->iterations] = state.residual; /* the true one */
    if (state.stop) goto done;
    for (gable_idx k = 0; k < restart && state.cycling;) {
      GI_TRY(iterate(w, apply, precondition, user, k++));
      if (k % w->batch == 0 || k == restart) GI_TRY(gi_krylov_look(w, how, &seen, &state, result));
    }
    GI_KERNELS(w->ctx, w->steps->combine(&w->k, &w->q, precondition ? w->z : w->q.basis, w->step, x));
  }
done:
  return status;
}
