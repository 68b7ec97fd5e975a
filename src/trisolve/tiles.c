/* tiles.c: our two-level method on the CPU: tiles of rows that overlap, point-to-point waits between threads. */
#include <string.h>

#include "graph/interleave.h"
#include "graph/tiles.h"
#include "trisolve/cpu.h"

/* Scratch: how many tiles each thread has finished, counted on from solve to solve. */
typedef struct progress {
  atomic_uint done;
  char apart[60]; /* a cache line each */
} progress;

typedef struct scratch_area {
  unsigned base;
  gable_idx count; /* right-hand sides of the last solve; what follows is for that count */
  int alone;       /* so many solves will do without the team */
  int patience;    /* how many that was last time */
  double alone_s;  /* seconds of the last solve on one thread, 0: none yet */
  char apart[32];
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

enum {
  TILE = 1024,
  SMALL_TILE = 256,
  WIDTH = 4,
  MAX_THREADS = 64
}; /* rows and entries of a tile; rows of a group for each of its levels */

static const double launch_s = 8e-6;   /* of a parallel region */
static const double gain_wanted = 1.3; /* before more threads are used, for machines less quiet than the model */

/* What the candidates are made from. */
typedef struct bench {
  gable_context *ctx;
  gable_idx n;
  const gi_levels *levels;
  gi_pace pace;
  gi_interleaved base;
  gi_tile_costs costs;
  gi_tiles best;
} bench;

/* Tiles of an order for so many threads; they are kept when the model likes them better than the best so far. */
static gable_status try_tiles(bench *b, const gable_idx *order, const gable_idx *cuts, int threads, gable_idx size)
{
  gable_status status = GABLE_OK;
  gi_tiles tiles;
  gi_tile_costs costs = b->costs;
  double wanted = b->best.count && threads > b->best.threads ? gain_wanted : 1.0;
  if (threads > 2) costs.remote *= 0.5 * threads; /* lines come from farther away, and all threads ask at once */
  GI_TRY(gi_tiles_build(b->ctx, b->n, &b->pace, order, cuts, threads, size, &costs, &tiles));
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

/* One thread; all threads in the interleaved order; and smaller tiles, also by level, where those leave threads idle.
 */
static gable_status try_all(bench *b, int threads)
{
  gable_status status = GABLE_OK;
  const gable_idx *cuts = b->levels->count < b->n / SMALL_TILE ? b->levels->start : NULL;
  double one;
  GI_TRY(try_tiles(b, b->base.order, b->base.start, 1, TILE));
  one = b->best.model_s;
  if (threads == 1 || one < 2 * launch_s) goto done;
  GI_TRY(try_tiles(b, b->base.order, b->base.start, threads, TILE));
  if (b->best.model_s * 0.8 * threads < one) goto done;
  GI_TRY(try_tiles(b, b->base.order, b->base.start, threads, SMALL_TILE));
  GI_TRY(try_tiles(b, b->levels->order, cuts, threads, SMALL_TILE));
  GI_TRY(try_tiles(b, b->levels->order, cuts, threads, TILE));
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

/* All tiles on this thread; bit for bit what a team computes. */
static void run_alone(gi_run *r)
{
  const gi_tiles *s = r->side->schedule;
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

/* After a team's solve: on a machine that is busy with other things a thread may wait for one that does not run, for
 * milliseconds.  When one thread was faster, or the model promised a third of this time, the next solves go alone, for
 * longer each time it happens again. */
static void judge(scratch_area *a, double seconds, double model_s)
{
  const double limit = a->alone_s > 0 ? 1.1 * a->alone_s : 3 * model_s * (double)a->count + 50e-6;
  if (seconds <= limit) {
    a->patience = 0;
    return;
  }
  a->patience = a->patience ? (a->patience < 256 ? 2 * a->patience : 256) : 4;
  a->alone = a->patience;
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
    a->alone = a->patience = 0;
    a->alone_s = 0;
  }
  const double start = gi_now();
  if (a->alone == 0 && run_team(r, a)) {
    judge(a, gi_now() - start, s->model_s);
    return;
  }
  if (a->alone > 0) a->alone--;
  run_alone(r);
  a->alone_s = gi_now() - start;
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
