/* trisolve.c: the plan of a triangular solve, from its options to its solves; a backend does the work. */
#include "trisolve/trisolve.h"

#include <stdio.h>

#include "base/options.h"
#include "base/timer.h"
#include "device/device.h"

static const gi_trisolve_backend *const backends[] = {
    [GI_ON_CPU] = &gi_trisolve_cpu, [GI_ON_MIRROR] = &gi_trisolve_mirror, [GI_ON_CUDA] = &gi_trisolve_cuda};

static gable_status fill_options(const gable_context *ctx, gable_trisolve_options *o)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(o->uplo >= GABLE_PART_FULL && o->uplo <= GABLE_PART_UPPER, GABLE_ERR_ARGUMENT, "uplo is %d", (int)o->uplo);
  GI_REQUIRE(o->diag >= GABLE_DIAG_STORED && o->diag <= GABLE_DIAG_SEPARATE, GABLE_ERR_ARGUMENT, "diag is %d",
             (int)o->diag);
  GI_REQUIRE(o->ops >= 0 && o->ops <= (GABLE_TRISOLVE_N | GABLE_TRISOLVE_T), GABLE_ERR_ARGUMENT, "ops is %d", o->ops);
  GI_REQUIRE(o->deadline_s >= 0.0 && o->deadline_s <= 1e9, GABLE_ERR_ARGUMENT, "deadline_s is %g", o->deadline_s);
  GI_TRY(gi_options_threads(&o->threads, ctx->threads, ctx->threads));
  GI_REQUIRE(o->typical_rhs >= 0, GABLE_ERR_ARGUMENT, "typical_rhs is %d", o->typical_rhs);
  GI_REQUIRE(o->solves >= 0, GABLE_ERR_ARGUMENT, "solves is %lld", (long long)o->solves);
  if (!o->ops) o->ops = GABLE_TRISOLVE_N | GABLE_TRISOLVE_T;
  if (o->deadline_s == 0.0) o->deadline_s = 10.0;
  if (!o->typical_rhs) o->typical_rhs = 1;
done:
  return status;
}

gable_status gi_trisolve_create(gable_context *ctx, const gable_trisolve_options *options, gable_trisolve **out)
{
  gable_status status = GABLE_OK;
  gable_trisolve *t = NULL;
  gable_trisolve_options own = *options;
  gi_method method = GI_AUTO;

  *out = NULL;
  GI_TRY(fill_options(ctx, &own));
  GI_TRY(gi_method_from(ctx, own.method, &method));
  GI_ALLOC_ZERO(ctx, t, 1);
  t->ctx = ctx;
  t->options = own;
  t->options.method = gi_method_name(method);
  t->method = method;
  t->stream = gi_own_stream(ctx);
  t->bad_row = -1;
  t->backend = backends[ctx->device->kind];
  GI_TRY(gi_update_order_init(ctx, &t->order));
  *out = t;
  t = NULL;
done:
  gi_trisolve_destroy(&t);
  return status;
}

void gi_trisolve_destroy(gable_trisolve **t)
{
  if (!t || !*t) return;
  gable_trisolve *p = *t;
  *t = NULL;
  gi_update_order_forget(&p->order);
  p->backend->release(p);
  gi_update_order_release(&p->order);
  gi_free(p->ctx, p);
}

/* Which triangle is used, and whether others are refused. */
static gable_status shape_of(const gable_trisolve *t, const gable_matrix_view *a, gi_shape *s)
{
  gable_status status = GABLE_OK;
  const gable_part uplo = t->options.uplo;
  GI_TRY(gi_shape_from(a, uplo == GABLE_PART_FULL ? a->part : uplo, s));
  GI_REQUIRE(uplo != GABLE_PART_FULL || a->part != GABLE_PART_FULL, GABLE_ERR_ARGUMENT,
             "which triangle? set uplo of the options, or part of the view");
  GI_REQUIRE(uplo == GABLE_PART_FULL || a->part == GABLE_PART_FULL || uplo == a->part, GABLE_ERR_ARGUMENT,
             "the options ask for the %s triangle, the view stores the other",
             uplo == GABLE_PART_UPPER ? "upper" : "lower");
  s->strict = a->part != GABLE_PART_FULL;
done:
  return status;
}

void gi_trisolve_reset(gable_trisolve *t)
{
  t->phase = GI_CREATED;
  t->bad_row = -1;
  t->timed[0] = 0;
  t->generation++;
}

gable_status gi_trisolve_analyse(gable_trisolve *t, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  const double start = gi_now();
  gi_trisolve_reset(t);
  GI_TRY(shape_of(t, a, &t->shape));
  gi_update_order_forget(&t->order);
  GI_TRY(t->backend->analyse(t, a));
  t->phase = GI_ANALYSED;
  t->analyse_s = gi_now() - start;
done:
  return status;
}

gable_status gi_trisolve_set_stream(gable_trisolve *t, void *stream)
{
  gable_status status = GABLE_OK;
  stream = gi_stream_of(t->ctx, stream);
  GI_TRY(t->ctx->device->order_after(t->ctx, stream, t->stream));
  t->stream = stream;
done:
  return status;
}

gable_status gi_trisolve_update(gable_trisolve *t, const void *val, const void *diagonal)
{
  gable_status status = GABLE_OK;
  const double start = gi_now();
  const int reads_back = t->reads_back || t->shape.space == GABLE_SPACE_HOST;
  gable_status ended = GABLE_OK;
  int captured = 0;
  GI_TRY(gi_update_order_begin(&t->order, t->stream, reads_back, &captured)); /* what it refuses changes nothing */
  t->phase = GI_ANALYSED;
  t->bad_row = -1;
  status = t->backend->update(t, val, diagonal);
  ended = gi_update_order_end(&t->order, t->stream, captured); /* what has failed half way is in flight, too */
  GI_TRY(status ? status : ended);
  t->phase = GI_UPDATED;
  t->update_s = gi_now() - start;
done:
  return status;
}

gable_status gi_trisolve_solve(const gable_trisolve *t, gable_trisolve_work *w, gable_op op,
                               const gable_vectors_view *b, gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  if (!b->n || !b->count) goto done;
  GI_TRY(gi_update_order_await(&t->order, &w->order));
  GI_TRY(t->backend->solve(t, w, op, b, x));
done:
  return status;
}

gable_status gi_trisolve_solve_on(const gable_trisolve *t, gable_trisolve_work *w, gable_op op,
                                  const gable_vectors_view *b, gable_vectors_view *x, void *stream)
{
  void *own = w->stream;
  w->stream = gi_stream_of(t->ctx, stream);
  const gable_status status = gi_trisolve_solve(t, w, op, b, x);
  w->stream = own;
  return status;
}

gable_status gi_trisolve_plan_bound(const gable_trisolve *t, gable_idx n, gable_off nnz, gable_type value_type,
                                    size_t *host, size_t *device)
{
  return t->backend->plan_bound(t, n, nnz, value_type, host, device);
}

gable_status gi_trisolve_get_info(const gable_trisolve *t, gable_op op, gable_trisolve_info *info)
{
  gable_status status = GABLE_OK;
  *info = (gable_trisolve_info)GABLE_TRISOLVE_INFO_INIT;
  snprintf(info->method, sizeof info->method, "%s", gi_method_name(t->method));
  info->bad_row = t->bad_row;
  GI_REQUIRE(t->phase >= GI_ANALYSED, GABLE_ERR_STATE, "get_info before analyse");
  GI_TRY(t->backend->info(t, op, info));
  if (t->timed[0] && (t->options.ops & (1 << op))) snprintf(info->why, sizeof info->why, "%s", t->timed);
  info->analyse_s = t->analyse_s;
  info->update_s = t->update_s;
done:
  return status;
}

gable_status gi_trisolve_get_schedule(const gable_trisolve *t, gable_op op, gable_idx *order, gable_idx *level)
{
  return t->backend->schedule(t, op, order, level);
}
