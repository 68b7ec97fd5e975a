/* level_order.c: see level_order.h. */
#include "trisolve/level_order.h"

#include <string.h>

#include "device/device.h"
#include "trisolve/plan.h"

gable_status gi_level_order_make(const gable_trisolve *plan, gi_level_order *out)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(plan->backend->level_order, GABLE_ERR_UNAVAILABLE, "the order of levels is a GPU's, this context is %s",
             plan->ctx->where);
  GI_TRY(plan->backend->level_order(plan, out));
done:
  return status;
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
