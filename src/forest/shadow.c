/* shadow.c: see shadow.h.  The host's side of each copy is pinned: a copy of pageable memory behind a kernel that waits
 * may hold up the launches of other ranks on its device. */
#include "forest/shadow.h"

#include <string.h>

#include "base/checked.h"

/* An array that no edge touches needs none: it may be NULL, or shorter than a field. */
static gable_status make_shadow(const gable_plan *p, int roots, gi_arena *m, gi_shadow *s)
{
  gable_status status = GABLE_OK;
  const gable_plan_options *o = &p->options;
  const int64_t stride = roots ? o->root_stride : o->leaf_stride;
  const int64_t items = roots ? p->forest->root_space : p->forest->leaf_space;
  void *device = NULL, *pinned = NULL;
  if ((roots ? o->root_space : o->leaf_space) == GABLE_SPACE_DEVICE || !items) goto done;
  s->bytes = ((o->fields - 1) * stride + items) * p->item; /* gi_forest_plan_create has checked it */
  GI_TRY(gi_arena_take(m, (size_t)s->bytes, &device));
  GI_TRY(m->ctx->device->pinned_alloc(m->ctx, (size_t)s->bytes, &pinned));
  s->device = device;
  s->pinned = pinned;
done:
  return status;
}

gable_status gi_shadows_create(const gable_plan *p, gi_arena *m, gi_shadows *s)
{
  gable_status status = GABLE_OK;
  const int down = p->moves == GABLE_DIRECTION_BCAST;
  GI_TRY(make_shadow(p, down, m, &s->from));
  GI_TRY(make_shadow(p, !down, m, &s->to));
  if (p->moves == GABLE_DIRECTION_FETCH) GI_TRY(make_shadow(p, 0, m, &s->update));
done:
  return status;
}

void gi_shadows_release(gable_context *ctx, gi_shadows *s)
{
  gi_shadow *const all[] = {&s->from, &s->to, &s->update};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    if (all[k]->pinned) ctx->device->pinned_release(ctx, all[k]->pinned);
}

int gi_shadows_any(const gi_shadows *s)
{
  return s->from.pinned || s->to.pinned || s->update.pinned;
}

/* The caller's array. */
static gable_status copy_in(gable_context *ctx, gi_shadow *s, const char *array, void *stream)
{
  if (!s->pinned) return GABLE_OK;
  memcpy(s->pinned, array, (size_t)s->bytes);
  return ctx->device->copy_in(ctx, s->device, s->pinned, (size_t)s->bytes, stream);
}

gable_status gi_shadows_in(gable_exchange *x, gi_shadows *s, void *stream)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = x->plan->forest->ctx;
  s->to.users = s->to.pinned ? x->to : NULL;
  s->update.users = s->update.pinned ? x->update : NULL;
  GI_TRY(copy_in(ctx, &s->from, x->from, stream));
  GI_TRY(copy_in(ctx, &s->to, x->to, stream));
  GI_TRY(copy_in(ctx, &s->update, x->update, stream));
  if (s->from.pinned) x->from = s->from.device;
  if (s->to.pinned) x->to = s->to.device;
  if (s->update.pinned) x->update = s->update.device;
done:
  return status;
}

static gable_status copy_out(gable_context *ctx, gi_shadow *s, void *stream)
{
  return s->users ? ctx->device->copy_out(ctx, s->pinned, s->device, (size_t)s->bytes, stream) : GABLE_OK;
}

gable_status gi_shadows_out(const gable_exchange *x, gi_shadows *s, void *stream)
{
  gable_context *ctx = x->plan->forest->ctx;
  const gable_status status = copy_out(ctx, &s->to, stream);
  return status ? status : copy_out(ctx, &s->update, stream);
}

/* Entries with an edge, of every field. */
static void put_entries(const gable_plan *p, const gi_forest_side *side, int64_t stride, const gi_shadow *s)
{
  for (int64_t f = 0; s->users && f < p->options.fields; f++)
    for (int k = 0; k < side->n; k++)
      gik_combine_maps(p->copy, s->users + f * stride * p->item, &side->map[k], s->pinned + f * stride * p->item,
                       &side->map[k], p->options.count);
}

void gi_shadows_put(const gable_exchange *x, const gi_shadows *s)
{
  const gable_plan *p = x->plan;
  const gi_forest_side *to = gi_in_side(p);
  put_entries(p, to, to == &p->forest->roots ? p->options.root_stride : p->options.leaf_stride, &s->to);
  put_entries(p, &p->forest->leaves, p->options.leaf_stride, &s->update);
}
