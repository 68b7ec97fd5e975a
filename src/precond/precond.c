/* precond.c: the preconditioner, from its options to its work; a backend does the rest. */
#include "precond/precond.h"

#include <string.h>

#include "base/options.h"
#include "base/timer.h"
#include "device/device.h"
#include "sparse/symmetry.h"

static gable_status fill_options(const gable_context *ctx, gable_precond_options *o)
{
  gable_status status = GABLE_OK;
  gi_method method = GI_AUTO;
  GI_REQUIRE((int)o->kind >= 0 && o->kind <= GABLE_PRECOND_ILUT, GABLE_ERR_ARGUMENT, "kind is %d", (int)o->kind);
  GI_REQUIRE(o->level >= 0, GABLE_ERR_ARGUMENT, "level is %d: give 0 or more", o->level);
  GI_REQUIRE(o->drop >= 0 && o->drop <= 1e9, GABLE_ERR_ARGUMENT, "drop is %g: give 0 or more", o->drop);
  GI_REQUIRE(o->row_fill >= 0, GABLE_ERR_ARGUMENT, "row_fill is %d: give 0 or more", o->row_fill);
  GI_REQUIRE(o->kind < GABLE_PRECOND_ILUK || ctx->device->kind != GI_ON_CUDA, GABLE_ERR_UNAVAILABLE,
             "%s runs on a CPU, this context is %s: take ilu0 or ic0, or a context on cpu",
             o->kind == GABLE_PRECOND_ILUK ? "ILU(k)" : "ILUT", ctx->where);
  GI_REQUIRE(o->deadline_s >= 0 && o->deadline_s <= 1e9, GABLE_ERR_ARGUMENT, "deadline_s is %g", o->deadline_s);
  GI_TRY(gi_options_threads(&o->threads, ctx->threads, ctx->threads));
  GI_TRY(gi_method_from(ctx, o->method, &method));
  o->method = gi_method_name(method); /* the caller's text is not kept */
  if (o->deadline_s == 0) o->deadline_s = 10;
done:
  return status;
}

gable_status gi_precond_create(gable_context *ctx, const gable_precond_options *options, gable_precond **out)
{
  gable_status status = GABLE_OK;
  gable_precond *p = NULL;
  gable_precond_options own = *options;
  *out = NULL;
  GI_TRY(fill_options(ctx, &own));
  GI_ALLOC_ZERO(ctx, p, 1);
  p->ctx = ctx;
  p->options = own;
  p->backend = ctx->device->kind == GI_ON_CUDA ? &gi_precond_device : &gi_precond_host;
  *out = p;
done:
  return status;
}

void gi_precond_destroy(gable_precond **p)
{
  if (!p || !*p) return;
  gable_precond *gone = *p;
  *p = NULL;
  gone->backend->release(gone);
  gi_matrix_rows_release(gone->ctx, &gone->own);
  gi_free(gone->ctx, gone);
}

gable_status gi_precond_analyse_rows(gable_precond *p, const gi_matrix_rows *rows)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  const double start = gi_now();
  p->phase = GI_CREATED;
  p->generation++;
  p->shift = 0;
  p->method_used[0] = 0;
  p->nnz = 0;
  if (rows != &p->own) gi_matrix_rows_release(p->ctx, &p->own);
  p->rows = rows;
  GI_TRY(p->ctx->device->enter(p->ctx, &before));
  GI_TRY(p->backend->analyse(p));
  p->phase = GI_ANALYSED;
  p->analyse_s = gi_now() - start;
done:
  p->ctx->device->leave(p->ctx, before);
  return status;
}

gable_status gi_precond_update_rows(gable_precond *p)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  const double start = gi_now();
  p->phase = GI_ANALYSED;
  p->shift = 0;
  GI_TRY(p->ctx->device->enter(p->ctx, &before));
  GI_TRY(p->backend->update(p));
  p->phase = GI_UPDATED;
  p->update_s = gi_now() - start;
done:
  p->ctx->device->leave(p->ctx, before);
  return status;
}

gable_status gi_precond_analyse(gable_precond *p, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  const double start = gi_now();
  p->phase = GI_CREATED;
  GI_TRY(p->ctx->device->enter(p->ctx, &before));
  gi_matrix_rows_release(p->ctx, &p->own);
  GI_TRY(gi_symmetry_check_view(p->ctx, a));
  GI_TRY(gi_matrix_rows_init(p->ctx, a, p->options.kind != GABLE_PRECOND_NONE, &p->own));
  GI_TRY(gi_precond_analyse_rows(p, &p->own));
  p->analyse_s = gi_now() - start;
done:
  p->ctx->device->leave(p->ctx, before);
  return status;
}

gable_status gi_precond_update(gable_precond *p, const void *val)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  const double start = gi_now();
  p->phase = GI_ANALYSED;
  GI_TRY(p->ctx->device->enter(p->ctx, &before));
  GI_TRY(gi_matrix_rows_update(p->ctx, &p->own, val));
  GI_TRY(gi_precond_update_rows(p));
  p->update_s = gi_now() - start;
done:
  p->ctx->device->leave(p->ctx, before);
  return status;
}

gable_status gi_precond_work_create(const gable_precond *p, gable_precond_work **out)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  gable_precond_work *w = NULL;
  *out = NULL;
  GI_ALLOC_ZERO(p->ctx, w, 1);
  w->plan = p;
  w->generation = p->generation;
  GI_TRY(p->ctx->device->enter(p->ctx, &before));
  GI_TRY(p->backend->work_init(w));
  *out = w;
  w = NULL;
done:
  p->ctx->device->leave(p->ctx, before);
  gi_precond_work_destroy(&w);
  return status;
}

void gi_precond_work_destroy(gable_precond_work **w)
{
  if (!w || !*w) return;
  gable_precond_work *gone = *w;
  gable_context *ctx = gone->plan->ctx;
  *w = NULL;
  gone->plan->backend->work_release(gone);
  gi_free(ctx, gone);
}

gable_status gi_precond_apply(const gable_precond *p, gable_precond_work *w, const double *r, double *z)
{
  gable_status status = GABLE_OK;
  const double start = gi_now();
  GI_TRY(p->backend->apply(p, w, r, z));
done:
  w->seconds += gi_now() - start;
  return status;
}

gable_status gi_precond_work_status(gable_precond_work *w)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = w->plan->ctx;
  int before = GI_NOT_ENTERED;
  GI_TRY(ctx->device->enter(ctx, &before));
  GI_TRY(w->plan->backend->status(w));
done:
  ctx->device->leave(ctx, before);
  return status;
}

gable_status gi_precond_plan(gable_precond *p, const gable_matrix_view *view, gable_part uplo, gable_diag diag, int ops,
                             gable_trisolve **plan)
{
  gable_status status = GABLE_OK;
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve_info info;
  options.method = p->options.method;
  options.uplo = uplo;
  options.diag = diag;
  options.ops = ops;
  options.deadline_s = p->options.deadline_s;
  options.threads = p->options.threads;
  if (!*plan) GI_TRY(gi_trisolve_create(p->ctx, &options, plan));
  GI_TRY(gi_trisolve_analyse(*plan, view));
  GI_TRY(gi_trisolve_get_info(*plan, GABLE_OP_N, &info));
  if (!p->method_used[0]) memcpy(p->method_used, info.method_used, sizeof p->method_used);
done:
  return status;
}
