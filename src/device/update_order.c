#include "device/update_order.h"

#include <string.h>

gable_status gi_update_order_init(gable_context *ctx, gi_update_order *o)
{
  gable_status status = GABLE_OK;
  pthread_mutex_init(&o->lock, NULL);
  o->ctx = ctx;
  GI_TRY(ctx->device->event_create(ctx, &o->updated));
done:
  return status;
}

void gi_update_order_release(gi_update_order *o)
{
  if (!o->ctx) return;
  if (o->updated) o->ctx->device->event_destroy(o->ctx, o->updated);
  pthread_mutex_destroy(&o->lock);
  memset(o, 0, sizeof *o);
}

void gi_update_order_add(gi_update_order *o, gi_ordered_work *w, void *const *stream)
{
  pthread_mutex_lock(&o->lock);
  w->stream = stream;
  w->next = o->works;
  o->works = w;
  pthread_mutex_unlock(&o->lock);
}

void gi_update_order_remove(gi_update_order *o, gi_ordered_work *w)
{
  if (!o->ctx) return;
  pthread_mutex_lock(&o->lock);
  gi_ordered_work **at = &o->works;
  while (*at && *at != w) at = &(*at)->next;
  if (*at) *at = w->next;
  pthread_mutex_unlock(&o->lock);
}

/* stream comes after the solves of all works so far. */
static gable_status after_works(gi_update_order *o, void *stream)
{
  gable_status status = GABLE_OK;
  pthread_mutex_lock(&o->lock);
  for (const gi_ordered_work *w = o->works; w; w = w->next)
    GI_TRY(o->ctx->device->order_after(o->ctx, stream, *w->stream));
done:
  pthread_mutex_unlock(&o->lock);
  return status;
}

gable_status gi_update_order_begin(gi_update_order *o, void *stream, int reads_back, int *captured)
{
  gable_status status = GABLE_OK;
  GI_TRY(o->ctx->device->is_capturing(o->ctx, stream, captured));
  GI_REQUIRE(!*captured || !reads_back, GABLE_ERR_STATE,
             "the stream is being captured: an update from host memory reads back what is wrong, so it cannot be");
  if (!*captured) GI_TRY(after_works(o, stream));
done:
  return status;
}

gable_status gi_update_order_end(gi_update_order *o, void *stream, int captured)
{
  gable_status status = GABLE_OK;
  if (captured) goto done;
  GI_TRY(o->ctx->device->event_record(o->ctx, o->updated, stream));
  o->updates++;
done:
  return status;
}

gable_status gi_update_order_await(const gi_update_order *o, gi_ordered_work *w)
{
  gable_status status = GABLE_OK;
  int captured = 0;
  if (w->seen == o->updates) goto done;
  GI_TRY(o->ctx->device->is_capturing(o->ctx, *w->stream, &captured));
  if (captured) goto done;
  GI_TRY(o->ctx->device->await_event(o->ctx, *w->stream, o->updated));
  w->seen = o->updates;
done:
  return status;
}

void gi_update_order_settle(gi_update_order *o)
{
  if (!o->ctx) return;
  (void)after_works(o, NULL);
  if (o->updates) (void)o->ctx->device->await_event(o->ctx, NULL, o->updated);
}

void gi_update_order_forget(gi_update_order *o)
{
  if (!o->ctx) return;
  gi_update_order_settle(o);
  pthread_mutex_lock(&o->lock);
  o->works = NULL;
  pthread_mutex_unlock(&o->lock);
}
