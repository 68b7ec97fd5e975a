/* solve.c: sweeps with the factor, refined against the matrix as it was given. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timer.h"
#include "base/type_size.h"
#include "pipeline/work.h"
#include "sparse/vectors.h"

#define JUDGE static inline
#include "kernels/refine/judge.inc"

enum { MOST_GMRES = 5 * GI_GMRES_RESTART }; /* iterations a column */

/* A x = b is A' y = R b in the rows' order with x = C y in the columns' order; the transposed system exchanges the two.
 */
static gi_solve_frame frame(const gable_solver *s, const gable_solver_work *w, gable_op op)
{
  const gi_arrangement *a = &s->arrangement;
  if (op == GABLE_OP_N) return (gi_solve_frame){w->row_place, a->r, w->col_place, a->c};
  return (gi_solve_frame){w->col_place, a->c, w->row_place, a->r};
}

/* frame: of s for all parts, NULL for others. */
static gable_status sweep_views(const gable_solver *s, gable_solver_work *w, gable_op op, unsigned parts,
                                const gable_vectors_view *b, const gable_vectors_view *x, const gi_solve_frame *frame)
{
  if (s->triangles) return gi_triangles_solve(s->triangles, w->triangles, op, parts, b, x, frame);
  if (w->named) return gi_method_solve(s->named, w->named, op, parts, b, x, NULL);
  return gi_solve(s->arrangement.plan, s->factor, w->sweep, op, parts, b, x, frame);
}

/* On the CPU. */
static gable_status sweep(const gable_solver *s, gable_solver_work *w, gable_op op, gable_idx count, const double *b,
                          gable_off ldb, double *x, gable_off ldx)
{
  const gable_vectors_view vb = gi_columns_view(GABLE_SPACE_HOST, s->problem.n, count, b, ldb);
  const gable_vectors_view vx = gi_columns_view(GABLE_SPACE_HOST, s->problem.n, count, x, ldx);
  gi_solve_frame f = frame(s, w, op);
  return sweep_views(s, w, op, GI_SOLVE_ALL, &vb, &vx, &f);
}

gable_status gi_work_near_inverse(void *user, gable_op op, gable_idx count, const double *b, double *x)
{
  gable_solver_work *w = user;
  return sweep(w->solver, w, op, count, b, 0, x, 0);
}

/* Before x is written. */
static gable_status check_finite(const gable_vectors_view *b)
{
  gable_status status = GABLE_OK;
  const int by_columns = b->major == GABLE_MAJOR_COL;
  const gable_idx lists = by_columns ? b->count : b->n, length = by_columns ? b->n : b->count;
  const gable_off bytes = (gable_off)gi_type_size(b->type);
  for (gable_idx j = 0; j < lists; j++) {
    if (GI_LIKELY(gi_all_finite(b->type, (const char *)b->data + j * b->ld * bytes, length))) continue;
    gable_idx i = 0;
    while (isfinite(gi_number_at(b->type, b->data, j * b->ld + i, 0))) i++;
    GI_REQUIRE(0, GABLE_ERR_NOT_FINITE, "b holds %g in row %d, column %d (counted from 0)",
               gi_number_at(b->type, b->data, j * b->ld + i, 0), by_columns ? i : j, by_columns ? j : i);
  }
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

void gi_work_copy_in(const gable_vectors_view *v, gable_idx first, gable_idx count, double *to)
{
  for (gable_idx j = 0; j < count; j++)
    for (gable_idx i = 0; i < v->n; i++) *to++ = gi_number_at(v->type, v->data, place(v, i, first + j), 0);
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

gi_refine_options gi_work_refine_options(const gable_solver *s, gable_type type, gable_idx most_gmres)
{
  const int steps = s->options.refine_steps;
  return (gi_refine_options){.max_steps = steps < 0 ? 20 : steps,
                             .max_gmres = steps == 0 ? 0 : most_gmres,
                             .tolerance = gi_pipeline_tolerance(s, type) * (type == GABLE_TYPE_S ? 0.5 : 1)};
}

gi_device_refine_options gi_work_device_options(const gable_solver *s, gable_type type, gable_idx most_gmres,
                                                gi_refine_report report)
{
  const gi_refine_options wanted = gi_work_refine_options(s, type, most_gmres);
  return (gi_device_refine_options){.tolerance = wanted.tolerance,
                                    .required = gi_pipeline_tolerance(s, type),
                                    .max_steps = wanted.max_steps,
                                    .max_gmres = wanted.max_gmres,
                                    .to_float = type == GABLE_TYPE_S,
                                    .report = report};
}

/* Columns first .. first+count-1 of b and x, or copies in the work. */
static gi_host_columns take_columns(gable_solver_work *w, const gable_vectors_view *b, const gable_vectors_view *x,
                                    gable_idx first, gable_idx count)
{
  gi_host_columns v = {.b = w->b, .x = w->x, .ldb = w->n, .ldx = w->n, .first = first, .count = count};
  if (plain(b) && b->data != x->data) {
    v.b = (const double *)b->data + first * b->ld;
    v.ldb = b->ld;
  } else {
    gi_work_copy_in(b, first, count, w->b);
  }
  if (plain(x)) {
    v.x = (double *)x->data + first * x->ld;
    v.ldx = x->ld;
  }
  return v;
}

static double sum_of(const double *v, gable_idx n)
{
  double sum = 0;
  for (gable_idx i = 0; i < n; i++) sum += fabs(v[i]);
  return sum;
}

/* Is the x of some column huge (gik_is_huge)?  Where it meets the tolerance A is numerically singular, which the
 * estimate of rcond can have missed. */
static int is_huge(const gable_solver *s, gable_op op, const gi_host_columns *v)
{
  if (!s->factor || !s->factor->perturbed) return 0;
  const gable_idx n = s->problem.n;
  const gi_system a = gi_problem_system(&s->problem, s->ctx->threads);
  const double norm = gi_largest(n, op == GABLE_OP_N ? a.col_sum : a.row_sum);
  for (gable_idx j = 0; j < v->count; j++)
    if (gik_is_huge(norm, sum_of(v->b + j * v->ldb, n), sum_of(v->x + j * v->ldx, n))) return 1;
  return 0;
}

static void give_columns(gable_solver_work *w, gi_host_columns *v, const gable_vectors_view *x)
{
  if (v->x == w->x) copy_out(w->x, v->first, v->count, x);
}

/* The sweep alone, where it runs. */
static gable_status sweep_columns(const gable_solver *s, gable_solver_work *w, gable_op op, const gi_host_columns *v)
{
  if (w->device) return gi_device_sweep_host(s->ctx, s->device, w->device, op, GI_SOLVE_ALL, v, w->stream);
  return sweep(s, w, op, v->count, v->b, v->ldb, v->x, v->ldx);
}

/* Columns first .. first+count-1, as many as fit the work, on the CPU or without a backward error. */
static gable_status solve_block(const gable_solver *s, gable_solver_work *w, gable_op op, const gable_vectors_view *x,
                                gi_host_columns *v, gi_refine_result *result)
{
  gable_status status = GABLE_OK;
  const double begin = gi_now();
  GI_TRY(sweep_columns(s, w, op, v));
  const double swept = gi_now();
  w->report.solve_s += swept - begin;
  if (!is_checked(s)) {
    give_columns(w, v, x);
    goto done;
  }
  const gi_system a = gi_problem_system(&s->problem, s->ctx->threads);
  const gi_refine_options how = gi_work_refine_options(s, x->type, MOST_GMRES);
  GI_TRY(gi_refine(&a, op, gi_work_near_inverse, w, v->count, v->b, v->ldb, v->x, v->ldx, &how, w->refine, result));
  give_columns(w, v, x);
  if (x->type == GABLE_TYPE_S) /* what rounding x made of it */
    for (gable_idx j = 0; j < v->count; j++) {
      const double error =
          gi_backward_error(&a, op, v->b + j * v->ldb, v->x + j * v->ldx, w->scratch, w->scratch + w->n).backward;
      if (j && !(error > result->backward_error)) continue;
      result->backward_error = error;
      result->worst = j;
    }
  w->report.refine_s += gi_now() - swept;
done:
  return status;
}

/* may_gmres: refinement was not limited in its steps alone. */
static void explain(gable_solve_report *r, int may_gmres)
{
  if (!isfinite(r->backward_error))
    snprintf(r->reason, sizeof r->reason, "the answer overflows: it holds NaN or infinity");
  else if (may_gmres)
    snprintf(r->reason, sizeof r->reason, "neither refinement nor GMRES brings it further down");
  else
    snprintf(r->reason, sizeof r->reason, "refinement was limited to %d steps", r->refine_steps);
}

static gable_status require_tolerance(gable_solve_report *r, double tolerance, int may_gmres)
{
  gable_status status = GABLE_OK;
  if (r->backward_error <= tolerance) goto done;
  explain(r, may_gmres);
  GI_REQUIRE(0, GABLE_ERR_TOLERANCE, "the backward error is %.2e, the tolerance %.1e: %s", r->backward_error, tolerance,
             r->reason);
done:
  return status;
}

/* replaced: pivots of the factor. */
static gable_status require_regular(gik_refine_singular singular, int64_t replaced)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(
      singular != GIK_SINGULAR_FACTOR, GABLE_NUMERICALLY_SINGULAR,
      "the matrix is numerically singular: %lld pivots were replaced; x solves a system within rounding of this one",
      (long long)replaced);
  GI_REQUIRE(singular != GIK_HUGE_X, GABLE_NUMERICALLY_SINGULAR,
             "x is so large that a matrix within rounding of this one is singular: x is one of many solutions");
done:
  return status;
}

/* huge: 1: this solve has shown that s is singular, 0: what is known of the factor. */
static gable_status check_singular(const gable_solver *s, int huge)
{
  if (s->singular) return require_regular(GIK_SINGULAR_FACTOR, s->factor->perturbed);
  return require_regular(huge ? GIK_HUGE_X : GIK_REGULAR, 0);
}

/* What an unchecked solve knows of its errors. */
static void report_unchecked(gable_solve_report *r)
{
  *r = (gable_solve_report)GABLE_SOLVE_REPORT_INIT;
  r->backward_error = r->first_error = NAN;
}

/* Enqueues; gi_pipeline_work_status tells what came of it. */
static gable_status solve_on_device(const gable_solver *s, gable_solver_work *w, gable_op op,
                                    const gable_vectors_view *b, const gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  const gi_device_refine_options how =
      gi_work_device_options(s, x->type, w->restart ? MOST_GMRES : 0, GI_REPORT_DEVICE);
  w->device_gmres = how.max_gmres;
  if (w->device_refinement) {
    GI_TRY(gi_device_solve(w->device_refinement, op, &how, b, x, w->stream));
  } else {
    GI_TRY(gi_device_sweep_solve(s->device, w->device, op, GI_SOLVE_ALL, b, x, w->stream));
    report_unchecked(&w->report);
  }
  GI_TRY(check_singular(s, 0));
done:
  return status;
}

/* What solves on the device have left; may_gmres: they were allowed GMRES. */
static gable_status read_summary(gable_solver_work *w, gi_refine_report report, int may_gmres)
{
  gable_status status = GABLE_OK;
  gable_solve_report *r = &w->report;
  gik_refine_summary found;
  GI_TRY(gi_device_refinement_look(w->device_refinement, report, w->stream, &found));
  *r = (gable_solve_report)GABLE_SOLVE_REPORT_INIT;
  r->backward_error = found.backward;
  r->first_error = found.first;
  r->refine_steps = found.steps;
  r->gmres_iterations = found.gmres;
  r->worst = found.worst;
  r->solve_s = found.solve_s;
  r->refine_s = found.refine_s;
  GI_REQUIRE(!found.bad_row, GABLE_ERR_NOT_FINITE, "b holds NaN or infinity in row %d, column %d (counted from 0)",
             found.bad_row - 1, found.bad_column - 1);
  GI_TRY(require_tolerance(r, found.required, may_gmres));
  GI_TRY(require_regular((gik_refine_singular)found.singular, found.replaced));
done:
  return status;
}

gable_status gi_pipeline_work_status(gable_solver_work *w)
{
  gable_status status = GABLE_OK;
  const int gone = w->structure != w->solver->structure;
  if (!w->device) goto done;
  if (gone && w->device->clusters) { /* they alone can be asked what their sweeps waited for */
    GI_TRY(w->ctx->device->synchronise(w->ctx, w->stream));
    GI_REQUIRE(0, GABLE_ERR_STATE, "the factor of these solves is gone: what came of them is not known any more");
  }
  status = gi_device_sweep_check(w->ctx, w->device, w->stream);
  if (status) {
    if (w->device_refinement) gi_device_refinement_forget(w->device_refinement, GI_REPORT_DEVICE, w->stream);
    goto done;
  }
  if (w->device_refinement) GI_TRY(read_summary(w, GI_REPORT_DEVICE, w->device_gmres > 0));
done:
  return status;
}

/* Columns in host memory by way of the device. */
static gable_status solve_by_device(const gable_solver *s, gable_solver_work *w, gable_op op,
                                    const gable_vectors_view *b, const gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  const gi_device_refine_options how = gi_work_device_options(s, x->type, w->restart ? MOST_GMRES : 0, GI_REPORT_HOST);
  for (gable_idx j = 0; j < b->count; j += w->columns) {
    gi_host_columns v = take_columns(w, b, x, j, b->count - j < w->columns ? b->count - j : w->columns);
    GI_TRY(gi_device_solve_host(w->device_refinement, op, &how, &v, w->stream));
    give_columns(w, &v, x);
  }
  GI_TRY(read_summary(w, GI_REPORT_HOST, how.max_gmres > 0));
done:
  return status;
}

/* Columns in host memory on the CPU, or by sweeps alone. */
static gable_status solve_blocks(const gable_solver *s, gable_solver_work *w, gable_op op, const gable_vectors_view *b,
                                 const gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  int huge = 0;
  gable_solve_report *r = &w->report;
  *r = (gable_solve_report)GABLE_SOLVE_REPORT_INIT;
  for (gable_idx j = 0; j < b->count; j += w->columns) {
    gi_refine_result result;
    gi_host_columns v = take_columns(w, b, x, j, b->count - j < w->columns ? b->count - j : w->columns);
    GI_TRY(solve_block(s, w, op, x, &v, &result));
    if (!is_checked(s)) continue;
    huge |= is_huge(s, op, &v);
    if (!(result.backward_error <= r->backward_error)) {
      r->backward_error = result.backward_error;
      r->worst = j + result.worst;
    }
    r->first_error = fmax(r->first_error, result.first_error);
    if (result.steps > r->refine_steps) r->refine_steps = result.steps;
    if (result.gmres_iterations > r->gmres_iterations) r->gmres_iterations = result.gmres_iterations;
  }
  if (is_checked(s))
    GI_TRY(require_tolerance(r, gi_pipeline_tolerance(s, x->type),
                             gi_work_refine_options(s, x->type, MOST_GMRES).max_gmres > 0));
  else
    r->backward_error = r->first_error = NAN;
  GI_TRY(check_singular(s, huge));
done:
  return status;
}

gable_status gi_pipeline_solve(const gable_solver *s, gable_solver_work *w, gable_op op, const gable_vectors_view *b,
                               const gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  gi_vectors_pair v;
  GI_TRY(gi_work_take_vectors(s, w, b, x, GI_VECTORS_IN_PLACE, &v));
  if (v.b.space == GABLE_SPACE_DEVICE) {
    status = solve_on_device(s, w, op, &v.b, &v.x);
    goto done;
  }
  GI_TRY(check_finite(&v.b));
  GI_TRY((w->device_refinement ? solve_by_device : solve_blocks)(s, w, op, &v.b, &v.x));
done:
  return status;
}

gable_status gi_pipeline_refines(const gable_solver *s, gable_solver_work *w, gable_op op, const double *b, double *x,
                                 const gi_refine_options *how, gi_refine_result *result)
{
  gable_status status = GABLE_OK;
  const gable_off n = s->problem.n;
  const gi_system a = gi_problem_system(&s->problem, s->ctx->threads);
  GI_TRY(sweep(s, w, op, 1, b, n, x, n));
  GI_TRY(gi_refine(&a, op, gi_work_near_inverse, w, 1, b, n, x, n, how, w->refine, result));
done:
  return status;
}

/* Vectors in host memory. */
static gable_status apply_from_host(const gable_solver *s, gable_solver_work *w, gable_op op, unsigned factors,
                                    const gable_vectors_view *b, const gable_vectors_view *x)
{
  gable_status status = GABLE_OK;
  for (gable_idx j = 0; j < b->count; j += w->columns) {
    gi_host_columns v = take_columns(w, b, x, j, b->count - j < w->columns ? b->count - j : w->columns);
    GI_TRY(gi_device_sweep_host(s->ctx, s->device, w->device, op, factors, &v, w->stream));
    give_columns(w, &v, x);
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
  GI_TRY(gi_work_take_vectors(s, w, b, x, GI_VECTORS_IN_PLACE, &v));
  gi_solve_frame f = frame(s, w, op);
  if (w->device)
    GI_TRY(apply_on_device(s, w, op, factors, &v.b, &v.x));
  else
    GI_TRY(sweep_views(s, w, op, factors, &v.b, &v.x, factors == GI_SOLVE_ALL ? &f : NULL));
done:
  return status;
}
