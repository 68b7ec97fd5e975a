/* launch_cost.h: what a solve in launches level by level takes on a GPU, where clusters do not serve. */
#ifndef GI_LAUNCH_COST_H
#define GI_LAUNCH_COST_H

#include <gable/types.h>

/* Seconds of one solve for rhs right-hand sides, in windows of 16, with so many launches that read bytes together. */
double gi_cost_launches_s(double launches, double bytes, gable_idx rhs);

#endif
