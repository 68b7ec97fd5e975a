/* loop.c: see loop.h. */
#include "device/loop.h"

struct gi_recording {
  gable_context *ctx;
  gi_launches *launches;
  void *user;
  void *graph; /* GPU */
};

gable_status gi_loop(gable_context *ctx, void *stream, const int *flag, gi_launches *body, void *user)
{
  gable_status status = GABLE_OK;
  int going = 1;
  if (ctx->device->loop) return ctx->device->loop(ctx, stream, flag, body, user);
  for (;;) {
    GI_TRY(ctx->device->copy_out(ctx, &going, flag, sizeof going, stream));
    if (!going) break;
    GI_TRY(body(user, stream));
  }
done:
  return status;
}

gable_status gi_recording_create(gable_context *ctx, gi_launches *launches, void *user, gi_recording **out)
{
  gable_status status = GABLE_OK;
  gi_recording *r = NULL;
  GI_ALLOC_ZERO(ctx, r, 1);
  r->ctx = ctx;
  r->launches = launches;
  r->user = user;
  if (ctx->device->capture) GI_TRY(ctx->device->capture(ctx, launches, user, &r->graph));
  *out = r;
  r = NULL;
done:
  gi_recording_destroy(ctx, &r);
  return status;
}

void gi_recording_destroy(gable_context *ctx, gi_recording **recording)
{
  gi_recording *r = recording ? *recording : NULL;
  if (!r) return;
  *recording = NULL;
  if (r->graph) ctx->device->graph_destroy(r->graph);
  gi_free(ctx, r);
}

gable_status gi_recording_play(gi_recording *r, void *stream)
{
  if (!r->ctx->device->play) return r->launches(r->user, stream);
  return r->ctx->device->play(r->graph, r->launches, r->user, stream);
}
