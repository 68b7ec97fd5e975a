/* cuda_update.cu: new values into a plan of the GPU backend. */
#include "trisolve/cuda_state.h"

namespace gi
{

static gable_status update_side(side *d, const gi_values *v)
{
  if (d->method == GI_AUTO || !d->triangle.n) return GABLE_OK;
  if (d->method == GI_TILES) return gi_cuda_update_tiles(&d->triangle, &d->tiles, d->row_at, v);
  if (d->method == GI_ROWS) return gi_cuda_update_packed(&d->triangle, &d->packed, d->row_at, v);
  return gi_cuda_update_seed(&d->seed, v);
}

gable_status cuda_update(gable_trisolve *t, const void *val, const void *diagonal)
{
  gable_status status = GABLE_OK;
  state *s = (state *)t->state;
  const size_t size = size_of(t->shape.value_type);
  const int unit = t->options.diag == GABLE_UNIT, host = t->shape.space == GABLE_HOST;
  gi_values v = {val, diagonal, unit || diagonal ? nullptr : s->diagonal_from, t->shape.value_type, s->fault};
  if (host) {
    if (t->shape.nnz)
      GI_TRY(checked(cudaMemcpyAsync(s->values, val, (size_t)t->shape.nnz * size, cudaMemcpyHostToDevice),
                     "copy of values"));
    if (diagonal && t->shape.n)
      GI_TRY(checked(cudaMemcpyAsync(s->diagonal, diagonal, (size_t)t->shape.n * size, cudaMemcpyHostToDevice),
                     "copy of the diagonal"));
    v.val = s->values;
    if (diagonal) v.diagonal = s->diagonal;
  }
  GI_TRY(checked(cudaMemsetAsync(s->fault, 0x7f, 2 * sizeof *s->fault), "clear"));
  for (int op = 0; op < 2; op++) GI_TRY(update_side(&s->of[op], &v));
  GI_TRY(checked(cudaEventRecord(s->updated, nullptr), "event"));
  s->updates++;
  if (host) GI_TRY(find_fault(t, nullptr, &t->bad_row));
done:
  return status;
}

/* After everything on the stream: what the last update found wrong with the diagonal. */
gable_status find_fault(const gable_trisolve *t, cudaStream_t stream, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  const state *s = (const state *)t->state;
  int f[2] = {0, 0}, row = 0;
  GI_TRY(checked(cudaMemcpyAsync(f, s->fault, sizeof f, cudaMemcpyDeviceToHost, stream), "update"));
  GI_TRY(checked(cudaStreamSynchronize(stream), "update"));
  row = f[0] < f[1] ? f[0] : f[1];
  if (row >= t->shape.n) goto done;
  *bad_row = row;
  GI_REQUIRE(f[0] < f[1], GABLE_ERR_NOT_FINITE, "the diagonal entry of row %d (counted from 0) is not finite", row);
  GI_REQUIRE(0, GABLE_ERR_SINGULAR,
             "the diagonal entry of row %d (counted from 0) is zero, or its reciprocal overflows", row);
done:
  return status;
}

} /* namespace gi */
