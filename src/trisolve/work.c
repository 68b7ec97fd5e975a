/* work.c: the scratch of the solves with one plan, in memory of its own or of the caller's. */
#include "device/device.h"
#include "trisolve/trisolve.h"

static size_t header_bytes(void)
{
  return (sizeof(gable_trisolve_work) + 63) / 64 * 64;
}

void gi_work_bytes(const gable_trisolve *t, gable_idx max_rhs, size_t *host, size_t *device)
{
  t->backend->work_bytes(t, max_rhs, host, device);
  *host += header_bytes();
}

gable_status gi_work_create_in(const gable_trisolve *t, gable_idx max_rhs, void *host, void *device,
                               gable_trisolve_work **out)
{
  gable_status status = GABLE_OK;
  gable_trisolve_work *w = host;
  *out = NULL;
  memset(w, 0, sizeof *w);
  w->plan = t;
  w->generation = t->generation;
  w->max_rhs = max_rhs;
  w->host = (char *)host + header_bytes();
  w->device = device;
  w->stream = gi_own_stream(t->ctx);
  w->fault_row = -1;
  GI_TRY(t->backend->work_init(w));
  gi_update_order_add(&((gable_trisolve *)t)->order, &w->order, &w->stream); /* under its lock */
  *out = w;
done:
  return status;
}

gable_status gi_work_create(const gable_trisolve *t, gable_idx max_rhs, gable_trisolve_work **out)
{
  gable_status status = GABLE_OK;
  void *host = NULL, *device = NULL;
  size_t host_bytes = 0, device_bytes = 0;
  *out = NULL;
  gi_work_bytes(t, max_rhs, &host_bytes, &device_bytes);
  host = gi_alloc(t->ctx, (gable_off)host_bytes, 1);
  GI_REQUIRE(host, GABLE_ERR_MEMORY, "out of memory: %.1f MB of scratch", (double)host_bytes / 1e6);
  if (device_bytes) GI_TRY(t->ctx->device->alloc(t->ctx, device_bytes, &device));
  GI_TRY(gi_work_create_in(t, max_rhs, host, device, out));
  (*out)->owned = 1;
  host = device = NULL;
done:
  if (device) t->ctx->device->release(t->ctx, device);
  gi_free(t->ctx, host);
  return status;
}

void gi_work_destroy(gable_trisolve_work **w)
{
  if (!w || !*w) return;
  gable_trisolve_work *p = *w;
  gable_context *ctx = p->plan->ctx;
  *w = NULL;
  gi_update_order_remove(&((gable_trisolve *)p->plan)->order, &p->order); /* under its lock */
  if (p->plan->backend->work_release) p->plan->backend->work_release(p);
  if (!p->owned) return;
  if (p->device) ctx->device->release(ctx, p->device);
  gi_free(ctx, p);
}

gable_status gi_work_set_stream(gable_trisolve_work *w, void *stream)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = w->plan->ctx;
  stream = gi_stream_of(ctx, stream);
  if (stream == w->stream) goto done;
  GI_TRY(ctx->device->order_after(ctx, stream, w->stream));
  w->order.seen = 0; /* the new stream has waited for no update */
  w->stream = stream;
done:
  return status;
}

gable_status gi_work_status(gable_trisolve_work *w, gable_idx *row)
{
  gable_status status = GABLE_OK, fault = GABLE_OK;
  GI_TRY(gi_update_order_await(&w->plan->order, &w->order));
  if (w->plan->backend->work_status) GI_TRY(w->plan->backend->work_status(w));
  fault = w->fault;
  if (row) *row = w->fault_row;
  if (fault) {
    gable_idx bad = w->fault_row;
    w->fault = GABLE_OK;
    w->fault_row = -1;
    GI_REQUIRE(0, fault, "a solve failed at row %d (counted from 0): %s", bad, gable_status_text(fault));
  }
done:
  return status;
}

gable_status gi_work_status_on(gable_trisolve_work *w, void *stream, gable_idx *row)
{
  void *own = w->stream;
  w->stream = gi_stream_of(w->plan->ctx, stream);
  const gable_status status = gi_work_status(w, row);
  w->stream = own;
  return status;
}
