/* threads.h: a numeric factorization by several threads. */
#ifndef GI_FACTOR_THREADS_H
#define GI_FACTOR_THREADS_H

#include "factor/factor.h"

/* Factors all supernodes of f, whose plan is there; pivots below how->tiny, not relative to anything, are replaced. */
gable_status gi_factor_run(gable_context *ctx, gi_factor *f, const gi_csc *a, const gi_csc *at,
                           const gi_factor_options *how);

/* How many of these threads the work is worth. */
int gi_factor_threads(const gi_layout *y, int threads);

/* What gi_factor_run takes at most with so many threads; widest: columns of the widest supernode. */
gable_off gi_factor_run_bytes(const gi_factor *f, gable_idx widest, size_t value_size, int threads);

#endif
