/* splittings.c: preconditioners that need no factorization: none, Jacobi, one Gauss-Seidel sweep. */
#include <math.h>

#include "kernels/krylov/krylov_steps.h"
#include "kernels/sparse/row_product.h"
#include "precond/precond.h"

static gable_status nothing(gable_precond *p)
{
  (void)p;
  return GABLE_OK;
}

static gable_status copy(const gable_precond *p, gable_precond_work *w, const double *r, double *z)
{
  gable_status status = GABLE_OK;
  GI_KERNELS(p->ctx, p->device->kernels->row_products->copy(p->rows->n, GABLE_TYPE_D, r, 1, z, 1, w->stream));
done:
  return status;
}

static gable_status analyse_jacobi(gable_precond *p)
{
  gable_status status = GABLE_OK;
  void *taken = NULL;
  GI_TRY(gi_precond_take_factor(p, p->rows->n));
  if (!p->rows->on_device) goto done;
  GI_TRY(p->device->alloc(p->ctx, 2 * sizeof *p->fault, &taken));
  p->fault = taken;
done:
  return status;
}

static gable_status refuse_jacobi(gable_idx bad_row, int finite)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(bad_row < 0 || finite, GABLE_ERR_NOT_FINITE,
             "Jacobi: the diagonal entry of row %d (counted from 0) is not finite", bad_row);
  GI_REQUIRE(bad_row < 0, GABLE_ERR_SINGULAR,
             "Jacobi: the diagonal entry of row %d (counted from 0) is zero or missing, or its reciprocal overflows",
             bad_row);
done:
  return status;
}

static gable_status find_fault_jacobi(const gable_precond *p, void *stream)
{
  gable_status status = GABLE_OK;
  int fault[2];
  GI_TRY(p->device->copy_out(p->ctx, fault, p->fault, sizeof fault, stream));
  GI_TRY(p->device->synchronise(p->ctx, stream));
  const int finite = fault[1] >= fault[0], row = finite ? fault[0] : fault[1];
  GI_TRY(refuse_jacobi(row < GIK_NO_ROW ? row : -1, finite));
done:
  return status;
}

static gable_status update_jacobi(gable_precond *p)
{
  gable_status status = GABLE_OK;
  const gi_matrix_rows *rows = p->rows;
  gable_idx bad_row;
  if (!rows->on_device) {
    gi_matrix_rows_diagonal(rows, p->factor, &bad_row);
    GI_TRY(refuse_jacobi(bad_row, bad_row < 0 || isfinite(p->factor[bad_row])));
    goto done;
  }
  GI_TRY(p->device->fill(p->ctx, p->fault, GIK_NO_ROW_BYTE, 2 * sizeof *p->fault, p->stream));
  GI_KERNELS(p->ctx, rows->device.kernels->relax(&rows->device.a, 1.0, p->factor, p->fault, p->stream));
  if (p->reads_back) GI_TRY(find_fault_jacobi(p, p->stream));
done:
  return status;
}

/* The step that scales does nothing where an iteration has stopped: this one never does. */
static gable_status work_jacobi(gable_precond_work *w)
{
  gable_status status = GABLE_OK;
  const gable_precond *p = w->plan;
  void *state = NULL;
  GI_TRY(p->device->alloc(p->ctx, sizeof *w->never_stopped, &state));
  w->never_stopped = state;
  GI_TRY(p->device->fill(p->ctx, state, 0, sizeof *w->never_stopped, NULL));
done:
  return status;
}

static gable_status apply_jacobi(const gable_precond *p, gable_precond_work *w, const double *r, double *z)
{
  gable_status status = GABLE_OK;
  const gik_krylov all = {.n = p->rows->n, .state = w->never_stopped, .stream = w->stream};
  GI_KERNELS(p->ctx, p->device->kernels->krylov_steps->scale(&all, p->factor, r, z));
done:
  return status;
}

static gable_status bound_jacobi(const gable_precond *p, gable_idx n, gable_off nnz, size_t *host, size_t *device)
{
  (void)nnz;
  const int on_device = p->device->space == GABLE_SPACE_DEVICE;
  *(on_device ? device : host) += (size_t)n * sizeof *p->factor;
  if (on_device) *device += 2 * sizeof *p->fault;
  return GABLE_OK;
}

/* A smoother that is not analysed. */
static gable_status open_smoother(const gable_precond *p, gable_smoother **out)
{
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  options.method = p->options.method;
  options.threads = p->options.threads;
  options.deadline_s = p->options.deadline_s;
  options.solves = gi_precond_applications(&p->options);
  return gi_smoother_create(p->ctx, &options, out);
}

static gable_status bound_gs(const gable_precond *p, gable_idx n, gable_off nnz, size_t *host, size_t *device)
{
  gable_status status = GABLE_OK;
  gable_smoother *s = NULL;
  size_t own = 0, on_device = 0;
  GI_TRY(open_smoother(p, &s));
  GI_TRY(gi_smoother_plan_bound(s, n, nnz, GABLE_TYPE_D, &own, &on_device));
  *host += own;
  *device += on_device;
done:
  gi_smoother_destroy(&s);
  return status;
}

static gable_status analyse_gs(gable_precond *p)
{
  gable_status status = GABLE_OK;
  const gable_matrix_view view = gi_matrix_rows_view(p->rows);
  if (!p->smoother) GI_TRY(open_smoother(p, &p->smoother));
  p->smoother->reads_back = p->reads_back;
  GI_TRY(gi_smoother_analyse(p->smoother, &view));
done:
  return status;
}

static gable_status update_gs(gable_precond *p)
{
  return gi_smoother_update(p->smoother, gi_matrix_rows_values(p->rows));
}

static gable_status work_gs(gable_precond_work *w)
{
  return gi_smoother_work_create(w->plan->smoother, &w->sweeps);
}

static gable_status apply_gs(const gable_precond *p, gable_precond_work *w, const double *r, double *z)
{
  const gable_vectors_view in = gi_precond_column(p, r);
  gable_vectors_view out = gi_precond_column(p, z);
  return gi_smoother_work_apply(w->sweeps, &in, &out, 1, 1, NULL);
}

const gi_precond_kind gi_precond_none = {"no preconditioner", 1, nothing, nothing, NULL, copy, NULL, NULL, NULL};
const gi_precond_kind gi_precond_jacobi = {
    "Jacobi", 1, analyse_jacobi, update_jacobi, work_jacobi, apply_jacobi, bound_jacobi, find_fault_jacobi, NULL};
const gi_precond_kind gi_precond_gs = {"Gauss-Seidel", 1,        analyse_gs, update_gs, work_gs,
                                       apply_gs,       bound_gs, NULL,       NULL};
