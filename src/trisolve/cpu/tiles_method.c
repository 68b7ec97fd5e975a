/* tiles_method.c: our two-level method on the CPU: tiles of rows that overlap, point-to-point waits between threads. */
#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "trisolve/cpu/row_blocks.h"
#include "trisolve/cpu/teams.h"
#include "trisolve/cpu/thread_switch.h"

/* Scratch: how many tiles each thread has finished, counted on from solve to solve. */
typedef struct progress {
  atomic_uint done;
  char apart[60]; /* a cache line each */
} progress;

typedef struct scratch_area {
  unsigned base;
  gable_idx count;       /* right-hand sides of the last solve;  team is for that count */
  gi_thread_switch team; /* alone or with the team: both give the same bits */
  char apart[64];
  progress of[]; /* [threads] */
} scratch_area;

enum {
  WIDTH = 4, /* rows of a group for each of its levels */
  MAX_THREADS = 64,
  MANY = 8,      /* threads of which half may be faster: they may be two to a core */
  NARROW = 64,   /* the window of a team's tiles where one thread is best off with the natural order, */
  GROUPED = 256, /* and where it is with another but windows */
  PLANS = GI_TEAM_PLANS + 1
};

static const double block_gain = 0.6; /* an entry's cost in a block, over its cost in a row */
static const double least_s = 4e-6;   /* a solve that is worth a second thread; */
static const double promise = 1.6;    /* of the time on one thread, what the model may say at most, if sparing; */
static const double short_s = 20e-6;  /* 1 for solves below: there a team's launch and the clocks count */
static const double less = 0.97;      /* of the time so far, for another plan */
static const double never_s = 1e9;
static const double gain_wanted = 1.15; /* by the model, if not */

static size_t scratch_bytes(const gi_op_plan *op_plan)
{
  return sizeof(scratch_area) + (size_t)op_plan->threads * sizeof(progress);
}

static void scratch_init(const gi_op_plan *op_plan, void *scratch)
{
  scratch_area *a = scratch;
  memset(a, 0, sizeof *a);
  for (int t = 0; t < op_plan->threads; t++) atomic_init(&a->of[t].done, 0);
}

static void run_tile(const gi_run *r, gable_idx tile)
{
  const gi_tiles *s = r->op_plan->schedule;
  const gable_idx k0 = s->start[tile], *part = r->op_plan->lists.part;
  if (part)
    r->kernels->packed(&r->op_plan->lists.m, part[tile], part[tile + 1], r->v);
  else
    r->kernels->rows(&r->op_plan->lists.m, k0, s->start[tile + 1], r->op_plan->lists.begin[k0], r->v);
}

/* One tile of thread's, after what it waits for; 1: a wait was given up. */
static int run_in_turn(const gi_run *r, scratch_area *a, gi_team *team, int thread, gable_idx tile)
{
  const gi_tiles *s = r->op_plan->schedule;
  for (gable_idx w = s->wait_start[tile]; w < s->wait_start[tile + 1]; w++) {
    const gi_wait_for *f = &s->wait[w];
    const gable_idx last = s->start[s->first[f->thread] + f->tiles] - 1;
    if (gi_wait_reach(team, &a->of[f->thread].done, a->base + (unsigned)f->tiles, r->op_plan->lists.m.row[last]))
      return 1;
  }
  run_tile(r, tile);
  gi_publish(&a->of[thread].done, a->base + (unsigned)(tile + 1 - s->first[thread]));
  return 0;
}

/* What one thread does. */
static void run_thread(const gi_run *r, scratch_area *a, gi_team *team, int thread)
{
  const gi_tiles *s = r->op_plan->schedule;
  for (gable_idx tile = s->first[thread]; tile < s->first[thread + 1]; tile++)
    if (run_in_turn(r, a, team, thread, tile)) return;
}

/* What a team that has lost has left. */
static void finish_alone(const gi_run *r, scratch_area *a, gi_team *team)
{
  const gi_tiles *s = r->op_plan->schedule;
  gi_team_init(team, r->deadline_s);
  for (gable_idx k = 0; k < s->count; k++) {
    const gable_idx tile = s->sequence[k];
    int thread = 0;
    while (tile >= s->first[thread + 1]) thread++;
    const unsigned done = atomic_load_explicit(&a->of[thread].done, memory_order_relaxed) - a->base;
    if (tile - s->first[thread] < (gable_idx)done) continue;
    if (run_in_turn(r, a, team, thread, tile)) return;
  }
}

/* Everything on this thread; bit for bit what a team computes. */
static void run_alone(gi_run *r)
{
  const gi_tiles *s = r->op_plan->schedule;
  const gi_lists *alone = &r->op_plan->alone;
  if (alone->m.n)
    r->kernels->packed(&alone->m, 0, alone->m.runs, r->v);
  else
    for (gable_idx k = 0; k < s->count; k++) run_tile(r, s->sequence[k]);
}

/* Returns 0 when the system gave fewer threads, and nothing was done. */
static int run_team(gi_run *r, scratch_area *a)
{
  const gi_tiles *s = r->op_plan->schedule;
  gi_team team;
  int complete = 0;
  gi_team_begin(&team, r->deadline_s, s->threads);
  GI_OMP(parallel num_threads(s->threads))
  {
    gi_team_enter(&team);
    if (omp_get_num_threads() == s->threads) {
      run_thread(r, a, &team, omp_get_thread_num());
      if (omp_get_thread_num() == 0) {
        complete = 1;
        gi_team_gather(&team, s->threads);
      }
    }
    gi_team_leave(&team);
  }
  gi_team_join(&team);
  if (gi_team_unfinished(&team)) finish_alone(r, a, &team);
  a->base += (unsigned)s->count;
  for (int t = 0; t < s->threads; t++) atomic_store_explicit(&a->of[t].done, a->base, memory_order_relaxed);
  gi_run_finish(r, &team);
  return complete;
}

static void run(gi_run *r)
{
  const gi_tiles *s = r->op_plan->schedule;
  scratch_area *a = r->scratch;
  if (s->threads == 1) {
    run_alone(r);
    return;
  }
  if (a->count != r->v->count) {
    a->count = r->v->count;
    gi_thread_switch_begin(&a->team);
  }
  const double start = gi_now();
  if (a->team.way == GI_ALONE || !run_team(r, a)) run_alone(r);
  gi_thread_switch_learn(&a->team, gi_now() - start);
}

static void traverse(const gi_op_plan *op_plan, const gik_substitution *kernels, const gik_vectors *v)
{
  const gi_tiles *s = op_plan->schedule;
  const gi_lists *l = &op_plan->lists;
  for (gable_idx k = s->count - 1; k >= 0; k--)
    kernels->packed_back(&l->m, l->part[s->sequence[k]], l->part[s->sequence[k] + 1], v);
}

/* What a plan is made from. */
typedef struct workshop {
  gable_context *ctx;
  gi_row_blocks blocks; /* count 0: rows */
  gi_levels own;        /* of blocks; empty where there are none */
  gi_row_cost_model row_cost;
  gi_interleaved base;
  gi_best_order alone;
  gi_team_problem problem; /* borrows from the others */
} workshop;

/* Blocks, their graph, and how long a block takes, which is more than a row. */
static gable_status prepare(workshop *w, const gi_pattern *p, gable_type value_type)
{
  gable_status status = GABLE_OK;
  const gi_triangle *t = &p->rows;
  gi_block_starts blocks = {t->n, NULL};
  gi_team_problem *q = &w->problem;
  *q = (gi_team_problem){.ctx = w->ctx, .levels = &p->levels, .base = &w->base, .row_cost = &w->row_cost, .size_by = 1};
  GI_TRY(gi_row_blocks_find(w->ctx, t->n, t->ptr, t->col, GIK_BLOCK_ROWS, &w->blocks));
  if (!w->blocks.count) {
    GI_TRY(gi_row_cost_model_init(w->ctx, t->n, t->ptr, t->col, &w->row_cost));
  } else {
    const double rows = (double)t->n / w->blocks.count;
    const double entries = (double)t->ptr[t->n] / (double)(w->blocks.ptr[w->blocks.count] + 1);
    blocks = (gi_block_starts){w->blocks.count, w->blocks.start};
    q->levels = &w->own;
    GI_TRY(gi_levels_find(w->ctx, blocks.count, w->blocks.ptr, w->blocks.col, &w->own));
    GI_TRY(gi_row_cost_model_init(w->ctx, blocks.count, w->blocks.ptr, w->blocks.col, &w->row_cost));
    w->row_cost.row *= rows;
    w->row_cost.latency *= rows;
    w->row_cost.entry *= block_gain * entries;
    q->size_by = entries > 1 ? (gable_off)(entries + 0.5) : 1;
  }
  GI_TRY(gi_interleave(w->ctx, blocks.count, &w->row_cost, WIDTH, &w->base));
  q->order = (gi_block_order_problem){t, blocks, w->row_cost.ptr, w->row_cost.col, w->base.order, value_type};
done:
  return status;
}

static void release_workshop(workshop *w)
{
  gi_best_order_release(w->ctx, &w->alone);
  gi_row_cost_model_release(w->ctx, &w->row_cost);
  gi_interleaved_release(w->ctx, &w->base);
  gi_levels_release(w->ctx, &w->own);
  gi_row_blocks_release(w->ctx, &w->blocks);
}

/* The model knows no caches: what an entry and a row cost here is what the natural order took. */
static void calibrate(gi_row_cost_model *row_cost, double timed_s, double model_s)
{
  const double by = fmax(0.5, fmin(10, timed_s / (model_s + 1e-12)));
  row_cost->row *= by;
  row_cost->entry *= by;
}

/* One thread, in the order of best: one tile. */
static gable_status build_alone(workshop *w, gi_op_plan *op_plan)
{
  gable_status status = GABLE_OK;
  gi_best_order *best = &w->alone;
  const gi_tile_plan one = {best->order, NULL, NULL, 1, INT64_MAX};
  gi_tiles tiles;
  op_plan->as_serial = !best->order && !w->blocks.count && best->lists.m.runs <= 1;
  GI_TRY(gi_tiles_build(w->ctx, w->problem.order.blocks.count, &w->row_cost, &one, &tiles));
  status = gi_tiles_adopt(&w->problem, &tiles, op_plan);
  gi_tiles_release(w->ctx, &tiles);
  if (status) goto done;
  gi_lists_release(w->ctx, &op_plan->lists);
  op_plan->lists = best->lists;
  memset(&best->lists, 0, sizeof best->lists);
done:
  return status;
}

/* Seconds of the fastest of a few solves by the team, with zeros for values; longer than any where there is none. */
static gable_status time_team(workshop *w, const gi_op_plan *op_plan, double *seconds)
{
  enum { WARM = 2, TRIES = 9 };
  gable_status status = GABLE_OK;
  const gable_idx n = w->problem.order.t->n;
  const gable_type type = w->problem.order.value_type;
  double *b = NULL, *x = NULL;
  scratch_area *a = NULL;
  gik_vectors v = {.b_row = 1, .x_row = 1, .count = 1};
  gi_run r = {op_plan, gik_substitution_for(type, type), NULL, &v, NULL, 10.0, GABLE_OK, -1};
  *seconds = never_s;
  GI_ALLOC_ZERO(w->ctx, b, n);
  GI_ALLOC_ZERO(w->ctx, x, n);
  a = gi_alloc(w->ctx, (gable_off)scratch_bytes(op_plan), 1);
  GI_REQUIRE_MEMORY(a, scratch_bytes(op_plan), "timing a team");
  scratch_init(op_plan, a);
  r.scratch = a;
  v.b = b;
  v.x = x;
  for (int k = 0; k < WARM + TRIES; k++) {
    const double start = gi_now();
    if (!run_team(&r, a) || r.status) break;
    const double s = gi_now() - start;
    if (k >= WARM && s < *seconds) *seconds = s;
  }
done:
  GI_FREE(w->ctx, b, x, a);
  return status;
}

/* Adopts the plan that is fastest when it is tried; the first one where there are no processors to try it on. */
static gable_status adopt_fastest(workshop *w, gi_tiles *plans, int count, gi_op_plan *op_plan)
{
  gable_status status = GABLE_OK;
  gi_op_plan best = *op_plan, next;
  double least = never_s, s = 0;
  if (plans[0].threads > omp_get_num_procs() || omp_in_parallel()) count = 1;
  GI_TRY(gi_tiles_adopt(&w->problem, &plans[0], &best));
  if (count > 1) GI_TRY(time_team(w, &best, &least));
  for (int k = 1; k < count; k++) {
    next = *op_plan;
    status = gi_progress(w->ctx, "tiles", 0.7 + 0.3 * k / count);
    if (!status) status = gi_tiles_adopt(&w->problem, &plans[k], &next);
    if (!status) status = time_team(w, &next, &s);
    if (!status && s < less * least) {
      const gi_op_plan worse = best;
      best = next;
      next = worse;
      least = s;
    }
    gi_tiles_drop(w->ctx, &next);
    if (status) goto done;
  }
done:
  if (status)
    gi_tiles_drop(w->ctx, &best);
  else
    *op_plan = best;
  return status;
}

/* The lists of several threads, with those of one beside them; no schedule where one is better.  A plan that was asked
 * for by name is the model's alone, the same on every machine. */
static gable_status build_team(workshop *w, int threads, gi_op_plan *op_plan)
{
  gable_status status = GABLE_OK;
  const double one = gi_row_cost(&w->row_cost, w->base.order, 0, w->problem.order.blocks.count);
  const double most = w->alone.seconds < short_s ? 1 : promise;
  const double wanted = op_plan->sparing ? most * w->alone.seconds : one / gain_wanted;
  gi_tiles plans[PLANS], half[GI_TEAM_PLANS];
  int count = 0, halves = 0;
  memset(plans, 0, sizeof plans);
  memset(half, 0, sizeof half);
  if ((op_plan->sparing ? w->alone.seconds : one) < least_s) goto done;
  if (op_plan->sparing) calibrate(&w->row_cost, w->alone.natural_s, op_plan->serial_model_s);
  w->problem.window = w->alone.width ? w->alone.width : w->alone.order ? GROUPED : NARROW;
  GI_TRY(gi_team_plans(&w->problem, threads, plans, &count));
  if (op_plan->sparing && threads >= MANY) {
    GI_TRY(gi_team_plans(&w->problem, threads / 2, half, &halves));
    plans[count++] = half[0];
    memset(&half[0], 0, sizeof half[0]);
  }
  if (plans[0].model_s > wanted) goto done;
  GI_TRY(adopt_fastest(w, plans, op_plan->sparing ? count : 1, op_plan));
  op_plan->alone = w->alone.lists;
  memset(&w->alone.lists, 0, sizeof w->alone.lists);
done:
  for (int k = 0; k < count; k++) gi_tiles_release(w->ctx, &plans[k]);
  for (int k = 0; k < halves; k++) gi_tiles_release(w->ctx, &half[k]);
  return status;
}

static gable_status build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_op_plan *op_plan)
{
  gable_status status = GABLE_OK;
  const int threads = op_plan->threads < MAX_THREADS ? op_plan->threads : MAX_THREADS;
  workshop w;
  memset(&w, 0, sizeof w);
  w.ctx = ctx;
  GI_TRY(prepare(&w, p, value_type));
  GI_TRY(gi_progress(ctx, "tiles", 0.2));
  GI_TRY(gi_best_order_find(ctx, &w.problem.order, &w.alone));
  op_plan->natural_s = w.alone.natural_s;
  op_plan->alone_s = w.alone.seconds;
  op_plan->width = w.alone.width;
  op_plan->reordered = w.alone.order != NULL;
  op_plan->serial_model_s = gi_row_cost(&w.row_cost, NULL, 0, w.problem.order.blocks.count);
  GI_TRY(gi_progress(ctx, "tiles", 0.7));
  if (threads > 1) GI_TRY(build_team(&w, threads, op_plan));
  if (!op_plan->schedule) GI_TRY(build_alone(&w, op_plan));
done:
  release_workshop(&w);
  return status;
}

/* A tile has a row at least, and waits once for each other thread at most. */
static size_t schedule_bound(gable_idx n, gable_off nnz, int threads)
{
  const gable_off tiles = threads > 1 ? n : 1, waits = (gable_off)n * (threads - 1);
  return sizeof(gi_tiles) + ((size_t)tiles * 4 + (size_t)threads + 4) * sizeof(gable_idx) +
         (size_t)(waits < nnz ? waits : nnz) * sizeof(gi_wait_for);
}

/* Those of several threads, and beside them those of one. */
static size_t packed_bound(gable_idx n, gable_off nnz, gable_type value_type, int threads)
{
  const size_t one = gi_lists_bound(n, nnz, value_type) + gi_lists_pack_bound(n, 1);
  return threads > 1 ? one + gi_lists_bound(n, nnz, value_type) + gi_lists_pack_bound(n, n) : one;
}

const gi_cpu_method gi_cpu_tiles = {.name = "tiles",
                                    .build = build,
                                    .run = run,
                                    .traverse = traverse,
                                    .schedule_bound = schedule_bound,
                                    .packed_bound = packed_bound,
                                    .scratch_bytes = scratch_bytes,
                                    .scratch_init = scratch_init,
                                    .release = gi_tiles_drop};
