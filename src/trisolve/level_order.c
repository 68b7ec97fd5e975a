/* level_order.c: a counting sort by level. */
#include "trisolve/level_order.h"

#include <string.h>

#include "device/device.h"

/* start: [levels+2] zeroed; list: [n]. */
static void sort(gable_idx n, const gable_idx *level, gable_idx levels, unsigned *start, unsigned *list)
{
  for (gable_idx i = 0; i < n; i++) start[level[i] + 2]++;
  for (gable_idx l = 0; l < levels; l++) start[l + 1] += start[l];
  for (gable_idx i = 0; i < n; i++) list[start[level[i] + 1]++] = (unsigned)i;
}

gable_status gi_level_order_make(gable_context *ctx, const gable_trisolve *plan, gable_idx n, gi_level_order *out)
{
  gable_status status = GABLE_OK;
  gable_idx *level = NULL;
  unsigned *list = NULL;
  void *p = NULL;
  GI_ALLOC(ctx, level, n);
  GI_ALLOC(ctx, list, n);
  GI_TRY(gable_trisolve_get_schedule(plan, GABLE_N, NULL, level));
  for (gable_idx i = 0; i < n; i++)
    if (level[i] >= out->levels) out->levels = level[i] + 1;
  const size_t starts = ((size_t)out->levels + 1) * sizeof *out->start, rows = (size_t)n * sizeof *list;
  GI_ALLOC_ZERO(ctx, out->start, (gable_off)out->levels + 2);
  sort(n, level, out->levels, out->start, list);
  GI_TRY(ctx->device->alloc(ctx, rows + 1, &p));
  out->list = p;
  GI_TRY(ctx->device->alloc(ctx, starts, &p));
  out->device_start = p;
  GI_TRY(ctx->device->copy_in(ctx, out->list, list, rows, NULL));
  GI_TRY(ctx->device->copy_in(ctx, out->device_start, out->start, starts, NULL));
  GI_TRY(ctx->device->synchronise(ctx, NULL));
done:
  gi_free(ctx, level);
  gi_free(ctx, list);
  return status;
}

void gi_level_order_release(gable_context *ctx, gi_level_order *o)
{
  ctx->device->release(ctx, o->list);
  ctx->device->release(ctx, o->device_start);
  gi_free(ctx, o->start);
  memset(o, 0, sizeof *o);
}
