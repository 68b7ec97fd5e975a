/* schedule.h: the order in which threads take up the supernodes.
 *
 * The tree is cut by work.  Subtrees at the bottom are bundled into chunks: one thread factors a chunk from end to end.
 * What is above them, the top, is taken tile by tile by all threads.  Tickets number chunks, then tiles; what a ticket
 * needs always has a smaller number, so that threads may take tickets in order and wait for what is missing. */
#ifndef GI_FACTOR_SCHEDULE_H
#define GI_FACTOR_SCHEDULE_H

#include "factor/factor.h"
#include "factor/plan.h"

typedef struct gi_schedule {
  gable_idx n_chunks, n_top;
  gable_idx *chunk_ptr; /* [n_chunks+1] offsets into member, by ticket */
  gable_idx *member;    /* [n_super - n_top] supernodes, increasing within a chunk */
  gable_idx *top;       /* [n_top] supernodes by the work on the way to the root, most first */
  gable_off *tile_ptr;  /* [n_top+1] ticket of the first tile of each, counted from n_chunks */
} gi_schedule;

/* threads = 1: one chunk. */
gable_status gi_schedule_create(gable_context *ctx, const gi_factor *f, int threads, gi_schedule **out);
void gi_schedule_destroy(gable_context *ctx, gi_schedule **schedule); /* NULL is fine */

/* The most that gi_schedule_create takes, its own work included. */
gable_off gi_schedule_bytes(const gi_layout *y);

#endif
