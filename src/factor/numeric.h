/* numeric.h: the left-looking numeric factorization of one supernode, tile by tile, inside gi_factor_numeric.
 *
 * A panel is cut into tiles of rows by its shape alone, so that the same products are summed in the same order whoever
 * computes a tile: results do not depend on the number of threads.  Tile 0 holds the diagonal block; the others need it
 * factored before they finish. */
#ifndef GI_FACTOR_NUMERIC_H
#define GI_FACTOR_NUMERIC_H

#include <stdatomic.h>

#include "base/pulse.h"
#include "base/wait.h"
#include "factor/factor.h"
#include "factor/plan.h"
#include "kernels/dense/dense.h"

enum {
  GI_TILE = 256,       /* rows of a tile */
  GI_TILE_WHOLE = 512, /* a panel of at most so many rows, of L and U together, is one tile */
};

/* One factorization, shared by its threads. */
typedef struct gi_numeric {
  gable_context *ctx;
  gi_factor *f;
  const gi_layout *y;
  const gi_plan *plan;
  const gi_csc *a, *at;
  double tiny;
  int parallel;        /* 1: wait for the flags below */
  atomic_uchar *ready; /* [n_super] 1: diagonal block factored, 2: the whole supernode */
  atomic_int *tiles;   /* [n_super] tiles still to come */
  atomic_int stop;     /* 1: an error or a cancellation; all threads leave */
  gi_team team;        /* when it has lost, all threads but one leave */
  atomic_int at_work;  /* threads that have come and not left */
  gi_pulse pulse;      /* of thread 0 */
} gi_numeric;

/* What one thread needs and finds. */
typedef struct gi_worker {
  gable_idx *map;     /* [n] place in the panel of each row that it has; others are stale */
  gable_idx *rows;    /* [rows of the largest tile] */
  gable_idx *columns; /* [plan->widest] */
  void *column;       /* [n] values, zero between supernodes of one column; empty where there is none */
  void *row;          /* the next [n] of LU */
  gik_tools tools;
  void *scaled; /* of L D: the operand of a product, or what gik_ldlt works with; NULL: not L D L^T */
  gable_idx perturbed;
  gable_idx failed;    /* column whose pivot Cholesky cannot take, -1: none */
  double largest;      /* magnitude in U, or L of Cholesky, or D and L D; NaN once there was one */
  int number;          /* of the thread; 0 is the caller's */
  double flops;        /* done and not reported yet */
  double watched;      /* s of processor spent in waits */
  gable_status status; /* of thread 0: whether the caller cancelled */
} gi_worker;

/* Tiles of supernode j. */
gable_idx gi_tile_count(const gi_factor *f, gable_idx j);

/* 1: supernode j is one column, by LU or Cholesky, and one tile (column.inc). */
int gi_factor_is_column(const gi_factor *f, gable_idx j);

/* Rows of the largest tile. */
gable_idx gi_tile_rows(const gi_factor *f);

/* Assembles, updates and finishes tile t of supernode j; 0, or 1 when the factorization must stop. */
int gi_factor_tile_d(gi_numeric *x, gi_worker *w, gable_idx j, gable_idx t);
int gi_factor_tile_s(gi_numeric *x, gi_worker *w, gable_idx j, gable_idx t);

#endif
