/* smoother.c: gable_smoother: checks arguments and phases. */
#include <math.h>

#include "base/options.h"
#include "device/device.h"
#include "smooth/sweeps.h"

struct gable_smoother {
  gable_context *ctx;
  gable_smoother_options options; /* filled in */
  gi_method method;
  const gi_sweep_kind *kind;
  void *state; /* kind's; NULL before analyse */
  void *stream;
  gi_shape shape;
  int updated;
};

static gable_status options_from(const gable_context *ctx, const gable_smoother_options *given,
                                 gable_smoother_options *own)
{
  gable_status status = GABLE_OK;
  *own = (gable_smoother_options)GABLE_SMOOTHER_OPTIONS_INIT;
  GI_TRY(gi_options_take(given, own, sizeof *own, "GABLE_SMOOTHER_OPTIONS_INIT"));
  GI_REQUIRE(own->sweep >= GABLE_SWEEP_FORWARD && own->sweep <= GABLE_SWEEP_SYMMETRIC, GABLE_ERR_ARGUMENT,
             "sweep is %d", (int)own->sweep);
  GI_REQUIRE(own->omega > 0 && own->omega < 2, GABLE_ERR_ARGUMENT, "omega is %g: it must lie between 0 and 2",
             own->omega);
  GI_REQUIRE(own->deadline_s >= 0 && own->deadline_s <= 1e9, GABLE_ERR_ARGUMENT, "deadline_s is %g", own->deadline_s);
  GI_TRY(gi_options_threads(&own->threads, ctx->threads, ctx->threads));
  GI_REQUIRE(own->max_rhs >= 0, GABLE_ERR_ARGUMENT, "max_rhs is %d", own->max_rhs);
  if (!own->max_rhs) own->max_rhs = 1;
  if (own->deadline_s == 0) own->deadline_s = 10;
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

gable_status gable_smoother_create(gable_context *ctx, const gable_smoother_options *options, gable_smoother **out)
{
  gable_status status = GABLE_OK;
  gable_smoother *s = NULL;
  gable_smoother_options own;
  gi_method method = GI_AUTO;
  GI_REQUIRE(ctx && out, GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "out" : "ctx");
  *out = NULL;
  GI_TRY(options_from(ctx, options, &own));
  GI_TRY(method_from(ctx, own.method, &method));
  GI_ALLOC_ZERO(ctx, s, 1);
  s->ctx = ctx;
  s->options = own;
  s->options.method = gi_method_name(method);
  s->method = method;
  s->kind = by_lists(ctx, method) ? &gi_sweeps_lists : &gi_sweeps_whole;
  *out = s;
done:
  return status;
}

void gable_smoother_destroy(gable_smoother **s)
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

gable_status gable_smoother_analyse(gable_smoother *s, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_idx bad_row;
  GI_REQUIRE(s, GABLE_ERR_ARGUMENT, "the smoother is NULL");
  s->kind->release(s->state);
  s->state = NULL;
  s->updated = 0;
  GI_TRY(gi_shape_from(a, GABLE_PART_LOWER, &s->shape));
  GI_REQUIRE(s->shape.space == GABLE_SPACE_HOST || s->ctx->device->kind == GI_ON_CUDA, GABLE_ERR_UNAVAILABLE,
             "the matrix is in device memory, this context is %s", s->ctx->where);
  GI_TRY(s->ctx->device->enter(s->ctx));
  GI_TRY(s->kind->analyse(s->ctx, &s->shape, a, s->method, &s->options, &bad_row, &s->state));
  pass_stream(s);
done:
  return status;
}

gable_status gable_smoother_update(gable_smoother *s, const void *val)
{
  gable_status status = GABLE_OK;
  gable_idx bad_row;
  GI_REQUIRE(s, GABLE_ERR_ARGUMENT, "the smoother is NULL");
  GI_REQUIRE(s->state, GABLE_ERR_STATE, "update before analyse");
  GI_REQUIRE(val || !s->shape.n, GABLE_ERR_ARGUMENT, "val is NULL");
  s->updated = 0;
  GI_TRY(s->ctx->device->enter(s->ctx));
  GI_TRY(s->kind->update(s->state, val, &bad_row));
  s->updated = 1;
done:
  return status;
}

gable_status gable_smoother_apply(gable_smoother *s, const gable_vectors_view *b, gable_vectors_view *x, int sweeps,
                                  double *history)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s, GABLE_ERR_ARGUMENT, "the smoother is NULL");
  GI_REQUIRE(s->updated, GABLE_ERR_STATE, "apply before update");
  GI_REQUIRE(sweeps >= 0, GABLE_ERR_ARGUMENT, "sweeps is %d", sweeps);
  GI_TRY(gi_vectors_check(b, s->shape.n, s->shape.value_type, "b"));
  GI_TRY(gi_vectors_check(x, s->shape.n, s->shape.value_type, "x"));
  GI_REQUIRE(b->count == x->count && b->type == x->type, GABLE_ERR_ARGUMENT, "b and x differ in count or type");
  GI_REQUIRE(b->space == x->space, GABLE_ERR_ARGUMENT, "b and x are in different memories");
  GI_REQUIRE(b->space == GABLE_SPACE_HOST || s->ctx->device->kind == GI_ON_CUDA, GABLE_ERR_UNAVAILABLE,
             "the vectors are in device memory, this context is %s", s->ctx->where);
  GI_REQUIRE(b->data != x->data || !b->n, GABLE_ERR_ARGUMENT, "x is b: a sweep needs both");
  GI_TRY(s->ctx->device->enter(s->ctx));
  for (int k = 0; history && k <= sweeps; k++) history[k] = 0;
  for (gable_off j = 0; j < b->count && b->n; j += s->options.max_rhs) {
    gi_sweep_run all = {.type = b->type, .space = b->space, .sweeps = sweeps, .history = history};
    all.b = b->data;
    all.x = x->data;
    gi_strides_of(b, &all.b_step, &all.b_rhs);
    gi_strides_of(x, &all.x_step, &all.x_rhs);
    gi_sweep_run some = gi_sweep_column(&all, (gable_idx)j);
    some.count = b->count - j < s->options.max_rhs ? (gable_idx)(b->count - j) : s->options.max_rhs;
    GI_TRY(s->kind->apply(s->state, &some));
  }
  for (int k = 0; history && k <= sweeps; k++) history[k] = sqrt(history[k]);
done:
  return status;
}

gable_status gable_smoother_set_stream(gable_smoother *s, void *stream)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s, GABLE_ERR_ARGUMENT, "the smoother is NULL");
  s->stream = stream;
  pass_stream(s);
done:
  return status;
}

gable_status gable_smoother_status(gable_smoother *s, gable_idx *row)
{
  gable_status status = GABLE_OK;
  gable_idx none;
  GI_REQUIRE(s, GABLE_ERR_ARGUMENT, "the smoother is NULL");
  GI_REQUIRE(s->state, GABLE_ERR_STATE, "status before analyse");
  GI_TRY(s->ctx->device->enter(s->ctx));
  GI_TRY(s->kind->status(s->state, row ? row : &none));
done:
  return status;
}

gable_status gable_smoother_get_info(const gable_smoother *s, gable_smoother_info *info)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s && info, GABLE_ERR_ARGUMENT, "%s is NULL", s ? "info" : "the smoother");
  GI_REQUIRE(info->size == sizeof *info, GABLE_ERR_ARGUMENT, "info of %zu bytes: start from GABLE_SMOOTHER_INFO_INIT",
             info->size);
  GI_REQUIRE(s->state, GABLE_ERR_STATE, "get_info before analyse");
  s->kind->info(s->state, info);
done:
  return status;
}
