/* seed_cpu.h: the scatter and waiting kernels of the seed's methods (Li and Zhang), on threads.
 *
 * One call is what one thread does; the team's other threads do the rest. */
#ifndef GIK_SEED_CPU_H
#define GIK_SEED_CPU_H

#include "base/wait.h"
#include "kernels/trisolve/substitution_cpu.h"

typedef struct gik_seed_cpu {
  /* LEVC: x_i /= l_ii and x_j -= l_ij x_i atomically, for lists k0 <= k < k1 whose x_i is complete. */
  void (*columns)(const gik_lists *m, gable_idx k0, gable_idx k1, gable_off p0, const gik_vectors *v);

  /* ELMR: lists first, first+step, ...; each entry waits for ready[idx] == epoch, each row sets its own.
   * Returns the list before which a wait was given up; m->n: all are done. */
  gable_idx (*rows_when_ready)(const gik_lists *m, const gable_off *begin, gable_idx first, gable_idx step,
                               const gik_vectors *v, atomic_uint *ready, unsigned epoch, gi_team *team);

  /* ELMC, GSF: lists first, first+step, ...; each waits for count[row] == 0, then scatters and counts down.  x holds b.
   * Returns as rows_when_ready. */
  gable_idx (*columns_when_counted)(const gik_lists *m, const gable_off *begin, gable_idx first, gable_idx step,
                                    const gik_vectors *v, atomic_uint *count, gi_team *team);
} gik_seed_cpu;

/* As gik_substitution_for. */
const gik_seed_cpu *gik_seed_cpu_for(gable_type value_type, gable_type vector_type);

#endif
