/* interleave.h: an order close to the natural one in which neighbours depend on each other less.
 *
 * A row that needs its predecessor's value waits for it, about fourteen cycles, while the processor could work on
 * others. So consecutive rows are grouped until a group is a few rows wide for each of its own levels, and sorted by
 * level inside the group: on a grid, four lines advance together. */
#ifndef GI_INTERLEAVE_H
#define GI_INTERLEAVE_H

#include "trisolve/cpu/row_cost_model.h"

typedef struct gi_interleaved {
  gable_idx *order; /* [n] every row after those that it depends on */
  gable_idx groups; /* of at least 64 rows; smaller ones are joined */
  gable_idx *start; /* [groups+1] offsets into order */
} gi_interleaved;

/* A group ends where a chain does, when it has width rows for each of its levels, and at 16384 rows at the latest; it
 * is sorted only where row_cost says that this pays.  O(nnz). */
gable_status gi_interleave(gable_context *ctx, gable_idx n, gi_row_cost_model *row_cost, gable_idx width,
                           gi_interleaved *out);

/* Frees the arrays.  Fine on a zeroed one, and twice. */
void gi_interleaved_release(gable_context *ctx, gi_interleaved *o);

#endif
