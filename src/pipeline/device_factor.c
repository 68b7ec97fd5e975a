/* device_factor.c: a factor of the CPU, made ready for a solve on the context's device. */
#include "pipeline/device_factor.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timer.h"
#include "device/device.h"
#include "kernels/supernodal/cluster_steps.h"
#include "pipeline/device_cost.h"
#include "sparse/vectors.h"

static int has_replaced_pivots(const gi_factor *f)
{
  return f->kind == GI_LU && f->perturbed;
}

/* *alone [n_super]: 1 where a pivot is small.  The inverse of such a block is large, and merged with others it
 * multiplies what they leave by rounding. */
static gable_status find_small_pivots(gable_context *ctx, const gi_factor *f, unsigned char **alone)
{
  gable_status status = GABLE_OK;
  static const double SMALL = 0x1p-10; /* of the largest entry of A' */
  const gi_layout *y = f->layout;
  GI_ALLOC_ZERO(ctx, *alone, y->n_super);
  for (gable_idx k = 0; k < y->n; k++)
    if (fabs(gi_factor_value(f, f->dinv, k)) * f->max_entry * SMALL >= 1) (*alone)[y->of[k]] = 1;
done:
  return status;
}

/* apart: 1: supernodes with small pivots are not merged. */
static gable_status make_lists(gable_context *ctx, const gi_arrangement *a, const gi_factor *f,
                               const gi_cluster_outside *outside, int apart, gi_device_factor **out)
{
  gable_status status = GABLE_OK;
  gi_device_factor *d = NULL;
  unsigned char *alone = NULL;
  GI_ALLOC_ZERO(ctx, d, 1);
  d->apart = apart;
  if (apart) GI_TRY(find_small_pivots(ctx, f, &alone));
  GI_TRY(gi_clusters_create_apart(ctx, a->layout, NULL, alone, &d->clusters));
  GI_TRY(gi_cluster_panels_create(ctx, d->clusters, f->kind, f->type, &d->panels));
  GI_TRY(gi_cluster_solver_create(ctx, d->panels, outside, &d->solver));
  *out = d;
  d = NULL;
done:
  gi_free(ctx, alone);
  gi_device_factor_destroy(ctx, &d);
  return status;
}

/* Do the operators serve?  Products may leave residuals of this size, relative to those of a substitution.  A sweep in
 * double is to keep three digits; one in float only begins a refinement in double, of which each correction is to gain
 * a factor of 4.  docs/notebook/clusters-gpu.md has what real matrices lose. */
static int inverses_serve(const gi_cluster_panels *p)
{
  static const double MOST = 0x1p-10, MOST_FLOAT = 0.25;
  const double residual = fmax(p->residual[0], p->residual[1]);
  return p->type == GABLE_TYPE_S ? residual * (double)FLT_EPSILON < MOST_FLOAT : residual * DBL_EPSILON < MOST;
}

/* *serves 0: the solver has no operators. */
static gable_status update_clusters(gable_context *ctx, const gi_arrangement *a, const gi_factor *f,
                                    const gi_cluster_outside *outside, int apart, gi_device_factor **d, int *serves)
{
  gable_status status = GABLE_OK;
  const double begin = gi_now();
  if (!*d) GI_TRY(make_lists(ctx, a, f, outside, apart, d));
  (*d)->lists_s = gi_now() - begin;
  GI_TRY(gi_cluster_panels_update(ctx, f, (*d)->panels));
  *serves = inverses_serve((*d)->panels);
  if (!*serves) goto done;
  GI_TRY(gi_cluster_solver_update((*d)->solver, outside, NULL));
  GI_TRY(ctx->device->synchronise(ctx, NULL));
  (*d)->upload_s = (*d)->panels->upload_s;
  (*d)->prepare_s = gi_now() - begin - (*d)->upload_s;
done:
  return status;
}

/* Where memory was too small: what takes less. */
static gable_status advise(gable_status status, const char *less)
{
  gi_error found;
  if (status != GABLE_ERR_MEMORY) return status;
  gi_keep_error(&found);
  const size_t said = strlen(found.message);
  snprintf(found.message + said, sizeof found.message - said, "; %s", less);
  gi_adopt_error(&found);
  return status;
}

static gable_status update_named(gable_context *ctx, const gi_factor *f, gable_solve_method method, int merge,
                                 const gi_cluster_outside *outside, gi_device_factor **d, int *moved)
{
  gable_status status = GABLE_OK;
  if (!*d) GI_ALLOC_ZERO(ctx, *d, 1);
  GI_TRY(gi_method_solver_update(ctx, f, method, merge, outside, &(*d)->named, moved));
  const gi_method_times times = gi_method_solver_times((*d)->named);
  (*d)->prepare_s = times.prepare_s;
  (*d)->upload_s = times.upload_s;
done:
  return status;
}

/* Level by level, with substitution in the blocks that have no good inverse.  Where memory does not hold the
 * partitioned inverse, which takes 24 bytes an entry, with substitution in all blocks, which takes 8. */
static gable_status update_by_level(gable_context *ctx, const gi_factor *f, const gi_cluster_outside *outside,
                                    gi_device_factor **d, int *moved)
{
  gi_error before;
  gi_keep_error(&before);
  const gable_status status = update_named(ctx, f, GABLE_SOLVE_PARTITIONED, 0, outside, d, moved);
  if (status != GABLE_ERR_MEMORY) return status;
  gi_adopt_error(&before);
  gi_log(ctx, GABLE_LOG_INFO, "no memory for the partitioned inverse: batches of substitutions");
  *moved = 1;
  return update_named(ctx, f, GABLE_SOLVE_BATCHED, 0, outside, d, moved);
}

/* By operators of clusters; from the first values on whose inverses do not serve, by those of clusters without small
 * pivots, where some were replaced; then level by level. */
static gable_status update_own(gable_context *ctx, const gi_arrangement *a, const gi_factor *f,
                               const gi_cluster_outside *outside, gi_device_factor **d, int *moved)
{
  gable_status status = GABLE_OK;
  int serves = 0;
  if (!*d || !(*d)->named) {
    const int before = *d && (*d)->apart, most = before || has_replaced_pivots(f);
    for (int apart = before; apart <= most; apart++) {
      GI_TRY(advise(update_clusters(ctx, a, f, outside, apart, d, &serves),
                    "the solve method merged takes less device memory than auto"));
      if (serves) goto done;
      gi_device_factor_destroy(ctx, d);
      *moved = 1;
    }
  }
  GI_TRY(update_by_level(ctx, f, outside, d, moved));
done:
  return status;
}

/* Does d serve f? */
static int fits(const gi_device_factor *d, const gi_factor *f)
{
  if (d->named) return gi_method_solver_fits(d->named, f);
  return d->clusters->layout == f->layout && d->panels->kind == f->kind && d->panels->type == f->type;
}

gable_status gi_device_factor_update(gable_context *ctx, const gi_arrangement *a, const gi_factor *f,
                                     gable_solve_method method, int merge, gi_device_factor **out, int *moved)
{
  gable_status status = GABLE_OK;
  const gi_cluster_outside outside = {a->row_perm, a->col_perm, a->r, a->c};
  gi_device_factor *d = *out;
  *out = NULL;
  *moved = 0;
  if (d && !fits(d, f)) gi_device_factor_destroy(ctx, &d);
  if (!d) *moved = 1;
  if (method)
    GI_TRY(update_named(ctx, f, method, merge, &outside, &d, moved));
  else
    GI_TRY(update_own(ctx, a, f, &outside, &d, moved));
  d->n = a->layout->n;
  *out = d;
  d = NULL;
done:
  gi_device_factor_destroy(ctx, &d);
  return status;
}

gable_status gi_device_factor_of_triangles(gable_context *ctx, const gi_arrangement *a, const gi_triangles *t,
                                           gi_device_factor **out)
{
  gable_status status = GABLE_OK;
  const double begin = gi_now();
  gi_device_factor *d = NULL;
  *out = NULL;
  GI_ALLOC_ZERO(ctx, d, 1);
  d->n = t->n;
  GI_TRY(gi_device_triangles_create(ctx, a, t, &d->triangles));
  d->prepare_s = gi_now() - begin;
  *out = d;
  d = NULL;
done:
  gi_device_factor_destroy(ctx, &d);
  return status;
}

void gi_device_factor_destroy(gable_context *ctx, gi_device_factor **factor)
{
  gi_device_factor *d = factor ? *factor : NULL;
  if (!d) return;
  *factor = NULL;
  gi_cluster_solver_destroy(ctx, &d->solver);
  gi_cluster_panels_destroy(ctx, &d->panels);
  gi_clusters_destroy(ctx, &d->clusters);
  gi_method_solver_destroy(ctx, &d->named);
  gi_device_triangles_destroy(&d->triangles);
  gi_free(ctx, d);
}

gable_off gi_device_factor_host_bytes(const gi_device_factor *d)
{
  return d->panels ? gi_cluster_panels_bytes(d->panels) : 0;
}

gable_off gi_device_factor_bytes(const gi_device_factor *d)
{
  if (d->triangles) return gi_device_triangles_bytes(d->triangles);
  return d->named ? gi_method_solver_bytes(d->named) : gi_cluster_solver_bytes(d->solver);
}

double gi_device_factor_launched_s(const gable_context *ctx, const gi_device_factor *d, gable_idx rhs)
{
  if (!d->named) return 0;
  return gi_cost_launches_s(ctx->device->gpu_class(ctx), (double)gi_method_solver_launches(d->named),
                            gi_method_floor_bytes(d->named, 1), rhs);
}

double gi_device_factor_floor_bytes(const gi_device_factor *d)
{
  if (d->triangles) return gi_device_triangles_floor_bytes(d->triangles);
  return d->named ? gi_method_floor_bytes(d->named, 1) : gi_cluster_floor_bytes(d->solver, 1);
}

gable_idx gi_device_sweep_columns(const gi_device_factor *d, gable_idx max_rhs)
{
  const gable_idx most = d->solver ? gi_cluster_columns(d->solver, max_rhs) : GIK_CLUSTER_MOST_RHS;
  return max_rhs < most ? max_rhs : most;
}

gable_status gi_device_sweep_create(gable_context *ctx, const gi_device_factor *d, gable_idx columns,
                                    gi_device_sweep **out)
{
  gable_status status = GABLE_OK;
  const size_t bytes = (size_t)columns * (size_t)d->n * sizeof(double);
  gi_device_sweep *w = NULL;
  GI_ALLOC_ZERO(ctx, w, 1);
  if (d->triangles)
    GI_TRY(gi_device_triangles_work_create(d->triangles, columns, &w->triangles));
  else if (d->named)
    GI_TRY(gi_method_work_create(d->named, columns, &w->named));
  else
    GI_TRY(advise(gi_cluster_work_create(d->solver, columns, &w->clusters),
                  "a work of fewer right-hand sides takes less"));
  for (int k = 0; k < 2; k++) {
    void *p = NULL;
    GI_TRY(ctx->device->alloc(ctx, bytes, &p));
    *(k ? &w->x : &w->b) = p;
  }
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* solves may run on other streams */
  *out = w;
  w = NULL;
done:
  gi_device_sweep_destroy(ctx, &w);
  return status;
}

void gi_device_sweep_destroy(gable_context *ctx, gi_device_sweep **sweep)
{
  gi_device_sweep *w = sweep ? *sweep : NULL;
  if (!w) return;
  *sweep = NULL;
  gi_cluster_work_destroy(&w->clusters);
  gi_method_work_destroy(&w->named);
  gi_device_triangles_work_destroy(&w->triangles);
  ctx->device->release(ctx, w->b);
  ctx->device->release(ctx, w->x);
  gi_free(ctx, w);
}

gable_status gi_device_sweep_solve(const gi_device_factor *d, gi_device_sweep *w, gable_op op, unsigned parts,
                                   const gable_vectors_view *b, const gable_vectors_view *x, void *stream)
{
  if (d->triangles) return gi_device_triangles_solve(d->triangles, w->triangles, op, parts, b, x, stream);
  return d->named ? gi_method_solve(d->named, w->named, op, parts, b, x, stream)
                  : gi_cluster_solve(d->solver, w->clusters, op, parts, b, x, stream);
}

gable_status gi_device_sweep_correct(const gi_device_factor *d, gi_device_sweep *w, gable_op op, unsigned parts,
                                     const gable_vectors_view *b, const gable_vectors_view *x, void *stream)
{
  return d->named ? gi_method_correct(d->named, w->named, op, parts, b, x, stream)
                  : gi_device_sweep_solve(d, w, op, parts, b, x, stream);
}

int gi_device_factor_has_calls(const gi_device_factor *d)
{
  return d->named && gi_method_solver_method(d->named) == GABLE_SOLVE_LEVELS;
}

gable_status gi_device_sweep_check(gable_context *ctx, gi_device_sweep *w, void *stream)
{
  if (w->triangles) return gi_device_triangles_check(w->triangles, stream);
  return w->clusters ? gi_cluster_work_check(w->clusters, stream) : ctx->device->synchronise(ctx, stream);
}

gable_status gi_host_columns_up(gable_context *ctx, const gi_host_columns *v, gable_idx n, double *to, void *stream)
{
  gable_status status = GABLE_OK;
  for (gable_idx j = 0; j < v->count && n; j++)
    GI_TRY(ctx->device->copy_in(ctx, to + (gable_off)j * n, v->b + j * v->ldb, (size_t)n * sizeof *to, stream));
done:
  return status;
}

gable_status gi_host_columns_down(gable_context *ctx, const gi_host_columns *v, gable_idx n, const double *from,
                                  void *stream)
{
  gable_status status = GABLE_OK;
  for (gable_idx j = 0; j < v->count && n; j++)
    GI_TRY(ctx->device->copy_out(ctx, v->x + j * v->ldx, from + (gable_off)j * n, (size_t)n * sizeof *from, stream));
done:
  return status;
}

gable_status gi_device_sweep_host(gable_context *ctx, const gi_device_factor *d, gi_device_sweep *w, gable_op op,
                                  unsigned parts, const gi_host_columns *v, void *stream)
{
  gable_status status = GABLE_OK;
  const gable_vectors_view in = gi_columns_view(GABLE_SPACE_DEVICE, d->n, v->count, w->b, 0);
  const gable_vectors_view out = gi_columns_view(GABLE_SPACE_DEVICE, d->n, v->count, w->x, 0);
  if (!d->n || !v->count) goto done;
  GI_TRY(gi_host_columns_up(ctx, v, d->n, w->b, stream));
  GI_TRY(gi_device_sweep_solve(d, w, op, parts, &in, &out, stream));
  GI_TRY(gi_host_columns_down(ctx, v, d->n, w->x, stream));
  GI_TRY(gi_device_sweep_check(ctx, w, stream));
done:
  return status;
}
