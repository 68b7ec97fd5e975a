/* tile_builder.h: tiles while they are made; for tiles.c and tile_waits.c alone. */
#ifndef GI_TILE_BUILDER_H
#define GI_TILE_BUILDER_H

#include "trisolve/cpu/chunks.h"
#include "trisolve/cpu/tiles.h"

/* A tile while it is made; tiles are numbered in the order in which they are made. */
typedef struct gi_tile {
  int thread;
  gable_idx step; /* its number among the thread's tiles, from 1 */
  double finish;
} gi_tile;

typedef struct gi_tile_builder {
  gable_context *ctx;
  const gi_chunks *c;
  double remote_s;  /* of a cache line of unknowns that another thread has computed */
  const int *owner; /* [chunks] or NULL */
  int threads;

  gable_idx count;    /* tiles made */
  gi_tile *tiles;     /* [chunks] */
  gable_idx *tile_of; /* [chunks] */
  gable_idx *list;    /* [chunks] chunk of each tile */
  gable_idx *missing; /* [chunks] predecessors not handed out yet */
  gable_idx *heap;    /* [chunks] ready ones, lowest first */
  gable_idx heap_size;
  gable_idx *steps; /* [threads] tiles made for each thread */
  double *free_at;  /* [threads] */
} gi_tile_builder;

/* out->wait and wait_start, from the tiles and their final numbers. */
gable_status gi_tile_waits(const gi_tile_builder *b, gi_tiles *out);

#endif
