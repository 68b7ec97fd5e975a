/* condition.h: how far an inverse stretches, from a few solves.
 *
 * W. W. Hager, Condition estimates, SIAM J. Sci. Stat. Comput. 5 (1984); N. J. Higham, FORTRAN codes for estimating the
 * one-norm of a real or complex matrix, ACM TOMS 14 (1988). */
#ifndef GI_CONDITION_H
#define GI_CONDITION_H

#include "krylov/refine.h"

/* *norm: a lower bound, nearly always within a factor of 3, of ||diag(d) op(A)^-1||_1; d [n] >= 0, NULL: ones.  (The
 * infinity norm of A^-1 diag(d) is the 1-norm of diag(d) A^-T.)  inverse is called with both ops.  work [2n].  INFINITY
 * when the inverse gives what is not finite. */
gable_status gi_inverse_norm(gable_idx n, gable_op op, const double *d, gi_near_inverse inverse, void *user,
                             double *work, double *norm);

#endif
