/* level_parts.c: see level_parts.h. */
#include <string.h>

#include "trisolve/cpu/level_parts.h"

enum { ROW = 3 }; /* weight of a row beside its entries */

void gi_level_parts_release(gable_context *ctx, gi_level_parts *p)
{
  gi_free(ctx, p->cuts);
  gi_free(ctx, p->owner);
  memset(p, 0, sizeof *p);
}

static gable_off weight_of(const gi_levels *l, const gable_off *ptr, gable_idx k)
{
  return ROW + ptr[l->order[k] + 1] - ptr[l->order[k]];
}

static void begin_part(gi_level_parts *out, gable_idx at, int owner)
{
  out->cuts[out->count] = at;
  out->owner[out->count++] = owner;
}

/* Rows begin..end-1 of a level that weigh so much. */
static void split(const gi_levels *l, const gable_off *ptr, gable_idx begin, gable_idx end, gable_off weight,
                  int threads, gi_level_parts *out)
{
  gable_off sum = 0;
  int last = -1;
  for (gable_idx k = begin; k < end; k++) {
    const int owner = (int)(sum * threads / weight);
    if (owner != last) begin_part(out, k, owner);
    last = owner;
    sum += weight_of(l, ptr, k);
  }
}

gable_status gi_level_parts_cut(gable_context *ctx, const gi_levels *levels, const gable_off *ptr, int threads,
                                gable_off narrow, gi_level_parts *out)
{
  gable_status status = GABLE_OK;
  const gi_levels *l = levels;
  gable_off most = 1;
  int running = 0; /* the last part is a run of narrow levels */
  memset(out, 0, sizeof *out);
  for (gable_idx k = 0; k < l->count; k++) {
    const gable_idx rows = l->start[k + 1] - l->start[k];
    most += rows < threads ? rows : threads;
  }
  GI_ALLOC(ctx, out->cuts, most);
  GI_ALLOC(ctx, out->owner, most);
  for (gable_idx k = 0; k < l->count; k++) {
    gable_off weight = 0;
    for (gable_idx q = l->start[k]; q < l->start[k + 1]; q++) weight += weight_of(l, ptr, q);
    if (weight >= narrow)
      split(l, ptr, l->start[k], l->start[k + 1], weight, threads, out);
    else if (!running)
      begin_part(out, l->start[k], 0);
    running = weight < narrow;
  }
  out->cuts[out->count] = l->count ? l->start[l->count] : 0;
done:
  if (status) gi_level_parts_release(ctx, out);
  return status;
}
