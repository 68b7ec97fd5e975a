/* level_order.c: see level_order.h. */
#include "trisolve/level_order.h"

#include <string.h>

#include "device/device.h"
#include "trisolve/plan.h"

gable_status gi_level_order_make(const gable_trisolve *plan, gi_level_order *out)
{
  return plan->backend->level_order ? plan->backend->level_order(plan, out) : GABLE_OK;
}

void gi_level_order_add_bytes(gable_idx n, gable_idx levels, size_t *host, size_t *device)
{
  *host += ((size_t)levels + 1) * sizeof(unsigned);
  *device += ((size_t)n + (size_t)levels + 1) * sizeof(unsigned);
}

void gi_level_order_release(gable_context *ctx, gi_level_order *o)
{
  ctx->device->release(ctx, o->list);
  ctx->device->release(ctx, o->device_start);
  gi_free(ctx, o->start);
  memset(o, 0, sizeof *o);
}
