/* tile_lists.c: tiles in the order in which they are solved, each thread's together. */
#include <string.h>

#include "trisolve/cpu/teams.h"
#include "trisolve/cpu/windows.h"

/* The tiles cut into windows: [windows+1] offsets into s->order. */
static gable_status cut_windows(const gi_team_problem *p, const gi_tiles *s, gable_idx **cuts, gable_idx *windows)
{
  gable_status status = GABLE_OK;
  const gable_idx n = p->order.blocks.count, widest = p->window ? p->window : n;
  gable_idx count = 0;
  GI_ALLOC(p->ctx, *cuts, (gable_off)s->count + n / (widest ? widest : 1) + 1);
  for (gable_idx tile = 0; tile < s->count; tile++)
    for (gable_off k = s->start[tile]; k < s->start[tile + 1]; k += widest) (*cuts)[count++] = (gable_idx)k;
  (*cuts)[count] = n;
  *windows = count;
done:
  return status;
}

/* Inside each window of a tile: by level, and like beside like. */
static gable_status sort_tiles(const gi_team_problem *p, gi_tiles *s)
{
  gable_status status = GABLE_OK;
  const gable_idx n = p->order.blocks.count;
  unsigned char *kind = NULL;
  gable_idx *order = NULL, *cuts = NULL, windows = 0;
  gi_window_rows rows = {n, p->order.ptr, p->order.col, NULL};
  GI_ALLOC(p->ctx, kind, n);
  GI_ALLOC(p->ctx, order, n);
  gi_row_block_kinds(&p->order, kind);
  rows.kind = kind;
  GI_TRY(cut_windows(p, s, &cuts, &windows));
  GI_TRY(gi_windows_sort(p->ctx, &rows, s->order, cuts, windows, order));
  gi_free(p->ctx, s->order);
  s->order = order;
  order = NULL;
done:
  GI_FREE(p->ctx, kind, order, cuts);
  return status;
}

/* From places in the order of blocks to places in that of rows. */
static void count_rows(const gi_block_starts *blocks, gi_tiles *s)
{
  gable_idx row = 0, k = 0;
  for (gable_idx tile = 0; tile < s->count; tile++) {
    const gable_idx end = s->start[tile + 1];
    s->start[tile] = row;
    for (; k < end; k++) row += blocks->start[s->order[k] + 1] - blocks->start[s->order[k]];
  }
  s->start[s->count] = row;
}

gable_status gi_tiles_adopt(const gi_team_problem *p, gi_tiles *tiles, gi_op_plan *op_plan)
{
  gable_status status = GABLE_OK;
  const gi_block_order_problem *o = &p->order;
  gi_tiles *s = NULL;
  GI_ALLOC(p->ctx, s, 1);
  *s = *tiles;
  memset(tiles, 0, sizeof *tiles);
  op_plan->schedule = s;
  if (s->threads > 1) GI_TRY(sort_tiles(p, s));
  GI_TRY(gi_lists_pack(p->ctx, o->t, &o->blocks, s->order, s->start, s->count, GI_RUN, o->value_type, &op_plan->lists));
  if (o->blocks.start) count_rows(&o->blocks, s);
  gi_free(p->ctx, s->order);
  s->order = NULL;
  op_plan->threads = s->threads;
  op_plan->tiles = s->count;
  op_plan->waits = s->wait_start[s->count];
  op_plan->launches = s->threads > 1;
  op_plan->model_s = s->model_s;
  op_plan->schedule_bytes = sizeof *s + ((size_t)s->count * 4 + (size_t)s->threads + 4) * sizeof *s->start +
                            (size_t)op_plan->waits * sizeof *s->wait; /* the lists' parts among them */
done:
  return status;
}

void gi_tiles_drop(gable_context *ctx, gi_op_plan *op_plan)
{
  gi_tiles *s = op_plan->schedule;
  if (s) gi_tiles_release(ctx, s);
  gi_free(ctx, s);
  op_plan->schedule = NULL;
  gi_lists_release(ctx, &op_plan->lists);
}
