/* method_solve.c: the sequence of launches of one solve.
 *
 *   take b | for each group: subtract F x of earlier groups, forward level by level, D, backward | give x
 *
 * op N of an LU factor: forward L, backward (D U)^T.  op T: forward (D U)^T, backward L.  Symmetric factors: L both
 * times. */
#include "supernodal/method_solve.h"

#include <string.h>

#include "base/timer.h"
#include "device/mirror.h"
#include "factor/export.h"
#include "kernels/supernodal/cluster_steps.h"

enum { CALL_ROOM = 4 << 20 }; /* bytes that cuBLAS may use */

/* F by rows or by columns, in solve order. */
typedef struct method_off {
  gi_resident ptr, col, value;
} method_off;

struct gi_method_solver {
  gable_context *ctx;
  const gi_layout *layout;
  gi_factor_kind kind;
  gable_solve_method method;
  int merge, has_off;
  const gik_block_steps *steps;
  const gik_cluster_steps *frame;
  gi_method_order order;
  gi_method_triangle l, u; /* u: empty where U is L^T */
  gi_resident dinv, coupling;
  gi_resident plain, exchanged, rows, cols; /* [n] number of the k-th: of A', after the exchanges, of the caller's */
  gi_resident row_scale, col_scale;
  method_off off[2];
  gi_method_times times;
};

struct gi_method_work {
  gable_context *ctx;
  const gi_method_solver *solver;
  gable_idx rhs;            /* columns of the work vectors: 1, 4 or 16 */
  double *v, *y, *slots;    /* [n][rhs], [n][rhs], [slots][rhs] or, of levels, [most_rows][rhs] */
  void *calls_room, *calls; /* of levels */
};

/* ---- the solver ---- */

/* Value of column order[k], for all k. */
static gable_status bring_values(gi_method_solver *s, const gi_factor *f, const void *values, double *room,
                                 gi_resident *to, int *moved)
{
  gable_status status = GABLE_OK;
  for (gable_idx k = 0; k < s->order.n; k++) room[k] = gi_factor_value(f, values, s->order.order[k]);
  GI_TRY(gi_resident_bring(s->ctx, to, room, s->order.n, sizeof *room, moved));
  GI_TRY(s->ctx->device->synchronise(s->ctx, NULL)); /* before room changes */
done:
  return status;
}

/* perm[of[order[k]]], each NULL: as it is. */
static gable_status bring_numbers(gi_method_solver *s, const gable_idx *of, const gable_idx *perm, gable_idx *room,
                                  gi_resident *to, int *moved)
{
  gable_status status = GABLE_OK;
  for (gable_idx k = 0; k < s->order.n; k++) {
    const gable_idx j = s->order.order[k], i = of ? of[j] : j;
    room[k] = perm ? perm[i] : i;
  }
  GI_TRY(gi_resident_bring(s->ctx, to, room, s->order.n, sizeof *room, moved));
  GI_TRY(s->ctx->device->synchronise(s->ctx, NULL)); /* before room changes */
done:
  return status;
}

/* row_of [n]: row of A' that is k-th after the exchanges. */
static gable_status bring_frame(gi_method_solver *s, const gi_factor *f, const gi_cluster_outside *o,
                                const gable_idx *row_of, int *moved)
{
  gable_status status = GABLE_OK;
  const gable_idx n = s->order.n;
  gable_idx *numbers = NULL;
  double *values = NULL;
  GI_ALLOC(s->ctx, numbers, n);
  GI_ALLOC(s->ctx, values, n);
  GI_TRY(bring_values(s, f, f->dinv, values, &s->dinv, moved));
  if (f->kind == GI_LDLT) GI_TRY(bring_values(s, f, f->coupling, values, &s->coupling, moved));
  GI_TRY(bring_numbers(s, NULL, NULL, numbers, &s->plain, moved));
  GI_TRY(bring_numbers(s, row_of, NULL, numbers, &s->exchanged, moved));
  GI_TRY(bring_numbers(s, row_of, o->row_perm, numbers, &s->rows, moved));
  GI_TRY(bring_numbers(s, f->kind == GI_LU ? NULL : row_of, o->col_perm, numbers, &s->cols, moved));
  if (o->row_scale) GI_TRY(gi_resident_bring(s->ctx, &s->row_scale, o->row_scale, n, sizeof *values, moved));
  if (o->col_scale) GI_TRY(gi_resident_bring(s->ctx, &s->col_scale, o->col_scale, n, sizeof *values, moved));
done:
  gi_free(s->ctx, numbers);
  gi_free(s->ctx, values);
  return status;
}

/* F by rows (side 0) or columns (side 1), its rows as they stand after the exchanges: place_of [n] of each row of A'.
 */
static gable_status bring_off(gi_method_solver *s, const gi_factor *f, const gable_idx *place_of, int side, int *moved)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = f->layout;
  const gable_off nnz = y->off_ptr[y->n];
  const gable_idx *place = s->order.place;
  gable_off *ptr = NULL;
  gable_idx *col = NULL;
  double *value = NULL;
  GI_ALLOC_ZERO(s->ctx, ptr, y->n + 2);
  GI_ALLOC(s->ctx, col, nnz);
  GI_ALLOC(s->ctx, value, nnz);
  for (int write = 0; write < 2; write++) {
    for (gable_idx j = 0; j < y->n; j++)
      for (gable_off k = y->off_ptr[j]; k < y->off_ptr[j + 1]; k++) {
        const gable_idx row = place[place_of[y->off_row[k]]], to = side ? place[j] : row, from = side ? row : place[j];
        if (!write) {
          ptr[to + 2]++;
          continue;
        }
        const gable_off at = ptr[to + 1]++;
        col[at] = from;
        value[at] = gi_factor_value(f, f->off, k);
      }
    for (gable_idx i = 0; !write && i < y->n; i++) ptr[i + 2] += ptr[i + 1];
  }
  GI_TRY(gi_resident_bring(s->ctx, &s->off[side].ptr, ptr, y->n + 1, sizeof *ptr, moved));
  GI_TRY(gi_resident_bring(s->ctx, &s->off[side].col, col, nnz, sizeof *col, moved));
  GI_TRY(gi_resident_bring(s->ctx, &s->off[side].value, value, nnz, sizeof *value, moved));
  GI_TRY(s->ctx->device->synchronise(s->ctx, NULL)); /* before the lists go */
done:
  gi_free(s->ctx, ptr);
  gi_free(s->ctx, col);
  gi_free(s->ctx, value);
  return status;
}

static gable_status bring_surroundings(gi_method_solver *s, const gi_factor *f, const gi_cluster_outside *outside,
                                       int *moved)
{
  gable_status status = GABLE_OK;
  const gable_idx n = f->layout->n;
  gable_idx *row_of = NULL, *place_of = NULL;
  GI_ALLOC(s->ctx, row_of, n);
  GI_ALLOC(s->ctx, place_of, n);
  gi_factor_resolve_exchanges(f, row_of, place_of);
  GI_TRY(bring_frame(s, f, outside, row_of, moved));
  for (int side = 0; side < 2 && s->has_off; side++) GI_TRY(bring_off(s, f, place_of, side, moved));
done:
  gi_free(s->ctx, row_of);
  gi_free(s->ctx, place_of);
  return status;
}

/* One triangle: made on the CPU, copied, and forgotten there. */
static gable_status bring_triangle(gi_method_solver *s, const gi_factor *f, int upper, gi_method_triangle *to,
                                   int *moved)
{
  gable_status status = GABLE_OK;
  gi_block_triangle *host = NULL;
  const double begin = gi_now();
  GI_TRY(gi_block_triangle_create(s->ctx, f, upper, s->method, s->merge, &host));
  const double made = gi_now();
  GI_TRY(gi_method_triangle_bring(s->ctx, host, &s->order, to, moved));
  s->times.prepare_s += made - begin;
  s->times.upload_s += gi_now() - made;
done:
  gi_block_triangle_destroy(s->ctx, &host);
  return status;
}

int gi_method_solver_fits(const gi_method_solver *s, const gi_factor *f)
{
  return s->layout == f->layout && s->kind == f->kind && s->has_off == (f->layout->off_ptr && f->off);
}

gable_status gi_method_solver_update(gable_context *ctx, const gi_factor *f, gable_solve_method method, int merge,
                                     const gi_cluster_outside *outside, gi_method_solver **solver, int *moved)
{
  gable_status status = GABLE_OK;
  gi_method_solver *s = *solver;
  *solver = NULL;
  if (!s) {
    GI_ALLOC_ZERO(ctx, s, 1);
    s->ctx = ctx;
    s->layout = f->layout;
    s->kind = f->kind;
    s->method = method;
    s->merge = merge;
    s->has_off = f->layout->off_ptr && f->off;
    s->steps = ctx->device->kind == GI_ON_CUDA ? &gik_block_steps_cuda : &gik_block_steps_cpu;
    s->frame = ctx->device->kind == GI_ON_CUDA ? &gik_cluster_steps_cuda : &gik_cluster_steps_cpu;
    GI_TRY(gi_method_order_init(ctx, f, &s->order));
  }
  s->times = (gi_method_times){0, 0};
  GI_TRY(bring_triangle(s, f, 0, &s->l, moved));
  if (f->kind == GI_LU) GI_TRY(bring_triangle(s, f, 1, &s->u, moved));
  const double begin = gi_now();
  GI_TRY(bring_surroundings(s, f, outside, moved));
  GI_TRY(ctx->device->synchronise(ctx, NULL));
  s->times.upload_s += gi_now() - begin;
  *solver = s;
  s = NULL;
done:
  gi_method_solver_destroy(ctx, &s);
  return status;
}

enum { RESIDENTS = 14 };

static void list_residents(gi_method_solver *s, gi_resident *own[RESIDENTS])
{
  gi_resident *const all[RESIDENTS] = {&s->dinv,       &s->coupling,    &s->plain,        &s->exchanged,
                                       &s->rows,       &s->cols,        &s->row_scale,    &s->col_scale,
                                       &s->off[0].ptr, &s->off[0].col,  &s->off[0].value, &s->off[1].ptr,
                                       &s->off[1].col, &s->off[1].value};
  memcpy(own, all, sizeof all);
}

void gi_method_solver_destroy(gable_context *ctx, gi_method_solver **solver)
{
  gi_method_solver *s = solver ? *solver : NULL;
  gi_resident *own[RESIDENTS];
  if (!s) return;
  *solver = NULL;
  list_residents(s, own);
  for (int k = 0; k < RESIDENTS; k++) gi_resident_release(ctx, own[k]);
  gi_method_triangle_release(ctx, &s->l);
  gi_method_triangle_release(ctx, &s->u);
  gi_method_order_release(ctx, &s->order);
  gi_free(ctx, s);
}

gi_method_times gi_method_solver_times(const gi_method_solver *s)
{
  return s->times;
}

gable_off gi_method_solver_bytes(const gi_method_solver *s)
{
  gi_method_solver copy = *s;
  gi_resident *own[RESIDENTS];
  gable_off bytes = gi_method_triangle_bytes(&s->l) + gi_method_triangle_bytes(&s->u);
  list_residents(&copy, own);
  for (int k = 0; k < RESIDENTS; k++) bytes += (gable_off)own[k]->bytes;
  return bytes;
}

static const gi_method_triangle *second_of(const gi_method_solver *s)
{
  return s->kind == GI_LU ? &s->u : &s->l;
}

gable_idx gi_method_solver_levels(const gi_method_solver *s)
{
  return s->l.n_levels + second_of(s)->n_levels;
}

double gi_method_floor_bytes(const gi_method_solver *s, gable_idx rhs)
{
  const double off = (double)(s->off[0].col.bytes + s->off[0].value.bytes);
  return s->l.floor_bytes + second_of(s)->floor_bytes + off + 16.0 * s->order.n * rhs;
}

/* ---- the work ---- */

static gable_status take_memory(gable_context *ctx, gable_off count, size_t size, void **out)
{
  return ctx->device->alloc(ctx, (size_t)count * size, out);
}

gable_status gi_method_work_create(const gi_method_solver *s, gable_idx max_rhs, gi_method_work **out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = s->ctx;
  const int calls = s->method == GABLE_SOLVE_LEVELS;
  const gable_off l = calls ? s->l.most_rows : s->l.row_at[s->l.n_blocks];
  const gable_off u = s->kind != GI_LU ? 0 : calls ? s->u.most_rows : s->u.row_at[s->u.n_blocks];
  gi_method_work *w = NULL;
  int before = GI_NOT_ENTERED;
  GI_TRY(ctx->device->enter(ctx, &before));
  GI_ALLOC_ZERO(ctx, w, 1);
  w->ctx = ctx;
  w->solver = s;
  w->rhs = max_rhs <= 1 ? 1 : max_rhs <= 4 ? 4 : GIK_BLOCK_MOST_RHS;
  const gable_off rows = (gable_off)s->order.n * w->rhs;
  GI_TRY(take_memory(ctx, rows, sizeof *w->v, (void **)&w->v));
  GI_TRY(take_memory(ctx, rows, sizeof *w->y, (void **)&w->y));
  if (s->method != GABLE_SOLVE_PARTITIONED)
    GI_TRY(take_memory(ctx, (l > u ? l : u) * w->rhs, sizeof *w->slots, (void **)&w->slots));
  if (calls) {
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
  if (w->calls) w->solver->steps->calls_close(ctx, &w->calls);
  void *const own[] = {w->v, w->y, w->slots, w->calls_room};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) ctx->device->release(ctx, own[k]);
  gi_free(ctx, w);
}

/* ---- one solve ---- */

typedef struct flight {
  const gi_method_solver *s;
  gi_method_work *w;
  gable_idx rhs;
  const int *going;
  void *stream;
} flight;

/* One launch of one level. */
static gable_status run_batch(const flight *f, const gi_method_triangle *t, int transposed, int number, gable_idx level,
                              double *in, double *out)
{
  const gi_method_batch *batch = &t->batch[transposed][number];
  const gik_block_tiles tiles = {(const gik_block_tile *)batch->tile.at + batch->at[level], batch->wide[level],
                                 batch->narrow[level]};
  /* the second batch of a level reads what the first one wrote: forward in out, backward in its own place */
  const gik_block_batch p = {.panels = {t->d_first.at, t->d_row_at.at, t->d_row.at, t->d_value_at.at, t->d_value.at,
                                        t->d_in_ptr.at, t->d_in_slot.at},
                             .part = batch->part,
                             .transposed = transposed,
                             .rhs = f->rhs,
                             .own = !transposed && number ? out : in,
                             .x = out,
                             .out = batch->own_out ? in : out,
                             .slots = f->w->slots,
                             .going = f->going};
  return (batch->substitute ? f->s->steps->substitute : f->s->steps->product)(f->s->ctx, &p, &tiles, f->stream);
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
                            .y = y,
                            .going = f->going};
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

/* Levels begin .. end-1: from *in to *out, which change places but for calls, which work in place. */
static gable_status run_levels(const flight *f, const gi_method_triangle *t, int transposed, gable_idx begin,
                               gable_idx end, double **in, double **out)
{
  gable_status status = GABLE_OK;
  double *from = *in, *to = *out;
  for (gable_idx k = begin; k < end; k++) {
    const gable_idx level = transposed ? begin + end - 1 - k : k;
    if (t->method == GABLE_SOLVE_LEVELS)
      GI_TRY(run_calls(f, t, transposed, level, from));
    else if (t->method == GABLE_SOLVE_PARTITIONED)
      GI_TRY(run_rows(f, t, transposed, level, transposed ? to : from, transposed ? from : to));
    else
      for (int number = 0; number < t->n_batches; number++)
        GI_TRY(run_batch(f, t, transposed, number, level, from, to));
  }
  if (t->method == GABLE_SOLVE_LEVELS) goto done;
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
                             .x = v,
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
  const gik_cluster_frame p = {.n = v->n,
                               .count = count,
                               .rhs = f->rhs,
                               .type = v->type,
                               .place = place->at,
                               .scale = scale ? scale->at : NULL,
                               .row = row,
                               .column = col,
                               .data = (char *)v->data + column * col * size,
                               .work = work};
  return (in ? f->s->frame->take : f->s->frame->give)(f->s->ctx, &p, f->stream);
}

/* Rows of L are exchanged, and columns of a symmetric factor's U; without frame the parts that are there decide. */
static gable_status solve_columns(const flight *f, gable_op op, unsigned parts, const gable_vectors_view *b,
                                  const gable_vectors_view *x, gable_idx column, gable_idx count)
{
  gable_status status = GABLE_OK;
  const gi_method_solver *s = f->s;
  const int all = parts == GI_SOLVE_ALL, plain = op == GABLE_OP_N, lu = s->kind == GI_LU;
  const sequence q = plan_sequence(s, op, parts);
  const int exchanged_in = q.forward && (plain || !lu), exchanged_out = q.backward && (!plain || !lu);
  const gi_resident *from = all ? (plain ? &s->rows : &s->cols) : exchanged_in ? &s->exchanged : &s->plain;
  const gi_resident *to = all ? (plain ? &s->cols : &s->rows) : exchanged_out ? &s->exchanged : &s->plain;
  double *in = f->w->v, *out = f->w->y;
  if (s->method == GABLE_SOLVE_LEVELS) GI_TRY(s->steps->calls_begin(s->ctx, f->w->calls, f->stream));
  GI_TRY(move(f, 1, b, column, count, from, all ? (plain ? &s->row_scale : &s->col_scale) : NULL, in));
  GI_TRY(sweep(f, &q, op, &in, &out));
  GI_TRY(move(f, 0, x, column, count, to, all ? (plain ? &s->col_scale : &s->row_scale) : NULL, in));
done:
  return status;
}

gable_status gi_method_solve(const gi_method_solver *s, gi_method_work *w, gable_op op, unsigned parts,
                             const gable_vectors_view *b, const gable_vectors_view *x, const int *going, void *stream)
{
  gable_status status = GABLE_OK;
  const int mirror = s->ctx->device->kind == GI_ON_MIRROR;
  int before = GI_NOT_ENTERED;
  GI_REQUIRE(w->solver == s, GABLE_ERR_ARGUMENT, "the work object belongs to another factor");
  GI_REQUIRE(parts && !(parts & ~(unsigned)GI_SOLVE_ALL), GABLE_ERR_ARGUMENT, "no such parts of a factor: %u", parts);
  GI_TRY(s->ctx->device->enter(s->ctx, &before));
  if (mirror) gi_mirror_enter(s->ctx);
  for (gable_idx column = 0; column < b->count; column += w->rhs) {
    const gable_idx left = b->count - column, count = left < w->rhs ? left : w->rhs;
    const flight f = {s, w, count == 1 ? 1 : count <= 4 ? 4 : w->rhs, going, gi_stream_of(s->ctx, stream)};
    GI_TRY(solve_columns(&f, op, parts, b, x, column, count));
  }
done:
  if (mirror) gi_mirror_leave(s->ctx);
  s->ctx->device->leave(s->ctx, before);
  return status;
}
