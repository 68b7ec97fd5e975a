/* forest_arrays.h: what the product and the conjugate gradients of one rank work on: arrays of one block of memory. */
#ifndef TOOL_FOREST_ARRAYS_H
#define TOOL_FOREST_ARRAYS_H

#include <gable/gable.h>

/* LANES, FOLDS: a sum over n rows is taken in three levels, in the same order everywhere:
 *
 *   lane l < LANES  sums the terms l, l + LANES, l + 2 LANES, ...
 *   fold f < FOLDS  sums the lanes f, f + FOLDS, ...
 *   then the folds are summed from first to last, and the ranks' sums by increasing rank. */
enum { FOREST_LANES = 16384, FOREST_FOLDS = 128 };

typedef struct forest_scalars {
  double rr, bb;     /* (r, r), (b, b) */
  double tolerance2; /* stop at rr <= tolerance2 * bb */
  int64_t most, iterations;
  int64_t stopped; /* steps change nothing any more */
} forest_scalars;

/* Columns are places in p: [0, n) the rank's own rows, [n, n + ghosts) entries that other ranks own. */
typedef struct forest_arrays {
  char *block;
  size_t bytes;
  gable_off n, ghosts, inner; /* rows order[0..inner) need no ghost */
  int64_t ranks;
  gable_idx *order; /* [n] */
  int64_t *ptr;     /* [n + 1] */
  gable_idx *col;   /* by increasing column of the whole matrix */
  double *val;
  double *x, *r, *q, *b; /* [n] */
  double *p;             /* [n + ghosts] */
  double *lanes, *folds, *own;
  double *parts; /* [2 * ranks]: (p, q) of each rank, then (r, r) */
  forest_scalars *s;
} forest_arrays;

#endif
