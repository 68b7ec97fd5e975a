/* candidates.h: auto that is asked to time its candidates on a GPU. */
#ifndef GI_TRISOLVE_CANDIDATES_H
#define GI_TRISOLVE_CANDIDATES_H

#include "trisolve/plan.h"

/* *seconds of solves by one method; an error says why it does not serve, *bad_row which row of the matrix is to blame.
 */
typedef gable_status gi_candidate_time(void *user, gi_method method, gable_idx *bad_row, double *seconds);

/* The fastest of those that serve, and in said [room] how fast each was; one that is too large, or fails on its device,
 * leaves the choice to the others.  An error where the matrix is wrong (*bad_row: where, else as before), the caller
 * cancels, or none serves. */
gable_status gi_candidates_fastest(gi_candidate_time *time, void *user, char *said, size_t room, gable_idx *bad_row,
                                   gi_method *fastest);

/* 1: t asks for timing, and runs where it is done in analyse. */
int gi_candidates_wanted(const gable_trisolve *t);

/* Analyses a by each candidate, solves with its pattern, equal values and t's typical number of right-hand sides, and
 * analyses t by the fastest; t->timed tells how fast each was (the ops that are asked for added up).  Errors are those
 * of an analysis. */
gable_status gi_candidates_analyse(gable_trisolve *t, const gable_matrix_view *a);

#endif
