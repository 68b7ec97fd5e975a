/* tiles.c: our two-level method on the CPU: tiles of rows that overlap, point-to-point waits between threads. */
#include <string.h>

#include "graph/interleave.h"
#include "graph/level_parts.h"
#include "graph/tiles.h"
#include "trisolve/cpu.h"

/* Scratch: how many tiles each thread has finished, counted on from solve to solve. */
typedef struct progress {
  atomic_uint done;
  char apart[60]; /* a cache line each */
} progress;

/* Which way solves go: alone (0) or with the team (1).  Both give the same bits. */
typedef struct turns {
  int way, trial;    /* the way now, and whether it is only tried */
  int left;          /* solves until the other way is tried */
  double fastest;    /* of the last TRIAL solves this way */
  double seconds[2]; /* what that was when each way was last left; 0: never yet */
} turns;

typedef struct scratch_area {
  unsigned base;
  gable_idx count; /* right-hand sides of the last solve; turns is for that count */
  turns turns;
  char apart[8];
  progress of[]; /* [threads] */
} scratch_area;

static void tiles_release(gable_context *ctx, gi_side *side)
{
  gi_tiles *s = side->schedule;
  if (s) gi_tiles_release(ctx, s);
  gi_free(ctx, s);
}

/* Takes the tiles: lists and counters of side from them. */
static gable_status adopt(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_tiles *tiles,
                          gi_side *side)
{
  gable_status status = GABLE_OK;
  gable_idx *order = NULL;
  gi_tiles *s = NULL;
  const gable_idx n = p->rows.n;
  GI_ALLOC(ctx, s, 1);
  *s = *tiles;
  memset(tiles, 0, sizeof *tiles);
  side->schedule = s;
  GI_ALLOC(ctx, order, n);
  for (gable_idx k = 0; k < n; k++) order[k] = gi_natural(&p->rows, s->order[k]);
  gi_free(ctx, s->order);
  s->order = NULL;
  GI_TRY(gi_lists_build(ctx, &p->rows, order, value_type, 1, &side->lists));
  side->threads = s->threads;
  side->tiles = s->count;
  side->waits = s->wait_start[s->count];
  side->launches = s->threads > 1;
  side->model_s = s->model_s;
  side->schedule_bytes = sizeof *s + (size_t)s->count * 3 * sizeof *s->start + (size_t)side->waits * sizeof *s->wait;
done:
  gi_free(ctx, order);
  return status;
}

/* Lists for solves on one thread: in the order base (NULL: the natural one). */
static gable_status keep_alone(gable_context *ctx, const gi_pattern *p, const gable_idx *base, gable_type value_type,
                               gi_side *side)
{
  gable_status status = GABLE_OK;
  gable_idx *order = NULL;
  GI_ALLOC(ctx, order, p->rows.n);
  for (gable_idx k = 0; k < p->rows.n; k++) order[k] = gi_natural(&p->rows, base ? base[k] : k);
  GI_TRY(gi_lists_build(ctx, &p->rows, order, value_type, 0, &side->alone));
done:
  gi_free(ctx, order);
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

/* What the candidates are made from. */
typedef struct bench {
  gable_context *ctx;
  gable_idx n;
  const gi_levels *levels;
  gi_pace pace;
  gi_interleaved base;
  gi_tile_costs costs;
  gi_tiles best;
  double one_s; /* the model's seconds of one thread in the interleaved order */
} bench;

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
  double one;
  GI_TRY(try_tiles(b, &(gi_tile_plan){b->base.order, b->base.start, NULL, 1, TILE}));
  one = b->one_s = b->best.model_s;
  if (threads == 1 || one < 2 * launch_s) goto done;
  GI_TRY(try_tiles(b, &(gi_tile_plan){b->base.order, b->base.start, NULL, threads, TILE}));
  if (b->best.model_s * 0.8 * threads < one) goto done;
  GI_TRY(try_tiles(b, &(gi_tile_plan){b->base.order, b->base.start, NULL, threads, SMALL_TILE}));
  GI_TRY(try_tiles(b, &(gi_tile_plan){b->levels->order, cuts, NULL, threads, SMALL_TILE}));
  GI_TRY(try_tiles(b, &(gi_tile_plan){b->levels->order, cuts, NULL, threads, TILE}));
  GI_TRY(try_level_parts(b, threads));
done:
  return status;
}

static gable_status build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_side *side)
{
  gable_status status = GABLE_OK;
  const int threads = side->threads < MAX_THREADS ? side->threads : MAX_THREADS;
  bench b;
  memset(&b, 0, sizeof b);
  b.ctx = ctx;
  b.n = p->rows.n;
  b.levels = &p->levels;
  b.costs = gi_tile_costs_default();
  GI_TRY(gi_pace_init(ctx, b.n, p->rows.ptr, p->rows.col, &b.pace));
  GI_TRY(gi_interleave(ctx, b.n, &b.pace, WIDTH, &b.base));
  GI_TRY(try_all(&b, threads));
  side->serial_model_s = gi_pace_of(&b.pace, NULL, 0, b.n);
  if (b.best.threads > 1)
    GI_TRY(keep_alone(ctx, p, gi_worth_interleaving(p, b.one_s, side->serial_model_s) ? b.base.order : NULL, value_type,
                      side));
  GI_TRY(adopt(ctx, p, value_type, &b.best, side));
done:
  gi_tiles_release(ctx, &b.best);
  gi_pace_release(ctx, &b.pace);
  gi_interleaved_release(ctx, &b.base);
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
  const gable_idx k0 = s->start[tile];
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
    r->kernels->rows(&alone->m, 0, alone->m.n, 0, r->v);
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

enum { TRIAL = 3, SHORTEST_PAUSE = 16, LONGEST_PAUSE = 4096 };
static const double trials_cost = 0.03; /* of all time, at most, but for the shortest pause */

static void turns_begin(turns *t)
{
  *t = (turns){.way = 1, .trial = 1, .left = TRIAL};
}

/* A solve took so long.  How long a cache line takes from one processor to another is not the same from minute to
 * minute (the processors of a virtual machine move about), and a thread may wait milliseconds for one that does not
 * run.  So each way is tried, and the faster one is taken until the other is tried again: more seldom each time that it
 * is no better, but soon when this one has become slow. */
static void turns_learn(turns *t, double seconds)
{
  const double other = t->seconds[!t->way];
  if (!t->trial && seconds > 1.2 * other) t->left /= 2;
  if (t->left <= TRIAL && (t->fastest == 0 || seconds < t->fastest)) t->fastest = seconds;
  if (--t->left > 0) return;
  t->seconds[t->way] = t->fastest;
  t->fastest = 0;
  if (!t->trial || other == 0) {
    t->way = !t->way;
    t->trial = 1;
    t->left = TRIAL;
    return;
  }
  t->way = t->seconds[1] <= t->seconds[0];
  t->trial = 0;
  const double pause = TRIAL / trials_cost * (t->seconds[!t->way] / t->seconds[t->way] - 1);
  t->left = pause < SHORTEST_PAUSE ? SHORTEST_PAUSE : pause < LONGEST_PAUSE ? (int)pause : LONGEST_PAUSE;
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
    turns_begin(&a->turns);
  }
  const double start = gi_now();
  if (!a->turns.way || !run_team(r, a)) run_alone(r);
  turns_learn(&a->turns, gi_now() - start);
}

static void traverse(const gi_side *side, const gik_trisolve *kernels, const gik_vectors *v)
{
  const gi_tiles *s = side->schedule;
  for (gable_idx k = s->count - 1; k >= 0; k--) {
    const gable_idx k0 = s->start[s->sequence[k]], k1 = s->start[s->sequence[k] + 1];
    kernels->columns_back(&side->lists.m, k0, k1, side->lists.begin[k1], v);
  }
}

const gi_cpu_method gi_cpu_tiles = {.name = "tiles",
                                    .build = build,
                                    .run = run,
                                    .traverse = traverse,
                                    .scratch_bytes = scratch_bytes,
                                    .scratch_init = scratch_init,
                                    .release = tiles_release};
