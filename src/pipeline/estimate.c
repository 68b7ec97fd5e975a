/* estimate.c: condition and forward errors, from a few solves where the factor is. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "device/arena.h"
#include "krylov/condition.h"
#include "pipeline/attempts.h"
#include "pipeline/work.h"
#include "sparse/vectors.h"

static gable_status check_matrix(const gable_solver *s)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(gi_pipeline_has_matrix(s), GABLE_ERR_STATE, "the factors were imported without their matrix");
done:
  return status;
}

/* A factor with replaced pivots alone has the inverse of another matrix, and so has one of floats where rcond is below
 * their rounding, one that has grown or was judged bad, and one from elsewhere, which may be incomplete. */
static int needs_corrections(const gable_solver *s)
{
  const gi_factor *f = s->factor;
  if (s->arrangement.matched == GI_ROWS_IMPORTED) return 1;
  return f && (f->perturbed || f->type == GABLE_TYPE_S || s->drift || gi_attempt_has_grown(f));
}

/* The inverse of a nearly singular matrix is found as large as the solves are accurate: to this tolerance at least. */
static const double ACCURATE = 1e-12;

enum { MOST_CORRECTIONS = 20 };

/* Corrected by refinement, whatever solves are to do. */
static gable_status corrected_inverse(void *user, gable_op op, gable_idx count, const double *b, double *x)
{
  gable_status status = GABLE_OK;
  gable_solver_work *w = user;
  const gable_idx n = w->solver->problem.n;
  const gi_refine_options how = {.max_steps = MOST_CORRECTIONS,
                                 .max_gmres = w->restart,
                                 .tolerance = fmin(ACCURATE, gi_pipeline_tolerance(w->solver, GABLE_TYPE_D))};
  gi_refine_result result;
  for (gable_idx j = 0; j < count; j++) {
    memcpy(w->b, b + (gable_off)j * n, (size_t)n * sizeof *w->b); /* x may be b */
    GI_TRY(gi_pipeline_refines(w->solver, w, op, w->b, x + (gable_off)j * n, &how, &result));
    w->missed |= !(result.backward_error <= how.tolerance);
  }
done:
  return status;
}

/* ---- on the device ---- */

/* Vectors of one estimate there. */
struct gi_estimate_room {
  gi_arena arena;
  double *work;       /* [2n] of the norm */
  double *r, *weight; /* [n] */
  gik_refine_column *column;
  gik_refine_control *control;
  gik_estimate *state;               /* zeroed */
  gi_device_refinement *corrections; /* where solves refine little or not at all; NULL: not needed so far */
};

gable_status gi_estimate_room_create(gable_context *ctx, gable_idx n, gi_estimate_room **out)
{
  gable_status status = GABLE_OK;
  const size_t vector = (size_t)n * sizeof(double) + 1;
  gi_estimate_room *m = NULL;
  GI_ALLOC_ZERO(ctx, m, 1);
  m->arena = gi_arena_of(ctx);
  const struct {
    size_t bytes;
    void *to;
  } part[] = {{2 * vector, &m->work},
              {vector, &m->r},
              {vector, &m->weight},
              {GIK_REFINE_COLUMNS * sizeof *m->column, &m->column},
              {sizeof *m->control, &m->control},
              {sizeof *m->state, &m->state}};
  for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
    void *p = NULL;
    GI_TRY(gi_arena_take(&m->arena, part[k].bytes, &p));
    memcpy(part[k].to, &p, sizeof p);
  }
  GI_TRY(ctx->device->fill(ctx, m->state, 0, sizeof *m->state, NULL));
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* estimates may run on other streams */
  *out = m;
  m = NULL;
done:
  gi_estimate_room_destroy(ctx, &m);
  return status;
}

void gi_estimate_room_destroy(gable_context *ctx, gi_estimate_room **room)
{
  gi_estimate_room *m = room ? *room : NULL;
  if (!m) return;
  *room = NULL;
  gi_device_refinement_destroy(ctx, &m->corrections);
  gi_arena_release(&m->arena);
  gi_free(ctx, m);
}

static gi_estimate_place place_of(const gable_solver_work *w)
{
  gable_context *ctx = w->ctx;
  return (gi_estimate_place){
      .ctx = ctx, .device = ctx->device, .state = w->estimate->state, .stream = gi_stream_of(ctx, w->stream)};
}

/* Between enter and leave the calling thread may launch kernels on device memory. */
static gable_status enter(gable_context *ctx, int *before)
{
  *before = GI_NOT_ENTERED;
  gi_kernels_begin(ctx);
  return ctx->device->enter(ctx, before);
}

/* Waits for w's stream.  status: what the estimate has come to; returned if no sweep missed a value. */
static gable_status leave(gable_solver_work *w, int before, gable_status status)
{
  gable_context *ctx = w->ctx;
  const gable_status found = gi_device_sweep_check(ctx, w->device, w->stream);
  ctx->device->leave(ctx, before);
  gi_kernels_end(ctx);
  return status ? status : found;
}

static gable_vectors_view column_there(gable_idx n, const double *data)
{
  return gi_columns_view(GABLE_SPACE_DEVICE, n, 1, data, 0);
}

static gable_status inverse_there(void *user, gable_op op, gable_idx count, const double *b, double *x)
{
  const gable_solver_work *w = user;
  const gable_vectors_view from = column_there(w->n, b), to = column_there(w->n, x);
  (void)count; /* 1 */
  return gi_device_sweep_solve(w->solver->device, w->device, op, GI_SOLVE_ALL, &from, &to, w->stream);
}

/* Solves with refine_steps 0 have no room for GMRES, and unchecked ones none for corrections. */
static int needs_own_room(const gable_solver *s)
{
  return needs_corrections(s) && !s->options.refine_steps;
}

/* The work's own, without a recording: the host looks after each correction, for it waits anyway. */
static gable_status make_corrections(const gable_solver *s, gable_solver_work *w)
{
  gable_status status = GABLE_OK;
  const gi_device_problem at = {w->ctx, s->device, s->device_matrix, w->device};
  if (!needs_own_room(s) || w->estimate->corrections) goto done;
  const gi_device_refinement_form form = {.columns = 1, .loops = 1, .restart = w->restart};
  GI_TRY(gi_device_refinement_create(&at, &form, &w->estimate->corrections));
done:
  return status;
}

static gi_device_refinement *corrections_of(const gable_solver *s, const gable_solver_work *w)
{
  return needs_own_room(s) ? w->estimate->corrections : w->device_refinement;
}

static gable_status corrected_inverse_there(void *user, gable_op op, gable_idx count, const double *b, double *x)
{
  const gable_solver_work *w = user;
  const gable_solver *s = w->solver;
  const gable_vectors_view from = column_there(w->n, b), to = column_there(w->n, x);
  const double tolerance = fmin(ACCURATE, gi_pipeline_tolerance(s, GABLE_TYPE_D));
  const gi_device_refine_options how = {.tolerance = tolerance,
                                        .required = tolerance,
                                        .max_steps = MOST_CORRECTIONS,
                                        .max_gmres = w->restart,
                                        .report = GI_REPORT_ESTIMATE};
  (void)count; /* 1 */
  return gi_device_solve(corrections_of(s, w), op, &how, &from, &to, w->stream);
}

/* Whether one of them missed its tolerance since the last look. */
static gable_status look_at_corrections(const gable_solver *s, gable_solver_work *w)
{
  gable_status status = GABLE_OK;
  gik_refine_summary found;
  if (!needs_corrections(s)) goto done;
  GI_TRY(gi_device_refinement_look(corrections_of(s, w), GI_REPORT_ESTIMATE, w->stream, &found));
  w->missed = !(found.backward <= found.required);
done:
  return status;
}

static gi_near_inverse near_inverse_there(const gable_solver *s)
{
  return needs_corrections(s) ? corrected_inverse_there : inverse_there;
}

static gable_status inverse_norm_there(const gable_solver *s, gable_solver_work *w, double enough, double *norm)
{
  gable_status status = GABLE_OK;
  const gi_estimate_place at = place_of(w);
  const gi_inverse of = {.n = w->n, .op = GABLE_OP_N, .inverse = near_inverse_there(s), .user = w, .enough = enough};
  int before;
  GI_TRY(enter(w->ctx, &before));
  if (needs_corrections(s)) gi_device_refinement_forget(corrections_of(s, w), GI_REPORT_ESTIMATE, w->stream);
  GI_TRY(gi_inverse_norm(&at, &of, w->estimate->work, norm));
  GI_TRY(look_at_corrections(s, w));
done:
  return leave(w, before, status);
}

/* Column 0 of v in device memory: of a v in host memory a copy at staged [n]. */
static gable_status bring(gable_solver_work *w, const gable_vectors_view *v, double *staged, gik_refine_outside *out)
{
  gable_status status = GABLE_OK;
  *out = (gik_refine_outside){v->type, v->data, v->major == GABLE_MAJOR_COL ? 1 : v->ld, 0};
  if (v->space == GABLE_SPACE_DEVICE) goto done;
  gi_work_copy_in(v, 0, 1, w->b);
  *out = (gik_refine_outside){GABLE_TYPE_D, staged, 1, 0};
  if (w->n) GI_TRY(w->ctx->device->copy_in(w->ctx, staged, w->b, (size_t)w->n * sizeof *w->b, w->stream));
  GI_TRY(w->ctx->device->synchronise(w->ctx, w->stream)); /* w->b is used again */
done:
  return status;
}

/* estimate->r = the vector f of the bound, *norm_x = ||x||_inf. */
static gable_status weigh_there(const gable_solver *s, gable_solver_work *w, gable_op op, double slack,
                                const gi_vectors_pair *v, double *norm_x)
{
  gable_status status = GABLE_OK;
  const gi_device_sweep *sweep = w->device;
  const gi_estimate_room *m = w->estimate;
  const gi_estimate_place at = place_of(w);
  const gik_kernels *kernels = at.device->kernels;
  const gik_refine_steps *steps = kernels->refine_steps;
  gik_refine f = {.a = gi_device_matrix_of(s->device_matrix, op),
                  .count = 1,
                  .b = sweep->x,
                  .x = sweep->x,
                  .r = m->r,
                  .weight = m->weight,
                  .column = m->column,
                  .control = m->control};
  gik_refine_outside b, x;
  gik_estimate found;
  GI_TRY(bring(w, &v->x, m->work, &x));
  GI_TRY(bring(w, &v->b, m->work + w->n, &b));
  GI_TRY(steps->load(&f, &x, at.stream));
  f.b = sweep->b;
  GI_TRY(steps->load(&f, &b, at.stream));
  GI_TRY(steps->residual(&f, at.stream));
  GI_TRY(kernels->estimate_steps->bound(w->n, slack, m->weight, sweep->b, m->r, at.stream));
  GI_TRY(kernels->estimate_steps->largest(w->n, sweep->x, -1, at.state, at.stream));
  GI_TRY(gi_estimate_look(&at, &found));
  *norm_x = found.largest;
done:
  return status;
}

static gable_status forward_norms_there(const gable_solver *s, gable_solver_work *w, gable_op op, double slack,
                                        const gi_vectors_pair *v, double *norm, double *norm_x)
{
  gable_status status = GABLE_OK;
  const gi_estimate_place at = place_of(w);
  const gi_inverse of = {.n = w->n,
                         .op = op == GABLE_OP_N ? GABLE_OP_T : GABLE_OP_N,
                         .d = w->estimate->r,
                         .inverse = near_inverse_there(s),
                         .user = w};
  int before;
  GI_TRY(enter(w->ctx, &before));
  GI_TRY(weigh_there(s, w, op, slack, v, norm_x));
  GI_TRY(gi_inverse_norm(&at, &of, w->estimate->work, norm));
done:
  return leave(w, before, status);
}

/* ---- on the CPU ---- */

static gi_near_inverse near_inverse_here(const gable_solver *s)
{
  return needs_corrections(s) ? corrected_inverse : gi_work_near_inverse;
}

static gable_status inverse_norm_here(const gable_solver *s, gable_solver_work *w, double enough, double *norm)
{
  gik_estimate state;
  const gi_estimate_place at = gi_estimate_on_host(w->ctx, &state);
  const gi_inverse of = {.n = w->n, .op = GABLE_OP_N, .inverse = near_inverse_here(s), .user = w, .enough = enough};
  return gi_inverse_norm(&at, &of, w->scratch, norm);
}

static gable_status forward_norms_here(const gable_solver *s, gable_solver_work *w, gable_op op, double slack,
                                       const gi_vectors_pair *v, double *norm, double *norm_x)
{
  gable_status status = GABLE_OK;
  const gable_off n = w->n;
  const gi_system a = gi_problem_system(&s->problem, s->ctx->threads);
  double *f = w->scratch + 2 * n, *weight = w->scratch + 3 * n;
  gik_estimate state;
  const gi_estimate_place at = gi_estimate_on_host(w->ctx, &state);
  const gi_inverse of = {
      .n = w->n, .op = op == GABLE_OP_N ? GABLE_OP_T : GABLE_OP_N, .d = f, .inverse = near_inverse_here(s), .user = w};
  gi_work_copy_in(&v->b, 0, 1, w->b);
  gi_work_copy_in(&v->x, 0, 1, w->x);
  gi_backward_error(&a, op, w->b, w->x, f, weight);
  *norm_x = 0;
  for (gable_idx i = 0; i < n; i++) {
    f[i] = fabs(f[i]) + slack * weight[i];
    *norm_x = fmax(*norm_x, fabs(w->x[i]));
  }
  GI_TRY(gi_inverse_norm(&at, &of, w->scratch, norm));
done:
  return status;
}

/* ---- where the factor is ---- */

/* *rcond: an upper bound, within a factor of 3 as a rule; one below bar may be larger.  NaN: a solve missed its
 * tolerance, so the inverse may be larger than it says. */
static gable_status rcond_above(const gable_solver *s, gable_solver_work *w, double bar, double *rcond)
{
  gable_status status = GABLE_OK;
  double norm = 0, inverse_norm;
  int empty = 0;
  GI_TRY(gi_work_check(s, w));
  GI_TRY(check_matrix(s));
  *rcond = NAN;
  if (s->other_values) goto done;
  const gi_system a = gi_problem_system(&s->problem, s->ctx->threads);
  for (gable_idx j = 0; j < a.n; j++) {
    norm = fmax(norm, a.col_sum[j]);
    empty |= a.row_sum[j] == 0 || a.col_sum[j] == 0;
  }
  if (empty) { /* no correction finds that */
    *rcond = 0;
    goto done;
  }
  if (w->device) GI_TRY(make_corrections(s, w));
  w->missed = 0;
  const double enough = bar > 0 && norm > 0 ? 1 / norm / bar : 0;
  GI_TRY((w->device ? inverse_norm_there : inverse_norm_here)(s, w, isfinite(enough) ? enough : 0, &inverse_norm));
  *rcond = !a.n ? 1 : isfinite(inverse_norm) ? 1 / norm / inverse_norm : 0;
  if (w->missed && *rcond >= DBL_EPSILON) *rcond = NAN;
done:
  return status;
}

gable_status gi_pipeline_rcond(const gable_solver *s, gable_solver_work *w, double *rcond)
{
  return rcond_above(s, w, 0, rcond);
}

gable_status gi_pipeline_find_singular(gable_solver *s)
{
  gable_status status = GABLE_OK;
  gable_solver_work *w = NULL;
  double rcond;
  /* The verdict is on solves to the caller's tolerance. */
  const int may_stall =
      s->verdict.gmres || !s->options.refine_steps || gi_pipeline_tolerance(s, GABLE_TYPE_D) > ACCURATE;
  s->singular = 0;
  if (!s->factor || !s->factor->perturbed || s->other_values || !gi_pipeline_has_matrix(s)) goto done;
  GI_TRY(gi_pipeline_work_create(s, 1, may_stall ? GI_GMRES_RESTART : 0, 0, &w));
  /* An error shall tell the best estimate. */
  GI_TRY(rcond_above(s, w, s->options.strict ? 0 : DBL_EPSILON / 2, &rcond));
  s->singular = rcond < DBL_EPSILON;
  GI_REQUIRE(!s->singular || !s->options.strict, GABLE_ERR_SINGULAR,
             "the matrix is numerically singular: %lld pivots were replaced, rcond is %.1e",
             (long long)s->factor->perturbed, rcond);
  GI_REQUIRE(
      !isnan(rcond) || !s->options.strict, GABLE_ERR_SINGULAR,
      "the matrix may be numerically singular: %lld pivots were replaced, and no solve with the factor is accurate "
      "enough to tell rcond",
      (long long)s->factor->perturbed);
done:
  gi_pipeline_work_destroy(&w);
  return status;
}

/* || |A^-1| f ||_inf / ||x||_inf with f = |r| + (n_i + 1) eps (|A||x| + |b|), n_i entries in row i: LAPACK's bound. */
gable_status gi_pipeline_forward_error(const gable_solver *s, gable_solver_work *w, gable_op op,
                                       const gable_vectors_view *b, const gable_vectors_view *x, double *forward_error)
{
  gable_status status = GABLE_OK;
  double norm_x, norm, longest = 1;
  gi_vectors_pair v;
  GI_TRY(gi_work_take_vectors(s, w, b, x, GI_VECTORS_READ, &v));
  GI_TRY(check_matrix(s));
  GI_REQUIRE(b->count == 1, GABLE_ERR_ARGUMENT, "%d columns: forward errors are estimated one at a time", b->count);
  *forward_error = NAN;
  if (s->other_values) goto done;
  const gable_off *ptr = s->problem.rows.ptr;
  if (w->device) GI_TRY(make_corrections(s, w));
  for (gable_idx i = 0; i < s->problem.n; i++) longest = fmax(longest, (double)(ptr[i + 1] - ptr[i] + 1));
  GI_TRY((w->device ? forward_norms_there : forward_norms_here)(s, w, op, longest * DBL_EPSILON, &v, &norm, &norm_x));
  *forward_error = norm_x > 0 ? norm / norm_x : norm;
done:
  return status;
}
