/* elementwise.c: ELMR and ELMC of the seed, and GSF, the synchronization-free method it compares with.
 *
 * List k of the storage goes to thread k mod threads.  ELMR waits entry by entry for a flag of the unknown; ELMC waits
 * for a count of unfinished dependencies, then scatters with atomic additions.  Both take rows in level order; GSF is
 * ELMC in the natural order (Liu et al., "A Synchronization-Free Algorithm for Parallel Sparse Triangular Solves",
 * Euro-Par 2016). No thread waits for a list behind its own, in either order, so all of them get on.  A team that loses
 * leaves what is left of its lists to one thread, which takes all of them in order. */
#include <string.h>

#include "base/team_choice.h"
#include "trisolve/cpu/cpu.h"

/* Scratch: flags of the last solve, told apart by the epoch, and where its threads stopped. */
typedef struct flags {
  unsigned epoch;
  gi_team_choice choice;
  int size;         /* threads of the last solve */
  gable_idx *stop;  /* [op_plan->threads] list before which each stopped */
  atomic_uint of[]; /* [n] by row */
} flags;

static size_t scratch_bytes(const gi_op_plan *op_plan)
{
  return sizeof(flags) + (size_t)op_plan->lists.m.n * sizeof(atomic_uint) +
         (size_t)op_plan->threads * sizeof(gable_idx);
}

static void scratch_init(const gi_op_plan *op_plan, void *scratch)
{
  flags *f = scratch;
  f->epoch = 0;
  f->size = 0;
  gi_team_choice_begin(&f->choice);
  f->stop = (gable_idx *)(void *)(f->of + op_plan->lists.m.n);
  for (gable_idx i = 0; i < op_plan->lists.m.n; i++) atomic_init(&f->of[i], 0);
}

/* The counts that a solve starts from: dependencies of each row. */
static gable_status build_counts(gable_context *ctx, const gi_triangle *rows, gi_op_plan *op_plan)
{
  gable_status status = GABLE_OK;
  const gable_idx n = rows->n;
  unsigned *count = NULL;
  GI_ALLOC(ctx, count, n);
  op_plan->schedule = count;
  op_plan->schedule_bytes = (size_t)n * sizeof *count;
  for (gable_idx k = 0; k < n; k++) count[gi_natural(rows, k)] = (unsigned)(rows->ptr[k + 1] - rows->ptr[k]);
done:
  return status;
}

static gable_status build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_op_plan *op_plan)
{
  gable_status status = GABLE_OK;
  const gable_idx n = p->rows.n;
  const int scatter = op_plan->method->scatter, by_level = op_plan->method != &gi_cpu_gsf;
  gable_idx *order = NULL;
  GI_ALLOC(ctx, order, n);
  for (gable_idx k = 0; k < n; k++) order[k] = gi_natural(&p->rows, by_level ? p->levels.order[k] : k);
  GI_TRY(gi_lists_build(ctx, scatter ? &p->columns : &p->rows, order, value_type, 1, &op_plan->lists));
  if (scatter) GI_TRY(build_counts(ctx, &p->rows, op_plan));
  op_plan->launches = 1;
  op_plan->waits = scatter ? n : p->rows.ptr[n];
  op_plan->atomics = scatter ? 2 * p->rows.ptr[n] : 0;
done:
  gi_free(ctx, order);
  return status;
}

static size_t counts_bound(gable_idx n, gable_off nnz, int threads)
{
  (void)nnz;
  (void)threads;
  return (size_t)n * sizeof(unsigned);
}

/* Lists first, first+step, ..; returns the one before which a wait was given up. */
static gable_idx walk(gi_run *r, gable_idx first, gable_idx step, gi_team *team)
{
  flags *f = r->scratch;
  const gi_lists *l = &r->op_plan->lists;
  if (r->op_plan->method->scatter)
    return r->elements->columns_when_counted(&l->m, l->begin, first, step, r->v, f->of, team);
  return r->elements->rows_when_ready(&l->m, l->begin, first, step, r->v, f->of, f->epoch, team);
}

/* What a team that has lost has left. */
static void finish_alone(gi_run *r, gi_team *team)
{
  const flags *f = r->scratch;
  const gable_idx n = r->op_plan->lists.m.n;
  gi_team_init(team, r->deadline_s);
  for (gable_idx k = 0; k < n; k++)
    if (k >= f->stop[k % f->size] && walk(r, k, n - k, team) == k) return;
}

/* What the threads wait for. */
static void prepare(const gi_run *r)
{
  flags *f = r->scratch;
  const unsigned *count = r->op_plan->schedule;
  f->epoch++;
  for (gable_idx i = 0; count && i < r->op_plan->lists.m.n; i++)
    atomic_store_explicit(&f->of[i], count[i], memory_order_relaxed);
}

static void run(gi_run *r)
{
  flags *f = r->scratch;
  gi_team team;
  const int threads = f->choice.alone ? 1 : r->op_plan->threads;
  prepare(r);
  const double start = gi_now();
  gi_team_begin(&team, r->deadline_s, threads);
  GI_OMP(parallel num_threads(threads))
  {
    const int thread = omp_get_thread_num(), size = omp_get_num_threads();
    gi_team_enter(&team);
    f->stop[thread] = walk(r, thread, size, &team);
    if (thread == 0) {
      f->size = size;
      gi_team_gather(&team, size);
    }
    gi_team_leave(&team);
  }
  gi_team_join(&team);
  const int lost = gi_team_unfinished(&team);
  if (lost) finish_alone(r, &team);
  const double seconds = gi_now() - start;
  gi_team_choice_learn(&f->choice, seconds, lost ? 0 : seconds);
  gi_run_finish(r, &team);
}

#define ELEMENTWISE(text, scatters, bound)                                                                             \
  {                                                                                                                    \
    .name = text, .scatter = scatters, .build = build, .run = run, .schedule_bound = bound,                            \
    .scratch_bytes = scratch_bytes, .scratch_init = scratch_init                                                       \
  }
const gi_cpu_method gi_cpu_elmr = ELEMENTWISE("elmr", 0, NULL);
const gi_cpu_method gi_cpu_elmc = ELEMENTWISE("elmc", 1, counts_bound);
const gi_cpu_method gi_cpu_gsf = ELEMENTWISE("gsf", 1, counts_bound);
