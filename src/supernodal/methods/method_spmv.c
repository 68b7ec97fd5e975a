/* method_spmv.c: see method_spmv.h. */
#include "supernodal/methods/method_spmv.h"

/* before: entries of lower levels. */
static gik_block_spmv level_of(const gi_method_triangle *t, int transposed, gable_idx l, gable_off before,
                               gable_idx rhs)
{
  const gi_method_rows *q = &t->rows[transposed];
  return (gik_block_spmv){.rows = q->at[l + 1] - q->at[l],
                          .n = t->n,
                          .rhs = rhs,
                          .nnz = q->entries[l],
                          .row = (const gable_idx *)q->row.at + q->at[l],
                          .ptr = (const gable_idx *)q->ptr.at + q->at[l] + l,
                          .col = (const gable_idx *)q->col.at + before,
                          .value = (const double *)q->value.at + before};
}

gable_status gi_method_spmv_init(const gi_method_solver *s, gable_idx rhs, double *v, gi_method_spmv *m)
{
  gable_status status = GABLE_OK;
  const gi_method_triangle *const triangles[] = {&s->l, &s->u};
  const gi_device *device = s->ctx->device;
  gable_off count = 0, most = 0;
  size_t bytes = 0;
  for (int k = 0; k < (s->kind == GI_LU ? 2 : 1); k++)
    for (int transposed = 0; transposed < 2; transposed++) {
      m->first[k][transposed] = count;
      count += triangles[k]->n_levels;
    }
  GI_ALLOC(s->ctx, m->matrix, count);
  for (int k = 0; k < (s->kind == GI_LU ? 2 : 1); k++)
    for (int transposed = 0; transposed < 2; transposed++) {
      gable_off before = 0;
      for (gable_idx l = 0; l < triangles[k]->n_levels; l++) {
        gik_block_spmv *one = m->matrix + m->first[k][transposed] + l;
        *one = level_of(triangles[k], transposed, l, before, rhs);
        before += one->nnz;
        if (one->rows > most) most = one->rows;
      }
    }
  GI_TRY(device->alloc(s->ctx, (size_t)most * (size_t)rhs * sizeof *m->room, (void **)&m->room));
  for (gable_off k = 0; k < count; k++) {
    m->matrix[k].v = v;
    m->matrix[k].room = m->room;
  }
  GI_TRY(s->steps->spmv_open(s->ctx, m->matrix, count, &bytes, &m->products));
  if (bytes) GI_TRY(device->alloc(s->ctx, bytes, &m->buffer));
  GI_TRY(s->steps->spmv_prepare(s->ctx, m->products, m->buffer, gi_stream_of(s->ctx, NULL)));
done:
  return status;
}

void gi_method_spmv_release(gable_context *ctx, const gik_block_steps *steps, gi_method_spmv *m)
{
  if (m->products) steps->spmv_close(ctx, &m->products);
  ctx->device->release(ctx, m->room);
  ctx->device->release(ctx, m->buffer);
  gi_free(ctx, m->matrix);
  *m = (gi_method_spmv){0};
}

gable_status gi_method_spmv_run(const gi_method_solver *s, const gi_method_spmv *m, const gi_method_triangle *t,
                                int transposed, gable_idx level, double *v, void *stream)
{
  const gable_off number = m->first[t == &s->u][transposed] + level;
  gik_block_spmv p = m->matrix[number];
  p.v = v;
  return s->steps->spmv(s->ctx, m->products, number, &p, stream);
}
