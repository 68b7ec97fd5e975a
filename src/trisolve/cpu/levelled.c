/* levelled.c: LEVR and LEVC of the seed: level after level, the rows (columns) of a level shared out over the threads.
 *
 * As there, runs of levels too narrow to share are fused: one thread does them without a barrier in between. */
#include <string.h>

#include "trisolve/cpu/cpu.h"

enum { NARROW = 256 }; /* rows and entries of a level below which one thread does it: less than a barrier's time */

/* Levels from..to-1 in one stage: shared when it is a single wide level. */
typedef struct stage {
  gable_idx begin, end; /* lists */
  int shared;
} stage;

typedef struct levelled {
  gable_idx count;
  stage *stages; /* [count] */
} levelled;

static void levelled_release(gable_context *ctx, gi_side *side)
{
  levelled *s = side->schedule;
  if (s) {
    gi_free(ctx, s->stages);
    gi_free(ctx, s);
  }
}

/* Cuts the levels into stages; returns how many.  out may be NULL: only counts. */
static gable_idx cut(const gi_levels *levels, const gable_off *begin, stage *out)
{
  gable_idx count = 0;
  for (gable_idx l = 0; l < levels->count;) {
    gable_idx k0 = levels->start[l], k1 = levels->start[l + 1];
    int shared = k1 - k0 + begin[k1] - begin[k0] > NARROW;
    l++;
    while (!shared && l < levels->count) {
      gable_idx k2 = levels->start[l + 1];
      if (k2 - k1 + begin[k2] - begin[k1] > NARROW) break;
      k1 = k2;
      l++;
    }
    if (out) out[count] = (stage){k0, k1, shared};
    count++;
  }
  return count;
}

static gable_status build(gable_context *ctx, const gi_pattern *p, const gi_triangle *lists, gable_type value_type,
                          gi_side *side)
{
  gable_status status = GABLE_OK;
  const gable_idx n = p->rows.n;
  gable_idx *order = NULL;
  levelled *s = NULL;
  GI_ALLOC(ctx, order, n);
  for (gable_idx k = 0; k < n; k++) order[k] = gi_natural(&p->rows, p->levels.order[k]);
  GI_TRY(gi_lists_build(ctx, lists, order, value_type, 1, &side->lists));
  GI_ALLOC_ZERO(ctx, s, 1);
  side->schedule = s;
  s->count = cut(&p->levels, side->lists.begin, NULL);
  GI_ALLOC(ctx, s->stages, s->count);
  cut(&p->levels, side->lists.begin, s->stages);
  side->barriers = side->threads > 1 ? s->count : 0;
  side->launches = 1;
  side->narrow = NARROW;
  side->schedule_bytes = sizeof *s + (size_t)s->count * sizeof *s->stages;
done:
  gi_free(ctx, order);
  return status;
}

static gable_status levr_build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_side *side)
{
  return build(ctx, p, &p->rows, value_type, side);
}

static gable_status levc_build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_side *side)
{
  side->atomics = p->columns.ptr[p->columns.n];
  return build(ctx, p, &p->columns, value_type, side);
}

typedef void run_lists(const gik_lists *m, gable_idx k0, gable_idx k1, gable_off p0, const gik_vectors *v);

/* What one thread of size does. */
static void walk(gi_run *r, run_lists *kernel, gi_team *team, int thread, int size)
{
  const levelled *s = r->side->schedule;
  const gik_lists *m = &r->side->lists.m;
  const gable_off *entries = r->side->lists.begin;
  for (gable_idx g = 0; g < s->count; g++) {
    const stage *a = &s->stages[g];
    if (a->shared) {
      gable_off rows = a->end - a->begin;
      gable_idx k0 = (gable_idx)(a->begin + rows * thread / size);
      gable_idx k1 = (gable_idx)(a->begin + rows * (thread + 1) / size);
      kernel(m, k0, k1, entries[k0], r->v);
    } else if (thread == 0) {
      kernel(m, a->begin, a->end, entries[a->begin], r->v);
    }
    if (gi_team_barrier(team, size, m->row[a->begin])) return;
  }
}

static void run(gi_run *r, run_lists *kernel)
{
  gi_team team;
  gi_team_init(&team, r->deadline_s);
  GI_OMP(parallel num_threads(r->side->threads))
  {
    gi_team_enter(&team);
    walk(r, kernel, &team, omp_get_thread_num(), omp_get_num_threads());
    gi_team_leave(&team);
  }
  gi_team_join(&team);
  gi_run_finish(r, &team);
}

static void levr_run(gi_run *r)
{
  run(r, r->kernels->rows);
}

static void levc_run(gi_run *r)
{
  run(r, r->elements->columns);
}

const gi_cpu_method gi_cpu_levr = {.name = "levr", .build = levr_build, .run = levr_run, .release = levelled_release};
const gi_cpu_method gi_cpu_levc = {
    .name = "levc", .scatter = 1, .build = levc_build, .run = levc_run, .release = levelled_release};
