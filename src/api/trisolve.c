/* trisolve.c: gable_trisolve and gable_work: checks arguments and phases, then calls the backend. */
#include <stdio.h>

#include "base/options.h"
#include "base/timer.h"
#include "device/device.h"
#include "trisolve/candidates.h"

static gable_status options_from(const gable_context *ctx, const gable_trisolve_options *given,
                                 gable_trisolve_options *own)
{
  gable_status status = GABLE_OK;
  *own = (gable_trisolve_options)GABLE_TRISOLVE_OPTIONS_INIT;
  GI_TRY(gi_options_take(given, own, sizeof *own, "GABLE_TRISOLVE_OPTIONS_INIT"));
  GI_REQUIRE(own->uplo >= GABLE_PART_FULL && own->uplo <= GABLE_PART_UPPER, GABLE_ERR_ARGUMENT, "uplo is %d",
             (int)own->uplo);
  GI_REQUIRE(own->diag >= GABLE_DIAG_STORED && own->diag <= GABLE_DIAG_SEPARATE, GABLE_ERR_ARGUMENT, "diag is %d",
             (int)own->diag);
  GI_REQUIRE(own->ops >= 0 && own->ops <= (GABLE_TRISOLVE_N | GABLE_TRISOLVE_T), GABLE_ERR_ARGUMENT, "ops is %d",
             own->ops);
  GI_REQUIRE(own->deadline_s >= 0.0 && own->deadline_s <= 1e9, GABLE_ERR_ARGUMENT, "deadline_s is %g", own->deadline_s);
  GI_TRY(gi_options_threads(&own->threads, ctx->threads, ctx->threads));
  GI_REQUIRE(own->typical_rhs >= 0, GABLE_ERR_ARGUMENT, "typical_rhs is %d", own->typical_rhs);
  if (!own->ops) own->ops = GABLE_TRISOLVE_N | GABLE_TRISOLVE_T;
  if (own->deadline_s == 0.0) own->deadline_s = 10.0;
  if (!own->typical_rhs) own->typical_rhs = 1;
done:
  return status;
}

gable_status gable_trisolve_create(gable_context *ctx, const gable_trisolve_options *options, gable_trisolve **out)
{
  gable_status status = GABLE_OK;
  gable_trisolve *t = NULL;
  gable_trisolve_options own;
  gi_method method = GI_AUTO;

  GI_REQUIRE(ctx && out, GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "out" : "ctx");
  *out = NULL;
  GI_TRY(options_from(ctx, options, &own));
  GI_TRY(gi_method_from(ctx, own.method, &method));
  GI_ALLOC_ZERO(ctx, t, 1);
  t->ctx = ctx;
  t->options = own;
  t->options.method = gi_method_name(method);
  t->method = method;
  t->bad_row = -1;
  t->backend = ctx->device->kind == GI_ON_CUDA     ? &gi_trisolve_cuda
               : ctx->device->kind == GI_ON_MIRROR ? &gi_trisolve_mirror
                                                   : &gi_trisolve_cpu;
  *out = t;
done:
  return status;
}

void gable_trisolve_destroy(gable_trisolve **t)
{
  if (!t || !*t) return;
  gable_trisolve *p = *t;
  *t = NULL;
  p->backend->release(p);
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

/* By the method that was the fastest of auto's candidates.  On the CPU the first update times them. */
static gable_status analyse_by_timing(gable_trisolve *t, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gi_method fastest = GI_AUTO;
  GI_TRY(gi_candidates_time(t, a, &fastest));
  t->method = fastest;
  status = t->backend->analyse(t, a);
  t->method = GI_AUTO;
done:
  return status;
}

gable_status gable_trisolve_analyse(gable_trisolve *t, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  const double start = gi_now();
  GI_REQUIRE(t, GABLE_ERR_ARGUMENT, "the plan is NULL");
  t->phase = GI_CREATED;
  t->bad_row = -1;
  t->timed[0] = 0;
  t->generation++;
  GI_REQUIRE(a, GABLE_ERR_ARGUMENT, "the matrix is NULL");
  GI_TRY(shape_of(t, a, &t->shape));
  GI_TRY(t->ctx->device->enter(t->ctx));
  if (t->method == GI_AUTO && t->options.time_candidates && t->ctx->device->kind == GI_ON_CUDA)
    GI_TRY(analyse_by_timing(t, a));
  else
    GI_TRY(t->backend->analyse(t, a));
  t->phase = GI_ANALYSED;
  t->analyse_s = gi_now() - start;
done:
  return status;
}

static gable_status update(gable_trisolve *t, const void *val, const void *diagonal)
{
  gable_status status = GABLE_OK;
  const double start = gi_now();
  GI_REQUIRE(t->phase >= GI_ANALYSED, GABLE_ERR_STATE, "update before analyse");
  GI_REQUIRE(val || !t->shape.nnz, GABLE_ERR_ARGUMENT, "val is NULL");
  t->phase = GI_ANALYSED;
  t->bad_row = -1;
  GI_TRY(t->ctx->device->enter(t->ctx));
  GI_TRY(t->backend->update(t, val, diagonal));
  t->phase = GI_UPDATED;
  t->update_s = gi_now() - start;
done:
  return status;
}

gable_status gable_trisolve_update(gable_trisolve *t, const void *val)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(t, GABLE_ERR_ARGUMENT, "the plan is NULL");
  GI_REQUIRE(t->options.diag != GABLE_DIAG_SEPARATE, GABLE_ERR_ARGUMENT,
             "the diagonal is separate: use gable_trisolve_update_with_diagonal");
  GI_TRY(update(t, val, NULL));
done:
  return status;
}

gable_status gable_trisolve_update_with_diagonal(gable_trisolve *t, const void *val, const void *diagonal)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(t, GABLE_ERR_ARGUMENT, "the plan is NULL");
  GI_REQUIRE(t->options.diag == GABLE_DIAG_SEPARATE, GABLE_ERR_ARGUMENT,
             "the plan was not created with GABLE_DIAG_SEPARATE");
  GI_REQUIRE(diagonal || !t->shape.n, GABLE_ERR_ARGUMENT, "diagonal is NULL");
  GI_TRY(update(t, val, diagonal));
done:
  return status;
}

static size_t work_header(void)
{
  return (sizeof(gable_work) + 63) / 64 * 64;
}

static gable_status check_work(const gable_trisolve *t, gable_idx max_rhs)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(t, GABLE_ERR_ARGUMENT, "the plan is NULL");
  GI_REQUIRE(t->phase >= GI_ANALYSED, GABLE_ERR_STATE, "work before analyse");
  GI_REQUIRE(max_rhs >= 1, GABLE_ERR_ARGUMENT, "max_rhs is %d", max_rhs);
done:
  return status;
}

gable_status gable_trisolve_work_bytes(const gable_trisolve *t, gable_idx max_rhs, size_t *host, size_t *device)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(host && device, GABLE_ERR_ARGUMENT, "%s is NULL", host ? "device" : "host");
  GI_TRY(check_work(t, max_rhs));
  t->backend->work_bytes(t, max_rhs, host, device);
  *host += work_header();
done:
  return status;
}

gable_status gable_work_create_in(const gable_trisolve *t, gable_idx max_rhs, void *host, void *device,
                                  gable_work **out)
{
  gable_status status = GABLE_OK;
  gable_work *w = NULL;
  size_t host_bytes = 0, device_bytes = 0;
  GI_REQUIRE(out, GABLE_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  GI_TRY(gable_trisolve_work_bytes(t, max_rhs, &host_bytes, &device_bytes));
  GI_REQUIRE(host && (uintptr_t)host % 64 == 0, GABLE_ERR_ARGUMENT, "host memory must be aligned to 64 bytes");
  GI_REQUIRE(!device_bytes || (device && (uintptr_t)device % 256 == 0), GABLE_ERR_ARGUMENT,
             "device memory must be aligned to 256 bytes");
  w = host;
  memset(w, 0, sizeof *w);
  w->plan = t;
  w->generation = t->generation;
  w->max_rhs = max_rhs;
  w->host = (char *)host + work_header();
  w->device = device;
  w->fault_row = -1;
  GI_TRY(t->ctx->device->enter(t->ctx));
  GI_TRY(t->backend->work_init(w));
  *out = w;
done:
  return status;
}

gable_status gable_work_create(const gable_trisolve *t, gable_idx max_rhs, gable_work **out)
{
  gable_status status = GABLE_OK;
  void *host = NULL, *device = NULL;
  size_t host_bytes = 0, device_bytes = 0;
  GI_REQUIRE(out, GABLE_ERR_ARGUMENT, "out is NULL");
  *out = NULL;
  GI_TRY(gable_trisolve_work_bytes(t, max_rhs, &host_bytes, &device_bytes));
  host = gi_alloc(t->ctx, (gable_off)host_bytes, 1);
  GI_REQUIRE(host, GABLE_ERR_MEMORY, "out of memory: %.1f MB of scratch", (double)host_bytes / 1e6);
  if (device_bytes) GI_TRY(t->ctx->device->alloc(t->ctx, device_bytes, &device));
  GI_TRY(gable_work_create_in(t, max_rhs, host, device, out));
  (*out)->owned = 1;
  host = device = NULL;
done:
  if (device) t->ctx->device->release(t->ctx, device);
  if (host) gi_free(t->ctx, host);
  return status;
}

void gable_work_destroy(gable_work **w)
{
  if (!w || !*w) return;
  gable_work *p = *w;
  gable_context *ctx = p->plan->ctx;
  *w = NULL;
  (void)ctx->device->enter(ctx);
  p->plan->backend->work_release(p);
  if (!p->owned) return;
  if (p->device) ctx->device->release(ctx, p->device);
  gi_free(ctx, p);
}

gable_status gable_work_set_stream(gable_work *w, void *stream)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(w, GABLE_ERR_ARGUMENT, "the work is NULL");
  if (stream != w->stream) w->seen_updates = 0; /* the other one has waited for none */
  w->stream = stream;
done:
  return status;
}

gable_status gable_work_status(gable_work *w, gable_idx *row)
{
  gable_status status = GABLE_OK, fault = GABLE_OK;
  GI_REQUIRE(w, GABLE_ERR_ARGUMENT, "the work is NULL");
  GI_REQUIRE(w->generation == w->plan->generation, GABLE_ERR_MISMATCH, "the work belongs to an earlier analysis");
  GI_TRY(w->plan->ctx->device->enter(w->plan->ctx));
  GI_TRY(w->plan->backend->work_status(w));
  fault = w->fault;
  if (row) *row = w->fault_row;
  if (fault) {
    gable_idx bad = w->fault_row;
    w->fault = GABLE_OK;
    w->fault_row = -1;
    GI_REQUIRE(0, fault, "a solve failed at row %d (counted from 0): %s", bad, gable_status_text(fault));
  }
done:
  return status;
}

gable_status gable_trisolve_solve(const gable_trisolve *t, gable_work *w, gable_op op, const gable_vectors_view *b,
                                  gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(t && w, GABLE_ERR_ARGUMENT, "%s is NULL", t ? "the work" : "the plan");
  GI_REQUIRE(t->phase == GI_UPDATED, GABLE_ERR_STATE, "solve before update");
  GI_REQUIRE(w->plan == t && w->generation == t->generation, GABLE_ERR_MISMATCH,
             "the work belongs to another plan or to an earlier analysis of it");
  GI_REQUIRE(op == GABLE_OP_N || op == GABLE_OP_T, GABLE_ERR_ARGUMENT, "op is %d", (int)op);
  GI_TRY(gi_vectors_check(b, t->shape.n, t->shape.value_type, "b"));
  GI_TRY(gi_vectors_check(x, t->shape.n, t->shape.value_type, "x"));
  GI_REQUIRE(b->count == x->count && b->type == x->type && b->space == x->space, GABLE_ERR_ARGUMENT,
             "b and x differ in count, type or space");
  GI_REQUIRE(b->count <= w->max_rhs, GABLE_ERR_ARGUMENT, "%d right-hand sides, the work was made for %d", b->count,
             w->max_rhs);
  GI_REQUIRE(b->data != x->data || (b->ld == x->ld && b->major == x->major), GABLE_ERR_ARGUMENT,
             "x is b, but their layouts differ");
  if (!b->n || !b->count) goto done;
  GI_TRY(t->ctx->device->enter(t->ctx));
  GI_TRY(t->backend->solve(t, w, op, b, x));
done:
  return status;
}

gable_status gable_trisolve_get_info(const gable_trisolve *t, gable_op op, gable_trisolve_info *info)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(t && info, GABLE_ERR_ARGUMENT, "%s is NULL", t ? "info" : "the plan");
  GI_REQUIRE(info->size == sizeof *info, GABLE_ERR_ARGUMENT, "info of %zu bytes: start from GABLE_TRISOLVE_INFO_INIT",
             info->size);
  GI_REQUIRE(op == GABLE_OP_N || op == GABLE_OP_T, GABLE_ERR_ARGUMENT, "op is %d", (int)op);
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

gable_status gable_trisolve_get_schedule(const gable_trisolve *t, gable_op op, gable_idx *order, gable_idx *level)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(t, GABLE_ERR_ARGUMENT, "the plan is NULL");
  GI_REQUIRE(op == GABLE_OP_N || op == GABLE_OP_T, GABLE_ERR_ARGUMENT, "op is %d", (int)op);
  GI_REQUIRE(t->phase >= GI_ANALYSED, GABLE_ERR_STATE, "get_schedule before analyse");
  GI_TRY(t->ctx->device->enter(t->ctx));
  GI_TRY(t->backend->schedule(t, op, order, level));
done:
  return status;
}
