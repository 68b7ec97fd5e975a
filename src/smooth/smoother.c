/* smoother.c: the smoother, from its options to its sweeps; sweeps.c does the work. */
#include "smooth/smoother.h"

#include <math.h>

#include "base/options.h"
#include "smooth/sweeps.h"
#include "sparse/symmetry.h"

/* The works that were made so far keep the plan; s has none. */
static void forget_plan(gable_smoother *s)
{
  gi_smoother_work_destroy(&s->own);
  gi_sweeps_drop(s->plan);
  s->plan = NULL;
}

static gable_status fill_options(const gable_context *ctx, gable_smoother_options *o)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(o->sweep >= GABLE_SWEEP_FORWARD && o->sweep <= GABLE_SWEEP_SYMMETRIC, GABLE_ERR_ARGUMENT, "sweep is %d",
             (int)o->sweep);
  GI_REQUIRE(o->omega > 0 && o->omega < 2, GABLE_ERR_ARGUMENT, "omega is %g: it must lie between 0 and 2", o->omega);
  GI_REQUIRE(o->deadline_s >= 0 && o->deadline_s <= 1e9, GABLE_ERR_ARGUMENT, "deadline_s is %g", o->deadline_s);
  GI_TRY(gi_options_threads(&o->threads, ctx->threads, ctx->threads));
  GI_REQUIRE(o->max_rhs >= 0, GABLE_ERR_ARGUMENT, "max_rhs is %d", o->max_rhs);
  GI_REQUIRE(o->solves >= 0, GABLE_ERR_ARGUMENT, "solves is %lld", (long long)o->solves);
  if (!o->max_rhs) o->max_rhs = 1;
  if (o->deadline_s == 0) o->deadline_s = 10;
done:
  return status;
}

gable_status gi_smoother_create(gable_context *ctx, const gable_smoother_options *options, gable_smoother **out)
{
  gable_status status = GABLE_OK;
  gable_smoother *s = NULL;
  gable_smoother_options own = *options;
  gi_method method = GI_AUTO;
  *out = NULL;
  GI_TRY(fill_options(ctx, &own));
  GI_TRY(gi_method_from(ctx, own.method, &method));
  GI_ALLOC_ZERO(ctx, s, 1);
  s->ctx = ctx;
  s->stream = gi_own_stream(ctx);
  s->options = own;
  s->options.method = gi_method_name(method);
  s->method = method;
  *out = s;
done:
  return status;
}

void gi_smoother_destroy(gable_smoother **s)
{
  if (!s || !*s) return;
  gable_smoother *p = *s;
  *s = NULL;
  forget_plan(p);
  gi_free(p->ctx, p);
}

/* To plan and work, once they are there. */
static void pass_stream(gable_smoother *s)
{
  if (s->plan) gi_sweeps_set_stream(s->plan, s->stream);
  if (s->own) gi_sweeps_work_set_stream(s->own, s->stream);
}

gable_status gi_smoother_analyse(gable_smoother *s, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  gable_matrix_view pattern;
  gi_sweeps *plan = NULL;
  gi_shape shape;
  GI_TRY(gi_shape_from(a, GABLE_PART_LOWER, &shape));
  GI_REQUIRE(shape.space == GABLE_SPACE_HOST || s->ctx->device->space == GABLE_SPACE_DEVICE, GABLE_ERR_UNAVAILABLE,
             "the matrix is in device memory, this context is %s", s->ctx->where);
  GI_REQUIRE(a->structure == GABLE_STRUCTURE_GENERAL || a->part == GABLE_PART_FULL, GABLE_ERR_ARGUMENT,
             "one triangle of a symmetric matrix: sweeps want both, gable_matrix_expand makes them");
  forget_plan(s);
  s->updated = 0;
  s->shape = shape;
  GI_TRY(s->ctx->device->enter(s->ctx, &before));
  GI_TRY(s->ctx->device->order_after(s->ctx, gi_own_stream(s->ctx), s->stream));
  GI_TRY(gi_sweeps_create(s->ctx, &s->shape, a, s->method, &s->options, &plan));
  pattern = *a;
  pattern.val = NULL; /* no sweep trusts in symmetric values */
  GI_TRY(gi_symmetry_check_view(s->ctx, &pattern));
  s->plan = plan;
  s->plan->reads_back |= s->reads_back;
  plan = NULL;
  pass_stream(s);
done:
  gi_sweeps_drop(plan);
  s->ctx->device->leave(s->ctx, before);
  return status;
}

gable_status gi_smoother_plan_bound(const gable_smoother *s, gable_idx n, gable_off nnz, gable_type value_type,
                                    size_t *host, size_t *device)
{
  gable_status status = GABLE_OK;
  const gi_shape shape = {.n = n, .nnz = nnz, .value_type = value_type};
  GI_TRY(gi_sweeps_bound(s->ctx, &shape, s->method, &s->options, host, device));
  *host += sizeof *s;
done:
  return status;
}

gable_status gi_smoother_update(gable_smoother *s, const void *val)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  GI_TRY(s->ctx->device->enter(s->ctx, &before));
  GI_TRY(gi_sweeps_update(s->plan, val, &s->updated));
done:
  s->ctx->device->leave(s->ctx, before);
  return status;
}

gable_status gi_smoother_own_work(gable_smoother *s)
{
  gable_status status = GABLE_OK;
  int captured = 0;
  if (s->own) goto done;
  GI_TRY(s->ctx->device->is_capturing(s->ctx, s->stream, &captured));
  if (captured) goto done;
  GI_TRY(gi_smoother_work_create(s, &s->own));
  gi_sweeps_work_set_stream(s->own, s->stream);
done:
  return status;
}

gable_status gi_smoother_work_create(const gable_smoother *s, gable_smoother_work **out)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  *out = NULL;
  GI_TRY(s->ctx->device->enter(s->ctx, &before));
  GI_TRY(gi_sweeps_work_create(s->plan, out));
  (*out)->smoother = s;
done:
  s->ctx->device->leave(s->ctx, before);
  return status;
}

void gi_smoother_work_destroy(gable_smoother_work **work)
{
  if (!work) return;
  gi_sweeps_work_destroy(*work);
  *work = NULL;
}

gable_status gi_smoother_work_apply(gable_smoother_work *w, const gable_vectors_view *b, gable_vectors_view *x,
                                    int from_zero, int sweeps, double *history)
{
  gable_status status = GABLE_OK;
  const gable_smoother *s = w->smoother;
  const gable_idx together = w->s->way->one_pass ? 1 : s->options.max_rhs;
  const ptrdiff_t bytes = (ptrdiff_t)gi_type_size(b->type);
  int before = GI_NOT_ENTERED;
  gi_sweep_run all = {.type = b->type, .space = b->space, .from_zero = from_zero, .sweeps = sweeps, .history = history};
  all.b = b->data;
  all.x = x->data;
  gi_strides_of(b, &all.b_step, &all.b_rhs);
  gi_strides_of(x, &all.x_step, &all.x_rhs);
  GI_TRY(s->ctx->device->enter(s->ctx, &before));
  for (int k = 0; history && k <= sweeps; k++) history[k] = 0;
  for (gable_off j = 0; j < b->count && b->n; j += together) {
    gi_sweep_run some = all;
    some.b = (const char *)b->data + j * all.b_rhs * bytes;
    some.x = (char *)x->data + j * all.x_rhs * bytes;
    some.count = b->count - j < together ? (gable_idx)(b->count - j) : together;
    GI_TRY(gi_sweeps_apply(w, &some));
  }
  for (int k = 0; history && k <= sweeps; k++) history[k] = sqrt(history[k]);
done:
  s->ctx->device->leave(s->ctx, before);
  return status;
}

gable_status gi_smoother_apply(gable_smoother *s, const gable_vectors_view *b, gable_vectors_view *x, int sweeps,
                               double *history)
{
  return gi_smoother_work_apply(s->own, b, x, 0, sweeps, history);
}

void gi_smoother_work_set_stream(gable_smoother_work *w, void *stream)
{
  gi_sweeps_work_set_stream(w, gi_stream_of(w->s->ctx, stream));
}

void gi_smoother_info(const gable_smoother *s, gable_smoother_info *info)
{
  gi_sweeps_info(s->plan, info);
  info->plan_bytes_host += sizeof *s;
}

void gi_smoother_set_stream(gable_smoother *s, void *stream)
{
  s->stream = gi_stream_of(s->ctx, stream);
  pass_stream(s);
}

gable_status gi_smoother_work_status(gable_smoother_work *w, gable_idx *row)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  gable_context *ctx = w->s->ctx;
  gable_idx none;
  GI_TRY(ctx->device->enter(ctx, &before));
  GI_TRY(w->s->way->status(w, row ? row : &none));
done:
  ctx->device->leave(ctx, before);
  return status;
}

gable_status gi_smoother_status(gable_smoother *s, gable_idx *row)
{
  if (row) *row = -1;
  return s->own ? gi_smoother_work_status(s->own, row) : GABLE_OK;
}
