/* bicgstab.c: BiCGSTAB with a right preconditioner, see iteration.h. */
#include "krylov/iteration.h"

typedef struct vectors {
  double *r, *shadow, *p, *v, *s, *t, *p_hat, *s_hat;
} vectors;

static vectors split(double *at, gable_idx n)
{
  const size_t m = (size_t)n;
  return (vectors){at, at + m, at + 2 * m, at + 3 * m, at + 4 * m, at + 5 * m, at + 6 * m, at + 7 * m};
}

static gable_status iterate(gi_krylov_vectors *w, const vectors *v, gi_operator apply, gi_operator precondition,
                            void *user, double *x)
{
  gable_status status = GABLE_OK;
  const gik_krylov *k = &w->k;
  double *p_hat = precondition ? v->p_hat : v->p, *s_hat = precondition ? v->s_hat : v->s;
  GI_KERNELS(w->ctx, w->steps->bi_direction(k, v->r, v->v, v->p));
  if (precondition) GI_TRY(precondition(user, v->p, p_hat));
  GI_TRY(apply(user, p_hat, v->v));
  GI_KERNELS(w->ctx, w->steps->bi_alpha(k, v->shadow, v->v));
  GI_KERNELS(w->ctx, w->steps->bi_half(k, v->r, v->v, v->s));
  if (precondition) GI_TRY(precondition(user, v->s, s_hat));
  GI_TRY(apply(user, s_hat, v->t));
  GI_KERNELS(w->ctx, w->steps->bi_omega(k, v->t, v->s));
  GI_KERNELS(w->ctx, w->steps->bi_step(k, p_hat, s_hat, v->s, v->t, v->shadow, x, v->r));
done:
  return status;
}

gable_status gi_bicgstab(gi_krylov_vectors *w, gi_operator apply, gi_operator precondition, void *user, const double *b,
                         double *x, const gi_iteration *how, gi_iteration_result *result)
{
  gable_status status = GABLE_OK;
  const vectors v = split(w->vectors, w->k.n);
  gik_krylov_state state;
  gable_idx seen = 0;
  GI_TRY(gi_krylov_begin(w, b, how));
  GI_TRY(apply(user, x, v.t));
  GI_KERNELS(w->ctx, w->steps->residual(&w->k, b, v.t, v.r));
  GI_TRY(gi_krylov_look(w, how, &seen, &state, result));
  if (state.stop) goto done;
  GI_KERNELS(w->ctx, w->steps->bi_start(&w->k, v.r, v.shadow, v.p, v.v));
  while (!state.stop) {
    for (int i = 0; i < w->batch; i++) GI_TRY(iterate(w, &v, apply, precondition, user, x));
    GI_TRY(gi_krylov_look(w, how, &seen, &state, result));
  }
done:
  return status;
}
