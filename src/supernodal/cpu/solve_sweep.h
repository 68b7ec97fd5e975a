/* solve_sweep.h: what each thread of a team does between vectors in and vectors out. */
#ifndef GI_SOLVE_SWEEP_H
#define GI_SOLVE_SWEEP_H

#include "kernels/panel/panel_sweep.h"
#include "supernodal/cpu/solve_plan.h"
#include "supernodal/cpu/thin_panels.h"

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
  uint64_t phase;   /* the number of the phase at hand, no two of a work's solves the same */
  unsigned due;     /* items of this solve up to the end of this phase */
  gable_idx items;  /* of this phase; */
  gable_idx looked; /* of 2 items: those this thread owns, then the others' from the last to the first; */
  unsigned mine;    /* done by this thread */
  double watched;   /* seconds of processor that this solve's waits took */
} gi_solve_team;

/* A solve is a sequence of phases, the same for all threads; each is cut into items that do not need each other.
 * An item is done by the thread that claims it: its owner, or another that has no more of its own.  A phase is over
 * when its items are done, whoever did them: nobody waits for a thread that has claimed nothing, because the system
 * runs something else in its place.
 *
 *   gi_solve_begin(t, items);
 *   while ((i = gi_solve_claim(t, owner)) >= 0) ...do item i...;
 *   gi_solve_end(t);                    what all items wrote is seen */
static inline void gi_solve_begin(gi_solve_team *t, gable_idx items)
{
  t->phase++;
  t->due += (unsigned)items;
  t->items = items;
  t->looked = 0;
  t->mine = 0;
}

/* The next item that is this thread's to do, -1: none.  owner: [items] modulo threads, or NULL: i's is i. */
static inline gable_idx gi_solve_claim(gi_solve_team *t, const int *owner)
{
  while (t->looked < 2 * t->items) {
    const gable_idx k = t->looked++;
    const gable_idx i = k < t->items ? k : 2 * t->items - 1 - k;
    const int own = (owner ? owner[i] : i) % t->threads == t->thread;
    if (own != (k < t->items)) continue;
    if (t->threads > 1) {
      atomic_uint_least64_t *claimed = t->work->claimed + i; /* the last phase whose item i was claimed */
      uint64_t last = atomic_load_explicit(claimed, memory_order_relaxed);
      if (last >= t->phase || !atomic_compare_exchange_strong_explicit(claimed, &last, t->phase, memory_order_relaxed,
                                                                       memory_order_relaxed))
        continue;
    }
    t->mine++;
    return i;
  }
  return -1;
}

static inline void gi_solve_end(gi_solve_team *t)
{
  if (t->threads == 1) return;
  if (t->mine) atomic_fetch_add_explicit(&t->work->done, t->mine, memory_order_release);
  t->watched += gi_wait_patiently(&t->work->team, &t->work->done, t->due);
}

/* A phase of one item; 1: this thread does it. */
static inline int gi_solve_begin_one(gi_solve_team *t)
{
  gi_solve_begin(t, 1);
  return gi_solve_claim(t, NULL) == 0;
}

/* Where the share of 0..n of one of threads begins, that of thread threads being the end; on multiples of
 * GIK_PANEL_STEP, which are whole cache lines of y. */
static inline gable_idx gi_solve_share(gable_idx n, int thread, int threads)
{
  if (thread == threads) return n;
  return (gable_idx)((gable_off)n * thread / threads / GIK_PANEL_STEP * GIK_PANEL_STEP);
}

/* gi_solve_claim in a phase of as many items as threads, each a share of 0..n: the next one's bounds; 0: none. */
static inline int gi_solve_claim_share(gi_solve_team *t, gable_idx n, gable_idx *begin, gable_idx *end)
{
  const gable_idx i = gi_solve_claim(t, NULL);
  if (i < 0) return 0;
  *begin = gi_solve_share(n, i, t->threads);
  *end = gi_solve_share(n, i + 1, t->threads);
  return 1;
}

/* y := op(parts)^-1 y.  Called by all threads; y must be complete before, and is complete when it returns. */
void gi_solve_sweep(gi_solve_team *team);

#endif
