/* device_triangles.c: the sequence of launches of one solve with imported factors.
 *
 *   op N: take b | L | D or U | give x          op T: take b | U^T or D | L^T | give x
 *
 * The plan of u has D U in one, as on the CPU: D alone is a product with the reciprocals, U alone is D U after a
 * product with D.  Work vectors are [n][rhs] in the numbering of the factors. */
#include "pipeline/device_triangles.h"

#include "device/device.h"
#include "device/resident.h"
#include "kernels/supernodal/cluster_steps.h"

enum { ARRAYS = 6 };

struct gi_device_triangles {
  gable_context *ctx;
  gable_idx n;
  gi_factor_kind kind;
  const gik_cluster_steps *frame;
  gi_triangle_plans *plans;
  gi_resident plain, rows, cols; /* [n] number of the k-th: its own, the caller's of rows and of columns */
  gi_resident row_scale, col_scale, dinv;
  double floor_bytes;
};

struct gi_device_triangles_work {
  gable_context *ctx;
  gable_idx rhs; /* columns of the work vectors: 1, 4 or 16 */
  gi_triangle_works works;
  double *v, *y; /* [n][rhs] */
};

static gable_status bring(gi_device_triangles *d, gi_resident *to, const void *host, size_t size)
{
  int moved = 0;
  return gi_resident_bring(d->ctx, to, host, d->n, size, &moved);
}

static gable_status bring_arrays(gi_device_triangles *d, const gi_arrangement *a, const gi_triangles *t)
{
  gable_status status = GABLE_OK;
  gable_idx *plain = NULL;
  double *dinv = NULL;
  GI_ALLOC(d->ctx, plain, d->n);
  GI_ALLOC(d->ctx, dinv, d->n);
  for (gable_idx k = 0; k < d->n; k++) {
    plain[k] = k;
    dinv[k] = 1 / t->diagonal[k];
  }
  GI_TRY(bring(d, &d->plain, plain, sizeof *plain));
  GI_TRY(bring(d, &d->rows, a->row_perm, sizeof *plain));
  GI_TRY(bring(d, &d->cols, a->col_perm, sizeof *plain));
  GI_TRY(bring(d, &d->row_scale, a->r, sizeof *dinv));
  GI_TRY(bring(d, &d->col_scale, a->c, sizeof *dinv));
  GI_TRY(bring(d, &d->dinv, dinv, sizeof *dinv));
  GI_TRY(d->ctx->device->synchronise(d->ctx, NULL)); /* before the host's arrays go; solves may run on other streams */
done:
  gi_free(d->ctx, plain);
  gi_free(d->ctx, dinv);
  return status;
}

gable_status gi_device_triangles_create(gable_context *ctx, const gi_arrangement *a, const gi_triangles *t,
                                        gi_device_triangles **out)
{
  gable_status status = GABLE_OK;
  gi_device_triangles *d = NULL;
  const double value = t->type == GABLE_TYPE_S ? 4 : 8;
  GI_ALLOC_ZERO(ctx, d, 1);
  d->ctx = ctx;
  d->n = t->n;
  d->kind = t->kind;
  d->frame = ctx->device->kernels->cluster_steps;
  GI_TRY(gi_triangle_plans_create(ctx, &t->l, t->kind == GI_LU ? &t->u : NULL, t->type, 0, &d->plans));
  GI_TRY(bring_arrays(d, a, t));
  const gable_off entries = t->l.ptr[t->n] + (t->kind == GI_LU ? t->u.ptr[t->n] : t->l.ptr[t->n]);
  d->floor_bytes = (value + 4) * (double)entries + 16.0 * t->n;
  *out = d;
  d = NULL;
done:
  gi_device_triangles_destroy(&d);
  return status;
}

static void list_arrays(gi_device_triangles *d, gi_resident *out[ARRAYS])
{
  gi_resident *const all[ARRAYS] = {&d->plain, &d->rows, &d->cols, &d->row_scale, &d->col_scale, &d->dinv};
  for (int k = 0; k < ARRAYS; k++) out[k] = all[k];
}

void gi_device_triangles_destroy(gi_device_triangles **triangles)
{
  gi_device_triangles *d = triangles ? *triangles : NULL;
  gi_resident *own[ARRAYS];
  if (!d) return;
  *triangles = NULL;
  list_arrays(d, own);
  for (int k = 0; k < ARRAYS; k++) gi_resident_release(d->ctx, own[k]);
  gi_triangle_plans_release(&d->plans);
  gi_free(d->ctx, d);
}

gable_off gi_device_triangles_bytes(const gi_device_triangles *d)
{
  gi_device_triangles copy = *d;
  gi_resident *own[ARRAYS];
  gable_off bytes = gi_triangle_plans_device_bytes(d->plans);
  list_arrays(&copy, own);
  for (int k = 0; k < ARRAYS; k++) bytes += (gable_off)own[k]->bytes;
  return bytes;
}

double gi_device_triangles_floor_bytes(const gi_device_triangles *d)
{
  return d->floor_bytes;
}

/* ---- the work ---- */

gable_status gi_device_triangles_work_create(const gi_device_triangles *d, gable_idx max_rhs,
                                             gi_device_triangles_work **out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = d->ctx;
  gi_device_triangles_work *w = NULL;
  void *p;
  GI_ALLOC_ZERO(ctx, w, 1);
  w->ctx = ctx;
  w->rhs = gik_cluster_width(max_rhs);
  GI_TRY(gi_triangle_works_init(d->plans, w->rhs, &w->works));
  const size_t bytes = (size_t)d->n * (size_t)w->rhs * sizeof(double);
  GI_TRY(ctx->device->alloc(ctx, bytes, &p));
  w->v = p;
  GI_TRY(ctx->device->alloc(ctx, bytes, &p));
  w->y = p;
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* solves may run on other streams */
  *out = w;
  w = NULL;
done:
  gi_device_triangles_work_destroy(&w);
  return status;
}

void gi_device_triangles_work_destroy(gi_device_triangles_work **work)
{
  gi_device_triangles_work *w = work ? *work : NULL;
  if (!w) return;
  *work = NULL;
  gable_context *ctx = w->ctx;
  gi_triangle_works_release(&w->works);
  ctx->device->release(ctx, w->v);
  ctx->device->release(ctx, w->y);
  gi_free(ctx, w);
}

/* ---- one solve ---- */

typedef struct flight {
  const gi_device_triangles *d;
  gi_device_triangles_work *w;
  gable_op op;
  gable_idx rhs;
  void *stream;
} flight;

static gable_status substitute(const flight *f, int upper, gable_op op, double *at)
{
  const gi_device_triangles *d = f->d;
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.space = d->ctx->device->space;
  v.n = d->n;
  v.ld = v.count = f->rhs;
  v.major = GABLE_MAJOR_ROW;
  v.data = at;
  return gi_triangle_works_solve(&f->w->works, upper, op, &v, f->stream);
}

/* *in := D^-1 *in (divide) or D *in, which changes places with *out. */
static gable_status apply_diagonal(const flight *f, int divide, double **in, double **out)
{
  gable_status status = GABLE_OK;
  double *from = *in;
  const gik_cluster_diagonal p = {
      .n = f->d->n, .rhs = f->rhs, .divide = divide, .dinv = f->d->dinv.at, .v = from, .out = *out};
  GI_TRY(f->d->frame->diagonal(f->d->ctx, &p, f->stream));
  *in = *out;
  *out = from;
done:
  return status;
}

static gable_status solve_upper(const flight *f, unsigned parts, double **in, double **out)
{
  gable_status status = GABLE_OK;
  const int d = (parts & GI_SOLVE_D) != 0, u = (parts & GI_SOLVE_U) != 0, plain = f->op == GABLE_OP_N;
  if (f->d->kind == GI_CHOLESKY) {
    if (u) GI_TRY(substitute(f, 0, plain ? GABLE_OP_T : GABLE_OP_N, *in));
    goto done;
  }
  if (d && !u) GI_TRY(apply_diagonal(f, 1, in, out));
  if (u && !d && plain) GI_TRY(apply_diagonal(f, 0, in, out));
  if (u) GI_TRY(substitute(f, 1, f->op, *in));
  if (u && !d && !plain) GI_TRY(apply_diagonal(f, 0, in, out));
done:
  return status;
}

/* Columns column .. column+count-1 of v; framed: in the caller's numbering, scaled. */
static gable_status move(const flight *f, int in, int framed, const gable_vectors_view *v, gable_idx column,
                         gable_idx count, double *work)
{
  const gi_device_triangles *d = f->d;
  const int by_columns = v->major == GABLE_MAJOR_COL, rows = in == (f->op == GABLE_OP_N);
  const gable_off size = v->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double), step = by_columns ? v->ld : 1;
  const gi_resident *place = !framed ? &d->plain : rows ? &d->rows : &d->cols;
  const gik_cluster_frame p = {.in = in,
                               .n = d->n,
                               .count = count,
                               .rhs = f->rhs,
                               .type = v->type,
                               .place = place->at,
                               .scale = !framed ? NULL
                                        : rows  ? d->row_scale.at
                                                : d->col_scale.at,
                               .row = by_columns ? 1 : v->ld,
                               .column = step,
                               .data = (char *)v->data + column * step * size,
                               .work = work};
  return d->frame->frame(d->ctx, &p, f->stream);
}

static gable_status solve_columns(const flight *f, unsigned parts, const gable_vectors_view *b,
                                  const gable_vectors_view *x, gable_idx column, gable_idx count)
{
  gable_status status = GABLE_OK;
  const int framed = parts == GI_SOLVE_ALL;
  double *in = f->w->v, *out = f->w->y;
  GI_TRY(move(f, 1, framed, b, column, count, in));
  if (f->op == GABLE_OP_T) GI_TRY(solve_upper(f, parts, &in, &out));
  if (parts & GI_SOLVE_L) GI_TRY(substitute(f, 0, f->op, in));
  if (f->op == GABLE_OP_N) GI_TRY(solve_upper(f, parts, &in, &out));
  GI_TRY(move(f, 0, framed, x, column, count, in));
done:
  return status;
}

gable_status gi_device_triangles_solve(const gi_device_triangles *d, gi_device_triangles_work *w, gable_op op,
                                       unsigned parts, const gable_vectors_view *b, const gable_vectors_view *x,
                                       void *stream)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  gi_kernels_begin(d->ctx);
  GI_TRY(d->ctx->device->enter(d->ctx, &before));
  for (gable_idx column = 0; column < b->count && d->n; column += w->rhs) {
    const gable_idx left = b->count - column, count = left < w->rhs ? left : w->rhs;
    const flight f = {d, w, op, gik_cluster_width(count), gi_stream_of(d->ctx, stream)};
    GI_TRY(solve_columns(&f, parts, b, x, column, count));
  }
done:
  gi_kernels_end(d->ctx);
  d->ctx->device->leave(d->ctx, before);
  return status;
}

gable_status gi_device_triangles_check(gi_device_triangles_work *w, void *stream)
{
  gable_status status = GABLE_OK;
  GI_TRY(w->ctx->device->synchronise(w->ctx, stream));
  GI_TRY(gi_triangle_works_check(&w->works, stream));
done:
  return status;
}
