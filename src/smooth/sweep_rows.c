/* sweep_rows.c: sweeps on whole rows in the memory of the place.
 *
 * With d = diag(A) / omega a forward sweep is (d + L) x_new = b - U x + (d - diag(A)) x: a product with one side of the
 * diagonal, and a triangular solve.  The backward sweep after it wants b - L x_new, which needs no product, for the
 * solve has just made L x_new = y - d x_new, y its right-hand side (V. Conrad and Y. Wallach, Alternating methods for
 * sets of linear equations, Numer. Math. 32 (1979)).
 *
 * In device memory levr and elmr do product and solve in one kernel (kernels/trisolve/sweep_rows.h): fused. */
#include "smooth/sweeps.h"

/* The plan for (d + L) or (d + U), not analysed; a fused way takes its levels alone. */
static gable_status open_plan(const gi_sweeps *s, int d, gable_trisolve **plan)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  options.method = gi_method_name(s->way->one_pass ? GI_LEVR : s->method);
  options.uplo = d ? GABLE_PART_UPPER : GABLE_PART_LOWER;
  options.diag = GABLE_DIAG_SEPARATE;
  options.ops = GABLE_TRISOLVE_N;
  options.deadline_s = s->options.deadline_s;
  options.threads = s->options.threads;
  options.typical_rhs = s->options.max_rhs;
  options.solves = s->options.solves;
  return gi_trisolve_create(s->ctx, &options, plan);
}

static gable_status make_direction(const gi_sweeps *s, int d, gi_sweep_direction *to)
{
  gable_status status = GABLE_OK;
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  const gable_matrix_view view = gi_resident_csr_view(&s->rows);
  GI_TRY(open_plan(s, d, &to->plan));
  GI_TRY(gi_trisolve_analyse(to->plan, &view));
  GI_TRY(gi_trisolve_get_info(to->plan, GABLE_OP_N, &info));
  to->levels = info.levels;
  if (s->way->one_pass) GI_TRY(gi_level_order_make(to->plan, &to->rows));
  if (s->way->one_pass) to->levels = to->rows.levels;
done:
  return status;
}

static gable_status analyse(gi_sweeps *s, const gi_shape *shape, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gable_idx bad_row;
  void *p = NULL;
  GI_REQUIRE((gable_off)shape->n * s->options.max_rhs < GIK_NO_ROW, GABLE_ERR_LIMIT,
             "%d rows and %d right-hand sides at once are too many: give a smaller max_rhs", shape->n,
             s->options.max_rhs);
  GI_TRY(gi_resident_csr_init(s->ctx, shape, a, 1, &bad_row, &s->rows));
  s->in_place = s->rows.symmetric;
  s->nnz = s->rows.a.nnz;
  for (int d = 0; d < 2; d++)
    if (s->to[d].asked) GI_TRY(make_direction(s, d, &s->to[d]));
  GI_TRY(s->device->alloc(s->ctx, ((size_t)s->n + 1) * sizeof(double), &s->relaxed));
  GI_TRY(s->device->alloc(s->ctx, 2 * sizeof *s->fault, &p));
  s->fault = p;
  s->reads_back = s->device->in_host || s->rows.takes_host_values;
done:
  return status;
}

static gable_status update(gi_sweeps *s, const void *val)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = s->ctx;
  gable_idx row;
  GI_TRY(gi_resident_csr_update(ctx, &s->rows, val, s->stream));
  GI_TRY(s->device->fill(ctx, s->fault, GIK_NO_ROW_BYTE, 2 * sizeof *s->fault, s->stream));
  GI_KERNELS(ctx, s->rows.kernels->relax(&s->rows.a, s->options.omega, s->relaxed, s->fault, s->stream));
  if (s->reads_back) GI_TRY(gi_sweeps_find_fault(s, s->stream, &row));
  for (int d = 0; d < 2 && !s->way->one_pass; d++) {
    if (!s->to[d].plan) continue;
    s->to[d].plan->reads_back = s->reads_back;
    GI_TRY(gi_trisolve_update(s->to[d].plan, s->rows.val, s->relaxed));
  }
done:
  return status;
}

/* What the last update found wrong, unless it said so itself. */
static gable_status update_status(gable_smoother_work *w, gable_idx *row)
{
  gable_status status = GABLE_OK;
  *row = -1;
  if (w->s->reads_back) goto done;
  GI_TRY(gi_update_order_await(&w->s->order, &w->order));
  GI_TRY(gi_sweeps_find_fault(w->s, w->stream, row));
done:
  return status;
}

static gik_product product_of(const gi_sweep_job *j, gik_part part, const void *relaxed)
{
  const gi_sweep_run *r = &j->run;
  return (gik_product){.part = part,
                       .type = r->type,
                       .b = r->b,
                       .relaxed = relaxed,
                       .exact = j->s->options.omega == 1,
                       .x = j->zero ? NULL : r->x,
                       .y = j->w->y,
                       .b_step = r->b_step,
                       .x_step = r->x_step,
                       .b_rhs = r->b_rhs,
                       .x_rhs = r->x_rhs,
                       .count = r->count,
                       .threads = j->s->options.threads,
                       .stream = j->w->stream};
}

static gable_status norm(gi_sweep_job *j, double *norm)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = j->s;
  const gable_smoother_work *w = j->w;
  const gik_product p = product_of(j, GIK_WHOLE, NULL);
  GI_KERNELS(s->ctx, s->rows.kernels->product(&s->rows.a, &p));
  GI_KERNELS(s->ctx, s->rows.kernels->square(s->n * j->run.count, j->run.type, w->y, w->parts, norm, w->stream));
done:
  return status;
}

static gable_status split_work_init(gable_smoother_work *w)
{
  gable_status status = GABLE_OK;
  for (int d = 0; d < 2; d++)
    if (w->s->to[d].plan) GI_TRY(gi_work_create(w->s->to[d].plan, w->s->options.max_rhs, &w->to[d]));
done:
  return status;
}

static gable_vectors_view columns(const gi_sweep_job *j, void *data, ptrdiff_t step, ptrdiff_t rhs)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.type = j->run.type;
  v.space = j->s->device->space;
  v.n = j->s->n;
  v.count = j->run.count;
  v.major = step == 1 ? GABLE_MAJOR_COL : GABLE_MAJOR_ROW;
  v.ld = step != 1 ? step : rhs < v.n ? v.n : rhs; /* one dense column may have any rhs */
  v.data = data;
  return v;
}

static gable_status split(gi_sweep_job *j, int d)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = j->s;
  const int after = d && s->to[0].asked; /* y is still the right-hand side of the forward sweep */
  const gik_product p = product_of(j, d ? GIK_BELOW : GIK_ABOVE, s->relaxed);
  gable_vectors_view y = columns(j, j->w->y, 1, s->n), x = columns(j, j->run.x, j->run.x_step, j->run.x_rhs);
  GI_KERNELS(s->ctx, (after ? s->rows.kernels->return_rhs : s->rows.kernels->product)(&s->rows.a, &p));
  GI_TRY(gi_trisolve_solve(s->to[d].plan, j->w->to[d], GABLE_OP_N, &y, &x));
  j->zero = 0;
done:
  return status;
}

static gable_status split_status(gable_smoother_work *w, gable_idx *row)
{
  gable_status status = GABLE_OK;
  GI_TRY(update_status(w, row));
  for (int d = 0; d < 2; d++)
    if (w->to[d]) GI_TRY(gi_work_status(w->to[d], row));
done:
  return status;
}

/* Control and published values of the sweeps in one kernel, for each type of vectors that this matrix takes. */
static gable_status fused_work_init(gable_smoother_work *w)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = w->s;
  for (int k = s->value_type == GABLE_TYPE_D; k < 2; k++) {
    const gable_type type = k ? GABLE_TYPE_D : GABLE_TYPE_S;
    void *p = NULL;
    GI_TRY(s->device->alloc(s->ctx, sizeof *w->control[k], &p));
    w->control[k] = p;
    GI_TRY(s->device->alloc(s->ctx, (2 * (size_t)s->n + 1) * gi_type_size(type), &w->published[k]));
    GI_KERNELS(s->ctx, s->device->kernels->row_sweeps->prepare(w->control[k], w->published[k], s->n, type,
                                                               gi_own_stream(s->ctx)));
  }
  GI_TRY(s->device->synchronise(s->ctx, NULL));
done:
  return status;
}

static gable_status fused(gi_sweep_job *j, int d)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = j->s;
  const gable_smoother_work *w = j->w;
  const gi_sweep_run *r = &j->run;
  const gik_row_sweeps *kernels = s->device->kernels->row_sweeps;
  const gi_level_order *rows = &s->to[d].rows;
  const gik_sweep_order order = {d, rows->levels, rows->list, rows->start, rows->device_start};
  const int doubles = r->type == GABLE_TYPE_D;
  const gik_sweep sweep = {.type = r->type,
                           .b = r->b,
                           .old = s->in_place ? NULL : w->y,
                           .x = r->x,
                           .b_step = r->b_step,
                           .x_step = r->x_step,
                           .omega = s->options.omega,
                           .control = w->control[doubles],
                           .published = w->published[doubles],
                           .deadline_ns = (unsigned long long)(s->options.deadline_s * 1e9),
                           .stream = w->stream};
  if (sweep.old) GI_KERNELS(s->ctx, s->rows.kernels->copy(s->n, r->type, r->x, r->x_step, w->y, 1, w->stream));
  GI_KERNELS(s->ctx, (s->method == GI_LEVR ? kernels->levels : kernels->elements)(&s->rows.a, &order, &sweep));
done:
  return status;
}

static gable_status fused_status(gable_smoother_work *w, gable_idx *row)
{
  gable_status status = GABLE_OK;
  const gi_sweeps *s = w->s;
  GI_TRY(update_status(w, row));
  for (int k = 0; k < 2; k++) {
    gik_control c;
    if (!w->control[k]) continue;
    GI_TRY(s->device->copy_out(s->ctx, &c, w->control[k], sizeof c, w->stream));
    GI_TRY(s->device->synchronise(s->ctx, w->stream));
    if (c.fault_row < 0) continue;
    *row = c.fault_row;
    GI_KERNELS(s->ctx, s->device->kernels->row_sweeps->prepare(w->control[k], w->published[k], s->n,
                                                               k ? GABLE_TYPE_D : GABLE_TYPE_S, w->stream));
    GI_REQUIRE(0, GABLE_ERR_DEADLINE, "a sweep waited longer than %g s for row %d (counted from 0)",
               s->options.deadline_s, c.fault_row);
  }
done:
  return status;
}

/* relaxed and fault. */
static size_t diagonal_bytes(const gi_sweeps *s)
{
  return ((size_t)s->n + 1) * sizeof(double) + 2 * sizeof *s->fault;
}

static void add_bytes(const gi_sweeps *s, size_t *host, size_t *device)
{
  size_t *place = s->device->space == GABLE_SPACE_DEVICE ? device : host;
  *place += gi_resident_csr_bytes(&s->rows) + diagonal_bytes(s);
  for (int d = 0; d < 2; d++) {
    const gi_level_order *rows = &s->to[d].rows;
    gable_trisolve_info plan = GABLE_TRISOLVE_INFO_INIT;
    if (!s->to[d].plan) continue;
    (void)gi_trisolve_get_info(s->to[d].plan, GABLE_OP_N, &plan);
    *host += plan.plan_bytes_host;
    *device += plan.plan_bytes_device;
    if (rows->list) gi_level_order_add_bytes(s->n, rows->levels, host, device);
  }
}

/* The bound of a plan on a CPU is concave in its entries, so two are largest where each has half of them. */
static gable_status add_bound(const gi_sweeps *s, gable_off nnz, size_t *host, size_t *device)
{
  gable_status status = GABLE_OK;
  gable_trisolve *plan = NULL;
  const int far = s->device->space == GABLE_SPACE_DEVICE;
  const gable_off own = s->to[0].asked && s->to[1].asked && !far ? (nnz + 1) / 2 : nnz;
  *(far ? device : host) += gi_resident_csr_bound(s->n, nnz, s->value_type) + diagonal_bytes(s);
  for (int d = 0; d < 2; d++) {
    size_t plan_host = 0, plan_device = 0;
    if (!s->to[d].asked) continue;
    GI_TRY(open_plan(s, d, &plan));
    GI_TRY(gi_trisolve_plan_bound(plan, s->n, own, s->value_type, &plan_host, &plan_device));
    *host += plan_host;
    *device += plan_device;
    gi_trisolve_destroy(&plan);
    if (s->way->one_pass) gi_level_order_add_bytes(s->n, s->n, host, device);
  }
done:
  gi_trisolve_destroy(&plan);
  return status;
}

const gi_sweep_way gi_sweep_split = {0,     0,    analyse,      update,    split_work_init,
                                     split, norm, split_status, add_bytes, add_bound};
const gi_sweep_way gi_sweep_fused = {1,     0,    analyse,      update,    fused_work_init,
                                     fused, norm, fused_status, add_bytes, add_bound};
