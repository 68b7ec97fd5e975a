/* cluster_solve.c: the sequence of launches of one solve.
 *
 *   take b | for each stage: subtract F x of earlier stages, forward level by level, D^-1, backward | give x
 *
 * op N of an LU factor: forward lower, backward upper.  op T: forward upper^T, backward lower^T.  Symmetric factors
 * store lower alone: backward lower^T, and op T is op N with the roles of L and U exchanged. */
#include "supernodal/cluster_solve.h"

#include "device/device.h"
#include "kernels/supernodal/cluster_steps.h"
#include "supernodal/cluster_dataflow.h"

/* One triangle's lists on the device. */
typedef struct device_side {
  gable_off *ptr, *in_ptr, *in_slot, *value_at;
  gable_idx *row;
  void *values;
} device_side;

/* Tiles of one kind of product, by level. */
typedef struct tile_list {
  gik_cluster_tile *tile; /* on the device */
  gable_idx *ptr;         /* [n_levels+1] on the host */
} tile_list;

enum { FORWARD_LOWER, BACKWARD_LOWER, FORWARD_UPPER, BACKWARD_UPPER, PRODUCTS };

struct gi_cluster_solver {
  gable_context *ctx;
  const gi_cluster_panels *panels;
  const gik_cluster_steps *steps;
  gable_idx *first;
  device_side l, u; /* u: l's lists where the layout is symmetric, its values NULL where lower serves */
  tile_list tiles[PRODUCTS];
  double *dinv, *coupling;
  gable_idx *order, *rows, *cols; /* [n] number of the k-th in solve order: of A', of the caller's rows, columns */
  double *row_scale, *col_scale;  /* [n] or NULL */
  gable_off *off_ptr[2];
  gable_idx *off_col[2];
  void *off[2];
  gable_off partials; /* of split tiles: the most values and counters of a level */
  gable_idx counters;
  gable_off bytes;
  gi_cluster_dataflow *flow; /* of all parts together */
};

struct gi_cluster_work {
  gable_context *ctx;
  const gi_cluster_solver *solver;
  gable_idx rhs; /* columns of the work vectors: 1, 4 or 16 */
  double *partial;
  unsigned *counter;
  double *v, *y, *slots; /* [n][rhs], [n][rhs], [slots][rhs] */
  gi_dataflow_work *flow;
};

static gable_status to_device(gable_context *ctx, const void *host, gable_off count, size_t size, void **out,
                              gable_off *bytes)
{
  gable_status status = GABLE_OK;
  const size_t all = (size_t)count * size;
  GI_TRY(ctx->device->alloc(ctx, all, out));
  if (bytes) *bytes += (gable_off)all;
  if (host && all) GI_TRY(ctx->device->copy_in(ctx, *out, host, all, NULL));
done:
  return status;
}

static size_t value_bytes(const gi_cluster_panels *p)
{
  return p->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
}

/* ---- tiles ---- */

/* A level of fewer than LEVEL_TILES tiles splits their inputs. */
enum { TILE_VALUES = 8192, LEVEL_TILES = 264, LEAST_OUTPUTS = 32, SHORT_OUTPUTS = 128 };

typedef struct shape {
  gable_off inputs, outputs;
} shape;

static shape shape_of(const gi_clusters *c, const gi_cluster_side *side, gable_idx j, int forward)
{
  const gable_off w = gi_cluster_width(c, j), all = w + side->ptr[j + 1] - side->ptr[j];
  return forward ? (shape){w, all} : (shape){all, w};
}

/* Outputs of a tile: about TILE_VALUES values, whole multiples of what a thread block takes at a time. */
static gable_off tile_outputs(shape s, int transposed)
{
  const gable_off least = transposed ? GIK_CLUSTER_TILE_COLUMNS : s.inputs >= 96 ? LEAST_OUTPUTS : SHORT_OUTPUTS;
  const gable_off wanted = s.inputs ? TILE_VALUES / s.inputs / least * least : s.outputs;
  return wanted < least ? least : wanted;
}

/* What make_tiles fills: the tiles of one kind of product, and the room that split ones need. */
typedef struct tile_maker {
  gable_context *ctx;
  const gi_clusters *c;
  const gi_cluster_side *side;
  int forward, transposed;
  gik_cluster_tile *tile;
  gable_off count, capacity;
  gable_off partials; /* of one level, the most */
  gable_idx counters;
} tile_maker;

static gable_status append_tile(tile_maker *m, gik_cluster_tile tile)
{
  gable_status status = GABLE_OK;
  if (m->count == m->capacity) {
    const gable_off capacity = 2 * m->capacity + 64;
    gik_cluster_tile *more = gi_grow(m->ctx, m->tile, m->count, capacity, sizeof *more);
    GI_REQUIRE(more, GABLE_ERR_MEMORY, "out of memory: %.1f MB for the tiles of a solve",
               (double)capacity * sizeof *more / 1e6);
    m->tile = more;
    m->capacity = capacity;
  }
  m->tile[m->count++] = tile;
done:
  return status;
}

/* Parts that the inputs of each output are split into, so that the level has LEVEL_TILES tiles. */
static gable_off parts_of(shape s, gable_off level_tiles)
{
  const gable_off most = (s.inputs + GIK_CLUSTER_INPUTS - 1) / GIK_CLUSTER_INPUTS;
  const gable_off wanted = level_tiles ? (LEVEL_TILES + level_tiles - 1) / level_tiles : 1;
  return most < 1 ? 1 : wanted < most ? wanted : most;
}

static gable_status tile_cluster(tile_maker *m, gable_idx j, gable_off level_tiles, gable_idx *counter,
                                 gable_off *partial)
{
  gable_status status = GABLE_OK;
  const shape s = shape_of(m->c, m->side, j, m->forward);
  const gable_off each = tile_outputs(s, m->transposed), wanted = parts_of(s, level_tiles);
  const gable_off blocks = (s.inputs + GIK_CLUSTER_INPUTS - 1) / GIK_CLUSTER_INPUTS;
  const gable_off step = (blocks + wanted - 1) / wanted * GIK_CLUSTER_INPUTS;
  const gable_off parts = step && s.inputs > step ? (s.inputs + step - 1) / step : 1;
  for (gable_off o = 0; o < s.outputs; o += each) {
    const gable_off end = o + each < s.outputs ? o + each : s.outputs;
    for (gable_off part = 0; part < parts; part++) {
      const gable_off i = part * step, i_end = parts == 1 || i + step > s.inputs ? s.inputs : i + step;
      GI_TRY(append_tile(m, (gik_cluster_tile){j, (gable_idx)o, (gable_idx)end, (gable_idx)i, (gable_idx)i_end,
                                               (gable_idx)part, (gable_idx)parts, *counter, *partial}));
    }
    if (parts > 1) {
      *counter += 1;
      *partial += parts * (end - o);
    }
  }
done:
  return status;
}

static gable_status make_tiles(tile_maker *m, tile_list *out, gable_off *bytes)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = m->c;
  GI_ALLOC(m->ctx, out->ptr, c->n_levels + 1);
  for (gable_idx level = 0; level < c->n_levels; level++) {
    gable_off whole = 0, partial = 0;
    gable_idx counter = 0;
    out->ptr[level] = (gable_idx)m->count;
    for (gable_idx j = c->level_ptr[level]; j < c->level_ptr[level + 1]; j++) {
      const shape s = shape_of(c, m->side, j, m->forward);
      const gable_off each = tile_outputs(s, m->transposed);
      whole += (s.outputs + each - 1) / each;
    }
    for (gable_idx j = c->level_ptr[level]; j < c->level_ptr[level + 1]; j++)
      GI_TRY(tile_cluster(m, j, whole, &counter, &partial));
    if (partial > m->partials) m->partials = partial;
    if (counter > m->counters) m->counters = counter;
    GI_REQUIRE(m->count < INT32_MAX, GABLE_ERR_LIMIT, "%lld tiles in one solve", (long long)m->count);
  }
  out->ptr[c->n_levels] = (gable_idx)m->count;
  GI_TRY(to_device(m->ctx, m->tile, m->count, sizeof *m->tile, (void **)&out->tile, bytes));
  GI_TRY(m->ctx->device->synchronise(m->ctx, NULL)); /* before the host's tiles go */
done:
  return status;
}

static gable_status make_kind(gi_cluster_solver *s, int kind)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = s->panels->clusters;
  const int lower = kind == FORWARD_LOWER || kind == BACKWARD_LOWER;
  tile_maker m = {.ctx = s->ctx,
                  .c = c,
                  .side = lower ? &c->l : &c->u,
                  .forward = kind == FORWARD_LOWER || kind == FORWARD_UPPER,
                  .transposed = kind == BACKWARD_LOWER || kind == FORWARD_UPPER};
  GI_TRY(make_tiles(&m, &s->tiles[kind], &s->bytes));
  if (m.partials > s->partials) s->partials = m.partials;
  if (m.counters > s->counters) s->counters = m.counters;
done:
  gi_free(s->ctx, m.tile);
  return status;
}

static gable_status make_all_tiles(gi_cluster_solver *s)
{
  gable_status status = GABLE_OK;
  GI_TRY(make_kind(s, FORWARD_LOWER));
  GI_TRY(make_kind(s, BACKWARD_LOWER));
  if (!s->panels->upper) goto done;
  GI_TRY(make_kind(s, FORWARD_UPPER));
  GI_TRY(make_kind(s, BACKWARD_UPPER));
done:
  return status;
}
/* ---- the solver ---- */

static gable_status side_to_device(gi_cluster_solver *s, const gi_cluster_side *side, device_side *out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = s->ctx;
  const gi_clusters *c = s->panels->clusters;
  const gable_off slots = side->ptr[c->count], positions = c->n + slots;
  GI_TRY(to_device(ctx, side->ptr, c->count + 1, sizeof *out->ptr, (void **)&out->ptr, &s->bytes));
  GI_TRY(to_device(ctx, side->row, slots, sizeof *out->row, (void **)&out->row, &s->bytes));
  GI_TRY(to_device(ctx, side->in_ptr, positions + 1, sizeof *out->in_ptr, (void **)&out->in_ptr, &s->bytes));
  GI_TRY(to_device(ctx, side->in_slot, slots, sizeof *out->in_slot, (void **)&out->in_slot, &s->bytes));
done:
  return status;
}

static gable_status values_to_device(gi_cluster_solver *s, const gable_off *at, device_side *out)
{
  gable_status status = GABLE_OK;
  const gable_idx count = s->panels->clusters->count;
  GI_TRY(to_device(s->ctx, at, count + 1, sizeof *at, (void **)&out->value_at, &s->bytes));
  GI_TRY(to_device(s->ctx, NULL, at[count], value_bytes(s->panels), &out->values, &s->bytes));
done:
  return status;
}

static gable_status off_to_device(gi_cluster_solver *s)
{
  gable_status status = GABLE_OK;
  const gi_cluster_panels *p = s->panels;
  const gable_idx n = p->clusters->n;
  for (int side = 0; side < 2 && p->off[0]; side++) {
    const gable_off nnz = p->off_ptr[side][n];
    GI_TRY(to_device(s->ctx, p->off_ptr[side], n + 1, sizeof(gable_off), (void **)&s->off_ptr[side], &s->bytes));
    GI_TRY(to_device(s->ctx, p->off_col[side], nnz, sizeof(gable_idx), (void **)&s->off_col[side], &s->bytes));
    GI_TRY(to_device(s->ctx, NULL, nnz, value_bytes(p), &s->off[side], &s->bytes));
  }
done:
  return status;
}

static gable_status outside_to_device(gi_cluster_solver *s, const gi_cluster_outside *o)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = s->ctx;
  const gi_clusters *c = s->panels->clusters;
  const gable_idx *perm[] = {NULL, o->row_perm, o->col_perm};
  gable_idx **out[] = {&s->order, &s->rows, &s->cols}, *place = NULL;
  GI_ALLOC(ctx, place, c->n);
  for (int side = 0; side < 3; side++) {
    for (gable_idx k = 0; k < c->n; k++) place[k] = perm[side] ? perm[side][c->order[k]] : c->order[k];
    GI_TRY(to_device(ctx, place, c->n, sizeof *place, (void **)out[side], &s->bytes));
    GI_TRY(ctx->device->synchronise(ctx, NULL)); /* before place changes */
  }
  if (o->row_scale) GI_TRY(to_device(ctx, NULL, c->n, sizeof *s->row_scale, (void **)&s->row_scale, &s->bytes));
  if (o->col_scale) GI_TRY(to_device(ctx, NULL, c->n, sizeof *s->col_scale, (void **)&s->col_scale, &s->bytes));
done:
  gi_free(ctx, place);
  return status;
}

gable_status gi_cluster_solver_create(gable_context *ctx, const gi_cluster_panels *panels,
                                      const gi_cluster_outside *outside, gi_cluster_solver **out)
{
  const gi_cluster_outside none = {0};
  gable_status status = GABLE_OK;
  const gi_clusters *c = panels->clusters;
  gi_cluster_solver *s = NULL;
  GI_ALLOC_ZERO(ctx, s, 1);
  s->ctx = ctx;
  s->panels = panels;
  s->steps = ctx->device->kernels->cluster_steps;
  GI_TRY(to_device(ctx, c->first, c->count + 1, sizeof *c->first, (void **)&s->first, &s->bytes));
  GI_TRY(side_to_device(s, &c->l, &s->l));
  GI_TRY(values_to_device(s, panels->lower_at, &s->l));
  if (panels->upper) {
    if (c->layout->symmetric)
      s->u = s->l;
    else
      GI_TRY(side_to_device(s, &c->u, &s->u));
    s->u.value_at = NULL;
    s->u.values = NULL;
    GI_TRY(values_to_device(s, panels->upper_at, &s->u));
  }
  GI_TRY(to_device(ctx, NULL, c->n, sizeof *s->dinv, (void **)&s->dinv, &s->bytes));
  if (panels->coupling) GI_TRY(to_device(ctx, NULL, c->n, sizeof *s->coupling, (void **)&s->coupling, &s->bytes));
  GI_TRY(off_to_device(s));
  GI_TRY(outside_to_device(s, outside ? outside : &none));
  GI_TRY(gi_cluster_dataflow_create(ctx, panels, outside ? outside : &none, &s->flow));
  GI_TRY(make_all_tiles(s));
  *out = s;
  s = NULL;
done:
  gi_cluster_solver_destroy(ctx, &s);
  return status;
}

static void release_lists(gable_context *ctx, device_side *side)
{
  ctx->device->release(ctx, side->ptr);
  ctx->device->release(ctx, side->row);
  ctx->device->release(ctx, side->in_ptr);
  ctx->device->release(ctx, side->in_slot);
}

void gi_cluster_solver_destroy(gable_context *ctx, gi_cluster_solver **solver)
{
  gi_cluster_solver *s = solver ? *solver : NULL;
  if (!s) return;
  *solver = NULL;
  if (s->u.ptr != s->l.ptr) release_lists(ctx, &s->u);
  release_lists(ctx, &s->l);
  void *own[] = {s->first,    s->l.value_at, s->l.values,   s->u.value_at, s->u.values,   s->dinv,
                 s->coupling, s->off_ptr[0], s->off_ptr[1], s->off_col[0], s->off_col[1], s->off[0],
                 s->off[1],   s->order,      s->rows,       s->cols,       s->row_scale,  s->col_scale};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) ctx->device->release(ctx, own[k]);
  gi_cluster_dataflow_destroy(ctx, &s->flow);
  for (int k = 0; k < PRODUCTS; k++) {
    ctx->device->release(ctx, s->tiles[k].tile);
    gi_free(ctx, s->tiles[k].ptr);
  }
  gi_free(ctx, s);
}

static gable_status refresh(gi_cluster_solver *s, void *to, const void *from, gable_off count, size_t size,
                            void *stream)
{
  return to && count ? s->ctx->device->copy_in(s->ctx, to, from, (size_t)count * size, stream) : GABLE_OK;
}

gable_status gi_cluster_solver_update(gi_cluster_solver *s, const gi_cluster_outside *outside, void *stream)
{
  gable_status status = GABLE_OK;
  const gi_cluster_panels *p = s->panels;
  const gable_idx n = p->clusters->n, count = p->clusters->count;
  const size_t size = value_bytes(p);
  GI_TRY(refresh(s, s->l.values, p->lower, p->lower_at[count], size, stream));
  if (p->upper) GI_TRY(refresh(s, s->u.values, p->upper, p->upper_at[count], size, stream));
  GI_TRY(refresh(s, s->dinv, p->dinv, n, sizeof *p->dinv, stream));
  if (s->row_scale) GI_TRY(refresh(s, s->row_scale, outside->row_scale, n, sizeof *p->dinv, stream));
  if (s->col_scale) GI_TRY(refresh(s, s->col_scale, outside->col_scale, n, sizeof *p->dinv, stream));
  GI_TRY(refresh(s, s->coupling, p->coupling, n, sizeof *p->dinv, stream));
  for (int side = 0; side < 2 && p->off[0]; side++)
    GI_TRY(refresh(s, s->off[side], p->off[side], p->off_ptr[side][n], size, stream));
  GI_TRY(gi_cluster_dataflow_update(s->flow, stream));
done:
  return status;
}

gable_off gi_cluster_solver_bytes(const gi_cluster_solver *s)
{
  return s->bytes + gi_cluster_dataflow_bytes(s->flow);
}

double gi_cluster_floor_bytes(const gi_cluster_solver *s, gable_idx rhs)
{
  const gi_cluster_panels *p = s->panels;
  const gi_clusters *c = p->clusters;
  const gable_off lower = p->lower_at[c->count], upper = p->upper ? p->upper_at[c->count] : lower;
  const gable_off values = lower + upper - p->root_at[c->count]; /* a root's own, and not its two others */
  const double rows = (double)(c->l.ptr[c->count] + c->u.ptr[c->count]);
  return (double)values * (double)value_bytes(p) + 4 * rows + 16.0 * c->n * rhs;
}

/* ---- the work ---- */

gable_status gi_cluster_work_create(const gi_cluster_solver *s, gable_idx max_rhs, gi_cluster_work **out)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = s->panels->clusters;
  const gable_off slots = c->l.ptr[c->count] > c->u.ptr[c->count] ? c->l.ptr[c->count] : c->u.ptr[c->count];
  gable_context *ctx = s->ctx;
  gi_cluster_work *w = NULL;
  GI_ALLOC_ZERO(ctx, w, 1);
  w->ctx = ctx;
  w->solver = s;
  w->rhs = max_rhs <= 1 ? 1 : max_rhs <= 4 ? 4 : GIK_CLUSTER_MOST_RHS;
  GI_TRY(to_device(ctx, NULL, (gable_off)c->n * w->rhs, sizeof *w->v, (void **)&w->v, NULL));
  GI_TRY(to_device(ctx, NULL, (gable_off)c->n * w->rhs, sizeof *w->y, (void **)&w->y, NULL));
  GI_TRY(to_device(ctx, NULL, slots * w->rhs, sizeof *w->slots, (void **)&w->slots, NULL));
  GI_TRY(to_device(ctx, NULL, s->partials * w->rhs, sizeof *w->partial, (void **)&w->partial, NULL));
  GI_TRY(to_device(ctx, NULL, s->counters, sizeof *w->counter, (void **)&w->counter, NULL));
  GI_TRY(ctx->device->fill(ctx, w->counter, 0, (size_t)s->counters * sizeof *w->counter, NULL));
  GI_TRY(gi_dataflow_work_create(s->flow, w->rhs, &w->flow));
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* solves may run on other streams */
  *out = w;
  w = NULL;
done:
  gi_cluster_work_destroy(&w);
  return status;
}

void gi_cluster_work_destroy(gi_cluster_work **work)
{
  gi_cluster_work *w = work ? *work : NULL;
  if (!w) return;
  *work = NULL;
  gable_context *ctx = w->ctx;
  void *own[] = {w->v, w->y, w->slots, w->partial, w->counter};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) ctx->device->release(ctx, own[k]);
  gi_dataflow_work_destroy(ctx, &w->flow);
  gi_free(ctx, w);
}

/* ---- one solve ---- */

typedef struct flight {
  const gi_cluster_solver *s;
  gi_cluster_work *w;
  gable_idx rhs;
  void *stream;
} flight;

/* The product of one kind on one level: own -> out. */
static gable_status product(const flight *f, int kind, gable_idx level, const double *own, double *out)
{
  const gi_cluster_solver *s = f->s;
  const int forward = kind == FORWARD_LOWER || kind == FORWARD_UPPER;
  const int lower = kind == FORWARD_LOWER || kind == BACKWARD_LOWER;
  const device_side *d = lower ? &s->l : &s->u;
  const tile_list *tiles = &s->tiles[kind];
  const gik_cluster_product p = {.forward = forward,
                                 .transposed = kind == BACKWARD_LOWER || kind == FORWARD_UPPER,
                                 .type = s->panels->type,
                                 .rhs = f->rhs,
                                 .values = d->values,
                                 .value_at = d->value_at,
                                 .first = s->first,
                                 .ptr = d->ptr,
                                 .row = d->row,
                                 .in_ptr = d->in_ptr,
                                 .in_slot = d->in_slot,
                                 .own = own,
                                 .out = out,
                                 .slots = f->w->slots,
                                 .partial = f->w->partial,
                                 .counter = f->w->counter};
  return s->steps->product(s->ctx, &p, tiles->tile + tiles->ptr[level], tiles->ptr[level + 1] - tiles->ptr[level],
                           f->stream);
}

/* What a solve does with the vector between the sweeps. */
typedef struct sequence {
  int forward, backward; /* kind of product, or -1 */
  int diagonal;          /* 0: nothing, 1: D^-1, 2: D */
  int off;               /* side of F, or -1 */
} sequence;

/* Which of L, D, U an operator stands for: LU's upper is (D U)^-1 as one. */
static sequence plan_sequence(const gi_cluster_panels *p, gable_op op, unsigned parts)
{
  const int lu = p->upper != NULL;
  const unsigned ahead = op == GABLE_OP_N ? GI_SOLVE_L : GI_SOLVE_U,
                 behind = op == GABLE_OP_N ? GI_SOLVE_U : GI_SOLVE_L;
  sequence q = {-1, -1, 0, -1};
  if (parts & ahead) q.forward = lu && op == GABLE_OP_T ? FORWARD_UPPER : FORWARD_LOWER;
  if (parts & behind) q.backward = lu && op == GABLE_OP_N ? BACKWARD_UPPER : BACKWARD_LOWER;
  if (lu && !!(parts & GI_SOLVE_D) != !!(parts & GI_SOLVE_U)) q.diagonal = parts & GI_SOLVE_D ? 1 : 2;
  if (p->kind == GI_LDLT && parts & GI_SOLVE_D) q.diagonal = 1;
  if (parts == GI_SOLVE_ALL && p->off[0]) q.off = op == GABLE_OP_N ? 0 : 1;
  return q;
}

static gable_status subtract_off(const flight *f, int side, gable_idx stage, double *v)
{
  const gi_cluster_solver *s = f->s;
  const gi_clusters *c = s->panels->clusters;
  const gik_cluster_off p = {.type = s->panels->type,
                             .begin = c->first[c->level_ptr[c->stage_ptr[stage]]],
                             .end = c->first[c->level_ptr[c->stage_ptr[stage + 1]]],
                             .rhs = f->rhs,
                             .ptr = s->off_ptr[side],
                             .col = s->off_col[side],
                             .value = s->off[side],
                             .x = v,
                             .v = v};
  return s->steps->off(s->ctx, &p, f->stream);
}

static gable_status divide(const flight *f, const sequence *q, const double *v, double *out)
{
  const gi_cluster_solver *s = f->s;
  const gik_cluster_diagonal p = {.n = s->panels->clusters->n,
                                  .rhs = f->rhs,
                                  .divide = q->diagonal == 1,
                                  .dinv = s->dinv,
                                  .coupling = s->coupling,
                                  .v = v,
                                  .out = out};
  return s->steps->diagonal(s->ctx, &p, f->stream);
}

/* One stage: v -> y -> v.  F and D together would divide rows of other stages: D stands alone then. */
static gable_status sweep_stage(const flight *f, const sequence *q, gable_idx stage, double *v, double *y)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = f->s->panels->clusters;
  const gable_idx begin = c->stage_ptr[stage], end = c->stage_ptr[stage + 1];
  if (q->off >= 0) GI_TRY(subtract_off(f, q->off, stage, v));
  for (gable_idx level = begin; level < end; level++) GI_TRY(product(f, q->forward, level, v, y));
  for (gable_idx level = end - 1; level >= begin; level--) GI_TRY(product(f, q->backward, level, y, v));
done:
  return status;
}

/* x in *at, of v and y. */
static gable_status sweep_parts(const flight *f, const sequence *q, double **at)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = f->s->panels->clusters;
  double *in = f->w->v, *out = f->w->y, *held;
  for (gable_idx level = 0; q->forward >= 0 && level < c->n_levels; level++)
    GI_TRY(product(f, q->forward, level, in, out));
  if (q->forward >= 0) held = in, in = out, out = held;
  if (q->diagonal) {
    GI_TRY(divide(f, q, in, out));
    held = in, in = out, out = held;
  }
  for (gable_idx level = c->n_levels - 1; q->backward >= 0 && level >= 0; level--)
    GI_TRY(product(f, q->backward, level, in, out));
  if (q->backward >= 0) in = out;
  *at = in;
done:
  return status;
}

static gable_status move(const flight *f, int in, const gable_vectors_view *v, gable_idx column, gable_idx count,
                         const gable_idx *place, const double *scale, double *work)
{
  const gable_off size = v->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  const gable_off row = v->major == GABLE_MAJOR_COL ? 1 : v->ld, col = v->major == GABLE_MAJOR_COL ? v->ld : 1;
  const gik_cluster_frame p = {.n = v->n,
                               .count = count,
                               .rhs = f->rhs,
                               .type = v->type,
                               .place = place,
                               .scale = scale,
                               .row = row,
                               .column = col,
                               .data = (char *)v->data + column * col * size,
                               .work = work};
  return (in ? f->s->steps->take : f->s->steps->give)(f->s->ctx, &p, f->stream);
}

static gable_status solve_columns(const flight *f, gable_op op, unsigned parts, const gable_vectors_view *b,
                                  const gable_vectors_view *x, gable_idx column, gable_idx count)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = f->s->panels->clusters;
  const gi_cluster_work *w = f->w;
  const int all = parts == GI_SOLVE_ALL, n_op = op == GABLE_OP_N;
  const sequence q = plan_sequence(f->s->panels, op, parts);
  const gable_idx *in = all ? (n_op ? f->s->rows : f->s->cols) : f->s->order,
                  *out = all ? (n_op ? f->s->cols : f->s->rows) : f->s->order;
  double *at = w->v;
  GI_TRY(move(f, 1, b, column, count, in, all ? (n_op ? f->s->row_scale : f->s->col_scale) : NULL, w->v));
  if (q.off >= 0)
    for (gable_idx k = 0; k < c->n_stages; k++) GI_TRY(sweep_stage(f, &q, n_op ? k : c->n_stages - 1 - k, w->v, w->y));
  else
    GI_TRY(sweep_parts(f, &q, &at));
  GI_TRY(move(f, 0, x, column, count, out, all ? (n_op ? f->s->col_scale : f->s->row_scale) : NULL, at));
done:
  return status;
}

/* ---- all parts: one launch ---- */

static gable_off element_bytes(const gable_vectors_view *v)
{
  return v->type == GABLE_TYPE_S ? (gable_off)sizeof(float) : (gable_off)sizeof(double);
}

static int overlap(const gable_vectors_view *a, const gable_vectors_view *b)
{
  const gable_vectors_view *v[] = {a, b};
  const char *begin[2], *end[2];
  for (int k = 0; k < 2; k++) {
    const gable_off lines = v[k]->major == GABLE_MAJOR_COL ? v[k]->count : v[k]->n;
    begin[k] = v[k]->data;
    end[k] = begin[k] + lines * v[k]->ld * element_bytes(v[k]);
  }
  return begin[0] < end[1] && begin[1] < end[0];
}

static gik_flow_vectors flow_vectors(const gable_vectors_view *v, gable_idx column, const double *scale)
{
  const gable_off row = v->major == GABLE_MAJOR_COL ? 1 : v->ld, step = v->major == GABLE_MAJOR_COL ? v->ld : 1;
  return (gik_flow_vectors){v->type, (char *)v->data + column * step * element_bytes(v), scale, row, step};
}

/* x that overlaps b is made beside it: tasks store parts of x while others still read b. */
static gable_status solve_all(const flight *f, gable_op op, const gable_vectors_view *b, const gable_vectors_view *x,
                              gable_idx column, gable_idx count)
{
  gable_status status = GABLE_OK;
  const gi_cluster_solver *s = f->s;
  const int beside = overlap(b, x);
  const double *scale_in = op == GABLE_OP_N ? s->row_scale : s->col_scale,
               *scale_out = op == GABLE_OP_N ? s->col_scale : s->row_scale;
  const gik_flow_vectors room = {GABLE_TYPE_D, f->w->v, scale_out, f->rhs, 1};
  const gi_dataflow_launch launch = {.op = op,
                                     .rhs = f->rhs,
                                     .count = count,
                                     .values = {s->l.values, s->u.values},
                                     .b = flow_vectors(b, column, scale_in),
                                     .x = beside ? room : flow_vectors(x, column, scale_out),
                                     .stream = f->stream};
  GI_TRY(gi_dataflow_solve(s->flow, f->w->flow, &launch));
  if (beside) GI_TRY(move(f, 0, x, column, count, NULL, NULL, f->w->v));
done:
  return status;
}

gable_status gi_cluster_solve(const gi_cluster_solver *s, gi_cluster_work *w, gable_op op, unsigned parts,
                              const gable_vectors_view *b, const gable_vectors_view *x, void *stream)
{
  gable_status status = GABLE_OK;
  int before = GI_NOT_ENTERED;
  gi_kernels_begin(s->ctx);
  GI_REQUIRE(w->solver == s, GABLE_ERR_ARGUMENT, "the work object belongs to another factor");
  GI_REQUIRE(parts && !(parts & ~(unsigned)GI_SOLVE_ALL), GABLE_ERR_ARGUMENT, "no such parts of a factor: %u", parts);
  GI_TRY(s->ctx->device->enter(s->ctx, &before));
  for (gable_idx column = 0; column < b->count; column += w->rhs) {
    const gable_idx left = b->count - column, count = left < w->rhs ? left : w->rhs;
    const flight f = {s, w, count == 1 ? 1 : count <= 4 ? 4 : w->rhs, gi_stream_of(s->ctx, stream)};
    if (parts == GI_SOLVE_ALL)
      GI_TRY(solve_all(&f, op, b, x, column, count));
    else
      GI_TRY(solve_columns(&f, op, parts, b, x, column, count));
  }
done:
  gi_kernels_end(s->ctx);
  s->ctx->device->leave(s->ctx, before);
  return status;
}

gable_status gi_cluster_work_check(gi_cluster_work *w, void *stream)
{
  return gi_dataflow_work_check(w->solver->flow, w->flow, stream);
}
