/* device_precond.c: makes and applies the preconditioners of a GPU. */
#include <limits.h>
#include <string.h>

#include "device/device.h"
#include "kernels/krylov/incomplete.h"
#include "kernels/krylov/krylov_steps.h"
#include "precond/precond.h"
#include "smooth/sweeps.h"
#include "trisolve/level_order.h"

typedef struct device_state {
  gable_trisolve *first, *second; /* applied one after the other; second NULL: first again, with second_op */
  gable_op second_op;
  gi_level_order order; /* ILU(0), IC(0): rows by level of first */
  void *sweeps;         /* a state of gi_sweeps_whole, */
  void *sweep_work;     /* and its work, from the first update on */
} device_state;

typedef struct device_work {
  gable_work *first, *second;
  gik_krylov_state *never_stopped; /* Jacobi: zeroed, for the step that scales */
} device_work;

/* What an analysis made anew. */
static void forget(gable_precond *p, device_state *d)
{
  (void)p->ctx->device->synchronise(p->ctx, NULL);
  gi_level_order_release(p->ctx, &d->order);
  gi_sweeps_whole.work_release(d->sweep_work);
  d->sweep_work = NULL;
  gi_sweeps_whole.release(d->sweeps);
  d->sweeps = NULL;
  p->ctx->device->release(p->ctx, p->factor);
  p->factor = NULL;
}

static void release(gable_precond *p)
{
  device_state *d = p->state;
  p->state = NULL;
  if (!d) return;
  forget(p, d);
  gi_trisolve_destroy(&d->first);
  gi_trisolve_destroy(&d->second);
  gi_free(p->ctx, d);
}

/* What a factorization needs besides the factor, in one block of the device. */
typedef struct scratch {
  void *block;
  gik_incomplete f;
} scratch;

static gable_status scratch_init(const gable_precond *p, scratch *s)
{
  gable_status status = GABLE_OK;
  const device_state *d = p->state;
  const gik_rows *a = &p->rows->device.a;
  const size_t control = (sizeof(gik_control) + 63) / 64 * 64;
  GI_TRY(p->ctx->device->alloc(p->ctx, control + 64 + (size_t)a->n, &s->block));
  s->f = (gik_incomplete){.a = a, .order = d->order.list, .factor = p->factor, .stream = gi_own_stream(p->ctx)};
  s->f.control = s->block;
  s->f.fault = (int *)((char *)s->block + control);
  s->f.ready = (unsigned char *)s->block + control + 64;
  s->f.deadline_ns = (unsigned long long)(p->options.deadline_s * 1e9);
done:
  return status;
}

/* One attempt; *bad_row: the lowest row whose pivot will not do, -1: none. */
static gable_status attempt(const gable_precond *p, scratch *s, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  const gi_device *device = p->ctx->device;
  const gik_control fresh = {.fault_row = -1};
  const int none = INT_MAX;
  gik_control control;
  int fault = 0;
  s->f.shift = p->shift;
  GI_TRY(device->copy_in(p->ctx, s->f.control, &fresh, sizeof fresh, NULL));
  GI_TRY(device->copy_in(p->ctx, s->f.fault, &none, sizeof none, NULL));
  const gik_incomplete_factors *kernels = device->kernels->incomplete_factors;
  GI_TRY((p->options.kind == GABLE_PRECOND_IC0 ? kernels->ic0 : kernels->ilu0)(&s->f));
  GI_TRY(device->copy_out(p->ctx, &control, s->f.control, sizeof control, NULL));
  GI_TRY(device->copy_out(p->ctx, &fault, s->f.fault, sizeof fault, NULL));
  GI_TRY(device->synchronise(p->ctx, NULL));
  GI_REQUIRE(control.fault_row < 0, GABLE_ERR_DEADLINE,
             "a factorization waited longer than %g s for row %d (counted from 0)", p->options.deadline_s,
             control.fault_row);
  *bad_row = fault == INT_MAX ? -1 : fault;
done:
  return status;
}

/* The pivot of a row that will not do, for the message. */
static double pivot_of(const gable_precond *p, gable_idx row)
{
  unsigned at = 0;
  double pivot = 0;
  gable_context *ctx = p->ctx;
  if (ctx->device->copy_out(ctx, &at, p->rows->device.diagonal + row, sizeof at, NULL) ||
      ctx->device->synchronise(ctx, NULL))
    return 0;
  if (ctx->device->copy_out(ctx, &pivot, p->factor + at, sizeof pivot, NULL) || ctx->device->synchronise(ctx, NULL))
    return 0;
  return pivot;
}

static gable_status update_ilu0(gable_precond *p, device_state *d)
{
  gable_status status = GABLE_OK;
  gable_idx bad_row = -1;
  scratch s;
  memset(&s, 0, sizeof s);
  GI_TRY(scratch_init(p, &s));
  GI_TRY(attempt(p, &s, &bad_row));
  GI_REQUIRE(bad_row < 0, GABLE_ERR_SINGULAR, "ILU(0): the pivot of row %d (counted from 0) is %g", bad_row,
             pivot_of(p, bad_row));
  GI_TRY(gi_trisolve_update(d->first, p->factor, NULL));
  GI_TRY(gi_trisolve_update(d->second, p->factor, NULL));
done:
  p->ctx->device->release(p->ctx, s.block);
  return status;
}

/* The diagonal is enlarged as on the CPU, see ilu0.h. */
static gable_status update_ic0(gable_precond *p, device_state *d)
{
  gable_status status = GABLE_OK;
  gable_idx bad_row = -1;
  scratch s;
  memset(&s, 0, sizeof s);
  GI_TRY(scratch_init(p, &s));
  for (;;) {
    GI_TRY(attempt(p, &s, &bad_row));
    if (bad_row < 0) break;
    const double next = p->shift > 0 ? 2 * p->shift : 1e-3;
    GI_REQUIRE(next <= 10, GABLE_ERR_SINGULAR,
               "IC(0): the pivot of row %d (counted from 0) is not positive, even with the diagonal enlarged %g times",
               bad_row, 1 + p->shift);
    p->shift = next;
  }
  GI_TRY(gi_trisolve_update(d->first, p->factor, NULL));
done:
  p->ctx->device->release(p->ctx, s.block);
  return status;
}

static gable_status update_jacobi(const gable_precond *p)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = p->ctx;
  const gi_resident_csr *rows = &p->rows->device;
  int fault[2] = {INT_MAX, INT_MAX};
  void *on_device = NULL;
  GI_TRY(ctx->device->alloc(ctx, sizeof fault, &on_device));
  GI_TRY(ctx->device->copy_in(ctx, on_device, fault, sizeof fault, NULL));
  GI_TRY(rows->kernels->relax(&rows->a, 1.0, p->factor, on_device, gi_own_stream(ctx)));
  GI_TRY(ctx->device->copy_out(ctx, fault, on_device, sizeof fault, NULL));
  GI_TRY(ctx->device->synchronise(ctx, NULL));
  if (fault[1] < fault[0]) fault[0] = fault[1];
  GI_REQUIRE(fault[0] == INT_MAX, GABLE_ERR_SINGULAR,
             "Jacobi: the diagonal entry of row %d (counted from 0) is zero, missing or not finite", fault[0]);
done:
  ctx->device->release(ctx, on_device);
  return status;
}

static gable_status update(gable_precond *p)
{
  gable_status status = GABLE_OK;
  device_state *d = p->state;
  const gable_preconditioner kind = p->options.kind;
  gable_idx bad_row;
  if (kind == GABLE_PRECOND_ILU0) GI_TRY(update_ilu0(p, d));
  if (kind == GABLE_PRECOND_IC0) GI_TRY(update_ic0(p, d));
  if (kind == GABLE_PRECOND_JACOBI) GI_TRY(update_jacobi(p));
  if (kind == GABLE_PRECOND_GS) GI_TRY(gi_sweeps_whole.update(d->sweeps, p->rows->device.val, &bad_row));
  if (kind == GABLE_PRECOND_GS && !d->sweep_work) GI_TRY(gi_sweeps_whole.work_create(d->sweeps, &d->sweep_work));
done:
  return status;
}

static gable_status analyse_gs(const gable_precond *p, const gable_matrix_view *view, device_state *d)
{
  gable_status status = GABLE_OK;
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  gi_method m = GI_AUTO;
  gi_shape shape;
  gable_idx bad_row;
  GI_TRY(gi_method_from(p->ctx, p->options.method, &m));
  options.deadline_s = p->options.deadline_s;
  options.threads = p->options.threads;
  options.max_rhs = 1;
  GI_TRY(gi_shape_from(view, GABLE_PART_LOWER, &shape));
  GI_TRY(gi_sweeps_whole.analyse(p->ctx, &shape, view, m, &options, &bad_row, &d->sweeps));
done:
  return status;
}

static gable_status take(gable_context *ctx, size_t count, double **out)
{
  gable_status status = GABLE_OK;
  void *taken = NULL;
  GI_TRY(ctx->device->alloc(ctx, count * sizeof **out + 1, &taken));
  *out = taken;
done:
  return status;
}

static gable_status analyse(gable_precond *p)
{
  gable_status status = GABLE_OK;
  const gable_matrix_view view = gi_matrix_rows_view(p->ctx, p->rows);
  const gable_preconditioner kind = p->options.kind;
  device_state *d = p->state;
  if (!d) GI_ALLOC_ZERO(p->ctx, d, 1);
  p->state = d;
  forget(p, d);
  d->second_op = kind == GABLE_PRECOND_IC0 ? GABLE_OP_T : GABLE_OP_N;
  if (kind == GABLE_PRECOND_ILU0) {
    GI_TRY(gi_precond_plan(p, &view, GABLE_PART_LOWER, GABLE_DIAG_UNIT, GABLE_TRISOLVE_N, &d->first));
    GI_TRY(gi_precond_plan(p, &view, GABLE_PART_UPPER, GABLE_DIAG_STORED, GABLE_TRISOLVE_N, &d->second));
  } else if (kind == GABLE_PRECOND_IC0) {
    const int both = GABLE_TRISOLVE_N | GABLE_TRISOLVE_T;
    GI_TRY(gi_precond_plan(p, &view, GABLE_PART_LOWER, GABLE_DIAG_STORED, both, &d->first));
  } else if (kind == GABLE_PRECOND_JACOBI) {
    GI_TRY(take(p->ctx, (size_t)p->rows->n, &p->factor));
  } else if (kind == GABLE_PRECOND_GS) {
    GI_TRY(analyse_gs(p, &view, d));
  }
  if (!d->first) goto done;
  GI_TRY(take(p->ctx, p->rows->device.a.nnz, &p->factor));
  GI_TRY(gi_level_order_make(d->first, &d->order));
done:
  return status;
}

static gable_status work_init(gable_precond_work *w)
{
  gable_status status = GABLE_OK;
  const device_state *d = w->plan->state;
  gable_context *ctx = w->plan->ctx;
  device_work *own = NULL;
  void *state = NULL;
  GI_ALLOC_ZERO(ctx, own, 1);
  w->state = own;
  if (w->plan->options.kind == GABLE_PRECOND_JACOBI) {
    GI_TRY(ctx->device->alloc(ctx, sizeof *own->never_stopped, &state));
    own->never_stopped = state;
    GI_TRY(ctx->device->fill(ctx, state, 0, sizeof *own->never_stopped, NULL));
  }
  if (d->first) GI_TRY(gi_work_create(d->first, 1, &own->first));
  if (d->second) GI_TRY(gi_work_create(d->second, 1, &own->second));
done:
  return status;
}

static void work_release(gable_precond_work *w)
{
  device_work *own = w->state;
  if (!own) return;
  gi_work_destroy(&own->first);
  gi_work_destroy(&own->second);
  w->plan->ctx->device->release(w->plan->ctx, own->never_stopped);
  gi_free(w->plan->ctx, own);
}

static gable_vectors_view column(gable_idx n, const double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.space = GABLE_SPACE_DEVICE;
  v.n = n;
  v.ld = v.n;
  memcpy(&v.data, &data, sizeof data); /* b is not written, but the view has no const */
  return v;
}

static gable_status sweep(const device_state *d, const double *r, double *z)
{
  const gi_sweep_run run = {.type = GABLE_TYPE_D,
                            .space = GABLE_SPACE_DEVICE,
                            .b = r,
                            .x = z,
                            .b_step = 1,
                            .x_step = 1,
                            .count = 1,
                            .from_zero = 1,
                            .sweeps = 1};
  return gi_sweeps_whole.apply(d->sweep_work, &run);
}

static gable_status apply(const gable_precond *p, gable_precond_work *w, const double *r, double *z)
{
  gable_status status = GABLE_OK;
  const device_state *d = p->state;
  const device_work *own = w->state;
  const gi_resident_csr *rows = &p->rows->device;
  gable_vectors_view in = column(p->rows->n, r), out = column(p->rows->n, z);
  if (p->options.kind == GABLE_PRECOND_NONE) {
    GI_TRY(rows->kernels->copy(p->rows->n, GABLE_TYPE_D, r, 1, z, 1, p->rows->stream));
  } else if (p->options.kind == GABLE_PRECOND_JACOBI) {
    const gik_krylov all = {.n = p->rows->n, .state = own->never_stopped, .stream = p->rows->stream};
    GI_TRY(p->ctx->device->kernels->krylov_steps->scale(&all, p->factor, r, z));
  } else if (p->options.kind == GABLE_PRECOND_GS) {
    GI_TRY(sweep(d, r, z));
  } else {
    GI_TRY(gi_trisolve_solve(d->first, own->first, GABLE_OP_N, &in, &out));
    GI_TRY(gi_trisolve_solve(d->second ? d->second : d->first, d->second ? own->second : own->first, d->second_op, &out,
                             &out));
  }
done:
  return status;
}

static gable_status status_of(gable_precond_work *w)
{
  gable_status status = GABLE_OK;
  const device_state *d = w->plan->state;
  const device_work *own = w->state;
  gable_idx row;
  if (own->first) GI_TRY(gi_work_status(own->first, &row));
  if (own->second) GI_TRY(gi_work_status(own->second, &row));
  if (d->sweep_work) GI_TRY(gi_sweeps_whole.status(d->sweep_work, &row));
done:
  return status;
}

const gi_precond_backend gi_precond_device = {analyse, update, work_init, work_release, apply, status_of, release};
