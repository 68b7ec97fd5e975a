/* attempts.h: which factorization of the values is kept. */
#ifndef GI_ATTEMPTS_H
#define GI_ATTEMPTS_H

#include "pipeline/pipeline.h"

/* Factors under the arrangement, and judges the factor by what refinement and a few iterations of GMRES reach with it.
 * A symmetric method that was chosen here is left as soon as these values want another one.  Whatever else is not good
 * enough is, where may_arrange or an arrangement was left, arranged anew: an LU gets a matching if it had none, and
 * then the rows of partial pivoting.  When nothing is good enough the best of them all is kept, and s->drift is 1. */
gable_status gi_attempts_factor(gable_solver *s, int may_arrange);

/* Its entries are so large that it may have lost those of A'. */
int gi_attempt_has_grown(const gi_factor *f);

void gi_attempt_release(gable_context *ctx, gi_attempt *a);

/* For attempts.c, by pipeline.c.  Arranges the problem anew; keep_order: the order of columns there is serves again. */
gable_status gi_pipeline_arrange(gable_solver *s, const gable_solver_options *options, int keep_order);
/* Puts *a, which is taken, in the place of the arrangement; the times of the old one stay counted. */
void gi_pipeline_adopt(gable_solver *s, gi_arrangement *a);
void gi_pipeline_drop_arrangement(gable_solver *s);
/* The numbers, under the arrangement that is there.  The values of A' stay: pivoting may ask for them. */
gable_status gi_pipeline_numeric(gable_solver *s);
/* The numbers once more, from the values of A' that gi_pipeline_numeric left. */
gable_status gi_pipeline_eliminate(gable_solver *s);

#endif
