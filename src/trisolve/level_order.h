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

/* From the levels of the analysed plan for op N; out must be zeroed, stays so on a CPU, whose kernels take rows as they
 * stand, and is released by its owner even after an error. */
gable_status gi_level_order_make(const gable_trisolve *plan, gi_level_order *out);

/* Bytes of one of n rows, added to what is there. */
void gi_level_order_add_bytes(gable_idx n, gable_idx levels, size_t *host, size_t *device);

/* Fine on a zeroed one, and twice. */
void gi_level_order_release(gable_context *ctx, gi_level_order *o);

#endif
