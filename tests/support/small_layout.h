/* small_layout.h: patterns and supernodal layouts of small matrices, by elimination on a dense array of marks. */
#ifndef SMALL_LAYOUT_H
#define SMALL_LAYOUT_H

#include "base/random.h"
#include "graph/symbolic/layout.h"

/* [n*n] by columns, the caller's to free: a full diagonal and others with the given probability. */
unsigned char *small_pattern(gi_random *r, gable_idx n, double density, int symmetric);

/* A layout for the pattern with supernodes of random widths up to max_width: closed under exchanges inside diagonal
 * blocks.  symmetric: of the pattern and its transpose, which must be equal. */
gi_layout *small_layout(gable_context *ctx, gi_random *r, gable_idx n, const unsigned char *pattern, int cholesky,
                        int symmetric, gable_idx max_width);

/* The same in block triangular form: n_blocks diagonal blocks, the k-th from block[k] to block[k+1]-1, block[n_blocks]
 * = n.  What the pattern has below them is taken out of it, what it has right of them is F. */
gi_layout *small_layout_blocks(gable_context *ctx, gi_random *r, gable_idx n_blocks, const gable_idx *block,
                               unsigned char *pattern, int symmetric, gable_idx max_width);

/* Either of them: in one block or, where blocks is 1, in four.  Takes the pattern. */
gi_layout *small_layout_either(gable_context *ctx, gi_random *r, gable_idx n, unsigned char *pattern, int cholesky,
                               int symmetric, gable_idx max_width, int blocks);

#endif
