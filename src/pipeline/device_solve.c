/* device_solve.c: the sequence of launches of a refined solve. */
#include "pipeline/device_solve.h"

#include <string.h>

#include "device/device.h"
#include "device/mirror.h"

struct gi_device_refinement {
  gable_idx n, columns;
  const gik_refine_steps *steps;
  double *r, *weight, *old; /* [columns * n] */
  gik_refine_column *column;
  gik_refine_summary *summary;
};

gable_status gi_device_refinement_create(gable_context *ctx, gable_idx n, gable_idx columns, gi_device_refinement **out)
{
  gable_status status = GABLE_OK;
  const gi_device *device = ctx->device;
  const size_t bytes = (size_t)n * (size_t)columns * sizeof(double) + 1;
  gi_device_refinement *w = NULL;
  GI_ALLOC_ZERO(ctx, w, 1);
  w->n = n;
  w->columns = columns;
  w->steps = device->kind == GI_ON_CUDA ? &gik_refine_steps_cuda : &gik_refine_steps_cpu;
  double **const vectors[] = {&w->r, &w->weight, &w->old};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
    void *p = NULL;
    GI_TRY(device->alloc(ctx, bytes, &p));
    *vectors[k] = p;
  }
  void *p = NULL;
  GI_TRY(device->alloc(ctx, (size_t)columns * sizeof *w->column, &p));
  w->column = p;
  GI_TRY(device->alloc(ctx, sizeof *w->summary, &p));
  w->summary = p;
  GI_TRY(device->fill(ctx, w->summary, 0, sizeof *w->summary, NULL));
  GI_TRY(device->synchronise(ctx, NULL)); /* solves may run on other streams */
  *out = w;
  w = NULL;
done:
  gi_device_refinement_destroy(ctx, &w);
  return status;
}

void gi_device_refinement_destroy(gable_context *ctx, gi_device_refinement **work)
{
  gi_device_refinement *w = work ? *work : NULL;
  if (!w) return;
  *work = NULL;
  void *const own[] = {w->r, w->weight, w->old, w->column, w->summary};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) ctx->device->release(ctx, own[k]);
  gi_free(ctx, w);
}

static gable_off element_step(const gable_vectors_view *v, int columns)
{
  return (v->major == GABLE_MAJOR_COL) == columns ? v->ld : 1;
}

static gik_refine_outside outside_of(const gable_vectors_view *v, gable_idx first)
{
  const gable_off size = v->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double), step = element_step(v, 1);
  return (gik_refine_outside){v->type, (char *)v->data + first * step * size, element_step(v, 0), step};
}

static gable_vectors_view dense(gable_idx n, gable_idx count, double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.space = GABLE_SPACE_DEVICE;
  v.n = n;
  v.count = count;
  v.ld = n ? n : 1;
  v.data = data;
  return v;
}

/* What solve_columns hands to its steps. */
typedef struct flight {
  gable_context *ctx;
  const gi_device_factor *factor;
  gi_device_sweep *sweep;
  const gik_refine_steps *steps;
  gable_op op;
  void *stream;
} flight;

/* to = op(A)^-1 from by the factor alone; skipped where no column goes on. */
static gable_status sweep_columns(const flight *f, const gik_refine *r, double *from, double *to)
{
  const gable_vectors_view b = dense(r->a.n, r->count, from), x = dense(r->a.n, r->count, to);
  return gi_device_sweep_solve(f->factor, f->sweep, f->op, GI_SOLVE_ALL, &b, &x, &r->summary->going, f->stream);
}

static gable_status solve_columns(const flight *f, const gik_refine *r, const gable_vectors_view *b,
                                  const gable_vectors_view *x, gable_idx first)
{
  gable_status status = GABLE_OK;
  const gik_refine_outside from = outside_of(b, first), to = outside_of(x, first);
  GI_TRY(f->steps->load(r, &from, f->stream));
  GI_TRY(sweep_columns(f, r, r->b, r->x));
  GI_TRY(f->steps->residual(r, f->stream));
  GI_TRY(f->steps->judge(r, f->stream));
  for (int step = 0; step < r->max_steps; step++) {
    GI_TRY(sweep_columns(f, r, r->r, r->r));
    GI_TRY(f->steps->correct(r, f->stream));
    GI_TRY(f->steps->residual(r, f->stream));
    GI_TRY(f->steps->judge(r, f->stream));
  }
  GI_TRY(f->steps->finish(r, &to, first, f->stream));
done:
  return status;
}

gable_status gi_device_solve(gable_context *ctx, const gi_device_factor *d, const gi_device_matrix *m,
                             gi_device_sweep *sweep, gi_device_refinement *w, gable_op op, double tolerance,
                             int max_steps, const gable_vectors_view *b, const gable_vectors_view *x, void *stream)
{
  gable_status status = GABLE_OK;
  const flight f = {ctx, d, sweep, w->steps, op, gi_stream_of(ctx, stream)};
  gik_refine r = {.a = gi_device_matrix_of(m, op),
                  .b = sweep->b,
                  .x = sweep->x,
                  .r = w->r,
                  .weight = w->weight,
                  .old = w->old,
                  .column = w->column,
                  .summary = w->summary,
                  .tolerance = tolerance,
                  .max_steps = max_steps};
  const int mirror = ctx->device->kind == GI_ON_MIRROR;
  int before = GI_NOT_ENTERED;
  GI_TRY(ctx->device->enter(ctx, &before));
  if (mirror) gi_mirror_enter(ctx);
  for (gable_idx first = 0; first < b->count; first += w->columns) {
    r.count = b->count - first < w->columns ? b->count - first : w->columns;
    GI_TRY(solve_columns(&f, &r, b, x, first));
  }
done:
  if (mirror) gi_mirror_leave(ctx);
  ctx->device->leave(ctx, before);
  return status;
}

gable_status gi_device_refinement_look(gable_context *ctx, gi_device_refinement *w, void *stream,
                                       gik_refine_summary *out)
{
  gable_status status = GABLE_OK;
  GI_TRY(ctx->device->copy_out(ctx, out, w->summary, sizeof *out, stream));
  GI_TRY(ctx->device->synchronise(ctx, stream));
  GI_TRY(ctx->device->fill(ctx, w->summary, 0, sizeof *out, stream));
done:
  return status;
}
