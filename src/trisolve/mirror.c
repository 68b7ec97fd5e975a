/* mirror.c: the CPU backend under the memory rules of a GPU (device/mirror.h): views in device memory are opened for as
 * long as a call of the backend lasts, and views in host memory are taken as they are. */
#include "device/mirror.h"
#include "trisolve/cpu/cpu.h"
#include "trisolve/level_order.h"

/* The arrays of a view in device memory are where it says; nnz from the last offset. */
static gable_status check_matrix(gable_context *ctx, const gable_matrix_view *a, gable_off nnz)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_mirror_require(ctx, a->ptr, ((size_t)a->n_rows + 1) * gi_type_size(a->offset_type), "ptr"));
  GI_TRY(gi_mirror_require(ctx, a->idx, (size_t)nnz * sizeof *a->idx, "idx"));
done:
  return status;
}

static gable_status mirror_analyse(gable_trisolve *t, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_matrix_view host = *a;
  const int strict = t->shape.strict;
  int entered = 0;
  if (t->shape.space == GABLE_SPACE_HOST) return gi_trisolve_cpu.analyse(t, a);
  host.space = GABLE_SPACE_HOST;
  GI_TRY(check_matrix(t->ctx, a, 0));
  gi_mirror_enter(t->ctx);
  entered = 1;
  GI_TRY(gi_shape_from(&host, t->shape.uplo, &t->shape));
  t->shape.strict = strict;
  GI_TRY(check_matrix(t->ctx, a, t->shape.nnz));
  GI_TRY(gi_trisolve_cpu.analyse(t, &host));
  t->shape.space = GABLE_SPACE_DEVICE;
done:
  if (entered) gi_mirror_leave(t->ctx);
  return status;
}

static gable_status mirror_update(gable_trisolve *t, const void *val, const void *diagonal)
{
  if (t->shape.space == GABLE_SPACE_HOST) return gi_trisolve_cpu.update(t, val, diagonal);
  gi_mirror_enter(t->ctx);
  const gable_status status = gi_trisolve_cpu.update(t, val, diagonal);
  gi_mirror_leave(t->ctx);
  return status;
}

static gable_status mirror_solve(const gable_trisolve *t, gable_trisolve_work *w, gable_op op,
                                 const gable_vectors_view *b, gable_vectors_view *x)
{
  gable_vectors_view from = *b, to = *x;
  if (b->space == GABLE_SPACE_HOST) return gi_trisolve_cpu.solve(t, w, op, b, x);
  from.space = to.space = GABLE_SPACE_HOST;
  gi_mirror_enter(t->ctx);
  const gable_status status = gi_trisolve_cpu.solve(t, w, op, &from, &to);
  gi_mirror_leave(t->ctx);
  return status;
}

/* *out = a copy of count numbers in device memory. */
static gable_status keep(gable_context *ctx, const unsigned *from, size_t count, unsigned **out)
{
  gable_status status = GABLE_OK;
  void *p = NULL;
  GI_TRY(ctx->device->alloc(ctx, count * sizeof *from, &p));
  *out = p;
  GI_TRY(ctx->device->copy_in(ctx, p, from, count * sizeof *from, NULL));
done:
  return status;
}

static gable_status mirror_level_order(const gable_trisolve *t, gi_level_order *out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = t->ctx;
  const gable_idx n = t->shape.n;
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  gable_idx *level = NULL;
  unsigned *list = NULL, *next = NULL;
  GI_TRY(gi_cpu_info(t, GABLE_OP_N, &info));
  out->levels = info.levels;
  GI_ALLOC(ctx, level, n);
  GI_ALLOC(ctx, list, n);
  GI_ALLOC(ctx, next, info.levels);
  GI_ALLOC_ZERO(ctx, out->start, (gable_off)info.levels + 1);
  GI_TRY(gi_cpu_schedule(t, GABLE_OP_N, NULL, level));
  for (gable_idx i = 0; i < n; i++) out->start[level[i] + 1]++;
  for (gable_idx l = 0; l < info.levels; l++) out->start[l + 1] += next[l] = out->start[l];
  for (gable_idx i = 0; i < n; i++) list[next[level[i]]++] = (unsigned)i;
  GI_TRY(keep(ctx, list, (size_t)n, &out->list));
  GI_TRY(keep(ctx, out->start, (size_t)info.levels + 1, &out->device_start));
done:
  gi_free(ctx, level);
  gi_free(ctx, list);
  gi_free(ctx, next);
  return status;
}

const gi_trisolve_backend gi_trisolve_mirror = {
    .analyse = mirror_analyse,
    .update = mirror_update,
    .solve = mirror_solve,
    .level_order = mirror_level_order,
    GI_CPU_PLANS,
};
