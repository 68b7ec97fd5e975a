/* workbench.c: see workbench.h. */
#include "workbench.h"

#include <stdlib.h>
#include <string.h>

#include "gpu_properties.h"
#include "stopwatch.h"
#include "triangle.h"

static size_t bytes_of(const gable_vectors_view *v)
{
  const size_t lines = (size_t)(v->major == GABLE_MAJOR_COL ? v->count : v->n);
  return ((size_t)v->ld * lines + 1) * (v->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double));
}

/* *there: the memory of *here on the CPU, memory of its own on a GPU. */
static gable_status place(workbench *w, const gable_vectors_view *shape, gable_vectors_view *here,
                          gable_vectors_view *there)
{
  *here = *there = *shape;
  here->space = GABLE_SPACE_HOST;
  there->space = gable_context_space(w->ctx);
  there->data = NULL;
  here->data = malloc(w->bytes);
  if (!here->data) return GABLE_ERR_MEMORY;
  if (there->space == GABLE_SPACE_DEVICE) return gable_device_alloc(w->ctx, w->bytes, &there->data);
  there->data = here->data;
  return GABLE_OK;
}

gable_status workbench_open(gable_context *ctx, const gable_vectors_view *shape, workbench *w)
{
  gable_status status = GABLE_OK;
  memset(w, 0, sizeof *w);
  w->ctx = ctx;
  w->bytes = bytes_of(shape);
  for (int k = 0; k < 2 && !status; k++) {
    status = place(w, shape, &w->b[k], &w->there_b[k]);
    if (status) break;
    triangle_fill(&w->b[k], k);
    if (w->there_b[k].data != w->b[k].data)
      status = gable_device_copy_in(ctx, w->there_b[k].data, w->b[k].data, w->bytes, NULL);
  }
  if (!status) status = place(w, shape, &w->x, &w->there_x);
  if (!status) status = gable_stream_create(ctx, &w->stream);
  if (!status) status = gable_event_create(ctx, &w->begin);
  if (!status) status = gable_event_create(ctx, &w->end);
  if (!status) status = gable_device_synchronise(ctx, NULL);
  return status;
}

static void drop(workbench *w, gable_vectors_view *here, gable_vectors_view *there)
{
  if (there->data != here->data) gable_device_free(w->ctx, &there->data);
  free(here->data);
}

void workbench_close(workbench *w)
{
  if (!w->ctx) return;
  gable_device_synchronise(w->ctx, w->stream);
  for (int k = 0; k < 2; k++) drop(w, &w->b[k], &w->there_b[k]);
  drop(w, &w->x, &w->there_x);
  gable_event_destroy(&w->begin);
  gable_event_destroy(&w->end);
  gable_stream_destroy(w->ctx, &w->stream);
  memset(w, 0, sizeof *w);
}

gable_status workbench_start(workbench *w, int byte)
{
  gable_status status = gable_device_fill(w->ctx, w->there_x.data, byte, w->bytes, w->stream);
  return status ? status : gable_event_record(w->begin, w->stream);
}

gable_status workbench_stop(workbench *w, double *seconds)
{
  gable_status status = gable_event_record(w->end, w->stream);
  return status ? status : gable_event_elapsed(w->begin, w->end, seconds);
}

gable_status workbench_fetch(workbench *w)
{
  if (w->there_x.data == w->x.data) return GABLE_OK;
  gable_status status = gable_device_copy_out(w->ctx, w->x.data, w->there_x.data, w->bytes, w->stream);
  return status ? status : gable_device_synchronise(w->ctx, w->stream);
}

solve_floor workbench_floor(const char *where, double bytes, double levels, int threads)
{
  static const double h200_hop_s = 0.07e-6;
  solve_floor f = {0, 0, 0};
  gpu_properties gpu;
  if (!strncmp(where, "cuda", 4)) {
    if (gpu_properties_read(where, &gpu)) return f;
    f.bytes_s = bytes / gpu.memory_bytes_s;
    f.hops_s = levels * h200_hop_s;
  } else {
    f.bytes_s = stopwatch_read(bytes) / (threads > 1 ? threads : 1);
  }
  f.s = f.bytes_s > f.hops_s ? f.bytes_s : f.hops_s;
  return f;
}

double workbench_flops_floor(const char *where, double flops)
{
  static const double h200_flops_s = 60e12;
  return strncmp(where, "cuda", 4) ? 0 : flops / h200_flops_s;
}

double workbench_bytes(const gable_vectors_view *x, double nnz, gable_type values)
{
  const double value = values == GABLE_TYPE_S ? 4 : 8, vector = x->type == GABLE_TYPE_S ? 4 : 8, n = x->n;
  return nnz * (value + 4) + 4 * n + 2 * vector * n * x->count;
}
