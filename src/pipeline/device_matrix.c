/* device_matrix.c: see device_matrix.h. */
#include "pipeline/device_matrix.h"

#include <string.h>

#include "device/device.h"

struct gi_device_matrix {
  gable_idx n;
  gable_off nnz;
  uint64_t hash;      /* of the pattern */
  gable_off *from;    /* [nnz] host: entry of A that an entry of A^T is */
  double *transposed; /* [nnz] host: values of A^T */
  struct {
    gable_off *ptr;
    gable_idx *idx;
    double *val, *sum, *top;
  } of[2]; /* device: A, A^T */
  gable_off bytes;
};

static gable_status take(gable_context *ctx, gi_device_matrix *m, const void *host, gable_off count, size_t size,
                         void **out)
{
  gable_status status = GABLE_OK;
  const size_t bytes = (size_t)count * size;
  GI_TRY(ctx->device->alloc(ctx, bytes + 1, out));
  m->bytes += (gable_off)bytes;
  if (host && bytes) GI_TRY(ctx->device->copy_in(ctx, *out, host, bytes, NULL));
done:
  return status;
}

static gable_status take_side(gable_context *ctx, gi_device_matrix *m, gable_op op, const gable_off *ptr,
                              const gable_idx *idx)
{
  gable_status status = GABLE_OK;
  void *p = NULL;
  GI_TRY(take(ctx, m, ptr, (gable_off)m->n + 1, sizeof *ptr, &p));
  m->of[op].ptr = p;
  GI_TRY(take(ctx, m, idx, m->nnz, sizeof *idx, &p));
  m->of[op].idx = p;
  GI_TRY(take(ctx, m, NULL, m->nnz, sizeof(double), &p));
  m->of[op].val = p;
  GI_TRY(take(ctx, m, NULL, m->n, sizeof(double), &p));
  m->of[op].sum = p;
  GI_TRY(take(ctx, m, NULL, m->n, sizeof(double), &p));
  m->of[op].top = p;
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* before the host's arrays change */
done:
  return status;
}

/* Columns of a as rows, by counting; from notes where each entry stood. */
static void transpose_lists(const gi_csc *rows, gable_idx n, gable_off *ptr, gable_idx *idx, gable_off *from)
{
  const gable_off nnz = rows->ptr[n];
  memset(ptr, 0, ((size_t)n + 1) * sizeof *ptr);
  for (gable_off k = 0; k < nnz; k++) ptr[rows->idx[k] + 1]++;
  for (gable_idx j = 0; j < n; j++) ptr[j + 1] += ptr[j];
  for (gable_idx i = 0; i < n; i++)
    for (gable_off k = rows->ptr[i]; k < rows->ptr[i + 1]; k++) {
      const gable_off at = ptr[rows->idx[k]]++;
      idx[at] = i;
      from[at] = k;
    }
  for (gable_idx j = n; j > 0; j--) ptr[j] = ptr[j - 1];
  ptr[0] = 0;
}

static gable_status create(gable_context *ctx, const gi_problem *p, gi_device_matrix **out)
{
  gable_status status = GABLE_OK;
  gi_device_matrix *m = NULL;
  gable_off *ptr = NULL;
  gable_idx *idx = NULL;
  GI_ALLOC_ZERO(ctx, m, 1);
  m->n = p->n;
  m->nnz = p->rows.ptr[p->n];
  m->hash = p->hash;
  GI_ALLOC(ctx, m->from, m->nnz);
  GI_ALLOC(ctx, m->transposed, m->nnz);
  GI_ALLOC(ctx, ptr, (gable_off)m->n + 1);
  GI_ALLOC(ctx, idx, m->nnz);
  GI_TRY(take_side(ctx, m, GABLE_OP_N, p->rows.ptr, p->rows.idx));
  transpose_lists(&p->rows, m->n, ptr, idx, m->from);
  GI_TRY(take_side(ctx, m, GABLE_OP_T, ptr, idx));
  *out = m;
  m = NULL;
done:
  gi_free(ctx, ptr);
  gi_free(ctx, idx);
  gi_device_matrix_destroy(ctx, &m);
  return status;
}

static gable_status put_values(gable_context *ctx, gi_device_matrix *m, gable_op op, const double *val,
                               const double *sum, const double *top)
{
  gable_status status = GABLE_OK;
  const size_t rows = (size_t)m->n * sizeof *val;
  if (m->nnz) GI_TRY(ctx->device->copy_in(ctx, m->of[op].val, val, (size_t)m->nnz * sizeof *val, NULL));
  if (m->n) GI_TRY(ctx->device->copy_in(ctx, m->of[op].sum, sum, rows, NULL));
  if (m->n) GI_TRY(ctx->device->copy_in(ctx, m->of[op].top, top, rows, NULL));
done:
  return status;
}

gable_status gi_device_matrix_update(gable_context *ctx, gi_problem *p, gi_device_matrix **out)
{
  gable_status status = GABLE_OK;
  gi_device_matrix *m = *out;
  *out = NULL;
  if (m && (m->n != p->n || m->nnz != p->rows.ptr[p->n] || m->hash != p->hash)) gi_device_matrix_destroy(ctx, &m);
  if (!m) GI_TRY(create(ctx, p, &m));
  gi_problem_measure(p);
  const gi_system a = gi_problem_system(p, ctx->threads);
  for (gable_off k = 0; k < m->nnz; k++) m->transposed[k] = p->rows.val[m->from[k]];
  GI_TRY(put_values(ctx, m, GABLE_OP_N, p->rows.val, a.row_sum, a.row_max));
  GI_TRY(put_values(ctx, m, GABLE_OP_T, m->transposed, a.col_sum, a.col_max));
  GI_TRY(ctx->device->synchronise(ctx, NULL));
  *out = m;
  m = NULL;
done:
  gi_device_matrix_destroy(ctx, &m);
  return status;
}

void gi_device_matrix_destroy(gable_context *ctx, gi_device_matrix **matrix)
{
  gi_device_matrix *m = matrix ? *matrix : NULL;
  if (!m) return;
  *matrix = NULL;
  for (int op = 0; op < 2; op++) {
    void *const own[] = {m->of[op].ptr, m->of[op].idx, m->of[op].val, m->of[op].sum, m->of[op].top};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) ctx->device->release(ctx, own[k]);
  }
  GI_FREE(ctx, m->from, m->transposed, m);
}

gik_refine_matrix gi_device_matrix_of(const gi_device_matrix *m, gable_op op)
{
  return (gik_refine_matrix){.n = m->n,
                             .ptr = m->of[op].ptr,
                             .idx = m->of[op].idx,
                             .val = m->of[op].val,
                             .sum = m->of[op].sum,
                             .top = m->of[op].top};
}

gable_off gi_device_matrix_bytes(const gi_device_matrix *m)
{
  return m ? m->bytes : 0;
}
