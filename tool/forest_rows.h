/* forest_rows.h: a square matrix cut over ranks by rows, and y = A x with the halo of x over a star forest. */
#ifndef TOOL_FOREST_ROWS_H
#define TOOL_FOREST_ROWS_H

#include <gable/gable.h>

#include "forest_product.h"

/* What one rank has.  Columns are places in its x: [0, n) its own rows, [n, n + ghosts) entries that others own. */
typedef struct forest_rows {
  gable_comm *comm;
  gable_idx n, ghosts;
  gable_idx inner;  /* rows order[0..inner) need no ghost */
  gable_idx *order; /* [n] */
  int64_t *ptr;     /* [n + 1] */
  gable_idx *col;   /* by increasing column of the whole matrix */
  double *val;
  gable_forest *halo; /* roots: own rows; leaves: ghosts, at their places in x */
  gable_exchange *exchange;
  forest_product *device; /* on a GPU: the same rows there, where x and y then lie; else NULL */
} forest_rows;

/* Collective.  a: both triangles, by columns, with values; part [n] of forest_parts.  Both are only read. */
gable_status forest_rows_open(gable_comm *comm, const gable_matrix_view *a, const int32_t *part, forest_rows *out);
void forest_rows_close(forest_rows *r);

/* Whether the comm's ranks are on GPUs. */
int forest_rows_on_gpu(const gable_comm *comm);

/* Collective.  x [n + ghosts]: its ghosts are written; y [n].  On a GPU both are only enqueued.  Rows without ghosts
 * are summed while messages travel. Each row is summed by increasing column of the whole matrix: the bits of the serial
 * product. */
gable_status forest_rows_product(forest_rows *r, double *x, double *y);

/* Local.  The same sums with the ghosts as they are. */
gable_status forest_rows_local(const forest_rows *r, const double *x, double *y);

#endif
