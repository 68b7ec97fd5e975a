/* level_order.cu: the rows of the matrix by level, from the levels that an analysis left on the GPU. */
#include "cuda/device_wait.cuh"
#include "trisolve/cuda/order.cuh"
#include "trisolve/cuda/state.h"

using gik::NONE;

namespace gi
{

/* *level: [n] by row of the matrix; of a row that was split, that of its last piece. */
static gable_status level_of_rows(gi_arena *scratch, const op_plan *d, size_t n, u64 **level)
{
  gable_status status = GABLE_OK;
  const unsigned *row = d->triangle.row;
  const unsigned long long *from = d->level;
  u64 *to = nullptr;
  GI_TRY(take(scratch, n, &to));
  GI_TRY(each(scratch->stream, (size_t)d->triangle.n, [=] __device__(size_t k) {
    if (row[k] != NONE) to[row[k]] = from[k];
  }));
  *level = to;
done:
  return status;
}

static gable_status keep(gable_context *ctx, const unsigned *from, size_t count, unsigned **out)
{
  gable_status status = GABLE_OK;
  void *p = nullptr;
  GI_TRY(ctx->device->alloc(ctx, count * sizeof *from + 1, &p));
  *out = (unsigned *)p;
  GI_TRY(checked(
      cudaMemcpyAsync(p, from, count * sizeof *from, cudaMemcpyDeviceToDevice, (cudaStream_t)gi_own_stream(ctx)),
      "copy"));
done:
  return status;
}

gable_status cuda_level_order(const gable_trisolve *t, gi_level_order *out)
{
  gable_status status = GABLE_OK;
  gi_arena scratch = gi_arena_of(t->ctx);
  const op_plan *d = &((const state *)t->state)->of[GABLE_OP_N];
  const size_t n = (size_t)t->shape.n, starts = (size_t)d->profile.levels + 1;
  gik_device_triangle rows = {};
  unsigned *order = nullptr, *start = nullptr;
  u64 *level = nullptr;
  current_device here;
  GI_TRY(here.enter(gi_cuda_ordinal(t->ctx)));
  GI_REQUIRE(d->level, GABLE_ERR_UNAVAILABLE, "no schedule was asked for this op (options.ops)");
  rows.n = t->shape.n;
  out->levels = d->profile.levels;
  GI_TRY(level_of_rows(&scratch, d, n, &level));
  GI_TRY(gi_cuda_order(&scratch, &rows, level, out->levels, &order, &start));
  GI_TRY(keep(t->ctx, order, n, &out->list));
  GI_TRY(keep(t->ctx, start, starts, &out->device_start));
  GI_TRY(host_take(t->ctx, starts, &out->start));
  GI_TRY(fetch(&scratch, out->start, start, starts));
done:
  gi_arena_release(&scratch);
  return status;
}

} /* namespace gi */
