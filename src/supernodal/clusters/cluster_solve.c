/* cluster_solve.c: the sequence of launches of one solve.
 *
 * All parts of up to 16 right-hand sides are one launch (cluster_dataflow.h).  Fewer parts, or more right-hand sides:
 *
 *   take b | forward level by level, D^-1, backward | give x
 *   take b | for each stage: subtract F x of earlier stages, forward, backward | give x        where F has entries
 *
 * op N of an LU factor: forward lower, backward upper.  op T: forward upper^T, backward lower^T.  Symmetric factors
 * store lower alone: backward lower^T, and op T is op N with the roles of L and U exchanged. */
#include "device/device.h"
#include "supernodal/clusters/cluster_state.h"

typedef struct flight {
  const gi_cluster_solver *s;
  gi_cluster_work *w;
  gable_idx rhs;
  void *stream;
} flight;

/* Levels begin .. end-1. */
typedef struct levels {
  gable_idx begin, end;
} levels;

/* A warp takes all inputs where a cluster has few, or where there are warps enough to wait. */
static int is_narrow(gable_idx most_inputs, gable_off tiles, gable_idx rhs)
{
  enum { FEW = 32, MOST = 256, ENOUGH = 4096 };
  if (rhs <= GIK_CLUSTER_MOST_RHS) return 0;
  return most_inputs <= FEW || (most_inputs <= MOST && tiles * (rhs / GIK_CLUSTER_MOST_RHS) >= ENOUGH);
}

/* Products with the operators of d on these levels, forward or backward: own -> out. */
static gable_status multiply(const flight *f, const gi_device_side *d, int forward, levels on, double *own, double *out)
{
  gable_status status = GABLE_OK;
  const gi_cluster_solver *s = f->s;
  const gi_clusters *c = s->panels->clusters;
  const gable_off *rows = d == &s->u ? c->u.ptr : c->l.ptr;
  gik_cluster_product p = {.forward = forward,
                           .transposed = forward == (d == &s->u),
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
                           .slots = f->w->slots};
  for (gable_idx k = on.begin; k < on.end; k++) {
    const gable_idx level = forward ? k : on.begin + on.end - 1 - k;
    const gable_idx i = c->level_ptr[level], j = c->level_ptr[level + 1];
    p.begin = i;
    p.end = j;
    p.column = c->first[i];
    p.columns = c->first[j] - p.column;
    p.tile = gik_cluster_tile(c->first[i] + (forward ? rows[i] : 0), i);
    p.tiles = gik_cluster_tile(c->first[j] + (forward ? rows[j] : 0), j) - p.tile;
    p.leaves = k == on.begin;
    p.narrow = is_narrow(d->most_inputs[forward][level], p.tiles, f->rhs);
    GI_TRY(s->steps->product(s->ctx, &p, f->stream));
  }
done:
  return status;
}

/* What a solve does with the vector. */
typedef struct sequence {
  const gi_device_side *forward, *backward; /* whose operators, or NULL */
  int diagonal;                             /* between them; 0: nothing, 1: D^-1, 2: D */
} sequence;

/* Which of L, D, U an operator stands for: LU's upper is (D U)^-1 as one. */
static sequence plan_sequence(const gi_cluster_solver *s, gable_op op, unsigned parts)
{
  const int lu = s->panels->upper != NULL, plain = op == GABLE_OP_N;
  sequence q = {NULL, NULL, 0};
  if (parts & (plain ? GI_SOLVE_L : GI_SOLVE_U)) q.forward = lu && !plain ? &s->u : &s->l;
  if (parts & (plain ? GI_SOLVE_U : GI_SOLVE_L)) q.backward = lu && plain ? &s->u : &s->l;
  if (lu && !!(parts & GI_SOLVE_D) != !!(parts & GI_SOLVE_U)) q.diagonal = parts & GI_SOLVE_D ? 1 : 2;
  if (s->panels->kind == GI_LDLT && parts & GI_SOLVE_D) q.diagonal = 1;
  return q;
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

/* x in *at, of v and y. */
static gable_status sweep(const flight *f, const sequence *q, double **at)
{
  gable_status status = GABLE_OK;
  double *in = f->w->v, *out = f->w->y, *held;
  const levels all = {0, f->s->panels->clusters->n_levels};
  if (q->forward) {
    GI_TRY(multiply(f, q->forward, 1, all, in, out));
    held = in, in = out, out = held;
  }
  if (q->diagonal) {
    GI_TRY(divide(f, q, in, out));
    held = in, in = out, out = held;
  }
  if (q->backward) {
    GI_TRY(multiply(f, q->backward, 0, all, in, out));
    in = out;
  }
  *at = in;
done:
  return status;
}

/* v_i -= F x for the rows i of these levels. */
static gable_status subtract_off(const flight *f, int side, levels on, double *v)
{
  const gi_cluster_solver *s = f->s;
  const gi_clusters *c = s->panels->clusters;
  const gik_cluster_off p = {.type = s->panels->type,
                             .begin = c->first[c->level_ptr[on.begin]],
                             .end = c->first[c->level_ptr[on.end]],
                             .rhs = f->rhs,
                             .ptr = s->off_ptr[side],
                             .col = s->off_col[side],
                             .value = s->panels->off[side],
                             .v = v};
  return s->steps->off(s->ctx, &p, f->stream);
}

/* x in v: each stage leaves its own there, where the others' is. */
static gable_status sweep_stages(const flight *f, const sequence *q, gable_op op, double *v, double *y)
{
  gable_status status = GABLE_OK;
  const gi_clusters *c = f->s->panels->clusters;
  const int plain = op == GABLE_OP_N;
  for (gable_idx k = 0; k < c->n_stages; k++) {
    const gable_idx stage = plain ? k : c->n_stages - 1 - k;
    const levels on = {c->stage_ptr[stage], c->stage_ptr[stage + 1]};
    GI_TRY(subtract_off(f, plain ? 0 : 1, on, v));
    GI_TRY(multiply(f, q->forward, 1, on, v, y));
    GI_TRY(multiply(f, q->backward, 0, on, y, v));
  }
done:
  return status;
}

/* How the caller numbers and scales one side of a system; order: as A' is. */
typedef struct outside {
  const gable_idx *place, *inverse; /* of few right-hand sides, of many */
  const double *scale;
} outside;

static gable_status move(const flight *f, int in, const gable_vectors_view *v, gable_idx column, gable_idx count,
                         outside at, double *work)
{
  const gable_off size = v->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  const gable_off row = v->major == GABLE_MAJOR_COL ? 1 : v->ld, col = v->major == GABLE_MAJOR_COL ? v->ld : 1;
  const int wide = f->rhs > GIK_CLUSTER_MOST_RHS;
  const gik_cluster_frame p = {.in = in,
                               .n = v->n,
                               .count = count,
                               .rhs = f->rhs,
                               .type = v->type,
                               .place = wide ? NULL : at.place,
                               .inverse = wide ? at.inverse : NULL,
                               .scale = at.scale,
                               .row = row,
                               .column = col,
                               .data = (char *)v->data + column * col * size,
                               .work = work};
  return f->s->steps->frame(f->s->ctx, &p, f->stream);
}

static gable_status solve_parts(const flight *f, gable_op op, unsigned parts, const gable_vectors_view *b,
                                const gable_vectors_view *x, gable_idx column, gable_idx count)
{
  gable_status status = GABLE_OK;
  const sequence q = plan_sequence(f->s, op, parts);
  const gi_cluster_solver *s = f->s;
  const outside inner = {s->order, s->order_of, NULL};
  const outside rows = {NULL, s->row_of, s->row_scale}, cols = {NULL, s->col_of, s->col_scale};
  const int all = parts == GI_SOLVE_ALL, plain = op == GABLE_OP_N;
  double *at = f->w->v;
  GI_TRY(move(f, 1, b, column, count, !all ? inner : plain ? rows : cols, at));
  if (all && s->panels->off[0])
    GI_TRY(sweep_stages(f, &q, op, at, f->w->y));
  else
    GI_TRY(sweep(f, &q, &at));
  GI_TRY(move(f, 0, x, column, count, !all ? inner : plain ? cols : rows, at));
done:
  return status;
}

/* ---- all parts of few right-hand sides: one launch ---- */

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
  if (beside) GI_TRY(move(f, 0, x, column, count, (outside){NULL, NULL, NULL}, f->w->v));
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
  for (gable_idx column = 0; column < b->count; column += w->most) {
    const gable_idx left = b->count - column, count = left < w->most ? left : w->most;
    const flight f = {s, w, gik_cluster_columns(count), gi_stream_of(s->ctx, stream)};
    if (parts == GI_SOLVE_ALL && count <= GIK_CLUSTER_MOST_RHS)
      GI_TRY(solve_all(&f, op, b, x, column, count));
    else
      GI_TRY(solve_parts(&f, op, parts, b, x, column, count));
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
