/* block_inverse.h: what a solve method makes ahead of the diagonal blocks of a block triangle. */
#ifndef GI_BLOCK_INVERSE_H
#define GI_BLOCK_INVERSE_H

#include "supernodal/cpu/block_triangle.h"

/* D := D^-1 and, but for the method `inverted`, B := B D^-1 in all blocks whose inverse serves; the others are marked
 * in t->substituted, and their values are spoilt.  O(values times width).  GABLE_ERR_MEMORY. */
gable_status gi_blocks_invert(gable_context *ctx, gi_block_triangle *t);

/* t->inverse from these, and in t->value only D of substituted blocks.  GABLE_ERR_MEMORY, GABLE_ERR_LIMIT. */
gable_status gi_blocks_partition(gable_context *ctx, gi_block_triangle *t);

#endif
