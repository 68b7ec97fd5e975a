/* method_order.h: the order in which a named method solves on a device.
 *
 * Diagonal blocks of a block triangular form that do not depend on each other through F make a group.  In solve order
 * the columns of a group are consecutive, those of a diagonal block too and in the order of A'. */
#ifndef GI_METHOD_ORDER_H
#define GI_METHOD_ORDER_H

#include "factor/factor.h"

typedef struct gi_method_order {
  gable_idx n, n_groups, n_stages;
  gable_idx *stage; /* [n_stages] diagonal blocks in solve order */
  gable_idx *group; /* [n_stages] of each diagonal block, by its own number */
  gable_idx *begin; /* [n_groups+1] first column of each group, in solve order */
  gable_idx *order; /* [n] column of A' that is k-th */
  gable_idx *place; /* [n] the inverse */
} gi_method_order;

/* GABLE_ERR_MEMORY; what was made so far is o's. */
gable_status gi_method_order_init(gable_context *ctx, const gi_factor *f, gi_method_order *o);
void gi_method_order_release(gable_context *ctx, gi_method_order *o);

#endif
