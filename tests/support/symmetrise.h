/* symmetrise.h: the pattern that orderings see. */
#ifndef TEST_SYMMETRISE_H
#define TEST_SYMMETRISE_H

#include "sparse/csc.h"

/* *out = pattern of A + A^T without the diagonal; A is square. */
gable_status test_symmetrise(gable_context *ctx, const gi_csc *a, gi_csc *out);

#endif
