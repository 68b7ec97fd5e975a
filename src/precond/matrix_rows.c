#include "precond/matrix_rows.h"

#include <math.h>
#include <string.h>

#include "device/device.h"

/* places of the entries of columns, which the transpose carries along: exact in a double up to 2^53. */
static gable_status number_entries(gable_context *ctx, gi_csc *columns)
{
  gable_status status = GABLE_OK;
  const gable_off nnz = columns->ptr[columns->n_cols];
  GI_ALLOC(ctx, columns->val, nnz);
  for (gable_off p = 0; p < nnz; p++) columns->val[p] = (double)p;
done:
  return status;
}

static gable_status init_host(gable_context *ctx, const gable_matrix_view *a, gi_matrix_rows *r)
{
  gable_status status = GABLE_OK;
  gable_matrix_view pattern = *a;
  gi_csc columns = {0};
  gable_off nnz;
  pattern.val = NULL;
  GI_REQUIRE(a->space == GABLE_SPACE_HOST, GABLE_ERR_UNAVAILABLE,
             "the matrix is in device memory, this context is %s: give it in host memory", ctx->where);
  GI_TRY(gi_csc_from_view(ctx, &pattern, &columns));
  nnz = columns.ptr[columns.n_cols];
  if (a->format == GABLE_FORMAT_CSC) GI_TRY(number_entries(ctx, &columns));
  GI_TRY(gi_csc_transpose(ctx, &columns, &r->host));
  if (!r->host.val) {
    GI_ALLOC_ZERO(ctx, r->host.val, nnz);
    goto done;
  }
  GI_ALLOC(ctx, r->from, nnz);
  for (gable_off q = 0; q < nnz; q++) r->from[q] = (gable_off)r->host.val[q];
done:
  gi_csc_release(ctx, &columns);
  return status;
}

gable_status gi_matrix_rows_init(gable_context *ctx, const gable_matrix_view *a, int need_diagonal, gi_matrix_rows *out)
{
  gable_status status = GABLE_OK;
  gi_shape shape;
  gable_idx bad_row;
  GI_TRY(gi_shape_from(a, GABLE_PART_LOWER, &shape));
  GI_REQUIRE(a->value_type == GABLE_TYPE_D && a->part == GABLE_PART_FULL, GABLE_ERR_UNAVAILABLE,
             "give a matrix of doubles with both triangles");
  out->n = shape.n;
  out->on_device = ctx->device->space == GABLE_SPACE_DEVICE;
  if (out->on_device)
    GI_TRY(gi_resident_csr_init(ctx, &shape, a, need_diagonal, &bad_row, &out->device));
  else
    GI_TRY(init_host(ctx, a, out));
done:
  return status;
}

gable_status gi_matrix_rows_update(gable_context *ctx, gi_matrix_rows *r, const void *val, void *stream)
{
  if (r->on_device) return gi_resident_csr_update(ctx, &r->device, val, stream);
  const double *given = val;
  const gable_off nnz = r->host.ptr[r->n];
  if (r->from)
    for (gable_off q = 0; q < nnz; q++) r->host.val[q] = given[r->from[q]];
  else if (nnz)
    memcpy(r->host.val, given, (size_t)nnz * sizeof *given);
  return GABLE_OK;
}

gable_status gi_matrix_rows_multiply(const gi_matrix_rows *r, int threads, const double *x, double *y, void *stream)
{
  const gi_csc *a = &r->host;
  if (r->on_device) {
    const gik_product product = {.part = GIK_WHOLE,
                                 .type = GABLE_TYPE_D,
                                 .x = x,
                                 .y = y,
                                 .b_step = 1,
                                 .x_step = 1,
                                 .count = 1,
                                 .stream = stream};
    return r->device.kernels->product(&r->device.a, &product);
  }
  (void)threads; /* unused without OpenMP */
  GI_OMP(parallel for schedule(static) num_threads(threads) if (a->ptr[a->n_cols] > 100000))
  for (gable_idx i = 0; i < a->n_cols; i++) {
    const gable_off end = a->ptr[i + 1];
    gable_off q = a->ptr[i];
    double even = 0, odd = 0; /* apart: neither waits for the other's addition */
    for (; q + 2 <= end; q += 2) {
      even += a->val[q] * x[a->idx[q]];
      odd += a->val[q + 1] * x[a->idx[q + 1]];
    }
    if (q < end) even += a->val[q] * x[a->idx[q]];
    y[i] = even + odd;
  }
  return GABLE_OK;
}

gable_matrix_view gi_rows_view(const gi_csc *rows)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = rows->n_cols;
  v.ptr = rows->ptr;
  v.idx = rows->idx;
  return v;
}

gable_matrix_view gi_matrix_rows_view(const gi_matrix_rows *r)
{
  return r->on_device ? gi_resident_csr_view(&r->device) : gi_rows_view(&r->host);
}

const double *gi_matrix_rows_values(const gi_matrix_rows *r)
{
  return r->on_device ? r->device.val : r->host.val;
}

gable_off gi_matrix_rows_nnz(const gi_matrix_rows *r)
{
  return r->on_device ? (gable_off)r->device.a.nnz : r->host.ptr[r->n];
}

gik_rows gi_matrix_rows_for_kernels(const gi_matrix_rows *r, const gable_off **wide)
{
  *wide = r->on_device ? NULL : r->host.ptr;
  return r->on_device ? r->device.a : gi_rows_for_kernels(&r->host);
}

gik_rows gi_rows_for_kernels(const gi_csc *rows)
{
  return (gik_rows){.n = rows->n_cols, .idx = rows->idx, .val = rows->val, .value_type = GABLE_TYPE_D};
}

size_t gi_rows_bytes(const gi_csc *rows)
{
  const size_t nnz = rows->ptr ? (size_t)rows->ptr[rows->n_cols] : 0;
  return rows->ptr ? ((size_t)rows->n_cols + 1) * sizeof *rows->ptr + nnz * (sizeof *rows->idx + sizeof *rows->val) : 0;
}

void gi_matrix_rows_add_bytes(const gi_matrix_rows *r, size_t *host, size_t *device)
{
  *host += gi_rows_bytes(&r->host) + (r->from ? (size_t)gi_matrix_rows_nnz(r) * sizeof *r->from : 0);
  *device += gi_resident_csr_bytes(&r->device);
}

void gi_matrix_rows_add_bound(const gable_context *ctx, gable_idx n, gable_off nnz, size_t *host, size_t *device)
{
  const gi_matrix_rows *r = NULL; /* for the sizes of its arrays' elements */
  if (ctx->device->space == GABLE_SPACE_DEVICE)
    *device += gi_resident_csr_bound(n, nnz, GABLE_TYPE_D);
  else
    *host += ((size_t)n + 1) * sizeof *r->host.ptr +
             (size_t)nnz * (sizeof *r->host.idx + sizeof *r->host.val + sizeof *r->from);
}

void gi_matrix_rows_diagonal(const gi_matrix_rows *r, double *d, gable_idx *bad_row)
{
  const gi_csc *a = &r->host;
  for (gable_idx i = 0; i < a->n_cols; i++) {
    *bad_row = i;
    d[i] = 0;
    for (gable_off q = a->ptr[i]; q < a->ptr[i + 1]; q++)
      if (a->idx[q] == i) d[i] = a->val[q];
    if (!isfinite(1 / d[i]) || 1 / d[i] == 0) return;
  }
  *bad_row = -1;
}

void gi_matrix_rows_release(gable_context *ctx, gi_matrix_rows *r)
{
  gi_csc_release(ctx, &r->host);
  gi_free(ctx, r->from);
  gi_resident_csr_release(ctx, &r->device);
  memset(r, 0, sizeof *r);
}
