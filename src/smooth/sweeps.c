/* sweeps.c: sweeps over the table of the place: which way, in whose memory, in which order, with which norms. */
#include "smooth/sweeps.h"

#include <stdio.h>
#include <string.h>

#include "base/pulse.h"

static const gi_sweep_way *way_for(const gi_sweeps *s)
{
  const gi_method m = s->method;
  if (s->device->space == GABLE_SPACE_DEVICE) return m == GI_LEVR || m == GI_ELMR ? &gi_sweep_fused : &gi_sweep_split;
  return m == GI_SERIAL || m == GI_LEVR || m == GI_TILES || m == GI_AUTO ? &gi_sweep_lists : &gi_sweep_split;
}

/* *out: without an analysis. */
static gable_status open_sweeps(gable_context *ctx, const gi_shape *shape, gi_method method,
                                const gable_smoother_options *options, gi_sweeps **out)
{
  gable_status status = GABLE_OK;
  gi_sweeps *s = NULL;
  GI_ALLOC_ZERO(ctx, s, 1);
  atomic_init(&s->users, 1);
  s->ctx = ctx;
  s->device = ctx->device;
  s->options = *options;
  s->method = method;
  s->way = way_for(s);
  s->n = shape->n;
  s->value_type = shape->value_type;
  s->stream = gi_own_stream(ctx);
  for (int d = 0; d < 2; d++) s->to[d].asked = (int)options->sweep >> d & 1;
  *out = s;
done:
  return status;
}

gable_status gi_sweeps_create(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a, gi_method method,
                              const gable_smoother_options *options, gi_sweeps **out)
{
  gable_status status = GABLE_OK;
  gi_sweeps *s = NULL;
  GI_TRY(open_sweeps(ctx, shape, method, options, &s));
  GI_TRY(gi_update_order_init(ctx, &s->order));
  GI_TRY(s->way->analyse(s, shape, a));
  GI_TRY(s->device->synchronise(ctx, NULL)); /* a captured update cannot wait for the analysis */
  *out = s;
  s = NULL;
done:
  gi_sweeps_drop(s);
  return status;
}

gable_status gi_sweeps_bound(gable_context *ctx, const gi_shape *shape, gi_method method,
                             const gable_smoother_options *options, size_t *host, size_t *device)
{
  gable_status status = GABLE_OK;
  gi_sweeps *s = NULL;
  *host = sizeof *s;
  *device = 0;
  GI_TRY(open_sweeps(ctx, shape, method, options, &s));
  GI_TRY(s->way->add_bound(s, shape->nnz, host, device));
done:
  gi_sweeps_drop(s);
  return status;
}

void gi_sweeps_drop(gi_sweeps *s)
{
  if (!s || atomic_fetch_sub(&s->users, 1) > 1) return;
  (void)s->device->synchronise(s->ctx, s->stream);
  for (int d = 0; d < 2; d++) {
    gi_op_plan_release(s->ctx, &s->to[d].lists);
    gi_trisolve_destroy(&s->to[d].plan);
    gi_level_order_release(s->ctx, &s->to[d].rows);
  }
  gi_free(s->ctx, s->diagonal_from);
  s->device->release(s->ctx, s->relaxed);
  s->device->release(s->ctx, s->fault);
  gi_resident_csr_release(s->ctx, &s->rows);
  gi_update_order_release(&s->order);
  gi_free(s->ctx, s);
}

gable_status gi_sweeps_update(gi_sweeps *s, const void *val, int *updated)
{
  gable_status status = GABLE_OK;
  int captured = 0;
  GI_TRY(gi_update_order_begin(&s->order, s->stream, s->reads_back, &captured));
  *updated = 0;
  GI_TRY(s->way->update(s, val));
  GI_TRY(gi_update_order_end(&s->order, s->stream, captured));
  *updated = 1;
done:
  return status;
}

gable_status gi_sweeps_find_fault(const gi_sweeps *s, void *stream, gable_idx *row)
{
  gable_status status = GABLE_OK;
  int fault[2];
  if (!s->fault) goto done;
  GI_TRY(s->device->copy_out(s->ctx, fault, s->fault, sizeof fault, stream));
  GI_TRY(s->device->synchronise(s->ctx, stream));
  *row = fault[1] < fault[0] ? fault[1] : fault[0];
  GI_REQUIRE(fault[1] >= fault[0], GABLE_ERR_NOT_FINITE, "the diagonal entry of row %d (counted from 0) is not finite",
             fault[1]);
  GI_REQUIRE(fault[0] >= GIK_NO_ROW, GABLE_ERR_SINGULAR,
             "the diagonal entry of row %d (counted from 0) is zero, or its reciprocal overflows", fault[0]);
  *row = -1;
done:
  return status;
}

void gi_sweeps_work_destroy(gable_smoother_work *w)
{
  if (!w) return;
  gi_sweeps *s = w->s;
  (void)s->device->synchronise(s->ctx, w->stream);
  gi_update_order_remove(&s->order, &w->order);
  for (int d = 0; d < 2; d++) {
    gi_work_destroy(&w->to[d]);
    gi_free(s->ctx, w->scratch[d]);
    s->device->release(s->ctx, w->control[d]);
    s->device->release(s->ctx, w->published[d]);
  }
  void *const owned[] = {w->b, w->x, w->y, w->parts};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) s->device->release(s->ctx, owned[k]);
  gi_free(s->ctx, w->host);
  gi_free(s->ctx, w);
  gi_sweeps_drop(s);
}

/* *out = count doubles in the memory of the place. */
static gable_status take(const gi_sweeps *s, gable_off count, void **out)
{
  return s->device->alloc(s->ctx, ((size_t)count + 1) * sizeof(double), out);
}

static gable_status make_vectors(gable_smoother_work *w)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = w->s;
  const gable_off all = (gable_off)s->n * s->options.max_rhs;
  const int apart = s->device->space == GABLE_SPACE_DEVICE; /* vectors of host memory go through the work's */
  void *p = NULL;
  if (s->way->dense_x)
    GI_TRY(take(s, (gable_off)s->n * (s->in_place ? 1 : 2), &w->x));
  else
    GI_TRY(take(s, all, &w->y));
  if (apart) {
    GI_TRY(take(s, all, &w->b));
    GI_TRY(take(s, all, &w->x));
    w->host = gi_alloc(s->ctx, s->n + 1, sizeof(double));
    GI_REQUIRE_MEMORY(w->host, (double)s->n * sizeof(double), "a vector");
  }
  GI_TRY(take(s, GIK_SQUARE_PARTS + GI_SWEEP_NORMS, &p));
  w->parts = p;
  w->norms = w->parts + GIK_SQUARE_PARTS;
done:
  return status;
}

gable_status gi_sweeps_work_create(gi_sweeps *s, gable_smoother_work **out)
{
  gable_status status = GABLE_OK;
  gable_smoother_work *w = NULL;
  GI_ALLOC_ZERO(s->ctx, w, 1);
  w->s = s;
  w->stream = gi_own_stream(s->ctx);
  atomic_fetch_add(&s->users, 1);
  GI_TRY(make_vectors(w));
  GI_TRY(s->way->work_init(w));
  gi_update_order_add(&s->order, &w->order, &w->stream);
  *out = w;
  w = NULL;
done:
  gi_sweeps_work_destroy(w);
  return status;
}

/* The caller's vectors v become the work's dense ones. */
static gable_status bring(const gi_sweep_job *j, gable_space space, const void *v, ptrdiff_t step, ptrdiff_t rhs,
                          void *dense)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = j->s;
  const gable_smoother_work *w = j->w;
  const size_t one = gi_type_size(j->run.type), bytes = (size_t)s->n * one;
  for (gable_idx c = 0; c < j->run.count; c++) {
    const char *from = (const char *)v + c * rhs * (ptrdiff_t)one;
    char *to = (char *)dense + (size_t)c * bytes;
    if (space == s->device->space) {
      GI_KERNELS(s->ctx, s->device->kernels->row_products->copy(s->n, j->run.type, from, step, to, 1, w->stream));
      continue;
    }
    if (step != 1) GI_TRY(gik_row_products_cpu.copy(s->n, j->run.type, from, step, w->host, 1, NULL));
    GI_TRY(s->device->copy_in(s->ctx, to, step == 1 ? from : w->host, bytes, w->stream));
    GI_TRY(s->device->synchronise(s->ctx, w->stream));
  }
done:
  return status;
}

/* And the work's x the caller's. */
static gable_status take_back(const gi_sweep_job *j, const gi_sweep_run *run)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = j->s;
  const gable_smoother_work *w = j->w;
  const size_t one = gi_type_size(run->type), bytes = (size_t)s->n * one;
  for (gable_idx c = 0; c < run->count; c++) {
    const char *from = (const char *)w->x + (size_t)c * bytes;
    char *to = (char *)run->x + c * run->x_rhs * (ptrdiff_t)one;
    if (run->space == s->device->space) {
      GI_KERNELS(s->ctx, s->device->kernels->row_products->copy(s->n, run->type, from, 1, to, run->x_step, w->stream));
      continue;
    }
    GI_TRY(s->device->copy_out(s->ctx, run->x_step == 1 ? to : w->host, from, bytes, w->stream));
    GI_TRY(s->device->synchronise(s->ctx, w->stream));
    if (run->x_step != 1) GI_TRY(gik_row_products_cpu.copy(s->n, run->type, w->host, 1, to, run->x_step, NULL));
  }
done:
  return status;
}

/* x = 0 where nothing else writes it. */
static gable_status write_zero(gi_sweep_job *j)
{
  gable_status status = GABLE_OK;
  const gik_row_products *kernels = j->s->device->kernels->row_products;
  const gi_sweep_run *r = &j->run;
  const ptrdiff_t column = r->x_rhs * (ptrdiff_t)gi_type_size(r->type);
  for (gable_idx c = 0; c < r->count && j->zero; c++)
    GI_KERNELS(j->s->ctx, kernels->copy(j->s->n, r->type, NULL, 1, (char *)r->x + c * column, r->x_step, j->w->stream));
  j->zero = 0;
done:
  return status;
}

/* Sweep k's norm; those that wait are fetched when there is no more room, and after the last. */
static gable_status note(gi_sweep_job *j, int k)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = j->s;
  const gable_smoother_work *w = j->w;
  double norms[GI_SWEEP_NORMS];
  const int waiting = k % GI_SWEEP_NORMS + 1;
  GI_TRY(s->way->norm(j, w->norms + k % GI_SWEEP_NORMS));
  if (waiting < GI_SWEEP_NORMS && k < j->run.sweeps) goto done;
  GI_TRY(s->device->copy_out(s->ctx, norms, w->norms, (size_t)waiting * sizeof *norms, w->stream));
  GI_TRY(s->device->synchronise(s->ctx, w->stream));
  for (int i = 0; i < waiting; i++) j->run.history[k + 1 - waiting + i] += norms[i];
done:
  return status;
}

static gable_status sweep_all(gi_sweep_job *j)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = j->s;
  gi_pulse pulse = gi_pulse_begin(s->ctx, "sweep");
  if (!j->run.sweeps || s->way->one_pass) GI_TRY(write_zero(j));
  if (j->run.history) GI_TRY(note(j, 0));
  for (int k = 1; k <= j->run.sweeps; k++) {
    if (k > 1) GI_TRY(gi_pulse_tell(&pulse, (double)(k - 1) / j->run.sweeps));
    for (int d = 0; d < 2; d++)
      if (s->to[d].asked) GI_TRY(s->way->sweep(j, d));
    if (j->run.history) GI_TRY(note(j, k));
  }
done:
  return status;
}

gable_status gi_sweeps_apply(gable_smoother_work *w, const gi_sweep_run *run)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = w->s;
  const int apart = run->space != s->device->space, dense_x = apart || s->way->dense_x;
  gable_idx row;
  gi_sweep_job j = {s, w, *run, run->from_zero};
  GI_TRY(gi_update_order_await(&s->order, &w->order));
  if (apart) {
    GI_TRY(bring(&j, run->space, run->b, run->b_step, run->b_rhs, w->b));
    j.run.b = w->b;
    j.run.b_step = 1;
    j.run.b_rhs = s->n;
  }
  if (dense_x) {
    if (!j.zero) GI_TRY(bring(&j, run->space, run->x, run->x_step, run->x_rhs, w->x));
    j.run.x = w->x;
    j.run.x_step = 1;
    j.run.x_rhs = s->n;
  }
  GI_TRY(sweep_all(&j));
  if (dense_x) GI_TRY(take_back(&j, run));
  if (apart) GI_TRY(s->way->status(w, &row));
done:
  return status;
}

void gi_sweeps_set_stream(gi_sweeps *s, void *stream)
{
  (void)s->device->order_after(s->ctx, stream, s->stream);
  s->stream = stream;
  for (int d = 0; d < 2; d++)
    if (s->to[d].plan) (void)gi_trisolve_set_stream(s->to[d].plan, stream);
}

void gi_sweeps_work_set_stream(gable_smoother_work *w, void *stream)
{
  (void)w->s->device->order_after(w->s->ctx, stream, w->stream);
  w->stream = stream;
  w->order.seen = 0;
  for (int d = 0; d < 2; d++)
    if (w->to[d]) (void)gi_work_set_stream(w->to[d], stream);
}

void gi_sweeps_info(const gi_sweeps *s, gable_smoother_info *info)
{
  const gi_sweep_direction *d = &s->to[s->to[0].asked ? 0 : 1];
  gable_trisolve_info plan = GABLE_TRISOLVE_INFO_INIT;
  if (d->plan) (void)gi_trisolve_get_info(d->plan, GABLE_OP_N, &plan);
  snprintf(info->method_used, sizeof info->method_used, "%s",
           !d->plan           ? d->lists.method->name
           : s->way->one_pass ? gi_method_name(s->method)
                              : plan.method_used);
  snprintf(info->why, sizeof info->why, "%s", d->plan ? plan.why : d->lists.why);
  info->in_place = s->in_place;
  info->nnz = s->nnz;
  info->levels_forward = s->to[0].levels;
  info->levels_backward = s->to[1].levels;
  info->plan_bytes_host = sizeof *s;
  info->plan_bytes_device = 0;
  s->way->add_bytes(s, &info->plan_bytes_host, &info->plan_bytes_device);
}
