/* device_solve.c: the sequence of launches of a refined solve.
 *
 *   load | recorded: sweep, residual, judge | while columns go on: a correction | GMRES, column by column | finish
 *   (the sweep of a method that calls a library for each block comes before what is recorded)
 *
 * load and finish know the caller's vectors; what is between them knows the work's alone, so that it is recorded once
 * for each op and width (device/loop.h).  Vectors in host memory go by way of X. */
#include "pipeline/device_solve.h"

#include <string.h>

#include "device/device.h"
#include "device/loop.h"
#include "kernels/supernodal/cluster_steps.h"
#include "krylov/iteration.h"
#include "sparse/vectors.h"

/* Solves of one op for up to count columns: what its recording captures. */
typedef struct course {
  gi_device_refinement *work;
  gable_op op;
  gable_idx count;
  gik_refine_matrix matrix; /* at the time */
  gi_recording *recording;
} course;

enum { WIDTHS = 4 }; /* 1, 4, 16 and all columns, as the products of a sweep have them */

struct gi_device_refinement {
  gi_device_problem at;
  gable_idx n, columns;
  int loops; /* as in the form */
  const gik_refine_steps *steps;
  double *r, *weight, *old; /* [columns * n] */
  gik_refine_column *column;
  gik_refine_summary *summary[GI_REFINE_REPORTS];
  gik_refine_control *control;
  gi_krylov_vectors gmres; /* zeroed: none */
  double *direction;       /* [n] of GMRES */
  course course[2][WIDTHS];
};

static gable_off element_step(const gable_vectors_view *v, int columns)
{
  return (v->major == GABLE_MAJOR_COL) == columns ? v->ld : 1;
}

static gik_refine_outside outside_of(const gable_vectors_view *v, gable_idx first)
{
  const gable_off size = v->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double), step = element_step(v, 1);
  return (gik_refine_outside){v->type, (char *)v->data + first * step * size, element_step(v, 0), step};
}

static gable_vectors_view dense(gable_idx n, gable_idx count, const double *data)
{
  return gi_columns_view(GABLE_SPACE_DEVICE, n, count, data, 0);
}

static gik_refine refine_of(const course *c)
{
  const gi_device_refinement *w = c->work;
  return (gik_refine){.a = gi_device_matrix_of(w->at.matrix, c->op),
                      .count = c->count,
                      .b = w->at.sweep->b,
                      .x = w->at.sweep->x,
                      .r = w->r,
                      .weight = w->weight,
                      .old = w->old,
                      .column = w->column,
                      .control = w->control};
}

/* to = op(A)^-1 from by the factor alone. */
static gable_status sweep_columns(const course *c, gi_device_solve_function *solve, gable_idx count, double *from,
                                  double *to, void *stream)
{
  const gi_device_problem *at = &c->work->at;
  const gable_vectors_view b = dense(c->work->n, count, from), x = dense(c->work->n, count, to);
  return solve(at->factor, at->sweep, c->op, GI_SOLVE_ALL, &b, &x, stream);
}

/* ---- GMRES ---- */

static gik_refine_gmres gmres_on(gi_device_refinement *w, void *stream)
{
  gik_refine_gmres g = {w->gmres.k, w->gmres.q, w->gmres.z, w->direction, w->gmres.step};
  g.krylov.stream = stream;
  return g;
}

/* One iteration. */
static gable_status enlarge_basis(void *user, void *stream)
{
  gable_status status = GABLE_OK;
  const course *c = user;
  gi_device_refinement *w = c->work;
  const gik_refine r = refine_of(c);
  const gik_refine_gmres g = gmres_on(w, stream);
  GI_TRY(w->steps->direct(&r, &g, stream));
  GI_TRY(sweep_columns(c, gi_device_sweep_correct, 1, w->direction, w->direction, stream));
  GI_TRY(w->steps->product(&r, &g, stream));
  GI_TRY(gi_gmres_orthogonalise(w->gmres.steps, &g.krylov, &g.q, g.q.restart, w->gmres.step));
done:
  return status;
}

/* A restart, with new weights. */
static gable_status one_cycle(void *user, void *stream)
{
  gable_status status = GABLE_OK;
  const course *c = user;
  gi_device_refinement *w = c->work;
  const gik_krylov_steps *vectors = w->gmres.steps;
  const gik_refine r = refine_of(c);
  const gik_refine_gmres g = gmres_on(w, stream);
  GI_TRY(w->steps->residual(&r, stream));
  GI_TRY(w->steps->weigh(&r, &g, stream));
  GI_TRY(vectors->measure(&g.krylov, g.q.basis));
  GI_TRY(w->steps->aim(&r, &g, stream));
  GI_TRY(vectors->cycle(&g.krylov, &g.q));
  GI_TRY(gi_loop(w->at.ctx, stream, &g.krylov.state->cycling, enlarge_basis, user));
  GI_TRY(vectors->combine(&g.krylov, &g.q, g.z, g.step, NULL));
  GI_TRY(w->steps->accept(&r, &g, stream));
  GI_TRY(w->steps->residual(&r, stream));
  GI_TRY(w->steps->judge(&r, stream));
  GI_TRY(w->steps->pick(&r, stream));
done:
  return status;
}

/* One correction of the columns that go on. */
static gable_status correct_once(void *user, void *stream)
{
  gable_status status = GABLE_OK;
  const course *c = user;
  gi_device_refinement *w = c->work;
  const gik_refine r = refine_of(c);
  GI_TRY(sweep_columns(c, gi_device_sweep_correct, c->count, r.r, r.r, stream));
  GI_TRY(w->steps->correct(&r, stream));
  GI_TRY(w->steps->residual(&r, stream));
  GI_TRY(w->steps->judge(&r, stream));
done:
  return status;
}

/* ---- a solve between load and finish ---- */

static gable_status sweep_first(const course *c, void *stream)
{
  const gi_device_sweep *at = c->work->at.sweep;
  return sweep_columns(c, gi_device_sweep_solve, c->count, at->b, at->x, stream);
}

static gable_status refine(void *user, void *stream)
{
  gable_status status = GABLE_OK;
  const course *c = user;
  gi_device_refinement *w = c->work;
  const gik_refine r = refine_of(c);
  GI_TRY(w->steps->residual(&r, stream));
  GI_TRY(w->steps->judge(&r, stream));
  if (!w->loops) goto done;
  GI_TRY(gi_loop(w->at.ctx, stream, &w->control->active, correct_once, user));
  if (!w->gmres.ctx) goto done;
  GI_TRY(w->steps->pick(&r, stream));
  GI_TRY(gi_loop(w->at.ctx, stream, &w->control->going, one_cycle, user));
done:
  return status;
}

static gable_status sweep_and_refine(void *user, void *stream)
{
  const gable_status status = sweep_first(user, stream);
  return status ? status : refine(user, stream);
}

static gable_status take(const gi_device_problem *at, size_t bytes, void *out)
{
  gable_status status = GABLE_OK;
  void *p = NULL;
  GI_TRY(at->ctx->device->alloc(at->ctx, bytes + 1, &p));
  memcpy(out, &p, sizeof p);
done:
  return status;
}

static gable_status take_gmres(gi_device_refinement *w, gable_idx restart)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = w->at.ctx;
  const gable_idx most = restart < w->n + 1 ? restart : w->n + 1;
  if (!restart) goto done;
  GI_TRY(gi_krylov_vectors_init(ctx, ctx->device, w->n, most, 1, ctx->threads, &w->gmres));
  GI_TRY(take(&w->at, (size_t)w->n * sizeof *w->direction, &w->direction));
done:
  return status;
}

static gable_status record(gi_device_refinement *w, int recorded)
{
  gable_status status = GABLE_OK;
  static const gable_idx WIDTH[WIDTHS - 1] = {1, 4, GIK_CLUSTER_MOST_RHS};
  const int has_calls = gi_device_factor_has_calls(w->at.factor); /* too many to record */
  gable_idx width[WIDTHS];
  for (int k = 0; k < WIDTHS; k++) width[k] = k + 1 < WIDTHS && WIDTH[k] < w->columns ? WIDTH[k] : w->columns;
  for (int op = 0; op < 2; op++)
    for (int k = 0; k < WIDTHS; k++) {
      course *c = &w->course[op][k];
      *c = (course){w, (gable_op)op, width[k], gi_device_matrix_of(w->at.matrix, (gable_op)op), NULL};
      if (recorded && (!k || width[k] > width[k - 1]))
        GI_TRY(gi_recording_create(w->at.ctx, has_calls ? refine : sweep_and_refine, c, &c->recording));
    }
done:
  return status;
}

/* ---- the work ---- */

gable_status gi_device_refinement_create(const gi_device_problem *problem, const gi_device_refinement_form *form,
                                         gi_device_refinement **out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = problem->ctx;
  const gi_device *device = ctx->device;
  gi_device_refinement *w = NULL;
  GI_ALLOC_ZERO(ctx, w, 1);
  w->at = *problem;
  w->n = problem->factor->n;
  w->columns = form->columns;
  w->loops = form->loops;
  w->steps = device->kernels->refine_steps;
  double **const vectors[] = {&w->r, &w->weight, &w->old};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    GI_TRY(take(problem, (size_t)w->n * (size_t)w->columns * sizeof(double), vectors[k]));
  GI_TRY(take(problem, GIK_REFINE_COLUMNS * sizeof *w->column, &w->column));
  for (int k = 0; k < GI_REFINE_REPORTS; k++) {
    GI_TRY(take(problem, sizeof **w->summary, &w->summary[k]));
    GI_TRY(device->fill(ctx, w->summary[k], 0, sizeof **w->summary, NULL));
  }
  GI_TRY(take(problem, sizeof *w->control, &w->control));
  GI_TRY(take_gmres(w, form->restart));
  GI_TRY(record(w, form->recorded));
  GI_TRY(device->synchronise(ctx, NULL)); /* solves may run on other streams */
  *out = w;
  w = NULL;
done:
  gi_device_refinement_destroy(ctx, &w);
  return status;
}

void gi_device_refinement_destroy(gable_context *ctx, gi_device_refinement **work)
{
  gi_device_refinement *w = work ? *work : NULL;
  if (!w) return;
  *work = NULL;
  for (int k = 0; k < 2 * WIDTHS; k++) gi_recording_destroy(ctx, &w->course[k / WIDTHS][k % WIDTHS].recording);
  gi_krylov_vectors_release(&w->gmres);
  void *const own[] = {w->r, w->weight, w->old, w->column, w->control, w->direction};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) ctx->device->release(ctx, own[k]);
  for (int k = 0; k < GI_REFINE_REPORTS; k++) ctx->device->release(ctx, w->summary[k]);
  gi_free(ctx, w);
}

/* ---- one solve ---- */

static const course *course_for(const gi_device_refinement *w, gable_op op, gable_idx count)
{
  const course *c = w->course[op];
  while (c->count < count) c++;
  return c;
}

/* Columns of b and x in device memory, the first of which is the caller's number first. */
typedef struct columns {
  gik_refine_outside b, x;
  gable_idx first, count;
} columns;

static gable_status solve_columns(const course *c, const gi_device_refine_options *how, const columns *v, void *stream)
{
  gable_status status = GABLE_OK;
  const gik_refine_steps *steps = c->work->steps;
  gik_refine r = refine_of(c);
  r.count = v->count;
  r.tolerance = how->tolerance;
  r.max_steps = how->max_steps;
  r.max_gmres = how->max_gmres;
  r.required = how->required;
  r.summary = c->work->summary[how->report];
  GI_REQUIRE(c->matrix.val == r.a.val, GABLE_ERR_STATE,
             "the matrix has moved on the device since this work was made: make a new one");
  GI_TRY(steps->load(&r, &v->b, stream));
  if (!c->recording || gi_device_factor_has_calls(c->work->at.factor)) GI_TRY(sweep_first(c, stream));
  if (c->recording)
    GI_TRY(gi_recording_play(c->recording, stream));
  else
    GI_TRY(refine((void *)(uintptr_t)c, stream));
  if (how->to_float) {
    GI_TRY(steps->round(&r, stream));
    GI_TRY(steps->residual(&r, stream));
    GI_TRY(steps->judge(&r, stream));
  }
  GI_TRY(steps->finish(&r, &v->x, v->first, stream));
done:
  return status;
}

/* The kernels of one group of columns. */
static gable_status enter_and_solve(const course *c, const gi_device_refine_options *how, const columns *v,
                                    void *stream)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = c->work->at.ctx;
  int before = GI_NOT_ENTERED;
  GI_TRY(ctx->device->enter(ctx, &before));
  gi_kernels_begin(ctx);
  status = solve_columns(c, how, v, gi_stream_of(ctx, stream));
  gi_kernels_end(ctx);
done:
  ctx->device->leave(ctx, before);
  return status;
}

gable_status gi_device_solve(gi_device_refinement *w, gable_op op, const gi_device_refine_options *how,
                             const gable_vectors_view *b, const gable_vectors_view *x, void *stream)
{
  gable_status status = GABLE_OK;
  for (gable_idx first = 0; first < b->count; first += w->columns) {
    const gable_idx count = b->count - first < w->columns ? b->count - first : w->columns;
    const columns v = {outside_of(b, first), outside_of(x, first), first, count};
    GI_TRY(enter_and_solve(course_for(w, op, count), how, &v, stream));
  }
done:
  return status;
}

gable_status gi_device_solve_host(gi_device_refinement *w, gable_op op, const gi_device_refine_options *how,
                                  const gi_host_columns *v, void *stream)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = w->at.ctx;
  gi_device_sweep *sweep = w->at.sweep;
  const gable_vectors_view there = dense(w->n, v->count, sweep->x);
  const columns staged = {outside_of(&there, 0), outside_of(&there, 0), v->first, v->count};
  GI_TRY(gi_host_columns_up(ctx, v, w->n, sweep->x, stream));
  GI_TRY(enter_and_solve(course_for(w, op, v->count), how, &staged, stream));
  GI_TRY(gi_host_columns_down(ctx, v, w->n, sweep->x, stream));
  GI_TRY(gi_device_sweep_check(ctx, sweep, stream));
done:
  if (status) gi_device_refinement_forget(w, how->report, stream);
  return status;
}

void gi_device_refinement_forget(gi_device_refinement *w, gi_refine_report report, void *stream)
{
  gable_context *ctx = w->at.ctx;
  (void)ctx->device->fill(ctx, w->summary[report], 0, sizeof **w->summary, stream);
}

gable_status gi_device_refinement_look(gi_device_refinement *w, gi_refine_report report, void *stream,
                                       gik_refine_summary *out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = w->at.ctx;
  GI_TRY(ctx->device->copy_out(ctx, out, w->summary[report], sizeof *out, stream));
  GI_TRY(ctx->device->synchronise(ctx, stream));
  GI_TRY(ctx->device->fill(ctx, w->summary[report], 0, sizeof *out, stream));
done:
  return status;
}
