/* solve.h: solves with a factor over its supernodal layout: forward and backward sweeps over the panels.
 *
 *   A' = P^T L D U + F   (LU: L and U unit triangular, P the interchanges inside diagonal blocks, F right of the blocks
 * of the block triangular form; D U is what the panels hold) A' = L L^T           (Cholesky: D is the identity, U is
 * L^T) A' = P^T L D L^T P   (L D L^T: D has blocks of order 1 and 2, U is L^T P)
 *
 * The plan belongs to the layout and serves every factor of it.  It cuts the elimination tree into parts whose number
 * and shape do not depend on the threads, so a solve gives the same bits for every number of threads. */
#ifndef GI_SOLVE_H
#define GI_SOLVE_H

#include "factor/factor.h"

typedef struct gi_solve_plan gi_solve_plan; /* immutable: threads may share it */
typedef struct gi_solve_work gi_solve_work; /* one per calling thread */

/* Bits: which factors a solve uses, always in the order that their product asks for. */
enum { GI_SOLVE_L = 1, GI_SOLVE_D = 2, GI_SOLVE_U = 4, GI_SOLVE_ALL = 7 };

typedef struct gi_solve_plan_options {
  gable_off part_values;   /* most panel values in a part of the tree that one thread sweeps alone; 0: the default */
  gable_off wide_values;   /* least values of a panel above the parts that all threads share; 0: the default */
  gable_off thread_values; /* least panel values that are worth a thread; 0: the default */
} gi_solve_plan_options;

/* layout is borrowed and outlives the plan.  options may be NULL.  O(rows in the layout).  GABLE_ERR_MEMORY. */
gable_status gi_solve_plan_create(gable_context *ctx, const gi_layout *layout, const gi_solve_plan_options *options,
                                  gi_solve_plan **out);
void gi_solve_plan_destroy(gable_context *ctx, gi_solve_plan **plan); /* NULL is fine */
gable_off gi_solve_plan_bytes(const gi_solve_plan *plan);

/* Threads of at most most that a work of the plan sweeps with. */
int gi_solve_plan_threads(const gi_solve_plan *plan, int most);

/* Room for solves with up to max_rhs right-hand sides at once (more are solved in turns of 16) on at most threads
 * threads: fewer when the plan has not thread_values for each. */
gable_status gi_solve_work_create(gable_context *ctx, const gi_solve_plan *plan, int threads, gable_idx max_rhs,
                                  gi_solve_work **out);
/* Makes the work one of this plan, where its arrays are large enough; returns 0, with the work as it was, where they
 * are not.  O(n_parts^2).  No solve with the work may be in flight. */
int gi_solve_work_fit(gi_solve_work *work, const gi_solve_plan *plan);
void gi_solve_work_destroy(gable_context *ctx, gi_solve_work **work); /* NULL is fine */

/* What surrounds the sweeps, so that permuting and scaling cost no pass of their own.  All arrays may be NULL.
 *   y[in_place[i]] = in_scale[i] b[i];   x[i] = out_scale[i] y[out_place[i]].
 * Places are the inverse of a permutation: of b, x and the scalings each is then read and written in order. */
typedef struct gi_solve_frame {
  const gable_idx *in_place;  /* [n] */
  const double *in_scale;     /* [n] */
  const gable_idx *out_place; /* [n] */
  const double *out_scale;    /* [n] */
} gi_solve_frame;

/* Solves op(product of parts) x = b.  GI_SOLVE_ALL is A' and includes F; fewer parts leave F out.  b and x: n rows,
 * the same count, host memory, float or double whatever the factor's type is; x may be b (the same view) but may not
 * overlap it otherwise.  A column gets the same bits whatever columns stand beside it, in any number and order; alone,
 * or with a work for one column, it may get others.  A float factor with double vectors sweeps in double.  frame may be
 * NULL.  Allocates nothing. Zero or missing pivots are not looked for: the answer is then not finite.
 * GABLE_ERR_ARGUMENT: work, factor or parts do not fit; b and x are as gi_vectors_take_pair leaves them. */
gable_status gi_solve(const gi_solve_plan *plan, const gi_factor *factor, gi_solve_work *work, gable_op op,
                      unsigned parts, const gable_vectors_view *b, const gable_vectors_view *x,
                      const gi_solve_frame *frame);

/* Least bytes that one solve of nrhs right-hand sides must read or write: panels, row indices, vectors once. */
double gi_solve_floor_bytes(const gi_solve_plan *plan, const gi_factor *factor, gable_idx nrhs);

#endif
