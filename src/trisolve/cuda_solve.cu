/* cuda_solve.cu: work objects and solves of the GPU backend. */
#include <cstring>

#include "trisolve/cuda_state.h"

namespace gi
{

namespace
{

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

} /* namespace */

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

namespace
{

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

} /* namespace */

/* Once an update: the stream waits for it.  A stream that is being captured cannot; see gable_trisolve_update. */
static gable_status after_update(const state *s, gable_work *w)
{
  gable_status status = GABLE_OK;
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  if (!w->stream || w->seen_updates == s->updates) goto done;
  GI_TRY(checked(cudaStreamIsCapturing((cudaStream_t)w->stream, &capturing), "stream"));
  if (capturing != cudaStreamCaptureStatusNone) goto done;
  GI_TRY(checked(cudaStreamWaitEvent((cudaStream_t)w->stream, s->updated, 0), "update"));
  w->seen_updates = s->updates;
done:
  return status;
}

gable_status cuda_solve(const gable_trisolve *t, gable_work *w, gable_op op, const gable_vectors_view *b,
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
  GI_TRY(after_update(s, w));
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
  const state *s = (const state *)t->state;
  GI_TRY(after_update(s, w));
  if (s->updates) w->fault = find_fault(t, stream, &w->fault_row);
  if (w->fault) goto done;
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

} /* namespace gi */
