/* cluster_preparation.c: lists of panels, once; then, for each factor:
 *
 *   1. copy D^-1 and F, and gather them in solve order
 *   2. copy the panels part by part, and place each part's values into the clusters' triangles and operators
 *   3. invert; read how large residuals may become */
#include "supernodal/clusters/cluster_preparation.h"

#include <string.h>

#include "base/timer.h"
#include "base/type_size.h"

/* ---- the lists ---- */

gable_status gi_cluster_list_to_device(gable_context *ctx, const gi_cluster_panels *p, const void *host,
                                       gable_off count, size_t size, void **out, gable_off *bytes)
{
  gable_status status = gi_cluster_to_device(ctx, NULL, count, size, out, bytes);
  if (status) return status;
  return gi_staging_copy(ctx, &p->preparation->staging, *out, host, (size_t)count * size, NULL);
}

/* Device memory that the preparation owns; host NULL: without numbers. */
static gable_status give(gable_context *ctx, gi_cluster_panels *p, const void *host, gable_off count, size_t size,
                         void **out)
{
  gi_cluster_preparation *q = p->preparation;
  gable_status status = host ? gi_cluster_list_to_device(ctx, p, host, count, size, out, &p->device_bytes)
                             : gi_cluster_to_device(ctx, NULL, count, size, out, &p->device_bytes);
  if (*out) q->own[q->owned++] = *out;
  return status;
}

static gable_status make_panels(gable_context *ctx, gi_cluster_panels *p, gik_panel **there)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = p->clusters;
  const gi_layout *y = c->layout;
  gik_panel *panel = NULL;
  GI_ALLOC(ctx, panel, y->n_super);
  p->preparation->panel = panel;
  for (gable_idx j = 0; j < c->count; j++) {
    gable_idx at = 0;
    for (gable_idx k = c->member_ptr[j]; k < c->member_ptr[j + 1]; k++) {
      const gable_idx s = c->member[k], w = gi_layout_width(y, s);
      panel[s] = (gik_panel){.l = y->lval[s],
                             .u = y->uval[s],
                             .rows = y->lptr[s],
                             .columns = y->uptr[s],
                             .cluster = j,
                             .at = at,
                             .first = y->super[s],
                             .w = w,
                             .nl = gi_layout_nl(y, s),
                             .nu = gi_layout_nu(y, s)};
      at += w;
    }
  }
  GI_TRY(give(ctx, p, panel, y->n_super, sizeof *panel, (void **)there));
done:
  return status;
}

/* Where the cluster has each of the rows (columns) of its panels. */
static void locate(const gi_clusters *c, const gi_cluster_side *side, const gable_off *ptr, const gable_idx *list,
                   gable_idx j, gable_idx *local, gable_idx *position)
{
  const gable_idx w = gi_cluster_width(c, j);
  for (gable_idx k = 0; k < w; k++) local[c->order[c->first[j] + k]] = k;
  for (gable_off k = side->ptr[j]; k < side->ptr[j + 1]; k++)
    local[c->order[side->row[k]]] = w + (gable_idx)(k - side->ptr[j]);
  for (gable_idx k = c->member_ptr[j]; k < c->member_ptr[j + 1]; k++)
    for (gable_off e = ptr[c->member[k]]; e < ptr[c->member[k] + 1]; e++) position[e] = local[list[e]];
}

static gable_status make_positions(gable_context *ctx, gi_cluster_panels *p, const gi_cluster_side *side,
                                   const gable_off *ptr, const gable_idx *list, gable_idx **there)
{
  gable_status status = GABLE_OK;
  enum { FEW = 100000 };
  const gi_clusters *c = p->clusters;
  const gable_off count = ptr[c->layout->n_super];
  const int threads = count > FEW ? ctx->threads : 1;
  gable_idx *local = NULL, *position = NULL; /* local: [threads][n] */
  GI_ALLOC(ctx, local, threads * (gable_off)c->n);
  GI_ALLOC(ctx, position, count);
  GI_OMP(parallel for num_threads(threads) schedule(dynamic, 32))
  for (gable_idx j = 0; j < c->count; j++)
    locate(c, side, ptr, list, j, local + omp_get_thread_num() * (gable_off)c->n, position);
  GI_TRY(give(ctx, p, position, count, sizeof *position, (void **)there));
done:
  GI_FREE(ctx, local, position);
  return status;
}

/* Which tiles of gik_cluster_inverse. */
enum { LOWER, UPPER, PRODUCT };

/* to NULL: only counted. */
static gable_off list_tiles(const gi_clusters *c, int kind, gik_inverse_tile *to)
{
  const gi_cluster_side *side = kind == UPPER ? &c->u : &c->l;
  gable_off count = 0;
  for (gable_idx j = 0; j < c->count; j++) {
    const gable_idx w = gi_cluster_width(c, j), all = w + (gable_idx)(side->ptr[j + 1] - side->ptr[j]);
    const gable_idx parts = kind == PRODUCT ? (w + GIK_INVERSE_PART - 1) / GIK_INVERSE_PART : 1;
    for (gable_idx k = 0, next; k < (kind == LOWER ? w : all); k = next) {
      const gable_idx end = k < w ? w : all;
      next = end - k < GIK_INVERSE_TILE ? end : k + GIK_INVERSE_TILE;
      for (gable_idx part = 0; part < (k < w ? parts : 1); part++, count++)
        if (to) to[count] = (gik_inverse_tile){j, k, part};
    }
  }
  return count;
}

static gable_status make_tiles(gable_context *ctx, gi_cluster_panels *p, int kind, const gik_inverse_tile **out,
                               gable_off *count)
{
  gable_status status = GABLE_OK;
  gik_inverse_tile *tile = NULL;
  void *there = NULL;
  *count = list_tiles(p->clusters, kind, NULL);
  GI_REQUIRE(2 * *count < INT32_MAX, GABLE_ERR_LIMIT, "%lld tiles of clusters", (long long)*count);
  GI_ALLOC(ctx, tile, *count);
  list_tiles(p->clusters, kind, tile);
  GI_TRY(give(ctx, p, tile, *count, sizeof *tile, &there));
  *out = there;
done:
  gi_free(ctx, tile);
  return status;
}

/* side 1 shares what it can with side 0. */
static gable_status make_side(gable_context *ctx, gi_cluster_panels *p, int side)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = p->clusters;
  const gi_layout *y = c->layout;
  const gi_cluster_side *of = side ? &c->u : &c->l;
  const gable_off *at = side ? p->upper_at : p->lower_at;
  gik_inverse_side *out = &p->preparation->inverse.side[side];
  gable_idx *position = NULL;
  if (side && y->symmetric) {
    *out = p->preparation->inverse.side[0];
    p->lists.ptr[1] = p->lists.ptr[0];
  } else {
    GI_TRY(give(ctx, p, of->ptr, c->count + 1, sizeof *of->ptr, (void **)&p->lists.ptr[side]));
    GI_TRY(make_positions(ctx, p, of, side ? y->uptr : y->lptr, side ? y->ucol : y->lrow, &position));
    out->position = position;
  }
  GI_TRY(give(ctx, p, at, c->count + 1, sizeof *at, (void **)&p->lists.at[side]));
  GI_TRY(make_tiles(ctx, p, side ? UPPER : LOWER, &out->tile, &out->tiles));
  out->ptr = p->lists.ptr[side];
  out->at = p->lists.at[side];
  out->values = side ? p->upper : p->lower;
done:
  return status;
}

/* Columns of the panels of side whose values fill a staging buffer at most, or one column; to NULL: only counted. */
static gable_idx list_parts(const gi_cluster_panels *p, int side, gik_panel_part *to, gable_off *most)
{
  const gi_layout *y = p->clusters->layout;
  const gable_off full = (gable_off)(GI_STAGING_BYTES / gi_type_size(p->type));
  gable_idx count = 0, begin = 0;
  gable_off from = 0, at = 0; /* values before the part's and before column i's */
  for (gable_idx i = 0; i <= y->n; i++) {
    const gik_panel *q = i < y->n ? p->preparation->panel + y->of[i] : NULL;
    const gable_off length = !q ? full : side ? q->nu : q->w + q->nl;
    if (at > from && at - from + length > full) {
      if (to) to[count] = (gik_panel_part){.side = side, .begin = begin, .end = i, .from = from};
      if (at - from > *most) *most = at - from;
      count++;
      begin = i;
      from = at;
    }
    at += length;
  }
  return count;
}

static gable_status make_parts(gable_context *ctx, gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  gi_cluster_preparation *q = p->preparation;
  const int sides = p->upper ? 2 : 1;
  gable_off most = 0;
  for (int side = 0; side < sides; side++) q->parts += list_parts(p, side, NULL, &most);
  GI_ALLOC(ctx, q->part, q->parts);
  q->parts = 0;
  for (int side = 0; side < sides; side++) q->parts += list_parts(p, side, q->part + q->parts, &most);
  GI_TRY(give(ctx, p, NULL, most, gi_type_size(p->type), &q->room));
done:
  return status;
}

/* Scratch of the kernels. */
static gable_status make_scratch(gable_context *ctx, gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  gi_cluster_preparation *q = p->preparation;
  const gi_clusters *c = p->clusters;
  const gable_off off = p->off[0] ? p->off_ptr[0][c->n] : 0;
  const size_t size = gi_type_size(p->type);
  for (gable_idx j = 0; j < c->count; j++)
    if (gi_cluster_width(c, j) > q->inverse.widest) q->inverse.widest = gi_cluster_width(c, j);
  for (int side = 0; side < (p->upper ? 2 : 1); side++)
    GI_TRY(give(ctx, p, NULL, c->n, sizeof(double), (void **)&q->inverse.side[side].sums));
  GI_TRY(give(ctx, p, NULL, c->n, sizeof(double), (void **)&q->inverse.weights));
  GI_TRY(give(ctx, p, NULL, 2, sizeof *q->inverse.residual, (void **)&q->inverse.residual));
  GI_TRY(give(ctx, p, NULL, off > c->n ? off : c->n, size, &q->vector));
  if (p->kind == GI_CHOLESKY) goto done;
  GI_ALLOC(ctx, q->moves, 2 * (gable_off)c->n);
  GI_TRY(give(ctx, p, NULL, 2 * (gable_off)c->n, sizeof *q->moves, (void **)&q->moves_there));
  GI_TRY(give(ctx, p, NULL, GIK_INVERSE_HELD * (gable_off)q->inverse.widest, size, &q->inverse.held));
done:
  return status;
}

static gable_status make_lists(gable_context *ctx, gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  gi_cluster_preparation *q = p->preparation;
  const gi_clusters *c = p->clusters;
  gik_panel *panel = NULL;
  gable_idx *of = NULL;
  gable_off *inverse_at = NULL;
  GI_TRY(give(ctx, p, c->first, c->count + 1, sizeof *c->first, (void **)&p->lists.first));
  GI_TRY(give(ctx, p, c->order, c->n, sizeof *c->order, (void **)&p->lists.order));
  GI_TRY(give(ctx, p, p->inverse_at, c->count + 1, sizeof *inverse_at, (void **)&inverse_at));
  GI_TRY(give(ctx, p, c->layout->of, c->n, sizeof *of, (void **)&of));
  GI_TRY(make_panels(ctx, p, &panel));
  GI_TRY(make_side(ctx, p, 0));
  if (p->upper) GI_TRY(make_side(ctx, p, 1));
  GI_TRY(make_tiles(ctx, p, PRODUCT, &q->inverse.product, &q->inverse.products));
  for (int side = 0; side < 2 && p->off[0]; side++)
    GI_TRY(give(ctx, p, p->off_from[side], p->off_ptr[side][c->n], sizeof *of, (void **)&q->off_from[side]));
  q->inverse.first = p->lists.first;
  q->inverse.inverse_at = inverse_at;
  q->inverse.of = of;
  q->inverse.panel = panel;
done:
  return status;
}

gable_status gi_cluster_preparation_create(gable_context *ctx, gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = p->clusters->layout;
  gi_cluster_preparation *q = NULL;
  GI_ALLOC_ZERO(ctx, q, 1);
  p->preparation = q;
  q->kernels = ctx->device->kernels->cluster_inverses;
  q->inverse.type = p->type;
  q->inverse.unit = p->kind != GI_CHOLESKY;
  q->inverse.inverse = p->inverse;
  q->inverse.dinv = p->dinv;
  q->inverse.coupling = p->coupling;
  GI_TRY(gi_staging_init(ctx, (size_t)y->lval[y->n_super] / 4 * gi_type_size(p->type), &q->staging));
  GI_TRY(make_lists(ctx, p));
  GI_TRY(make_parts(ctx, p));
  GI_TRY(make_scratch(ctx, p));
done:
  return status;
}

void gi_cluster_preparation_destroy(gable_context *ctx, gi_cluster_preparation **preparation)
{
  gi_cluster_preparation *q = preparation ? *preparation : NULL;
  if (!q) return;
  *preparation = NULL;
  for (int k = 0; k < q->owned; k++) ctx->device->release(ctx, q->own[k]);
  gi_staging_release(ctx, &q->staging);
  GI_FREE(ctx, q->panel, q->part, q->moves, q);
}

gable_off gi_cluster_preparation_bytes(const gi_cluster_panels *p)
{
  const gi_cluster_preparation *q = p->preparation;
  return p->clusters->layout->n_super * (gable_off)sizeof *q->panel + q->parts * (gable_off)sizeof *q->part +
         (q->moves ? 8 * (gable_off)p->clusters->n : 0) + GI_STAGING_ROOMS * (gable_off)q->staging.bytes;
}

/* ---- the values ---- */

/* Where the interchanges of supernode s bring each of its rows to, and from where. */
static void find_moves(const gi_cluster_panels *p, const gi_factor *f, gable_idx s)
{
  const gik_panel *q = p->preparation->panel + s;
  gable_idx *after = p->preparation->moves + p->clusters->first[q->cluster], *before = after + p->clusters->n;
  for (gable_idx k = q->at; k < q->at + q->w; k++) before[k] = k;
  for (gable_idx k = 0; k < q->w; k++) {
    gable_idx *one = before + q->at + k, *other = before + q->at + f->pivot[q->first + k] - q->first;
    const gable_idx held = *one;
    *one = *other;
    *other = held;
  }
  for (gable_idx k = q->at; k < q->at + q->w; k++) after[before[k]] = k;
}

static gable_status copy_moves(gable_context *ctx, const gi_factor *f, gi_cluster_panels *p)
{
  enum { FEW = 20000 };
  gi_cluster_preparation *q = p->preparation;
  const gable_idx n = p->clusters->n, n_super = p->clusters->layout->n_super;
  q->inverse.after = f->pivot ? q->moves_there : NULL;
  q->inverse.before = f->pivot ? q->moves_there + n : NULL;
  if (!f->pivot) return GABLE_OK;
  GI_OMP(parallel for num_threads(ctx->threads) if (n > FEW) schedule(static))
  for (gable_idx s = 0; s < n_super; s++) find_moves(p, f, s);
  return gi_staging_copy(ctx, &q->staging, q->moves_there, q->moves, 2 * (size_t)n * sizeof *q->moves, NULL);
}

/* The factor's values, count of them, to q->vector; then to as many places as there are lists. */
static gable_status copy_vector(gable_context *ctx, gi_cluster_panels *p, const void *values, gable_off count,
                                gik_inverse_gather *to, int lists)
{
  gable_status status = GABLE_OK;
  gi_cluster_preparation *q = p->preparation;
  GI_TRY(
      gi_staging_copy(ctx, &q->staging, q->vector, values, (size_t)count * gi_type_size(p->type), gi_own_stream(ctx)));
  gi_kernels_begin(ctx);
  for (int k = 0; k < lists && !status; k++) {
    to[k].count = count;
    to[k].type = p->type;
    to[k].from = q->vector;
    to[k].factor = 1;
    status = q->kernels->gather(ctx, &to[k], gi_own_stream(ctx));
  }
  gi_kernels_end(ctx);
done:
  return status;
}

static gable_status copy_vectors(gable_context *ctx, const gi_factor *f, gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  const gable_idx n = p->clusters->n;
  gik_inverse_gather dinv = {.index = p->lists.order, .to_type = GABLE_TYPE_D, .to = p->dinv},
                     coupling = {.index = p->lists.order, .to_type = GABLE_TYPE_D, .to = p->coupling}, off[2];
  for (int side = 0; side < 2; side++)
    off[side] = (gik_inverse_gather){.index = p->preparation->off_from[side], .to_type = p->type, .to = p->off[side]};
  GI_TRY(copy_vector(ctx, p, f->dinv, n, &dinv, 1));
  if (p->coupling) GI_TRY(copy_vector(ctx, p, f->coupling, n, &coupling, 1));
  if (p->off[0]) GI_TRY(copy_vector(ctx, p, f->off, p->off_ptr[0][n], off, 2));
done:
  return status;
}

/* Nothing stands in the operators. */
static gable_status clear_operators(gable_context *ctx, const gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  const gable_idx count = p->clusters->count;
  const size_t size = gi_type_size(p->type);
  GI_TRY(ctx->device->fill(ctx, p->lower, 0, (size_t)p->lower_at[count] * size, NULL));
  if (p->upper) GI_TRY(ctx->device->fill(ctx, p->upper, 0, (size_t)p->upper_at[count] * size, NULL));
  GI_TRY(ctx->device->fill(ctx, p->inverse, 0, (size_t)p->inverse_at[count] * size, NULL));
  GI_TRY(ctx->device->fill(ctx, p->preparation->inverse.residual, 0, sizeof p->residual, NULL));
done:
  return status;
}

static gable_status copy_part(gable_context *ctx, const gi_factor *f, gi_cluster_panels *p, const gik_panel_part *part)
{
  gable_status status = GABLE_OK;
  gi_cluster_preparation *q = p->preparation;
  const gi_layout *y = p->clusters->layout;
  const gable_idx last = part->end - 1;
  const gik_panel *s = q->panel + y->of[last];
  const gable_off length = part->side ? s->nu : s->w + s->nl;
  const gable_off end = (part->side ? s->u : s->l) + (last - s->first + 1) * length;
  const size_t size = gi_type_size(p->type);
  gik_panel_part there = *part;
  there.values = q->room;
  GI_TRY(gi_staging_copy(ctx, &q->staging, q->room,
                         (const char *)(part->side ? f->u : f->l) + (size_t)part->from * size,
                         (size_t)(end - part->from) * size, NULL));
  gi_kernels_begin(ctx);
  status = q->kernels->place(ctx, &q->inverse, &there, gi_own_stream(ctx));
  gi_kernels_end(ctx);
done:
  return status;
}

static gable_status invert(gable_context *ctx, const gi_cluster_preparation *q)
{
  gi_kernels_begin(ctx);
  const gable_status status = q->kernels->invert(ctx, &q->inverse, gi_own_stream(ctx));
  gi_kernels_end(ctx);
  return status;
}

gable_status gi_cluster_panels_update(gable_context *ctx, const gi_factor *f, gi_cluster_panels *p)
{
  gable_status status = GABLE_OK;
  gi_cluster_preparation *q = p->preparation;
  const double begin = gi_now();
  int before = GI_NOT_ENTERED;
  GI_TRY(ctx->device->enter(ctx, &before));
  GI_TRY(clear_operators(ctx, p));
  GI_TRY(copy_vectors(ctx, f, p));
  GI_TRY(copy_moves(ctx, f, p));
  for (gable_idx k = 0; k < q->parts; k++) GI_TRY(copy_part(ctx, f, p, &q->part[k]));
  p->upload_s = gi_now() - begin;
  GI_TRY(invert(ctx, q));
  GI_TRY(ctx->device->copy_out(ctx, p->residual, q->inverse.residual, sizeof p->residual, NULL));
  GI_TRY(ctx->device->synchronise(ctx, NULL));
done:
  ctx->device->leave(ctx, before);
  return status;
}
