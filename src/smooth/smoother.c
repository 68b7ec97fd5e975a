/* smoother.c: the smoother, from its options to its sweeps; a kind of sweeps does the work. */
#include "smooth/smoother.h"

#include <math.h>

#include "base/options.h"
#include "device/device.h"
#include "sparse/symmetry.h"

static gable_status fill_options(const gable_context *ctx, gable_smoother_options *o)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(o->sweep >= GABLE_SWEEP_FORWARD && o->sweep <= GABLE_SWEEP_SYMMETRIC, GABLE_ERR_ARGUMENT, "sweep is %d",
             (int)o->sweep);
  GI_REQUIRE(o->omega > 0 && o->omega < 2, GABLE_ERR_ARGUMENT, "omega is %g: it must lie between 0 and 2", o->omega);
  GI_REQUIRE(o->deadline_s >= 0 && o->deadline_s <= 1e9, GABLE_ERR_ARGUMENT, "deadline_s is %g", o->deadline_s);
  GI_TRY(gi_options_threads(&o->threads, ctx->threads, ctx->threads));
  GI_REQUIRE(o->max_rhs >= 0, GABLE_ERR_ARGUMENT, "max_rhs is %d", o->max_rhs);
  if (!o->max_rhs) o->max_rhs = 1;
  if (o->deadline_s == 0) o->deadline_s = 10;
done:
  return status;
}

/* Methods that work on lists of rows in host memory; the others take the matrix whole, where the device has it. */
static int by_lists(const gable_context *ctx, gi_method m)
{
  return ctx->device->kind != GI_ON_CUDA && (m == GI_SERIAL || m == GI_LEVR || m == GI_TILES || m == GI_AUTO);
}

static gable_status method_from(const gable_context *ctx, const char *name, gi_method *out)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_method_from(ctx, name, out));
  GI_REQUIRE(ctx->device->kind != GI_ON_MIRROR || by_lists(ctx, *out), GABLE_ERR_UNAVAILABLE,
             "sweeps by method %s do not run on the mirror: say serial, levr, tiles or auto", name);
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
  GI_TRY(method_from(ctx, own.method, &method));
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
  p->kind->release(p->state);
  gi_free(p->ctx, p);
}

/* To the state, once there is one. */
static void pass_stream(gable_smoother *s)
{
  if (s->state && s->kind->set_stream) s->kind->set_stream(s->state, s->stream);
}

gable_status gi_smoother_analyse(gable_smoother *s, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  gable_idx bad_row;
  gable_matrix_view pattern;
  s->kind->release(s->state);
  s->state = NULL;
  s->updated = 0;
  GI_TRY(gi_shape_from(a, GABLE_PART_LOWER, &s->shape));
  GI_REQUIRE(s->shape.space == GABLE_SPACE_HOST || s->ctx->device->kind == GI_ON_CUDA, GABLE_ERR_UNAVAILABLE,
             "the matrix is in device memory, this context is %s", s->ctx->where);
  GI_REQUIRE(a->structure == GABLE_STRUCTURE_GENERAL || a->part == GABLE_PART_FULL, GABLE_ERR_ARGUMENT,
             "one triangle of a symmetric matrix: sweeps want both, gable_matrix_expand makes them");
  GI_TRY(s->ctx->device->enter(s->ctx, &before));
  GI_TRY(s->ctx->device->order_after(s->ctx, gi_own_stream(s->ctx), s->stream));
  GI_TRY(s->kind->analyse(s->ctx, &s->shape, a, s->method, &s->options, &bad_row, &s->state));
  pass_stream(s);
  pattern = *a;
  pattern.val = NULL; /* no sweep trusts in symmetric values */
  status = gi_symmetry_check_view(s->ctx, &pattern);
  if (status) s->kind->release(s->state);
  if (status) s->state = NULL;
  GI_TRY(status);
done:
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
  GI_TRY(s->kind->update(s->state, val, &bad_row));
  s->updated = 1;
done:
  s->ctx->device->leave(s->ctx, before);
  return status;
}

gable_status gi_smoother_apply(gable_smoother *s, const gable_vectors_view *b, gable_vectors_view *x, int sweeps,
                               double *history)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  gi_sweep_run all = {.type = b->type, .space = b->space, .sweeps = sweeps, .history = history};
  all.b = b->data;
  all.x = x->data;
  gi_strides_of(b, &all.b_step, &all.b_rhs);
  gi_strides_of(x, &all.x_step, &all.x_rhs);
  GI_TRY(s->ctx->device->enter(s->ctx, &before));
  for (int k = 0; history && k <= sweeps; k++) history[k] = 0;
  for (gable_off j = 0; j < b->count && b->n; j += s->options.max_rhs) {
    gi_sweep_run some = gi_sweep_column(&all, (gable_idx)j);
    some.count = b->count - j < s->options.max_rhs ? (gable_idx)(b->count - j) : s->options.max_rhs;
    GI_TRY(s->kind->apply(s->state, &some));
  }
  for (int k = 0; history && k <= sweeps; k++) history[k] = sqrt(history[k]);
done:
  s->ctx->device->leave(s->ctx, before);
  return status;
}

void gi_smoother_set_stream(gable_smoother *s, void *stream)
{
  s->stream = gi_stream_of(s->ctx, stream);
  pass_stream(s);
}

gable_status gi_smoother_status(gable_smoother *s, gable_idx *row)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  gable_idx none;
  GI_TRY(s->ctx->device->enter(s->ctx, &before));
  GI_TRY(s->kind->status(s->state, row ? row : &none));
done:
  s->ctx->device->leave(s->ctx, before);
  return status;
}
