/* device_precond.c: makes and applies the preconditioners of a GPU. */
#include <limits.h>
#include <string.h>

#include "device/device.h"
#include "kernels/krylov/incomplete.h"
#include "precond/device_precond.h"
#include "trisolve/trisolve.h"

static const double deadline_s = 10; /* of one wait */

void gi_device_precond_release(gi_device_precond *p)
{
  if (!p->ctx) return;
  (void)p->ctx->device->synchronise(p->ctx, NULL);
  gi_work_destroy(&p->first_work);
  gi_work_destroy(&p->second_work);
  gi_trisolve_destroy(&p->first);
  gi_trisolve_destroy(&p->second);
  gi_sweeps_whole.release(p->sweeps);
  p->ctx->device->release(p->ctx, p->factor);
  gi_resident_csr_release(p->ctx, &p->rows);
  memset(p, 0, sizeof *p);
}

static gable_status analyse(const gi_device_precond *p, gable_part uplo, gable_diag diag, int ops, const char *method,
                            gable_trisolve **plan)
{
  gable_status status = GABLE_OK;
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  const gable_matrix_view view = gi_resident_csr_view(p->ctx, &p->rows);
  options.method = method;
  options.uplo = uplo;
  options.diag = diag;
  options.ops = ops;
  options.deadline_s = deadline_s;
  GI_TRY(gi_trisolve_create(p->ctx, &options, plan));
  GI_TRY(gi_trisolve_analyse(*plan, &view));
done:
  return status;
}

static gable_status take_values(const gi_device_precond *p, gable_trisolve *plan, gable_work **work)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_trisolve_update(plan, p->factor, NULL));
  GI_TRY(gi_work_create(plan, 1, work));
done:
  return status;
}

/* What a factorization needs besides the factor, in one block of the device. */
typedef struct scratch {
  gi_level_order order;
  void *block;
  gik_incomplete f;
} scratch;

static gable_status scratch_init(const gi_device_precond *p, scratch *s)
{
  gable_status status = GABLE_OK;
  const gi_device *device = p->ctx->device;
  const size_t control = (sizeof(gik_control) + 63) / 64 * 64;
  GI_TRY(gi_level_order_make(p->first, &s->order));
  GI_TRY(device->alloc(p->ctx, control + 64 + (size_t)p->rows.a.n, &s->block));
  s->f =
      (gik_incomplete){.a = &p->rows.a, .order = s->order.list, .factor = p->factor, .stream = gi_own_stream(p->ctx)};
  s->f.control = s->block;
  s->f.fault = (int *)((char *)s->block + control);
  s->f.ready = (unsigned char *)s->block + control + 64;
  s->f.deadline_ns = (unsigned long long)(deadline_s * 1e9);
done:
  return status;
}

static void scratch_release(const gi_device_precond *p, scratch *s)
{
  gi_level_order_release(p->ctx, &s->order);
  p->ctx->device->release(p->ctx, s->block);
}

/* One attempt; *bad_row: the lowest row whose pivot will not do, -1: none. */
static gable_status attempt(const gi_device_precond *p, scratch *s, gable_idx *bad_row)
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
  GI_TRY((p->kind == GABLE_PRECOND_IC0 ? gik_incomplete_factors_cuda.ic0 : gik_incomplete_factors_cuda.ilu0)(&s->f));
  GI_TRY(device->copy_out(p->ctx, &control, s->f.control, sizeof control, NULL));
  GI_TRY(device->copy_out(p->ctx, &fault, s->f.fault, sizeof fault, NULL));
  GI_TRY(device->synchronise(p->ctx, NULL));
  GI_REQUIRE(control.fault_row < 0, GABLE_ERR_DEADLINE,
             "a factorization waited longer than %g s for row %d (counted from 0)", deadline_s, control.fault_row);
  *bad_row = fault == INT_MAX ? -1 : fault;
done:
  return status;
}

/* The pivot of a row that will not do, for the message. */
static double pivot_of(const gi_device_precond *p, gable_idx row)
{
  unsigned at = 0;
  double pivot = 0;
  gable_context *ctx = p->ctx;
  if (ctx->device->copy_out(ctx, &at, p->rows.diagonal + row, sizeof at, NULL) || ctx->device->synchronise(ctx, NULL))
    return 0;
  if (ctx->device->copy_out(ctx, &pivot, p->factor + at, sizeof pivot, NULL) || ctx->device->synchronise(ctx, NULL))
    return 0;
  return pivot;
}

static gable_status make_ilu0(gi_device_precond *p, const char *method)
{
  gable_status status = GABLE_OK;
  gable_idx bad_row = -1;
  scratch s;
  memset(&s, 0, sizeof s);
  GI_TRY(analyse(p, GABLE_PART_LOWER, GABLE_DIAG_UNIT, GABLE_TRISOLVE_N, method, &p->first));
  GI_TRY(scratch_init(p, &s));
  GI_TRY(attempt(p, &s, &bad_row));
  GI_REQUIRE(bad_row < 0, GABLE_ERR_SINGULAR, "ILU(0): the pivot of row %d (counted from 0) is %g", bad_row,
             pivot_of(p, bad_row));
  GI_TRY(analyse(p, GABLE_PART_UPPER, GABLE_DIAG_STORED, GABLE_TRISOLVE_N, method, &p->second));
  GI_TRY(take_values(p, p->first, &p->first_work));
  GI_TRY(take_values(p, p->second, &p->second_work));
  p->second_op = GABLE_OP_N;
done:
  scratch_release(p, &s);
  return status;
}

/* The diagonal is enlarged as on the CPU, see ilu0.h. */
static gable_status make_ic0(gi_device_precond *p, const char *method)
{
  gable_status status = GABLE_OK;
  gable_idx bad_row = -1;
  scratch s;
  memset(&s, 0, sizeof s);
  GI_TRY(analyse(p, GABLE_PART_LOWER, GABLE_DIAG_STORED, GABLE_TRISOLVE_N | GABLE_TRISOLVE_T, method, &p->first));
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
  GI_TRY(take_values(p, p->first, &p->first_work));
  p->second_op = GABLE_OP_T;
done:
  scratch_release(p, &s);
  return status;
}

static gable_status make_jacobi(gi_device_precond *p)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = p->ctx;
  int fault[2] = {INT_MAX, INT_MAX};
  void *on_device = NULL;
  GI_TRY(ctx->device->alloc(ctx, sizeof fault, &on_device));
  GI_TRY(ctx->device->copy_in(ctx, on_device, fault, sizeof fault, NULL));
  GI_TRY(p->rows.kernels->relax(&p->rows.a, 1.0, p->factor, on_device, gi_own_stream(ctx)));
  GI_TRY(ctx->device->copy_out(ctx, fault, on_device, sizeof fault, NULL));
  GI_TRY(ctx->device->synchronise(ctx, NULL));
  if (fault[1] < fault[0]) fault[0] = fault[1];
  GI_REQUIRE(fault[0] == INT_MAX, GABLE_ERR_SINGULAR,
             "Jacobi: the diagonal entry of row %d (counted from 0) is zero, missing or not finite", fault[0]);
done:
  ctx->device->release(ctx, on_device);
  return status;
}

static gable_status make_gs(gi_device_precond *p, const char *method, int threads)
{
  gable_status status = GABLE_OK;
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  const gable_matrix_view view = gi_resident_csr_view(p->ctx, &p->rows);
  gi_method m = GI_AUTO;
  gi_shape shape;
  gable_idx bad_row;
  GI_TRY(gi_method_from(p->ctx, method, &m));
  options.deadline_s = deadline_s;
  options.threads = threads;
  options.max_rhs = 1;
  GI_TRY(gi_shape_from(&view, GABLE_PART_LOWER, &shape));
  GI_TRY(gi_sweeps_whole.analyse(p->ctx, &shape, &view, m, &options, &bad_row, &p->sweeps));
  GI_TRY(gi_sweeps_whole.update(p->sweeps, p->rows.val, &bad_row));
done:
  return status;
}

gable_status gi_device_precond_make(gable_context *ctx, gable_preconditioner kind, const char *method, int threads,
                                    const gable_matrix_view *a, gi_device_precond *p)
{
  gable_status status = GABLE_OK;
  gi_shape shape;
  gable_idx bad_row;
  void *factor = NULL;
  p->ctx = ctx;
  p->kind = kind;
  GI_TRY(gi_shape_from(a, GABLE_PART_LOWER, &shape));
  GI_REQUIRE(a->value_type == GABLE_TYPE_D && a->part == GABLE_PART_FULL, GABLE_ERR_UNAVAILABLE,
             "Krylov solvers want doubles and both triangles");
  GI_REQUIRE(a->val, GABLE_ERR_ARGUMENT, "the matrix's values are NULL");
  GI_TRY(gi_resident_csr_init(ctx, &shape, a, kind != GABLE_PRECOND_NONE, &bad_row, &p->rows));
  GI_TRY(gi_resident_csr_update(ctx, &p->rows, a->val, NULL));
  if (kind == GABLE_PRECOND_ILU0 || kind == GABLE_PRECOND_IC0)
    GI_TRY(ctx->device->alloc(ctx, p->rows.a.nnz * sizeof(double) + 1, &factor));
  if (kind == GABLE_PRECOND_JACOBI) GI_TRY(ctx->device->alloc(ctx, (size_t)p->rows.a.n * sizeof(double) + 1, &factor));
  p->factor = factor;
  if (kind == GABLE_PRECOND_ILU0) GI_TRY(make_ilu0(p, method));
  if (kind == GABLE_PRECOND_IC0) GI_TRY(make_ic0(p, method));
  if (kind == GABLE_PRECOND_JACOBI) GI_TRY(make_jacobi(p));
  if (kind == GABLE_PRECOND_GS) GI_TRY(make_gs(p, method, threads));
done:
  return status;
}

gable_status gi_device_precond_multiply(const gi_device_precond *p, const double *x, double *y)
{
  const gik_product product = {.part = GIK_WHOLE,
                               .type = GABLE_TYPE_D,
                               .x = x,
                               .y = y,
                               .b_step = 1,
                               .x_step = 1,
                               .count = 1,
                               .stream = gi_own_stream(p->ctx)};
  return p->rows.kernels->product(&p->rows.a, &product);
}

static gable_vectors_view column(const gi_device_precond *p, const double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.space = GABLE_SPACE_DEVICE;
  v.n = p->rows.a.n;
  v.ld = v.n;
  memcpy(&v.data, &data, sizeof data); /* b is not written, but the view has no const */
  return v;
}

gable_status gi_device_precond_apply(gi_device_precond *p, const gik_krylov *k, const double *r, double *z)
{
  gable_status status = GABLE_OK;
  gable_vectors_view in = column(p, r), out = column(p, z);
  if (p->kind == GABLE_PRECOND_JACOBI) {
    GI_TRY(gik_krylov_steps_cuda.scale(k, p->factor, r, z));
  } else if (p->kind == GABLE_PRECOND_GS) {
    const gi_sweep_run run = {.type = GABLE_TYPE_D,
                              .space = GABLE_SPACE_DEVICE,
                              .b = r,
                              .x = z,
                              .b_step = 1,
                              .x_step = 1,
                              .count = 1,
                              .from_zero = 1,
                              .sweeps = 1};
    GI_TRY(gi_sweeps_whole.apply(p->sweeps, &run));
  } else {
    GI_TRY(gi_trisolve_solve(p->first, p->first_work, GABLE_OP_N, &in, &out));
    GI_TRY(gi_trisolve_solve(p->second ? p->second : p->first, p->second ? p->second_work : p->first_work, p->second_op,
                             &out, &out));
  }
done:
  return status;
}

gable_status gi_device_precond_status(gi_device_precond *p)
{
  gable_status status = GABLE_OK;
  gable_idx row;
  if (p->first_work) GI_TRY(gi_work_status(p->first_work, &row));
  if (p->second_work) GI_TRY(gi_work_status(p->second_work, &row));
  if (p->sweeps) GI_TRY(gi_sweeps_whole.status(p->sweeps, &row));
done:
  return status;
}
