/* forest_rows.h: a square matrix cut over ranks by rows, and q = A p with the halo of p over a star forest. */
#ifndef TOOL_FOREST_ROWS_H
#define TOOL_FOREST_ROWS_H

#include <gable/gable.h>

#include "forest_steps.h"

typedef struct forest_rows {
  gable_comm *comm;
  gable_context *ctx;
  forest_arrays a;          /* in memory of the comm's place */
  gable_forest *halo;       /* roots: own rows; leaves: ghosts, at their places in p */
  gable_exchange *exchange; /* bcast on it */
  gable_exchange *sums;     /* own of each rank into parts of all */
  int model_a;              /* 1: exchanges are between forest_before and forest_after; 0 at first */
} forest_rows;

/* Collective.  a: both triangles, by columns, with values; part [n] of forest_parts.  Both are only read.  All messages
 * take the path. */
gable_status forest_rows_open(gable_comm *comm, const gable_matrix_view *a, const int32_t *part, gable_path path,
                              forest_rows *out);
void forest_rows_close(forest_rows *r);

/* Collective.  q = A p: the ghosts of p are written.  On a GPU both are only enqueued where the path does.  Rows
 * without ghosts are summed while messages travel.  Each row is summed by increasing column of the whole matrix: the
 * bits of the serial product. */
gable_status forest_rows_product(forest_rows *r);

/* Local.  The same sums with the ghosts as they are. */
gable_status forest_rows_local(const forest_rows *r);

/* Local.  Waits for what is enqueued.  GABLE_ERR_DEADLINE: a kernel waited in vain. */
gable_status forest_rows_wait(const forest_rows *r);

/* Local, after forest_rows_wait.  Between an array of the rank and host memory; returns when it is done. */
gable_status forest_rows_get(const forest_rows *r, void *host, const void *array, size_t bytes);
gable_status forest_rows_put(const forest_rows *r, void *array, const void *host, size_t bytes);

#endif
