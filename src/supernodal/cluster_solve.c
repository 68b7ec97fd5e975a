/* cluster_solve.c: the sequence of launches of one solve.
 *
 *   take b | for each stage: subtract F x of earlier stages, forward level by level, D^-1, backward | give x
 *
 * op N of an LU factor: forward lower, backward upper.  op T: forward upper^T, backward lower^T.  Symmetric factors
 * store lower alone: backward lower^T, and op T is op N with the roles of L and U exchanged. */
#include "device/device.h"
#include "supernodal/cluster_state.h"

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
  const int forward = kind == GI_FORWARD_LOWER || kind == GI_FORWARD_UPPER;
  const int lower = kind == GI_FORWARD_LOWER || kind == GI_BACKWARD_LOWER;
  const gi_device_side *d = lower ? &s->l : &s->u;
  const gi_tile_list *tiles = &s->tiles[kind];
  const gik_cluster_product p = {.forward = forward,
                                 .transposed = kind == GI_BACKWARD_LOWER || kind == GI_FORWARD_UPPER,
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
  if (parts & ahead) q.forward = lu && op == GABLE_OP_T ? GI_FORWARD_UPPER : GI_FORWARD_LOWER;
  if (parts & behind) q.backward = lu && op == GABLE_OP_N ? GI_BACKWARD_UPPER : GI_BACKWARD_LOWER;
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
