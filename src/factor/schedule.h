/* schedule.h: which thread factors what, and when. */
#ifndef GI_FACTOR_SCHEDULE_H
#define GI_FACTOR_SCHEDULE_H

#include "factor/factor.h"

/* Factors all supernodes of f, whose plan is there; pivots below tiny are replaced. */
gable_status gi_schedule_run(gable_context *ctx, gi_factor *f, const gi_csc *a, const gi_csc *at, double tiny,
                             int threads);

/* What gi_schedule_run takes, for all threads and for each. */
gable_off gi_schedule_bytes(const gi_layout *y);
gable_off gi_worker_bytes(const gi_factor *f, gable_idx widest, size_t size);

#endif
