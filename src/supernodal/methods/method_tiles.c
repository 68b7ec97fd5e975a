/* method_tiles.c: which outputs of which block a thread block or a warp computes. */
#include "supernodal/methods/method_tiles.h"

enum {
  LANES = 32,
  NARROW_ROWS = 64,    /* of a narrow tile, two a lane */
  NARROW_INPUTS = 512, /* of a transposed one, at most */
  NARROW_VALUES = 2048 /* of a transposed one, about */
};

typedef struct tile_list {
  gable_context *ctx;
  gik_block_tile *tile;
  gable_off count, capacity;
} tile_list;

static gable_status append(tile_list *l, gik_block_tile tile)
{
  gable_status status = GABLE_OK;
  GI_RESERVE(l->ctx, l->tile, l->count, l->count + 1, l->capacity, "the tiles of a solve");
  GI_REQUIRE(l->count < INT32_MAX, GABLE_ERR_LIMIT, "more than 2^31 tiles in one solve");
  l->tile[l->count++] = tile;
done:
  return status;
}

/* How one batch cuts its blocks. */
typedef struct cutter {
  const gi_method_triangle *d;
  const gi_method_batch *batch;
  int transposed;
  gable_idx team; /* of the wide tiles of a transposed product */
} cutter;

static gable_idx inputs_of(const cutter *c, gable_idx b)
{
  const gable_idx w = c->d->first[b + 1] - c->d->first[b], rows = (gable_idx)(c->d->row_at[b + 1] - c->d->row_at[b]);
  return (c->batch->part & GIK_BLOCK_DIAGONAL ? w : 0) + (c->batch->part & GIK_BLOCK_BELOW ? rows : 0);
}

static int is_narrow(const cutter *c, gable_idx b)
{
  const gable_idx w = c->d->first[b + 1] - c->d->first[b];
  return w <= GIK_BLOCK_NARROW && (c->batch->substitute || !c->transposed || inputs_of(c, b) <= NARROW_INPUTS);
}

/* Outputs begin .. end-1, so many at a time. */
static gable_status cut(tile_list *l, gable_idx block, gable_idx begin, gable_idx end, gable_idx each, gable_idx team)
{
  gable_status status = GABLE_OK;
  for (gable_idx o = begin; o < end; o += each)
    GI_TRY(append(l, (gik_block_tile){block, o, o + each < end ? o + each : end, team}));
done:
  return status;
}

static gable_status cut_block(tile_list *l, const cutter *c, gable_idx b)
{
  const gable_idx w = c->d->first[b + 1] - c->d->first[b], rows = (gable_idx)(c->d->row_at[b + 1] - c->d->row_at[b]);
  const int narrow = is_narrow(c, b);
  if (c->batch->substitute) return cut(l, b, 0, w, w, 1);
  if (!c->transposed) {
    const gable_idx begin = c->batch->part & GIK_BLOCK_DIAGONAL ? 0 : w,
                    end = c->batch->part & GIK_BLOCK_BELOW ? w + rows : w;
    return cut(l, b, begin, end, narrow ? NARROW_ROWS : LANES, 1);
  }
  const gable_idx inputs = inputs_of(c, b), some = inputs ? NARROW_VALUES / inputs : w;
  if (c->batch->part == GIK_BLOCK_BELOW && !rows) return GABLE_OK;
  return cut(l, b, 0, w, narrow ? (some > 1 ? some : 1) : GIK_BLOCK_WARPS / c->team, narrow ? 1 : c->team);
}

/* Warps that share a column, so that the wide columns of a level make tiles enough to fill the device. */
static gable_idx team_of(const cutter *c, gable_idx level)
{
  const gi_method_triangle *d = c->d;
  gable_off columns = 0;
  gable_idx team = 1;
  for (gable_idx k = d->level[level]; k < d->level[level + 1]; k++)
    if (!is_narrow(c, d->block[k])) columns += d->first[d->block[k] + 1] - d->first[d->block[k]];
  while (team < GIK_BLOCK_WARPS && columns * team < (gable_off)d->fill * GIK_BLOCK_WARPS) team *= 2;
  return team;
}

static gable_status make_batch(gable_context *ctx, const gi_method_triangle *d, int transposed, gi_method_batch *batch,
                               int *moved)
{
  gable_status status = GABLE_OK;
  tile_list l = {.ctx = ctx};
  GI_ALLOC(ctx, batch->at, d->n_levels);
  GI_ALLOC(ctx, batch->wide, d->n_levels);
  GI_ALLOC(ctx, batch->narrow, d->n_levels);
  for (gable_idx level = 0; level < d->n_levels; level++) {
    cutter c = {d, batch, transposed, 1};
    c.team = team_of(&c, level);
    batch->at[level] = (gable_idx)l.count;
    for (int narrow = 0; narrow < 2; narrow++) {
      const gable_off before = l.count;
      for (gable_idx k = d->level[level]; k < d->level[level + 1]; k++)
        if (is_narrow(&c, d->block[k]) == narrow) GI_TRY(cut_block(&l, &c, d->block[k]));
      (narrow ? batch->narrow : batch->wide)[level] = (gable_idx)(l.count - before);
    }
  }
  GI_TRY(gi_resident_bring(ctx, &batch->tile, l.tile, l.count, sizeof *l.tile, moved));
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* before the host's tiles go */
done:
  gi_free(ctx, l.tile);
  return status;
}

gable_status gi_method_batches_make(gable_context *ctx, gi_method_triangle *d, int *moved)
{
  gable_status status = GABLE_OK;
  const int substitute = d->method == GABLE_SOLVE_BATCHED;
  gi_method_batch *up = d->batch[0], *down = d->batch[1];
  d->n_batches = 1;
  up[0].part = down[0].part = GIK_BLOCK_WHOLE;
  if (d->method != GABLE_SOLVE_MERGED) {
    d->n_batches = 2;
    up[0].part = down[1].part = GIK_BLOCK_DIAGONAL;
    up[0].substitute = down[1].substitute = substitute;
    up[1].part = down[0].part = GIK_BLOCK_BELOW;
    down[0].own_out = 1;
  }
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < d->n_batches; k++) GI_TRY(make_batch(ctx, d, side, &d->batch[side][k], moved));
done:
  return status;
}
