/* ilu_fill.h: incomplete LU factorizations with fill: by levels, in a pattern known before the values, and by a
 * threshold, in a pattern that the values decide.
 *
 * Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, section 10.3.3 (ILU(p)), and sections 10.4.1 and
 * 10.4.2 (ILUT). */
#ifndef GI_ILU_FILL_H
#define GI_ILU_FILL_H

#include "sparse/csc.h"

enum { GI_ROWS_A_LOOK = 1024 }; /* rows between two looks at whether the caller cancels */

/* *out = the pattern of ILU(level) by rows, its "columns"; no values.  a: by rows, indices increasing.  An entry has
 * level 0 where A has one and on the diagonal; eliminating with column k gives lev_ij = min(lev_ij, lev_ik + lev_kj +
 * 1); entries up to level stay.  out must be zeroed and is released by its owner even after an error.  O(operations of
 * the factorization).  GABLE_ERR_MEMORY, _CANCELLED. */
gable_status gi_iluk_pattern(gable_context *ctx, const gi_csc *a, gable_idx level, gi_csc *out);

/* place [nnz of a]: where each entry of a lies in the pattern that gi_iluk_pattern made of it. */
void gi_iluk_places(const gi_csc *a, const gi_csc *pattern, gable_off *place);

/* *out = L (strictly lower, its unit diagonal not stored) and U of A by rows, L U ~ A, row by row: an l_ik is dropped
 * below drop ||a_i||_2 when it is made, and so is what the finished row has there; of what is left the row_fill largest
 * stay on either side of the diagonal (the first columns where magnitudes are equal), and the diagonal always does.  a:
 * by rows with values.  out as above.  GABLE_ERR_SINGULAR: the pivot of a row is zero or not finite.
 * GABLE_ERR_NOT_FINITE, _MEMORY, _CANCELLED. */
gable_status gi_ilut(gable_context *ctx, const gi_csc *a, double drop, gable_idx row_fill, gi_csc *out);

#endif
