/* tiles.h: cuts a dependency graph into tiles for a few threads that wait for each other point to point.
 *
 * A tile is consecutive rows of an order.  A simulation of the solve hands them out: of the lowest few that
 * are ready, the one that some thread can start first, counting a hop and the transfer of values from other threads.  A
 * tile waits before its first row and tells after its last one; waits that follow from earlier ones are left out
 * (transitive reduction by vector clocks). */
#ifndef GI_TILES_H
#define GI_TILES_H

#include "trisolve/cpu/row_cost_model.h"

typedef struct gi_wait_for {
  int32_t thread;
  gable_idx tiles; /* how many of its tiles that thread must have finished */
} gi_wait_for;

typedef struct gi_tiles {
  int threads;
  gable_idx count;       /* tiles */
  gable_idx *order;      /* [n] rows, tile after tile, thread after thread */
  gable_idx *start;      /* [count+1] offsets into order */
  gable_idx *first;      /* [threads+1] tiles of each thread */
  gable_idx *wait_start; /* [count+1] offsets into wait */
  gi_wait_for *wait;     /* [wait_start[count]] */
  gable_idx *sequence;   /* [count] tiles in an order in which one thread can do them all */
  double model_s;        /* simulated seconds of a solve */
} gi_tiles;

/* base: [n] an order of the rows, each after those that it depends on, of which tiles are consecutive parts; NULL for
 * 0..n-1.  No tile goes across a place of cuts (increasing, beginning with 0; NULL: none).  size: rows and entries of a
 * tile, at most, or one row.  owner: which thread does the tile between each cut and the next, which no size may
 * divide; NULL: whichever can first. */
typedef struct gi_tile_plan {
  const gable_idx *base, *cuts;
  const int *owner;
  int threads;
  gable_off size;
} gi_tile_plan;
gable_status gi_tiles_build(gable_context *ctx, gable_idx n, gi_row_cost_model *row_cost, const gi_tile_plan *plan,
                            gi_tiles *out);

/* Frees the arrays.  Fine on a zeroed one, and twice. */
void gi_tiles_release(gable_context *ctx, gi_tiles *t);

#endif
