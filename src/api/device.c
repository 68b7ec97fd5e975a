/* device.c: the public face of the device table: checks arguments, then dispatches. */
#include "device/device.h"

#include "api/entry.h"

#include <gable/device.h>

struct gable_event {
  gable_context *ctx;
  void *moment; /* the device's */
  int recorded;
};

gable_space gable_context_space(const gable_context *ctx)
{
  return ctx->device->space;
}

void *gable_context_stream(const gable_context *ctx)
{
  return gi_own_stream(ctx);
}

gable_status gable_device_alloc(gable_context *ctx, size_t bytes, void **out)
{
  gable_status status = GABLE_OK;
  void *p = NULL;
  GI_REQUIRE(ctx && out, GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "out" : "ctx");
  *out = NULL;
  GI_TRY(ctx->device->alloc(ctx, bytes, &p));
  GI_TRY(ctx->device->synchronise(ctx, gi_own_stream(ctx))); /* allocation is ordered on this stream alone */
  *out = p;
  p = NULL;
done:
  if (p) ctx->device->release(ctx, p);
  return status;
}

void gable_device_free(gable_context *ctx, void **p)
{
  if (!ctx || !p || !*p) return;
  ctx->device->release(ctx, *p);
  *p = NULL;
}

gable_status gable_device_copy_in(gable_context *ctx, void *device, const void *host, size_t bytes, void *stream)
{
  GI_CHECK(ctx && ((device && host) || !bytes), GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "memory" : "ctx");
  if (bytes) GI_PASS(ctx->device->copy_in(ctx, device, host, bytes, stream));
  return GABLE_OK;
}

gable_status gable_device_copy_out(gable_context *ctx, void *host, const void *device, size_t bytes, void *stream)
{
  GI_CHECK(ctx && ((device && host) || !bytes), GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "memory" : "ctx");
  if (bytes) GI_PASS(ctx->device->copy_out(ctx, host, device, bytes, stream));
  return GABLE_OK;
}

gable_status gable_device_fill(gable_context *ctx, void *device, int byte, size_t bytes, void *stream)
{
  GI_CHECK(ctx && (device || !bytes), GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "memory" : "ctx");
  if (bytes) GI_PASS(ctx->device->fill(ctx, device, byte, bytes, stream));
  return GABLE_OK;
}

gable_status gable_device_synchronise(gable_context *ctx, void *stream)
{
  GI_GIVEN(ctx, "ctx");
  return GI_TRACED(ctx->device->synchronise(ctx, stream));
}

gable_status gable_stream_create(gable_context *ctx, void **out)
{
  GI_GIVEN_OUT(ctx, "ctx", out);
  return GI_TRACED(ctx->device->stream_create(ctx, out));
}

void gable_stream_destroy(gable_context *ctx, void **stream)
{
  if (!ctx || !stream || !*stream) return;
  ctx->device->stream_destroy(ctx, *stream);
  *stream = NULL;
}

gable_status gable_event_create(gable_context *ctx, gable_event **out)
{
  gable_status status = GABLE_OK;
  gable_event *e = NULL;
  GI_REQUIRE(ctx && out, GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "out" : "ctx");
  *out = NULL;
  GI_ALLOC_ZERO(ctx, e, 1);
  e->ctx = ctx;
  GI_TRY(ctx->device->event_create(ctx, &e->moment));
  *out = e;
  e = NULL;
done:
  if (e) gi_free(ctx, e);
  return status;
}

gable_status gable_event_record(gable_event *e, void *stream)
{
  GI_GIVEN(e, "the event");
  GI_PASS(e->ctx->device->event_record(e->ctx, e->moment, stream));
  e->recorded = 1;
  return GABLE_OK;
}

gable_status gable_event_elapsed(gable_event *begin, gable_event *end, double *seconds)
{
  GI_CHECK(begin && end && seconds, GABLE_ERR_ARGUMENT, "%s is NULL", begin && end ? "seconds" : "an event");
  GI_CHECK(begin->recorded && end->recorded, GABLE_ERR_STATE, "an event that was never recorded has no time");
  GI_CHECK(begin->ctx == end->ctx, GABLE_ERR_MISMATCH, "the events belong to different contexts");
  return GI_TRACED(end->ctx->device->event_elapsed(end->ctx, begin->moment, end->moment, seconds));
}

void gable_event_destroy(gable_event **e)
{
  if (!e || !*e) return;
  gable_event *p = *e;
  *e = NULL;
  p->ctx->device->event_destroy(p->ctx, p->moment);
  gi_free(p->ctx, p);
}
