/* closure.h: a layout that nobody here has made, before numbers are put into it. */
#ifndef GI_FACTOR_CLOSURE_H
#define GI_FACTOR_CLOSURE_H

#include "factor/factor.h"

/* *closed: between the first and the last row of every panel there is a place for each entry of A' and for all that
 * supernodes before it bring, so that gi_factor_numeric (which takes the same a and at) stays inside its panels.
 * O(nnz + rows in all updates), far less than the factorization.  GABLE_ERR_MEMORY. */
gable_status gi_factor_is_closed(gable_context *ctx, const gi_layout *y, gi_factor_kind kind, const gi_csc *a,
                                 const gi_csc *at, int *closed);

#endif
