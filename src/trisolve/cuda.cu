/* cuda.cu: the GPU backend: one side for each op, each with its triangle, its schedule and its method. */
#include <climits>
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

#include "device/device.h"
#include "trisolve/cuda_schedule.h"

namespace
{

enum { LIMITS = 8 };
const unsigned limit_of[LIMITS] = {2, 4, 8, 14, 16, 32, 64, 256};
const int lanes_of[LIMITS] = {1, 1, 2, 1, 4, 8, 16, 32};
const int pairs_of[LIMITS] = {1, 2, 2, 7, 2, 2, 2, 4};

struct side {
  gi_method method;             /* GI_AUTO: this op has no schedule */
  gik_device_triangle triangle; /* as the method stores it: long rows split by tiles and rows */
  gik_device_triangle plain;
  gi_profile profile;
  unsigned long long *level; /* [triangle.n] on the device */
  unsigned *place;           /* [triangle.n] where an update finds a row */
  gik_tiles tiles;
  gik_packed packed;
  gik_seed seed;
  unsigned *starts; /* host, [levels+1]: for the seed's methods */
  int widest, reverse, solve_blocks[2];
  double model_s;
  char why[240];
};

struct state {
  gi_device_memory memory;
  side of[2];
  unsigned *diagonal_from;
  int *fault; /* device, [2] */
  void *values, *diagonal;
  int processors;
};

gable_status checked(cudaError_t e, const char *what)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(!e, GABLE_ERR_BACKEND, "%s: %s", what, cudaGetErrorString(e));
done:
  return status;
}

template <typename T> gable_status host_take(gable_context *ctx, size_t count, T **out)
{
  gable_status status = GABLE_OK;
  *out = (T *)gi_alloc_zero(ctx, (gable_off)count, sizeof(T));
  GI_REQUIRE(*out, GABLE_ERR_MEMORY, "out of memory: %.1f MB", (double)count * sizeof(T) / 1e6);
done:
  return status;
}

size_t size_of(gable_type type)
{
  return type == GABLE_D || type == GABLE_I64 ? 8 : 4;
}

/* Types of vectors that solves of this matrix may have: bit 0 float, bit 1 double. */
int types_of(const gable_trisolve *t)
{
  return t->shape.value_type == GABLE_D ? 2 : 3;
}

/* The smallest row limit that all but one in fifty rows keep. */
int limit_index(const gi_profile *p, int n, int allow_wide_lane)
{
  for (int i = 0; i < LIMITS; i++) {
    if (limit_of[i] == 14 && (!allow_wide_lane || p->longest > 14 || p->within[2] * 2.0 > n)) continue;
    if ((double)p->within[i] >= 0.98 * n) return i;
  }
  return LIMITS - 1;
}

/* How the rows of one matrix are cut into tiles.  Chains that run side by side (many of one chain level: a grid with a
 * third dimension) are cut by chain level and by index into blocks of about 32 chains; lone chains 32 at a time;
 * otherwise intervals of index. */
void choose_cuts(const gi_profile *p, int n, gi_tile_shape *s)
{
  const double beside = p->chain_levels ? (double)p->chains / p->chain_levels : 0;
  const double length = p->chains ? (double)n / p->chains : 0;
  s->window = s->lanes == 1 ? 16 : 64;
  if (s->lanes == 1 && length >= 16 && beside >= 4 && p->gap > 0 && n > 240.0 * p->levels) {
    s->chain_cut = 8;
    s->index_cut = (unsigned)(4 * p->gap * (p->gap > length ? 1 : 0) + (p->gap > length ? 0 : 4 * length));
    s->pollers = s->pairs > 2 ? 6 : 4;
  } else if (s->lanes == 1 && length >= 16 && beside < 4) {
    s->chain_cut = 32;
    s->index_cut = 0;
    s->pollers = 1;
  } else if (s->lanes == 1) {
    s->index_cut = (unsigned)(n / 16 + 1);
    s->chain_cut = (unsigned)(p->chain_levels / 32 + 1);
    s->pollers = 4;
    s->window = 64;
  } else {
    s->index_cut = (unsigned)(n / 132 + 1);
    s->chain_cut = 0;
    s->pollers = 4;
    s->window = 64;
  }
}

/* Seconds a solve takes by tiles and by rows: levels times a step, constants measured on one H200. */
void predict(const gi_profile *p, const gik_device_triangle *t, double *tiles_s, double *rows_s)
{
  const double n = t->n, width = n / (p->levels ? p->levels : 1), mean = t->nnz / (n > 0 ? n : 1);
  const double bytes = 12.0 * t->nnz + 40.0 * n, chains = p->chains ? n / p->chains : 0;
  const double beside = p->chain_levels ? (double)p->chains / p->chain_levels : 0;
  const double hop = 0.40e-6 + 2.2e-11 * width * (1 + mean / 4) + 4e-9 * mean;
  double step = 0.16e-6;
  if (beside >= 4)
    step = chains >= 16 ? 0.28e-6 + 3.2e-11 * width + 7e-9 * mean : 0.20e-6 + 1.2e-9 * width + 2e-9 * mean * mean;
  *rows_s = 6e-6 + p->levels * hop + bytes / 3e12;
  *tiles_s = 10e-6 + p->levels * step + bytes / 3e12;
}

gi_method choose(const gi_profile *p, const gik_device_triangle *t, side *s)
{
  double tiles = 0, rows = 0;
  predict(p, t, &tiles, &rows);
  const double mean = t->n ? (double)t->nnz / t->n : 0;
  if (mean >= 15 || (mean > 5 && p->longest > 14 && t->n > 250.0 * p->levels))
    tiles = 10 * rows; /* border for the most part */
  /* the model is less sure of tiles, whose time depends on how tiles lie to one another: they must win clearly */
  const gi_method m = tiles < 0.9 * rows ? GI_TILES : GI_ROWS;
  s->model_s = m == GI_TILES ? tiles : rows;
  snprintf(s->why, sizeof s->why,
           "%d rows in %d levels and %d chains, %.1f entries a row: model says tiles %.3g s, rows %.3g s", t->n,
           p->levels, p->chains, (double)t->nnz / (t->n ? t->n : 1), tiles, rows);
  return m;
}

gable_status tiles_shape(const gable_trisolve *t, state *s, side *d, int k)
{
  gable_status status = GABLE_OK;
  gi_tile_shape shape = {lanes_of[k], pairs_of[k], 1, 16, 0, 0};
  if (shape.lanes == 1) GI_TRY(gi_cuda_gap(&s->memory, &d->triangle, d->level, &d->profile));
  choose_cuts(&d->profile, d->triangle.n, &shape);
  for (int attempt = 0;; attempt++) {
    GI_TRY(gi_cuda_tiles(&s->memory, &d->triangle, d->level, &d->profile, &shape, types_of(t), &d->tiles, &d->place));
    for (int type = 0; type < 2; type++)
      d->solve_blocks[type] =
          types_of(t) >> type & 1 ? gik_tiles_blocks(&d->tiles, type ? GABLE_D : GABLE_S, s->processors) : 1;
    if (d->solve_blocks[0] > 0 && d->solve_blocks[1] > 0 && d->tiles.slots <= 0xffff) break;
    GI_REQUIRE(attempt < 8, GABLE_ERR_LIMIT, "no tile shape fits: %d slots in the largest tile", d->tiles.slots);
    /* smaller tiles have smaller borders */
    if (shape.index_cut) shape.index_cut = (shape.index_cut + 3) / 4;
    if (shape.chain_cut > 1) shape.chain_cut = (shape.chain_cut + 1) / 2;
    if (!shape.index_cut && shape.chain_cut <= 1) shape.index_cut = (unsigned)(d->triangle.n / 64 + 1);
  }
done:
  return status;
}

gable_status rows_shape(const gable_trisolve *t, state *s, side *d, int k)
{
  gable_status status = GABLE_OK;
  d->packed = gik_packed{lanes_of[k], pairs_of[k]};
  const double width = (double)d->triangle.n / (d->profile.levels + 1);
  d->packed.blocks = width > 300 ? 4 : 2;
  d->packed.gated = pairs_of[k] * lanes_of[k] >= 7;
  /* Levels so wide that bytes count more than latency: more rows a record, and none of the padding is read. */
  if (width > 8192 && limit_of[k] >= 8 && d->triangle.nnz * 1.3 < (double)d->triangle.n * limit_of[k]) {
    const int lanes = (int)(limit_of[k] / 8);
    d->packed.classed = 1;
    d->packed.blocks = 8;
    if (limit_of[k] % 8 == 0 && gik_packed_shape(lanes, 4)) d->packed.lanes = lanes, d->packed.pairs = 4;
  }
  GI_TRY(gi_cuda_packed(&s->memory, &d->triangle, d->level, &d->profile, types_of(t), &d->packed, &d->place));
done:
  return status;
}

gable_status own_schedule(const gable_trisolve *t, state *s, side *d)
{
  const int wide_lane = d->profile.chains && d->triangle.n / d->profile.chains >= 16;
  const int k = limit_index(&d->profile, d->plain.n, wide_lane);
  return d->method == GI_TILES ? tiles_shape(t, s, d, k) : rows_shape(t, s, d, k);
}

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

void release(gable_trisolve *t)
{
  state *s = (state *)t->state;
  if (!s) return;
  cudaDeviceSynchronize();
  for (int op = 0; op < 2; op++) gi_free(t->ctx, s->of[op].starts);
  gi_device_give_back(&s->memory);
  gi_free(t->ctx, s);
  t->state = nullptr;
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

gable_status analyse(gable_trisolve *t, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  const int stored_op = t->shape.format == GABLE_CSR ? GABLE_N : GABLE_T;
  gi_device_memory scratch = {t->ctx};
  gable_matrix_view view;
  state *s = nullptr;
  int reverse = 0, device = 0;
  release(t);
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

gable_status update_side(side *d, const gi_values *v)
{
  if (d->method == GI_AUTO || !d->triangle.n) return GABLE_OK;
  if (d->method == GI_TILES) return gi_cuda_update_tiles(&d->triangle, &d->tiles, d->place, v);
  if (d->method == GI_ROWS) return gi_cuda_update_packed(&d->triangle, &d->packed, d->place, v);
  return gi_cuda_update_seed(&d->seed, v);
}

gable_status update(gable_trisolve *t, const void *val, const void *diagonal)
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

size_t aligned(size_t bytes)
{
  return (bytes + 255) / 256 * 256;
}

/* Numbers that a solve of one right-hand side publishes, in both halves; the seed's methods keep flags or counts. */
size_t published_of(const side *d)
{
  if (d->method == GI_TILES) return 2 * (size_t)d->tiles.n_published;
  if (d->method == GI_ROWS) return 2 * (size_t)d->packed.n_published;
  return d->method == GI_AUTO ? 0 : (size_t)d->triangle.n;
}

/* Right-hand sides for which a side keeps published values: the seed's methods take one after another. */
size_t published_rhs(const side *d, gable_idx max_rhs)
{
  if (d->method != GI_TILES && d->method != GI_ROWS) return 1;
  return max_rhs < GIK_MOST_RHS ? (size_t)max_rhs : (size_t)GIK_MOST_RHS;
}

/* Scratch of a work: for each op and type of vectors a control block and its published values; then a stage for vectors
 * of the host.  offset[op][type], and the stage's in *stage. */
size_t work_layout(const gable_trisolve *t, gable_idx max_rhs, size_t offset[2][2], size_t *stage)
{
  const state *s = (const state *)t->state;
  size_t at = 0;
  for (int op = 0; op < 2; op++)
    for (int type = 0; type < 2; type++) {
      offset[op][type] = at;
      if (!(types_of(t) >> type & 1)) continue;
      at += aligned(sizeof(gik_control)) +
            aligned(published_of(&s->of[op]) * published_rhs(&s->of[op], max_rhs) * (type ? 8 : 4));
    }
  *stage = at;
  return at + aligned((size_t)t->shape.n * (size_t)max_rhs * 8);
}

void work_bytes(const gable_trisolve *t, gable_idx max_rhs, size_t *host, size_t *device)
{
  size_t offset[2][2], stage = 0;
  *host = 0;
  *device = work_layout(t, max_rhs, offset, &stage);
}

gable_status work_init(gable_work *w)
{
  gable_status status = GABLE_OK;
  const gable_trisolve *t = w->plan;
  const state *s = (const state *)t->state;
  size_t offset[2][2], stage = 0;
  work_layout(t, w->max_rhs, offset, &stage);
  for (int op = 0; op < 2; op++)
    for (int type = 0; type < 2; type++) {
      if (!(types_of(t) >> type & 1)) continue;
      const side *d = &s->of[op];
      char *at = (char *)w->device + offset[op][type];
      const size_t own = d->method == GI_TILES || d->method == GI_ROWS ? published_rhs(d, w->max_rhs) : 0;
      GI_TRY(gik_solve_prepare((gik_control *)at, at + aligned(sizeof(gik_control)), published_of(d) * own,
                               type ? GABLE_D : GABLE_S, nullptr));
    }
  GI_TRY(checked(cudaStreamSynchronize(nullptr), "work"));
done:
  return status;
}

void work_release(gable_work *w)
{
  cudaStreamSynchronize((cudaStream_t)w->stream);
}

/* Between a caller's layout and a packed one of the same major order. */
gable_status stage_copy(const gable_vectors_view *v, void *stage, int in, cudaStream_t stream)
{
  const size_t size = size_of(v->type), pitch = (size_t)v->ld * size;
  const int columns = v->major == GABLE_COL_MAJOR;
  const size_t width = (size_t)(columns ? v->n : v->count) * size, height = (size_t)(columns ? v->count : v->n);
  return checked(in ? cudaMemcpy2DAsync(stage, width, v->data, pitch, width, height, cudaMemcpyHostToDevice, stream)
                    : cudaMemcpy2DAsync(v->data, pitch, stage, width, width, height, cudaMemcpyDeviceToHost, stream),
                 "copy of the vectors");
}

gable_status launch(const side *d, gable_type type, const gik_solve *r)
{
  switch (d->method) {
  case GI_TILES: return gik_tiles_solve(&d->tiles, type, d->solve_blocks[type == GABLE_D], r);
  case GI_ROWS: return gik_packed_solve(&d->packed, type, r);
  case GI_LEVR: return gik_levr_solve(&d->seed, type, r);
  case GI_LEVC: return gik_levc_solve(&d->seed, type, r);
  case GI_ELMR: return gik_elmr_solve(&d->seed, type, r);
  default: return gik_elmc_solve(&d->seed, type, r);
  }
}

gik_device_vectors vectors_of(const gable_vectors_view *b, const gable_vectors_view *x, void *stage)
{
  gik_device_vectors v = {};
  v.count = b->count;
  v.b = stage ? stage : b->data;
  v.x = stage ? stage : x->data;
  const ptrdiff_t b_ld = stage ? (b->major == GABLE_COL_MAJOR ? b->n : b->count) : b->ld;
  const ptrdiff_t x_ld = stage ? b_ld : x->ld;
  const int x_columns = (stage ? b->major : x->major) == GABLE_COL_MAJOR;
  v.b_row = b->major == GABLE_COL_MAJOR ? 1 : b_ld;
  v.b_rhs = b->major == GABLE_COL_MAJOR ? b_ld : 1;
  v.x_row = x_columns ? 1 : x_ld;
  v.x_rhs = x_columns ? x_ld : 1;
  return v;
}

gable_status solve(const gable_trisolve *t, gable_work *w, gable_op op, const gable_vectors_view *b,
                   gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  const state *s = (const state *)t->state;
  const side *d = &s->of[op];
  const int host = b->space == GABLE_HOST;
  size_t offset[2][2], stage = 0;
  char *at = nullptr;
  gik_solve r = {};
  gable_vectors_view packed = *x;
  GI_REQUIRE(!host || b->major == x->major, GABLE_ERR_ARGUMENT, "host vectors: b and x differ in their major order");
  work_layout(t, w->max_rhs, offset, &stage);
  at = (char *)w->device + offset[op][b->type == GABLE_D];
  r.control = (gik_control *)at;
  r.published = at + aligned(sizeof(gik_control));
  r.deadline_ns = (unsigned long long)(t->options.deadline_s * 1e9);
  r.processors = s->processors;
  r.stream = w->stream;
  r.v = vectors_of(b, x, host ? (char *)w->device + stage : nullptr);
  if (host) GI_TRY(stage_copy(b, (void *)r.v.b, 1, (cudaStream_t)w->stream));
  for (; r.v.count > 0; r.v.count -= GIK_MOST_RHS) {
    const size_t step = GIK_MOST_RHS * size_of(b->type);
    gik_solve part = r;
    if (part.v.count > GIK_MOST_RHS) part.v.count = GIK_MOST_RHS;
    GI_TRY(launch(d, b->type, &part));
    r.v.b = (const char *)r.v.b + (ptrdiff_t)step * r.v.b_rhs;
    r.v.x = (char *)r.v.x + (ptrdiff_t)step * r.v.x_rhs;
  }
  if (host) {
    GI_TRY(stage_copy(&packed, (char *)w->device + stage, 0, (cudaStream_t)w->stream));
    GI_TRY(checked(cudaStreamSynchronize((cudaStream_t)w->stream), "solve"));
  }
done:
  return status;
}

gable_status work_status(gable_work *w)
{
  gable_status status = GABLE_OK;
  const gable_trisolve *t = w->plan;
  size_t offset[2][2], stage = 0;
  cudaStream_t stream = (cudaStream_t)w->stream;
  work_layout(t, w->max_rhs, offset, &stage);
  for (int op = 0; op < 2; op++)
    for (int type = 0; type < 2; type++) {
      int row = -1, none = -1;
      if (!(types_of(t) >> type & 1)) continue;
      gik_control *c = (gik_control *)((char *)w->device + offset[op][type]);
      GI_TRY(checked(cudaMemcpyAsync(&row, &c->fault_row, sizeof row, cudaMemcpyDeviceToHost, stream), "status"));
      GI_TRY(checked(cudaStreamSynchronize(stream), "a solve"));
      if (row < 0) continue;
      w->fault = GABLE_ERR_DEADLINE;
      w->fault_row = row;
      GI_TRY(checked(cudaMemcpyAsync(&c->fault_row, &none, sizeof none, cudaMemcpyHostToDevice, stream), "status"));
      GI_TRY(checked(cudaStreamSynchronize(stream), "status"));
    }
done:
  return status;
}

gable_status info(const gable_trisolve *t, gable_op op, gable_trisolve_info *i)
{
  const state *s = (const state *)t->state;
  const side *d = &s->of[op];
  snprintf(i->method_used, sizeof i->method_used, "%s", gi_method_name(d->method));
  snprintf(i->why, sizeof i->why, "%s", d->why);
  i->n = t->shape.n;
  i->nnz = d->triangle.nnz - (d->triangle.n - t->shape.n) + t->shape.n;
  i->levels = d->profile.levels;
  i->widest = d->widest;
  i->plan_bytes_device = s->memory.bytes;
  i->model_s = d->model_s;
  i->launches = 1;
  switch (d->method) {
  case GI_TILES:
    i->threads = d->tiles.lanes;
    i->tiles = d->tiles.count;
    i->waits = d->tiles.n_borders;
    break;
  case GI_ROWS:
    i->threads = d->packed.lanes;
    i->waits = d->triangle.nnz;
    break;
  case GI_LEVR:
  case GI_LEVC:
    i->threads = d->seed.lanes;
    i->launches = gik_seed_launches(&d->seed) + (d->method == GI_LEVC);
    i->barriers = d->profile.levels > 0 ? d->profile.levels - 1 : 0;
    i->atomics = d->method == GI_LEVC ? d->triangle.nnz : 0;
    break;
  default:
    i->threads = 32;
    i->launches = d->method == GI_ELMR ? 2 : 3;
    i->waits = d->method == GI_ELMR ? d->triangle.nnz : d->triangle.n;
    i->atomics = d->method == GI_ELMR ? 0 : 2 * (gable_off)d->triangle.nnz;
  }
  return GABLE_OK;
}

gable_status schedule(const gable_trisolve *t, gable_op op, gable_idx *order, gable_idx *level)
{
  gable_status status = GABLE_OK;
  const state *s = (const state *)t->state;
  const side *d = &s->of[op];
  const size_t n = (size_t)d->triangle.n;
  unsigned *row = nullptr, *place = nullptr;
  gable_idx *at = nullptr;
  unsigned long long *levels = nullptr;
  size_t places = 0;
  GI_REQUIRE(d->level, GABLE_ERR_UNAVAILABLE, "no schedule was asked for this op (options.ops)");
  GI_TRY(host_take(t->ctx, n, &row));
  GI_TRY(host_take(t->ctx, n, &place));
  GI_TRY(host_take(t->ctx, n, &levels));
  GI_TRY(checked(cudaMemcpy(row, d->triangle.row, n * sizeof *row, cudaMemcpyDeviceToHost), "copy"));
  GI_TRY(checked(cudaMemcpy(levels, d->level, n * sizeof *levels, cudaMemcpyDeviceToHost), "copy"));
  if (d->method == GI_TILES || d->method == GI_ROWS) {
    GI_TRY(checked(cudaMemcpy(place, d->place, n * sizeof *place, cudaMemcpyDeviceToHost), "copy"));
  } else {
    for (size_t k = 0; k < n; k++) place[k] = (unsigned)k;
    if (d->seed.order) {
      unsigned *list = nullptr;
      GI_TRY(host_take(t->ctx, n, &list));
      cudaError_t e = cudaMemcpy(list, d->seed.order, n * sizeof *list, cudaMemcpyDeviceToHost);
      for (size_t k = 0; k < n && !e; k++) place[list[k]] = (unsigned)k;
      gi_free(t->ctx, list);
      GI_TRY(checked(e, "copy"));
    }
  }
  for (size_t k = 0; k < n; k++) places = place[k] + 1 > places ? place[k] + 1 : places;
  GI_TRY(host_take(t->ctx, places, &at));
  for (size_t p = 0; p < places; p++) at[p] = -1;
  for (size_t k = 0; k < n; k++) {
    if (row[k] == 0xffffffffu) continue;
    at[place[k]] = (gable_idx)row[k];
    if (level) level[row[k]] = (gable_idx)(levels[k] >> 32);
  }
  for (size_t p = 0, q = 0; p < places && order; p++)
    if (at[p] >= 0) order[q++] = at[p];
done:
  gi_free(t->ctx, row);
  gi_free(t->ctx, place);
  gi_free(t->ctx, levels);
  gi_free(t->ctx, at);
  return status;
}

} /* namespace */

extern "C" const gi_trisolve_backend gi_trisolve_cuda = {
    analyse, update, work_bytes, work_init, work_release, solve, work_status, info, schedule, release,
};
