/* work.c: what one solve in flight needs, and whether it fits what a call asks for. */
#include "pipeline/work.h"

#include <string.h>

#include "device/require.h"
#include "sparse/vectors.h"

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

/* Sweeps and refinement on the CPU; named: by options.solve_method, too. */
static gable_status prepare_on_host(const gable_solver *s, gable_solver_work *w, gable_idx max_rhs, int named)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = w->ctx;
  w->columns = max_rhs < GI_REFINE_COLUMNS ? max_rhs : GI_REFINE_COLUMNS;
  if (s->triangles)
    GI_TRY(gi_triangles_work_create(s->triangles, w->columns, &w->triangles));
  else
    GI_TRY(gi_solve_work_create(ctx, s->arrangement.plan, ctx->threads, w->columns, &w->sweep));
  w->by_method = named;
  if (named && s->named) GI_TRY(gi_method_work_create(s->named, w->columns, &w->named));
  GI_TRY(gi_refine_work_create(ctx, w->n, w->columns, w->restart, &w->refine));
  GI_TRY(take_places(s, w));
  GI_ALLOC(ctx, w->scratch, 4 * (gable_off)w->n);
done:
  return status;
}

/* The same where the factor is. */
static gable_status prepare_on_device(const gable_solver *s, gable_solver_work *w, gable_idx max_rhs)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = w->ctx;
  const int loops = s->options.refine_steps != 0;
  w->columns = gi_device_sweep_columns(s->device, max_rhs);
  GI_TRY(gi_device_sweep_create(ctx, s->device, w->columns, &w->device));
  if (s->device_matrix) GI_TRY(gi_estimate_room_create(ctx, w->n, &w->estimate));
  if (!s->device_matrix || s->options.unchecked) goto done;
  const gi_device_problem at = {ctx, s->device, s->device_matrix, w->device};
  const gi_device_refinement_form form = {
      .columns = w->columns, .loops = loops, .restart = loops ? w->restart : 0, .recorded = loops};
  GI_TRY(gi_device_refinement_create(&at, &form, &w->device_refinement));
done:
  return status;
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
  w->report = (gable_solve_report)GABLE_SOLVE_REPORT_INIT;
  w->restart = restart;
  if (s->device && on_device) {
    gi_update_order_add(&((gable_solver *)s)->order, &w->order, &w->stream); /* under its lock */
    GI_TRY(prepare_on_device(s, w, max_rhs));
  } else
    GI_TRY(prepare_on_host(s, w, max_rhs, on_device));
  GI_ALLOC(ctx, w->b, n * w->columns);
  GI_ALLOC(ctx, w->x, n * w->columns);
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
  if (w->device) (void)w->ctx->device->order_after(w->ctx, NULL, w->stream); /* its memory goes in that one's order */
  if (w->order.stream) gi_update_order_remove(&((gable_solver *)w->solver)->order, &w->order); /* under its lock */
  gi_solve_work_destroy(w->ctx, &w->sweep);
  gi_method_work_destroy(&w->named);
  gi_triangles_work_destroy(&w->triangles);
  gi_device_sweep_destroy(w->ctx, &w->device);
  gi_device_refinement_destroy(w->ctx, &w->device_refinement);
  gi_estimate_room_destroy(w->ctx, &w->estimate);
  GI_FREE(w->ctx, w->own_col_place, w->row_place);
  gi_refine_work_destroy(w->ctx, &w->refine);
  GI_FREE(w->ctx, w->b, w->x, w->scratch, w);
}

/* Makes w a work of the analysis that s has now; 0: its arrays are too small for that. */
static int fit_work(const gable_solver *s, gable_solver_work *w)
{
  if (!w->sweep || w->device || s->triangles || s->device || w->n != s->problem.n) return 0;
  if (!w->own_col_place && !one_order(s)) return 0;
  if (w->named && !(s->named && gi_method_work_fit(w->named, s->named))) return 0;
  if (!gi_solve_work_fit(w->sweep, s->arrangement.plan)) return 0;
  find_places(s, w);
  w->structure = s->structure;
  return 1;
}

gable_status gi_work_check(const gable_solver *s, gable_solver_work *w)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s->phase == GI_PHASE_FACTORED, GABLE_ERR_STATE, "there is no factor: call gable_solver_factor first");
  GI_REQUIRE(w->solver == s, GABLE_ERR_STATE, "this work was made for another solver");
  GI_REQUIRE(w->structure == s->structure || fit_work(s, w), GABLE_ERR_STATE,
             "this work was made for another analysis and does not fit this one: make a new one with "
             "gable_solver_work_create");
  GI_REQUIRE(w->device || !w->by_method || !w->named == !s->named, GABLE_ERR_STATE,
             "this work was made before the factor, and not for its solve method: make a new one with "
             "gable_solver_work_create");
done:
  return status;
}

gable_status gi_work_take_vectors(const gable_solver *s, gable_solver_work *w, const gable_vectors_view *b,
                                  const gable_vectors_view *x, gi_sharing sharing, gi_vectors_pair *own)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_work_check(s, w));
  GI_TRY(gi_vectors_take_pair(b, x, s->problem.n, GABLE_TYPE_S, sharing, own)); /* floats go with any factor */
  GI_REQUIRE(w->device || (b->space == GABLE_SPACE_HOST && x->space == GABLE_SPACE_HOST), GABLE_ERR_UNAVAILABLE,
             "vectors in device memory: give them in host memory");
  GI_REQUIRE(b->space == x->space, GABLE_ERR_UNAVAILABLE, "b and x lie in different memories: give both in one");
  GI_TRY(gi_require_vectors(s->ctx, &own->b, "b"));
  GI_TRY(gi_require_vectors(s->ctx, &own->x, "x"));
done:
  return status;
}
