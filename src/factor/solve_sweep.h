/* solve_sweep.h: what each thread of a team does between vectors in and vectors out. */
#ifndef GI_SOLVE_SWEEP_H
#define GI_SOLVE_SWEEP_H

#include "factor/solve_plan.h"
#include "factor/solve_thin.h"
#include "kernels/panel_sweep.h"

typedef struct gi_solve_team {
  const gi_solve_plan *plan;
  const gi_factor *factor;
  const gi_thin_panels *thin; /* or NULL: all from the panels */
  gi_solve_work *work;
  const gik_panel_kernels *kernels;
  gable_op op;
  unsigned parts;
  int thread, threads;
  void *y, *z;
} gi_solve_team;

/* All threads of the team; nothing when there is one.  Not OpenMP's barrier, which spins for milliseconds before it
 * lets go of a processor that the thread it waits for may need. */
static inline void gi_solve_barrier(const gi_solve_team *team)
{
  (void)gi_team_barrier(&team->work->team, team->threads, 0);
}

/* Where the share of 0..n of one of threads begins, that of thread threads being the end; on multiples of
 * GIK_PANEL_STEP, which are whole cache lines of y. */
static inline gable_idx gi_solve_share(gable_idx n, int thread, int threads)
{
  if (thread == threads) return n;
  return (gable_idx)((gable_off)n * thread / threads / GIK_PANEL_STEP * GIK_PANEL_STEP);
}

/* y := op(parts)^-1 y.  Called by all threads; y must be complete before, and is complete after the next barrier. */
void gi_solve_sweep(gi_solve_team *team);

#endif
