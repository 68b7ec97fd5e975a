/* smoother.c: gable_smoother: checks arguments and phases. */
#include <math.h>
#include <string.h>

#include "base/options.h"
#include "device/device.h"
#include "trisolve/sweeps.h"

struct gable_smoother {
  gable_context *ctx;
  gable_smoother_options options; /* filled in */
  gi_method method;
  gi_sweeps *sweeps; /* NULL before analyse */
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
  GI_REQUIRE(own->threads >= 0 && own->threads <= 1024, GABLE_ERR_ARGUMENT, "threads is %d: give 0 to 1024",
             own->threads);
  if (own->deadline_s == 0) own->deadline_s = 10;
  if (!own->threads || own->threads > ctx->threads) own->threads = ctx->threads;
done:
  return status;
}

static gable_status method_from(const char *name, gi_method *out)
{
  gable_status status = GABLE_OK;
  const gi_method known[] = {GI_AUTO, GI_SERIAL, GI_LEVR, GI_TILES};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (!strcmp(name ? name : "auto", gi_method_name(known[k]))) {
      *out = known[k];
      goto done;
    }
  GI_REQUIRE(0, GABLE_ERR_ARGUMENT, "'%.40s' is no method of sweeps: say serial, levr, tiles or auto", name);
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
  GI_REQUIRE(ctx->automatic || ctx->device != &gi_device_cuda, GABLE_ERR_UNAVAILABLE,
             "sweeps run on the CPU so far: create the context with \"cpu\"");
  GI_TRY(options_from(ctx, options, &own));
  GI_TRY(method_from(own.method, &method));
  GI_ALLOC_ZERO(ctx, s, 1);
  s->ctx = ctx;
  s->options = own;
  s->options.method = gi_method_name(method);
  s->method = method;
  *out = s;
done:
  return status;
}

void gable_smoother_destroy(gable_smoother **s)
{
  if (!s || !*s) return;
  gable_smoother *p = *s;
  *s = NULL;
  gi_sweeps_release(p->ctx, p->sweeps);
  gi_free(p->ctx, p);
}

gable_status gable_smoother_analyse(gable_smoother *s, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_idx bad_row;
  GI_REQUIRE(s, GABLE_ERR_ARGUMENT, "the smoother is NULL");
  gi_sweeps_release(s->ctx, s->sweeps);
  s->sweeps = NULL;
  s->updated = 0;
  GI_TRY(gi_shape_from(a, GABLE_LOWER, &s->shape));
  GI_REQUIRE(s->shape.space == GABLE_HOST, GABLE_ERR_UNAVAILABLE, "sweeps want the matrix in host memory");
  GI_TRY(
      gi_sweeps_analyse(s->ctx, &s->shape, a, s->method, s->options.sweep, s->options.threads, &bad_row, &s->sweeps));
done:
  return status;
}

gable_status gable_smoother_update(gable_smoother *s, const void *val)
{
  gable_status status = GABLE_OK;
  gable_idx bad_row;
  GI_REQUIRE(s, GABLE_ERR_ARGUMENT, "the smoother is NULL");
  GI_REQUIRE(s->sweeps, GABLE_ERR_STATE, "update before analyse");
  GI_REQUIRE(val || !s->shape.nnz, GABLE_ERR_ARGUMENT, "val is NULL");
  s->updated = 0;
  GI_TRY(gi_sweeps_update(s->sweeps, val, &bad_row));
  s->updated = 1;
done:
  return status;
}

static const char *at(const gable_vectors_view *v, gable_idx j, ptrdiff_t *step)
{
  const size_t bytes = v->type == GABLE_S ? sizeof(float) : sizeof(double);
  *step = v->major == GABLE_COL_MAJOR ? 1 : (ptrdiff_t)v->ld;
  return (const char *)v->data + bytes * (size_t)(v->major == GABLE_COL_MAJOR ? j * v->ld : j);
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
  GI_REQUIRE(b->space == GABLE_HOST && x->space == GABLE_HOST, GABLE_ERR_UNAVAILABLE,
             "sweeps want vectors in host memory");
  GI_REQUIRE(b->data != x->data || !b->n, GABLE_ERR_ARGUMENT, "x is b: a sweep needs both");
  for (int k = 0; history && k <= sweeps; k++) history[k] = 0;
  for (gable_idx j = 0; j < b->count && b->n; j++) {
    ptrdiff_t b_step, x_step;
    const char *b_data = at(b, j, &b_step);
    char *x_data = (char *)x->data + (at(x, j, &x_step) - (const char *)x->data);
    GI_TRY(gi_sweeps_apply(s->sweeps, b->type, b_data, b_step, x_data, x_step, s->options.omega, sweeps,
                           s->options.deadline_s, history));
  }
  for (int k = 0; history && k <= sweeps; k++) history[k] = sqrt(history[k]);
done:
  return status;
}

gable_status gable_smoother_get_info(const gable_smoother *s, gable_smoother_info *info)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s && info, GABLE_ERR_ARGUMENT, "%s is NULL", s ? "info" : "the smoother");
  GI_REQUIRE(info->size == sizeof *info, GABLE_ERR_ARGUMENT, "info of %zu bytes: start from GABLE_SMOOTHER_INFO_INIT",
             info->size);
  GI_REQUIRE(s->sweeps, GABLE_ERR_STATE, "get_info before analyse");
  gi_sweeps_info(s->sweeps, info);
done:
  return status;
}
