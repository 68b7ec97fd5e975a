/* fill_count.h: the entries that eliminating a pattern leads to, counted without
 * keeping the structure. */
#ifndef GI_FILL_COUNT_H
#define GI_FILL_COUNT_H

#include "sparse/csc.h"

/* l and u: by columns, square; l's entries below the diagonal and u's above it
 * count, and the diagonal is taken as there.  *count: entries of the factors L
 * and U, without pivoting and one diagonal counted, of the matrix whose pattern
 * is that of l and u together; most + 1 as soon as there are more than most.
 * Memory for most indices; time of Gilbert and Peierls's algorithm with
 * Eisenstat and Liu's symmetric pruning.  GABLE_ERR_MEMORY. */
gable_status gi_fill_count(gable_context *ctx, const gi_csc *l, const gi_csc *u, gable_off most, gable_off *count);

#endif
