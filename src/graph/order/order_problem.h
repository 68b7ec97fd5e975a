/* order_problem.h: what every ordering method is given: the graph, its blocks, very long rows set apart. */
#ifndef GI_ORDER_PROBLEM_H
#define GI_ORDER_PROBLEM_H

#include "graph/adjacency.h"
#include "graph/order/order.h"

typedef struct gi_order_problem {
  gable_idx n, n_blocks, n_long;
  const gable_off *ptr; /* A, borrowed */
  const gable_idx *idx;
  gable_idx *block;    /* [n_blocks+1] first place of each */
  gable_idx *block_of; /* [n] of each node, or NULL when there is one block */
  gi_adjacency graph;  /* without edges between blocks */
  gable_idx *node;     /* [n] by block; in each first those to be ordered, then the long ones, the shortest first */
  gable_idx *ordered;  /* [n_blocks] how many are to be ordered */
} gi_order_problem;

/* Rows with more than 10 sqrt(size of their block) neighbours (AMD's measure) are set apart, unless they are more than
 * a tenth of the block.  perm as in gi_order.  out: zeroed; release it also after an error. */
gable_status gi_order_problem_init(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                                   const gi_order_options *options, const gable_idx *perm, gi_order_problem *out);
void gi_order_problem_release(gable_context *ctx, gi_order_problem *p);

/* perm [n]: AMD on all blocks together. */
gable_status gi_order_by_amd(gable_context *ctx, const gi_order_problem *p, gable_idx *perm);

/* Which blocks are wanted; the answer may turn from 1 to 0 while METIS is at work, which then gives the block up.
 * starved: METIS gave a block up for lack of memory. */
typedef struct gi_block_filter {
  int (*wanted)(const void *user, gable_idx block);
  void (*starved)(void *user, gable_idx block);
  void *user;
} gi_block_filter;

/* perm [n]: METIS on each block that the filter (NULL: all, and lack of memory is an error) wants; the places of others
 * are left undefined. */
gable_status gi_order_by_metis(gable_context *ctx, const gi_order_problem *p, const gi_block_filter *filter,
                               gable_idx *perm);

/* perm [n]: the better of both in each block.  solves, tree: see gi_order_options. */
gable_status gi_order_by_fill(gable_context *ctx, const gi_order_problem *p, double solves, gable_idx *perm,
                              struct gi_tree *tree, gi_order_report *report);

#endif
