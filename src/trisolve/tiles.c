/* tiles.c: our two-level method on the CPU: tiles of rows that overlap, point-to-point waits between threads. */
#include <string.h>

#include "graph/interleave.h"
#include "graph/level_parts.h"
#include "graph/tiles.h"
#include "graph/units.h"
#include "graph/windows.h"
#include "trisolve/cpu.h"
#include "trisolve/orders.h"
#include "trisolve/turns.h"

/* Scratch: how many tiles each thread has finished, counted on from solve to solve. */
typedef struct progress {
  atomic_uint done;
  char apart[60]; /* a cache line each */
} progress;

typedef struct scratch_area {
  unsigned base;
  gable_idx count; /* right-hand sides of the last solve; turns is for that count */
  gi_turns turns;  /* alone or with the team: both give the same bits */
  char apart[64];
  progress of[]; /* [threads] */
} scratch_area;

static void tiles_release(gable_context *ctx, gi_side *side)
{
  gi_tiles *s = side->schedule;
  if (s) gi_tiles_release(ctx, s);
  gi_free(ctx, s);
}

/* What the candidates are made from: the graph of units, or of rows where there are none. */
typedef struct bench {
  gable_context *ctx;
  const gi_pattern *p;
  gi_units units; /* count 0: rows */
  gable_idx n;    /* units or rows */
  gi_levels own;  /* of units; empty where there are none */
  const gi_levels *levels;
  gable_off size_by; /* entries of the triangle for each one of the graph */
  gi_pace pace;
  gi_interleaved base;
  gi_tile_costs costs;
  gi_tiles best;
} bench;

static gi_order_problem problem_of(const bench *b, gable_type value_type)
{
  const gi_unit_rows rows = {b->n, b->units.start};
  return (gi_order_problem){&b->p->rows, rows, b->pace.ptr, b->pace.col, b->base.order, value_type};
}

/* Inside each tile: by level, and like beside like. */
static gable_status sort_tiles(const bench *b, const gi_order_problem *p, gi_tiles *s)
{
  gable_status status = GABLE_OK;
  unsigned char *kind = NULL;
  gable_idx *order = NULL;
  gi_window_rows rows = {b->n, p->ptr, p->col, NULL};
  GI_ALLOC(b->ctx, kind, b->n);
  GI_ALLOC(b->ctx, order, b->n);
  gi_unit_kinds(p, kind);
  rows.kind = kind;
  GI_TRY(gi_windows_sort(b->ctx, &rows, s->order, s->start, s->count, order));
  gi_free(b->ctx, s->order);
  s->order = order;
  order = NULL;
done:
  gi_free(b->ctx, kind);
  gi_free(b->ctx, order);
  return status;
}

/* From places in the order of units to places in that of rows. */
static void count_rows(const gi_units *units, gi_tiles *s)
{
  gable_idx row = 0, k = 0;
  for (gable_idx tile = 0; tile < s->count; tile++) {
    const gable_idx end = s->start[tile + 1];
    s->start[tile] = row;
    for (; k < end; k++) row += units->start[s->order[k] + 1] - units->start[s->order[k]];
  }
  s->start[s->count] = row;
}

/* Takes the tiles: lists and counters of side from them. */
static gable_status adopt(const bench *b, gi_tiles *tiles, gable_type value_type, gi_side *side)
{
  gable_status status = GABLE_OK;
  gi_tiles *s = NULL;
  const gi_order_problem problem = problem_of(b, value_type);
  GI_ALLOC(b->ctx, s, 1);
  *s = *tiles;
  memset(tiles, 0, sizeof *tiles);
  side->schedule = s;
  if (s->threads > 1) GI_TRY(sort_tiles(b, &problem, s));
  GI_TRY(
      gi_lists_pack(b->ctx, problem.t, &problem.units, s->order, s->start, s->count, GI_RUN, value_type, &side->lists));
  if (b->units.count) count_rows(&b->units, s);
  gi_free(b->ctx, s->order);
  s->order = NULL;
  side->threads = s->threads;
  side->tiles = s->count;
  side->waits = s->wait_start[s->count];
  side->launches = s->threads > 1;
  side->model_s = s->model_s;
  side->schedule_bytes = sizeof *s + (size_t)s->count * 3 * sizeof *s->start + (size_t)side->waits * sizeof *s->wait;
done:
  return status;
}

enum {
  TILE = 1024, /* rows and entries of a tile */
  SMALL_TILE = 256,
  WIDTH = 4,    /* rows of a group for each of its levels */
  NARROW = 400, /* weight below which a level is not split */
  MAX_THREADS = 64
};

static const gable_off whole = INT64_MAX; /* as the cuts have it: a part may have more than 2^31 entries */
static const double launch_s = 1.5e-6;    /* of a parallel region */
static const double gain_wanted = 1.15;   /* before more threads are used, for machines less quiet than the model */
static const double unit_gain = 0.6;      /* an entry's cost in a unit, over its cost in a row */
static const double least_s = 4e-6;       /* a solve that is worth a second thread, if sparing; */
static const double promise =
    1.6; /* and then, of the time on one thread, what the model may say at most: it knows no caches */

/* Tiles of an order for so many threads; they are kept when the model likes them better than the best so far. */
static gable_status try_tiles(bench *b, const gi_tile_plan *plan)
{
  gable_status status = GABLE_OK;
  gi_tiles tiles;
  gi_tile_costs costs = b->costs;
  const int threads = plan->threads;
  double wanted = b->best.count && threads > b->best.threads ? gain_wanted : 1.0;
  if (threads > 2) costs.remote *= 0.5 * threads; /* lines come from farther away, and all threads ask at once */
  GI_TRY(gi_tiles_build(b->ctx, b->n, &b->pace, plan, &costs, &tiles));
  if (threads > 1) tiles.model_s += launch_s;
  if (!b->best.count || tiles.model_s * wanted < b->best.model_s) {
    gi_tiles_release(b->ctx, &b->best);
    b->best = tiles;
  } else {
    gi_tiles_release(b->ctx, &tiles);
  }
done:
  return status;
}

/* Every thread the same part of every level. */
static gable_status try_level_parts(bench *b, int threads)
{
  gable_status status = GABLE_OK;
  gi_level_parts parts;
  memset(&parts, 0, sizeof parts);
  GI_TRY(gi_level_parts_cut(b->ctx, b->levels, b->pace.ptr, threads, NARROW, &parts));
  GI_TRY(try_tiles(b, &(gi_tile_plan){b->levels->order, parts.cuts, parts.owner, threads, whole}));
done:
  gi_level_parts_release(b->ctx, &parts);
  return status;
}

/* One thread; all threads in the interleaved order; and smaller tiles, also by level, where those leave threads idle.
 */
static gable_status try_all(bench *b, int threads)
{
  gable_status status = GABLE_OK;
  const gable_idx *cuts = b->levels->count < b->n / SMALL_TILE ? b->levels->start : NULL;
  const gable_off tile = TILE / b->size_by, small = SMALL_TILE / b->size_by;
  double one;
  GI_TRY(try_tiles(b, &(gi_tile_plan){b->base.order, b->base.start, NULL, 1, tile}));
  one = b->best.model_s;
  if (threads == 1 || one < 2 * launch_s) goto done;
  GI_TRY(try_tiles(b, &(gi_tile_plan){b->base.order, b->base.start, NULL, threads, tile}));
  if (b->best.model_s * 0.8 * threads < one) goto done;
  GI_TRY(try_tiles(b, &(gi_tile_plan){b->base.order, b->base.start, NULL, threads, small}));
  GI_TRY(try_tiles(b, &(gi_tile_plan){b->levels->order, cuts, NULL, threads, small}));
  GI_TRY(try_tiles(b, &(gi_tile_plan){b->levels->order, cuts, NULL, threads, tile}));
  GI_TRY(try_level_parts(b, threads));
done:
  return status;
}

/* Units, their graph, and how long a unit takes, which is more than a row. */
static gable_status prepare(bench *b)
{
  gable_status status = GABLE_OK;
  const gi_triangle *t = &b->p->rows;
  b->n = t->n;
  b->levels = &b->p->levels;
  b->size_by = 1;
  GI_TRY(gi_units_find(b->ctx, t->n, t->ptr, t->col, GIK_UNIT_ROWS, &b->units));
  if (!b->units.count) {
    GI_TRY(gi_pace_init(b->ctx, t->n, t->ptr, t->col, &b->pace));
  } else {
    const double rows = (double)t->n / b->units.count;
    const double entries = (double)t->ptr[t->n] / (double)(b->units.ptr[b->units.count] + 1);
    b->n = b->units.count;
    b->levels = &b->own;
    GI_TRY(gi_levels_find(b->ctx, b->n, b->units.ptr, b->units.col, &b->own));
    GI_TRY(gi_pace_init(b->ctx, b->n, b->units.ptr, b->units.col, &b->pace));
    b->pace.row *= rows;
    b->pace.latency *= rows;
    b->pace.entry *= unit_gain * entries;
    b->size_by = entries > 1 ? (gable_off)(entries + 0.5) : 1;
  }
  GI_TRY(gi_interleave(b->ctx, b->n, &b->pace, WIDTH, &b->base));
done:
  return status;
}

/* One thread, in the order of best: one tile. */
static gable_status build_alone(bench *b, gi_best_order *best, gable_type value_type, gi_side *side)
{
  gable_status status = GABLE_OK;
  gi_tiles tiles;
  side->as_serial = !best->order && !b->units.count && best->lists.m.runs <= 1;
  GI_TRY(gi_tiles_build(b->ctx, b->n, &b->pace, &(gi_tile_plan){best->order, NULL, NULL, 1, whole}, &b->costs, &tiles));
  status = adopt(b, &tiles, value_type, side);
  gi_tiles_release(b->ctx, &tiles);
  if (status) goto done;
  gi_lists_release(b->ctx, &side->lists);
  side->lists = best->lists;
  memset(&best->lists, 0, sizeof best->lists);
done:
  return status;
}

static void release_bench(bench *b)
{
  gi_tiles_release(b->ctx, &b->best);
  gi_pace_release(b->ctx, &b->pace);
  gi_interleaved_release(b->ctx, &b->base);
  gi_levels_release(b->ctx, &b->own);
  gi_units_release(b->ctx, &b->units);
}

static gable_status build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_side *side)
{
  gable_status status = GABLE_OK;
  int threads = side->threads < MAX_THREADS ? side->threads : MAX_THREADS;
  bench b;
  gi_order_problem problem;
  gi_best_order best;
  memset(&b, 0, sizeof b);
  memset(&best, 0, sizeof best);
  b.ctx = ctx;
  b.p = p;
  b.costs = gi_tile_costs_default();
  GI_TRY(prepare(&b));
  problem = problem_of(&b, value_type);
  GI_TRY(gi_best_order_find(ctx, &problem, &best));
  side->natural_s = best.natural_s;
  side->alone_s = best.seconds;
  side->width = best.width;
  side->reordered = best.order != NULL;
  side->serial_model_s = gi_pace_of(&b.pace, NULL, 0, b.n);
  if (side->sparing && best.seconds < least_s) threads = 1;
  if (threads > 1) GI_TRY(try_all(&b, threads));
  if (side->sparing && b.best.model_s * best.natural_s > promise * best.seconds * side->serial_model_s) threads = 1;
  if (threads == 1 || b.best.threads == 1) {
    GI_TRY(build_alone(&b, &best, value_type, side));
  } else {
    GI_TRY(adopt(&b, &b.best, value_type, side));
    side->alone = best.lists;
    memset(&best.lists, 0, sizeof best.lists);
  }
done:
  gi_best_order_release(ctx, &best);
  release_bench(&b);
  return status;
}

static size_t scratch_bytes(const gi_side *side)
{
  return sizeof(scratch_area) + (size_t)side->threads * sizeof(progress);
}

static void scratch_init(const gi_side *side, void *scratch)
{
  scratch_area *a = scratch;
  memset(a, 0, sizeof *a);
  for (int t = 0; t < side->threads; t++) atomic_init(&a->of[t].done, 0);
}

static void run_tile(const gi_run *r, gable_idx tile)
{
  const gi_tiles *s = r->side->schedule;
  const gable_idx k0 = s->start[tile], *part = r->side->lists.part;
  if (part)
    r->kernels->packed(&r->side->lists.m, part[tile], part[tile + 1], r->v);
  else
    r->kernels->rows(&r->side->lists.m, k0, s->start[tile + 1], r->side->lists.begin[k0], r->v);
}

/* What one thread does: its tiles, each after what it waits for. */
static void run_thread(const gi_run *r, scratch_area *a, gi_team *team, int thread)
{
  const gi_tiles *s = r->side->schedule;
  unsigned done = a->base;
  for (gable_idx tile = s->first[thread]; tile < s->first[thread + 1]; tile++) {
    for (gable_idx w = s->wait_start[tile]; w < s->wait_start[tile + 1]; w++) {
      const gi_wait_for *f = &s->wait[w];
      const gable_idx last = s->start[s->first[f->thread] + f->tiles] - 1;
      if (gi_wait_reach(team, &a->of[f->thread].done, a->base + (unsigned)f->tiles, r->side->lists.m.row[last])) return;
    }
    run_tile(r, tile);
    gi_publish(&a->of[thread].done, ++done);
  }
}

/* Everything on this thread; bit for bit what a team computes. */
static void run_alone(gi_run *r)
{
  const gi_tiles *s = r->side->schedule;
  const gi_lists *alone = &r->side->alone;
  if (alone->m.n)
    r->kernels->packed(&alone->m, 0, alone->m.runs, r->v);
  else
    for (gable_idx k = 0; k < s->count; k++) run_tile(r, s->sequence[k]);
}

/* Returns 0 when the system gave fewer threads, and nothing was done. */
static int run_team(gi_run *r, scratch_area *a)
{
  const gi_tiles *s = r->side->schedule;
  gi_team team;
  int complete = 0;
  gi_team_init(&team, r->deadline_s);
  GI_OMP(parallel num_threads(s->threads))
  {
    gi_team_enter(&team);
    if (omp_get_num_threads() == s->threads) {
      run_thread(r, a, &team, omp_get_thread_num());
      if (omp_get_thread_num() == 0) complete = 1;
    }
    gi_team_leave(&team);
  }
  gi_team_join(&team);
  a->base += (unsigned)s->count;
  for (int t = 0; t < s->threads; t++) atomic_store_explicit(&a->of[t].done, a->base, memory_order_relaxed);
  gi_run_finish(r, &team);
  return complete;
}

static void run(gi_run *r)
{
  const gi_tiles *s = r->side->schedule;
  scratch_area *a = r->scratch;
  if (s->threads == 1) {
    run_alone(r);
    return;
  }
  if (a->count != r->v->count) {
    a->count = r->v->count;
    gi_turns_begin(&a->turns);
  }
  const double start = gi_now();
  if (a->turns.way == GI_ALONE || !run_team(r, a)) run_alone(r);
  gi_turns_learn(&a->turns, gi_now() - start);
}

static void traverse(const gi_side *side, const gik_trisolve *kernels, const gik_vectors *v)
{
  const gi_tiles *s = side->schedule;
  const gi_lists *l = &side->lists;
  for (gable_idx k = s->count - 1; k >= 0; k--)
    kernels->packed_back(&l->m, l->part[s->sequence[k]], l->part[s->sequence[k] + 1], v);
}

const gi_cpu_method gi_cpu_tiles = {.name = "tiles",
                                    .build = build,
                                    .run = run,
                                    .traverse = traverse,
                                    .scratch_bytes = scratch_bytes,
                                    .scratch_init = scratch_init,
                                    .release = tiles_release};
