/* candidates.h: auto that is asked to time its candidates on a GPU. */
#ifndef GI_TRISOLVE_CANDIDATES_H
#define GI_TRISOLVE_CANDIDATES_H

#include "trisolve/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Analyses a by each candidate, solves with its pattern, equal values and t's typical number of right-hand sides, and
 * says which was the fastest, and in t->timed how fast each was (the ops that are asked for added up).  Errors are
 * those of an analysis. */
gable_status gi_candidates_time(gable_trisolve *t, const gable_matrix_view *a, gi_method *fastest);

#ifdef __cplusplus
}
#endif

#endif
