/* forest_cg.h: conjugate gradients on a matrix cut over ranks, with all vectors and sums in memory of its place. */
#ifndef TOOL_FOREST_CG_H
#define TOOL_FOREST_CG_H

#include "bench_graph.h"
#include "forest_rows.h"

typedef struct forest_cg_outcome {
  int64_t iterations;
  double residual; /* ||r|| / ||b||, by the recurrence */
  int converged;
} forest_cg_outcome;

/* Collective.  x of r->a solves A x = b of r->a, from x = 0 (Saad, Iterative methods for sparse linear systems,
 * algorithm 6.18).  On a device iterations are enqueued 16 at a time between looks at the residual; steps after the
 * last iteration change nothing.  graph: forest_cg_capture's, or NULL. */
gable_status forest_cg(forest_rows *r, double tolerance, int64_t most, bench_graph *graph, forest_cg_outcome *out);

/* Collective.  16 iterations as a graph; destroy it.  GABLE_ERR_UNAVAILABLE: they cannot be captured. */
gable_status forest_cg_capture(forest_rows *r, bench_graph **out);

#endif
