/* precond.c: makes and applies the preconditioners. */
#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "precond/ilu0.h"
#include "precond/precond.h"
#include "smooth/smoother.h"
#include "trisolve/trisolve.h"

void gi_precond_release(gable_context *ctx, gi_precond *p)
{
  gi_work_destroy(&p->first_work);
  gi_work_destroy(&p->second_work);
  gi_trisolve_destroy(&p->first);
  gi_trisolve_destroy(&p->second);
  gi_smoother_destroy(&p->smoother);
  gi_csc_release(ctx, &p->rows);
  gi_csc_release(ctx, &p->lower);
  gi_free(ctx, p->factor);
  memset(p, 0, sizeof *p);
}

static gable_matrix_view view_of(const gi_csc *rows)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = rows->n_cols;
  v.ptr = rows->ptr;
  v.idx = rows->idx;
  return v;
}

/* A plan for one triangle of rows with these values. */
static gable_status plan_for(gable_context *ctx, const gi_csc *rows, const double *val, gable_part uplo,
                             gable_diag diag, int ops, const char *method, int threads, gable_trisolve **plan,
                             gable_work **work)
{
  gable_status status = GABLE_OK;
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_matrix_view view = view_of(rows);
  options.method = method;
  options.uplo = uplo;
  options.diag = diag;
  options.ops = ops;
  options.threads = threads;
  GI_TRY(gi_trisolve_create(ctx, &options, plan));
  GI_TRY(gi_trisolve_analyse(*plan, &view));
  GI_TRY(gi_trisolve_update(*plan, val, NULL));
  GI_TRY(gi_work_create(*plan, 1, work));
done:
  return status;
}

static gable_status make_ilu0(gable_context *ctx, const char *method, int threads, gi_precond *p)
{
  gable_status status = GABLE_OK;
  const gable_off nnz = p->rows.ptr[p->rows.n_cols];
  gable_idx bad_row;
  GI_ALLOC(ctx, p->factor, nnz);
  memcpy(p->factor, p->rows.val, (size_t)nnz * sizeof *p->factor);
  GI_TRY(gi_ilu0(ctx, p->rows.n_cols, p->rows.ptr, p->rows.idx, p->factor, &bad_row));
  GI_TRY(plan_for(ctx, &p->rows, p->factor, GABLE_PART_LOWER, GABLE_DIAG_UNIT, GABLE_TRISOLVE_N, method, threads,
                  &p->first, &p->first_work));
  GI_TRY(plan_for(ctx, &p->rows, p->factor, GABLE_PART_UPPER, GABLE_DIAG_STORED, GABLE_TRISOLVE_N, method, threads,
                  &p->second, &p->second_work));
  p->second_op = GABLE_OP_N;
done:
  return status;
}

/* The lower triangle of rows, diagonal last. */
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
    for (gable_off p = rows->ptr[i]; p < rows->ptr[i + 1] && rows->idx[p] <= i; p++, q++) {
      lower->idx[q] = rows->idx[p];
      lower->val[q] = rows->val[p];
    }
  }
  lower->ptr[n] = q;
done:
  return status;
}

static gable_status make_ic0(gable_context *ctx, const char *method, int threads, gi_precond *p)
{
  gable_status status = GABLE_OK;
  gable_idx bad_row;
  GI_TRY(keep_lower(ctx, &p->rows, &p->lower));
  GI_ALLOC(ctx, p->factor, p->lower.ptr[p->lower.n_cols]);
  GI_TRY(gi_ic0(ctx, p->lower.n_cols, p->lower.ptr, p->lower.idx, p->lower.val, p->factor, &p->shift, &bad_row));
  GI_TRY(plan_for(ctx, &p->lower, p->factor, GABLE_PART_LOWER, GABLE_DIAG_STORED, 0, method, threads, &p->first,
                  &p->first_work));
  p->second_op = GABLE_OP_T;
done:
  return status;
}

static gable_status make_jacobi(gable_context *ctx, gi_precond *p)
{
  gable_status status = GABLE_OK;
  const gi_csc *a = &p->rows;
  GI_ALLOC_ZERO(ctx, p->factor, a->n_cols);
  for (gable_idx i = 0; i < a->n_cols; i++) {
    for (gable_off q = a->ptr[i]; q < a->ptr[i + 1]; q++)
      if (a->idx[q] == i) p->factor[i] = 1 / a->val[q];
    GI_REQUIRE(p->factor[i] != 0 && isfinite(p->factor[i]), GABLE_ERR_SINGULAR,
               "Jacobi: the diagonal entry of row %d (counted from 0) is zero or missing", i);
  }
done:
  return status;
}

static gable_status make_gs(gable_context *ctx, const char *method, int threads, gi_precond *p)
{
  gable_status status = GABLE_OK;
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  gable_matrix_view view = view_of(&p->rows);
  options.method = method;
  options.threads = threads;
  GI_TRY(gi_smoother_create(ctx, &options, &p->smoother));
  GI_TRY(gi_smoother_analyse(p->smoother, &view));
  GI_TRY(gi_smoother_update(p->smoother, p->rows.val));
done:
  return status;
}

gable_status gi_precond_make(gable_context *ctx, gable_preconditioner kind, const char *method, int threads,
                             gi_csc *rows, gi_precond *p)
{
  gable_status status = GABLE_OK;
  memset(p, 0, sizeof *p);
  p->kind = kind;
  p->rows = *rows;
  memset(rows, 0, sizeof *rows);
  if (kind == GABLE_PRECOND_ILU0) GI_TRY(make_ilu0(ctx, method, threads, p));
  if (kind == GABLE_PRECOND_IC0) GI_TRY(make_ic0(ctx, method, threads, p));
  if (kind == GABLE_PRECOND_GS) GI_TRY(make_gs(ctx, method, threads, p));
  if (kind == GABLE_PRECOND_JACOBI) GI_TRY(make_jacobi(ctx, p));
done:
  if (status) gi_precond_release(ctx, p);
  return status;
}

void gi_precond_multiply(const gi_precond *p, int threads, const double *x, double *y)
{
  const gi_csc *a = &p->rows;
  (void)threads; /* unused without OpenMP */
  GI_OMP(parallel for schedule(static) num_threads(threads) if (a->ptr[a->n_cols] > 100000))
  for (gable_idx i = 0; i < a->n_cols; i++) {
    double sum = 0;
    for (gable_off q = a->ptr[i]; q < a->ptr[i + 1]; q++) sum += a->val[q] * x[a->idx[q]];
    y[i] = sum;
  }
}

static gable_vectors_view column(gable_idx n, const double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = n;
  v.ld = n;
  memcpy(&v.data, &data, sizeof data); /* b is not written, but the view has no const */
  return v;
}

gable_status gi_precond_apply(gi_precond *p, const double *r, double *z)
{
  gable_status status = GABLE_OK;
  const double start = gi_now();
  const gable_idx n = p->rows.n_cols;
  gable_vectors_view in = column(n, r), out = column(n, z);
  if (p->kind == GABLE_PRECOND_NONE) {
    memcpy(z, r, (size_t)n * sizeof *z);
  } else if (p->kind == GABLE_PRECOND_JACOBI) {
    for (gable_idx i = 0; i < n; i++) z[i] = r[i] * p->factor[i];
  } else if (p->kind == GABLE_PRECOND_GS) {
    memset(z, 0, (size_t)n * sizeof *z);
    GI_TRY(gi_smoother_apply(p->smoother, &in, &out, 1, NULL));
  } else {
    GI_TRY(gi_trisolve_solve(p->first, p->first_work, GABLE_OP_N, &in, &out));
    GI_TRY(gi_trisolve_solve(p->second ? p->second : p->first, p->second ? p->second_work : p->first_work, p->second_op,
                             &out, &out));
  }
done:
  p->seconds += gi_now() - start;
  return status;
}
