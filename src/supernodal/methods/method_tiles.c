/* method_tiles.c: which outputs of which block a thread block or a warp computes. */
#include "supernodal/methods/method_tiles.h"

enum {
  LANES = 32,
  NARROW_ROWS = 64, /* of a narrow tile, two a lane */
  MOST_ROWS = 256,  /* of a wide tile that solves forward */
  MOST_RHS = 16,
  MOST_KEPT = 1024,    /* columns that a tile solves forward for its own rows */
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
  gable_idx rows; /* of a wide tile that solves forward */
} cutter;

static gable_idx width_of(const gi_method_triangle *d, gable_idx b)
{
  return d->first[b + 1] - d->first[b];
}

static gable_idx rows_of(const gi_method_triangle *d, gable_idx b)
{
  return (gable_idx)(d->row_at[b + 1] - d->row_at[b]);
}

static int takes(const cutter *c, gable_idx b)
{
  const int solved = c->d->substituted[b], apart = solved && !c->transposed && width_of(c->d, b) > c->d->kept;
  if (c->launch == GI_METHOD_BELOW) return apart || (!solved && c->d->method == GABLE_SOLVE_INVERTED);
  return solved == (c->launch == GI_METHOD_SOLVE);
}

static gable_idx inputs_of(const cutter *c, gable_idx b)
{
  return (c->part & GIK_BLOCK_DIAGONAL ? width_of(c->d, b) : 0) + (c->part & GIK_BLOCK_BELOW ? rows_of(c->d, b) : 0);
}

static int is_narrow(const cutter *c, gable_idx b)
{
  return width_of(c->d, b) <= GIK_BLOCK_NARROW && (!c->transposed || inputs_of(c, b) <= NARROW_INPUTS);
}

/* Outputs begin .. end-1, so many at a time. */
static gable_status cut(tile_list *l, gable_idx block, gable_idx begin, gable_idx end, gable_idx each, gable_idx team)
{
  gable_status status = GABLE_OK;
  const gable_idx parts = (end - begin + each - 1) / each;
  for (gable_idx o = begin; o < end; o += each)
    GI_TRY(append(l, (gik_block_tile){block, o, o + each < end ? o + each : end, team, parts}));
done:
  return status;
}

/* The first tile has the columns, and as many rows as each of the others. */
static gable_status cut_forward(tile_list *l, const cutter *c, gable_idx b)
{
  gable_status status = GABLE_OK;
  const gable_idx w = width_of(c->d, b), each = is_narrow(c, b) ? NARROW_ROWS : c->rows,
                  rows = w > c->d->kept ? 0 : rows_of(c->d, b);
  const gable_idx first = w + (rows < each ? rows : each);
  GI_TRY(append(l, (gik_block_tile){.block = b, .end = first}));
  GI_TRY(cut(l, b, first, w + rows, each, 0));
done:
  return status;
}

static gable_status cut_block(tile_list *l, const cutter *c, gable_idx b)
{
  const gable_idx w = width_of(c->d, b), rows = rows_of(c->d, b), inputs = inputs_of(c, b);
  const gable_idx some = inputs ? NARROW_VALUES / inputs : w;
  const int narrow = is_narrow(c, b), solves = c->launch == GI_METHOD_SOLVE;
  if (solves && !c->transposed) return cut_forward(l, c, b);
  if (solves && !rows) return append(l, (gik_block_tile){.block = b, .end = w});
  if (!c->transposed) {
    const gable_idx begin = c->part & GIK_BLOCK_DIAGONAL ? 0 : w, end = c->part & GIK_BLOCK_BELOW ? w + rows : w;
    return cut(l, b, begin, end, narrow ? NARROW_ROWS : LANES, 1);
  }
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
    if (takes(c, d->block[k]) && !is_narrow(c, d->block[k])) columns += width_of(d, d->block[k]);
  while (team < GIK_BLOCK_WARPS && columns * team < (gable_off)d->fill * GIK_BLOCK_WARPS) team *= 2;
  return team;
}

/* Rows of a wide tile that solves forward: few, unless the level then has more tiles than processors, of which each
 * holds one. */
static gable_idx wide_rows(const cutter *c, gable_idx level, gable_idx processors)
{
  const gi_method_triangle *d = c->d;
  gable_off rows = 0;
  gable_idx each = NARROW_ROWS;
  for (gable_idx k = d->level[level]; k < d->level[level + 1]; k++)
    if (takes(c, d->block[k]) && !is_narrow(c, d->block[k])) rows += rows_of(d, d->block[k]);
  while (rows > (gable_off)each * processors && each < MOST_ROWS) each *= 2;
  return each;
}

/* Columns and rows of the widest tile that solves for its rows. */
static gable_idx most_of(const gi_method_triangle *d, const tile_list *l, gable_off begin)
{
  gable_idx most = 0;
  for (gable_off k = begin; k < l->count; k++) {
    const gik_block_tile *t = l->tile + k;
    const gable_idx w = width_of(d, t->block), outputs = t->begin ? w + t->end - t->begin : t->end;
    if (w <= d->kept && outputs > most) most = outputs;
  }
  return most;
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
  if (!batch->most) GI_ALLOC(ctx, batch->most, d->n_levels);
  for (gable_idx level = 0; level < d->n_levels; level++) {
    cutter c = {d, launch, batch->part, transposed, 1, 0};
    c.team = team_of(&c, level);
    c.rows = wide_rows(&c, level, ctx->device->gpu_class(ctx)->processors);
    batch->at[level] = (gable_idx)l.count;
    for (int narrow = 0; narrow < 2; narrow++) {
      const gable_off before = l.count;
      for (gable_idx k = d->level[level]; k < d->level[level + 1]; k++)
        if (takes(&c, d->block[k]) && is_narrow(&c, d->block[k]) == narrow) GI_TRY(cut_block(&l, &c, d->block[k]));
      (narrow ? batch->narrow : batch->wide)[level] = (gable_idx)(l.count - before);
      if (!narrow) batch->most[level] = most_of(d, &l, before);
    }
  }
  GI_TRY(gi_resident_bring(ctx, &batch->tile, l.tile, l.count, sizeof *l.tile, moved));
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* before the host's tiles go */
done:
  gi_free(ctx, l.tile);
  return status;
}

/* Their columns and MOST_ROWS rows of so many right-hand sides fit the shared memory of a block, beside what the kernel
 * has there anyway.  Without a GPU few, so that tests reach both ways. */
static gable_idx kept_columns(const gable_context *ctx)
{
  enum { OTHERS = 16 << 10, WITHOUT = 64 };
  const int shared = ctx->device->gpu_class(ctx)->shared;
  const gable_idx most = (shared - OTHERS) / (int)sizeof(double) / MOST_RHS - MOST_ROWS;
  if (!shared) return WITHOUT;
  return most < 0 ? 0 : most < MOST_KEPT ? most : MOST_KEPT;
}

gable_status gi_method_batches_make(gable_context *ctx, gi_method_triangle *d, int *moved)
{
  gable_status status = GABLE_OK;
  const int launches = d->method == GABLE_SOLVE_PARTITIONED ? GI_METHOD_SOLVE + 1 : GI_METHOD_LAUNCHES;
  d->kept = kept_columns(ctx);
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < launches; k++) {
      const int whole = k == GI_METHOD_PRODUCT ? d->method == GABLE_SOLVE_MERGED : k == GI_METHOD_SOLVE && !side;
      const int below = k == GI_METHOD_BELOW || (k == GI_METHOD_SOLVE && side);
      d->batch[side][k].part = whole ? GIK_BLOCK_WHOLE : below ? GIK_BLOCK_BELOW : GIK_BLOCK_DIAGONAL;
      GI_TRY(make_batch(ctx, d, side, (gi_method_launch)k, moved));
    }
done:
  return status;
}
