/* teams.c: candidates for several threads, simulated. */
#include <string.h>

#include "trisolve/cpu/supersteps.h"
#include "trisolve/cpu/teams.h"

enum {
  TILE = 1024, /* rows and entries of a tile */
  SMALL_TILE = 256,
  ROW = 3,          /* weight of a row beside its entries */
  NARROW = 400,     /* weight below which a level is not split */
  STEP_WAIT = 1000, /* what a superstep weighs beside its rows; */
  LONG_WAIT = 4000, /* on MANY threads, whose waits are longer, this is tried too */
  MANY = 8,
  ROWS_A_LEVEL = 2 /* for each thread, on the average, below which no steps are grown */
};

static const gable_off whole = INT64_MAX; /* as the cuts have it: a part may have more than 2^31 entries */
static const double launch_s = 1.5e-6;    /* of a parallel region */
static const double enough = 0.8;         /* of the threads, at work: no other candidate is tried */

typedef struct candidates {
  const gi_team_problem *p;
  int threads;
  gi_tiles *best; /* [GI_TEAM_PLANS], the fastest first */
  int count;
} candidates;

/* Simulates a plan, which is kept when it is among the best. */
static gable_status try_plan(candidates *c, const gi_tile_plan *plan)
{
  gable_status status = GABLE_OK;
  const gi_team_problem *p = c->p;
  gi_tiles tiles;
  int k = c->count;
  GI_TRY(gi_tiles_build(p->ctx, p->order.blocks.count, p->row_cost, plan, &tiles));
  tiles.model_s += launch_s;
  while (k > 0 && tiles.model_s < c->best[k - 1].model_s) k--;
  if (k == GI_TEAM_PLANS) {
    gi_tiles_release(p->ctx, &tiles);
    goto done;
  }
  if (c->count == GI_TEAM_PLANS) gi_tiles_release(p->ctx, &c->best[--c->count]);
  memmove(c->best + k + 1, c->best + k, (size_t)(c->count - k) * sizeof *c->best);
  c->best[k] = tiles;
  c->count++;
done:
  return status;
}

/* Levels cut into parts; a level's rows are in their natural order, so that what a row needs was mostly computed by its
 * own thread (the tasks of SpMP; Park et al., ISC 2014). */
typedef struct level_parts {
  const gi_levels *levels;
  const gable_off *ptr;
  int threads;
  gable_idx count;
  gable_idx *cuts; /* [count+1] offsets into levels->order */
  int *owner;      /* [count] thread */
} level_parts;

static gable_off weight_of(const level_parts *l, gable_idx k)
{
  const gable_idx row = l->levels->order[k];
  return ROW + l->ptr[row + 1] - l->ptr[row];
}

static void begin_part(level_parts *l, gable_idx at, int owner)
{
  l->cuts[l->count] = at;
  l->owner[l->count++] = owner;
}

/* Rows begin..end-1 of a level that weigh so much. */
static void split(level_parts *l, gable_idx begin, gable_idx end, gable_off weight)
{
  gable_off sum = 0;
  int last = -1;
  for (gable_idx k = begin; k < end; k++) {
    const int owner = (int)(sum * l->threads / weight);
    if (owner != last) begin_part(l, k, owner);
    last = owner;
    sum += weight_of(l, k);
  }
}

/* Parts of equal weight; narrow levels, which are not worth a wait, are left to thread 0, a run of them as one part. */
static void cut_levels(level_parts *l)
{
  const gable_idx *start = l->levels->start;
  int running = 0; /* the last part is a run of narrow levels */
  for (gable_idx k = 0; k < l->levels->count; k++) {
    gable_off weight = 0;
    for (gable_idx q = start[k]; q < start[k + 1]; q++) weight += weight_of(l, q);
    if (weight >= NARROW)
      split(l, start[k], start[k + 1], weight);
    else if (!running)
      begin_part(l, start[k], 0);
    running = weight < NARROW;
  }
  l->cuts[l->count] = l->levels->count ? start[l->levels->count] : 0;
}

/* Every thread the same part of every level. */
static gable_status try_level_parts(candidates *c)
{
  gable_status status = GABLE_OK;
  const gi_team_problem *p = c->p;
  const gi_levels *levels = p->levels;
  level_parts l = {.levels = levels, .ptr = p->order.ptr, .threads = c->threads};
  gable_off most = 1;
  for (gable_idx k = 0; k < levels->count; k++) {
    const gable_idx rows = levels->start[k + 1] - levels->start[k];
    most += rows < c->threads ? rows : c->threads;
  }
  GI_ALLOC(p->ctx, l.cuts, most);
  GI_ALLOC(p->ctx, l.owner, most);
  cut_levels(&l);
  GI_TRY(try_plan(c, &(gi_tile_plan){levels->order, l.cuts, l.owner, c->threads, whole}));
done:
  GI_FREE(p->ctx, l.cuts, l.owner);
  return status;
}

/* Few steps, in each of which a thread needs no other. */
static gable_status try_supersteps(candidates *c, gable_off wait)
{
  gable_status status = GABLE_OK;
  const gi_team_problem *p = c->p;
  const gable_idx n = p->order.blocks.count;
  gi_supersteps steps;
  memset(&steps, 0, sizeof steps);
  if (n / (p->levels->count + 1) < ROWS_A_LEVEL * c->threads) goto done;
  GI_TRY(gi_supersteps_grow(p->ctx, n, p->order.ptr, p->order.col, c->threads, wait / p->size_by, &steps));
  GI_TRY(try_plan(c, &(gi_tile_plan){steps.order, steps.cuts, steps.owner, c->threads, whole}));
done:
  gi_supersteps_release(p->ctx, &steps);
  return status;
}

/* Groups of lines as tiles; where those leave threads idle, smaller tiles, tiles by level, parts of levels. */
gable_status gi_team_plans(const gi_team_problem *p, int threads, gi_tiles *plans, int *count)
{
  gable_status status = GABLE_OK;
  candidates c = {p, threads, plans, 0};
  const gi_interleaved *base = p->base;
  const gable_idx n = p->order.blocks.count;
  const gable_idx *cuts = p->levels->count < n / SMALL_TILE ? p->levels->start : NULL;
  const gable_off tile = TILE / p->size_by, small = SMALL_TILE / p->size_by;
  const double one = gi_row_cost(p->row_cost, base->order, 0, n);
  GI_TRY(try_plan(&c, &(gi_tile_plan){base->order, base->start, NULL, threads, tile}));
  GI_TRY(try_supersteps(&c, STEP_WAIT));
  if (threads >= MANY) GI_TRY(try_supersteps(&c, LONG_WAIT));
  if (plans[0].model_s * enough * threads < one) goto done;
  GI_TRY(try_plan(&c, &(gi_tile_plan){base->order, base->start, NULL, threads, small}));
  GI_TRY(try_plan(&c, &(gi_tile_plan){p->levels->order, cuts, NULL, threads, small}));
  GI_TRY(try_plan(&c, &(gi_tile_plan){p->levels->order, cuts, NULL, threads, tile}));
  GI_TRY(try_level_parts(&c));
done:
  *count = c.count;
  return status;
}
