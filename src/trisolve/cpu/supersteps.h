/* supersteps.h: an order in few steps, in each of which every thread has rows that need no other thread's of that step.
 *
 * A step begins with the rows that are ready, in their order, in as many parts as there are threads, and grows: each
 * thread takes the lowest row that needs, of this step, only its own.  Growth ends where the work done over the work of
 * the slowest thread and a wait no longer rises (GrowLocal; Bohnlein, Papp, Steiner, Yzelman 2025). */
#ifndef GI_SUPERSTEPS_H
#define GI_SUPERSTEPS_H

#include "base/context.h"

typedef struct gi_supersteps {
  gable_idx steps;
  gable_idx count;  /* parts: one thread's rows of one step */
  gable_idx *order; /* [n] rows, part after part, each after those that it depends on */
  gable_idx *cuts;  /* [count+1] offsets into order */
  int *owner;       /* [count] thread */
  gable_idx *step;  /* [count] from 0 */
} gi_supersteps;

/* n > 0.  Rows k = 0..n-1 depend on col[ptr[k] .. ptr[k+1]), all below k; a row weighs 3 and an entry 1; wait: what a
 * step weighs beside its rows.  O(nnz log n). */
gable_status gi_supersteps_grow(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *col,
                                int threads, gable_off wait, gi_supersteps *out);

/* Frees the arrays.  Fine on a zeroed one, and twice. */
void gi_supersteps_release(gable_context *ctx, gi_supersteps *s);

#endif
