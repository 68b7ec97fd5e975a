/* adjacency.h: the undirected graph that orderings work on. */
#ifndef GI_ADJACENCY_H
#define GI_ADJACENCY_H

#include "base/context.h"

/* Both directions of every edge, no loops, no edge twice; neighbours in no particular order. */
typedef struct gi_adjacency {
  gable_idx n;
  gable_off *ptr;    /* [n+1] */
  gable_idx *idx;    /* [ptr[n]] */
  gable_idx *weight; /* [n] nodes of the first graph that each stands for, or NULL: one each */
} gi_adjacency;

void gi_adjacency_release(gable_context *ctx, gi_adjacency *g); /* fine on a zeroed one, and twice */

/* The graph of A + A^T (ptr [n+1], idx: CSC, square, any order within a column) without the edges between different
 * block_of [n] (NULL: all are kept).  mirrored: the caller knows that A = A^T as a pattern, with each entry once.
 * out: zeroed.  O(nnz + n). */
gable_status gi_adjacency_build(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                                const gable_idx *block_of, int mirrored, gi_adjacency *out);

/* The subgraph of node[k], k < count, with their weights; local [g->n] is scratch and must hold -1 everywhere, as it
 * does again afterwards.  out: zeroed. */
gable_status gi_adjacency_induce(gable_context *ctx, const gi_adjacency *g, gable_idx count, const gable_idx *node,
                                 gable_idx *local, gi_adjacency *out);

/* Gathers nodes with the same closed neighbourhood (the unknowns of one mesh node).  of [g->n]: the node of *out that
 * each one became, numbered by its first member.  out: zeroed; the same size where nothing gathers.  O(nnz). */
gable_status gi_adjacency_compress(gable_context *ctx, const gi_adjacency *g, gable_idx *of, gi_adjacency *out);

#endif
