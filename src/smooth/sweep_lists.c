/* sweep_lists.c: one pass over lists of whole rows on the CPU, by a schedule of one triangle: serial, levr, tiles,
 * auto.
 *
 * A list holds the entries of its row on both sides of the diagonal.  Where the pattern is symmetric x is overwritten
 * in place; otherwise indices on the other side of the diagonal are shifted by n, to old values behind the new ones. */
#include <stdio.h>
#include <string.h>

#include "smooth/sweeps.h"

/* Rows of one strict triangle of A, whatever the format. */
static gable_status read_rows(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a, gable_part uplo,
                              gi_triangle *out, gable_off **diagonal_from)
{
  gable_status status = GABLE_OK;
  const int by_rows = shape->format == GABLE_FORMAT_CSR;
  gi_shape part = *shape;
  gi_triangle columns;
  gable_idx bad_row;
  memset(&columns, 0, sizeof columns);
  part.uplo = uplo;
  part.strict = 0;
  GI_TRY(gi_triangle_read(ctx, &part, a, 1, by_rows ? out : &columns, diagonal_from, &bad_row));
  if (!by_rows) GI_TRY(gi_triangle_transpose(ctx, &columns, out));
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
static gable_status build_lists(const gi_sweeps *s, const gi_triangle *own, const gi_triangle *other,
                                gi_sweep_direction *d)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = s->ctx;
  gi_op_plan *op_plan = &d->lists;
  gi_pattern p;
  gi_lists rows;
  memset(&p, 0, sizeof p);
  p.rows = *own; /* borrowed */
  GI_TRY(gi_levels_find(ctx, own->n, own->ptr, own->col, &p.levels));
  d->levels = op_plan->levels = p.levels.count;
  op_plan->widest = p.levels.widest;
  op_plan->threads = s->options.threads;
  op_plan->solves = s->options.solves;
  if (s->method == GI_AUTO) {
    GI_TRY(gi_auto_build(ctx, &p, s->value_type, op_plan));
  } else {
    snprintf(op_plan->why, sizeof op_plan->why, "asked for");
    op_plan->method = method_of(s->method);
    GI_TRY(op_plan->method->build(ctx, &p, s->value_type, op_plan));
  }
  GI_TRY(gi_lists_build_rows(ctx, own, other, op_plan->lists.m.row, s->value_type, s->in_place ? 0 : s->n, &rows));
  gi_lists_release(ctx, &op_plan->lists);
  gi_lists_release(ctx, &op_plan->alone);
  op_plan->lists = rows;
done:
  gi_levels_release(ctx, &p.levels);
  return status;
}

static gable_status analyse(gi_sweeps *s, const gi_shape *shape, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = s->ctx;
  gi_triangle rows[2]; /* strictly lower, strictly upper */
  gable_off *again = NULL;
  memset(rows, 0, sizeof rows);
  GI_REQUIRE(shape->space == GABLE_SPACE_HOST, GABLE_ERR_UNAVAILABLE, "these sweeps want the matrix in host memory");
  s->nnz = shape->nnz;
  GI_TRY(read_rows(ctx, shape, a, GABLE_PART_LOWER, &rows[0], &s->diagonal_from));
  GI_TRY(gi_progress(ctx, "analyse sweeps", 0.1));
  GI_TRY(read_rows(ctx, shape, a, GABLE_PART_UPPER, &rows[1], &again));
  GI_TRY(compare(ctx, &rows[0], &rows[1], &s->in_place));
  GI_REQUIRE(s->in_place || s->n < (1 << 30), GABLE_ERR_LIMIT, "sweeps need a symmetric pattern from 2^30 rows on");
  for (int d = 0; d < 2; d++) {
    if (!s->to[d].asked) continue;
    GI_TRY(gi_progress(ctx, "analyse sweeps", d ? 0.6 : 0.2));
    GI_TRY(build_lists(s, &rows[d], &rows[!d], &s->to[d]));
  }
done:
  gi_free(ctx, again);
  gi_triangle_release(ctx, &rows[0]);
  gi_triangle_release(ctx, &rows[1]);
  return status;
}

static gable_status update(gi_sweeps *s, const void *val)
{
  gable_status status = GABLE_OK;
  gable_idx bad_row;
  for (int d = 0; d < 2; d++)
    if (s->to[d].asked) GI_TRY(gi_lists_update(&s->to[d].lists.lists, val, s->diagonal_from, NULL, &bad_row));
done:
  return status;
}

static gable_status work_init(gable_smoother_work *w)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = w->s;
  for (int d = 0; d < 2; d++) {
    const gi_op_plan *op_plan = &s->to[d].lists;
    if (!op_plan->method || !op_plan->method->scratch_bytes) continue;
    const size_t bytes = op_plan->method->scratch_bytes(op_plan);
    w->scratch[d] = gi_alloc(s->ctx, (gable_off)bytes, 1);
    GI_REQUIRE_MEMORY(w->scratch[d], bytes, "the scratch of a sweep");
    op_plan->method->scratch_init(op_plan, w->scratch[d]);
  }
done:
  return status;
}

/* b, x and, where they are kept apart, old values = new ones. */
static gik_vectors vectors_of(const gi_sweep_job *j)
{
  const gi_sweeps *s = j->s;
  const size_t bytes = (size_t)s->n * gi_type_size(j->run.type);
  if (!s->in_place) memcpy((char *)j->run.x + bytes, j->run.x, bytes);
  return (gik_vectors){.b = j->run.b,
                       .x = j->run.x,
                       .b_row = j->run.b_step,
                       .x_row = 1,
                       .count = 1,
                       .omega = s->options.omega,
                       .old = s->in_place ? 0 : s->n};
}

static gable_status sweep(gi_sweep_job *j, int d)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = j->s;
  const gik_vectors v = vectors_of(j);
  gi_run run = {.op_plan = &s->to[d].lists, .v = &v, .scratch = j->w->scratch[d], .deadline_s = s->options.deadline_s};
  run.kernels = (s->options.omega == 1 ? gik_substitution_for : gik_relaxation_for)(s->value_type, j->run.type);
  run.op_plan->method->run(&run);
  GI_REQUIRE(!run.status, run.status, "a sweep waited longer than %g s for row %d (counted from 0)",
             s->options.deadline_s, run.row);
done:
  return status;
}

static gable_status norm(gi_sweep_job *j, double *norm)
{
  const gik_vectors v = vectors_of(j);
  const gi_lists *rows = &j->s->to[j->s->to[0].asked ? 0 : 1].lists.lists;
  *norm = gik_substitution_for(j->s->value_type, j->run.type)->residual(&rows->m, &v);
  return GABLE_OK;
}

/* sweep has told already. */
static gable_status status_of(gable_smoother_work *w, gable_idx *row)
{
  (void)w;
  *row = -1;
  return GABLE_OK;
}

static void add_bytes(const gi_sweeps *s, size_t *host, size_t *device)
{
  (void)device;
  *host += (size_t)s->n * sizeof *s->diagonal_from;
  for (int d = 0; d < 2; d++)
    if (s->to[d].asked) *host += gi_lists_bytes(&s->to[d].lists.lists) + s->to[d].lists.schedule_bytes;
}

static gable_status add_bound(const gi_sweeps *s, gable_off nnz, size_t *host, size_t *device)
{
  const gi_cpu_method *m = s->method == GI_AUTO ? &gi_cpu_tiles : method_of(s->method);
  const size_t one = gi_lists_bound(s->n, nnz, s->value_type) +
                     (m->schedule_bound ? m->schedule_bound(s->n, nnz, s->options.threads) : 0);
  (void)device;
  *host += (size_t)s->n * sizeof *s->diagonal_from;
  for (int d = 0; d < 2; d++) *host += s->to[d].asked ? one : 0;
  return GABLE_OK;
}

const gi_sweep_way gi_sweep_lists = {1, 1, analyse, update, work_init, sweep, norm, status_of, add_bytes, add_bound};
