/* forest_cg.h: conjugate gradients on a matrix cut over ranks, with all vectors and sums in memory of its place. */
#ifndef TOOL_FOREST_CG_H
#define TOOL_FOREST_CG_H

#include "bench_graph.h"
#include "forest_rows.h"

enum { FOREST_CG_ENQUEUED = 16 }; /* iterations between looks at the residual, on a device */

typedef struct forest_cg_outcome {
  int64_t iterations;
  double residual; /* ||r|| / ||b||, by the recurrence; NaN: (b, b) is 0 and b is not */
  int converged;
  int underflowed; /* (b, b) is below DBL_MIN and b is not 0: no sum tells how large the residual is */
} forest_cg_outcome;

/* Collective.  x of r->a solves A x = b of r->a, from x = 0 (Saad, Iterative methods for sparse linear systems,
 * algorithm 6.18).  On a device FOREST_CG_ENQUEUED iterations are enqueued between looks at the residual; steps after
 * the last one change nothing.  graph: forest_cg_capture's, or NULL. */
gable_status forest_cg(forest_rows *r, double tolerance, int64_t most, bench_graph *graph, forest_cg_outcome *out);

/* residual, converged and underflowed of out, from (r, r), (b, b) and the largest (r, r) that is enough.  nonzero: b is
 * not 0. */
void forest_cg_judge(double rr, double bb, double enough, int nonzero, forest_cg_outcome *out);

/* Collective.  FOREST_CG_ENQUEUED iterations as a graph; destroy it.  GABLE_ERR_UNAVAILABLE: no capture here. */
gable_status forest_cg_capture(forest_rows *r, bench_graph **out);

#endif
