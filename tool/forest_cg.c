/* forest_cg.c: see forest_cg.h. */
#include "forest_cg.h"

#include <math.h>
#include <string.h>

enum { ENQUEUED = 16 }; /* iterations between looks at the residual */

static gable_status step(const forest_rows *r, forest_step s, gable_off n)
{
  return forest_steps_run(r->ctx, s, &r->a, 0, n);
}

/* parts: the sum over each rank's rows, on every rank. */
static gable_status dot(forest_rows *r, forest_step lane, double *parts)
{
  gable_status status = step(r, lane, FOREST_LANES);
  if (!status) status = step(r, FOREST_FOLD, FOREST_FOLDS);
  if (!status) status = step(r, FOREST_TOTAL, 1);
  if (!status) status = gable_bcast_begin(r->sums, r->a.own, parts);
  return status ? status : gable_exchange_end(r->sums);
}

static gable_status iterate(forest_rows *r)
{
  gable_status status = forest_rows_product(r);
  if (!status) status = dot(r, FOREST_LANE_PQ, r->a.parts);
  if (!status) status = step(r, FOREST_UPDATE, r->a.n);
  if (!status) status = dot(r, FOREST_LANE_RR, r->a.parts + r->a.ranks);
  if (!status) status = step(r, FOREST_DIRECTION, r->a.n);
  return status ? status : step(r, FOREST_ADVANCE, 1);
}

static int iterate_captured(void *rows)
{
  gable_status status = GABLE_OK;
  for (int k = 0; k < ENQUEUED && !status; k++) status = iterate(rows);
  return status != GABLE_OK;
}

gable_status forest_cg_capture(forest_rows *r, bench_graph **out)
{
  gable_status status = gable_comm_barrier(r->comm); /* no graph is made while kernels of another rank wait */
  *out = status ? NULL : bench_graph_capture(gable_context_stream(r->ctx), iterate_captured, r);
  return status ? status : gable_comm_agree(r->comm, *out ? GABLE_OK : GABLE_ERR_UNAVAILABLE);
}

/* Some iterations, and where they have come to. */
static gable_status advance(forest_rows *r, bench_graph *graph, forest_scalars *s)
{
  const int many = gable_context_space(r->ctx) == GABLE_SPACE_DEVICE ? ENQUEUED : 1;
  gable_status status = GABLE_OK;
  if (graph && bench_graph_launch(graph)) return GABLE_ERR_BACKEND;
  for (int k = 0; k < many && !graph && !status; k++) status = iterate(r);
  if (!status) status = forest_rows_wait(r);
  return status ? status : forest_rows_get(r, s, r->a.s, sizeof *s);
}

gable_status forest_cg(forest_rows *r, double tolerance, int64_t most, bench_graph *graph, forest_cg_outcome *out)
{
  forest_scalars s = {0, 0, tolerance * tolerance, most, 0, 0};
  gable_status status = forest_rows_put(r, r->a.s, &s, sizeof s);
  if (!status) status = step(r, FOREST_START, r->a.n);
  if (!status) status = dot(r, FOREST_LANE_RR, r->a.parts + r->a.ranks);
  if (!status) status = step(r, FOREST_BEGIN, 1);
  if (!status) status = forest_rows_wait(r);
  if (!status) status = forest_rows_get(r, &s, r->a.s, sizeof s);
  while (!status && !s.stopped) status = advance(r, graph, &s);
  out->iterations = s.iterations;
  out->residual = s.bb > 0 ? sqrt(s.rr / s.bb) : 0;
  out->converged = isfinite(s.rr) && s.rr <= s.tolerance2 * s.bb;
  return status;
}
