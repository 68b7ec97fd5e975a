/* forest_cg.c: see forest_cg.h. */
#include "forest_cg.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forest_streams.h"

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
  if (!status) status = forest_before(r->comm, r->model_a);
  if (!status) status = gable_bcast_begin(r->sums, r->a.own, parts);
  if (!status) status = gable_exchange_end(r->sums);
  return status ? status : forest_after(r->comm, r->model_a);
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
  for (int k = 0; k < FOREST_CG_ENQUEUED && !status; k++) status = iterate(rows);
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
  const int many = gable_context_space(r->ctx) == GABLE_SPACE_DEVICE ? FOREST_CG_ENQUEUED : 1;
  gable_status status = GABLE_OK;
  if (graph && bench_graph_launch(graph)) return GABLE_ERR_BACKEND;
  for (int k = 0; k < many && !graph && !status; k++) status = iterate(r);
  if (!status) status = forest_rows_wait(r);
  return status ? status : forest_rows_get(r, s, r->a.s, sizeof *s);
}

/* Collective.  Has b of any rank an entry that is not 0? */
static gable_status find_nonzero(forest_rows *r, int *nonzero)
{
  double *own = calloc((size_t)r->a.n + 1, sizeof *own);
  char *all = malloc((size_t)r->a.ranks), mine = 0;
  gable_status status = gable_comm_agree(r->comm, own && all ? GABLE_OK : GABLE_ERR_MEMORY);
  if (!status) status = forest_rows_get(r, own, r->a.b, (size_t)r->a.n * sizeof *own);
  for (gable_off i = 0; i < r->a.n && own; i++) mine |= own[i] != 0;
  if (!status) status = gable_comm_allgather(r->comm, &mine, sizeof mine, all);
  for (int64_t k = 0; k < r->a.ranks && !status; k++) *nonzero |= all[k];
  free(own);
  free(all);
  return status;
}

void forest_cg_judge(double rr, double bb, double enough, int nonzero, forest_cg_outcome *out)
{
  out->underflowed = nonzero && bb < DBL_MIN;
  out->residual = bb > 0 ? sqrt(rr / bb) : nonzero ? NAN : 0;
  out->converged = isfinite(rr) && rr <= enough && !out->underflowed;
}

gable_status forest_cg(forest_rows *r, double tolerance, int64_t most, bench_graph *graph, forest_cg_outcome *out)
{
  forest_scalars s = {0, 0, tolerance * tolerance, most, 0, 0};
  int nonzero = 0;
  gable_status status = forest_rows_put(r, r->a.s, &s, sizeof s);
  if (!status) status = step(r, FOREST_START, r->a.n);
  if (!status) status = dot(r, FOREST_LANE_RR, r->a.parts + r->a.ranks);
  if (!status) status = step(r, FOREST_BEGIN, 1);
  if (!status) status = forest_rows_wait(r);
  if (!status) status = forest_rows_get(r, &s, r->a.s, sizeof s);
  while (!status && !s.stopped) status = advance(r, graph, &s);
  out->iterations = s.iterations;
  if (!status && s.bb < DBL_MIN) status = find_nonzero(r, &nonzero); /* (b, b) is the same on every rank */
  forest_cg_judge(s.rr, s.bb, s.tolerance2 * s.bb, nonzero, out);
  return status;
}
