/* orders.h: the order of a triangle's blocks in which one thread is fastest, found by timing a few. */
#ifndef GI_TRISOLVE_ORDERS_H
#define GI_TRISOLVE_ORDERS_H

#include "trisolve/cpu/lists.h"

/* What the orders are made from: blocks, and the graph of which block depends on which. */
typedef struct gi_block_order_problem {
  const gi_triangle *t;
  gi_block_starts blocks;
  const gable_off *ptr; /* [blocks.count+1] */
  const gable_idx *col;
  const gable_idx *interleaved; /* [blocks.count] an order to try too, or NULL */
  gable_type value_type;
} gi_block_order_problem;

typedef struct gi_best_order {
  gi_lists lists;   /* packed, whole */
  gable_idx *order; /* [blocks.count], or NULL: the natural one */
  gable_idx width;  /* of its windows; 0: natural or interleaved */
  double natural_s; /* seconds of a solve in the natural order, packed, */
  double seconds;   /* and in this one */
} gi_best_order;

/* Tries the natural order, as one run and as several, the interleaved one, and windows of 64 blocks, then wider ones as
 * long as that pays. */
gable_status gi_best_order_find(gable_context *ctx, const gi_block_order_problem *p, gi_best_order *out);

/* kind: [blocks.count] like ones can lie in one run: short rows by their entries, longer ones, blocks by their rows. */
void gi_row_block_kinds(const gi_block_order_problem *p, unsigned char *kind);

/* Frees what is left of it.  Fine on a zeroed one, and twice. */
void gi_best_order_release(gable_context *ctx, gi_best_order *o);

#endif
