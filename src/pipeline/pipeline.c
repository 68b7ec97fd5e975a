/* pipeline.c: analyse and factor; attempts.c decides which factorization is kept. */
#include "pipeline/pipeline.h"

#include <float.h>
#include <string.h>

#include "base/timer.h"
#include "device/device.h"
#include "factor/layout_check.h"
#include "graph/order/order.h"
#include "pipeline/attempts.h"

void gi_pipeline_drop_arrangement(gable_solver *s)
{
  gi_update_order_settle(&s->order);
  gi_attempt_release(s->ctx, &s->aside);
  gi_device_factor_destroy(s->ctx, &s->device);
  gi_device_matrix_destroy(s->ctx, &s->device_matrix);
  gi_method_solver_destroy(&s->host, &s->named);
  gi_factor_destroy(s->ctx, &s->factor);
  gi_triangles_destroy(&s->triangles);
  gi_permuted_release(s->ctx, &s->permuted);
  gi_arrangement_release(s->ctx, &s->arrangement);
  s->launched_s = 0;
  s->no_room = 0;
  s->structure++; /* works may refer to what is gone */
  s->phase = GI_PHASE_EMPTY;
}

void gi_pipeline_clear(gable_solver *s)
{
  gi_pipeline_drop_arrangement(s);
  gi_problem_release(s->ctx, &s->problem);
  gi_free(s->ctx, s->user_order);
  s->user_order = NULL;
  s->analyses = s->drift = s->singular = s->rejected = 0;
  s->other_values = 0;
  s->factor_s = s->rejected_s = s->judge_s = 0;
}

void gi_pipeline_adopt(gable_solver *s, gi_arrangement *a)
{
  a->order_s += s->arrangement.order_s;
  a->match_s += s->arrangement.match_s;
  a->symbolic_s += s->arrangement.symbolic_s;
  a->structure_s += s->arrangement.structure_s;
  gi_attempt aside = s->aside;
  memset(&s->aside, 0, sizeof s->aside);
  gi_pipeline_drop_arrangement(s);
  s->aside = aside;
  s->arrangement = *a;
  memset(a, 0, sizeof *a);
  s->analyses++;
  s->phase = GI_PHASE_ANALYSED;
}

gable_status gi_pipeline_arrange(gable_solver *s, const gable_solver_options *options, int keep_order)
{
  gable_status status = GABLE_OK;
  gable_solver_options how = *options;
  gi_arrangement a = {0}, *old = &s->arrangement;
  gable_order order = old->order;
  how.user_order = s->user_order;
  if (keep_order) {
    how.order = GABLE_ORDER_USER;
    how.user_order = old->col_perm;
  }
  gi_factor_destroy(s->ctx, &s->factor);
  gi_permuted_release(s->ctx, &s->permuted);
  GI_TRY(gi_arrange(s->ctx, &s->problem, &how, NULL, &a));
  if (keep_order) {
    a.order = order;
    a.starved = old->starved;
  }
  gi_pipeline_adopt(s, &a);
done:
  if (status) gi_pipeline_drop_arrangement(s);
  return status;
}

/* Symmetric, as far as is known. */
static int may_be_ldlt(const gi_problem *p)
{
  return p->pattern_symmetric && (p->values_symmetric || !p->rows.val);
}

gable_status gi_pipeline_read(const gable_solver *s, const gable_matrix_view *a, gi_pipeline_input *in)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_problem_init(s->ctx, a, &in->problem));
  const gable_idx n = in->problem.n;
  GI_REQUIRE(s->options.method != GABLE_METHOD_CHOLESKY || in->problem.pattern_symmetric, GABLE_ERR_ARGUMENT,
             "Cholesky was asked for, but the pattern of the matrix is not symmetric");
  if (s->options.method == GABLE_METHOD_CHOLESKY && a->part == GABLE_PART_FULL && !in->problem.declared) {
    in->problem.declared = GABLE_STRUCTURE_SYMMETRIC;
    in->problem.declared_why = "Cholesky was asked for";
    if (a->val) GI_TRY(gi_problem_check_values(s->ctx, &in->problem, a->val));
  }
  GI_REQUIRE(s->options.method != GABLE_METHOD_LDLT || may_be_ldlt(&in->problem), GABLE_ERR_ARGUMENT,
             "L D L^T was asked for, but the matrix is not symmetric");
  if (s->options.order == GABLE_ORDER_USER) {
    GI_REQUIRE(s->options.user_order, GABLE_ERR_ARGUMENT, "GABLE_ORDER_USER without user_order");
    GI_ALLOC(s->ctx, in->user_order, n);
    memcpy(in->user_order, s->options.user_order, (size_t)n * sizeof *in->user_order);
    GI_TRY(gi_order_check(s->ctx, n, in->user_order));
  }
done:
  return status;
}

void gi_pipeline_take(gable_solver *s, gi_pipeline_input *in)
{
  gi_pipeline_clear(s);
  s->problem = in->problem;
  s->user_order = in->user_order;
  memset(in, 0, sizeof *in);
}

void gi_pipeline_input_release(gable_context *ctx, gi_pipeline_input *in)
{
  gi_problem_release(ctx, &in->problem);
  gi_free(ctx, in->user_order);
  in->user_order = NULL;
}

gable_status gi_pipeline_analyse(gable_solver *s, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  gi_pipeline_input in = {0};
  double begin = gi_now();
  GI_TRY(gi_pipeline_read(s, a, &in));
  double read = gi_now();
  gi_pipeline_take(s, &in);
  status = gi_pipeline_arrange(s, &s->options, 0);
  gi_csc_release(s->ctx, &s->problem.columns);                                                     /* serve no longer */
  if (s->arrangement.method != GABLE_METHOD_LDLT) gi_problem_forget_matching(s->ctx, &s->problem); /* nor does it */
  if (status) gi_pipeline_clear(s);
  GI_TRY(status);
  s->arrangement.symbolic_s += read - begin;
done:
  gi_pipeline_input_release(s->ctx, &in);
  return status;
}

/* Opening an OpenBLAS costs milliseconds: not for less than about a tenth of a second of work. */
static void choose_blas(gable_solver *s)
{
  const double worth = 4e9;
  if (s->options.blas != GABLE_BLAS_AUTO || s->blas_sought || s->arrangement.layout->flops < worth) return;
  s->blas_sought = 1;
  gik_blas_open_if_good(s->ctx->threads, &s->blas);
}

/* Is the layout of a file, maybe forged, one that the numbers of this pattern stay inside? */
static gable_status look_at_loaded(gable_solver *s, gi_factor_kind kind)
{
  gable_status status = GABLE_OK;
  gi_arrangement *a = &s->arrangement;
  const gi_permuted *p = &s->permuted;
  int closed;
  if (!a->loaded) return GABLE_OK;
  GI_TRY(gi_factor_is_closed(s->ctx, a->layout, kind, &p->columns, &p->rows, &closed));
  GI_REQUIRE(closed, GABLE_ERR_FORMAT,
             "the structure that was loaded has no place for all that this matrix fills: analyse it again");
  a->loaded = 0;
done:
  return status;
}

gable_status gi_pipeline_eliminate(gable_solver *s)
{
  gable_status status = GABLE_OK;
  gi_arrangement *a = &s->arrangement;
  const double begin = gi_now();
  gi_factor_options how = {
      .threads = s->ctx->threads, .tiny = s->options.tiny_pivot, .blas = s->blas.library ? &s->blas : NULL};
  if (how.tiny == 0 && a->matched == 2) how.tiny = 1e-20; /* the largest pivot of its column is small for a reason */
  if (how.tiny == 0 && a->keeps_small)
    how.tiny = 64 * (s->options.factor_type == GABLE_TYPE_S ? FLT_EPSILON : DBL_EPSILON);
  gik_blas_begin(how.blas, how.threads);
  status = gi_factor_numeric(s->ctx, s->factor, &s->permuted.columns,
                             gi_arrangement_kind(a) == GI_LU ? &s->permuted.rows : NULL, &how);
  gik_blas_end(how.blas, how.threads);
  GI_TRY(status);
  GI_TRY(gi_thin_update(s->ctx, a->plan, s->factor));
  s->other_values = 0;
  s->phase = GI_PHASE_FACTORED;
done:
  s->factor_s = gi_now() - begin;
  return status;
}

gable_status gi_pipeline_numeric(gable_solver *s)
{
  gable_status status = GABLE_OK;
  gi_arrangement *a = &s->arrangement;
  const gi_factor_kind kind = gi_arrangement_kind(a);
  double begin = gi_now();
  gi_problem_measure(&s->problem);
  choose_blas(s);
  if (!s->factor) GI_TRY(gi_factor_create(s->ctx, a->layout, kind, s->options.factor_type, &s->factor));
  if (!s->permuted.columns.ptr)
    GI_TRY(gi_permuted_init(s->ctx, &s->problem, a->row_perm, a->col_perm, kind != GI_LU, &s->permuted));
  GI_TRY(look_at_loaded(s, kind));
  GI_TRY(gi_permuted_fill(s->ctx, &s->permuted, &s->problem, a->row_perm, a->col_perm, a->r, a->c));
  GI_TRY(gi_pipeline_eliminate(s));
done:
  s->factor_s = gi_now() - begin;
  return status;
}

/* Values that are no longer symmetric cannot be factored by one triangle, whatever the caller wants kept.  A promise of
 * the view, or a method that was asked for, was held against them before, and they break it by rounding alone. */
static gable_status leave_symmetry(gable_solver *s, int *left)
{
  const gable_method method = s->arrangement.method;
  const int kept =
      s->options.method != GABLE_METHOD_AUTO || (method == GABLE_METHOD_CHOLESKY && s->problem.promised_spd);
  *left = method != GABLE_METHOD_LU && !kept && !s->problem.values_symmetric;
  if (!*left) return GABLE_OK;
  gi_log(s->ctx, GABLE_LOG_INFO, "the values are no longer symmetric: turning from %s to LU",
         method == GABLE_METHOD_LDLT ? "L D L^T" : "Cholesky");
  return gi_pipeline_arrange(s, &s->options, 0);
}

static gable_status factor_values(gable_solver *s, const void *val, gable_reuse reuse)
{
  gable_status status = GABLE_OK;
  int first = s->phase == GI_PHASE_ANALYSED, left = 0;
  if (s->phase == GI_PHASE_FACTORED) s->phase = GI_PHASE_ANALYSED;
  if (val) GI_TRY(gi_problem_set_values(s->ctx, &s->problem, val));
  GI_REQUIRE(s->options.method != GABLE_METHOD_LDLT || s->problem.values_symmetric, GABLE_ERR_ARGUMENT,
             "L D L^T was asked for, but the values are not symmetric");
  if (reuse <= GABLE_REUSE_PATTERN && (val || !first))
    GI_TRY(gi_pipeline_arrange(s, &s->options, 0));
  else
    GI_TRY(leave_symmetry(s, &left));
  if (reuse == GABLE_REUSE_ROWS && !left) gi_arrangement_rescale(&s->problem, &s->arrangement);
  GI_TRY(gi_attempts_factor(s, reuse <= GABLE_REUSE_PATTERN || (first && !val) || left));
done:
  if (status && s->phase == GI_PHASE_FACTORED) s->phase = GI_PHASE_ANALYSED;
  return status;
}

gable_status gi_pipeline_factor(gable_solver *s, const void *val, gable_reuse reuse)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(s->phase != GI_PHASE_EMPTY, GABLE_ERR_STATE, "nothing was analysed: call gable_solver_analyse first");
  GI_REQUIRE(s->arrangement.matched != GI_ROWS_IMPORTED, GABLE_ERR_STATE,
             "the factors were imported: call gable_solver_analyse to factor the matrix here");
  GI_REQUIRE(val || s->problem.rows.val, GABLE_ERR_ARGUMENT, "the analysed matrix had no values: give them now");
  if (val) GI_TRY(gi_problem_check_values(s->ctx, &s->problem, val)); /* when they are refused the factor stays */
  GI_TRY(factor_values(s, val, reuse));
done:
  return status;
}

void gi_pipeline_predict(const gable_solver *s, double *host_s, double *device_s)
{
  const gi_layout *y = s->arrangement.layout;
  const double solves = (double)s->options.solves;
  const gable_idx rhs = s->options.solve_rhs;
  const gable_off u = s->arrangement.method == GABLE_METHOD_LU ? y->nnz_u : y->nnz_l;
  const gi_solve_size size = {.rows = y->n,
                              .supernodes = y->n_super,
                              .entries = (double)(y->nnz_l + u),
                              .height = y->height,
                              .flops = y->flops,
                              .bytes = gi_solve_floor_bytes(s->arrangement.plan, s->factor, 1),
                              .threads = gi_solve_plan_threads(s->arrangement.plan, s->ctx->threads)};
  *host_s = solves * gi_cost_host_solve_s(&size, rhs);
  const gik_gpu_class *gpu = s->ctx->device->gpu_class(s->ctx);
  *device_s = gi_cost_prepare_s(gpu, &size) +
              solves * (s->launched_s > 0 ? s->launched_s : gi_cost_device_solve_s(gpu, &size, rhs));
}

static int belongs_on_device(const gable_solver *s)
{
  double host_s, device_s;
  if (!gi_has_device_memory(s->ctx) || s->options.place == GABLE_PLACE_HOST) return 0;
  if (s->options.place == GABLE_PLACE_CONTEXT) return 1;
  if (s->no_room) return 0;
  if (s->triangles) return 0; /* nothing predicts what they take */
  gi_pipeline_predict(s, &host_s, &device_s);
  gi_log(s->ctx, GABLE_LOG_INFO, "%lld solves: %.2e s predicted on the CPU, %.2e s on the GPU",
         (long long)s->options.solves, host_s, device_s);
  return device_s < host_s;
}

/* With the form of options.solve_method. */
static gable_status prepare_on_host(gable_solver *s)
{
  gable_status status = GABLE_OK;
  const gi_arrangement *a = &s->arrangement;
  const gi_cluster_outside outside = {a->row_perm, a->col_perm, a->r, a->c};
  const gable_solve_method method = s->options.solve_method;
  const double begin = gi_now();
  int moved = 0;
  if (s->device) s->structure++; /* works of it are refused */
  gi_device_factor_destroy(s->ctx, &s->device);
  gi_device_matrix_destroy(s->ctx, &s->device_matrix);
  if (s->named && !gi_method_solver_fits(s->named, s->factor)) gi_method_solver_destroy(&s->host, &s->named);
  if (method)
    GI_TRY(gi_method_solver_update(&s->host, s->factor,
                                   method == GABLE_SOLVE_PARTITIONED_CUSPARSE ? GABLE_SOLVE_PARTITIONED : method,
                                   s->options.merge_blocks, &outside, &s->named, &moved));
  s->named_s = gi_now() - begin;
done:
  return status;
}

/* *there 0: what runs there is known only now, and the CPU is predicted to take less. */
static gable_status prepare_on_device(gable_solver *s, int *there)
{
  gable_status status = GABLE_OK;
  const gable_solver_options *o = &s->options;
  int moved = 1;
  gi_method_solver_destroy(&s->host, &s->named);
  if (s->triangles)
    GI_TRY(gi_device_factor_of_triangles(s->ctx, &s->arrangement, s->triangles, &s->device));
  else
    GI_TRY(gi_device_factor_update(s->ctx, &s->arrangement, s->factor, o->solve_method, o->merge_blocks, &s->device,
                                   &moved));
  if (moved) s->structure++; /* works of the old one, and of the CPU, are refused */
  s->launched_s = gi_device_factor_launched_s(s->ctx, s->device, o->solve_rhs);
  if (s->launched_s > 0) *there = belongs_on_device(s);
  if (!*there) goto done;
  if (gi_pipeline_has_matrix(s))
    GI_TRY(gi_device_matrix_update(s->ctx, &s->problem, s->factor ? s->factor->perturbed : 0, s->singular,
                                   &s->device_matrix));
  else
    gi_device_matrix_destroy(s->ctx, &s->device_matrix);
done:
  return status;
}

/* The same; where memory does not hold them and the place is ours to choose, the CPU serves until the next analysis. */
static gable_status try_device(gable_solver *s, int *there)
{
  gi_error before, found;
  gi_keep_error(&before);
  const gable_status status = prepare_on_device(s, there);
  if (status != GABLE_ERR_MEMORY || s->options.place != GABLE_PLACE_SHORTER) return status;
  gi_keep_error(&found);
  gi_adopt_error(&before);
  gi_log(s->ctx, GABLE_LOG_WARNING, "too little memory to prepare the factor on the GPU (%s): the CPU solves",
         found.message);
  s->structure++; /* works of a factor that was there are refused */
  s->no_room = 1;
  *there = 0;
  return GABLE_OK;
}

/* Solve methods by name take supernodes: triangles become panels, whatever zeros these then hold. */
static gable_status make_panels(gable_solver *s)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = s->ctx;
  const gi_triangles *t = s->triangles;
  gi_arrangement *a = &s->arrangement;
  gable_idx *const orders[] = {a->row_perm, a->col_perm};
  gable_idx *perm = NULL, *before = NULL;
  GI_ALLOC(ctx, perm, t->n);
  GI_ALLOC(ctx, before, t->n);
  GI_TRY(
      gi_factor_import(ctx, &t->l, t->kind == GI_LU ? &t->u : NULL, NULL, t->type, NULL, perm, &a->layout, &s->factor));
  GI_TRY(gi_solve_plan_create(ctx, a->layout, NULL, &a->plan));
  GI_TRY(gi_thin_update(ctx, a->plan, s->factor));
  for (int side = 0; side < 2; side++) {
    memcpy(before, orders[side], (size_t)t->n * sizeof *before);
    for (gable_idx k = 0; k < t->n; k++) orders[side][k] = before[perm[k]];
  }
  gi_triangles_destroy(&s->triangles);
done:
  GI_FREE(ctx, perm, before);
  return status;
}

gable_status gi_pipeline_prepare(gable_solver *s)
{
  gable_status status = GABLE_OK;
  if (s->triangles && s->options.solve_method) GI_TRY(make_panels(s));
  gi_update_order_settle(&s->order); /* all that is new there goes by the context's stream, and is awaited */
  int there = belongs_on_device(s);
  if (there) GI_TRY(try_device(s, &there));
  if (!there) GI_TRY(prepare_on_host(s));
done:
  if (status) {
    s->phase = GI_PHASE_ANALYSED;
    s->structure++; /* works may refer to what is gone */
  }
  return status;
}

gable_status gi_pipeline_prepare_taken(gable_solver *s)
{
  const gable_status status = gi_pipeline_prepare(s);
  if (status) gi_pipeline_clear(s);
  return status;
}
