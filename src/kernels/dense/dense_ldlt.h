/* dense_ldlt.h: L D L^T of a dense symmetric indefinite block, the diagonal block of a supernode.
 *
 * J. R. Bunch and L. Kaufman, Some stable methods for calculating inertia and solving symmetric linear systems, Math.
 * Comp. 31 (1977): pivots of one and of two columns, chosen inside the block.  Leaves, as in dense.h. */
#ifndef GIK_DENSE_LDLT_H
#define GIK_DENSE_LDLT_H

#include "kernels/dense/dense.h"

enum { GIK_LDLT_STEP = 24 }; /* columns that are eliminated before what is right of them hears of it */

/* gik_ldlt: P A P^T = L D L^T in place, n x n, its lower triangle read.  Afterwards L is below the diagonal (the ones
 * of its diagonal not stored, zero beside a pivot of two columns), D on the diagonal, and where columns k, k+1 are one
 * pivot its third number at (k,k+1); the rest of the upper triangle is zero.  pivot [n], 0 based: rows and columns k
 * and pivot[k] >= k were interchanged, in this order.  inverse, coupling [n]: D^-1, its diagonal, and (k,k+1) at k, 0
 * where columns k, k+1 are not one pivot.  A pivot below tiny is replaced by +-tiny; returns how many were.
 * work [n (GIK_LDLT_STEP + 1)].
 * gik_ldlt_times: to (m x w, column major) = X D, X m x w, D(k,k) at d[k + k ldd] as gik_ldlt leaves it.
 * gik_ldlt_over: X = X D^-1 in place. */
#define GIK_DENSE_LDLT(real, t)                                                                                        \
  gable_idx gik_ldlt_##t(gable_idx n, real *a, gable_off lda, gable_idx *pivot, real *inverse, real *coupling,         \
                         real tiny, real *work, const gik_tools *tools);                                               \
  void gik_ldlt_times_##t(gable_idx m, gable_idx w, const real *x, gable_off ldx, const real *d, gable_off ldd,        \
                          const real *coupling, real *to);                                                             \
  void gik_ldlt_over_##t(gable_idx m, gable_idx w, real *x, gable_off ldx, const real *inverse, const real *coupling);

GIK_DENSE_LDLT(double, d)
GIK_DENSE_LDLT(float, s)

#endif
