/* iteration.c: vectors, state, and looks at it. */
#include "krylov/iteration.h"

#include <math.h>
#include <string.h>

enum { VECTORS = 8 }; /* of BiCGSTAB; CG has four */

static gable_status take(gi_krylov_vectors *w, size_t count, double **out)
{
  gable_status status = GABLE_OK;
  void *p = NULL;
  GI_TRY(w->device->alloc(w->ctx, count * sizeof **out + 1, &p));
  *out = p;
done:
  return status;
}

/* Arrays of r+2 numbers, so that none is too small for any use. */
static gik_gmres split(gable_idx restart, double *basis, double *small)
{
  const size_t step = (size_t)restart + 2;
  return (gik_gmres){restart,          basis,
                     small + 4 * step, small,
                     small + step,     small + 2 * step,
                     small + 3 * step, small + 4 * step + step * (size_t)restart};
}

gable_status gi_krylov_vectors_init(gable_context *ctx, const gi_device *device, gable_idx n, gable_idx restart,
                                    int preconditioned, int threads, gi_krylov_vectors *out)
{
  gable_status status = GABLE_OK;
  void *p = NULL;
  const gik_krylov_steps *steps = device->kernels->krylov_steps;
  const size_t m = (size_t)n, r = (size_t)restart;
  const gik_look_rows *look = &ctx->device->gpu_class(ctx)->look;
  out->ctx = ctx;
  out->device = device;
  out->steps = steps;
  out->k.n = n;
  out->k.threads = threads;
  out->k.stream = device->own_stream(ctx);
  /* a CPU waits for nobody */
  out->batch = device->space == GABLE_SPACE_HOST || n >= look->each ? 1 : n < look->fourth ? 8 : 4;
  GI_TRY(take(out, (restart ? r + 2 : VECTORS) * m, &out->vectors));
  GI_TRY(take(out, (size_t)steps->step_parts * GIK_STEP_SUMS, &out->k.parts));
  GI_TRY(device->alloc(ctx, sizeof *out->k.state, &p));
  out->k.state = p;
  if (!restart) goto done;
  if (preconditioned) GI_TRY(take(out, r * m, &out->z));
  GI_TRY(take(out, (r + (size_t)steps->dot_parts + 4) * (r + 2), &out->small));
  out->q = split(restart, out->vectors, out->small);
  out->step = out->vectors + (r + 1) * m;
done:
  return status;
}

void gi_krylov_vectors_release(gi_krylov_vectors *w)
{
  gable_context *ctx = w->ctx;
  if (!ctx) return;
  (void)w->device->synchronise(ctx, w->k.stream);
  w->device->release(ctx, w->vectors);
  w->device->release(ctx, w->z);
  w->device->release(ctx, w->small);
  w->device->release(ctx, w->k.parts);
  w->device->release(ctx, w->k.state);
  memset(w, 0, sizeof *w);
}

gable_status gi_krylov_begin(gi_krylov_vectors *w, const double *b, const gi_iteration *how)
{
  gable_status status = GABLE_OK;
  const gik_krylov_state fresh = {.tolerance = how->tolerance, .norm_b = 1, .max_iterations = how->max_iterations};
  GI_TRY(w->device->copy_in(w->ctx, w->k.state, &fresh, sizeof fresh, w->k.stream));
  GI_KERNELS(w->ctx, w->steps->measure(&w->k, b));
done:
  return status;
}

static gable_status fetch_state(gi_krylov_vectors *w, gik_krylov_state *state)
{
  gable_status status = GABLE_OK;
  GI_TRY(w->device->copy_out(w->ctx, state, w->k.state, sizeof *state, w->k.stream));
  GI_TRY(w->device->synchronise(w->ctx, w->k.stream));
done:
  return status;
}

gable_status gi_krylov_look(gi_krylov_vectors *w, const gi_iteration *how, gable_idx *seen, gik_krylov_state *state,
                            gi_iteration_result *result)
{
  gable_status status = GABLE_OK;
  GI_TRY(fetch_state(w, state));
  result->iterations = state->iteration;
  result->residual = state->residual;
  for (; *seen <= state->iteration; ++*seen) {
    const double residual = state->history[*seen % GIK_HISTORY];
    if (how->history) how->history[*seen] = residual;
    if (how->monitor) GI_TRY(how->monitor(how->user, *seen, residual));
  }
  switch ((gik_stop)state->stop) {
  case GIK_STOP_CONVERGED: result->stop = GI_STOP_CONVERGED; break;
  case GIK_STOP_BREAKDOWN: result->stop = GI_STOP_BREAKDOWN; break;
  case GIK_STOP_NOT_FINITE: result->stop = GI_STOP_NOT_FINITE; break;
  case GIK_RUNNING:
  case GIK_STOP_ITERATIONS: result->stop = GI_STOP_ITERATIONS;
  }
done:
  return status;
}

gable_status gi_krylov_norm(gi_krylov_vectors *w, const double *b, double *norm)
{
  gable_status status = GABLE_OK;
  const gi_iteration any = {.max_iterations = 1};
  gik_krylov_state state;
  GI_TRY(gi_krylov_begin(w, b, &any));
  GI_TRY(fetch_state(w, &state));
  *norm = state.norm;
done:
  return status;
}

gable_status gi_krylov_residual(gi_krylov_vectors *w, gi_operator apply, void *user, const double *b, const double *x,
                                double *norm)
{
  gable_status status = GABLE_OK;
  const gi_iteration any = {.max_iterations = 1};
  gik_krylov_state state;
  GI_TRY(gi_krylov_begin(w, b, &any));
  GI_TRY(apply(user, x, w->vectors));
  GI_KERNELS(w->ctx, w->steps->residual(&w->k, b, w->vectors, w->vectors));
  GI_TRY(fetch_state(w, &state));
  *norm = state.norm;
done:
  return status;
}
