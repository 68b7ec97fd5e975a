/* method_order.c: see method_order.h. */
#include "supernodal/methods/method_order.h"

#include <string.h>

#include "supernodal/cpu/block_triangle.h"

/* Entries of F lie right of the diagonal blocks: a block's group is one more than those of the blocks that its rows
 * meet there, which come later in A'.  of [n]: diagonal block of each column. */
static void find_groups(const gi_factor *f, gable_idx *of, gi_method_order *o)
{
  const gi_layout *y = f->layout;
  memset(o->group, 0, (size_t)o->n_stages * sizeof *o->group);
  for (gable_idx g = 0; g < o->n_stages; g++)
    for (gable_idx j = gi_stage_begin(y, g); j < gi_stage_begin(y, g + 1); j++) of[j] = g;
  for (gable_idx j = o->n - 1; j >= 0 && y->off_ptr && f->off; j--)
    for (gable_off k = y->off_ptr[j]; k < y->off_ptr[j + 1]; k++) {
      gable_idx *group = o->group + of[y->off_row[k]];
      if (*group <= o->group[of[j]]) *group = o->group[of[j]] + 1;
    }
  for (gable_idx g = 0; g < o->n_stages; g++)
    if (o->group[g] >= o->n_groups) o->n_groups = o->group[g] + 1;
}

gable_status gi_method_order_init(gable_context *ctx, const gi_factor *f, gi_method_order *o)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = f->layout;
  gable_idx *at = NULL;
  *o = (gi_method_order){.n = y->n, .n_stages = y->n ? y->n_blocks : 0};
  GI_ALLOC(ctx, o->stage, o->n_stages);
  GI_ALLOC(ctx, o->group, o->n_stages);
  GI_ALLOC(ctx, o->order, o->n);
  GI_ALLOC(ctx, o->place, o->n);
  find_groups(f, o->place, o);
  GI_ALLOC_ZERO(ctx, o->begin, o->n_groups + 1);
  GI_ALLOC_ZERO(ctx, at, o->n_groups + 1);
  for (gable_idx g = 0; g < o->n_stages; g++) at[o->group[g] + 1]++;
  for (gable_idx q = 0; q < o->n_groups; q++) at[q + 1] += at[q];
  for (gable_idx g = 0; g < o->n_stages; g++) o->stage[at[o->group[g]]++] = g;
  for (gable_idx k = 0, s = 0; s < o->n_stages; s++) {
    const gable_idx g = o->stage[s];
    for (gable_idx j = gi_stage_begin(y, g); j < gi_stage_begin(y, g + 1); j++, k++) {
      o->order[k] = j;
      o->place[j] = k;
    }
    o->begin[o->group[g] + 1] = k;
  }
done:
  gi_free(ctx, at);
  return status;
}

void gi_method_order_release(gable_context *ctx, gi_method_order *o)
{
  GI_FREE(ctx, o->stage, o->group, o->begin, o->order, o->place);
  *o = (gi_method_order){0};
}
