/* cg.h: conjugate gradients with a preconditioner; operators by callback.
 *
 * M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving linear systems, J. Res. NBS 49 (1952). */
#ifndef GI_CG_H
#define GI_CG_H

#include "krylov/gmres.h"

typedef struct gi_iteration {
  double tolerance; /* on ||b - A x|| / ||b|| */
  gable_idx max_iterations;
  double *history; /* [max_iterations+1] relative residuals of the recurrence, or NULL */
  double *work;    /* [GI_CG_VECTORS * n] or [GI_BICGSTAB_VECTORS * n] */
} gi_iteration;

typedef enum gi_stop { GI_STOP_CONVERGED, GI_STOP_ITERATIONS, GI_STOP_BREAKDOWN, GI_STOP_NOT_FINITE } gi_stop;

typedef struct gi_iteration_result {
  gi_stop stop;
  gable_idx iterations;
  double residual; /* of the recurrence, relative */
} gi_iteration_result;

/* Notes the relative residual of iteration k in result and history; 1 when the iteration ends here. */
int gi_iteration_note(const gi_iteration *how, gi_iteration_result *result, gable_idx k, double residual);

enum { GI_CG_VECTORS = 4 };

/* A symmetric positive definite; precondition (NULL: none) too.  x [n] is the start on entry.  Missing the tolerance is
 * no error: result says it; breakdown: p^T A p <= 0 or r^T z <= 0, A or the preconditioner is not positive definite.
 * Allocates nothing; errors are those of the callbacks. */
gable_status gi_cg(gable_idx n, gi_operator apply, gi_operator precondition, void *user, const double *b, double *x,
                   const gi_iteration *how, gi_iteration_result *result);

#endif
