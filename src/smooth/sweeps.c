/* sweeps.c: a schedule of one triangle, and lists of whole rows on it. */
#include <stdio.h>
#include <string.h>

#include "base/pulse.h"
#include "smooth/sweeps.h"
#include "trisolve/cpu/cpu.h"

typedef struct gi_sweeps {
  gable_context *ctx;
  double omega, deadline_s;
  gable_idx n;
  gable_off nnz;
  gable_type value_type;
  int in_place;
  gi_op_plan op_plan[2]; /* forward, backward; without a method where not asked for */
  gable_off *diagonal_from;
} gi_sweeps;

typedef struct sweeps_work {
  const gi_sweeps *s;
  void *scratch[2]; /* the methods' */
  double *unknowns; /* [n], or [2n]: new values, then old ones; float when the vectors are */
} sweeps_work;

gi_sweep_run gi_sweep_column(const gi_sweep_run *run, gable_idx j)
{
  const ptrdiff_t bytes = (ptrdiff_t)gi_type_size(run->type);
  gi_sweep_run one = *run;
  one.b = (const char *)run->b + j * run->b_rhs * bytes;
  one.x = (char *)run->x + j * run->x_rhs * bytes;
  one.count = 1;
  return one;
}

static void release(void *state)
{
  gi_sweeps *s = state;
  if (!s) return;
  gable_context *ctx = s->ctx;
  for (int d = 0; d < 2; d++) gi_op_plan_release(ctx, &s->op_plan[d]);
  gi_free(ctx, s->diagonal_from);
  gi_free(ctx, s);
}

/* Rows of one strict triangle of A, whatever the format. */
static gable_status read_rows(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a, gable_part uplo,
                              gi_triangle *out, gable_off **diagonal_from, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  gi_shape part = *shape;
  gi_triangle columns;
  memset(&columns, 0, sizeof columns);
  part.uplo = uplo;
  part.strict = 0;
  if (shape->format == GABLE_FORMAT_CSR) {
    GI_TRY(gi_triangle_read(ctx, &part, a, 1, out, diagonal_from, bad_row));
    goto done;
  }
  GI_TRY(gi_triangle_read(ctx, &part, a, 1, &columns, diagonal_from, bad_row));
  GI_TRY(gi_triangle_transpose(ctx, &columns, out));
done:
  gi_triangle_release(ctx, &columns);
  return status;
}

/* *same = 1 when upper has the pattern of lower's transpose. */
static gable_status compare(gable_context *ctx, const gi_triangle *lower, const gi_triangle *upper, int *same)
{
  gable_status status = GABLE_OK;
  gi_triangle t;
  GI_TRY(gi_triangle_transpose(ctx, lower, &t));
  *same = t.ptr[t.n] == upper->ptr[t.n] && !memcmp(t.ptr, upper->ptr, ((size_t)t.n + 1) * sizeof *t.ptr) &&
          !memcmp(t.col, upper->col, (size_t)t.ptr[t.n] * sizeof *t.col);
  gi_triangle_release(ctx, &t);
done:
  return status;
}

static const gi_cpu_method *method_of(gi_method m)
{
  return m == GI_LEVR ? &gi_cpu_levr : m == GI_TILES ? &gi_cpu_tiles : &gi_cpu_serial;
}

/* The schedule of own, then lists of whole rows in its order. */
static gable_status build_op_plan(gable_context *ctx, const gi_triangle *own, const gi_triangle *other,
                                  gi_method method, gable_type value_type, int in_place, gi_op_plan *op_plan)
{
  gable_status status = GABLE_OK;
  gi_pattern p;
  gi_lists rows;
  memset(&p, 0, sizeof p);
  p.rows = *own; /* borrowed */
  GI_TRY(gi_levels_find(ctx, own->n, own->ptr, own->col, &p.levels));
  op_plan->levels = p.levels.count;
  op_plan->widest = p.levels.widest;
  if (method == GI_AUTO) {
    GI_TRY(gi_auto_build(ctx, &p, value_type, op_plan));
  } else {
    snprintf(op_plan->why, sizeof op_plan->why, "asked for");
    op_plan->method = method_of(method);
    GI_TRY(op_plan->method->build(ctx, &p, value_type, op_plan));
  }
  GI_TRY(gi_lists_build_rows(ctx, own, other, op_plan->lists.m.row, value_type, in_place ? 0 : own->n, &rows));
  gi_lists_release(ctx, &op_plan->lists);
  gi_lists_release(ctx, &op_plan->alone);
  op_plan->lists = rows;
done:
  gi_levels_release(ctx, &p.levels);
  return status;
}

static gable_status analyse(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a, gi_method method,
                            const gable_smoother_options *options, gable_idx *bad_row, void **out)
{
  gable_status status = GABLE_OK;
  gi_sweeps *s = NULL;
  gi_triangle rows[2]; /* strictly lower, strictly upper */
  gable_off *again = NULL;
  memset(rows, 0, sizeof rows);
  GI_REQUIRE(shape->space == GABLE_SPACE_HOST, GABLE_ERR_UNAVAILABLE, "these sweeps want the matrix in host memory");
  GI_ALLOC_ZERO(ctx, s, 1);
  s->ctx = ctx;
  s->omega = options->omega;
  s->deadline_s = options->deadline_s;
  s->n = shape->n;
  s->nnz = shape->nnz;
  s->value_type = shape->value_type;
  GI_TRY(read_rows(ctx, shape, a, GABLE_PART_LOWER, &rows[0], &s->diagonal_from, bad_row));
  GI_TRY(gi_progress(ctx, "analyse sweeps", 0.1));
  GI_TRY(read_rows(ctx, shape, a, GABLE_PART_UPPER, &rows[1], &again, bad_row));
  GI_TRY(compare(ctx, &rows[0], &rows[1], &s->in_place));
  GI_REQUIRE(s->in_place || s->n < (1 << 30), GABLE_ERR_LIMIT, "sweeps need a symmetric pattern from 2^30 rows on");
  for (int d = 0; d < 2; d++) {
    s->op_plan[d].threads = options->threads;
    s->op_plan[d].solves = options->solves;
    if (!((int)options->sweep & (1 << d))) continue;
    GI_TRY(gi_progress(ctx, "analyse sweeps", d ? 0.6 : 0.2));
    GI_TRY(build_op_plan(ctx, &rows[d], &rows[!d], method, s->value_type, s->in_place, &s->op_plan[d]));
  }
  *out = s;
  s = NULL;
done:
  gi_free(ctx, again);
  gi_triangle_release(ctx, &rows[0]);
  gi_triangle_release(ctx, &rows[1]);
  release(s);
  return status;
}

static gable_status update(void *state, const void *val, gable_idx *bad_row)
{
  gi_sweeps *s = state;
  gable_status status = GABLE_OK;
  for (int d = 0; d < 2; d++)
    if (s->op_plan[d].method) GI_TRY(gi_lists_update(&s->op_plan[d].lists, val, s->diagonal_from, NULL, bad_row));
done:
  return status;
}

static void work_release(void *work)
{
  sweeps_work *w = work;
  if (!w) return;
  gable_context *ctx = w->s->ctx;
  for (int d = 0; d < 2; d++) gi_free(ctx, w->scratch[d]);
  gi_free(ctx, w->unknowns);
  gi_free(ctx, w);
}

static gable_status work_create(const void *state, void **out)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = state;
  sweeps_work *w = NULL;
  GI_ALLOC_ZERO(s->ctx, w, 1);
  w->s = s;
  GI_ALLOC(s->ctx, w->unknowns, (gable_off)s->n * (s->in_place ? 1 : 2));
  for (int d = 0; d < 2; d++) {
    const gi_op_plan *op_plan = &s->op_plan[d];
    if (!op_plan->method || !op_plan->method->scratch_bytes) continue;
    const size_t bytes = op_plan->method->scratch_bytes(op_plan);
    w->scratch[d] = gi_alloc(s->ctx, (gable_off)bytes, 1);
    GI_REQUIRE_MEMORY(w->scratch[d], bytes, "the scratch of a sweep");
    op_plan->method->scratch_init(op_plan, w->scratch[d]);
  }
  *out = w;
  w = NULL;
done:
  work_release(w);
  return status;
}

/* What one call of apply works on. */
typedef struct job {
  const gi_sweeps *s;
  sweeps_work *w;
  const gik_substitution *kernels;
  const gik_seed_cpu *elements;
  gik_vectors v;
  size_t bytes; /* of n values */
} job;

/* Old values = new ones, where they are kept apart. */
static void keep_old(const job *j)
{
  if (!j->s->in_place) memcpy((char *)j->v.x + j->bytes, j->v.x, j->bytes);
}

static gable_status sweep_once(job *j, int d)
{
  gable_status status = GABLE_OK;
  const gi_op_plan *op_plan = &j->s->op_plan[d];
  gi_run run = {op_plan, j->kernels, j->elements, &j->v, j->w->scratch[d], j->s->deadline_s, GABLE_OK, -1};
  if (!op_plan->method) goto done;
  op_plan->method->run(&run);
  GI_REQUIRE(!run.status, run.status, "a sweep waited longer than %g s for row %d (counted from 0)", j->s->deadline_s,
             run.row);
  keep_old(j);
done:
  return status;
}

static double residual(const job *j)
{
  const gi_op_plan *op_plan = &j->s->op_plan[j->s->op_plan[0].method ? 0 : 1];
  return j->kernels->residual(&op_plan->lists.m, &j->v);
}

static gable_status apply_one(sweeps_work *w, const gi_sweep_run *run)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = w->s;
  const gable_type type = run->type;
  const gik_substitution *plain = gik_substitution_for(s->value_type, type);
  gi_pulse pulse = gi_pulse_begin(s->ctx, "sweep");
  gik_vectors in = {.b = run->x, .x = w->unknowns, .b_row = run->x_step, .x_row = 1, .count = 1};
  gik_vectors back = {.b = w->unknowns, .x = run->x, .b_row = 1, .x_row = run->x_step, .count = 1};
  job j = {.s = s, .w = w, .kernels = s->omega == 1.0 ? plain : gik_relaxation_for(s->value_type, type)};
  j.elements = gik_seed_cpu_for(s->value_type, type);
  j.bytes = (size_t)s->n * gi_type_size(type);
  j.v = (gik_vectors){.b = run->b, .x = w->unknowns, .b_row = run->b_step, .x_row = 1, .count = 1, .omega = s->omega};
  j.v.old = s->in_place ? 0 : s->n;
  if (run->from_zero)
    memset(w->unknowns, 0, j.bytes);
  else
    plain->copy(&in, 0, s->n);
  keep_old(&j);
  if (run->history) run->history[0] += residual(&j);
  for (int k = 1; k <= run->sweeps; k++) {
    if (k > 1) GI_TRY(gi_pulse_tell(&pulse, (double)(k - 1) / run->sweeps));
    GI_TRY(sweep_once(&j, 0));
    GI_TRY(sweep_once(&j, 1));
    if (run->history) run->history[k] += residual(&j);
  }
  plain->copy(&back, 0, s->n);
done:
  return status;
}

/* Right-hand sides one after another. */
static gable_status apply(void *work, const gi_sweep_run *run)
{
  gable_status status = GABLE_OK;
  for (gable_idx j = 0; j < run->count; j++) {
    const gi_sweep_run one = gi_sweep_column(run, j);
    GI_TRY(apply_one(work, &one));
  }
done:
  return status;
}

static gable_status status_of(void *work, gable_idx *row)
{
  (void)work;
  *row = -1;
  return GABLE_OK;
}

static void info_of(const void *state, gable_smoother_info *info)
{
  const gi_sweeps *s = state;
  const gi_op_plan *op_plan = &s->op_plan[s->op_plan[0].method ? 0 : 1];
  snprintf(info->method_used, sizeof info->method_used, "%s", op_plan->method->name);
  snprintf(info->why, sizeof info->why, "%s", op_plan->why);
  info->in_place = s->in_place;
  info->nnz = s->nnz;
  info->levels_forward = s->op_plan[0].method ? s->op_plan[0].levels : 0;
  info->levels_backward = s->op_plan[1].method ? s->op_plan[1].levels : 0;
}

const gi_sweep_kind gi_sweeps_lists = {analyse, update,    work_create, apply,        NULL,
                                       NULL,    status_of, info_of,     work_release, release};
