/* level_order.h: rows by the level of a triangular solve, for kernels that take whole rows. */
#ifndef GI_TRISOLVE_LEVEL_ORDER_H
#define GI_TRISOLVE_LEVEL_ORDER_H

#include <gable/trisolve.h>

#include "base/context.h"

typedef struct gi_level_order {
  gable_idx levels;
  unsigned *list;         /* [n] rows by level, in the memory of the place */
  unsigned *start;        /* [levels+1] where each level starts in list; host */
  unsigned *device_start; /* the same in the memory of the place */
} gi_level_order;

/* From the analysed plan's schedule for op N; out must be zeroed. */
gable_status gi_level_order_make(gable_context *ctx, const gable_trisolve *plan, gable_idx n, gi_level_order *out);

/* Fine on a zeroed one, and twice. */
void gi_level_order_release(gable_context *ctx, gi_level_order *o);

#endif
