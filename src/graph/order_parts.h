/* order_parts.h: the orderings of other libraries; each is one real file or one that says what is missing. */
#ifndef GI_ORDER_PARTS_H
#define GI_ORDER_PARTS_H

#include "graph/adjacency.h"

/* perm [g->n]: perm[k] = the node that comes k-th.  GABLE_ERR_UNAVAILABLE, _LIMIT, _MEMORY. */
gable_status gi_order_amd(gable_context *ctx, const gi_adjacency *g, gable_idx *perm);
gable_status gi_order_metis(gable_context *ctx, const gi_adjacency *g, gable_idx *perm);

/* The columns of A (CSC, square), without the entries between different block_of [n] (NULL: all are kept). */
gable_status gi_order_colamd(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                             const gable_idx *block_of, gable_idx *perm);

/* 1 when the library is in this build. */
int gi_order_has_amd(void);
int gi_order_has_metis(void);

#endif
