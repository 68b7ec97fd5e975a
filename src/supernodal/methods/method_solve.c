/* method_solve.c: the sequence of launches of one solve.
 *
 *   take b | for each group: subtract F x of earlier groups, forward level by level, D, backward | give x
 *
 * op N of an LU factor: forward L, backward (D U)^T.  op T: forward (D U)^T, backward L.  Symmetric factors: L both
 * times. */
#include "supernodal/methods/method_spmv.h"

enum { CALL_ROOM = 4 << 20 }; /* bytes that cuBLAS may use */

struct gi_method_work {
  gable_context *ctx;
  const gi_method_solver *solver; /* not after a new factor */
  const gik_block_steps *steps;
  gable_idx rhs; /* columns of the work vectors: 1, 4 or 16 */
  gable_idx n;
  gable_off rows;           /* of slots */
  double *v, *y, *slots;    /* [n][rhs], [n][rhs], [rows][rhs] */
  int *arrived;             /* [n]: see gik_block_batch */
  void *calls_room, *calls; /* of levels */
  gi_method_spmv spmv;      /* of partitioned-cusparse */
};

/* ---- the work ---- */

static gable_status take_memory(gable_context *ctx, gable_off count, size_t size, void **out)
{
  return ctx->device->alloc(ctx, (size_t)count * size, out);
}

/* Rows of slots, of which calls need those of one block at a time. */
static gable_off slot_rows(const gi_method_solver *s)
{
  const gable_off l = s->l.row_at[s->l.n_blocks], u = s->kind == GI_LU ? s->u.row_at[s->u.n_blocks] : 0;
  if (s->method == GABLE_SOLVE_PARTITIONED || s->method == GABLE_SOLVE_PARTITIONED_CUSPARSE) return 0;
  return l > u ? l : u;
}

static gable_status take_zeros(gi_method_work *w, gable_idx count)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = w->ctx;
  int *zeros = NULL;
  GI_ALLOC_ZERO(ctx, zeros, count);
  GI_TRY(take_memory(ctx, count, sizeof *zeros, (void **)&w->arrived));
  GI_TRY(ctx->device->copy_in(ctx, w->arrived, zeros, (size_t)count * sizeof *zeros, NULL));
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* before zeros goes */
done:
  gi_free(ctx, zeros);
  return status;
}

gable_status gi_method_work_create(const gi_method_solver *s, gable_idx max_rhs, gi_method_work **out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = s->ctx;
  gi_method_work *w = NULL;
  int before = GI_NOT_ENTERED;
  GI_TRY(ctx->device->enter(ctx, &before));
  GI_ALLOC_ZERO(ctx, w, 1);
  w->ctx = ctx;
  w->solver = s;
  w->steps = s->steps;
  w->rhs = gik_cluster_width(max_rhs);
  w->n = s->order.n;
  w->rows = slot_rows(s);
  const gable_off rows = (gable_off)w->n * w->rhs;
  GI_TRY(take_memory(ctx, rows, sizeof *w->v, (void **)&w->v));
  GI_TRY(take_memory(ctx, rows, sizeof *w->y, (void **)&w->y));
  GI_TRY(take_zeros(w, w->n));
  if (s->method == GABLE_SOLVE_PARTITIONED_CUSPARSE)
    GI_TRY(gi_method_spmv_init(s, w->rhs, w->v, &w->spmv));
  else if (s->method != GABLE_SOLVE_PARTITIONED)
    GI_TRY(take_memory(ctx, w->rows * w->rhs, sizeof *w->slots, (void **)&w->slots));
  if (s->method == GABLE_SOLVE_LEVELS) {
    GI_TRY(take_memory(ctx, CALL_ROOM, 1, &w->calls_room));
    GI_TRY(s->steps->calls_open(ctx, w->calls_room, CALL_ROOM, &w->calls));
  }
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* solves may run on other streams */
  *out = w;
  w = NULL;
done:
  gi_method_work_destroy(&w);
  ctx->device->leave(ctx, before);
  return status;
}

void gi_method_work_destroy(gi_method_work **work)
{
  gi_method_work *w = work ? *work : NULL;
  if (!w) return;
  *work = NULL;
  gable_context *ctx = w->ctx;
  if (w->calls) w->steps->calls_close(ctx, &w->calls);
  gi_method_spmv_release(ctx, w->steps, &w->spmv);
  void *const own[] = {w->v, w->y, w->slots, w->arrived, w->calls_room};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) ctx->device->release(ctx, own[k]);
  gi_free(ctx, w);
}

int gi_method_work_fit(gi_method_work *w, const gi_method_solver *s)
{
  if (w->ctx != s->ctx || w->n != s->order.n || w->rows < slot_rows(s)) return 0;
  w->solver = s;
  return 1;
}

/* ---- one solve ---- */

typedef struct flight {
  const gi_method_solver *s;
  gi_method_work *w;
  gable_idx rhs;
  int calls; /* of `levels`: a library's, else its batches */
  void *stream;
} flight;

/* One launch of one level, if it has tiles; in and out may be one. */
static gable_status run_batch(const flight *f, const gi_method_triangle *t, int transposed, gi_method_launch launch,
                              gable_idx level, double *in, double *out)
{
  const gi_method_batch *batch = &t->batch[transposed][launch];
  if (!batch->at || batch->wide[level] + batch->narrow[level] == 0) return GABLE_OK;
  const gik_block_tiles tiles = {(const gik_block_tile *)batch->tile.at + batch->at[level], batch->wide[level],
                                 batch->narrow[level], batch->most[level]};
  /* BELOW reads what the launch before wrote: forward in out, backward in its own place */
  const int below = launch == GI_METHOD_BELOW;
  const gik_block_batch p = {.panels = {t->d_first.at, t->d_row_at.at, t->d_row.at, t->d_value_at.at, t->d_value.at,
                                        t->d_in_ptr.at, t->d_in_slot.at},
                             .part = batch->part,
                             .transposed = transposed,
                             .rhs = f->rhs,
                             .own = below && !transposed ? out : in,
                             .x = out,
                             .out = below && transposed ? in : out,
                             .slots = f->w->slots,
                             .arrived = f->w->arrived};
  return (launch == GI_METHOD_SOLVE ? f->s->steps->solve : f->s->steps->product)(f->s->ctx, &p, &tiles, f->stream);
}

static gable_status run_rows(const flight *f, const gi_method_triangle *t, int transposed, gable_idx level, double *v,
                             double *y)
{
  const gi_method_rows *q = &t->rows[transposed];
  const gik_block_rows p = {.begin = q->at[level],
                            .end = q->at[level + 1],
                            .lanes = q->lanes[level],
                            .rhs = f->rhs,
                            .n = t->n,
                            .row = q->row.at,
                            .ptr = q->ptr.at,
                            .col = q->col.at,
                            .value = q->value.at,
                            .v = v,
                            .y = y};
  return f->s->steps->rows(f->s->ctx, &p, f->stream);
}

static gable_status run_calls(const flight *f, const gi_method_triangle *t, int transposed, gable_idx level, double *v)
{
  gable_status status = GABLE_OK;
  for (gable_idx k = t->level[level]; k < t->level[level + 1]; k++) {
    const gable_idx b = t->block[k];
    const gik_block_call p = {.transposed = transposed,
                              .w = t->first[b + 1] - t->first[b],
                              .rows = (gable_idx)(t->row_at[b + 1] - t->row_at[b]),
                              .rhs = f->rhs,
                              .panel = (const double *)t->d_value.at + t->value_at[b],
                              .row = (const gable_idx *)t->d_row.at + t->row_at[b],
                              .at = v + (gable_off)t->first[b] * f->rhs,
                              .v = v,
                              .room = f->w->slots};
    GI_TRY(f->s->steps->call(f->s->ctx, f->w->calls, &p, f->stream));
  }
done:
  return status;
}

/* partitioned: v holds the inputs of the level forward, its outputs backward. */
static gable_status run_partitioned(const flight *f, const gi_method_triangle *t, int transposed, gable_idx level,
                                    double *v, double *y)
{
  gable_status status = GABLE_OK;
  if (!transposed) GI_TRY(run_batch(f, t, 0, GI_METHOD_SOLVE, level, v, v));
  if (t->in_place)
    GI_TRY(gi_method_spmv_run(f->s, &f->w->spmv, t, transposed, level, v, f->stream));
  else
    GI_TRY(run_rows(f, t, transposed, level, v, y));
  if (transposed) GI_TRY(run_batch(f, t, 1, GI_METHOD_SOLVE, level, v, v));
done:
  return status;
}

/* Levels begin .. end-1: from *in to *out, which change places but for calls of libraries, which work in place. */
static gable_status run_levels(const flight *f, const gi_method_triangle *t, int transposed, gable_idx begin,
                               gable_idx end, double **in, double **out)
{
  gable_status status = GABLE_OK;
  double *from = *in, *to = *out;
  for (gable_idx k = begin; k < end; k++) {
    const gable_idx level = transposed ? begin + end - 1 - k : k;
    if (f->calls)
      GI_TRY(run_calls(f, t, transposed, level, from));
    else if (t->method == GABLE_SOLVE_PARTITIONED)
      GI_TRY(run_partitioned(f, t, transposed, level, transposed && !t->in_place ? to : from, transposed ? from : to));
    else
      for (int number = 0; number < GI_METHOD_LAUNCHES; number++) {
        const int launch = transposed ? GI_METHOD_LAUNCHES - 1 - number : number;
        GI_TRY(run_batch(f, t, transposed, (gi_method_launch)launch, level, from, to));
      }
  }
  if (f->calls || t->in_place) goto done;
  *in = to;
  *out = from;
done:
  return status;
}

/* What a solve does with the vector. */
typedef struct sequence {
  const gi_method_triangle *forward, *backward; /* or NULL */
  int diagonal;                                 /* between them; 0: nothing, 1: D^-1, 2: D */
  int off;                                      /* side of F, or -1 */
} sequence;

/* Which of L, D, U a triangle stands for: LU's second is D U as one. */
static sequence plan_sequence(const gi_method_solver *s, gable_op op, unsigned parts)
{
  const int lu = s->kind == GI_LU, plain = op == GABLE_OP_N;
  const int has_l = (parts & GI_SOLVE_L) != 0, has_d = (parts & GI_SOLVE_D) != 0, has_u = (parts & GI_SOLVE_U) != 0;
  sequence q = {NULL, NULL, 0, -1};
  if (plain ? has_l : has_u) q.forward = plain || !lu ? &s->l : &s->u;
  if (plain ? has_u : has_l) q.backward = plain && lu ? &s->u : &s->l;
  if (lu && has_d != has_u) q.diagonal = has_d ? 1 : 2;
  if (s->kind == GI_LDLT && has_d) q.diagonal = 1;
  if (parts == GI_SOLVE_ALL && s->has_off) q.off = plain ? 0 : 1;
  return q;
}

static gable_status subtract_off(const flight *f, int side, gable_idx group, double *v)
{
  const gi_method_solver *s = f->s;
  const gik_cluster_off p = {.type = GABLE_TYPE_D,
                             .begin = s->order.begin[group],
                             .end = s->order.begin[group + 1],
                             .rhs = f->rhs,
                             .ptr = s->off[side].ptr.at,
                             .col = s->off[side].col.at,
                             .value = s->off[side].value.at,
                             .v = v};
  return s->frame->off(s->ctx, &p, f->stream);
}

static gable_status apply_diagonal(const flight *f, int divide, double **in, double **out)
{
  gable_status status = GABLE_OK;
  double *held = *in;
  const gi_method_solver *s = f->s;
  const gik_cluster_diagonal p = {.n = s->order.n,
                                  .rhs = f->rhs,
                                  .divide = divide,
                                  .dinv = s->dinv.at,
                                  .coupling = s->coupling.at,
                                  .v = *in,
                                  .out = *out};
  GI_TRY(s->frame->diagonal(s->ctx, &p, f->stream));
  *in = *out;
  *out = held;
done:
  return status;
}

/* From *in to *in.  With F group by group: both sweeps leave the vector where it was, as the other groups' are. */
static gable_status sweep(const flight *f, const sequence *q, gable_op op, double **in, double **out)
{
  gable_status status = GABLE_OK;
  const gable_idx groups = f->s->order.n_groups;
  for (gable_idx k = 0; q->off >= 0 && k < groups; k++) {
    const gable_idx g = op == GABLE_OP_N ? k : groups - 1 - k;
    GI_TRY(subtract_off(f, q->off, g, *in));
    GI_TRY(run_levels(f, q->forward, 0, q->forward->group[g], q->forward->group[g + 1], in, out));
    GI_TRY(run_levels(f, q->backward, 1, q->backward->group[g], q->backward->group[g + 1], in, out));
  }
  if (q->off >= 0) goto done;
  if (q->forward) GI_TRY(run_levels(f, q->forward, 0, 0, q->forward->n_levels, in, out));
  if (q->diagonal) GI_TRY(apply_diagonal(f, q->diagonal == 1, in, out));
  if (q->backward) GI_TRY(run_levels(f, q->backward, 1, 0, q->backward->n_levels, in, out));
done:
  return status;
}

static gable_status move(const flight *f, int in, const gable_vectors_view *v, gable_idx column, gable_idx count,
                         const gi_resident *place, const gi_resident *scale, double *work)
{
  const gable_off size = v->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  const gable_off row = v->major == GABLE_MAJOR_COL ? 1 : v->ld, col = v->major == GABLE_MAJOR_COL ? v->ld : 1;
  const gik_cluster_frame p = {.in = in,
                               .n = v->n,
                               .count = count,
                               .rhs = f->rhs,
                               .type = v->type,
                               .place = place->at,
                               .scale = scale ? scale->at : NULL,
                               .row = row,
                               .column = col,
                               .data = (char *)v->data + column * col * size,
                               .work = work};
  return f->s->frame->frame(f->s->ctx, &p, f->stream);
}

/* Rows of L are interchanged, and columns of a symmetric factor's U; without frame the parts that are there decide. */
static gable_status solve_columns(const flight *f, gable_op op, unsigned parts, const gable_vectors_view *b,
                                  const gable_vectors_view *x, gable_idx column, gable_idx count)
{
  gable_status status = GABLE_OK;
  const gi_method_solver *s = f->s;
  const int all = parts == GI_SOLVE_ALL, plain = op == GABLE_OP_N, lu = s->kind == GI_LU;
  const sequence q = plan_sequence(s, op, parts);
  const int interchanged_in = q.forward && (plain || !lu), interchanged_out = q.backward && (!plain || !lu);
  const gi_resident *from = all ? (plain ? &s->rows : &s->cols) : interchanged_in ? &s->interchanged : &s->plain;
  const gi_resident *to = all ? (plain ? &s->cols : &s->rows) : interchanged_out ? &s->interchanged : &s->plain;
  double *in = f->w->v, *out = f->w->y;
  if (f->calls) GI_TRY(s->steps->calls_begin(s->ctx, f->w->calls, f->stream));
  GI_TRY(move(f, 1, b, column, count, from, all ? (plain ? &s->row_scale : &s->col_scale) : NULL, in));
  GI_TRY(sweep(f, &q, op, &in, &out));
  GI_TRY(move(f, 0, x, column, count, to, all ? (plain ? &s->col_scale : &s->row_scale) : NULL, in));
done:
  return status;
}

static gable_status solve(const gi_method_solver *s, gi_method_work *w, gable_op op, unsigned parts, int calls,
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
    const int padded = s->method == GABLE_SOLVE_PARTITIONED_CUSPARSE; /* the matrices are of one width */
    const flight f = {s, w, padded ? w->rhs : gik_cluster_width(count), calls, gi_stream_of(s->ctx, stream)};
    GI_TRY(solve_columns(&f, op, parts, b, x, column, count));
  }
done:
  gi_kernels_end(s->ctx);
  s->ctx->device->leave(s->ctx, before);
  return status;
}

gable_status gi_method_solve(const gi_method_solver *s, gi_method_work *w, gable_op op, unsigned parts,
                             const gable_vectors_view *b, const gable_vectors_view *x, void *stream)
{
  return solve(s, w, op, parts, s->method == GABLE_SOLVE_LEVELS, b, x, stream);
}

gable_status gi_method_correct(const gi_method_solver *s, gi_method_work *w, gable_op op, unsigned parts,
                               const gable_vectors_view *b, const gable_vectors_view *x, void *stream)
{
  return solve(s, w, op, parts, 0, b, x, stream);
}
