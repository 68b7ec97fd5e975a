/* smoother.c: the smoother, from its options to its sweeps; a kind of sweeps does the work. */
#include "smooth/smoother.h"

#include <math.h>
#include <stdatomic.h>

#include "base/options.h"
#include "device/device.h"
#include "sparse/symmetry.h"

/* What analyse made, until the smoother and the last work have done with it. */
typedef struct gi_sweep_plan {
  gable_context *ctx;
  const gi_sweep_kind *kind;
  void *state;
  atomic_int users;
} gi_sweep_plan;

static void drop_plan(gi_sweep_plan *p)
{
  if (!p || atomic_fetch_sub(&p->users, 1) > 1) return;
  p->kind->release(p->state);
  gi_free(p->ctx, p);
}

/* The works that were made so far keep the plan; s has none. */
static void forget_plan(gable_smoother *s)
{
  gi_smoother_work_destroy(&s->own);
  drop_plan(s->plan);
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

/* Methods that work on lists of rows in host memory; the others take the matrix whole, where the device has it. */
static int by_lists(const gable_context *ctx, gi_method m)
{
  return ctx->device->vectors->space == GABLE_SPACE_HOST &&
         (m == GI_SERIAL || m == GI_LEVR || m == GI_TILES || m == GI_AUTO);
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
  s->kind = by_lists(ctx, method) ? &gi_sweeps_lists : &gi_sweeps_whole;
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
  if (s->plan && s->kind->set_stream) s->kind->set_stream(s->plan->state, s->stream);
  if (s->own && s->kind->work_set_stream) s->kind->work_set_stream(s->own->state, s->stream);
}

gable_status gi_smoother_analyse(gable_smoother *s, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  gable_idx bad_row;
  gable_matrix_view pattern;
  gi_sweep_plan *plan = NULL;
  forget_plan(s);
  s->updated = 0;
  GI_TRY(gi_shape_from(a, GABLE_PART_LOWER, &s->shape));
  GI_REQUIRE(s->shape.space == GABLE_SPACE_HOST || s->ctx->device->vectors->space == GABLE_SPACE_DEVICE,
             GABLE_ERR_UNAVAILABLE, "the matrix is in device memory, this context is %s", s->ctx->where);
  GI_REQUIRE(a->structure == GABLE_STRUCTURE_GENERAL || a->part == GABLE_PART_FULL, GABLE_ERR_ARGUMENT,
             "one triangle of a symmetric matrix: sweeps want both, gable_matrix_expand makes them");
  GI_TRY(s->ctx->device->enter(s->ctx, &before));
  GI_TRY(s->ctx->device->order_after(s->ctx, gi_own_stream(s->ctx), s->stream));
  GI_ALLOC_ZERO(s->ctx, plan, 1);
  plan->ctx = s->ctx;
  plan->kind = s->kind;
  atomic_init(&plan->users, 1);
  GI_TRY(s->kind->analyse(s->ctx, &s->shape, a, s->method, &s->options, &bad_row, &plan->state));
  pattern = *a;
  pattern.val = NULL; /* no sweep trusts in symmetric values */
  GI_TRY(gi_symmetry_check_view(s->ctx, &pattern));
  s->plan = plan;
  plan = NULL;
  pass_stream(s);
done:
  drop_plan(plan);
  s->ctx->device->leave(s->ctx, before);
  return status;
}

gable_status gi_smoother_update(gable_smoother *s, const void *val)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  gable_idx bad_row;
  s->updated = 0;
  GI_TRY(s->ctx->device->enter(s->ctx, &before));
  GI_TRY(s->kind->update(s->plan->state, val, &bad_row));
  pass_stream(s);
  s->updated = 1;
done:
  s->ctx->device->leave(s->ctx, before);
  return status;
}

gable_status gi_smoother_own_work(gable_smoother *s)
{
  gable_status status = GABLE_OK;
  if (s->own) goto done;
  GI_TRY(gi_smoother_work_create(s, &s->own));
  pass_stream(s);
done:
  return status;
}

gable_status gi_smoother_work_create(const gable_smoother *s, gable_smoother_work **out)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  gable_smoother_work *w = NULL;
  *out = NULL;
  GI_TRY(s->ctx->device->enter(s->ctx, &before));
  GI_ALLOC_ZERO(s->ctx, w, 1);
  w->smoother = s;
  w->plan = s->plan;
  atomic_fetch_add(&w->plan->users, 1);
  GI_TRY(s->kind->work_create(w->plan->state, &w->state));
  *out = w;
  w = NULL;
done:
  gi_smoother_work_destroy(&w);
  s->ctx->device->leave(s->ctx, before);
  return status;
}

void gi_smoother_work_destroy(gable_smoother_work **work)
{
  if (!work || !*work) return;
  gable_smoother_work *w = *work;
  gable_context *ctx = w->plan->ctx;
  *work = NULL;
  w->plan->kind->work_release(w->state);
  drop_plan(w->plan);
  gi_free(ctx, w);
}

gable_status gi_smoother_work_apply(gable_smoother_work *w, const gable_vectors_view *b, gable_vectors_view *x,
                                    int from_zero, int sweeps, double *history)
{
  gable_status status = GABLE_OK;
  const gable_smoother *s = w->smoother;
  int before = GI_NOT_ENTERED;
  gi_sweep_run all = {.type = b->type, .space = b->space, .from_zero = from_zero, .sweeps = sweeps, .history = history};
  all.b = b->data;
  all.x = x->data;
  gi_strides_of(b, &all.b_step, &all.b_rhs);
  gi_strides_of(x, &all.x_step, &all.x_rhs);
  GI_TRY(s->ctx->device->enter(s->ctx, &before));
  for (int k = 0; history && k <= sweeps; k++) history[k] = 0;
  for (gable_off j = 0; j < b->count && b->n; j += s->options.max_rhs) {
    gi_sweep_run some = gi_sweep_column(&all, (gable_idx)j);
    some.count = b->count - j < s->options.max_rhs ? (gable_idx)(b->count - j) : s->options.max_rhs;
    GI_TRY(s->kind->apply(w->state, &some));
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
  const gi_sweep_plan *p = w->plan;
  if (p->kind->work_set_stream) p->kind->work_set_stream(w->state, gi_stream_of(p->ctx, stream));
}

void gi_smoother_info(const gable_smoother *s, gable_smoother_info *info)
{
  s->kind->info(s->plan->state, info);
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
  gable_context *ctx = w->plan->ctx;
  gable_idx none;
  GI_TRY(ctx->device->enter(ctx, &before));
  GI_TRY(w->plan->kind->status(w->state, row ? row : &none));
done:
  ctx->device->leave(ctx, before);
  return status;
}

gable_status gi_smoother_status(gable_smoother *s, gable_idx *row)
{
  if (row) *row = -1;
  return s->own ? gi_smoother_work_status(s->own, row) : GABLE_OK;
}
