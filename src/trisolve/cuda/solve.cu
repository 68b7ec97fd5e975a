/* solve.cu: work objects and solves of the GPU backend. */
#include <cstring>

#include "trisolve/cuda/state.h"

namespace gi
{

namespace
{

size_t aligned(size_t bytes)
{
  return (bytes + 255) / 256 * 256;
}

/* What solves of one op and one type of vectors share: a control block and published values; the column methods keep
 * counts in their place.  tiles and rows may have two of them, for one right-hand side and for several at a time. */
struct area {
  size_t offset, numbers; /* bytes into the work's scratch; published values */
};

enum { MOST_AREAS = 2 };

/* Numbers that a solve of one right-hand side publishes, in both halves. */
size_t published_of(const op_plan *d)
{
  if (d->method == GI_TILES) return 2 * (size_t)d->tiles.n_published;
  if (d->method == GI_ROWS && d->rows.steps) return d->triangle.whole ? (size_t)d->rows.n_published : 0;
  if (d->method == GI_ROWS) return 2 * (size_t)d->rows.n_published;
  return d->method == GI_AUTO ? 0 : (d->method == GI_ELMR ? 2 : 1) * (size_t)d->triangle.n;
}

/* The areas of an op's plan from *at on, which is moved behind them; returns how many. */
int areas_of(const op_plan *d, gable_idx max_rhs, int type, size_t *at, area out[MOST_AREAS])
{
  const size_t rhs = (size_t)(max_rhs < GIK_MOST_RHS ? max_rhs : GIK_MOST_RHS), size = type ? 8 : 4;
  const size_t q = (size_t)together(d, max_rhs, type);
  const int own = d->method == GI_TILES || d->method == GI_ROWS, count = q > 1 ? 2 : 1;
  out[0].numbers = published_of(d) * (own && q == 1 ? rhs : 1);
  out[1].numbers = published_of(d) * ((rhs + q - 1) / q * q);
  for (int i = 0; i < count; i++) {
    out[i].offset = *at;
    *at += aligned(sizeof(gik_control)) + aligned(out[i].numbers * size);
  }
  return count;
}

/* All areas of a work: f(op_plan, type, area) until one fails. */
template <typename F> gable_status each_area(const gable_trisolve *t, gable_idx max_rhs, F f)
{
  gable_status status = GABLE_OK;
  const state *s = (const state *)t->state;
  size_t at = 0;
  for (int op = 0; op < 2; op++)
    for (int type = 0; type < 2; type++) {
      area a[MOST_AREAS];
      if (!(types_of(t) >> type & 1)) continue;
      const int count = areas_of(&s->of[op], max_rhs, type, &at, a);
      for (int i = 0; i < count; i++) GI_TRY(f(op, type, i, a[i]));
    }
done:
  return status;
}

/* Where vectors of the host are staged: behind the areas. */
size_t stage_of(const gable_trisolve *t, gable_idx max_rhs)
{
  const state *s = (const state *)t->state;
  size_t at = 0;
  area a[MOST_AREAS];
  for (int op = 0; op < 2; op++)
    for (int type = 0; type < 2; type++)
      if (types_of(t) >> type & 1) areas_of(&s->of[op], max_rhs, type, &at, a);
  return at;
}

} /* namespace */

void work_bytes(const gable_trisolve *t, gable_idx max_rhs, size_t *host, size_t *device)
{
  *host = 0;
  *device = stage_of(t, max_rhs) + aligned((size_t)t->shape.n * (size_t)max_rhs * 8);
}

gable_status work_init(gable_trisolve_work *w)
{
  gable_status status = GABLE_OK;
  const state *s = (const state *)w->plan->state;
  current_device here;
  void *const home = gi_own_stream(w->plan->ctx);
  GI_TRY(here.enter(gi_cuda_ordinal(w->plan->ctx)));
  GI_TRY(each_area(w->plan, w->max_rhs, [=](int op, int type, int, area a) {
    const gi_method m = s->of[op].method;
    char *at = (char *)w->device + a.offset;
    return gik_solve_prepare((gik_control *)at, at + aligned(sizeof(gik_control)),
                             m == GI_TILES || m == GI_ROWS || m == GI_ELMR ? a.numbers : 0,
                             type ? GABLE_TYPE_D : GABLE_TYPE_S, home);
  }));
  GI_TRY(checked(cudaStreamSynchronize((cudaStream_t)home), "work"));
done:
  return status;
}

void work_release(gable_trisolve_work *w)
{
  current_device here;
  (void)here.enter(gi_cuda_ordinal(w->plan->ctx));
  cudaStreamSynchronize((cudaStream_t)w->stream);
}

namespace
{

/* Between a caller's layout and a packed one of the same major order. */
gable_status stage_copy(const gable_vectors_view *v, void *stage, int in, cudaStream_t stream)
{
  const size_t size = gi_type_size(v->type), pitch = (size_t)v->ld * size;
  const int columns = v->major == GABLE_MAJOR_COL;
  const size_t width = (size_t)(columns ? v->n : v->count) * size, height = (size_t)(columns ? v->count : v->n);
  return checked(in ? cudaMemcpy2DAsync(stage, width, v->data, pitch, width, height, cudaMemcpyHostToDevice, stream)
                    : cudaMemcpy2DAsync(v->data, pitch, stage, width, width, height, cudaMemcpyDeviceToHost, stream),
                 "copy of the vectors");
}

gable_status launch(const op_plan *d, gable_type type, int q, const gik_solve *r)
{
  switch (d->method) {
  case GI_TILES:
    return q > 1 ? gik_tiles_solve_multi_rhs(&d->tiles, q, type, d->multi_rhs_blocks[type == GABLE_TYPE_D], r)
                 : gik_tiles_solve(&d->tiles, type, d->solve_blocks[type == GABLE_TYPE_D], r);
  case GI_ROWS:
    if (d->rows.steps) return gik_rows_cuda_solve_by_level(&d->rows, type, r);
    return q > 1 ? gik_rows_cuda_solve_multi_rhs(&d->rows, q, type, r) : gik_rows_cuda_solve(&d->rows, type, r);
  case GI_LEVR: return gik_levr_solve(&d->seed, type, r);
  case GI_LEVC: return gik_levc_solve(&d->seed, type, r);
  case GI_ELMR: return gik_elmr_solve(&d->seed, type, r);
  default: return gik_elmc_solve(&d->seed, type, r);
  }
}

/* Of the caller's memory, or of stage, where both are packed by the major order of b. */
gik_device_vectors vectors_of(const gable_vectors_view *b, const gable_vectors_view *x, void *stage)
{
  gable_vectors_view packed = *b;
  gik_device_vectors v = {};
  packed.data = stage;
  packed.ld = b->major == GABLE_MAJOR_COL ? b->n : b->count;
  if (stage) b = x = &packed;
  v.count = b->count;
  v.b = b->data;
  v.x = x->data;
  gi_strides_of(b, &v.b_row, &v.b_rhs);
  gi_strides_of(x, &v.x_row, &v.x_rhs);
  return v;
}

/* x = b in host memory, in strips of rows, so that both stay in a cache where one goes by rows and one by columns. */
template <typename T> void turn(gable_idx n, const gik_device_vectors *v)
{
  const gable_idx strip = 64;
  for (gable_idx begin = 0; begin < n; begin += strip) {
    const gable_idx end = n - begin > strip ? begin + strip : n;
    for (gable_idx j = 0; j < v->count; j++)
      for (gable_idx i = begin; i < end; i++)
        ((T *)v->x)[i * v->x_row + j * v->x_rhs] = ((const T *)v->b)[i * v->b_row + j * v->b_rhs];
  }
}

/* The right-hand sides in host memory by the major order of x, which is the staged one: b, or x, which becomes b. */
gable_status host_right_sides(const gable_vectors_view *b, const gable_vectors_view *x, cudaStream_t stream,
                              const gable_vectors_view **out)
{
  gable_status status = GABLE_OK;
  const gik_device_vectors v = vectors_of(b, x, nullptr);
  *out = b;
  if (b->major == x->major) goto done;
  GI_TRY(checked(cudaStreamSynchronize(stream), "solve")); /* what is on it may write b or read x */
  if (b->type == GABLE_TYPE_D)
    turn<double>(b->n, &v);
  else
    turn<float>(b->n, &v);
  *out = x;
done:
  return status;
}

} /* namespace */

/* A captured solve by records keeps them, whatever a later update finds: then the plan keeps them, too. */
static gable_status note_capture(gable_context *ctx, state *s, int op, void *stream)
{
  gable_status status = GABLE_OK;
  int capturing = 0;
  const op_plan *d = &s->of[op];
  const int records = d->method == GI_TILES || d->method == GI_ROWS || borrows(s, op);
  if (!records || d->last || s->captured_solve) goto done;
  GI_TRY(ctx->device->is_capturing(ctx, stream, &capturing));
  if (capturing) __atomic_store_n(&s->captured_solve, 1, __ATOMIC_RELAXED);
done:
  return status;
}

gable_status cuda_solve(const gable_trisolve *t, gable_trisolve_work *w, gable_op op, const gable_vectors_view *b,
                        gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  const state *s = (const state *)t->state;
  const op_plan *d = &s->of[op];
  const int host = b->space == GABLE_SPACE_HOST;
  const int q = b->count > 1 ? together(d, w->max_rhs, b->type == GABLE_TYPE_D) : 1;
  char *stage = (char *)w->device + stage_of(t, w->max_rhs);
  gik_solve r = {};
  current_device here;
  GI_TRY(here.enter(gi_cuda_ordinal(t->ctx)));
  GI_TRY(note_capture(t->ctx, (state *)t->state, (int)op, w->stream));
  GI_TRY(borrow_values(s, w, (int)op));
  GI_TRY(each_area(t, w->max_rhs, [&](int of, int type, int i, area a) {
    if (of != (int)op || type != (b->type == GABLE_TYPE_D) || i != (q > 1)) return GABLE_OK;
    r.control = (gik_control *)((char *)w->device + a.offset);
    r.published = (char *)r.control + aligned(sizeof(gik_control));
    return GABLE_OK;
  }));
  r.deadline_ns = (unsigned long long)(t->options.deadline_s * 1e9);
  r.processors = s->processors;
  r.stream = w->stream;
  if (host) {
    GI_TRY(host_right_sides(b, x, (cudaStream_t)w->stream, &b));
    GI_TRY(stage_copy(b, stage, 1, (cudaStream_t)w->stream));
  }
  r.v = vectors_of(b, x, host ? stage : nullptr);
  for (; r.v.count > 0; r.v.count -= GIK_MOST_RHS) {
    const size_t step = GIK_MOST_RHS * gi_type_size(b->type);
    gik_solve part = r;
    if (part.v.count > GIK_MOST_RHS) part.v.count = GIK_MOST_RHS;
    GI_TRY(launch(solving(d), b->type, q, &part));
    r.v.b = (const char *)r.v.b + (ptrdiff_t)step * r.v.b_rhs;
    r.v.x = (char *)r.v.x + (ptrdiff_t)step * r.v.x_rhs;
  }
  if (host) {
    GI_TRY(stage_copy(x, stage, 0, (cudaStream_t)w->stream));
    GI_TRY(checked(cudaStreamSynchronize((cudaStream_t)w->stream), "solve"));
  }
done:
  return status;
}

gable_status work_status(gable_trisolve_work *w)
{
  gable_status status = GABLE_OK;
  const gable_trisolve *t = w->plan;
  const state *s = (const state *)t->state;
  cudaStream_t stream = (cudaStream_t)w->stream;
  current_device here;
  GI_TRY(here.enter(gi_cuda_ordinal(t->ctx)));
  if (s->updates) w->fault = find_fault(t, stream, &w->fault_row);
  if (w->fault) goto done;
  GI_TRY(each_area(t, w->max_rhs, [=](int, int, int, area a) {
    gable_status status = GABLE_OK;
    int row = -1, none = -1;
    gik_control *c = (gik_control *)((char *)w->device + a.offset);
    GI_TRY(checked(cudaMemcpyAsync(&row, &c->fault_row, sizeof row, cudaMemcpyDeviceToHost, stream), "status"));
    GI_TRY(checked(cudaStreamSynchronize(stream), "a solve"));
    if (row < 0) goto done;
    w->fault = GABLE_ERR_DEADLINE;
    w->fault_row = row;
    GI_TRY(checked(cudaMemcpyAsync(&c->fault_row, &none, sizeof none, cudaMemcpyHostToDevice, stream), "status"));
    GI_TRY(checked(cudaStreamSynchronize(stream), "status"));
  done:
    return status;
  }));
done:
  return status;
}

} /* namespace gi */
