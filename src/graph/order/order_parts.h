/* order_parts.h: the orderings of other libraries; each is one real file or one that says what is missing. */
#ifndef GI_ORDER_PARTS_H
#define GI_ORDER_PARTS_H

#include "graph/adjacency.h"

/* perm [g->n]: perm[k] = the node that comes k-th.  GABLE_ERR_UNAVAILABLE, _LIMIT, _MEMORY. */
gable_status gi_order_amd(gable_context *ctx, const gi_adjacency *g, gable_idx *perm);

/* The same with constraints: nodes with a smaller member [g->n] (from 0, none left out up to the largest) come first.
 */
gable_status gi_order_camd(gable_context *ctx, const gi_adjacency *g, const gable_idx *member, gable_idx *perm);

/* Nodes of a whole, of which a graph is the part from before on: what METIS tells the progress of. */
typedef struct gi_order_share {
  gable_idx before, all;
} gi_order_share;

typedef enum gi_metis_outcome {
  GI_METIS_DONE = 0,
  GI_METIS_MOOT = 1,   /* given up: perm is undefined */
  GI_METIS_STARVED = 2 /* the same: METIS had too little memory */
} gi_metis_outcome;

/* As gi_order_amd.  Where there is an is_moot, it is asked with user before each of the larger steps, and ends the work
 * by 1; METIS's own lack of memory ends it then, too, and without one is GABLE_ERR_MEMORY.  Tells the progress of
 * "order": share of 0.05 .. 0.95; GABLE_ERR_CANCELLED. */
gable_status gi_order_metis(gable_context *ctx, const gi_adjacency *g, gi_order_share share,
                            int (*is_moot)(const void *user), const void *user, gable_idx *perm,
                            gi_metis_outcome *outcome);

/* The columns of A (CSC, square), without the entries between different block_of [n] (NULL: all are kept). */
gable_status gi_order_colamd(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                             const gable_idx *block_of, gable_idx *perm);

/* 1 when the library is in this build. */
int gi_order_has_amd(void);
int gi_order_has_metis(void);

#endif
