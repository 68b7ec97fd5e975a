/* structure.h: the row lists of supernodes, by merging those of their children. */
#ifndef GI_STRUCTURE_H
#define GI_STRUCTURE_H

#include "base/context.h"

/* Supernodes before they are split into panels, columns super[s] .. super[s+1]-1 in postorder. */
typedef struct gi_partition {
  gable_idx n, n_super;
  const gable_idx *super;  /* [n_super+1] */
  const gable_idx *parent; /* [n] elimination tree of the columns */
  const gable_idx *count;  /* [n] entries of each column of L, the diagonal counted */
} gi_partition;

/* The strict lower triangle of the pattern under other labels: column k is column old[k] of lower, its row r is
 * place[r]. */
typedef struct gi_relabelled {
  const gable_off *lower_ptr; /* [n+1] */
  const gable_idx *lower_idx;
  const gable_idx *old, *place; /* [n], inverse to each other */
} gi_relabelled;

/* row + row_at[s] receives the rows below supernode s, increasing; there are count[super[s+1]-1] - 1 of them.
 * row_at [n_super].  O(rows written + nnz, times the logarithm of the number of lists that meet). */
gable_status gi_structure_merge(gable_context *ctx, const gi_partition *part, const gi_relabelled *a,
                                const gable_off *row_at, gable_idx *row);

#endif
