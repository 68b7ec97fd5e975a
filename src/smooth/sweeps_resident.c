/* sweeps_resident.c: sweeps on whole rows where the context runs.
 *
 * With d = diag(A) / omega a forward sweep is (d + L) x_new = b - U x + (d - diag(A)) x: a product with one side of the
 * diagonal, and a triangular solve.  The backward sweep after it wants b - L x_new, which needs no product, for the
 * solve has just made L x_new = y - d x_new, y its right-hand side (V. Conrad and Y. Wallach, Alternating methods for
 * sets of linear equations, Numer. Math. 32 (1979)). */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/pulse.h"
#include "device/device.h"
#include "kernels/trisolve/sweep_rows.h"
#include "smooth/resident_csr.h"
#include "smooth/sweeps.h"
#include "trisolve/level_order.h"
#include "trisolve/trisolve.h"

enum { HISTORY = 64 }; /* norms that wait on the device */

/* One direction: d == 0 forward (new values below the diagonal), d == 1 backward. */
typedef struct direction {
  gable_trisolve *plan; /* NULL: not asked for */
  gable_idx levels;
  gi_level_order rows; /* fused alone */
} direction;

typedef struct whole {
  gable_context *ctx;
  const gi_device *device; /* ctx->device->vectors: in whose memory everything below is */
  gable_smoother_options options;
  gi_method method;
  const gik_row_sweeps *fused; /* levr and elmr of the GPU, or NULL */
  gi_resident_csr rows;
  direction to[2];
  void *relaxed; /* [n] diag(A) / omega */
  int *fault;    /* [2] */
  void *stream;  /* of updates */
} whole;

typedef struct whole_work {
  const whole *s;
  gable_work *to[2];       /* of the plans; NULL where fused */
  void *y, *b, *x;         /* [n * max_rhs] double each; y also holds old values where fused */
  void *host;              /* [n] in host memory */
  double *parts, *norms;   /* [GIK_SQUARE_PARTS], [HISTORY] */
  gik_control *control[2]; /* fused elements, for float and for double vectors */
  void *published[2];      /* [2n] */
  void *stream;
} whole_work;

static void release(void *state)
{
  whole *s = state;
  if (!s) return;
  const gi_device *device = s->device;
  (void)device->synchronise(s->ctx, s->stream);
  for (int d = 0; d < 2; d++) {
    gi_trisolve_destroy(&s->to[d].plan);
    gi_level_order_release(s->ctx, &s->to[d].rows);
  }
  device->release(s->ctx, s->relaxed);
  device->release(s->ctx, s->fault);
  gi_resident_csr_release(s->ctx, &s->rows);
  gi_free(s->ctx, s);
}

static void work_release(void *work)
{
  whole_work *w = work;
  if (!w) return;
  gable_context *ctx = w->s->ctx;
  (void)w->s->device->synchronise(ctx, w->stream);
  for (int d = 0; d < 2; d++) gi_work_destroy(&w->to[d]);
  void *const owned[] = {w->y,           w->b, w->x, w->parts, w->norms, w->control[0], w->control[1], w->published[0],
                         w->published[1]};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) w->s->device->release(ctx, owned[k]);
  gi_free(ctx, w->host);
  gi_free(ctx, w);
}

/* The plan for (d + L) or (d + U); fused methods take its levels alone. */
static gable_status make_direction(whole *s, direction *d)
{
  gable_status status = GABLE_OK;
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  const gable_matrix_view view = gi_resident_csr_view(&s->rows);
  options.method = gi_method_name(s->fused ? GI_LEVR : s->method);
  options.uplo = d == &s->to[0] ? GABLE_PART_LOWER : GABLE_PART_UPPER;
  options.diag = GABLE_DIAG_SEPARATE;
  options.ops = GABLE_TRISOLVE_N;
  options.deadline_s = s->options.deadline_s;
  options.threads = s->options.threads;
  options.typical_rhs = s->options.max_rhs;
  options.solves = s->options.solves;
  GI_TRY(gi_trisolve_create(s->ctx, &options, &d->plan));
  GI_TRY(gi_trisolve_analyse(d->plan, &view));
  GI_TRY(gi_trisolve_get_info(d->plan, GABLE_OP_N, &info));
  d->levels = info.levels;
  if (s->fused) GI_TRY(gi_level_order_make(d->plan, &d->rows));
  if (s->fused) d->levels = d->rows.levels;
done:
  return status;
}

static gable_status take(const whole *s, size_t bytes, void **out)
{
  return s->device->alloc(s->ctx, bytes, out);
}

static gable_status make_diagonal(whole *s)
{
  gable_status status = GABLE_OK;
  void *p = NULL;
  GI_TRY(take(s, ((size_t)s->rows.a.n + 1) * sizeof(double), &s->relaxed));
  GI_TRY(take(s, 2 * sizeof *s->fault, &p));
  s->fault = p;
done:
  return status;
}

static gable_status make_vectors(whole_work *w)
{
  gable_status status = GABLE_OK;
  const whole *s = w->s;
  const size_t bytes = ((size_t)s->rows.a.n + 1) * sizeof(double), all = bytes * (size_t)s->options.max_rhs;
  void *p = NULL;
  GI_TRY(take(s, all, &w->y));
  if (s->device->space == GABLE_SPACE_DEVICE) { /* where vectors of host memory go through */
    GI_TRY(take(s, all, &w->b));
    GI_TRY(take(s, all, &w->x));
    w->host = gi_alloc(s->ctx, (gable_off)bytes, 1);
    GI_REQUIRE(w->host, GABLE_ERR_MEMORY, "out of memory: %.1f MB for a vector", (double)bytes / 1e6);
  }
  GI_TRY(take(s, GIK_SQUARE_PARTS * sizeof *w->parts, &p));
  w->parts = p;
  GI_TRY(take(s, HISTORY * sizeof *w->norms, &p));
  w->norms = p;
done:
  return status;
}

/* Control and published values of the sweeps in one kernel, for each type of vectors that this matrix takes. */
static gable_status make_published(whole_work *w)
{
  gable_status status = GABLE_OK;
  const whole *s = w->s;
  const gable_idx n = s->rows.a.n;
  for (int k = s->rows.a.value_type == GABLE_TYPE_D; k < 2; k++) {
    const gable_type type = k ? GABLE_TYPE_D : GABLE_TYPE_S;
    void *p = NULL;
    GI_TRY(take(s, sizeof *w->control[k], &p));
    w->control[k] = p;
    GI_TRY(take(s, (2 * (size_t)n + 1) * gi_type_size(type), &w->published[k]));
    GI_TRY(s->fused->prepare(w->control[k], w->published[k], n, type, gi_own_stream(s->ctx)));
  }
  GI_TRY(s->device->synchronise(s->ctx, NULL));
done:
  return status;
}

static gable_status work_create(const void *state, void **out)
{
  gable_status status = GABLE_OK;
  const whole *s = state;
  whole_work *w = NULL;
  GI_ALLOC_ZERO(s->ctx, w, 1);
  w->s = s;
  w->stream = gi_own_stream(s->ctx);
  GI_TRY(make_vectors(w));
  if (s->fused) GI_TRY(make_published(w));
  for (int d = 0; d < 2 && !s->fused; d++)
    if (s->to[d].plan) GI_TRY(gi_work_create(s->to[d].plan, s->options.max_rhs, &w->to[d]));
  *out = w;
  w = NULL;
done:
  work_release(w);
  return status;
}

static gable_status analyse(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a, gi_method method,
                            const gable_smoother_options *options, gable_idx *bad_row, void **out)
{
  gable_status status = GABLE_OK;
  whole *s = NULL;
  GI_ALLOC_ZERO(ctx, s, 1);
  s->ctx = ctx;
  s->options = *options;
  s->method = method;
  s->device = ctx->device->vectors;
  s->stream = gi_own_stream(ctx);
  GI_REQUIRE((gable_off)shape->n * options->max_rhs <= INT_MAX, GABLE_ERR_LIMIT,
             "%d rows and %d right-hand sides at once are too many: give a smaller max_rhs", shape->n,
             options->max_rhs);
  if (method == GI_LEVR || method == GI_ELMR) s->fused = s->device->kernels->row_sweeps;
  GI_TRY(gi_resident_csr_init(ctx, shape, a, 1, bad_row, &s->rows));
  for (int d = 0; d < 2; d++)
    if ((int)options->sweep & (1 << d)) GI_TRY(make_direction(s, &s->to[d]));
  GI_TRY(make_diagonal(s));
  *out = s;
  s = NULL;
done:
  release(s);
  return status;
}

static gable_status update(void *state, const void *val, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  whole *s = state;
  gable_context *ctx = s->ctx;
  int fault[2] = {INT_MAX, INT_MAX};
  *bad_row = -1;
  GI_TRY(gi_resident_csr_update(ctx, &s->rows, val, s->stream));
  GI_TRY(s->device->copy_in(ctx, s->fault, fault, sizeof fault, s->stream));
  GI_TRY(s->rows.kernels->relax(&s->rows.a, s->options.omega, s->relaxed, s->fault, s->stream));
  GI_TRY(s->device->copy_out(ctx, fault, s->fault, sizeof fault, s->stream));
  GI_TRY(s->device->synchronise(ctx, s->stream));
  *bad_row = fault[0] < fault[1] ? fault[0] : fault[1] < INT_MAX ? fault[1] : -1;
  GI_REQUIRE(fault[1] == INT_MAX || fault[0] < fault[1], GABLE_ERR_NOT_FINITE,
             "the diagonal entry of row %d (counted from 0) is not finite", fault[1]);
  GI_REQUIRE(fault[0] == INT_MAX, GABLE_ERR_SINGULAR,
             "the diagonal entry of row %d (counted from 0) is zero, or its reciprocal overflows", fault[0]);
  for (int d = 0; d < 2 && !s->fused; d++)
    if (s->to[d].plan) GI_TRY(gi_trisolve_update(s->to[d].plan, s->rows.val, s->relaxed));
done:
  return status;
}

/* What one call of apply works on, all in the memory of the place. */
typedef struct job {
  const whole *s;
  whole_work *w;
  const gi_sweep_run *run;
  const void *b;
  void *x;
  ptrdiff_t b_step, x_step, b_rhs, x_rhs;
  gable_idx count;
  int zero; /* 1: x is zero and not yet written */
} job;

static gik_product product_of(const job *j, gik_part part, const void *relaxed)
{
  gik_product p = {.part = part, .type = j->run->type, .b = j->b, .relaxed = relaxed, .x = j->zero ? NULL : j->x};
  p.exact = j->s->options.omega == 1;
  p.y = j->w->y;
  p.b_step = j->b_step;
  p.x_step = j->x_step;
  p.b_rhs = j->b_rhs;
  p.x_rhs = j->x_rhs;
  p.count = j->count;
  p.threads = j->s->options.threads;
  p.stream = j->w->stream;
  return p;
}

static gable_vectors_view columns(const job *j, void *data, ptrdiff_t step, ptrdiff_t rhs)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.type = j->run->type;
  v.space = j->s->device->space;
  v.n = j->s->rows.a.n;
  v.count = j->count;
  v.major = step == 1 ? GABLE_MAJOR_COL : GABLE_MAJOR_ROW;
  v.ld = step != 1 ? step : rhs < v.n ? v.n : rhs; /* one dense column may have any rhs */
  v.data = data;
  return v;
}

/* after: 1 when the sweep of the other direction came just before, and y is still its right-hand side. */
static gable_status sweep_split(job *j, int d, int after)
{
  gable_status status = GABLE_OK;
  const whole *s = j->s;
  gik_product p = product_of(j, d ? GIK_BELOW : GIK_ABOVE, s->relaxed);
  gable_vectors_view y = columns(j, j->w->y, 1, s->rows.a.n), x = columns(j, j->x, j->x_step, j->x_rhs);
  GI_TRY((after ? s->rows.kernels->return_rhs : s->rows.kernels->product)(&s->rows.a, &p));
  GI_TRY(gi_trisolve_solve(s->to[d].plan, j->w->to[d], GABLE_OP_N, &y, &x));
  j->zero = 0;
done:
  return status;
}

static gable_status sweep_fused(job *j, int d)
{
  gable_status status = GABLE_OK;
  const whole *s = j->s;
  const whole_work *w = j->w;
  const gi_sweep_run *r = j->run;
  const gi_level_order *rows = &s->to[d].rows;
  const gik_sweep_order order = {d, rows->levels, rows->list, rows->start, rows->device_start};
  gik_sweep sweep = {.type = r->type, .b = j->b, .x = j->x, .b_step = j->b_step, .x_step = j->x_step};
  sweep.old = s->rows.symmetric ? NULL : w->y;
  sweep.omega = s->options.omega;
  sweep.control = w->control[r->type == GABLE_TYPE_D];
  sweep.published = w->published[r->type == GABLE_TYPE_D];
  sweep.deadline_ns = (unsigned long long)(s->options.deadline_s * 1e9);
  sweep.stream = w->stream;
  if (sweep.old) GI_TRY(s->rows.kernels->copy(s->rows.a.n, r->type, j->x, j->x_step, w->y, 1, w->stream));
  GI_TRY((s->method == GI_LEVR ? s->fused->levels : s->fused->elements)(&s->rows.a, &order, &sweep));
done:
  return status;
}

/* Both directions that were asked for. */
static gable_status sweep_once(job *j)
{
  gable_status status = GABLE_OK;
  const whole *s = j->s;
  for (int d = 0; d < 2; d++) {
    if (!s->to[d].plan) continue;
    if (s->fused)
      GI_TRY(sweep_fused(j, d));
    else
      GI_TRY(sweep_split(j, d, d == 1 && s->to[0].plan));
  }
done:
  return status;
}

/* Sweep k's norm; those that wait are fetched when there is no more room, and after the last. */
static gable_status note(job *j, int k)
{
  gable_status status = GABLE_OK;
  const whole *s = j->s;
  whole_work *w = j->w;
  const gi_device *device = s->device;
  gik_product p = product_of(j, GIK_WHOLE, NULL);
  double norms[HISTORY], *norm = w->norms + k % HISTORY;
  const int waiting = k % HISTORY + 1;
  GI_TRY(s->rows.kernels->product(&s->rows.a, &p));
  GI_TRY(s->rows.kernels->square(s->rows.a.n * j->count, j->run->type, w->y, w->parts, norm, w->stream));
  if (waiting < HISTORY && k < j->run->sweeps) goto done;
  GI_TRY(device->copy_out(s->ctx, norms, w->norms, (size_t)waiting * sizeof *norms, w->stream));
  GI_TRY(device->synchronise(s->ctx, w->stream));
  for (int i = 0; i < waiting; i++) j->run->history[k + 1 - waiting + i] += norms[i];
done:
  return status;
}

/* Between the caller's vectors in host memory and dense ones of the device. */
static gable_status bring(const job *j, const void *host, ptrdiff_t step, ptrdiff_t rhs, void *device)
{
  gable_status status = GABLE_OK;
  const whole *s = j->s;
  whole_work *w = j->w;
  const gable_idx n = s->rows.a.n;
  const size_t one = gi_type_size(j->run->type), bytes = (size_t)n * one;
  for (gable_idx c = 0; c < j->count; c++) {
    const char *from = (const char *)host + c * rhs * (ptrdiff_t)one;
    if (step != 1) GI_TRY(gik_row_products_cpu.copy(n, j->run->type, from, step, w->host, 1, NULL));
    GI_TRY(
        s->device->copy_in(s->ctx, (char *)device + (size_t)c * bytes, step == 1 ? from : w->host, bytes, w->stream));
    GI_TRY(s->device->synchronise(s->ctx, w->stream));
  }
done:
  return status;
}

static gable_status take_back(const job *j)
{
  gable_status status = GABLE_OK;
  const whole *s = j->s;
  whole_work *w = j->w;
  const gi_sweep_run *r = j->run;
  const gable_idx n = s->rows.a.n;
  const size_t one = gi_type_size(r->type), bytes = (size_t)n * one;
  for (gable_idx c = 0; c < j->count; c++) {
    char *to = (char *)r->x + c * r->x_rhs * (ptrdiff_t)one;
    GI_TRY(
        s->device->copy_out(s->ctx, r->x_step == 1 ? to : w->host, (char *)w->x + (size_t)c * bytes, bytes, w->stream));
    GI_TRY(s->device->synchronise(s->ctx, w->stream));
    if (r->x_step != 1) GI_TRY(gik_row_products_cpu.copy(n, r->type, w->host, 1, to, r->x_step, NULL));
  }
done:
  return status;
}

static gable_status status_of(void *work, gable_idx *row)
{
  gable_status status = GABLE_OK;
  whole_work *w = work;
  const whole *s = w->s;
  *row = -1;
  for (int d = 0; d < 2; d++)
    if (w->to[d]) GI_TRY(gi_work_status(w->to[d], row));
  for (int k = 0; k < 2 && s->fused; k++) {
    gik_control c;
    if (!w->control[k]) continue;
    GI_TRY(s->device->copy_out(s->ctx, &c, w->control[k], sizeof c, w->stream));
    GI_TRY(s->device->synchronise(s->ctx, w->stream));
    if (c.fault_row < 0) continue;
    *row = c.fault_row;
    GI_TRY(s->fused->prepare(w->control[k], w->published[k], s->rows.a.n, k ? GABLE_TYPE_D : GABLE_TYPE_S, w->stream));
    GI_REQUIRE(0, GABLE_ERR_DEADLINE, "a sweep waited longer than %g s for row %d (counted from 0)",
               s->options.deadline_s, c.fault_row);
  }
done:
  return status;
}

/* x = 0 where nothing else writes it. */
static gable_status write_zero(job *j)
{
  gable_status status = GABLE_OK;
  const whole *s = j->s;
  const size_t one = gi_type_size(j->run->type);
  for (gable_idx c = 0; c < j->count && j->zero; c++)
    GI_TRY(s->rows.kernels->copy(s->rows.a.n, j->run->type, NULL, 1, (char *)j->x + c * j->x_rhs * (ptrdiff_t)one,
                                 j->x_step, j->w->stream));
  j->zero = 0;
done:
  return status;
}

static gable_status sweep_all(job *j)
{
  gable_status status = GABLE_OK;
  const gi_sweep_run *run = j->run;
  gi_pulse pulse = gi_pulse_begin(j->s->ctx, "sweep");
  if (!run->sweeps || j->s->fused) GI_TRY(write_zero(j));
  if (run->history) GI_TRY(note(j, 0));
  for (int k = 1; k <= run->sweeps; k++) {
    if (k > 1) GI_TRY(gi_pulse_tell(&pulse, (double)(k - 1) / run->sweeps));
    GI_TRY(sweep_once(j));
    if (run->history) GI_TRY(note(j, k));
  }
done:
  return status;
}

static gable_status apply_together(whole_work *w, const gi_sweep_run *run)
{
  gable_status status = GABLE_OK;
  const whole *s = w->s;
  const gable_idx n = s->rows.a.n;
  gable_idx row;
  const int staged = s->device->space != run->space;
  job j = {s, w, run, run->b, run->x, run->b_step, run->x_step, run->b_rhs, run->x_rhs, run->count, run->from_zero};
  if (staged) {
    j = (job){s, w, run, w->b, w->x, 1, 1, n, n, run->count, run->from_zero};
    GI_TRY(bring(&j, run->b, run->b_step, run->b_rhs, w->b));
    if (!j.zero) GI_TRY(bring(&j, run->x, run->x_step, run->x_rhs, w->x));
  }
  GI_TRY(sweep_all(&j));
  if (!staged) goto done;
  GI_TRY(take_back(&j));
  GI_TRY(status_of(w, &row));
done:
  return status;
}

/* In one kernel right-hand sides go one after another. */
static gable_status apply(void *work, const gi_sweep_run *run)
{
  gable_status status = GABLE_OK;
  whole_work *w = work;
  if (!w->s->fused) GI_TRY(apply_together(w, run));
  for (gable_idx c = 0; c < run->count && w->s->fused; c++) {
    const gi_sweep_run one = gi_sweep_column(run, c);
    GI_TRY(apply_together(w, &one));
  }
done:
  return status;
}

static void set_stream(void *state, void *stream)
{
  whole *s = state;
  (void)s->device->order_after(s->ctx, stream, s->stream);
  s->stream = stream;
  for (int d = 0; d < 2; d++)
    if (s->to[d].plan) (void)gi_trisolve_set_stream(s->to[d].plan, stream);
}

static void work_set_stream(void *work, void *stream)
{
  whole_work *w = work;
  (void)w->s->device->order_after(w->s->ctx, stream, w->stream);
  w->stream = stream;
  for (int d = 0; d < 2; d++)
    if (w->to[d]) (void)gi_work_set_stream(w->to[d], stream);
}

static void info_of(const void *state, gable_smoother_info *info)
{
  const whole *s = state;
  gable_trisolve_info plan = GABLE_TRISOLVE_INFO_INIT;
  (void)gi_trisolve_get_info(s->to[0].plan ? s->to[0].plan : s->to[1].plan, GABLE_OP_N, &plan);
  snprintf(info->method_used, sizeof info->method_used, "%s", s->fused ? gi_method_name(s->method) : plan.method_used);
  snprintf(info->why, sizeof info->why, "%s", plan.why);
  info->in_place = s->rows.symmetric;
  info->nnz = s->rows.a.nnz;
  info->levels_forward = s->to[0].levels;
  info->levels_backward = s->to[1].levels;
}

const gi_sweep_kind gi_sweeps_whole = {analyse,         update,    work_create, apply,        set_stream,
                                       work_set_stream, status_of, info_of,     work_release, release};
