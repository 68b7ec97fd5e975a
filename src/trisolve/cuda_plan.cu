/* cuda_plan.cu: analysis by the GPU backend: both sides of a plan, as far as they were asked for. */
#include <climits>
#include <cstdio>

#include "trisolve/cuda_state.h"

namespace gi
{

namespace
{

/* tiles and rows: long rows are split before levels are looked for, so that no thread waits for all of a long row. */
gable_status split_long_rows(state *s, side *d)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_cuda_lengths(&s->memory, &d->triangle, &d->profile));
  GI_TRY(gi_cuda_split(&s->memory, &d->triangle, d->profile.longest,
                       limit_of[limit_index(&d->profile, d->triangle.n, 1)]));
done:
  return status;
}

__global__ void lengths_kernel(int n, const unsigned *ptr, unsigned *out)
{
  for (int k = (int)(blockIdx.x * blockDim.x + threadIdx.x); k < n; k += (int)(gridDim.x * blockDim.x))
    out[k] = ptr[k + 1] - ptr[k];
}

gable_status seed_schedule(const gable_trisolve *t, state *s, side *d)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)d->triangle.n, nnz = d->triangle.nnz;
  const int columns = d->method == GI_LEVC || d->method == GI_ELMC || d->method == GI_GSF;
  gik_seed *m = &d->seed;
  unsigned *starts = nullptr;
  m->a = d->triangle;
  m->reverse = d->reverse;
  m->levels = d->profile.levels;
  m->level = d->starts;
  m->lanes = 2;
  while (m->lanes < 32 && m->lanes * (double)n < (double)nnz) m->lanes *= 2;
  if (columns) GI_TRY(gi_cuda_transpose(&s->memory, &d->triangle, 0, &m->a));
  GI_TRY(gi_cuda_order(&s->memory, &d->triangle, d->level, m->levels, &m->order, &starts));
  if (d->method == GI_LEVR || d->method == GI_LEVC) {
    m->parents = starts;
  } else if (columns) {
    GI_TRY(gi_device_take(&s->memory, (n + 1) * sizeof *m->parents, (void **)&m->parents));
    lengths_kernel<<<512, 256>>>((int)n, d->triangle.ptr, m->parents);
    GI_TRY(checked(cudaGetLastError(), "lengths"));
  }
  if (d->method == GI_GSF) m->order = nullptr;
  for (int type = 0; type < 2; type++) {
    if (!(types_of(t) >> type & 1)) continue;
    GI_TRY(gi_device_take(&s->memory, (nnz + 1) * (type ? 8 : 4), &m->val[type]));
    GI_TRY(gi_device_take(&s->memory, (n + 1) * (type ? 8 : 4), &m->diagonal[type]));
  }
done:
  return status;
}

/* Rows of each level, on the host: for the report and for the launches of the level methods. */
gable_status count_levels(gable_trisolve *t, side *d)
{
  gable_status status = GABLE_OK;
  gi_device_memory scratch = {t->ctx};
  unsigned *order = nullptr, *starts = nullptr;
  GI_TRY(gi_cuda_order(&scratch, &d->triangle, d->level, d->profile.levels, &order, &starts));
  GI_TRY(host_take(t->ctx, (size_t)d->profile.levels + 1, &d->starts));
  GI_TRY(
      checked(cudaMemcpy(d->starts, starts, ((size_t)d->profile.levels + 1) * sizeof *starts, cudaMemcpyDeviceToHost),
              "copy to the host"));
  for (int l = 0; l < d->profile.levels; l++) {
    const int rows = (int)(d->starts[l + 1] - d->starts[l]);
    if (rows > d->widest) d->widest = rows;
  }
done:
  gi_device_give_back(&scratch);
  return status;
}

gable_status build_side(gable_trisolve *t, state *s, side *d)
{
  gable_status status = GABLE_OK;
  d->plain = d->triangle;
  d->method = t->method;
  if (d->method == GI_AUTO || d->method == GI_TILES || d->method == GI_ROWS) GI_TRY(split_long_rows(s, d));
  GI_TRY(gi_cuda_levels(&s->memory, &d->triangle, &d->level, &d->profile));
  if (d->method == GI_AUTO)
    d->method = choose(&d->profile, &d->plain, d);
  else
    snprintf(d->why, sizeof d->why, "asked for");
  if (d->method != GI_TILES && d->method != GI_ROWS) GI_TRY(count_levels(t, d));
  if (d->method == GI_TILES || d->method == GI_ROWS)
    GI_TRY(own_schedule(t, s, d));
  else
    GI_TRY(seed_schedule(t, s, d));
done:
  return status;
}

__global__ void column_counts_kernel(int n, unsigned nnz, const unsigned *col, unsigned *order, unsigned *count)
{
  const unsigned step = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned p = first; p < nnz; p += step) atomicAdd(count + col[p], 1u);
  for (unsigned k = first; k < (unsigned)n; k += step) order[k] = (unsigned)n - 1 - k;
}

/* An op without a schedule of its own: the other one's rows are its columns, taken from the last to the first (gsf). */
gable_status traverse_side(const gable_trisolve *t, state *s, const side *other, side *d)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)other->plain.n, nnz = other->plain.nnz;
  gik_seed *m = &d->seed;
  d->method = GI_GSF;
  d->triangle = d->plain = m->a = other->plain;
  d->profile = other->profile;
  d->level = nullptr;
  m->reverse = other->reverse;
  snprintf(d->why, sizeof d->why, "no schedule was asked for this op: the other one's rows as columns, last one first");
  GI_TRY(gi_device_take(&s->memory, (n + 1) * sizeof *m->parents, (void **)&m->parents));
  GI_TRY(gi_device_take(&s->memory, (n + 1) * sizeof *m->order, (void **)&m->order));
  GI_TRY(checked(cudaMemsetAsync(m->parents, 0, n * sizeof *m->parents), "clear"));
  column_counts_kernel<<<512, 256>>>((int)n, (unsigned)nnz, m->a.col, m->order, m->parents);
  GI_TRY(checked(cudaGetLastError(), "column counts"));
  for (int type = 0; type < 2; type++) {
    if (!(types_of(t) >> type & 1)) continue;
    GI_TRY(gi_device_take(&s->memory, (nnz + 1) * (type ? 8 : 4), &m->val[type]));
    GI_TRY(gi_device_take(&s->memory, (n + 1) * (type ? 8 : 4), &m->diagonal[type]));
  }
done:
  return status;
}

/* The view with its arrays in device memory: a's own, or copies in scratch. */
gable_status on_device(gi_device_memory *scratch, const gi_shape *shape, const gable_matrix_view *a,
                       gable_matrix_view *out)
{
  gable_status status = GABLE_OK;
  const size_t offset = size_of(shape->offset_type), n = (size_t)shape->n, nnz = (size_t)shape->nnz;
  void *ptr = nullptr, *idx = nullptr;
  *out = *a;
  if (shape->space == GABLE_DEVICE) goto done;
  GI_TRY(gi_device_take(scratch, (n + 1) * offset, &ptr));
  GI_TRY(gi_device_take(scratch, nnz * sizeof(gable_idx) + 4, &idx));
  GI_TRY(checked(cudaMemcpyAsync(ptr, a->ptr, (n + 1) * offset, cudaMemcpyHostToDevice), "copy of the offsets"));
  if (nnz)
    GI_TRY(checked(cudaMemcpyAsync(idx, a->idx, nnz * sizeof(gable_idx), cudaMemcpyHostToDevice), "copy of indices"));
  out->ptr = ptr;
  out->idx = (const gable_idx *)idx;
done:
  return status;
}

gable_status find_size(gable_trisolve *t, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  long long end = 0;
  int end32 = 0;
  if (t->shape.space == GABLE_DEVICE) {
    if (t->shape.offset_type == GABLE_I64) {
      GI_TRY(checked(cudaMemcpy(&end, (const long long *)a->ptr + t->shape.n, 8, cudaMemcpyDeviceToHost), "copy"));
    } else {
      GI_TRY(checked(cudaMemcpy(&end32, (const int *)a->ptr + t->shape.n, 4, cudaMemcpyDeviceToHost), "copy"));
      end = end32;
    }
    t->shape.nnz = end - t->shape.base;
  }
  GI_REQUIRE(t->shape.nnz >= 0 && t->shape.nnz < INT_MAX, GABLE_ERR_LIMIT,
             "%lld entries: a GPU plan holds fewer than 2^31", (long long)t->shape.nnz);
done:
  return status;
}

} /* namespace */

void cuda_release(gable_trisolve *t)
{
  state *s = (state *)t->state;
  if (!s) return;
  cudaDeviceSynchronize();
  for (int op = 0; op < 2; op++) gi_free(t->ctx, s->of[op].starts);
  gi_device_give_back(&s->memory);
  gi_free(t->ctx, s);
  t->state = nullptr;
}

gable_status cuda_analyse(gable_trisolve *t, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  const int stored_op = t->shape.format == GABLE_CSR ? GABLE_N : GABLE_T;
  gi_device_memory scratch = {t->ctx};
  gable_matrix_view view;
  state *s = nullptr;
  int reverse = 0, device = 0;
  cuda_release(t);
  GI_REQUIRE(t->method != GI_SERIAL, GABLE_ERR_UNAVAILABLE, "method serial runs on the CPU only");
  GI_TRY(find_size(t, a));
  GI_TRY(host_take(t->ctx, 1, &s));
  t->state = s;
  s->memory.ctx = t->ctx;
  GI_TRY(checked(cudaGetDevice(&device), "device"));
  GI_TRY(checked(cudaDeviceGetAttribute(&s->processors, cudaDevAttrMultiProcessorCount, device), "device"));
  GI_TRY(gi_device_take(&s->memory, 2 * sizeof *s->fault, (void **)&s->fault));
  GI_TRY(on_device(&scratch, &t->shape, a, &view));
  GI_TRY(gi_cuda_triangle(&s->memory, &t->shape, &view, t->options.diag == GABLE_STORED, &s->of[stored_op].triangle,
                          &reverse, &s->diagonal_from, &t->bad_row));
  s->of[stored_op].reverse = reverse;
  s->of[!stored_op].reverse = !reverse;
  if (t->options.ops & (stored_op ? GABLE_TRISOLVE_N : GABLE_TRISOLVE_T))
    GI_TRY(gi_cuda_transpose(&s->memory, &s->of[stored_op].triangle, 1, &s->of[!stored_op].triangle));
  for (int op = 0; op < 2; op++)
    if (t->options.ops & (op ? GABLE_TRISOLVE_T : GABLE_TRISOLVE_N)) GI_TRY(build_side(t, s, &s->of[op]));
  for (int op = 0; op < 2; op++)
    if (!(t->options.ops & (op ? GABLE_TRISOLVE_T : GABLE_TRISOLVE_N)))
      GI_TRY(traverse_side(t, s, &s->of[!op], &s->of[op]));
  if (t->shape.space == GABLE_HOST) {
    GI_TRY(gi_device_take(&s->memory, ((size_t)t->shape.nnz + 1) * size_of(t->shape.value_type), &s->values));
    GI_TRY(gi_device_take(&s->memory, ((size_t)t->shape.n + 1) * size_of(t->shape.value_type), &s->diagonal));
  }
  GI_TRY(checked(cudaDeviceSynchronize(), "analysis"));
done:
  gi_device_give_back(&scratch);
  return status;
}

} /* namespace gi */
