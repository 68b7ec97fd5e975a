/* device_krylov.c: vectors, state, and looks at it. */
#include "krylov/device_krylov.h"

#include <stddef.h>
#include <string.h>

#include "device/device.h"
#include "krylov/bicgstab.h"

static gable_status take(gable_context *ctx, size_t count, double **out)
{
  gable_status status = GABLE_OK;
  void *p = NULL;
  GI_TRY(ctx->device->alloc(ctx, count * sizeof **out + 1, &p));
  *out = p;
done:
  return status;
}

gable_status gi_device_krylov_init(gable_context *ctx, const gik_krylov_steps *steps, gable_idx n, gable_idx restart,
                                   int preconditioned, gi_device_krylov *out)
{
  gable_status status = GABLE_OK;
  void *p = NULL;
  const size_t m = (size_t)n, r = (size_t)restart;
  out->ctx = ctx;
  out->steps = steps;
  out->k.n = n;
  out->k.stream = gi_own_stream(ctx);
  /* an idle GPU between two looks costs 10 us, an iteration too many its products and solves */
  out->batch = n < 100000 ? 8 : n < 1000000 ? 4 : 1;
  GI_TRY(take(ctx, (restart ? r + 1 : GI_BICGSTAB_VECTORS) * m, &out->vectors));
  GI_TRY(take(ctx, GIK_STEP_PARTS * GIK_STEP_SUMS, &out->k.parts));
  GI_TRY(ctx->device->alloc(ctx, sizeof *out->k.state, &p));
  out->k.state = p;
  if (!restart) goto done;
  if (preconditioned) GI_TRY(take(ctx, r * m, &out->z));
  GI_TRY(take(ctx, (GIK_DOT_PARTS + 3) * (r + 2), &out->small));
  GI_TRY(gi_hessenberg_init(ctx, restart, &out->q));
done:
  return status;
}

void gi_device_krylov_release(gi_device_krylov *w)
{
  gable_context *ctx = w->ctx;
  if (!ctx) return;
  (void)ctx->device->synchronise(ctx, NULL);
  ctx->device->release(ctx, w->vectors);
  ctx->device->release(ctx, w->z);
  ctx->device->release(ctx, w->small);
  ctx->device->release(ctx, w->k.parts);
  ctx->device->release(ctx, w->k.state);
  gi_hessenberg_release(ctx, &w->q);
  memset(w, 0, sizeof *w);
}

gable_status gi_device_krylov_begin(gi_device_krylov *w, const double *b, const gi_iteration *how)
{
  gable_status status = GABLE_OK;
  const gik_krylov_state fresh = {.tolerance = how->tolerance, .norm_b = 1, .max_iterations = how->max_iterations};
  GI_TRY(w->ctx->device->copy_in(w->ctx, w->k.state, &fresh, sizeof fresh, NULL));
  GI_TRY(w->steps->measure(&w->k, b));
done:
  return status;
}

gable_status gi_device_krylov_look(gi_device_krylov *w, const gi_iteration *how, gable_idx *seen,
                                   gik_krylov_state *state, gi_iteration_result *result)
{
  gable_status status = GABLE_OK;
  GI_TRY(w->ctx->device->copy_out(w->ctx, state, w->k.state, sizeof *state, NULL));
  GI_TRY(w->ctx->device->synchronise(w->ctx, NULL));
  for (; *seen <= state->iteration; ++*seen)
    if (how->history) how->history[*seen] = state->history[*seen % GIK_HISTORY];
  result->iterations = state->iteration;
  result->residual = state->residual;
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
