/* plan.cu: analysis by the GPU backend: a plan for each op that was asked for. */
#include <climits>
#include <cstring>

#include "trisolve/cuda/passes.cuh"
#include "trisolve/cuda/state.h"

namespace gi
{

namespace
{

void profile_of(const gi_findings *f, gi_profile *p)
{
  p->levels = f->levels;
  p->chain_levels = f->chain_levels;
  p->chains = f->chains;
}

unsigned limit_of(const op_plan *d)
{
  return gi_limit_of(gi_limit_shape(d->profile.within, d->profile.longest, (unsigned)d->plain.n, 1));
}

/* Which levels a first survey looks for. */
gi_level_search search_of(const gable_trisolve *t)
{
  if (!own_method(t->method)) return GI_LEVELS;
  if (t->method == GI_TILES) return GI_LEVELS_UNLESS_SPLIT;
  return t->options.typical_rhs > 1 ? GI_LEVELS_UNLESS_LONG : GI_LEVELS_UNLESS_DENSE;
}

/* The longest row that d's method m, as far as it is known, takes as it is.  A few long rows stay whole, or in parts
 * that fill a record, until it is known that tiles are to solve them, or rows in narrow levels. */
unsigned longest_of(const gable_trisolve *t, const op_plan *d, gi_method m)
{
  const unsigned limit = limit_of(d), n = (unsigned)d->plain.n, most = gi_longest_whole(n);
  const int narrow = m != GI_AUTO && n <= 64.0 * (d->profile.levels + 1);
  if (!own_method(m)) return UINT_MAX;
  if (m == GI_TILES) return limit;
  if (search_of(t) == GI_LEVELS_UNLESS_DENSE && !narrow &&
      gi_long_rows_are_few(d->profile.longest < most ? d->profile.longest : most, d->plain.nnz, n))
    return most;
  return limit > GI_WHOLE_ROW ? limit : (unsigned)GI_WHOLE_ROW;
}

/* What a survey has found of d, but for its triangle. */
gable_status take_findings(gable_trisolve *t, const gi_findings *f, op_plan *d)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_cuda_refuse(f, &t->bad_row));
  d->triangle.nnz = f->entries;
  d->plain = d->triangle;
  d->profile.longest = d->longest = f->longest;
  memcpy(d->profile.within, f->within, sizeof f->within);
  profile_of(f, &d->profile);
done:
  return status;
}

/* d->triangle with arrays of its own. */
gable_status make_triangle(state *s, op_plan *d)
{
  gable_status status = GABLE_OK;
  if (d->triangle.ptr) goto done;
  GI_TRY(gi_cuda_triangle(&s->memory, &s->scratch, &s->reading, d->triangle.nnz, &d->triangle));
  d->plain = d->triangle;
done:
  return status;
}

/* The stored op: what was read, row lengths, and levels unless rows have to be split before. */
gable_status survey_stored(gable_trisolve *t, state *s, op_plan *d, gi_level_search which)
{
  gable_status status = GABLE_OK;
  const int copied = t->shape.n > d->model->trisolve.counted_rows && which != GI_NO_LEVELS;
  GI_TRY(gi_cuda_survey_reading(t->ctx, &s->reading, nullptr, copied ? GI_NO_LEVELS : which, &s->counts, s->processors,
                                &s->found));
  d->triangle.n = t->shape.n;
  d->triangle.row = d->triangle.parent = s->reading.row;
  d->level = s->reading.level;
  d->child = s->reading.child;
  GI_TRY(take_findings(t, &s->found, d));
  if (t->shape.n) t->shape.nnz = s->found.stored;
  if (!copied) goto done;
  GI_TRY(make_triangle(s, d));
  s->reading.follow = s->found.follow >= 0.7 * t->shape.n;
  GI_TRY(gi_cuda_survey_reading(t->ctx, &s->reading, &d->triangle, which, &s->counts, s->processors, &s->found));
  profile_of(&s->found, &d->profile);
done:
  return status;
}

/* More levels by lifting than this, and they are looked for anew: rows takes as many steps more, tiles hardly any
 * unless parts are split again. */
inline double most_lifted(gi_method m, int again)
{
  return m == GI_ROWS || again ? 1.25 : 2.0;
}

/* d's triangle with its long rows split for method m, so that no thread waits for all of a long row, and its levels:
 * from those of whole rows, where they are known already and become few more by that or matter less, or by a survey.
 * The lengths are those of whole rows. */
gable_status split_rows(const gable_trisolve *t, state *s, op_plan *d, gi_method m)
{
  gable_status status = GABLE_OK;
  gi_findings f = {};
  gi_split_levels known = {d->level, d->profile.levels};
  const int lanes = lanes_of[gi_limit_shape(d->profile.within, d->profile.longest, (unsigned)d->plain.n, 1)];
  const unsigned most = longest_of(t, d, m),
                 parts = most < GIK_VARIABLE_ROOM ? limit_of(d) : (unsigned)GIK_VARIABLE_ROOM;
  const int again = d->triangle.whole != nullptr;
  if (d->longest <= most) goto done;
  GI_TRY(make_triangle(s, d));
  if (known.levels && lanes == 1 && !d->profile.gap)
    GI_TRY(gi_cuda_gap(&s->scratch, &d->triangle, d->level, d->child, &d->profile));
  GI_TRY(gi_cuda_split(&s->memory, &s->scratch, &d->triangle, d->longest, parts, known.levels ? &known : nullptr));
  d->longest = parts;
  if (known.levels && known.levels <= most_lifted(m, again) * d->profile.levels) {
    d->level = (unsigned long long *)known.level;
    d->child = nullptr; /* of whole rows */
    d->profile.levels = known.levels;
    goto done;
  }
  GI_TRY(gi_cuda_survey(&s->memory, &s->scratch, &d->triangle, GI_LEVELS, &d->level, &d->child, s->processors,
                        s->reading.found, &f));
  profile_of(&f, &d->profile);
  d->triangle.nnz = f.entries;
done:
  return status;
}

__global__ void lengths_kernel(int n, const unsigned *ptr, unsigned *out)
{
  for (int k = (int)(blockIdx.x * blockDim.x + threadIdx.x); k < n; k += (int)(gridDim.x * blockDim.x))
    out[k] = ptr[k + 1] - ptr[k];
}

/* Room for the entries and the diagonal of the seed's methods. */
static gable_status seed_values(const gable_trisolve *t, state *s, size_t n, size_t nnz, gik_seed *m)
{
  gable_status status = GABLE_OK;
  const size_t size = gi_type_size(t->shape.value_type);
  m->stored = t->shape.value_type;
  GI_TRY(gi_arena_take(&s->memory, (nnz + 1) * size, &m->val));
  GI_TRY(gi_arena_take(&s->memory, (n + 1) * size, &m->diagonal));
done:
  return status;
}

gable_status seed_schedule(const gable_trisolve *t, state *s, op_plan *d)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)d->triangle.n, nnz = d->triangle.nnz;
  const int columns = d->method == GI_LEVC || d->method == GI_ELMC || d->method == GI_GSF;
  gik_seed *m = &d->seed;
  gik::launches on(s->memory.stream);
  m->a = d->triangle;
  m->reverse = d->reverse;
  m->levels = d->profile.levels;
  m->level = d->starts;
  m->lanes = 2;
  while (m->lanes < 32 && m->lanes * (double)n < (double)nnz) m->lanes *= 2;
  if (columns) GI_TRY(gi_cuda_transpose(&s->memory, &d->triangle, 0, &m->a));
  GI_TRY(gi_cuda_order(&s->memory, &d->triangle, d->level, m->levels, &m->order, &m->device_level));
  if (d->method == GI_ELMC || d->method == GI_GSF) {
    GI_TRY(gi_arena_take(&s->memory, (n + 1) * sizeof *m->parents, (void **)&m->parents));
    on.launch(lengths_kernel, 512, 256, 0, (int)n, d->triangle.ptr, m->parents);
    GI_TRY(on.status("lengths"));
  }
  if (d->method == GI_GSF) m->order = nullptr;
  GI_TRY(seed_values(t, s, n, nnz, m));
done:
  return status;
}

/* Rows of each level, on the host: for the report and for the launches of the level methods. */
gable_status count_levels(gable_trisolve *t, op_plan *d)
{
  gable_status status = GABLE_OK;
  gi_arena scratch = gi_arena_of(t->ctx);
  const size_t count = (size_t)d->profile.levels + 1;
  unsigned *order = nullptr, *starts = nullptr;
  GI_TRY(gi_cuda_order(&scratch, &d->triangle, d->level, d->profile.levels, &order, &starts));
  GI_TRY(host_take(t->ctx, count, &d->starts));
  GI_TRY(fetch(&scratch, d->starts, starts, count));
  for (int l = 0; l < d->profile.levels; l++) {
    const int rows = (int)(d->starts[l + 1] - d->starts[l]);
    if (rows > d->widest) d->widest = rows;
  }
done:
  gi_arena_release(&scratch);
  return status;
}

/* Whether rows can be placed by counting: few keys, and tiles so few that each can add up those before it. */
int by_counting(const gable_trisolve *t, const state *s, const op_plan *d)
{
  const double tiles = (double)t->shape.n / GI_TILE_ROWS, keys = gi_cuda_keys(&d->rows, &s->found);
  const int one_op = t->options.ops != (GABLE_TRISOLVE_N | GABLE_TRISOLVE_T);
  return one_op && s->counts.rows && !d->triangle.ptr && keys <= GI_WIDTHS && tiles * tiles * keys < 1e8;
}

/* The schedule and records of rows by counting, straight from what was read. */
gable_status counted_schedule(state *s, op_plan *d)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_cuda_counted(&s->memory, &s->reading, &s->counts, &s->found, &d->rows, &s->counted));
  if (s->found.last_level) d->rows.unread = (unsigned)d->triangle.n - s->found.last_level;
  d->row_at = s->counted.row_at;
  d->run = s->counted.run;
  d->triangle = d->plain = s->counted.plain;
  d->rows.chunk = chunk_of(&d->rows, d->profile.levels, s->processors);
done:
  return status;
}

/* The schedule and records of tiles and rows.  Rows that are whole and of the stored op are updated by runs. */
gable_status records_schedule(const gable_trisolve *t, state *s, op_plan *d)
{
  gable_status status = GABLE_OK;
  const int k = shape_of(d), stored = d == &s->of[t->shape.format == GABLE_FORMAT_CSR ? GABLE_OP_N : GABLE_OP_T];
  gi_records r;
  if (d->method == GI_ROWS) rows_shape(t, d, k);
  if (stored && d->method == GI_ROWS && by_counting(t, s, d)) {
    GI_TRY(counted_schedule(s, d));
    goto done;
  }
  if (stored) GI_TRY(make_triangle(s, d));
  if (d->method == GI_TILES) GI_TRY(tiles_shape(t, s, d, k));
  if (d->method == GI_ROWS && !d->rows.lanes) rows_shape(t, d, k); /* tiles did not fit */
  if (d->method == GI_ROWS) {
    GI_TRY(gi_cuda_rows(&s->memory, &d->triangle, d->level, &d->profile, &d->rows, &d->row_at));
    d->rows.chunk = chunk_of(&d->rows, d->profile.levels, s->processors);
  }
  if (!stored) goto done;
  r = records_of(d);
  GI_TRY(gi_cuda_runs(&s->memory, &d->triangle, d->reverse, s->reading.diagonal_from, &r, &d->run));
done:
  return status;
}

/* After d's first survey. */
gable_status build_op_plan(gable_trisolve *t, state *s, op_plan *d)
{
  gable_status status = GABLE_OK;
  GI_TRY(split_rows(t, s, d, t->method));
  d->method = t->method;
  if (d->method == GI_AUTO && side_by_side(&d->profile, d->triangle.n)) {
    GI_TRY(make_triangle(s, d));
    GI_TRY(gi_cuda_gap(&s->scratch, &d->triangle, d->level, d->child, &d->profile));
  }
  if ((d->method == GI_AUTO || d->method == GI_ROWS) &&
      asks_for_widths(d->model, &d->profile, &d->plain, t->options.typical_rhs, d->method == GI_ROWS))
    GI_TRY(gi_cuda_widths(&s->scratch, d->triangle.n, d->level, &d->profile));
  if (d->method == GI_AUTO)
    d->method = choose(&d->profile, &d->plain, t->options.typical_rhs, d);
  else
    d->chosen.why = "asked for";
  GI_TRY(split_rows(t, s, d, d->method));
  if (d->method == GI_TILES || d->method == GI_ROWS) {
    GI_TRY(records_schedule(t, s, d));
  } else {
    GI_TRY(make_triangle(s, d));
    GI_TRY(seed_plan(t, s, d));
  }
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
gable_status traverse_op_plan(const gable_trisolve *t, state *s, const op_plan *other, op_plan *d)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)other->plain.n, nnz = other->plain.nnz;
  gik_seed *m = &d->seed;
  gik::launches on(s->memory.stream);
  d->method = GI_GSF;
  d->triangle = d->plain = m->a = other->plain;
  d->profile = other->profile;
  d->level = nullptr;
  m->reverse = other->reverse;
  d->chosen.why = "no schedule was asked for this op: the other one's rows as columns, last one first";
  m->order = s->counted.order;
  m->parents = s->counted.parents;
  if (!m->order) {
    GI_TRY(gi_arena_take(&s->memory, (n + 1) * sizeof *m->parents, (void **)&m->parents));
    GI_TRY(gi_arena_take(&s->memory, (n + 1) * sizeof *m->order, (void **)&m->order));
    on.call([&] { return cudaMemsetAsync(m->parents, 0, n * sizeof *m->parents, on.stream); });
    on.launch(column_counts_kernel, 512, 256, 0, (int)n, (unsigned)nnz, m->a.col, m->order, m->parents);
    GI_TRY(on.status("column counts"));
  }
  GI_TRY(seed_values(t, s, n, nnz, m));
done:
  return status;
}

/* The view with its arrays in device memory: a's own, or copies in scratch. */
gable_status on_device(gi_arena *scratch, const gi_shape *shape, const gable_matrix_view *a, gable_matrix_view *out)
{
  gable_status status = GABLE_OK;
  const size_t offset = gi_type_size(shape->offset_type), n = (size_t)shape->n, nnz = (size_t)shape->nnz;
  void *ptr = nullptr, *idx = nullptr;
  const cudaStream_t stream = (cudaStream_t)scratch->stream;
  *out = *a;
  if (shape->space == GABLE_SPACE_DEVICE) goto done;
  GI_TRY(gi_arena_take(scratch, (n + 1) * offset, &ptr));
  GI_TRY(gi_arena_take(scratch, nnz * sizeof(gable_idx) + 4, &idx));
  GI_TRY(
      checked(cudaMemcpyAsync(ptr, a->ptr, (n + 1) * offset, cudaMemcpyHostToDevice, stream), "copy of the offsets"));
  if (nnz)
    GI_TRY(checked(cudaMemcpyAsync(idx, a->idx, nnz * sizeof(gable_idx), cudaMemcpyHostToDevice, stream),
                   "copy of indices"));
  out->ptr = ptr;
  out->idx = (const gable_idx *)idx;
done:
  return status;
}

} /* namespace */

gable_status seed_plan(gable_trisolve *t, state *s, op_plan *d)
{
  gable_status status = GABLE_OK;
  GI_TRY(count_levels(t, d));
  GI_TRY(seed_schedule(t, s, d));
done:
  return status;
}

void cuda_release(gable_trisolve *t)
{
  state *s = (state *)t->state;
  current_device here;
  if (!s) return;
  (void)here.enter(gi_cuda_ordinal(t->ctx));
  for (int op = 0; op < 2; op++) {
    if (s->of[op].last) gi_free(t->ctx, s->of[op].last->starts);
    gi_free(t->ctx, s->of[op].last);
    gi_free(t->ctx, s->of[op].starts);
  }
  gi_arena_release(&s->scratch);
  gi_arena_release(&s->memory);
  gi_free(t->ctx, s);
  t->state = nullptr;
}

/* The rows of the stored op, and room for what a first survey counts, from one block of memory each. */
static gable_status read_matrix(gable_trisolve *t, state *s, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->shape.n, tiles = n / GI_TILE_ROWS + 1;
  const int counted =
      n <= (size_t)s->of[0].model->trisolve.counted_rows && (t->method == GI_AUTO || t->method == GI_ROWS);
  gable_matrix_view view;
  GI_TRY(gi_arena_reserve(&s->memory, 8 * n * sizeof(unsigned) + (16 << 10)));
  GI_TRY(gi_arena_reserve(&s->scratch,
                          n * sizeof(unsigned) + counted * tiles * (GI_WIDTHS + 1) * sizeof(unsigned) + (64 << 10)));
  if (counted) {
    GI_TRY(gi_arena_take(&s->scratch, tiles * GI_WIDTHS * sizeof(unsigned), (void **)&s->counts.rows));
    GI_TRY(gi_arena_take(&s->scratch, tiles * sizeof(unsigned), (void **)&s->counts.entries));
  }
  GI_TRY(on_device(&s->scratch, &t->shape, a, &view));
  GI_TRY(gi_cuda_read(&s->memory, &t->shape, &view, t->options.diag == GABLE_DIAG_STORED, &s->reading));
done:
  return status;
}

/* The other op's triangle and its first survey; the stored one's is needed for it. */
static gable_status transpose_matrix(gable_trisolve *t, state *s, op_plan *stored, op_plan *d)
{
  gable_status status = GABLE_OK;
  gi_findings f = {};
  GI_TRY(make_triangle(s, stored));
  GI_TRY(gi_cuda_transpose(&s->memory, &stored->plain, 1, &d->triangle));
  GI_TRY(gi_cuda_survey(&s->memory, &s->scratch, &d->triangle, search_of(t), &d->level, &d->child, s->processors,
                        s->reading.found, &f));
  GI_TRY(take_findings(t, &f, d));
done:
  return status;
}

/* In the place of an earlier analysis' state. */
static gable_status open_state(gable_trisolve *t, state **out)
{
  gable_status status = GABLE_OK;
  state *s = nullptr;
  cuda_release(t);
  GI_TRY(host_take(t->ctx, 1, &s));
  t->state = s;
  s->memory = s->scratch = gi_arena_of(t->ctx);
  s->processors = gi_cuda_gpu(t->ctx)->processors;
  s->of[0].model = s->of[1].model = t->ctx->device->gpu_class(t->ctx);
done:
  *out = s;
  return status;
}

gable_status cuda_analyse(gable_trisolve *t, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  const int stored = t->shape.format == GABLE_FORMAT_CSR ? GABLE_OP_N : GABLE_OP_T;
  const int asked[2] = {(t->options.ops & GABLE_TRISOLVE_N) != 0, (t->options.ops & GABLE_TRISOLVE_T) != 0};
  const cudaStream_t stream = (cudaStream_t)gi_own_stream(t->ctx);
  current_device here;
  state *s = nullptr;
  GI_TRY(here.enter(gi_cuda_ordinal(t->ctx)));
  GI_REQUIRE(t->shape.nnz >= 0 && t->shape.nnz < INT_MAX, GABLE_ERR_LIMIT,
             "%lld entries: a GPU plan holds fewer than 2^31", (long long)t->shape.nnz);
  GI_TRY(open_state(t, &s));
  if (t->shape.space == GABLE_SPACE_DEVICE) GI_TRY(t->ctx->device->order_after(t->ctx, stream, t->stream));
  GI_TRY(read_matrix(t, s, a));
  s->reading.mailbox = (gi_findings *)gi_mailbox_take(t->ctx);
  s->of[stored].reverse = s->reading.rows.flip != 0;
  s->of[!stored].reverse = !s->of[stored].reverse;
  GI_TRY(survey_stored(t, s, &s->of[stored], asked[stored] ? search_of(t) : GI_NO_LEVELS));
  if (asked[stored]) GI_TRY(build_op_plan(t, s, &s->of[stored]));
  if (asked[!stored]) {
    GI_TRY(transpose_matrix(t, s, &s->of[stored], &s->of[!stored]));
    GI_TRY(build_op_plan(t, s, &s->of[!stored]));
  }
  for (int op = 0; op < 2; op++)
    if (!asked[op]) GI_TRY(traverse_op_plan(t, s, &s->of[!op], &s->of[op]));
  if (t->shape.space == GABLE_SPACE_HOST) {
    GI_TRY(gi_arena_take(&s->memory, ((size_t)t->shape.nnz + 1) * gi_type_size(t->shape.value_type), &s->values));
    GI_TRY(gi_arena_take(&s->memory, ((size_t)t->shape.n + 1) * gi_type_size(t->shape.value_type), &s->diagonal));
  }
  if (!s->counted.order) GI_TRY(checked(cudaStreamSynchronize(stream), "analysis"));
done:
  if (status) cudaStreamSynchronize(stream); /* kernels may still write to the mailbox */
  if (s) gi_arena_release(&s->scratch);
  if (s) gi_mailbox_give(t->ctx, s->reading.mailbox);
  return status;
}

} /* namespace gi */
