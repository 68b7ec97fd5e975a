/* cuda_plan.cu: analysis by the GPU backend: both sides of a plan, as far as they were asked for. */
#include <climits>
#include <cstdio>
#include <cstring>

#include "trisolve/cuda_state.h"

namespace gi
{

namespace
{

gable_status survey(gable_trisolve *t, state *s, side *d, gi_level_search which, gi_findings *found)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_cuda_survey(&s->memory, &s->scratch, &d->triangle, which, &d->level, &d->child, s->processors, s->found,
                        found));
  GI_TRY(gi_cuda_refuse(found->bad, &t->bad_row));
  d->triangle.nnz = found->entries;
done:
  return status;
}

/* The levels of d, whose long rows are split if its method is tiles or rows: so that no thread waits for all of a long
 * row.  The lengths are those of whole rows. */
gable_status survey_side(gable_trisolve *t, state *s, side *d)
{
  gable_status status = GABLE_OK;
  const int own = t->method == GI_AUTO || t->method == GI_TILES || t->method == GI_ROWS;
  gi_profile *p = &d->profile;
  gi_findings f = {};
  unsigned limit = UINT_MAX;
  GI_TRY(survey(t, s, d, own ? GI_LEVELS_UNLESS_SPLIT : GI_LEVELS, &f));
  d->plain = d->triangle;
  p->longest = f.longest;
  memcpy(p->within, f.within, sizeof p->within);
  if (own) limit = gi_limit_of(gi_limit_shape(p->within, p->longest, (unsigned)d->triangle.n, 1));
  if (f.longest > limit) {
    GI_TRY(gi_cuda_split(&s->memory, &d->triangle, f.longest, limit));
    GI_TRY(survey(t, s, d, GI_LEVELS, &f));
  }
  p->levels = f.levels;
  p->chain_levels = f.chain_levels;
  p->chains = f.chains;
done:
  return status;
}

__global__ void lengths_kernel(int n, const unsigned *ptr, unsigned *out)
{
  for (int k = (int)(blockIdx.x * blockDim.x + threadIdx.x); k < n; k += (int)(gridDim.x * blockDim.x))
    out[k] = ptr[k + 1] - ptr[k];
}

/* Room for the entries and the diagonal of the seed's methods, for each type that is solved in. */
static gable_status seed_values(const gable_trisolve *t, state *s, size_t n, size_t nnz, gik_seed *m)
{
  gable_status status = GABLE_OK;
  for (int type = 0; type < 2; type++) {
    if (!(types_of(t) >> type & 1)) continue;
    GI_TRY(gi_device_take(&s->memory, (nnz + 1) * (type ? 8 : 4), &m->val[type]));
    GI_TRY(gi_device_take(&s->memory, (n + 1) * (type ? 8 : 4), &m->diagonal[type]));
  }
done:
  return status;
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
  GI_TRY(seed_values(t, s, n, nnz, m));
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
  GI_TRY(survey_side(t, s, d));
  d->method = t->method;
  if (d->method == GI_AUTO && side_by_side(&d->profile, d->triangle.n))
    GI_TRY(gi_cuda_gap(&s->scratch, &d->triangle, d->level, d->child, &d->profile));
  if (d->method == GI_AUTO)
    d->method = choose(&d->profile, &d->plain, t->options.typical_rhs, d);
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
  GI_TRY(seed_values(t, s, n, nnz, m));
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
  if (s->updated) cudaEventDestroy(s->updated);
  gi_device_give_back(&s->scratch);
  gi_device_give_back(&s->memory);
  gi_free(t->ctx, s);
  t->state = nullptr;
}

/* The stored op's triangle, its arrays from few blocks of memory. */
static gable_status read_matrix(gable_trisolve *t, state *s, const gable_matrix_view *a, side *d, int *reverse)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->shape.n, nnz = (size_t)t->shape.nnz;
  gable_matrix_view view;
  GI_TRY(gi_device_reserve(&s->memory, 5 * n * sizeof(unsigned) + 2 * nnz * sizeof(unsigned) + (4 << 10)));
  GI_TRY(gi_device_reserve(&s->scratch, 2 * n * sizeof(unsigned) + (64 << 10)));
  GI_TRY(gi_device_take(&s->memory, 2 * sizeof *s->fault, (void **)&s->fault));
  GI_TRY(gi_device_take(&s->memory, sizeof *s->found, (void **)&s->found));
  GI_TRY(on_device(&s->scratch, &t->shape, a, &view));
  GI_TRY(gi_cuda_triangle(&s->memory, &s->scratch, &t->shape, &view, t->options.diag == GABLE_STORED, &d->triangle,
                          reverse, &s->diagonal_from, s->found));
done:
  return status;
}

/* The other op's triangle; the stored one's findings are looked at first if nobody has yet. */
static gable_status turn_matrix(gable_trisolve *t, state *s, side *stored, int built, side *d)
{
  gable_status status = GABLE_OK;
  gi_findings f = {};
  if (!built) GI_TRY(survey(t, s, stored, GI_NO_LEVELS, &f));
  if (!built) stored->plain = stored->triangle;
  GI_TRY(gi_cuda_transpose(&s->memory, &stored->plain, 1, &d->triangle));
done:
  return status;
}

gable_status cuda_analyse(gable_trisolve *t, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  const int stored = t->shape.format == GABLE_CSR ? GABLE_N : GABLE_T;
  const int asked[2] = {(t->options.ops & GABLE_TRISOLVE_N) != 0, (t->options.ops & GABLE_TRISOLVE_T) != 0};
  state *s = nullptr;
  int reverse = 0, device = 0;
  cuda_release(t);
  GI_REQUIRE(t->method != GI_SERIAL, GABLE_ERR_UNAVAILABLE, "method serial runs on the CPU only");
  GI_TRY(find_size(t, a));
  GI_TRY(host_take(t->ctx, 1, &s));
  t->state = s;
  s->memory.ctx = s->scratch.ctx = t->ctx;
  GI_TRY(checked(cudaGetDevice(&device), "device"));
  GI_TRY(checked(cudaDeviceGetAttribute(&s->processors, cudaDevAttrMultiProcessorCount, device), "device"));
  GI_TRY(checked(cudaEventCreateWithFlags(&s->updated, cudaEventDisableTiming), "event"));
  GI_TRY(read_matrix(t, s, a, &s->of[stored], &reverse));
  s->of[stored].reverse = reverse;
  s->of[!stored].reverse = !reverse;
  if (asked[stored]) GI_TRY(build_side(t, s, &s->of[stored]));
  if (asked[!stored]) {
    GI_TRY(turn_matrix(t, s, &s->of[stored], asked[stored], &s->of[!stored]));
    GI_TRY(build_side(t, s, &s->of[!stored]));
  }
  for (int op = 0; op < 2; op++)
    if (!asked[op]) GI_TRY(traverse_side(t, s, &s->of[!op], &s->of[op]));
  if (t->shape.space == GABLE_HOST) {
    GI_TRY(gi_device_take(&s->memory, ((size_t)t->shape.nnz + 1) * size_of(t->shape.value_type), &s->values));
    GI_TRY(gi_device_take(&s->memory, ((size_t)t->shape.n + 1) * size_of(t->shape.value_type), &s->diagonal));
  }
  GI_TRY(checked(cudaDeviceSynchronize(), "analysis"));
done:
  if (s) gi_device_give_back(&s->scratch);
  return status;
}

} /* namespace gi */
