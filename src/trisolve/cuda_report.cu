/* cuda_report.cu: what a plan of the GPU backend says of itself. */
#include <cstdio>

#include "trisolve/cuda_state.h"

namespace gi
{

gable_status cuda_info(const gable_trisolve *t, gable_op op, gable_trisolve_info *i)
{
  const state *s = (const state *)t->state;
  const side *d = &s->of[op];
  snprintf(i->method_used, sizeof i->method_used, "%s", gi_method_name(d->method));
  snprintf(i->why, sizeof i->why, "%s", d->why);
  i->n = t->shape.n;
  i->nnz = d->triangle.nnz - (d->triangle.n - t->shape.n) + t->shape.n;
  i->levels = d->profile.levels;
  i->widest = d->widest;
  i->plan_bytes_device = s->memory.bytes;
  i->model_s = d->model_s;
  i->launches = 1;
  switch (d->method) {
  case GI_TILES:
    i->threads = d->tiles.lanes;
    i->tiles = d->tiles.count;
    i->waits = d->tiles.n_borders;
    break;
  case GI_ROWS:
    i->threads = d->packed.lanes;
    i->waits = d->triangle.nnz;
    break;
  case GI_LEVR:
  case GI_LEVC:
    i->threads = d->seed.lanes;
    i->launches = gik_seed_launches(&d->seed) + (d->method == GI_LEVC);
    i->barriers = d->profile.levels > 0 ? d->profile.levels - 1 : 0;
    i->atomics = d->method == GI_LEVC ? d->triangle.nnz : 0;
    break;
  default:
    i->threads = 32;
    i->launches = d->method == GI_ELMR ? 2 : 3;
    i->waits = d->method == GI_ELMR ? d->triangle.nnz : d->triangle.n;
    i->atomics = d->method == GI_ELMR ? 0 : 2 * (gable_off)d->triangle.nnz;
  }
  return GABLE_OK;
}

gable_status cuda_schedule(const gable_trisolve *t, gable_op op, gable_idx *order, gable_idx *level)
{
  gable_status status = GABLE_OK;
  const state *s = (const state *)t->state;
  const side *d = &s->of[op];
  const size_t n = (size_t)d->triangle.n;
  unsigned *row = nullptr, *place = nullptr;
  gable_idx *at = nullptr;
  unsigned long long *levels = nullptr;
  size_t places = 0;
  GI_REQUIRE(d->level, GABLE_ERR_UNAVAILABLE, "no schedule was asked for this op (options.ops)");
  GI_TRY(host_take(t->ctx, n, &row));
  GI_TRY(host_take(t->ctx, n, &place));
  GI_TRY(host_take(t->ctx, n, &levels));
  GI_TRY(checked(cudaMemcpy(row, d->triangle.row, n * sizeof *row, cudaMemcpyDeviceToHost), "copy"));
  GI_TRY(checked(cudaMemcpy(levels, d->level, n * sizeof *levels, cudaMemcpyDeviceToHost), "copy"));
  if (d->method == GI_TILES || d->method == GI_ROWS) {
    GI_TRY(checked(cudaMemcpy(place, d->place, n * sizeof *place, cudaMemcpyDeviceToHost), "copy"));
  } else {
    for (size_t k = 0; k < n; k++) place[k] = (unsigned)k;
    if (d->seed.order) {
      unsigned *list = nullptr;
      GI_TRY(host_take(t->ctx, n, &list));
      cudaError_t e = cudaMemcpy(list, d->seed.order, n * sizeof *list, cudaMemcpyDeviceToHost);
      for (size_t k = 0; k < n && !e; k++) place[list[k]] = (unsigned)k;
      gi_free(t->ctx, list);
      GI_TRY(checked(e, "copy"));
    }
  }
  for (size_t k = 0; k < n; k++) places = place[k] + 1 > places ? place[k] + 1 : places;
  GI_TRY(host_take(t->ctx, places, &at));
  for (size_t p = 0; p < places; p++) at[p] = -1;
  for (size_t k = 0; k < n; k++) {
    if (row[k] == 0xffffffffu) continue;
    at[place[k]] = (gable_idx)row[k];
    if (level) level[row[k]] = (gable_idx)(levels[k] >> 32);
  }
  for (size_t p = 0, q = 0; p < places && order; p++)
    if (at[p] >= 0) order[q++] = at[p];
done:
  gi_free(t->ctx, row);
  gi_free(t->ctx, place);
  gi_free(t->ctx, levels);
  gi_free(t->ctx, at);
  return status;
}

} /* namespace gi */
