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
  char apart[60];
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

enum { TILE = 1024, WIDTH = 4 }; /* rows and entries of a tile; rows of a group for each of its levels */

static gable_status build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_side *side)
{
  gable_status status = GABLE_OK;
  const gable_idx n = p->rows.n;
  const gi_tile_costs costs = gi_tile_costs_default();
  gi_tiles best;
  gi_pace pace;
  gi_interleaved base;
  memset(&best, 0, sizeof best);
  memset(&pace, 0, sizeof pace);
  memset(&base, 0, sizeof base);
  GI_TRY(gi_pace_init(ctx, n, p->rows.ptr, p->rows.col, &pace));
  GI_TRY(gi_interleave(ctx, n, &pace, WIDTH, &base));
  GI_TRY(gi_tiles_build(ctx, n, &pace, base.order, base.start, side->threads, TILE, &costs, &best));
  GI_TRY(adopt(ctx, p, value_type, &best, side));
done:
  gi_tiles_release(ctx, &best);
  gi_pace_release(ctx, &pace);
  gi_interleaved_release(ctx, &base);
  return status;
}

static size_t scratch_bytes(const gi_side *side)
{
  return sizeof(scratch_area) + (size_t)side->threads * sizeof(progress);
}

static void scratch_init(const gi_side *side, void *scratch)
{
  scratch_area *a = scratch;
  a->base = 0;
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

static void run(gi_run *r)
{
  const gi_tiles *s = r->side->schedule;
  scratch_area *a = r->scratch;
  gi_team team;
  int got = 1;
  if (s->threads > 1) {
    gi_team_init(&team, r->deadline_s);
    GI_OMP(parallel num_threads(s->threads))
    {
      gi_team_enter(&team);
      if (omp_get_num_threads() == s->threads) {
        run_thread(r, a, &team, omp_get_thread_num());
        if (omp_get_thread_num() == 0) got = s->threads;
      }
      gi_team_leave(&team);
    }
    gi_team_join(&team);
    a->base += (unsigned)s->count;
    for (int t = 0; t < s->threads; t++) atomic_store_explicit(&a->of[t].done, a->base, memory_order_relaxed);
    gi_run_finish(r, &team);
  }
  if (got == 1) /* one thread was planned, or no more could be had */
    for (gable_idx k = 0; k < s->count; k++) run_tile(r, s->sequence[k]);
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
