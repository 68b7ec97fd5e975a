/* report.cu: what a plan of the GPU backend says of itself. */
#include <cstdio>

#include "cuda/device_wait.cuh"
#include "trisolve/cuda/state.h"

using gik::NONE;

namespace gi
{

static void tell_why(const choice *c, char *out, size_t size)
{
  if (c->why)
    snprintf(out, size, "%s", c->why);
  else
    snprintf(out, size,
             "%d rows in %d levels and %d chains, %.1f entries a row: model says tiles %.3g s, rows %.3g s%s%s", c->n,
             c->levels, c->chains, c->entries, c->tiles_s, c->rows_s, c->steps ? ", level by level" : "",
             c->misfit ? "; tiles do not fit" : "");
}

gable_status cuda_info(const gable_trisolve *t, gable_op op, gable_trisolve_info *i)
{
  const state *s = (const state *)t->state;
  const op_plan *d = solving(&s->of[op]);
  snprintf(i->method_used, sizeof i->method_used, "%s", gi_method_name(d->method));
  tell_why(&d->chosen, i->why, sizeof i->why);
  i->n = t->shape.n;
  i->nnz = (gable_off)d->plain.nnz + t->shape.n; /* with the diagonal */
  i->levels = d->profile.levels;
  i->widest = d->widest;
  i->plan_bytes_host = sizeof *s;
  for (int o = 0; o < 2; o++)
    if (s->of[o].starts) i->plan_bytes_host += ((size_t)s->of[o].profile.levels + 1) * sizeof *s->of[o].starts;
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
    i->threads = d->rows.lanes;
    i->waits = d->rows.steps ? 0 : d->triangle.nnz;
    i->barriers = d->rows.steps ? d->rows.steps - 1 : 0;
    if (d->rows.steps) i->launches = gik_rows_cuda_launches(&d->rows);
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
    i->launches = d->method == GI_ELMR ? 1 : 3;
    i->waits = d->method == GI_ELMR ? d->triangle.nnz : d->triangle.n;
    i->atomics = d->method == GI_ELMR ? 0 : 2 * (gable_off)d->triangle.nnz;
  }
  return GABLE_OK;
}

/* *list: the rows of the triangle in the order in which d's method stores them, ~0 for none; *count of them. */
static gable_status stored_order(const gable_trisolve *t, const op_plan *d, unsigned **list, size_t *count)
{
  gable_status status = GABLE_OK;
  const unsigned *from = d->method == GI_TILES || d->method == GI_ROWS ? d->row_at : d->seed.order;
  *count = (size_t)d->triangle.n;
  if (d->method == GI_TILES)
    *count = (size_t)d->tiles.n_records * (32 * (size_t)d->tiles.warps / (size_t)d->tiles.lanes);
  if (d->method == GI_ROWS) *count = (size_t)d->rows.n_records * (32 / (size_t)d->rows.lanes);
  GI_TRY(host_take(t->ctx, *count, list));
  if (from)
    GI_TRY(gi_mailbox_fetch(t->ctx, gi_own_stream(t->ctx), *list, from, *count * sizeof **list));
  else
    for (size_t k = 0; k < *count; k++) (*list)[k] = (unsigned)k;
done:
  return status;
}

gable_status cuda_schedule(const gable_trisolve *t, gable_op op, gable_idx *order, gable_idx *level)
{
  gable_status status = GABLE_OK;
  const state *s = (const state *)t->state;
  const op_plan *d = solving(&s->of[op]);
  const size_t n = (size_t)d->triangle.n;
  unsigned *row = nullptr, *list = nullptr;
  unsigned long long *levels = nullptr;
  size_t count = 0, q = 0, again = d->method == GI_ROWS && d->rows.variable ? 32 / (size_t)d->rows.lanes : 0;
  current_device here;
  GI_TRY(here.enter(gi_cuda_ordinal(t->ctx)));
  GI_REQUIRE(d->level, GABLE_ERR_UNAVAILABLE, "no schedule was asked for this op (options.ops)");
  GI_TRY(host_take(t->ctx, n, &row));
  GI_TRY(host_take(t->ctx, n, &levels));
  GI_TRY(gi_mailbox_fetch(t->ctx, gi_own_stream(t->ctx), row, d->triangle.row, n * sizeof *row));
  GI_TRY(gi_mailbox_fetch(t->ctx, gi_own_stream(t->ctx), levels, d->level, n * sizeof *levels));
  GI_TRY(stored_order(t, d, &list, &count));
  for (size_t i = 0; i < count; i++) {
    const unsigned k = list[i];
    if (k == NONE || row[k] == NONE) continue;                 /* no row, or a part of one */
    if (again && i >= again && list[i - again] == k) continue; /* the record before is of the same row */
    if (order) order[q++] = (gable_idx)row[k];
    if (level) level[row[k]] = (gable_idx)(levels[k] >> 32);
  }
done:
  gi_free(t->ctx, row);
  gi_free(t->ctx, list);
  gi_free(t->ctx, levels);
  return status;
}

} /* namespace gi */
