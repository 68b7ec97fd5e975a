/* cpu.c: the CPU backend: a plan for each op, and the method that solves it. */
#include <stdio.h>
#include <string.h>

#include "trisolve/cpu/cpu.h"

typedef struct cpu_state {
  gi_op_plan op_plan[2];    /* of GABLE_OP_N, GABLE_OP_T */
  gable_off *diagonal_from; /* [n] place in val of each row's diagonal entry, -1 without; NULL: unit or separate */
} cpu_state;

static const gi_cpu_method *const methods[GI_METHODS] = {
    [GI_SERIAL] = &gi_cpu_serial, [GI_LEVR] = &gi_cpu_levr, [GI_LEVC] = &gi_cpu_levc,   [GI_ELMR] = &gi_cpu_elmr,
    [GI_ELMC] = &gi_cpu_elmc,     [GI_GSF] = &gi_cpu_gsf,   [GI_TILES] = &gi_cpu_tiles,
};

const gi_cpu_method *gi_cpu_method_of(gi_method m)
{
  return m == GI_AUTO ? &gi_cpu_tiles : methods[m];
}

void gi_op_plan_release(gable_context *ctx, gi_op_plan *s)
{
  if (s->method && s->method->release)
    s->method->release(ctx, s);
  else
    gi_free(ctx, s->schedule);
  gi_lists_release(ctx, &s->lists);
  gi_lists_release(ctx, &s->alone);
  gi_free(ctx, s->level);
  memset(s, 0, sizeof *s);
}

gi_op_plan *gi_cpu_op_plan(gable_trisolve *t, gable_op op)
{
  cpu_state *s = t->state;
  return &s->op_plan[op];
}

static void state_release(gable_context *ctx, cpu_state *s)
{
  if (!s) return;
  gi_op_plan_release(ctx, &s->op_plan[GABLE_OP_N]);
  gi_op_plan_release(ctx, &s->op_plan[GABLE_OP_T]);
  GI_FREE(ctx, s->diagonal_from, s);
}

void gi_cpu_release(gable_trisolve *t)
{
  state_release(t->ctx, t->state);
  t->state = NULL;
}

/* Solves of one right-hand side that are expected; 0: many. */
static int64_t single_solves(const gable_trisolve_options *o)
{
  if (o->time_candidates) return 0;
  return o->solves < INT64_MAX / o->typical_rhs ? o->solves * o->typical_rhs : INT64_MAX;
}

static gable_status op_plan_build(gable_trisolve *t, const gi_pattern *p, gi_op_plan *op_plan)
{
  gable_status status = GABLE_OK;
  const gable_idx n = p->rows.n;
  op_plan->threads = t->options.threads;
  op_plan->solves = single_solves(&t->options);
  op_plan->levels = p->levels.count;
  op_plan->widest = p->levels.widest;
  GI_ALLOC(t->ctx, op_plan->level, n);
  for (gable_idx k = 0; k < n; k++) op_plan->level[gi_natural(&p->rows, k)] = p->levels.level[k];
  if (t->method == GI_AUTO) {
    GI_TRY(gi_auto_build(t->ctx, p, t->shape.value_type, op_plan));
    goto done;
  }
  snprintf(op_plan->why, sizeof op_plan->why, "asked for");
  op_plan->method = methods[t->method];
  GI_TRY(op_plan->method->build(t->ctx, p, t->shape.value_type, op_plan));
done:
  return status;
}

static gable_status cpu_analyse(gable_trisolve *t, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = t->ctx;
  const gi_shape *shape = &t->shape;
  const gable_op own = shape->format == GABLE_FORMAT_CSR ? GABLE_OP_N : GABLE_OP_T;
  gi_pattern pattern[2];
  cpu_state *state = NULL;

  memset(pattern, 0, sizeof pattern);
  gi_cpu_release(t);
  GI_REQUIRE(shape->space == GABLE_SPACE_HOST, GABLE_ERR_ARGUMENT,
             "the matrix is in device memory, the context is 'cpu'");
  GI_ALLOC_ZERO(ctx, state, 1);
  GI_TRY(gi_triangle_read(ctx, shape, a, t->options.diag == GABLE_DIAG_STORED, &pattern[own].rows,
                          &state->diagonal_from, &t->bad_row));
  GI_TRY(gi_progress(ctx, "analyse triangle", 0.2));
  if (t->options.diag != GABLE_DIAG_STORED) {
    gi_free(ctx, state->diagonal_from);
    state->diagonal_from = NULL;
  }
  GI_TRY(gi_triangle_transpose(ctx, &pattern[own].rows, &pattern[!own].rows));
  for (int op = GABLE_OP_N; op <= GABLE_OP_T; op++) {
    gi_pattern *p = &pattern[op];
    if (!(t->options.ops & (1 << op))) continue;
    p->columns = pattern[!op].rows; /* borrowed */
    GI_TRY(gi_progress(ctx, "analyse triangle", op == GABLE_OP_N ? 0.4 : 0.7));
    GI_TRY(gi_levels_find(ctx, p->rows.n, p->rows.ptr, p->rows.col, &p->levels));
    GI_TRY(op_plan_build(t, p, &state->op_plan[op]));
  }
  t->state = state;
  state = NULL;
done:
  for (int op = GABLE_OP_N; op <= GABLE_OP_T; op++) {
    gi_triangle_release(ctx, &pattern[op].rows);
    gi_levels_release(ctx, &pattern[op].levels);
  }
  state_release(ctx, state);
  return status;
}

static gable_status op_plan_update(gi_op_plan *s, const void *val, const gable_off *diagonal_from, const void *diagonal,
                                   gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_lists_update(&s->lists, val, diagonal_from, diagonal, bad_row));
  if (s->alone.m.n) GI_TRY(gi_lists_update(&s->alone, val, diagonal_from, diagonal, bad_row));
done:
  return status;
}

static gable_status cpu_update(gable_trisolve *t, const void *val, const void *diagonal)
{
  gable_status status = GABLE_OK;
  cpu_state *s = t->state;
  for (int op = GABLE_OP_N; op <= GABLE_OP_T; op++) {
    if (!s->op_plan[op].method) continue;
    GI_TRY(op_plan_update(&s->op_plan[op], val, s->diagonal_from, diagonal, &t->bad_row));
  }
done:
  return status;
}

static size_t op_plan_scratch(const gi_op_plan *s)
{
  return s->method && s->method->scratch_bytes ? (s->method->scratch_bytes(s) + 63) / 64 * 64 : 0;
}

void gi_cpu_work_bytes(const gable_trisolve *t, gable_idx max_rhs, size_t *host, size_t *device)
{
  const cpu_state *s = t->state;
  (void)max_rhs;
  *host = op_plan_scratch(&s->op_plan[GABLE_OP_N]) + op_plan_scratch(&s->op_plan[GABLE_OP_T]);
  *device = 0;
}

/* The part of w's scratch that one op uses. */
static void *scratch_of(const gable_trisolve_work *w, int op)
{
  const cpu_state *s = w->plan->state;
  return (char *)w->host + (op == GABLE_OP_N ? 0 : op_plan_scratch(&s->op_plan[GABLE_OP_N]));
}

gable_status gi_cpu_work_init(gable_trisolve_work *w)
{
  const cpu_state *s = w->plan->state;
  for (int op = GABLE_OP_N; op <= GABLE_OP_T; op++) {
    const gi_op_plan *op_plan = &s->op_plan[op];
    if (op_plan->method && op_plan->method->scratch_init) op_plan->method->scratch_init(op_plan, scratch_of(w, op));
  }
  return GABLE_OK;
}

/* Right-hand sides [first, first+count) of the caller's. */
static gik_vectors block_of(const gable_vectors_view *b, const gable_vectors_view *x, gable_idx first, gable_idx count)
{
  const size_t size = gi_type_size(b->type);
  gik_vectors v = {.count = count};
  gi_strides_of(b, &v.b_row, &v.b_rhs);
  gi_strides_of(x, &v.x_row, &v.x_rhs);
  v.b = (const char *)b->data + (size_t)(first * v.b_rhs) * size;
  v.x = (char *)x->data + (size_t)(first * v.x_rhs) * size;
  return v;
}

/* op without a schedule of its own, from the other op's lists, last one first: rows of the other op are columns of this
 * one, and the other way round. */
static void traverse(const gi_op_plan *other, const gik_substitution *kernels, const gik_vectors *v)
{
  const gik_lists *m = &other->lists.m;
  if (other->method->traverse) {
    kernels->copy(v, 0, m->n);
    other->method->traverse(other, kernels, v);
    return;
  }
  if (!other->method->scatter) {
    kernels->copy(v, 0, m->n);
    kernels->columns_back(m, 0, m->n, other->lists.nnz, v);
    return;
  }
  for (gable_idx k = m->n - 1; k >= 0; k--) kernels->rows(m, k, k + 1, other->lists.begin[k], v);
}

static gable_status cpu_solve(const gable_trisolve *t, gable_trisolve_work *w, gable_op op, const gable_vectors_view *b,
                              gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  const cpu_state *s = t->state;
  const gi_op_plan *own = &s->op_plan[op], *other = &s->op_plan[!op];
  const gik_substitution *kernels = gik_substitution_for(t->shape.value_type, b->type);
  GI_REQUIRE(b->space == GABLE_SPACE_HOST && x->space == GABLE_SPACE_HOST, GABLE_ERR_ARGUMENT,
             "vectors in device memory, but the plan is on the CPU");
  for (gable_idx first = 0; first < b->count; first += GIK_RHS_BLOCK) {
    gable_idx count = b->count - first < GIK_RHS_BLOCK ? b->count - first : GIK_RHS_BLOCK;
    gik_vectors v = block_of(b, x, first, count);
    const gik_seed_cpu *elements = gik_seed_cpu_for(t->shape.value_type, b->type);
    gi_run run = {own, kernels, elements, &v, scratch_of(w, (int)op), t->options.deadline_s, GABLE_OK, -1};
    if (!own->method) {
      traverse(other, kernels, &v);
      continue;
    }
    if (own->method->scatter) kernels->copy(&v, 0, b->n);
    own->method->run(&run);
    if (run.status) {
      w->fault = run.status;
      w->fault_row = run.row;
      GI_REQUIRE(0, run.status, "waited longer than %g s for row %d (counted from 0)", t->options.deadline_s, run.row);
    }
  }
done:
  return status;
}

/* The plan that serves op, and whether it is op's own. */
static const gi_op_plan *serving(const gable_trisolve *t, gable_op op, int *traversed)
{
  const cpu_state *s = t->state;
  *traversed = !s->op_plan[op].method;
  return &s->op_plan[*traversed ? !op : op];
}

static size_t op_plan_bytes(const gi_op_plan *s, gable_idx n)
{
  if (!s->method) return 0;
  return gi_lists_bytes(&s->lists) + gi_lists_bytes(&s->alone) + s->schedule_bytes +
         (s->level ? (size_t)n * sizeof *s->level : 0);
}

gable_status gi_cpu_plan_bound(const gable_trisolve *t, gable_idx n, gable_off nnz, gable_type value_type, size_t *host,
                               size_t *device)
{
  const gi_cpu_method *m = gi_cpu_method_of(t->method);
  const int threads = t->options.threads;
  const size_t lists =
      m->packed_bound ? m->packed_bound(n, nnz, value_type, threads) : gi_lists_bound(n, nnz, value_type);
  const size_t one =
      lists + (m->schedule_bound ? m->schedule_bound(n, nnz, threads) : 0) + (size_t)n * sizeof(gable_idx); /* level */
  *host = sizeof *t + sizeof(cpu_state);
  *device = 0;
  if (t->options.diag == GABLE_DIAG_STORED) *host += (size_t)n * sizeof(gable_off);
  for (int op = GABLE_OP_N; op <= GABLE_OP_T; op++) *host += t->options.ops >> op & 1 ? one : 0;
  return GABLE_OK;
}

gable_status gi_cpu_info(const gable_trisolve *t, gable_op op, gable_trisolve_info *info)
{
  int traversed = 0;
  const cpu_state *state = t->state;
  const gi_op_plan *s = serving(t, op, &traversed);
  info->n = t->shape.n;
  info->nnz = s->lists.nnz + info->n;
  info->levels = s->levels;
  info->widest = s->widest;
  info->plan_bytes_host = sizeof *t + sizeof *state;
  if (state->diagonal_from) info->plan_bytes_host += (size_t)info->n * sizeof *state->diagonal_from;
  for (int o = GABLE_OP_N; o <= GABLE_OP_T; o++) info->plan_bytes_host += op_plan_bytes(&state->op_plan[o], info->n);
  if (traversed) {
    snprintf(info->method_used, sizeof info->method_used, "serial");
    snprintf(info->why, sizeof info->why,
             "no schedule was asked for this op: column-oriented traversal of the other one's");
    info->threads = 1;
    return GABLE_OK;
  }
  snprintf(info->method_used, sizeof info->method_used, "%s", s->method->name);
  snprintf(info->why, sizeof info->why, "%s", s->why);
  info->threads = s->threads;
  info->tiles = s->tiles;
  info->waits = s->waits;
  info->barriers = s->barriers;
  info->atomics = s->atomics;
  info->launches = s->launches;
  info->narrow = s->narrow;
  info->model_s = s->model_s;
  return GABLE_OK;
}

gable_status gi_cpu_schedule(const gable_trisolve *t, gable_op op, gable_idx *order, gable_idx *level)
{
  gable_status status = GABLE_OK;
  int traversed = 0;
  const gi_op_plan *s = serving(t, op, &traversed);
  const gable_idx n = t->shape.n;
  GI_REQUIRE(!traversed, GABLE_ERR_UNAVAILABLE, "no schedule was asked for this op (options.ops)");
  if (order) memcpy(order, s->lists.m.row, (size_t)n * sizeof *order);
  if (level) memcpy(level, s->level, (size_t)n * sizeof *level);
done:
  return status;
}

const gi_trisolve_backend gi_trisolve_cpu = {
    .analyse = cpu_analyse,
    .update = cpu_update,
    .solve = cpu_solve,
    GI_CPU_PLANS,
};
