/* levels.h: the level sets of a dependency graph: level(k) = 1 + the largest level of what k depends on, from 0. */
#ifndef GI_LEVELS_H
#define GI_LEVELS_H

#include "base/context.h"

typedef struct gi_levels {
  gable_idx count; /* of levels */
  gable_idx widest;
  gable_idx *level; /* [n] of each row */
  gable_idx *start; /* [count+1] offsets into order */
  gable_idx *order; /* [n] rows by level, increasing within a level (jlev of the seed) */
} gi_levels;

/* Rows k = 0..n-1 depend on col[ptr[k] .. ptr[k+1]), all below k.  O(nnz). */
gable_status gi_levels_find(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *col,
                            gi_levels *out);

/* Frees the arrays.  Fine on a zeroed one, and twice. */
void gi_levels_release(gable_context *ctx, gi_levels *l);

#endif
