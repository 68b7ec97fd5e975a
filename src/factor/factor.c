#include "factor/factor.h"

#include <float.h>
#include <math.h>

#include "base/type_size.h"
#include "factor/numeric.h"
#include "factor/threads.h"
#include "kernels/dense/dense.h"

static gable_off values_of(const gi_layout *y, gi_factor_kind kind)
{
  const gable_off off = y->off_ptr ? y->off_ptr[y->n] : 0;
  return y->lval[y->n_super] + (kind == GI_LU ? y->uval[y->n_super] : 0) + (kind == GI_LDLT ? 2 : 1) * (gable_off)y->n +
         off;
}

gable_off gi_factor_bytes(const gi_layout *y, gi_factor_kind kind, gable_type type)
{
  const gable_off pivots = kind != GI_CHOLESKY ? y->n * (gable_off)sizeof(gable_idx) : 0;
  return (gable_off)sizeof(gi_factor) + values_of(y, kind) * (gable_off)gi_type_size(type) + pivots;
}

gable_off gi_factor_work_bytes(const gi_layout *y, gi_factor_kind kind, gable_type type, int threads)
{
  const gi_factor f = {.kind = kind, .layout = y};
  gable_idx widest = 0;
  for (gable_idx s = 0; s < y->n_super; s++)
    if (gi_layout_width(y, s) > widest) widest = gi_layout_width(y, s);
  return gi_plan_bytes(y) + gi_factor_run_bytes(&f, widest, gi_type_size(type), gi_factor_threads(y, threads));
}

gable_status gi_factor_create(gable_context *ctx, const gi_layout *layout, gi_factor_kind kind, gable_type type,
                              gi_factor **out)
{
  gable_status status = GABLE_OK;
  gi_factor *f = NULL;
  const gable_off l = layout->lval[layout->n_super], u = kind == GI_LU ? layout->uval[layout->n_super] : 0;
  GI_REQUIRE(type == GABLE_TYPE_D || type == GABLE_TYPE_S, GABLE_ERR_ARGUMENT,
             "a factor is of GABLE_TYPE_D or GABLE_TYPE_S, not type %d", (int)type);
  GI_REQUIRE(kind != GI_LU || u > 0 || layout->uptr[layout->n_super] == 0, GABLE_ERR_ARGUMENT,
             "the layout was made for Cholesky and has no place for U");
  GI_ALLOC_ZERO(ctx, f, 1);
  f->kind = kind;
  f->type = type;
  f->layout = layout;
  f->bytes = gi_factor_bytes(layout, kind, type);
  f->l = gi_alloc(ctx, l, gi_type_size(type));
  f->dinv = gi_alloc(ctx, layout->n, gi_type_size(type));
  int have = f->l && f->dinv;
  if (have && kind == GI_LU) have = (f->u = gi_alloc(ctx, u, gi_type_size(type))) != NULL;
  if (have && kind == GI_LDLT) have = (f->coupling = gi_alloc(ctx, layout->n, gi_type_size(type))) != NULL;
  if (have && kind != GI_CHOLESKY) have = (f->pivot = gi_alloc(ctx, layout->n, sizeof *f->pivot)) != NULL;
  if (have && layout->off_ptr) have = (f->off = gi_alloc(ctx, layout->off_ptr[layout->n], gi_type_size(type))) != NULL;
  GI_REQUIRE(have, GABLE_ERR_MEMORY, "out of memory: the factor takes %.1f MB", (double)f->bytes / 1e6);
  *out = f;
  f = NULL;
done:
  gi_factor_destroy(ctx, &f);
  return status;
}

void gi_factor_destroy(gable_context *ctx, gi_factor **factor)
{
  gi_factor *f = factor ? *factor : NULL;
  if (!f) return;
  gi_plan_destroy(ctx, &f->plan);
  if (f->thin) f->thin_destroy(ctx, &f->thin);
  GI_FREE(ctx, f->l, f->u, f->dinv, f->coupling, f->off, f->pivot, f);
  *factor = NULL;
}

double gi_factor_pivot(const gi_factor *f, gable_idx k)
{
  const gi_layout *y = f->layout;
  const gable_idx s = y->of[k];
  const gable_off at = y->lval[s] + (k - y->super[s]) * ((gable_off)gi_layout_width(y, s) + gi_layout_nl(y, s) + 1);
  return f->kind == GI_LDLT ? gi_factor_value(f, f->l, at) : 1 / gi_factor_value(f, f->dinv, k);
}

/* The values of F, which the factorization leaves as they are: off_ptr names a subset of the places of A'. */
static gable_status copy_off(gi_factor *f, const gi_csc *a)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = f->layout;
  if (!y->off_ptr) return GABLE_OK;
  for (gable_idx j = 0; j < y->n; j++) {
    gable_off q = a->ptr[j];
    for (gable_off p = y->off_ptr[j]; p < y->off_ptr[j + 1]; p++) {
      while (q < a->ptr[j + 1] && a->idx[q] < y->off_row[p]) q++;
      const double value = q < a->ptr[j + 1] && a->idx[q] == y->off_row[p] ? a->val[q] : 0;
      if (f->type == GABLE_TYPE_S)
        ((float *)f->off)[p] = (float)value;
      else
        ((double *)f->off)[p] = value;
    }
  }
  return status;
}

/* The first column with an entry that is not at most `most`; n where there is none. */
static gable_idx first_beyond(const gi_csc *a, double most)
{
  for (gable_idx j = 0; j < a->n_cols; j++)
    for (gable_off k = a->ptr[j]; k < a->ptr[j + 1]; k++)
      if (!(fabs(a->val[k]) <= most)) return j;
  return a->n_cols;
}

/* max_entry of the factor, with the entries checked. */
static gable_status measure_entries(gi_factor *f, const gi_csc *a, int threads)
{
  enum { FEW = 100000, PIECE = 8192 };
  gable_status status = GABLE_OK;
  const double most = f->type == GABLE_TYPE_S ? FLT_MAX : DBL_MAX;
  const gable_off nnz = a->ptr[a->n_cols];
  double top = 0;
  int wrong = 0;
  const int crew = nnz < FEW ? 1 : threads;
  (void)crew; /* a build without OpenMP has one thread */
  GI_OMP(parallel for schedule(static) num_threads(crew) reduction(max : top) reduction(| : wrong) if (crew > 1))
  for (gable_off k = 0; k < nnz; k += PIECE) {
    const gable_off count = nnz - k < PIECE ? nnz - k : PIECE;
    const double largest = gik_largest_d((gable_idx)count, 1, a->val + k, count);
    wrong |= !(largest <= most);
    if (largest > top) top = largest;
  }
  GI_REQUIRE(!wrong, GABLE_ERR_NOT_FINITE,
             "column %d (counted from 0) of the matrix to factor (permuted and scaled) has an entry that is NaN, "
             "infinite or too large",
             first_beyond(a, most));
  f->max_entry = top;
done:
  return status;
}

static double tiny_pivot(const gi_factor *f, const gi_factor_options *options)
{
  double share =
      options && options->tiny > 0 ? options->tiny : sqrt(f->type == GABLE_TYPE_S ? FLT_EPSILON : DBL_EPSILON);
  const double least = f->type == GABLE_TYPE_S ? FLT_MIN : DBL_MIN;
  const double tiny = share * f->max_entry;
  return tiny > least ? tiny : least;
}

gable_status gi_factor_numeric(gable_context *ctx, gi_factor *f, const gi_csc *a, const gi_csc *at,
                               const gi_factor_options *options)
{
  gable_status status = GABLE_OK;
  f->perturbed = 0;
  f->max_factor = 0;
  GI_REQUIRE(a->n_rows == f->layout->n && a->n_cols == f->layout->n, GABLE_ERR_ARGUMENT,
             "the matrix is %d x %d, the layout is of order %d", a->n_rows, a->n_cols, f->layout->n);
  GI_REQUIRE(a->val && (f->kind != GI_LU || (at && at->val)), GABLE_ERR_ARGUMENT,
             "a matrix without values cannot be factored");
  if (!f->plan) {
    GI_TRY(gi_plan_create(ctx, f->layout, f->kind != GI_LU, &f->plan));
    f->flops = f->plan->flops;
  }
  const int threads = options && options->threads > 0 ? options->threads : 1;
  GI_TRY(measure_entries(f, a, threads));
  GI_TRY(copy_off(f, a));
  const gi_factor_options how = {
      .threads = threads, .tiny = tiny_pivot(f, options), .blas = options ? options->blas : NULL};
  GI_TRY(gi_factor_run(ctx, f, a, at, &how));
  GI_REQUIRE(isfinite(f->max_factor), GABLE_ERR_NOT_FINITE,
             "the factorization overflowed: scale the matrix, or factor in double");
done:
  return status;
}
