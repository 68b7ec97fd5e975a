/* solve.c: sweeps with the factor, refined against the matrix as it was given. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timer.h"
#include "krylov/condition.h"
#include "pipeline/pipeline.h"
#include "sparse/vectors.h"

enum { MOST_GMRES = 5 * GI_GMRES_RESTART }; /* iterations a column */

/* 1: rows and columns of A' are numbered alike. */
static int one_order(const gable_solver *s)
{
  const gi_arrangement *a = &s->arrangement;
  return !memcmp(a->row_perm, a->col_perm, (size_t)s->problem.n * sizeof *a->row_perm);
}

static void find_places(const gable_solver *s, gable_solver_work *w)
{
  const gi_arrangement *a = &s->arrangement;
  const gable_idx n = s->problem.n;
  for (gable_idx k = 0; k < n; k++) w->row_place[a->row_perm[k]] = k;
  w->col_place = one_order(s) ? w->row_place : w->own_col_place;
  if (w->col_place == w->row_place) return;
  for (gable_idx k = 0; k < n; k++) w->col_place[a->col_perm[k]] = k;
}

/* The places; those of columns for an LU whose matching may change with the values, too. */
static gable_status take_places(const gable_solver *s, gable_solver_work *w)
{
  gable_status status = GABLE_OK;
  GI_ALLOC(w->ctx, w->row_place, s->problem.n);
  if (s->arrangement.method == GABLE_METHOD_LU || !one_order(s)) GI_ALLOC(w->ctx, w->own_col_place, s->problem.n);
  find_places(s, w);
done:
  return status;
}

/* Corrections that a solve on a device enqueues, negative: it loops there.  What cuBLAS launches may not stand in a
 * loop. */
static int unrolled_steps(const gable_solver *s)
{
  enum { FEW = 2 };
  const int steps = s->options.refine_steps;
  if (s->options.solve_method != GABLE_SOLVE_LEVELS) return steps ? -1 : 0;
  return steps < 0 ? FEW : steps;
}

gable_status gi_pipeline_work_create(const gable_solver *s, gable_idx max_rhs, gable_idx restart, int on_device,
                                     gable_solver_work **out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = s->ctx;
  gable_solver_work *w = NULL;
  gable_off n = s->problem.n;
  GI_REQUIRE(s->phase != GI_PHASE_EMPTY, GABLE_ERR_STATE, "nothing was analysed: call gable_solver_analyse first");
  GI_ALLOC_ZERO(ctx, w, 1);
  w->ctx = ctx;
  w->solver = s;
  w->n = s->problem.n;
  w->structure = s->structure;
  w->columns = max_rhs < GI_REFINE_COLUMNS ? max_rhs : GI_REFINE_COLUMNS;
  w->report = (gable_solve_report)GABLE_SOLVE_REPORT_INIT;
  if (s->triangles) GI_TRY(gi_triangles_work_create(s->triangles, w->columns, &w->triangles));
  if (!s->triangles) GI_TRY(gi_solve_work_create(ctx, s->arrangement.plan, ctx->threads, w->columns, &w->sweep));
  if (on_device && s->named) GI_TRY(gi_solve_method_work_create(ctx, w->n, w->columns, &w->named));
  w->restart = restart;
  GI_TRY(gi_refine_work_create(ctx, s->problem.n, w->columns, restart, &w->refine));
  if (s->device && on_device) GI_TRY(gi_device_sweep_create(ctx, s->device, w->columns, &w->device));
  if (w->device && s->device_matrix && !s->options.unchecked) {
    const gi_device_problem at = {ctx, s->device, s->device_matrix, w->device};
    GI_TRY(gi_device_refinement_create(&at, w->columns, unrolled_steps(s), restart, &w->device_refinement));
  }
  GI_TRY(take_places(s, w));
  GI_ALLOC(ctx, w->b, n * w->columns);
  GI_ALLOC(ctx, w->x, n * w->columns);
  GI_ALLOC(ctx, w->scratch, 4 * n);
  *out = w;
  w = NULL;
done:
  gi_pipeline_work_destroy(&w);
  return status;
}

void gi_pipeline_work_destroy(gable_solver_work **work)
{
  if (!work || !*work) return;
  gable_solver_work *w = *work;
  *work = NULL;
  gi_solve_work_destroy(w->ctx, &w->sweep);
  gi_solve_method_work_destroy(w->ctx, &w->named);
  gi_triangles_work_destroy(&w->triangles);
  gi_device_sweep_destroy(w->ctx, &w->device);
  gi_device_refinement_destroy(w->ctx, &w->device_refinement);
  gi_free(w->ctx, w->own_col_place);
  gi_free(w->ctx, w->row_place);
  gi_refine_work_destroy(w->ctx, &w->refine);
  gi_free(w->ctx, w->b);
  gi_free(w->ctx, w->x);
  gi_free(w->ctx, w->scratch);
  gi_free(w->ctx, w);
}

/* A x = b is A' y = R b in the rows' order with x = C y in the columns' order; the transposed system exchanges the two.
 */
static gi_solve_frame frame(const gable_solver *s, const gable_solver_work *w, gable_op op)
{
  const gi_arrangement *a = &s->arrangement;
  if (op == GABLE_OP_N) return (gi_solve_frame){w->row_place, a->r, w->col_place, a->c, 0};
  return (gi_solve_frame){w->col_place, a->c, w->row_place, a->r, 0};
}

static gable_vectors_view columns_view(gable_idx n, gable_idx count, const double *data, gable_off ld)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = n;
  v.count = count;
  v.ld = ld;
  v.data = (void *)(uintptr_t)data; /* a view of what is only read has no type of its own */
  return v;
}

/* frame: NULL for the numbering of A'. */
static gable_status sweep_views(const gable_solver *s, gable_solver_work *w, gable_op op, unsigned parts,
                                const gable_vectors_view *b, const gable_vectors_view *x, const gi_solve_frame *frame)
{
  if (s->triangles) return gi_triangles_solve(s->triangles, w->triangles, op, parts, b, x, frame);
  if (w->named) return gi_solve_method_solve(s->named, w->named, op, parts, b, x, frame);
  return gi_solve(s->arrangement.plan, s->factor, w->sweep, op, parts, b, x, frame);
}

static gable_status sweep(const gable_solver *s, gable_solver_work *w, gable_op op, gable_idx count, const double *b,
                          gable_off ldb, double *x, gable_off ldx)
{
  if (w->device) return gi_device_sweep_host(s->ctx, s->device, w->device, op, GI_SOLVE_ALL, count, b, ldb, x, ldx);
  gable_vectors_view vb = columns_view(s->problem.n, count, b, ldb), vx = columns_view(s->problem.n, count, x, ldx);
  gi_solve_frame f = frame(s, w, op);
  return sweep_views(s, w, op, GI_SOLVE_ALL, &vb, &vx, &f);
}

static gable_status near_inverse(void *user, gable_op op, gable_idx count, const double *b, double *x)
{
  gable_solver_work *w = user;
  gable_idx n = w->solver->problem.n;
  return sweep(w->solver, w, op, count, b, n ? n : 1, x, n ? n : 1);
}

/* Makes w a work of the analysis that s has now; 0: its arrays are too small for that. */
static int fit_work(const gable_solver *s, gable_solver_work *w)
{
  if (!w->sweep || w->device || s->triangles || s->device || w->n != s->problem.n) return 0;
  if (!w->own_col_place && !one_order(s)) return 0;
  if (!gi_solve_work_fit(w->sweep, s->arrangement.plan)) return 0;
  find_places(s, w);
  w->structure = s->structure;
  return 1;
}

static gable_status check_work(const gable_solver *s, gable_solver_work *w)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s->phase == GI_PHASE_FACTORED, GABLE_ERR_STATE, "there is no factor: call gable_solver_factor first");
  GI_REQUIRE(w->solver == s, GABLE_ERR_STATE, "this work was made for another solver");
  GI_REQUIRE(w->structure == s->structure || fit_work(s, w), GABLE_ERR_STATE,
             "this work was made for another analysis and does not fit this one: make a new one with "
             "gable_solver_work_create");
done:
  return status;
}

static gable_status take_vectors(const gable_solver *s, gable_solver_work *w, const gable_vectors_view *b,
                                 const gable_vectors_view *x, gi_sharing sharing, gi_vectors_pair *own)
{
  gable_status status = GABLE_OK;
  GI_TRY(check_work(s, w));
  GI_TRY(gi_vectors_take_pair(b, x, s->problem.n, GABLE_TYPE_S, sharing, own)); /* floats go with any factor */
  GI_REQUIRE(w->device || (b->space == GABLE_SPACE_HOST && x->space == GABLE_SPACE_HOST), GABLE_ERR_UNAVAILABLE,
             "vectors in device memory: give them in host memory");
  GI_REQUIRE(b->space == x->space, GABLE_ERR_UNAVAILABLE, "b and x lie in different memories: give both in one");
done:
  return status;
}

static double entry_of(const gable_vectors_view *v, gable_off k)
{
  return v->type == GABLE_TYPE_S ? (double)((const float *)v->data)[k] : ((const double *)v->data)[k];
}

/* Before x is written. */
static gable_status check_finite(const gable_vectors_view *b)
{
  gable_status status = GABLE_OK;
  const int by_columns = b->major == GABLE_MAJOR_COL;
  const gable_idx lists = by_columns ? b->count : b->n, length = by_columns ? b->n : b->count;
  const gable_off bytes = b->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double);
  for (gable_idx j = 0; j < lists; j++) {
    if (GI_LIKELY(gi_all_finite(b->type, (const char *)b->data + j * b->ld * bytes, length))) continue;
    gable_idx i = 0;
    while (isfinite(entry_of(b, j * b->ld + i))) i++;
    GI_REQUIRE(0, GABLE_ERR_NOT_FINITE, "b holds %g in row %d, column %d (counted from 0)", entry_of(b, j * b->ld + i),
               by_columns ? i : j, by_columns ? j : i);
  }
done:
  return status;
}

static gable_status check_matrix(const gable_solver *s)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(gi_pipeline_has_matrix(s), GABLE_ERR_STATE, "the factors were imported without their matrix");
done:
  return status;
}

/* Does a solve compute its backward error? */
static int is_checked(const gable_solver *s)
{
  return gi_pipeline_has_matrix(s) && !s->options.unchecked;
}

static int plain(const gable_vectors_view *v)
{
  return v->type == GABLE_TYPE_D && v->major == GABLE_MAJOR_COL;
}

static gable_off place(const gable_vectors_view *v, gable_idx i, gable_idx j)
{
  return v->major == GABLE_MAJOR_COL ? i + j * v->ld : i * v->ld + j;
}

static void copy_in(const gable_vectors_view *v, gable_idx first, gable_idx count, double *to)
{
  for (gable_idx j = 0; j < count; j++)
    for (gable_idx i = 0; i < v->n; i++) *to++ = entry_of(v, place(v, i, first + j));
}

/* Rounds to the type of v, in from as well. */
static void copy_out(double *from, gable_idx first, gable_idx count, const gable_vectors_view *v)
{
  for (gable_idx j = 0; j < count; j++)
    for (gable_idx i = 0; i < v->n; i++, from++) {
      gable_off k = place(v, i, first + j);
      if (v->type == GABLE_TYPE_S)
        *from = ((float *)v->data)[k] = (float)*from;
      else
        ((double *)v->data)[k] = *from;
    }
}

double gi_pipeline_tolerance(const gable_solver *s, gable_type type)
{
  double asked = s->options.tolerance;
  if (type == GABLE_TYPE_S) return asked > 1e-6 ? asked : 1e-6;
  return asked > 0 ? asked : 1e-12;
}

/* What rounding to single adds has its half of the tolerance. */
static gi_refine_options refine_options_for(const gable_solver *s, gable_type type, gable_idx most_gmres)
{
  const int steps = s->options.refine_steps;
  return (gi_refine_options){.max_steps = steps < 0 ? 20 : steps,
                             .max_gmres = steps == 0 ? 0 : most_gmres,
                             .tolerance = gi_pipeline_tolerance(s, type) * (type == GABLE_TYPE_S ? 0.5 : 1)};
}

/* Columns first .. first+count-1, as many as fit the work. */
static gable_status solve_block(const gable_solver *s, gable_solver_work *w, gable_op op, const gable_vectors_view *b,
                                const gable_vectors_view *x, gable_idx first, gable_idx count, gi_refine_result *result)
{
  gable_status status = GABLE_OK;
  gable_off n = s->problem.n, ldb = b->ld, ldx = x->ld;
  const double *from;
  double *to, begin = gi_now();
  if (plain(b) && b->data != x->data) {
    from = (const double *)b->data + first * b->ld;
  } else {
    copy_in(b, first, count, w->b);
    from = w->b;
    ldb = n;
  }
  if (plain(x)) {
    to = (double *)x->data + first * x->ld;
  } else {
    to = w->x;
    ldx = n;
  }
  GI_TRY(sweep(s, w, op, count, from, ldb, to, ldx));
  double swept = gi_now();
  w->report.solve_s += swept - begin;
  if (!is_checked(s)) {
    if (to == w->x) copy_out(to, first, count, x);
    goto done;
  }
  gi_system a = gi_problem_system(&s->problem, s->ctx->threads);
  const gi_refine_options how = refine_options_for(s, x->type, MOST_GMRES);
  GI_TRY(gi_refine(&a, op, near_inverse, w, count, from, ldb, to, ldx, &how, w->refine, result));
  if (to == w->x) copy_out(to, first, count, x);
  if (x->type == GABLE_TYPE_S) /* what rounding x made of it */
    for (gable_idx j = 0; j < count; j++) {
      double error = gi_backward_error(&a, op, from + j * ldb, to + j * ldx, w->scratch, w->scratch + n).backward;
      if (j == 0 || error > result->backward_error) result->backward_error = error;
    }
  w->report.refine_s += gi_now() - swept;
done:
  return status;
}

static void explain(gable_solve_report *r, gi_refine_reason reason, double tolerance)
{
  switch (reason) {
  case GI_REFINE_STEPS:
    snprintf(r->reason, sizeof r->reason, "refinement was limited to %d steps", r->refine_steps);
    break;
  case GI_REFINE_NOT_FINITE:
    snprintf(r->reason, sizeof r->reason, "the answer overflows: it holds NaN or infinity");
    break;
  default:
    snprintf(r->reason, sizeof r->reason, "%s",
             r->first_error <= tolerance || r->refine_steps || r->gmres_iterations
                 ? "neither refinement nor GMRES brings it further down"
                 : "no refinement was allowed");
  }
}

static gable_status check_singular(const gable_solver *s)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(
      !s->singular, GABLE_NUMERICALLY_SINGULAR,
      "the matrix is numerically singular: %lld pivots were replaced; x solves a system within rounding of this one",
      (long long)s->factor->perturbed);
done:
  return status;
}

/* Enqueues; gi_pipeline_work_status tells what came of it. */
static gable_status solve_on_device(const gable_solver *s, gable_solver_work *w, gable_op op,
                                    const gable_vectors_view *b, const gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  const gi_refine_options wanted = refine_options_for(s, x->type, w->restart ? MOST_GMRES : 0);
  const int unrolled = unrolled_steps(s);
  const gi_device_refine_options how = {wanted.tolerance, unrolled < 0 ? wanted.max_steps : unrolled, wanted.max_gmres};
  w->device_tolerance = gi_pipeline_tolerance(s, x->type);
  if (w->device_refinement)
    GI_TRY(gi_device_solve(w->device_refinement, op, &how, b, x, w->stream));
  else
    GI_TRY(gi_device_sweep_solve(s->device, w->device, op, GI_SOLVE_ALL, b, x, w->stream));
  GI_TRY(check_singular(s));
done:
  return status;
}

gable_status gi_pipeline_work_status(gable_solver_work *w)
{
  gable_status status = GABLE_OK;
  gable_solve_report *r = &w->report;
  gik_refine_summary found;
  if (!w->device) goto done;
  GI_TRY(gi_device_sweep_check(w->ctx, w->device, w->stream));
  if (!w->device_refinement) goto done;
  GI_TRY(gi_device_refinement_look(w->ctx, w->device_refinement, w->stream, &found));
  *r = (gable_solve_report)GABLE_SOLVE_REPORT_INIT;
  r->backward_error = found.backward;
  r->first_error = found.first;
  r->refine_steps = found.steps;
  r->gmres_iterations = found.gmres;
  r->worst = found.worst;
  GI_REQUIRE(!found.bad_row, GABLE_ERR_NOT_FINITE, "b holds NaN or infinity in row %d, column %d (counted from 0)",
             found.bad_row - 1, found.bad_column - 1);
  if (!(found.backward <= w->device_tolerance)) {
    snprintf(r->reason, sizeof r->reason, "%s",
             !isfinite(found.backward) ? "the answer overflows: it holds NaN or infinity"
             : found.gmres             ? "neither refinement nor GMRES brings it further down"
                                       : "refinement was limited to a few steps, without GMRES");
    GI_REQUIRE(0, GABLE_ERR_TOLERANCE, "the backward error is %.2e, the tolerance %.1e: %s", found.backward,
               w->device_tolerance, r->reason);
  }
done:
  return status;
}

gable_status gi_pipeline_solve(const gable_solver *s, gable_solver_work *w, gable_op op, const gable_vectors_view *b,
                               const gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  gi_refine_reason reason = GI_REFINE_DONE;
  gable_solve_report *r = &w->report;
  gi_vectors_pair v;
  GI_TRY(take_vectors(s, w, b, x, GI_VECTORS_IN_PLACE, &v));
  if (v.b.space == GABLE_SPACE_DEVICE) {
    status = solve_on_device(s, w, op, &v.b, &v.x);
    goto done;
  }
  GI_TRY(check_finite(&v.b));
  *r = (gable_solve_report)GABLE_SOLVE_REPORT_INIT;
  double tolerance = gi_pipeline_tolerance(s, x->type);
  for (gable_idx j = 0; j < b->count; j += w->columns) {
    gi_refine_result result;
    gable_idx count = b->count - j < w->columns ? b->count - j : w->columns;
    GI_TRY(solve_block(s, w, op, &v.b, &v.x, j, count, &result));
    if (!is_checked(s)) continue;
    if (!(result.backward_error <= r->backward_error)) {
      r->backward_error = result.backward_error;
      r->worst = j + result.worst;
      reason = result.reason;
    }
    r->first_error = fmax(r->first_error, result.first_error);
    if (result.steps > r->refine_steps) r->refine_steps = result.steps;
    if (result.gmres_iterations > r->gmres_iterations) r->gmres_iterations = result.gmres_iterations;
  }
  if (!is_checked(s)) {
    r->backward_error = r->first_error = NAN;
  } else if (!(r->backward_error <= tolerance)) {
    explain(r, reason, tolerance);
    GI_REQUIRE(0, GABLE_ERR_TOLERANCE, "the backward error is %.2e, the tolerance %.1e: %s", r->backward_error,
               tolerance, r->reason);
  }
  GI_TRY(check_singular(s));
done:
  return status;
}

gable_status gi_pipeline_refines(const gable_solver *s, gable_solver_work *w, gable_op op, const double *b, double *x,
                                 gable_idx most_gmres, gi_refine_result *result)
{
  gable_status status = GABLE_OK;
  const gable_off n = s->problem.n;
  const gi_system a = gi_problem_system(&s->problem, s->ctx->threads);
  const gi_refine_options how = refine_options_for(s, GABLE_TYPE_D, w->restart ? most_gmres : 0);
  GI_TRY(sweep(s, w, op, 1, b, n, x, n));
  GI_TRY(gi_refine(&a, op, near_inverse, w, 1, b, n, x, n, &how, w->refine, result));
done:
  return status;
}

/* Host vectors by way of the work's columns of doubles. */
static gable_status apply_from_host(const gable_solver *s, gable_solver_work *w, gable_op op, unsigned factors,
                                    const gable_vectors_view *b, const gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  const gable_off n = s->problem.n;
  for (gable_idx j = 0; j < b->count; j += w->columns) {
    const gable_idx count = b->count - j < w->columns ? b->count - j : w->columns;
    copy_in(b, j, count, w->b);
    GI_TRY(gi_device_sweep_host(s->ctx, s->device, w->device, op, factors, count, w->b, n, w->x, n));
    copy_out(w->x, j, count, x);
  }
done:
  return status;
}

static gable_status apply_on_device(const gable_solver *s, gable_solver_work *w, gable_op op, unsigned factors,
                                    const gable_vectors_view *b, const gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  if (b->space == GABLE_SPACE_DEVICE)
    GI_TRY(gi_device_sweep_solve(s->device, w->device, op, factors, b, x, w->stream));
  else
    GI_TRY(apply_from_host(s, w, op, factors, b, x));
done:
  return status;
}

gable_status gi_pipeline_apply(const gable_solver *s, gable_solver_work *w, gable_op op, unsigned factors,
                               const gable_vectors_view *b, const gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  gi_vectors_pair v;
  GI_TRY(take_vectors(s, w, b, x, GI_VECTORS_IN_PLACE, &v));
  gi_solve_frame f = frame(s, w, op);
  if (w->device)
    GI_TRY(apply_on_device(s, w, op, factors, &v.b, &v.x));
  else
    GI_TRY(sweep_views(s, w, op, factors, &v.b, &v.x, factors == GI_SOLVE_ALL ? &f : NULL));
done:
  return status;
}

/* Corrected by refinement: a factor with replaced pivots alone has the inverse of another matrix. */
static gable_status corrected_inverse(void *user, gable_op op, gable_idx count, const double *b, double *x)
{
  gable_status status = GABLE_OK;
  gable_solver_work *w = user;
  const gable_idx n = w->solver->problem.n;
  gi_refine_result result;
  for (gable_idx j = 0; j < count; j++) {
    memcpy(w->b, b + (gable_off)j * n, (size_t)n * sizeof *w->b); /* x may be b */
    GI_TRY(gi_pipeline_refines(w->solver, w, op, w->b, x + (gable_off)j * n, GI_GMRES_RESTART, &result));
  }
done:
  return status;
}

gable_status gi_pipeline_rcond(const gable_solver *s, gable_solver_work *w, double *rcond)
{
  gable_status status = GABLE_OK;
  const gi_near_inverse inverse = s->factor && s->factor->perturbed ? corrected_inverse : near_inverse;
  double norm = 0, inverse_norm;
  GI_TRY(check_work(s, w));
  GI_TRY(check_matrix(s));
  *rcond = NAN;
  if (s->other_values) goto done;
  gi_system a = gi_problem_system(&s->problem, s->ctx->threads);
  for (gable_idx j = 0; j < a.n; j++) norm = fmax(norm, a.col_sum[j]);
  GI_TRY(gi_inverse_norm(a.n, GABLE_OP_N, NULL, inverse, w, w->scratch, &inverse_norm));
  *rcond = !a.n ? 1 : isfinite(inverse_norm) ? 1 / norm / inverse_norm : 0;
done:
  return status;
}

gable_status gi_pipeline_find_singular(gable_solver *s)
{
  gable_status status = GABLE_OK;
  gable_solver_work *w = NULL;
  double rcond;
  s->singular = 0;
  if (!s->factor->perturbed || s->other_values || !gi_pipeline_has_matrix(s)) goto done;
  GI_TRY(gi_pipeline_work_create(s, 1, s->verdict.gmres ? GI_GMRES_RESTART : 0, 0, &w));
  GI_TRY(gi_pipeline_rcond(s, w, &rcond));
  s->singular = rcond < DBL_EPSILON;
  GI_REQUIRE(!s->singular || !s->options.strict, GABLE_ERR_SINGULAR,
             "the matrix is numerically singular: %lld pivots were replaced, rcond is %.1e",
             (long long)s->factor->perturbed, rcond);
done:
  gi_pipeline_work_destroy(&w);
  return status;
}

/* Column 0 of v into to [n]; from device memory by way of room of its own, waiting for the work's stream. */
static gable_status copy_column(gable_solver_work *w, const gable_vectors_view *v, double *to)
{
  gable_status status = GABLE_OK;
  gable_vectors_view here = *v;
  const gable_off entries = !v->n ? 0 : v->major == GABLE_MAJOR_COL ? v->n : (v->n - 1) * v->ld + 1;
  const gable_off bytes = entries * (v->type == GABLE_TYPE_S ? (gable_off)sizeof(float) : (gable_off)sizeof(double));
  char *room = NULL;
  if (v->space == GABLE_SPACE_DEVICE) {
    GI_ALLOC(w->ctx, room, bytes);
    GI_TRY(w->ctx->device->copy_out(w->ctx, room, v->data, (size_t)bytes, w->stream));
    GI_TRY(w->ctx->device->synchronise(w->ctx, w->stream));
    here.data = room;
    here.space = GABLE_SPACE_HOST;
  }
  copy_in(&here, 0, 1, to);
done:
  gi_free(w->ctx, room);
  return status;
}

/* || |A^-1| f ||_inf / ||x||_inf with f = |r| + (n_i + 1) eps (|A||x| + |b|), n_i entries in row i: LAPACK's bound. */
gable_status gi_pipeline_forward_error(const gable_solver *s, gable_solver_work *w, gable_op op,
                                       const gable_vectors_view *b, const gable_vectors_view *x, double *forward_error)
{
  gable_status status = GABLE_OK;
  gable_off n = s->problem.n;
  double *f = w->scratch + 2 * n, *weight = w->scratch + 3 * n, norm_x = 0, norm;
  gi_vectors_pair v;
  GI_TRY(take_vectors(s, w, b, x, GI_VECTORS_READ, &v));
  GI_TRY(check_matrix(s));
  GI_REQUIRE(b->count == 1, GABLE_ERR_ARGUMENT, "%d columns: forward errors are estimated one at a time", b->count);
  *forward_error = NAN;
  if (s->other_values) goto done;
  GI_TRY(copy_column(w, &v.b, w->b));
  GI_TRY(copy_column(w, &v.x, w->x));
  gi_system a = gi_problem_system(&s->problem, s->ctx->threads);
  double longest = 1;
  for (gable_idx i = 0; i < n; i++) longest = fmax(longest, (double)(a.rows->ptr[i + 1] - a.rows->ptr[i] + 1));
  gi_backward_error(&a, op, w->b, w->x, f, weight);
  for (gable_idx i = 0; i < n; i++) {
    f[i] = fabs(f[i]) + longest * DBL_EPSILON * weight[i];
    norm_x = fmax(norm_x, fabs(w->x[i]));
  }
  GI_TRY(
      gi_inverse_norm((gable_idx)n, op == GABLE_OP_N ? GABLE_OP_T : GABLE_OP_N, f, near_inverse, w, w->scratch, &norm));
  *forward_error = norm_x > 0 ? norm / norm_x : norm;
done:
  return status;
}
