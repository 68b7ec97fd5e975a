/* plan.h: what a numeric factorization knows before it sees a number: who updates whom, and how much work that is. */
#ifndef GI_FACTOR_PLAN_H
#define GI_FACTOR_PLAN_H

#include "graph/symbolic/layout.h"

/* Supernode k updates J: l and u are the first places in k's lrow and ucol (counted from its start) that hold a row or
 * column >= J's first. */
typedef struct gi_update {
  gable_idx k, l, u;
} gi_update;

typedef struct gi_plan {
  gable_off *ptr;    /* [n_super+1] offsets into update, by updated supernode */
  gi_update *update; /* [ptr[n_super]] by increasing k: the order of the sums */
  double *work;      /* [n_super] flops */
  double flops;      /* their sum */
  gable_idx widest;  /* columns of the widest supernode */
  gable_off bytes;
} gi_plan;

/* cholesky: flops of Cholesky, else of LU. */
gable_status gi_plan_create(gable_context *ctx, const gi_layout *y, int cholesky, gi_plan **out);
void gi_plan_destroy(gable_context *ctx, gi_plan **plan); /* NULL is fine */

/* What gi_plan_create would take. */
gable_off gi_plan_bytes(const gi_layout *y);

#endif
