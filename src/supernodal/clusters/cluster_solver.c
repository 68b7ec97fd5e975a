/* cluster_solver.c: operators and lists in device memory, and work vectors. */
#include "base/type_size.h"
#include "supernodal/clusters/cluster_preparation.h"

gable_status gi_cluster_to_device(gable_context *ctx, const void *host, gable_off count, size_t size, void **out,
                                  gable_off *bytes)
{
  gable_status status = GABLE_OK;
  const size_t all = (size_t)count * size;
  GI_TRY(ctx->device->alloc(ctx, all, out));
  if (bytes) *bytes += (gable_off)all;
  if (host && all) GI_TRY(ctx->device->copy_in(ctx, *out, host, all, NULL));
done:
  return status;
}

static gable_status side_to_device(gi_cluster_solver *s, const gi_cluster_side *side, gi_device_side *out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = s->ctx;
  const gi_clusters *c = s->panels->clusters;
  const gable_off slots = side->ptr[c->count], positions = c->n + slots;
  GI_TRY(gi_cluster_list_to_device(ctx, s->panels, side->row, slots, sizeof *out->row, (void **)&out->row, &s->bytes));
  GI_TRY(gi_cluster_list_to_device(ctx, s->panels, side->in_ptr, positions + 1, sizeof *out->in_ptr,
                                   (void **)&out->in_ptr, &s->bytes));
  GI_TRY(gi_cluster_list_to_device(ctx, s->panels, side->in_slot, slots, sizeof *out->in_slot, (void **)&out->in_slot,
                                   &s->bytes));
done:
  return status;
}

static gable_status scales_to_device(gi_cluster_solver *s, const gi_cluster_outside *o)
{
  gable_status status = GABLE_OK;
  const gable_idx n = s->panels->clusters->n;
  if (o->row_scale)
    GI_TRY(gi_cluster_to_device(s->ctx, NULL, n, sizeof *s->row_scale, (void **)&s->row_scale, &s->bytes));
  if (o->col_scale)
    GI_TRY(gi_cluster_to_device(s->ctx, NULL, n, sizeof *s->col_scale, (void **)&s->col_scale, &s->bytes));
done:
  return status;
}

gable_status gi_cluster_solver_create(gable_context *ctx, const gi_cluster_panels *panels,
                                      const gi_cluster_outside *outside, gi_cluster_solver **out)
{
  const gi_cluster_outside none = {0};
  gable_status status = GABLE_OK;
  const gi_clusters *c = panels->clusters;
  gi_cluster_solver *s = NULL;
  GI_ALLOC_ZERO(ctx, s, 1);
  s->ctx = ctx;
  s->panels = panels;
  s->steps = ctx->device->kernels->cluster_steps;
  s->first = panels->lists.first;
  s->order = panels->lists.order;
  s->dinv = panels->dinv;
  s->coupling = panels->coupling;
  GI_TRY(side_to_device(s, &c->l, &s->l));
  if (panels->upper && c->layout->symmetric) s->u = s->l;
  if (panels->upper && !c->layout->symmetric) GI_TRY(side_to_device(s, &c->u, &s->u));
  for (int side = 0; side < (panels->upper ? 2 : 1); side++) {
    gi_device_side *to = side ? &s->u : &s->l;
    to->ptr = panels->lists.ptr[side];
    to->value_at = panels->lists.at[side];
    to->values = side ? panels->upper : panels->lower;
  }
  GI_TRY(scales_to_device(s, outside ? outside : &none));
  GI_TRY(gi_cluster_dataflow_create(ctx, panels, outside ? outside : &none, &s->flow));
  *out = s;
  s = NULL;
done:
  gi_cluster_solver_destroy(ctx, &s);
  return status;
}

static void release_lists(gable_context *ctx, gi_device_side *side)
{
  ctx->device->release(ctx, side->row);
  ctx->device->release(ctx, side->in_ptr);
  ctx->device->release(ctx, side->in_slot);
}

void gi_cluster_solver_destroy(gable_context *ctx, gi_cluster_solver **solver)
{
  gi_cluster_solver *s = solver ? *solver : NULL;
  if (!s) return;
  *solver = NULL;
  if (s->u.row != s->l.row) release_lists(ctx, &s->u);
  release_lists(ctx, &s->l);
  ctx->device->release(ctx, s->row_scale);
  ctx->device->release(ctx, s->col_scale);
  gi_cluster_dataflow_destroy(ctx, &s->flow);
  gi_free(ctx, s);
}

gable_status gi_cluster_solver_update(gi_cluster_solver *s, const gi_cluster_outside *outside, void *stream)
{
  gable_status status = GABLE_OK;
  const size_t bytes = (size_t)s->panels->clusters->n * sizeof *s->row_scale;
  if (s->row_scale && bytes) GI_TRY(s->ctx->device->copy_in(s->ctx, s->row_scale, outside->row_scale, bytes, stream));
  if (s->col_scale && bytes) GI_TRY(s->ctx->device->copy_in(s->ctx, s->col_scale, outside->col_scale, bytes, stream));
  GI_TRY(gi_cluster_dataflow_update(s->flow, stream));
done:
  return status;
}

gable_off gi_cluster_solver_bytes(const gi_cluster_solver *s)
{
  return s->bytes + s->panels->device_bytes + gi_cluster_dataflow_bytes(s->flow);
}

double gi_cluster_floor_bytes(const gi_cluster_solver *s, gable_idx rhs)
{
  const gi_cluster_panels *p = s->panels;
  const gi_clusters *c = p->clusters;
  const gable_off lower = p->lower_at[c->count], upper = p->upper ? p->upper_at[c->count] : lower;
  const gable_off values = lower + upper - p->inverse_at[c->count]; /* one of w x w, not two */
  const double rows = (double)(c->l.ptr[c->count] + c->u.ptr[c->count]);
  return (double)values * (double)gi_type_size(p->type) + 4 * rows + 16.0 * c->n * rhs;
}

/* ---- the work ---- */

gable_status gi_cluster_work_create(const gi_cluster_solver *s, gable_idx max_rhs, gi_cluster_work **out)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = s->panels->clusters;
  const gable_off slots = c->l.ptr[c->count] > c->u.ptr[c->count] ? c->l.ptr[c->count] : c->u.ptr[c->count];
  gable_context *ctx = s->ctx;
  gi_cluster_work *w = NULL;
  GI_ALLOC_ZERO(ctx, w, 1);
  w->ctx = ctx;
  w->solver = s;
  w->rhs = gik_cluster_width(max_rhs);
  GI_TRY(gi_cluster_to_device(ctx, NULL, (gable_off)c->n * w->rhs, sizeof *w->v, (void **)&w->v, NULL));
  GI_TRY(gi_cluster_to_device(ctx, NULL, (gable_off)c->n * w->rhs, sizeof *w->y, (void **)&w->y, NULL));
  GI_TRY(gi_cluster_to_device(ctx, NULL, slots * w->rhs, sizeof *w->slots, (void **)&w->slots, NULL));
  GI_TRY(gi_dataflow_work_create(s->flow, w->rhs, &w->flow));
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* solves may run on other streams */
  *out = w;
  w = NULL;
done:
  gi_cluster_work_destroy(&w);
  return status;
}

void gi_cluster_work_destroy(gi_cluster_work **work)
{
  gi_cluster_work *w = work ? *work : NULL;
  if (!w) return;
  *work = NULL;
  gable_context *ctx = w->ctx;
  void *own[] = {w->v, w->y, w->slots};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) ctx->device->release(ctx, own[k]);
  gi_dataflow_work_destroy(ctx, &w->flow);
  gi_free(ctx, w);
}
