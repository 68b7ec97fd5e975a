/* clusters.h: supernodes merged for the solve, their rows, and who sends what to whom.
 *
 * A cluster J is a connected part of the supernodal elimination tree.  Its w columns are consecutive in solve order and
 * its rows are the union of its supernodes' rows beyond them.  The forward sweep computes from the w gathered values g
 *
 *   y_J = M g,   s_i = sum of the children's s_i + (N g)_i  for each row i of J,
 *
 * and each s_i is read by exactly one ancestor: the nearest one that has i among its columns or rows.  So sums run in
 * one order whatever the number of threads, thread blocks or right-hand sides.
 *
 * Clusters are numbered by stage and level: a stage is a set of blocks of the block triangular form that do not depend
 * on each other, a level a set of clusters of one stage whose children all lie in lower levels. */
#ifndef GI_CLUSTERS_H
#define GI_CLUSTERS_H

#include "graph/symbolic/layout.h"

/* One triangle's lists.  Position p of cluster J (its columns first, then its rows) has number
 * first[J] + ptr[J] + p; slot k belongs to row[k]. */
typedef struct gi_cluster_side {
  gable_off *ptr;     /* [count+1] offsets into row */
  gable_idx *row;     /* [ptr[count]] columns in solve order, increasing within a cluster */
  gable_off *in_ptr;  /* [n + ptr[count] + 1] by position */
  gable_off *in_slot; /* [in_ptr[n + ptr[count]]] slots that a position adds, increasing */
} gi_cluster_side;

typedef struct gi_clusters {
  const gi_layout *layout; /* borrowed */
  gable_idx n, count;
  gable_idx *order;               /* [n] column of A' that is k-th in solve order */
  gable_idx *first;               /* [count+1] first column of each cluster, in solve order */
  gable_idx *member_ptr, *member; /* [count+1], [n_super] supernodes of each, increasing */
  gable_idx *parent;              /* [count] -1 at roots */
  gable_idx n_levels, n_stages;
  gable_idx *level_ptr; /* [n_levels+1] clusters of each level */
  gable_idx *stage_ptr; /* [n_stages+1] levels of each stage */
  gi_cluster_side l, u; /* u is l's arrays where the layout is symmetric */
} gi_clusters;

typedef struct gi_cluster_options {
  gable_idx max_width; /* columns of a merged cluster, at most; 0: the default; 1: nothing is merged */
  double growth;       /* a merge may multiply the values of its parts by 1 + growth; negative: the default */
  gable_off small;     /* and add this many values; negative: the default */
  gable_off level;     /* or this many over the number of supernodes of equal height; negative: the default */
} gi_cluster_options;
#define GI_CLUSTER_OPTIONS_INIT                                                                                        \
  {                                                                                                                    \
    0, -1, -1, -1                                                                                                      \
  }

/* layout is borrowed and outlives the clusters.  options may be NULL.  O(rows in the layout, sorted).
 * GABLE_ERR_MEMORY. */
gable_status gi_clusters_create(gable_context *ctx, const gi_layout *layout, const gi_cluster_options *options,
                                gi_clusters **out);

/* The same; alone [n_super]: 1: the supernode is a cluster of its own; NULL: none is for that reason. */
gable_status gi_clusters_create_apart(gable_context *ctx, const gi_layout *layout, const gi_cluster_options *options,
                                      const unsigned char *alone, gi_clusters **out);
void gi_clusters_destroy(gable_context *ctx, gi_clusters **clusters); /* NULL is fine */

static inline gable_idx gi_cluster_width(const gi_clusters *c, gable_idx j)
{
  return c->first[j + 1] - c->first[j];
}

#endif
