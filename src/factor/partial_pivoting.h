/* partial_pivoting.h: the pivot rows that threshold partial pivoting would take, for matrices on which static pivots
 * fail.
 *
 * J. R. Gilbert and T. Peierls, Sparse partial pivoting in time proportional to arithmetic operations, SIAM J. Sci.
 * Stat. Comput. 9 (1988).  The factors are thrown away: a static factorization in this order meets the same pivots. */
#ifndef GI_PARTIAL_PIVOTING_H
#define GI_PARTIAL_PIVOTING_H

#include "sparse/csc.h"

/* a: square with values, columns in the order of elimination.  row_of [n]: out, the pivot row of each column: the
 * diagonal row where its entry is at least threshold times the largest one left in the column, else that one; where
 * nothing is left, a row that no other column took.  O(flops) and the memory of the factors.  GABLE_ERR_MEMORY,
 * GABLE_ERR_CANCELLED. */
gable_status gi_partial_pivoting(gable_context *ctx, const gi_csc *a, double threshold, gable_idx *row_of);

#endif
