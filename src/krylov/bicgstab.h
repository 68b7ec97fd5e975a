/* bicgstab.h: BiCGSTAB with a right preconditioner; operators by callback.
 *
 * H. A. van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric
 * linear systems, SIAM J. Sci. Stat. Comput. 13 (1992). */
#ifndef GI_BICGSTAB_H
#define GI_BICGSTAB_H

#include "krylov/cg.h"

enum { GI_BICGSTAB_VECTORS = 8 };

/* As gi_cg, for any regular A.  An iteration applies A and the preconditioner twice.  Breakdown: a scalar of the
 * recurrence vanished. */
gable_status gi_bicgstab(gable_idx n, gi_operator apply, gi_operator precondition, void *user, const double *b,
                         double *x, const gi_iteration *how, gi_iteration_result *result);

#endif
