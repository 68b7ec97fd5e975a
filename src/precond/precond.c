/* precond.c: the preconditioner, from its options to its work; its kind does the rest. */
#include "precond/precond.h"

#include <string.h>

#include "base/options.h"
#include "base/timer.h"
#include "sparse/symmetry.h"
#include "sparse/vectors.h"

static const gi_precond_kind *const kinds[] = {
    [GABLE_PRECOND_NONE] = &gi_precond_none, [GABLE_PRECOND_JACOBI] = &gi_precond_jacobi,
    [GABLE_PRECOND_GS] = &gi_precond_gs,     [GABLE_PRECOND_ILU0] = &gi_precond_ilu0,
    [GABLE_PRECOND_IC0] = &gi_precond_ic0,   [GABLE_PRECOND_ILUK] = &gi_precond_iluk,
    [GABLE_PRECOND_ILUT] = &gi_precond_ilut,
};

static gable_status fill_options(const gable_context *ctx, gable_precond_options *o)
{
  gable_status status = GABLE_OK;
  gi_method method = GI_AUTO;
  GI_REQUIRE((int)o->kind >= 0 && o->kind <= GABLE_PRECOND_ILUT, GABLE_ERR_ARGUMENT, "kind is %d", (int)o->kind);
  GI_REQUIRE(o->level >= 0, GABLE_ERR_ARGUMENT, "level is %d: give 0 or more", o->level);
  GI_REQUIRE(o->drop >= 0 && o->drop <= 1e9, GABLE_ERR_ARGUMENT, "drop is %g: give 0 or more", o->drop);
  GI_REQUIRE(o->row_fill >= 0, GABLE_ERR_ARGUMENT, "row_fill is %d: give 0 or more", o->row_fill);
  GI_REQUIRE(kinds[o->kind]->anywhere || ctx->device->space == GABLE_SPACE_HOST, GABLE_ERR_UNAVAILABLE,
             "%s runs on a CPU, this context is %s: take ilu0 or ic0, or a context on cpu", kinds[o->kind]->name,
             ctx->where);
  GI_REQUIRE(o->deadline_s >= 0 && o->deadline_s <= 1e9, GABLE_ERR_ARGUMENT, "deadline_s is %g", o->deadline_s);
  GI_REQUIRE(o->solves >= 0, GABLE_ERR_ARGUMENT, "solves is %lld", (long long)o->solves);
  GI_TRY(gi_options_threads(&o->threads, ctx->threads, ctx->threads));
  GI_TRY(gi_method_from(ctx, o->method, &method));
  o->method = gi_method_name(method); /* the caller's text is not kept */
  if (o->deadline_s == 0) o->deadline_s = 10;
done:
  return status;
}

int64_t gi_precond_applications(const gable_precond_options *o)
{
  const int64_t each = 30;
  return o->solves < INT64_MAX / each ? each * o->solves : INT64_MAX;
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
  p->kind = kinds[own.kind];
  p->device = ctx->device;
  p->stream = gi_own_stream(ctx);
  GI_TRY(gi_update_order_init(ctx, &p->order));
  *out = p;
  p = NULL;
done:
  gi_precond_destroy(&p);
  return status;
}

gable_status gi_precond_take_factor(gable_precond *p, gable_off count)
{
  gable_status status = GABLE_OK;
  void *taken = NULL;
  GI_TRY(p->device->alloc(p->ctx, (size_t)count * sizeof *p->factor + 1, &taken));
  p->factor = taken;
  p->factor_count = count;
done:
  return status;
}

gable_vectors_view gi_precond_column(const gable_precond *p, const double *data)
{
  return gi_columns_view(p->device->space, p->rows->n, 1, data, 0);
}

/* What an analysis made anew; works still know the plans. */
static void forget(gable_precond *p)
{
  gi_update_order_settle(&p->order);
  (void)p->device->synchronise(p->ctx, NULL);
  gi_level_order_release(p->ctx, &p->rows_by_level);
  p->device->release(p->ctx, p->factor);
  p->device->release(p->ctx, p->fault);
  p->device->release(p->ctx, p->factoring);
  p->factor = NULL;
  p->fault = NULL;
  p->factoring = NULL;
  gi_csc_release(p->ctx, &p->fill);
  gi_free(p->ctx, p->place);
  p->place = NULL;
}

void gi_precond_destroy(gable_precond **p)
{
  if (!p || !*p) return;
  gable_precond *gone = *p;
  *p = NULL;
  forget(gone);
  gi_trisolve_destroy(&gone->first);
  gi_trisolve_destroy(&gone->second);
  gi_smoother_destroy(&gone->smoother);
  gi_matrix_rows_release(gone->ctx, &gone->own);
  gi_update_order_release(&gone->order);
  gi_free(gone->ctx, gone);
}

/* To plans, once they are there. */
static void pass_stream(gable_precond *p)
{
  if (p->first) (void)gi_trisolve_set_stream(p->first, p->stream);
  if (p->second) (void)gi_trisolve_set_stream(p->second, p->stream);
  if (p->smoother) gi_smoother_set_stream(p->smoother, p->stream);
}

void gi_precond_set_stream(gable_precond *p, void *stream)
{
  stream = gi_stream_of(p->ctx, stream);
  (void)p->ctx->device->order_after(p->ctx, stream, p->stream);
  p->stream = stream;
  pass_stream(p);
}

/* A captured update cannot wait for the analysis, so that this one does. */
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
  p->reads_back = rows != &p->own || p->device->in_host || rows->device.takes_host_values;
  GI_TRY(p->ctx->device->enter(p->ctx, &before));
  forget(p);
  GI_TRY(p->kind->analyse(p));
  pass_stream(p);
  GI_TRY(p->device->synchronise(p->ctx, NULL));
  p->phase = GI_ANALYSED;
  p->analyse_s = gi_now() - start;
done:
  p->ctx->device->leave(p->ctx, before);
  return status;
}

/* val: of own rows, or NULL where the rows have their values. */
static gable_status update(gable_precond *p, const void *val)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED, captured = 0;
  const double start = gi_now();
  GI_TRY(p->ctx->device->enter(p->ctx, &before));
  GI_TRY(gi_update_order_begin(&p->order, p->stream, p->reads_back, &captured));
  GI_REQUIRE(!captured || !p->kind->needs_host, GABLE_ERR_STATE,
             "the stream is being captured: in an update of %s the host %s, so it cannot be", p->kind->name,
             p->kind->needs_host);
  p->phase = GI_ANALYSED; /* what was refused so far changes nothing */
  p->shift = 0;
  if (val) GI_TRY(gi_matrix_rows_update(p->ctx, &p->own, val, p->stream));
  GI_TRY(p->kind->update(p));
  GI_TRY(gi_update_order_end(&p->order, p->stream, captured));
  p->phase = GI_UPDATED;
  p->update_s = gi_now() - start;
done:
  p->ctx->device->leave(p->ctx, before);
  return status;
}

gable_status gi_precond_update_rows(gable_precond *p)
{
  return update(p, NULL);
}

gable_status gi_precond_analyse(gable_precond *p, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  const double start = gi_now();
  p->phase = GI_CREATED;
  GI_TRY(p->ctx->device->enter(p->ctx, &before));
  gi_update_order_settle(&p->order);
  GI_TRY(p->ctx->device->order_after(p->ctx, NULL, p->stream));
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
  return update(p, val);
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
  w->stream = gi_own_stream(p->ctx);
  GI_TRY(p->ctx->device->enter(p->ctx, &before));
  if (p->kind->work_init) GI_TRY(p->kind->work_init(w));
  gi_update_order_add(&((gable_precond *)p)->order, &w->order, &w->stream); /* under its lock */
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
  (void)ctx->device->order_after(ctx, NULL, gone->stream);
  gi_update_order_remove(&((gable_precond *)gone->plan)->order, &gone->order);
  gi_work_destroy(&gone->first);
  gi_work_destroy(&gone->second);
  gi_smoother_work_destroy(&gone->sweeps);
  gone->plan->device->release(ctx, gone->never_stopped);
  gi_free(ctx, gone);
}

void gi_precond_work_set_stream(gable_precond_work *w, void *stream)
{
  gable_context *ctx = w->plan->ctx;
  stream = gi_stream_of(ctx, stream);
  (void)ctx->device->order_after(ctx, stream, w->stream);
  w->stream = stream;
  w->order.seen = 0;
  if (w->first) (void)gi_work_set_stream(w->first, stream);
  if (w->second) (void)gi_work_set_stream(w->second, stream);
  if (w->sweeps) gi_smoother_work_set_stream(w->sweeps, stream);
}

gable_status gi_precond_apply(const gable_precond *p, gable_precond_work *w, const double *r, double *z)
{
  gable_status status = GABLE_OK;
  const double start = gi_now();
  GI_TRY(gi_update_order_await(&p->order, &w->order));
  GI_TRY(p->kind->apply(p, w, r, z));
done:
  w->seconds += gi_now() - start;
  return status;
}

gable_status gi_precond_work_status(gable_precond_work *w)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = w->plan->ctx;
  int before = GI_NOT_ENTERED;
  gable_idx row;
  const gable_precond *p = w->plan;
  GI_TRY(ctx->device->enter(ctx, &before));
  GI_TRY(gi_update_order_await(&p->order, &w->order));
  if (p->kind->find_fault && !p->reads_back) GI_TRY(p->kind->find_fault(p, w->stream));
  if (w->first) GI_TRY(gi_work_status(w->first, &row));
  if (w->second) GI_TRY(gi_work_status(w->second, &row));
  if (w->sweeps) GI_TRY(gi_smoother_work_status(w->sweeps, &row));
done:
  ctx->device->leave(ctx, before);
  return status;
}

void gi_precond_bytes(const gable_precond *p, size_t *host, size_t *device)
{
  const gable_trisolve *const plan[] = {p->first, p->second};
  size_t *place = p->device->space == GABLE_SPACE_DEVICE ? device : host;
  *host = sizeof *p + gi_rows_bytes(&p->fill);
  *device = 0;
  if (p->rows == &p->own) gi_matrix_rows_add_bytes(&p->own, host, device);
  if (p->factor) *place += (size_t)p->factor_count * sizeof *p->factor;
  if (p->place) *host += (size_t)gi_matrix_rows_nnz(p->rows) * sizeof *p->place;
  if (p->rows_by_level.list) gi_level_order_add_bytes(p->rows->n, p->rows_by_level.levels, host, device);
  if (p->fault) *device += 2 * sizeof *p->fault;
  if (p->factoring) *place += gi_precond_factoring_bytes(p, p->rows->n);
  for (int k = 0; k < 2; k++) {
    gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
    if (!plan[k] || gi_trisolve_get_info(plan[k], GABLE_OP_N, &info)) continue;
    *host += info.plan_bytes_host;
    *device += info.plan_bytes_device;
  }
  if (p->smoother) {
    gable_smoother_info info = GABLE_SMOOTHER_INFO_INIT;
    gi_smoother_info(p->smoother, &info);
    *host += info.plan_bytes_host;
    *device += info.plan_bytes_device;
  }
}

gable_status gi_precond_plan_bound(const gable_precond *p, gable_idx n, gable_off nnz, size_t *host, size_t *device)
{
  gable_status status = GABLE_OK;
  *host = sizeof *p;
  *device = 0;
  gi_matrix_rows_add_bound(p->ctx, n, nnz, host, device);
  if (p->kind->add_bound) GI_TRY(p->kind->add_bound(p, n, nnz, host, device));
done:
  return status;
}
