/* cuda_update.cu: new values into a plan of the GPU backend. */
#include <climits>

#include "trisolve/cuda_state.h"

namespace gi
{

static gable_status update_side(side *d, const gi_values *v)
{
  if (d->method == GI_AUTO || !d->triangle.n) return GABLE_OK;
  if (d->method == GI_TILES) return gi_cuda_update_tiles(&d->triangle, &d->tiles, d->place, v);
  if (d->method == GI_ROWS) return gi_cuda_update_packed(&d->triangle, &d->packed, d->place, v);
  return gi_cuda_update_seed(&d->seed, v);
}

gable_status cuda_update(gable_trisolve *t, const void *val, const void *diagonal)
{
  gable_status status = GABLE_OK;
  state *s = (state *)t->state;
  const size_t size = size_of(t->shape.value_type);
  const int unit = t->options.diag == GABLE_UNIT;
  int fault[2] = {INT_MAX, INT_MAX};
  gi_values v = {val, diagonal, unit || diagonal ? nullptr : s->diagonal_from, t->shape.value_type, s->fault};
  if (t->shape.space == GABLE_HOST) {
    if (t->shape.nnz)
      GI_TRY(checked(cudaMemcpyAsync(s->values, val, (size_t)t->shape.nnz * size, cudaMemcpyHostToDevice),
                     "copy of values"));
    if (diagonal && t->shape.n)
      GI_TRY(checked(cudaMemcpyAsync(s->diagonal, diagonal, (size_t)t->shape.n * size, cudaMemcpyHostToDevice),
                     "copy of the diagonal"));
    v.val = s->values;
    if (diagonal) v.diagonal = s->diagonal;
  }
  GI_TRY(checked(cudaMemcpyAsync(s->fault, fault, sizeof fault, cudaMemcpyHostToDevice), "copy"));
  for (int op = 0; op < 2; op++) GI_TRY(update_side(&s->of[op], &v));
  GI_TRY(checked(cudaMemcpy(fault, s->fault, sizeof fault, cudaMemcpyDeviceToHost), "update"));
  if (fault[0] != INT_MAX || fault[1] != INT_MAX) {
    t->bad_row = fault[0] < fault[1] ? fault[0] : fault[1];
    GI_REQUIRE(fault[0] < fault[1], GABLE_ERR_NOT_FINITE, "the diagonal entry of row %d (counted from 0) is not finite",
               fault[1]);
    GI_REQUIRE(0, GABLE_ERR_SINGULAR,
               "the diagonal entry of row %d (counted from 0) is zero, or its reciprocal overflows", fault[0]);
  }
done:
  return status;
}

} /* namespace gi */
