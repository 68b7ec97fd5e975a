/* row_blocks.h: rows that follow each other and depend on the same rows: what a block of unknowns at a node of a mesh
 * makes.
 *
 * Rows k .. k+r-1 are a block when each depends on the same rows before k, three at least, and on all the block's
 * earlier rows.  Solved together they read each index and each unknown once. */
#ifndef GI_ROW_BLOCKS_H
#define GI_ROW_BLOCKS_H

#include "base/context.h"

typedef struct gi_row_blocks {
  gable_idx count;  /* 0: not enough rows are alike */
  gable_idx *start; /* [count+1] the first row of each */
  gable_off *ptr;   /* [count+1] block u depends on blocks col[ptr[u] .. ptr[u+1]) */
  gable_idx *col;
} gi_row_blocks;

enum { GI_ROW_BLOCK_LONGEST = 1 << 28 }; /* entries of a row; no blocks where one has more */

/* Blocks of at most `most` rows.  None unless a third of all entries are in blocks of several rows.  O(nnz). */
gable_status gi_row_blocks_find(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *col,
                                gable_idx most, gi_row_blocks *out);

/* Frees the arrays.  Fine on a zeroed one, and twice. */
void gi_row_blocks_release(gable_context *ctx, gi_row_blocks *u);

#endif
