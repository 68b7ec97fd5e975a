/* levelled.c: LEVR and LEVC of the seed: level after level, the rows (columns) of a level shared out over the threads.
 *
 * As there, runs of levels too narrow to share are fused: one thread does them without a barrier in between.  A team
 * that loses leaves the rest of its shares to one thread, in the order of the stages. */
#include <string.h>

#include "base/team_choice.h"
#include "trisolve/cpu/cpu.h"

enum { NARROW = 256 }; /* rows and entries of a level below which one thread does it: less than a barrier's time */

/* Levels from..to-1 in one stage: shared when it is a single wide level. */
typedef struct stage {
  gable_idx begin, end; /* lists */
  int shared;
} stage;

/* Scratch: how far the last solve came. */
typedef struct progress {
  gi_team_choice choice;
  int size;         /* its threads */
  gable_idx done[]; /* [op_plan->threads] stages whose share each has done */
} progress;

typedef struct levelled {
  gable_idx count;
  stage stages[]; /* [count] */
} levelled;

static size_t scratch_bytes(const gi_op_plan *op_plan)
{
  return sizeof(progress) + (size_t)op_plan->threads * sizeof(gable_idx);
}

static void scratch_init(const gi_op_plan *op_plan, void *scratch)
{
  progress *p = scratch;
  (void)op_plan;
  p->size = 0;
  gi_team_choice_begin(&p->choice);
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

static gable_status build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_op_plan *op_plan)
{
  gable_status status = GABLE_OK;
  const gable_idx n = p->rows.n;
  const int scatter = op_plan->method->scatter;
  gable_idx *order = NULL;
  GI_ALLOC(ctx, order, n);
  for (gable_idx k = 0; k < n; k++) order[k] = gi_natural(&p->rows, p->levels.order[k]);
  GI_TRY(gi_lists_build(ctx, scatter ? &p->columns : &p->rows, order, value_type, 1, &op_plan->lists));
  const gable_idx count = cut(&p->levels, op_plan->lists.begin, NULL);
  op_plan->schedule_bytes = sizeof(levelled) + (size_t)count * sizeof(stage);
  levelled *s = gi_alloc(ctx, (gable_off)op_plan->schedule_bytes, 1);
  GI_REQUIRE_MEMORY(s, op_plan->schedule_bytes, NULL);
  op_plan->schedule = s;
  s->count = cut(&p->levels, op_plan->lists.begin, s->stages);
  op_plan->barriers = op_plan->threads > 1 ? s->count : 0;
  op_plan->launches = 1;
  op_plan->narrow = NARROW;
  op_plan->atomics = scatter ? p->columns.ptr[n] : 0;
done:
  gi_free(ctx, order);
  return status;
}

static size_t schedule_bound(gable_idx n, gable_off nnz, int threads)
{
  (void)nnz;
  (void)threads;
  return sizeof(levelled) + (size_t)n * sizeof(stage);
}

typedef void run_lists(const gik_lists *m, gable_idx k0, gable_idx k1, gable_off p0, const gik_vectors *v);

/* What one thread of size does in stage a. */
static void do_share(const gi_run *r, run_lists *kernel, const stage *a, int thread, int size)
{
  const gik_lists *m = &r->op_plan->lists.m;
  const gable_off *entries = r->op_plan->lists.begin;
  if (a->shared) {
    gable_off rows = a->end - a->begin;
    gable_idx k0 = (gable_idx)(a->begin + rows * thread / size);
    gable_idx k1 = (gable_idx)(a->begin + rows * (thread + 1) / size);
    kernel(m, k0, k1, entries[k0], r->v);
  } else if (thread == 0) {
    kernel(m, a->begin, a->end, entries[a->begin], r->v);
  }
}

/* What one thread of size does; returns the number of stages whose share it has done. */
static gable_idx walk(gi_run *r, run_lists *kernel, gi_team *team, int thread, int size)
{
  const levelled *s = r->op_plan->schedule;
  for (gable_idx g = 0; g < s->count; g++) {
    do_share(r, kernel, &s->stages[g], thread, size);
    if (gi_team_barrier(team, size, r->op_plan->lists.m.row[s->stages[g].begin])) return g + 1;
  }
  return s->count;
}

/* What a team that has lost has left. */
static void finish_alone(gi_run *r, run_lists *kernel)
{
  const levelled *s = r->op_plan->schedule;
  const progress *p = r->scratch;
  for (gable_idx g = 0; g < s->count; g++)
    for (int t = 0; t < p->size; t++)
      if (g >= p->done[t]) do_share(r, kernel, &s->stages[g], t, p->size);
}

static void run(gi_run *r)
{
  run_lists *kernel = r->op_plan->method->scatter ? r->elements->columns : r->kernels->rows;
  gi_team team;
  progress *p = r->scratch;
  const int threads = p->choice.alone ? 1 : r->op_plan->threads;
  const double start = gi_now();
  gi_team_begin(&team, r->deadline_s, threads);
  GI_OMP(parallel num_threads(threads))
  {
    const int thread = omp_get_thread_num(), size = omp_get_num_threads();
    gi_team_enter(&team);
    p->done[thread] = walk(r, kernel, &team, thread, size);
    if (thread == 0) {
      p->size = size;
      gi_team_gather(&team, size);
    }
    gi_team_leave(&team);
  }
  gi_team_join(&team);
  const int lost = gi_team_unfinished(&team);
  if (lost) finish_alone(r, kernel);
  const double seconds = gi_now() - start;
  gi_team_choice_learn(&p->choice, seconds, lost ? 0 : seconds);
  gi_run_finish(r, &team);
}

#define LEVELLED(text, scatters)                                                                                       \
  {                                                                                                                    \
    .name = text, .scatter = scatters, .build = build, .run = run, .schedule_bound = schedule_bound,                   \
    .scratch_bytes = scratch_bytes, .scratch_init = scratch_init                                                       \
  }
const gi_cpu_method gi_cpu_levr = LEVELLED("levr", 0);
const gi_cpu_method gi_cpu_levc = LEVELLED("levc", 1);
