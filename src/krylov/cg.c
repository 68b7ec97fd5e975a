/* cg.c: conjugate gradients, see iteration.h. */
#include "krylov/iteration.h"

/* Iteration k from p on: x, r and their norm, then the next p. */
static gable_status iterate(gi_krylov_vectors *w, gi_operator apply, gi_operator precondition, void *user, double *x)
{
  gable_status status = GABLE_OK;
  const gik_krylov *k = &w->k;
  const ptrdiff_t n = k->n;
  double *r = w->vectors, *p = r + n, *q = p + n, *z = precondition ? q + n : r;
  GI_TRY(apply(user, p, q));
  GI_KERNELS(w->ctx, w->steps->cg_curvature(k, p, q));
  GI_KERNELS(w->ctx, w->steps->cg_step(k, p, q, x, r));
  if (precondition) GI_TRY(precondition(user, r, z));
  GI_KERNELS(w->ctx, w->steps->cg_beta(k, r, z));
  GI_KERNELS(w->ctx, w->steps->cg_direction(k, z, p));
done:
  return status;
}

gable_status gi_cg(gi_krylov_vectors *w, gi_operator apply, gi_operator precondition, void *user, const double *b,
                   double *x, const gi_iteration *how, gi_iteration_result *result)
{
  gable_status status = GABLE_OK;
  const ptrdiff_t n = w->k.n;
  double *r = w->vectors, *p = r + n, *q = p + n, *z = precondition ? q + n : r;
  gik_krylov_state state;
  gable_idx seen = 0;
  GI_TRY(gi_krylov_begin(w, b, how));
  GI_TRY(apply(user, x, q));
  GI_KERNELS(w->ctx, w->steps->residual(&w->k, b, q, r));
  GI_TRY(gi_krylov_look(w, how, &seen, &state, result));
  if (state.stop) goto done;
  if (precondition) GI_TRY(precondition(user, r, z));
  GI_KERNELS(w->ctx, w->steps->cg_start(&w->k, r, z, p));
  while (!state.stop) {
    for (int i = 0; i < w->batch; i++) GI_TRY(iterate(w, apply, precondition, user, x));
    GI_TRY(gi_krylov_look(w, how, &seen, &state, result));
  }
done:
  return status;
}
