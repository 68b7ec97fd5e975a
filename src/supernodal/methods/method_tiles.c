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
  gi_method_launch launch;
  gik_block_part part;
  int transposed;
  gable_idx team; /* of the wide tiles of a transposed product */
} cutter;

static int takes(const cutter *c, gable_idx b)
{
  if (c->launch == GI_METHOD_BELOW && c->d->method == GABLE_SOLVE_INVERTED) return 1;
  return c->d->substituted[b] == (c->launch != GI_METHOD_PRODUCT);
}

static gable_idx inputs_of(const cutter *c, gable_idx b)
{
  const gable_idx w = c->d->first[b + 1] - c->d->first[b], rows = (gable_idx)(c->d->row_at[b + 1] - c->d->row_at[b]);
  return (c->part & GIK_BLOCK_DIAGONAL ? w : 0) + (c->part & GIK_BLOCK_BELOW ? rows : 0);
}

static int is_narrow(const cutter *c, gable_idx b)
{
  const gable_idx w = c->d->first[b + 1] - c->d->first[b];
  return w <= GIK_BLOCK_NARROW &&
         (c->launch == GI_METHOD_SUBSTITUTE || !c->transposed || inputs_of(c, b) <= NARROW_INPUTS);
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
  if (c->launch == GI_METHOD_SUBSTITUTE) return cut(l, b, 0, w, w, 1);
  if (!c->transposed) {
    const gable_idx begin = c->part & GIK_BLOCK_DIAGONAL ? 0 : w, end = c->part & GIK_BLOCK_BELOW ? w + rows : w;
    return cut(l, b, begin, end, narrow ? NARROW_ROWS : LANES, 1);
  }
  const gable_idx inputs = inputs_of(c, b), some = inputs ? NARROW_VALUES / inputs : w;
  if (c->part == GIK_BLOCK_BELOW && !rows) return GABLE_OK;
  return cut(l, b, 0, w, narrow ? (some > 1 ? some : 1) : GIK_BLOCK_WARPS / c->team, narrow ? 1 : c->team);
}

/* Warps that share a column, so that the wide columns of a level make tiles enough to fill the device. */
static gable_idx team_of(const cutter *c, gable_idx level)
{
  const gi_method_triangle *d = c->d;
  gable_off columns = 0;
  gable_idx team = 1;
  for (gable_idx k = d->level[level]; k < d->level[level + 1]; k++)
    if (takes(c, d->block[k]) && !is_narrow(c, d->block[k]))
      columns += d->first[d->block[k] + 1] - d->first[d->block[k]];
  while (team < GIK_BLOCK_WARPS && columns * team < (gable_off)d->fill * GIK_BLOCK_WARPS) team *= 2;
  return team;
}

static gable_status make_batch(gable_context *ctx, gi_method_triangle *d, int transposed, gi_method_launch launch,
                               int *moved)
{
  gable_status status = GABLE_OK;
  gi_method_batch *batch = &d->batch[transposed][launch];
  tile_list l = {.ctx = ctx};
  if (!batch->at) GI_ALLOC(ctx, batch->at, d->n_levels);
  if (!batch->wide) GI_ALLOC(ctx, batch->wide, d->n_levels);
  if (!batch->narrow) GI_ALLOC(ctx, batch->narrow, d->n_levels);
  for (gable_idx level = 0; level < d->n_levels; level++) {
    cutter c = {d, launch, batch->part, transposed, 1};
    c.team = team_of(&c, level);
    batch->at[level] = (gable_idx)l.count;
    for (int narrow = 0; narrow < 2; narrow++) {
      const gable_off before = l.count;
      for (gable_idx k = d->level[level]; k < d->level[level + 1]; k++)
        if (takes(&c, d->block[k]) && is_narrow(&c, d->block[k]) == narrow) GI_TRY(cut_block(&l, &c, d->block[k]));
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
  const int launches = d->method == GABLE_SOLVE_PARTITIONED ? GI_METHOD_SUBSTITUTE + 1 : GI_METHOD_LAUNCHES;
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < launches; k++) {
      d->batch[side][k].part = k == GI_METHOD_BELOW                                        ? GIK_BLOCK_BELOW
                               : k == GI_METHOD_PRODUCT && d->method == GABLE_SOLVE_MERGED ? GIK_BLOCK_WHOLE
                                                                                           : GIK_BLOCK_DIAGONAL;
      GI_TRY(make_batch(ctx, d, side, (gi_method_launch)k, moved));
    }
done:
  return status;
}
