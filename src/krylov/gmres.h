/* gmres.h: restarted flexible GMRES with a right preconditioner; operators by callback.
 *
 * Flexible: the preconditioned vectors are kept and the update is made of them, so that it is made of the very vectors
 * that the operator was applied to.  A preconditioner of huge condition, applied to a combination afterwards, would
 * give another one.
 *
 * Y. Saad, A flexible inner-outer preconditioned GMRES algorithm, SIAM J. Sci. Comput. 14 (1993); M. Arioli and
 * I. S. Duff, Using FGMRES to obtain backward stability in mixed precision, ETNA 33 (2009). */
#ifndef GI_GMRES_H
#define GI_GMRES_H

#include "base/context.h"

/* y = operator x; x and y [n] do not overlap. */
typedef gable_status (*gi_operator)(void *user, const double *x, double *y);

typedef struct gi_gmres_work gi_gmres_work;

/* Room for a basis of restart + 1 vectors of n, and for restart preconditioned ones; at most so many threads share
 * them. */
gable_status gi_gmres_work_create(gable_context *ctx, gable_idx n, gable_idx restart, int threads, gi_gmres_work **out);
void gi_gmres_work_destroy(gable_context *ctx, gi_gmres_work **work); /* NULL is fine */

typedef enum gi_gmres_reason {
  GI_GMRES_CONVERGED = 0,
  GI_GMRES_ITERATIONS = 1,
  GI_GMRES_NOT_FINITE = 2
} gi_gmres_reason;

typedef struct gi_gmres_result {
  gi_gmres_reason reason;
  gable_idx iterations; /* in all: applications of the operator that enlarged a basis */
  double residual;      /* ||b - A x|| / ||b||: of the recurrence, recomputed at every restart */
} gi_gmres_result;

/* Solves A x = b; x [n] is the start on entry.  Stops when ||b - A x|| <= tolerance ||b||, or after max_iterations.
 * history: [max_iterations+1] relative residuals of the recurrence, recomputed at every restart, or NULL.
 * precondition (x ~ A^-1) may be NULL.  Missing the tolerance is no error: result says it.  Allocates nothing.  Errors
 * are those of the callbacks.  x stays as it was when the basis is not finite. */
gable_status gi_gmres(gi_operator apply, gi_operator precondition, void *user, const double *b, double *x,
                      double tolerance, gable_idx max_iterations, double *history, gi_gmres_work *work,
                      gi_gmres_result *result);

/* sum x_i y_i in an order that depends on n alone; and its relatives. */
double gi_dot(gable_idx n, const double *x, const double *y);
double gi_norm2(gable_idx n, const double *x);

#endif
