/* host_precond.c: makes and applies the preconditioners of a CPU. */
#include <math.h>
#include <string.h>

#include "precond/ilu0.h"
#include "precond/ilu_fill.h"
#include "precond/precond.h"
#include "smooth/smoother.h"

typedef struct host {
  gi_csc lower;                   /* IC(0): the lower triangle by rows, the diagonal last */
  gi_csc fill;                    /* ILU(k), ILUT: L and U by rows, in one matrix */
  gable_off *place;               /* ILU(k): [nnz of A] of A's entries in fill */
  uint64_t serial;                /* counts analyses of first and second */
  gable_trisolve *first, *second; /* applied one after the other; second NULL: first again, with second_op */
  gable_op second_op;
  gable_smoother *smoother;
} host;

typedef struct host_work {
  uint64_t serial; /* of the plans that first and second are of */
  gable_work *first, *second;
  gable_smoother_work *sweeps;
} host_work;

/* What an analysis made anew. */
static void forget(gable_precond *p, host *h)
{
  gi_free(p->ctx, p->factor);
  p->factor = NULL;
  gi_csc_release(p->ctx, &h->lower);
  gi_csc_release(p->ctx, &h->fill);
  gi_free(p->ctx, h->place);
  h->place = NULL;
}

static void release(gable_precond *p)
{
  host *h = p->state;
  p->state = NULL;
  if (!h) return;
  forget(p, h);
  gi_trisolve_destroy(&h->first);
  gi_trisolve_destroy(&h->second);
  gi_smoother_destroy(&h->smoother);
  gi_free(p->ctx, h);
}

/* The pattern of the lower triangle of rows; which values go there is update's. */
static gable_status keep_lower(gable_context *ctx, const gi_csc *rows, gi_csc *lower)
{
  gable_status status = GABLE_OK;
  const gable_idx n = rows->n_cols;
  gable_off q = 0;
  lower->n_rows = lower->n_cols = n;
  GI_ALLOC(ctx, lower->ptr, (gable_off)n + 1);
  GI_ALLOC(ctx, lower->idx, rows->ptr[n]);
  GI_ALLOC(ctx, lower->val, rows->ptr[n]);
  for (gable_idx i = 0; i < n; i++) {
    lower->ptr[i] = q;
    for (gable_off p = rows->ptr[i]; p < rows->ptr[i + 1] && rows->idx[p] <= i; p++) lower->idx[q++] = rows->idx[p];
  }
  lower->ptr[n] = q;
done:
  return status;
}

static gable_matrix_view view_of(const gi_csc *rows)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = rows->n_cols;
  v.ptr = rows->ptr;
  v.idx = rows->idx;
  return v;
}

static gable_status analyse_gs(const gable_precond *p, const gable_matrix_view *view, host *h)
{
  gable_status status = GABLE_OK;
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  options.method = p->options.method;
  options.threads = p->options.threads;
  options.deadline_s = p->options.deadline_s;
  if (!h->smoother) GI_TRY(gi_smoother_create(p->ctx, &options, &h->smoother));
  GI_TRY(gi_smoother_analyse(h->smoother, view));
done:
  return status;
}

/* Plans for L, its unit diagonal not stored, and U in one pattern by rows. */
static gable_status plan_lu(gable_precond *p, const gi_csc *rows, host *h)
{
  gable_status status = GABLE_OK;
  const gable_matrix_view view = view_of(rows);
  h->serial++;
  h->second_op = GABLE_OP_N;
  p->method_used[0] = 0;
  GI_TRY(gi_precond_plan(p, &view, GABLE_PART_LOWER, GABLE_DIAG_UNIT, GABLE_TRISOLVE_N, &h->first));
  GI_TRY(gi_precond_plan(p, &view, GABLE_PART_UPPER, GABLE_DIAG_STORED, GABLE_TRISOLVE_N, &h->second));
done:
  return status;
}

static gable_status analyse_iluk(gable_precond *p, const gi_csc *rows, host *h)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_iluk_pattern(p->ctx, rows, p->options.level, &h->fill));
  p->nnz = h->fill.ptr[rows->n_cols];
  GI_ALLOC(p->ctx, h->fill.val, p->nnz);
  GI_ALLOC(p->ctx, h->place, rows->ptr[rows->n_cols]);
  gi_iluk_places(rows, &h->fill, h->place);
  GI_TRY(plan_lu(p, &h->fill, h));
done:
  return status;
}

static gable_status analyse(gable_precond *p)
{
  gable_status status = GABLE_OK;
  const gi_csc *rows = &p->rows->host;
  const gable_matrix_view view = view_of(rows);
  const gable_preconditioner kind = p->options.kind;
  host *h = p->state;
  if (!h) GI_ALLOC_ZERO(p->ctx, h, 1);
  p->state = h;
  forget(p, h);
  if (kind == GABLE_PRECOND_ILU0) {
    GI_ALLOC(p->ctx, p->factor, rows->ptr[rows->n_cols]);
    GI_TRY(plan_lu(p, rows, h));
  } else if (kind == GABLE_PRECOND_IC0) {
    GI_TRY(keep_lower(p->ctx, rows, &h->lower));
    GI_ALLOC(p->ctx, p->factor, h->lower.ptr[rows->n_cols]);
    const gable_matrix_view lower = view_of(&h->lower);
    GI_TRY(gi_precond_plan(p, &lower, GABLE_PART_LOWER, GABLE_DIAG_STORED, 0, &h->first));
    h->second_op = GABLE_OP_T;
  } else if (kind == GABLE_PRECOND_JACOBI) {
    GI_ALLOC(p->ctx, p->factor, rows->n_cols);
  } else if (kind == GABLE_PRECOND_GS) {
    GI_TRY(analyse_gs(p, &view, h));
  } else if (kind == GABLE_PRECOND_ILUK) {
    GI_TRY(analyse_iluk(p, rows, h));
  } /* ILUT: its pattern comes with the values */
done:
  return status;
}

static gable_status update_ilu0(gable_precond *p, host *h)
{
  gable_status status = GABLE_OK;
  const gi_csc *rows = &p->rows->host;
  const gable_off nnz = rows->ptr[rows->n_cols];
  gable_idx bad_row;
  if (nnz) memcpy(p->factor, rows->val, (size_t)nnz * sizeof *p->factor);
  GI_TRY(gi_ilu0(p->ctx, rows->n_cols, rows->ptr, rows->idx, p->factor, &bad_row));
  GI_TRY(gi_trisolve_update(h->first, p->factor, NULL));
  GI_TRY(gi_trisolve_update(h->second, p->factor, NULL));
done:
  return status;
}

static gable_status update_iluk(gable_precond *p, host *h)
{
  gable_status status = GABLE_OK;
  const gi_csc *rows = &p->rows->host;
  gi_csc *f = &h->fill;
  gable_idx bad_row;
  for (gable_off q = 0; q < p->nnz; q++) f->val[q] = 0;
  for (gable_off q = 0; q < rows->ptr[rows->n_cols]; q++) f->val[h->place[q]] = rows->val[q];
  GI_TRY(gi_ilu_in_pattern(p->ctx, "ILU(k)", rows->n_cols, f->ptr, f->idx, f->val, &bad_row));
  GI_TRY(gi_trisolve_update(h->first, f->val, NULL));
  GI_TRY(gi_trisolve_update(h->second, f->val, NULL));
done:
  return status;
}

static gable_status update_ilut(gable_precond *p, host *h)
{
  gable_status status = GABLE_OK;
  const gi_csc *rows = &p->rows->host;
  gi_csc_release(p->ctx, &h->fill);
  GI_TRY(gi_ilut(p->ctx, rows, p->options.drop, p->options.row_fill, &h->fill));
  p->nnz = h->fill.ptr[rows->n_cols];
  GI_TRY(plan_lu(p, &h->fill, h));
  GI_TRY(gi_trisolve_update(h->first, h->fill.val, NULL));
  GI_TRY(gi_trisolve_update(h->second, h->fill.val, NULL));
done:
  return status;
}

static gable_status update_ic0(gable_precond *p, host *h)
{
  gable_status status = GABLE_OK;
  const gi_csc *rows = &p->rows->host;
  gi_csc *l = &h->lower;
  gable_off q = 0;
  gable_idx bad_row;
  for (gable_idx i = 0; i < l->n_cols; i++)
    for (gable_off r = rows->ptr[i]; q < l->ptr[i + 1]; r++) l->val[q++] = rows->val[r];
  GI_TRY(gi_ic0(p->ctx, l->n_cols, l->ptr, l->idx, l->val, p->factor, &p->shift, &bad_row));
  GI_TRY(gi_trisolve_update(h->first, p->factor, NULL));
done:
  return status;
}

static gable_status update_jacobi(const gi_csc *a, double *factor)
{
  gable_status status = GABLE_OK;
  for (gable_idx i = 0; i < a->n_cols; i++) {
    factor[i] = 0;
    for (gable_off q = a->ptr[i]; q < a->ptr[i + 1]; q++)
      if (a->idx[q] == i) factor[i] = 1 / a->val[q];
    GI_REQUIRE(factor[i] != 0 && isfinite(factor[i]), GABLE_ERR_SINGULAR,
               "Jacobi: the diagonal entry of row %d (counted from 0) is zero or missing", i);
  }
done:
  return status;
}

static gable_status update(gable_precond *p)
{
  gable_status status = GABLE_OK;
  host *h = p->state;
  const gable_preconditioner kind = p->options.kind;
  if (kind == GABLE_PRECOND_ILU0) GI_TRY(update_ilu0(p, h));
  if (kind == GABLE_PRECOND_IC0) GI_TRY(update_ic0(p, h));
  if (kind == GABLE_PRECOND_ILUK) GI_TRY(update_iluk(p, h));
  if (kind == GABLE_PRECOND_ILUT) GI_TRY(update_ilut(p, h));
  if (kind == GABLE_PRECOND_GS) GI_TRY(gi_smoother_update(h->smoother, p->rows->host.val));
  if (kind == GABLE_PRECOND_JACOBI) GI_TRY(update_jacobi(&p->rows->host, p->factor));
done:
  return status;
}

/* Works of the plans that there are now, in the place of those of an earlier analysis. */
static gable_status take_works(const host *h, host_work *own)
{
  gable_status status = GABLE_OK;
  gi_work_destroy(&own->first);
  gi_work_destroy(&own->second);
  gi_smoother_work_destroy(&own->sweeps);
  if (h->first) GI_TRY(gi_work_create(h->first, 1, &own->first));
  if (h->second) GI_TRY(gi_work_create(h->second, 1, &own->second));
  if (h->smoother) GI_TRY(gi_smoother_work_create(h->smoother, &own->sweeps));
  own->serial = h->serial;
done:
  return status;
}

static gable_status work_init(gable_precond_work *w)
{
  gable_status status = GABLE_OK;
  host_work *own = NULL;
  GI_ALLOC_ZERO(w->plan->ctx, own, 1);
  w->state = own;
  GI_TRY(take_works(w->plan->state, own));
done:
  return status;
}

static void work_release(gable_precond_work *w)
{
  host_work *own = w->state;
  if (!own) return;
  gi_work_destroy(&own->first);
  gi_work_destroy(&own->second);
  gi_smoother_work_destroy(&own->sweeps);
  gi_free(w->plan->ctx, own);
}

static gable_vectors_view column(gable_idx n, const double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = n;
  v.ld = n;
  memcpy(&v.data, &data, sizeof data); /* b is not written, but the view has no const */
  return v;
}

static gable_status apply(const gable_precond *p, gable_precond_work *w, const double *r, double *z)
{
  gable_status status = GABLE_OK;
  const host *h = p->state;
  host_work *own = w->state;
  const gable_idx n = p->rows->n;
  gable_vectors_view in = column(n, r), out = column(n, z);
  if (p->options.kind == GABLE_PRECOND_NONE) {
    if (n) memcpy(z, r, (size_t)n * sizeof *z);
  } else if (p->options.kind == GABLE_PRECOND_JACOBI) {
    for (gable_idx i = 0; i < n; i++) z[i] = r[i] * p->factor[i];
  } else if (p->options.kind == GABLE_PRECOND_GS) {
    if (n) memset(z, 0, (size_t)n * sizeof *z);
    GI_TRY(gi_smoother_work_apply(own->sweeps, &in, &out, 1, NULL));
  } else {
    if (own->serial != h->serial) GI_TRY(take_works(h, own)); /* ILUT was updated */
    GI_TRY(gi_trisolve_solve(h->first, own->first, GABLE_OP_N, &in, &out));
    GI_TRY(gi_trisolve_solve(h->second ? h->second : h->first, h->second ? own->second : own->first, h->second_op, &out,
                             &out));
  }
done:
  return status;
}

/* Everything that goes wrong on a CPU is apply's own status. */
static gable_status status_of(gable_precond_work *w)
{
  (void)w;
  return GABLE_OK;
}

const gi_precond_backend gi_precond_host = {analyse, update, work_init, work_release, apply, status_of, release};
