/* layout_check.h: validates a layout read from an untrusted file. */
#ifndef GI_LAYOUT_CHECK_H
#define GI_LAYOUT_CHECK_H

#include "factor/factor.h"

/* *closed: between the first and the last row of every panel there is a place for each entry of A' and for all that
 * supernodes before it bring, so that gi_factor_numeric (which takes the same a and at) stays inside its panels.
 * O(nnz + rows in all updates), far less than the factorization.  GABLE_ERR_MEMORY. */
gable_status gi_factor_is_closed(gable_context *ctx, const gi_layout *y, gi_factor_kind kind, const gi_csc *a,
                                 const gi_csc *at, int *closed);

#endif
