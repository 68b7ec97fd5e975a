/* elementwise.c: ELMR and ELMC of the seed, and GSF, the synchronization-free method it compares with.
 *
 * List k of the storage goes to thread k mod threads.  ELMR waits entry by entry for a flag of the unknown; ELMC waits
 * for a count of unfinished dependencies, then scatters with atomic additions.  Both take rows in level order; GSF is
 * ELMC in the natural order (Liu et al., "A Synchronization-Free Algorithm for Parallel Sparse Triangular Solves",
 * Euro-Par 2016). No thread waits for a list behind its own, in either order, so all of them get on. */
#include <string.h>

#include "trisolve/cpu/cpu.h"

/* Scratch: flags of the last solve, told apart by the epoch. */
typedef struct flags {
  unsigned epoch;
  atomic_uint of[]; /* [n] by row */
} flags;

static size_t scratch_bytes(const gi_side *side)
{
  return sizeof(flags) + (size_t)side->lists.m.n * sizeof(atomic_uint);
}

static void scratch_init(const gi_side *side, void *scratch)
{
  flags *f = scratch;
  f->epoch = 0;
  for (gable_idx i = 0; i < side->lists.m.n; i++) atomic_init(&f->of[i], 0);
}

static gable_status build(gable_context *ctx, const gi_pattern *p, const gi_triangle *lists, int levelled,
                          gable_type value_type, gi_side *side)
{
  gable_status status = GABLE_OK;
  const gable_idx n = p->rows.n;
  gable_idx *order = NULL;
  GI_ALLOC(ctx, order, n);
  for (gable_idx k = 0; k < n; k++) order[k] = gi_natural(&p->rows, levelled ? p->levels.order[k] : k);
  GI_TRY(gi_lists_build(ctx, lists, order, value_type, 1, &side->lists));
  side->launches = 1;
done:
  gi_free(ctx, order);
  return status;
}

static gable_status elmr_build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_side *side)
{
  side->waits = p->rows.ptr[p->rows.n];
  return build(ctx, p, &p->rows, 1, value_type, side);
}

/* The counts that a solve starts from: dependencies of each row. */
static gable_status counted_build(gable_context *ctx, const gi_pattern *p, int levelled, gable_type value_type,
                                  gi_side *side)
{
  gable_status status = GABLE_OK;
  const gable_idx n = p->rows.n;
  unsigned *count = NULL;
  GI_TRY(build(ctx, p, &p->columns, levelled, value_type, side));
  GI_ALLOC(ctx, count, n);
  side->schedule = count;
  side->schedule_bytes = (size_t)n * sizeof *count;
  for (gable_idx k = 0; k < n; k++) count[gi_natural(&p->rows, k)] = (unsigned)(p->rows.ptr[k + 1] - p->rows.ptr[k]);
  side->waits = n;
  side->atomics = 2 * p->rows.ptr[n];
done:
  return status;
}

static gable_status elmc_build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_side *side)
{
  return counted_build(ctx, p, 1, value_type, side);
}

static gable_status gsf_build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_side *side)
{
  return counted_build(ctx, p, 0, value_type, side);
}

static void elmr_run(gi_run *r)
{
  flags *f = r->scratch;
  gi_team team;
  const unsigned epoch = ++f->epoch;
  gi_team_init(&team, r->deadline_s);
  GI_OMP(parallel num_threads(r->side->threads))
  {
    gi_team_enter(&team);
    r->elements->rows_when_ready(&r->side->lists.m, r->side->lists.begin, omp_get_thread_num(), omp_get_num_threads(),
                                 r->v, f->of, epoch, &team);
    gi_team_leave(&team);
  }
  gi_team_join(&team);
  gi_run_finish(r, &team);
}

static void counted_run(gi_run *r)
{
  flags *f = r->scratch;
  gi_team team;
  const unsigned *count = r->side->schedule;
  for (gable_idx i = 0; i < r->side->lists.m.n; i++) atomic_store_explicit(&f->of[i], count[i], memory_order_relaxed);
  gi_team_init(&team, r->deadline_s);
  GI_OMP(parallel num_threads(r->side->threads))
  {
    gi_team_enter(&team);
    r->elements->columns_when_counted(&r->side->lists.m, r->side->lists.begin, omp_get_thread_num(),
                                      omp_get_num_threads(), r->v, f->of, &team);
    gi_team_leave(&team);
  }
  gi_team_join(&team);
  gi_run_finish(r, &team);
}

const gi_cpu_method gi_cpu_elmr = {
    .name = "elmr", .build = elmr_build, .run = elmr_run, .scratch_bytes = scratch_bytes, .scratch_init = scratch_init};
const gi_cpu_method gi_cpu_elmc = {.name = "elmc",
                                   .scatter = 1,
                                   .build = elmc_build,
                                   .run = counted_run,
                                   .scratch_bytes = scratch_bytes,
                                   .scratch_init = scratch_init};
const gi_cpu_method gi_cpu_gsf = {.name = "gsf",
                                  .scatter = 1,
                                  .build = gsf_build,
                                  .run = counted_run,
                                  .scratch_bytes = scratch_bytes,
                                  .scratch_init = scratch_init};
