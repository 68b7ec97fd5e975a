/* solve.c: one solve: vectors in, the segments forward and backward, vectors out, by a team of threads. */
#include "supernodal/cpu/solve.h"

#include <math.h>

#include "base/timer.h"
#include "supernodal/cpu/solve_plan.h"
#include "supernodal/cpu/solve_sweep.h"
#include "supernodal/cpu/solve_vectors.h"

static void solve_columns(gi_solve_team *team, const gi_solve_window *in, const gi_solve_window *out,
                          const gi_solve_frame *frame)
{
  const gable_idx n = team->plan->layout->n;
  gable_idx i0, i1;
  gi_solve_begin(team, team->threads);
  while (gi_solve_claim_share(team, n, &i0, &i1)) gi_solve_take(in, frame, i0, i1, team->y);
  gi_solve_end(team);
  gi_solve_sweep(team);
  gi_solve_begin(team, team->threads);
  while (gi_solve_claim_share(team, n, &i0, &i1)) gi_solve_give(out, frame, i0, i1, team->y);
  gi_solve_end(team);
}

static void solve_together(gi_solve_team team, const gi_solve_window *in, const gi_solve_window *out,
                           const gi_solve_frame *frame)
{
  gi_solve_work *w = team.work;
  team.phase = w->phase;
  atomic_store_explicit(&w->done, 0, memory_order_relaxed);
  gi_team_init(&w->team, INFINITY);
  GI_OMP(parallel num_threads(w->threads) firstprivate(team))
  {
    const double entered = gi_processor_seconds();
    gi_team_enter(&w->team);
    team.thread = omp_get_thread_num();
    team.threads = omp_get_num_threads();
    team.z = (char *)w->z + (size_t)(w->stride * team.thread) * sizeof *w->z;
    solve_columns(&team, in, out, frame);
    if (team.thread == 0) w->phase = team.phase;
    gi_team_used(&w->team, gi_processor_seconds() - entered - team.watched);
    if (team.thread == 0) /* before OpenMP's own barrier does, which polls for milliseconds */
      (void)gi_wait_patiently(&w->team, &w->team.left, (unsigned)team.threads - 1);
    gi_team_leave(&w->team);
  }
  gi_team_join(&w->team);
}

static void solve_window(gi_solve_team team, const gi_solve_window *in, const gi_solve_window *out,
                         const gi_solve_frame *frame)
{
  gi_solve_work *w = team.work;
  team.threads = 1;
  if (w->threads == 1 || !team.plan->parallel) {
    solve_columns(&team, in, out, frame);
    return;
  }
  const double start = gi_now();
  double worked = 0;
  if (w->choice.alone) {
    worked = gi_processor_seconds();
    solve_columns(&team, in, out, frame);
    worked = gi_processor_seconds() - worked;
  } else {
    solve_together(team, in, out, frame);
    worked = gi_team_work(&w->team);
  }
  gi_team_choice_learn(&w->choice, gi_now() - start, worked);
}

gable_status gi_solve(const gi_solve_plan *plan, const gi_factor *factor, gi_solve_work *work, gable_op op,
                      unsigned parts, const gable_vectors_view *b, const gable_vectors_view *x,
                      const gi_solve_frame *frame)
{
  gable_status status = GABLE_OK;
  const gi_solve_frame plain = {0};
  if (!frame) frame = &plain;
  GI_REQUIRE(work->plan == plan, GABLE_ERR_ARGUMENT, "the work object belongs to another plan");
  GI_REQUIRE(factor->layout == plan->layout, GABLE_ERR_ARGUMENT, "the factor belongs to another layout");
  GI_REQUIRE(parts && !(parts & ~(unsigned)GI_SOLVE_ALL), GABLE_ERR_ARGUMENT, "no such parts of a factor: %u", parts);

  const int single = factor->type == GABLE_TYPE_S && b->type == GABLE_TYPE_S && x->type == GABLE_TYPE_S;
  const gable_idx least = b->count > 1 && work->rhs > 1 ? 2 : 1; /* a last column is not swept unlike the others */
  for (gable_idx c = 0; c < b->count;) {
    const gable_idx left = b->count - c, most = left < work->rhs ? left : work->rhs;
    const gik_panel_kernels *k =
        gik_panel_kernels_for(factor->type, single ? GABLE_TYPE_S : GABLE_TYPE_D, most < least ? least : most);
    const gable_idx count = left < k->rhs ? left : k->rhs;
    const gi_solve_window in = {b, c, count, k->rhs, single}, out = {x, c, count, k->rhs, single};
    gi_solve_team team = {.plan = plan, .factor = factor, .work = work, .kernels = k, .op = op, .parts = parts};
    if (op == GABLE_OP_N && factor->thin && factor->thin->plan == plan) team.thin = factor->thin;
    team.y = work->y;
    team.z = work->z;
    solve_window(team, &in, &out, frame);
    c += count;
  }
done:
  return status;
}

double gi_solve_floor_bytes(const gi_solve_plan *plan, const gi_factor *factor, gable_idx nrhs)
{
  const gi_layout *y = plan->layout;
  const double value = factor->type == GABLE_TYPE_S ? 4 : 8;
  double values = 0, indices = 0;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const double w = gi_layout_width(y, s), nl = gi_layout_nl(y, s), nu = gi_layout_nu(y, s);
    const int lu = factor->kind == GI_LU;
    const double own =
        factor->kind == GI_LDLT ? w - 1 : w + 1; /* twice the entries of a column of the block, on average */
    values += lu ? w * w + w * (nl + nu) : w * own + 2 * w * nl;
    indices += nl + (lu ? nu : nl);
  }
  if (factor->kind == GI_LDLT) values += 2.0 * y->n;
  if (factor->off) {
    values += (double)y->off_ptr[y->n];
    indices += (double)y->off_ptr[y->n];
  }
  return value * values + 4 * indices + 16.0 * y->n * nrhs;
}
