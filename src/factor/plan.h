/* plan.h: what a numeric factorization knows before it sees a number: who updates whom, and how much work that is. */
#ifndef GI_FACTOR_PLAN_H
#define GI_FACTOR_PLAN_H

#include "graph/symbolic/layout.h"

/* Supernode k updates J: l and u are the first places in k's lrow and ucol (counted from its start) that hold a row or
 * column >= J's first. */
typedef struct gi_update {
  gable_idx k, l, u;
} gi_update;

enum {
  GI_BEGIN = 1000,    /* flops in the time that it takes to begin an update or a supernode */
  GI_HAND_OVER = 5000 /* the same until another thread sees a finished supernode: about a microsecond */
};

typedef struct gi_plan {
  gable_off *ptr;    /* [n_super+1] offsets into update, by updated supernode */
  gi_update *update; /* [ptr[n_super]] by increasing k: the order of the sums */
  double *work;      /* [n_super] flops */
  double flops;      /* their sum */
  double effort;     /* flops, with GI_BEGIN for each update and supernode */
  double path;       /* effort along the critical path, with GI_HAND_OVER between supernodes */
  gable_idx widest;  /* columns of the widest supernode */
  gable_off bytes;
} gi_plan;

/* cholesky: flops of Cholesky, else of LU. */
gable_status gi_plan_create(gable_context *ctx, const gi_layout *y, int cholesky, gi_plan **out);
void gi_plan_destroy(gable_context *ctx, gi_plan **plan); /* NULL is fine */

/* min(threads, effort / path), rounded up from 0.3 on, at least 1: as many threads as the critical path keeps busy. */
int gi_plan_threads(const gi_plan *plan, int threads);

/* What gi_plan_create would take. */
gable_off gi_plan_bytes(const gi_layout *y);

#endif
