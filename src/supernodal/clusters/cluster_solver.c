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

static gable_status find_most_inputs(gi_cluster_solver *s, const gi_cluster_side *side, gi_device_side *out)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = s->panels->clusters;
  for (int forward = 0; forward < 2; forward++) {
    GI_ALLOC_ZERO(s->ctx, out->most_inputs[forward], c->n_levels);
    for (gable_idx l = 0; l < c->n_levels; l++)
      for (gable_idx j = c->level_ptr[l]; j < c->level_ptr[l + 1]; j++) {
        const gable_idx rows = forward ? 0 : (gable_idx)(side->ptr[j + 1] - side->ptr[j]);
        const gable_idx inputs = gi_cluster_width(c, j) + rows;
        if (inputs > out->most_inputs[forward][l]) out->most_inputs[forward][l] = inputs;
      }
  }
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
  GI_TRY(find_most_inputs(s, side, out));
  GI_TRY(gi_cluster_list_to_device(ctx, s->panels, side->in_slot, slots, sizeof *out->in_slot, (void **)&out->in_slot,
                                   &s->bytes));
done:
  return status;
}

/* Where each entry of the caller's is in solve order; perm NULL: of A'. */
static gable_status place_to_device(gi_cluster_solver *s, const gable_idx *perm, gable_idx **out)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = s->panels->clusters;
  gable_idx *place = NULL;
  GI_ALLOC(s->ctx, place, c->n);
  for (gable_idx k = 0; k < c->n; k++) place[perm ? perm[c->order[k]] : c->order[k]] = k;
  GI_TRY(gi_cluster_list_to_device(s->ctx, s->panels, place, c->n, sizeof *place, (void **)out, &s->bytes));
done:
  gi_free(s->ctx, place);
  return status;
}

static gable_status off_to_device(gi_cluster_solver *s)
{
  gable_status status = GABLE_OK;
  const gi_cluster_panels *p = s->panels;
  const gable_idx n = p->clusters->n;
  for (int side = 0; side < 2 && p->off[0]; side++) {
    GI_TRY(gi_cluster_list_to_device(s->ctx, p, p->off_ptr[side], n + 1, sizeof **s->off_ptr,
                                     (void **)&s->off_ptr[side], &s->bytes));
    GI_TRY(gi_cluster_list_to_device(s->ctx, p, p->off_col[side], p->off_ptr[side][n], sizeof **s->off_col,
                                     (void **)&s->off_col[side], &s->bytes));
  }
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
  if (!outside) outside = &none;
  GI_TRY(place_to_device(s, NULL, &s->order_of));
  GI_TRY(place_to_device(s, outside->row_perm, &s->row_of));
  GI_TRY(place_to_device(s, outside->col_perm, &s->col_of));
  GI_TRY(off_to_device(s));
  GI_TRY(scales_to_device(s, outside));
  GI_TRY(gi_cluster_dataflow_create(ctx, panels, outside, &s->flow));
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
  GI_FREE(ctx, side->most_inputs[0], side->most_inputs[1]);
}

void gi_cluster_solver_destroy(gable_context *ctx, gi_cluster_solver **solver)
{
  gi_cluster_solver *s = solver ? *solver : NULL;
  if (!s) return;
  *solver = NULL;
  if (s->u.row != s->l.row) release_lists(ctx, &s->u);
  release_lists(ctx, &s->l);
  void *const own[] = {s->order_of,   s->row_of,     s->col_of,    s->off_ptr[0], s->off_ptr[1],
                       s->off_col[0], s->off_col[1], s->row_scale, s->col_scale};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) ctx->device->release(ctx, own[k]);
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

static gable_off slots_of(const gi_clusters *c)
{
  return c->l.ptr[c->count] > c->u.ptr[c->count] ? c->l.ptr[c->count] : c->u.ptr[c->count];
}

gable_idx gi_cluster_columns(const gi_cluster_solver *s, gable_idx max_rhs)
{
  static const gable_off LEAST = (gable_off)1 << 30;
  enum { VECTORS = 9 }; /* of n: v and y here, b, x and those of the refinement and the host beside them */
  const gi_clusters *c = s->panels->clusters;
  gable_idx most = gik_cluster_columns(max_rhs < GIK_CLUSTER_MOST_WIDE ? max_rhs : GIK_CLUSTER_MOST_WIDE);
  if (most <= GIK_CLUSTER_MOST_RHS) return most;
  const gable_off bytes = gi_cluster_solver_bytes(s), room = bytes > LEAST ? bytes : LEAST;
  const gable_off column = ((gable_off)VECTORS * c->n + slots_of(c)) * (gable_off)sizeof(double);
  while (most && most * column > room) most -= GIK_CLUSTER_WIDE;
  return most ? most : GIK_CLUSTER_MOST_RHS;
}

gable_status gi_cluster_work_create(const gi_cluster_solver *s, gable_idx max_rhs, gi_cluster_work **out)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = s->panels->clusters;
  gable_context *ctx = s->ctx;
  gi_cluster_work *w = NULL;
  GI_ALLOC_ZERO(ctx, w, 1);
  w->ctx = ctx;
  w->solver = s;
  w->most = gi_cluster_columns(s, max_rhs);
  GI_TRY(gi_cluster_to_device(ctx, NULL, (gable_off)c->n * w->most, sizeof *w->v, (void **)&w->v, NULL));
  GI_TRY(gi_cluster_to_device(ctx, NULL, (gable_off)c->n * w->most, sizeof *w->y, (void **)&w->y, NULL));
  GI_TRY(gi_cluster_to_device(ctx, NULL, slots_of(c) * w->most, sizeof *w->slots, (void **)&w->slots, NULL));
  GI_TRY(gi_dataflow_work_create(s->flow, gik_cluster_width(max_rhs), &w->flow));
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
