/* cluster_solver.c: operators, lists and tiles in device memory, and work vectors. */
#include "base/type_size.h"
#include "device/device.h"
#include "supernodal/cluster_state.h"

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
  GI_TRY(gi_cluster_to_device(ctx, side->ptr, c->count + 1, sizeof *out->ptr, (void **)&out->ptr, &s->bytes));
  GI_TRY(gi_cluster_to_device(ctx, side->row, slots, sizeof *out->row, (void **)&out->row, &s->bytes));
  GI_TRY(gi_cluster_to_device(ctx, side->in_ptr, positions + 1, sizeof *out->in_ptr, (void **)&out->in_ptr, &s->bytes));
  GI_TRY(gi_cluster_to_device(ctx, side->in_slot, slots, sizeof *out->in_slot, (void **)&out->in_slot, &s->bytes));
done:
  return status;
}

static gable_status values_to_device(gi_cluster_solver *s, const gable_off *at, gi_device_side *out)
{
  gable_status status = GABLE_OK;
  const gable_idx count = s->panels->clusters->count;
  GI_TRY(gi_cluster_to_device(s->ctx, at, count + 1, sizeof *at, (void **)&out->value_at, &s->bytes));
  GI_TRY(gi_cluster_to_device(s->ctx, NULL, at[count], gi_type_size(s->panels->type), &out->values, &s->bytes));
done:
  return status;
}

static gable_status off_to_device(gi_cluster_solver *s)
{
  gable_status status = GABLE_OK;
  const gi_cluster_panels *p = s->panels;
  const gable_idx n = p->clusters->n;
  for (int side = 0; side < 2 && p->off[0]; side++) {
    const gable_off nnz = p->off_ptr[side][n];
    GI_TRY(gi_cluster_to_device(s->ctx, p->off_ptr[side], n + 1, sizeof(gable_off), (void **)&s->off_ptr[side],
                                &s->bytes));
    GI_TRY(
        gi_cluster_to_device(s->ctx, p->off_col[side], nnz, sizeof(gable_idx), (void **)&s->off_col[side], &s->bytes));
    GI_TRY(gi_cluster_to_device(s->ctx, NULL, nnz, gi_type_size(p->type), &s->off[side], &s->bytes));
  }
done:
  return status;
}

static gable_status outside_to_device(gi_cluster_solver *s, const gi_cluster_outside *o)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = s->ctx;
  const gi_clusters *c = s->panels->clusters;
  const gable_idx *perm[] = {NULL, o->row_perm, o->col_perm};
  gable_idx **out[] = {&s->order, &s->rows, &s->cols}, *place = NULL;
  GI_ALLOC(ctx, place, c->n);
  for (int side = 0; side < 3; side++) {
    for (gable_idx k = 0; k < c->n; k++) place[k] = perm[side] ? perm[side][c->order[k]] : c->order[k];
    GI_TRY(gi_cluster_to_device(ctx, place, c->n, sizeof *place, (void **)out[side], &s->bytes));
    GI_TRY(ctx->device->synchronise(ctx, NULL)); /* before place changes */
  }
  if (o->row_scale)
    GI_TRY(gi_cluster_to_device(ctx, NULL, c->n, sizeof *s->row_scale, (void **)&s->row_scale, &s->bytes));
  if (o->col_scale)
    GI_TRY(gi_cluster_to_device(ctx, NULL, c->n, sizeof *s->col_scale, (void **)&s->col_scale, &s->bytes));
done:
  gi_free(ctx, place);
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
  GI_TRY(gi_cluster_to_device(ctx, c->first, c->count + 1, sizeof *c->first, (void **)&s->first, &s->bytes));
  GI_TRY(side_to_device(s, &c->l, &s->l));
  GI_TRY(values_to_device(s, panels->lower_at, &s->l));
  if (panels->upper) {
    if (c->layout->symmetric)
      s->u = s->l;
    else
      GI_TRY(side_to_device(s, &c->u, &s->u));
    s->u.value_at = NULL;
    s->u.values = NULL;
    GI_TRY(values_to_device(s, panels->upper_at, &s->u));
  }
  GI_TRY(gi_cluster_to_device(ctx, NULL, c->n, sizeof *s->dinv, (void **)&s->dinv, &s->bytes));
  if (panels->coupling)
    GI_TRY(gi_cluster_to_device(ctx, NULL, c->n, sizeof *s->coupling, (void **)&s->coupling, &s->bytes));
  GI_TRY(off_to_device(s));
  GI_TRY(outside_to_device(s, outside ? outside : &none));
  GI_TRY(gi_cluster_dataflow_create(ctx, panels, outside ? outside : &none, &s->flow));
  GI_TRY(gi_cluster_tiles_make(s));
  *out = s;
  s = NULL;
done:
  gi_cluster_solver_destroy(ctx, &s);
  return status;
}

static void release_lists(gable_context *ctx, gi_device_side *side)
{
  ctx->device->release(ctx, side->ptr);
  ctx->device->release(ctx, side->row);
  ctx->device->release(ctx, side->in_ptr);
  ctx->device->release(ctx, side->in_slot);
}

void gi_cluster_solver_destroy(gable_context *ctx, gi_cluster_solver **solver)
{
  gi_cluster_solver *s = solver ? *solver : NULL;
  if (!s) return;
  *solver = NULL;
  if (s->u.ptr != s->l.ptr) release_lists(ctx, &s->u);
  release_lists(ctx, &s->l);
  void *own[] = {s->first,    s->l.value_at, s->l.values,   s->u.value_at, s->u.values,   s->dinv,
                 s->coupling, s->off_ptr[0], s->off_ptr[1], s->off_col[0], s->off_col[1], s->off[0],
                 s->off[1],   s->order,      s->rows,       s->cols,       s->row_scale,  s->col_scale};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) ctx->device->release(ctx, own[k]);
  gi_cluster_dataflow_destroy(ctx, &s->flow);
  for (int k = 0; k < GI_PRODUCTS; k++) {
    ctx->device->release(ctx, s->tiles[k].tile);
    gi_free(ctx, s->tiles[k].ptr);
  }
  gi_free(ctx, s);
}

static gable_status refresh(gi_cluster_solver *s, void *to, const void *from, gable_off count, size_t size,
                            void *stream)
{
  return to && count ? s->ctx->device->copy_in(s->ctx, to, from, (size_t)count * size, stream) : GABLE_OK;
}

gable_status gi_cluster_solver_update(gi_cluster_solver *s, const gi_cluster_outside *outside, void *stream)
{
  gable_status status = GABLE_OK;
  const gi_cluster_panels *p = s->panels;
  const gable_idx n = p->clusters->n, count = p->clusters->count;
  const size_t size = gi_type_size(p->type);
  const void *const values[] = {s->l.values, s->u.values};
  GI_TRY(refresh(s, s->l.values, p->lower, p->lower_at[count], size, stream));
  if (p->upper) GI_TRY(refresh(s, s->u.values, p->upper, p->upper_at[count], size, stream));
  GI_TRY(refresh(s, s->dinv, p->dinv, n, sizeof *p->dinv, stream));
  if (s->row_scale) GI_TRY(refresh(s, s->row_scale, outside->row_scale, n, sizeof *p->dinv, stream));
  if (s->col_scale) GI_TRY(refresh(s, s->col_scale, outside->col_scale, n, sizeof *p->dinv, stream));
  GI_TRY(refresh(s, s->coupling, p->coupling, n, sizeof *p->dinv, stream));
  for (int side = 0; side < 2 && p->off[0]; side++)
    GI_TRY(refresh(s, s->off[side], p->off[side], p->off_ptr[side][n], size, stream));
  GI_TRY(gi_cluster_dataflow_update(s->flow, values, stream));
done:
  return status;
}

gable_off gi_cluster_solver_bytes(const gi_cluster_solver *s)
{
  return s->bytes + gi_cluster_dataflow_bytes(s->flow);
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
  w->rhs = max_rhs <= 1 ? 1 : max_rhs <= 4 ? 4 : GIK_CLUSTER_MOST_RHS;
  GI_TRY(gi_cluster_to_device(ctx, NULL, (gable_off)c->n * w->rhs, sizeof *w->v, (void **)&w->v, NULL));
  GI_TRY(gi_cluster_to_device(ctx, NULL, (gable_off)c->n * w->rhs, sizeof *w->y, (void **)&w->y, NULL));
  GI_TRY(gi_cluster_to_device(ctx, NULL, slots * w->rhs, sizeof *w->slots, (void **)&w->slots, NULL));
  GI_TRY(gi_cluster_to_device(ctx, NULL, s->partials * w->rhs, sizeof *w->partial, (void **)&w->partial, NULL));
  GI_TRY(gi_cluster_to_device(ctx, NULL, s->counters, sizeof *w->counter, (void **)&w->counter, NULL));
  GI_TRY(ctx->device->fill(ctx, w->counter, 0, (size_t)s->counters * sizeof *w->counter, NULL));
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
  void *own[] = {w->v, w->y, w->slots, w->partial, w->counter};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) ctx->device->release(ctx, own[k]);
  gi_dataflow_work_destroy(ctx, &w->flow);
  gi_free(ctx, w);
}
