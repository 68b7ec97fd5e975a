/* levels.c: levels in one pass, then a counting sort. */
#include <string.h>

#include "graph/levels.h"

void gi_levels_release(gable_context *ctx, gi_levels *l)
{
  GI_FREE(ctx, l->level, l->start, l->order);
  memset(l, 0, sizeof *l);
}

gable_status gi_levels_find(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *col, gi_levels *out)
{
  gable_status status = GABLE_OK;
  memset(out, 0, sizeof *out);
  GI_ALLOC(ctx, out->level, n);
  GI_ALLOC(ctx, out->order, n);
  for (gable_idx k = 0; k < n; k++) {
    gable_idx level = 0;
    for (gable_off p = ptr[k]; p < ptr[k + 1]; p++)
      if (out->level[col[p]] >= level) level = out->level[col[p]] + 1;
    out->level[k] = level;
    if (level >= out->count) out->count = level + 1;
  }
  GI_ALLOC_ZERO(ctx, out->start, (gable_off)out->count + 1);
  for (gable_idx k = 0; k < n; k++) out->start[out->level[k] + 1]++;
  for (gable_idx l = 0; l < out->count; l++) {
    if (out->start[l + 1] > out->widest) out->widest = out->start[l + 1];
    out->start[l + 1] += out->start[l];
  }
  for (gable_idx k = 0; k < n; k++) out->order[out->start[out->level[k]]++] = k;
  for (gable_idx l = out->count; l > 0; l--) out->start[l] = out->start[l - 1];
  out->start[0] = 0;
done:
  if (status) gi_levels_release(ctx, out);
  return status;
}
