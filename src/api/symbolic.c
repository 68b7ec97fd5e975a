/* symbolic.c: gable_symbolic: what a solver arranges, by the pattern or by the numbers that it keeps. */
#include <gable/symbolic.h>

#include <string.h>

#include "api/entry.h"
#include "api/structs.h"
#include "graph/order/order.h"
#include "pipeline/pipeline.h"
#include "sparse/symmetry.h"
#include "sparse/view.h"
#include "supernodal/clusters/clusters.h"

struct gable_symbolic {
  gable_context *ctx;
  gable_idx *rows, *cols; /* [n] */
  gi_layout *layout;
  gable_symbolic_info info;
};

static gable_status method_from(const char *name, gi_order_method *out)
{
  int m = GI_ORDER_AUTO;
  while (m < GI_ORDER_METHODS && strcmp(name, gi_order_name((gi_order_method)m))) m++;
  GI_CHECK(m < GI_ORDER_METHODS, GABLE_ERR_ARGUMENT,
           "'%.40s' is no order: say auto, metis, amd, colamd, natural or user", name);
  *out = (gi_order_method)m;
  return GABLE_OK;
}

static gable_status options_from(const gable_symbolic_options *given, gable_symbolic_options *own)
{
  gi_order_method method = GI_ORDER_AUTO;
  GI_PASS(gi_take_symbolic_options(given, own));
  if (!own->order) own->order = "auto";
  GI_PASS(method_from(own->order, &method));
  GI_CHECK(own->form >= GABLE_FORM_AUTO && own->form <= GABLE_FORM_LDLT, GABLE_ERR_ARGUMENT, "form is %d",
           (int)own->form);
  GI_CHECK(own->solves >= 0, GABLE_ERR_ARGUMENT, "%lld solves expected", (long long)own->solves);
  GI_CHECK(own->values == 0 || own->values == 1, GABLE_ERR_ARGUMENT, "values is %d: 0 or 1", own->values);
  GI_CHECK(own->max_width >= 0, GABLE_ERR_ARGUMENT, "max_width is %d", own->max_width);
  return GABLE_OK;
}

/* p: the pattern of a, and its values where matching can use them. */
static gable_status read_matrix(gable_context *ctx, const gable_matrix_view *a, gi_problem *p)
{
  gable_matrix_view view;
  GI_GIVEN(a, "the matrix");
  GI_PASS(gi_take_matrix_view(a, &view));
  GI_PASS(gi_view_check(&view));
  GI_PASS(gi_symmetry_check_view(ctx, &view));
  if (view.value_type != GABLE_TYPE_D && view.value_type != GABLE_TYPE_S) {
    view.val = NULL;
    view.value_type = GABLE_TYPE_D;
  }
  return GI_TRACED(gi_problem_init(ctx, &view, p));
}

/* What the solver is asked for by these options.  A symmetric pattern without values is a graph: its diagonal counts as
 * there. */
static gable_status solver_options_from(const gable_symbolic_options *options, const gi_problem *p,
                                        gable_solver_options *out)
{
  const int graph = p->pattern_symmetric && !p->rows.val;
  static const gable_method method_of[] = {GABLE_METHOD_AUTO, GABLE_METHOD_LU, GABLE_METHOD_LU, GABLE_METHOD_CHOLESKY,
                                           GABLE_METHOD_LDLT};
  gi_order_method order = GI_ORDER_AUTO;
  *out = (gable_solver_options)GABLE_SOLVER_OPTIONS_INIT;
  GI_PASS(method_from(options->order, &order));
  out->order = (gable_order)order;
  out->user_order = options->user_order;
  out->solves = options->solves;
  out->method = method_of[options->form];
  out->match = options->keep_rows || graph ? GABLE_CHOICE_NEVER : GABLE_CHOICE_AUTO;
  out->blocks = options->keep_whole ? GABLE_CHOICE_NEVER : GABLE_CHOICE_AUTO;
  return GABLE_OK;
}

static gable_form form_of(const gi_arrangement *a)
{
  if (a->method == GABLE_METHOD_CHOLESKY) return GABLE_FORM_CHOLESKY;
  if (a->method == GABLE_METHOD_LDLT) return GABLE_FORM_LDLT;
  return a->layout->symmetric ? GABLE_FORM_SYMMETRIC : GABLE_FORM_UNSYMMETRIC;
}

/* Permutations and layout become s's. */
static void take(gable_symbolic *s, gi_arrangement *a)
{
  s->info.structural_rank = a->rank;
  s->info.matched = a->matched;
  s->info.match_s = a->match_s;
  s->info.order_s = a->order_s;
  s->info.symbolic_s = a->symbolic_s;
  s->info.order = gi_order_name((gi_order_method)a->order);
  s->info.long_rows = a->long_rows;
  s->info.form = form_of(a);
  s->rows = a->row_perm, s->cols = a->col_perm, s->layout = a->layout;
  a->row_perm = a->col_perm = NULL;
  a->layout = NULL;
}

/* Arranges as gable_solver_analyse does. */
static gable_status arrange(gable_symbolic *s, const gable_symbolic_options *options, gi_problem *p)
{
  gable_status status = GABLE_OK;
  gable_solver_options how;
  gi_arrangement a = {0};
  GI_TRY(solver_options_from(options, p, &how));
  GI_REQUIRE(how.method != GABLE_METHOD_LDLT || p->pattern_symmetric, GABLE_ERR_ARGUMENT,
             "L D L^T was asked for, but the pattern of the matrix is not symmetric");
  const int plain = options->form == GABLE_FORM_SYMMETRIC || options->form == GABLE_FORM_UNSYMMETRIC;
  const gi_prediction predicted = {.form = plain ? (gi_symbolic_form)options->form : GI_SYMBOLIC_AUTO,
                                   .max_width = options->max_width,
                                   .exact = options->exact};
  GI_TRY(gi_arrange(s->ctx, p, &how, &predicted, &a));
  take(s, &a);
  s->info.analyses = 1;
done:
  gi_arrangement_release(s->ctx, &a);
  return status;
}

/* Factors as gable_solver_factor does: the arrangement that is kept. */
static gable_status arrange_and_factor(gable_symbolic *s, const gable_symbolic_options *options,
                                       const gable_matrix_view *a, const gi_problem *p)
{
  gable_status status = GABLE_OK;
  gable_solver_options how;
  gable_solver *solver = NULL;
  GI_REQUIRE(p->rows.val, GABLE_ERR_ARGUMENT, "the values are to be factored, and the matrix has no real ones");
  GI_REQUIRE(options->form != GABLE_FORM_SYMMETRIC && options->form != GABLE_FORM_UNSYMMETRIC, GABLE_ERR_ARGUMENT,
             "a form of L and U is asked for, which a factorization chooses itself");
  GI_REQUIRE(!options->max_width && !options->exact, GABLE_ERR_ARGUMENT,
             "supernodes are asked for that no factorization has: max_width %d, exact %d", options->max_width,
             options->exact);
  GI_TRY(solver_options_from(options, p, &how));
  how.place = GABLE_PLACE_HOST;
  GI_TRY(gable_solver_create(s->ctx, &how, &solver));
  GI_TRY(gable_solver_analyse(solver, a));
  GI_TRY(gable_solver_factor(solver, NULL, GABLE_REUSE_NOTHING));
  gi_factor_destroy(s->ctx, &solver->factor); /* it refers to the layout, as does the plan */
  gi_solve_plan_destroy(s->ctx, &solver->arrangement.plan);
  s->info.analyses = solver->analyses;
  take(s, &solver->arrangement);
done:
  gable_solver_destroy(&solver);
  return status;
}

/* What can be read off the layout. */
static void fill_info(gable_symbolic *s)
{
  gable_symbolic_info *f = &s->info;
  const gi_layout *y = s->layout;
  const gable_off off = y->off_ptr ? y->off_ptr[y->n] : 0;
  f->blocks = y->n_blocks;
  for (gable_idx b = 0; b < y->n_blocks; b++) {
    const gable_idx rows = y->block[b + 1] - y->block[b];
    if (rows > f->largest_block) f->largest_block = rows;
  }
  f->supernodes = y->n_super;
  for (gable_idx k = 0; k < y->n_super; k++) {
    if (gi_layout_width(y, k) > f->widest) f->widest = gi_layout_width(y, k);
  }
  f->height = y->height;
  f->nnz_l = y->nnz_l;
  f->nnz_u = y->nnz_u;
  f->stored = y->lval[y->n_super] + y->uval[y->n_super];
  f->indices = y->lptr[y->n_super] + (y->symmetric ? 0 : y->uptr[y->n_super]);
  f->flops = y->flops;
  f->memory_bytes =
      (gable_off)sizeof(double) * (f->stored + off + y->n) +
      (gable_off)sizeof(gable_idx) * (f->indices + off + 2 * (gable_off)y->n + 2 * (gable_off)y->n_super) +
      (gable_off)sizeof(gable_off) * (4 * (gable_off)y->n_super + (y->off_ptr ? y->n : 0));
}

gable_status gable_symbolic_create(gable_context *ctx, const gable_matrix_view *a,
                                   const gable_symbolic_options *options, gable_symbolic **out)
{
  gable_status status = GABLE_OK;
  gable_symbolic *s = NULL;
  gable_symbolic_options own;
  gi_problem problem = {0};
  GI_REQUIRE(ctx && out, GABLE_ERR_ARGUMENT, "%s is NULL", ctx ? "out" : "ctx");
  *out = NULL;
  GI_TRY(options_from(options, &own));
  GI_TRY(read_matrix(ctx, a, &problem));
  GI_ALLOC_ZERO(ctx, s, 1);
  s->ctx = ctx;
  s->info = (gable_symbolic_info)GABLE_SYMBOLIC_INFO_INIT;
  s->info.n = problem.n;
  s->info.nnz = problem.rows.ptr[problem.n];
  if (own.values)
    GI_TRY(arrange_and_factor(s, &own, a, &problem));
  else
    GI_TRY(arrange(s, &own, &problem));
  fill_info(s);
  *out = s;
  s = NULL;
done:
  gable_symbolic_destroy(&s);
  if (ctx) gi_problem_release(ctx, &problem);
  return status;
}

gable_status gable_symbolic_get_info(const gable_symbolic *s, gable_symbolic_info *info)
{
  GI_CHECK(s && info, GABLE_ERR_ARGUMENT, "%s is NULL", s ? "info" : "the symbolic object");
  return GI_TRACED(gi_give_symbolic_info(&s->info, info));
}

gable_status gable_symbolic_get_view(const gable_symbolic *s, gable_symbolic_view *view)
{
  GI_CHECK(s && view, GABLE_ERR_ARGUMENT, "%s is NULL", s ? "view" : "the symbolic object");
  const gi_layout *y = s->layout;
  const gable_symbolic_view own = {sizeof own, s->rows, s->cols, y->n_super, y->n_blocks, y->super,   y->parent,
                                   y->lptr,    y->lrow, y->uptr, y->ucol,    y->block,    y->off_ptr, y->off_row};
  return GI_TRACED(gi_give_symbolic_view(&own, view));
}

gable_status gable_symbolic_get_blocks(const gable_symbolic *s, int merged, gable_idx *n_blocks, gable_idx *level,
                                       gable_idx *columns, gable_idx *rows)
{
  gable_status status = GABLE_OK;
  gi_cluster_options options = GI_CLUSTER_OPTIONS_INIT;
  gi_clusters *c = NULL;
  GI_REQUIRE(s && n_blocks, GABLE_ERR_ARGUMENT, "%s is NULL", s ? "n_blocks" : "the symbolic object");
  GI_REQUIRE(merged == 0 || merged == 1, GABLE_ERR_ARGUMENT, "merged is %d: 0 or 1", merged);
  if (!merged) options.max_width = 1;
  GI_TRY(gi_clusters_create(s->ctx, s->layout, &options, &c));
  *n_blocks = c->count;
  for (gable_idx l = 0; l < c->n_levels; l++)
    for (gable_idx k = c->level_ptr[l]; k < c->level_ptr[l + 1]; k++) {
      if (level) level[k] = l;
      if (columns) columns[k] = gi_cluster_width(c, k);
      if (rows) rows[k] = (gable_idx)(c->l.ptr[k + 1] - c->l.ptr[k]);
    }
done:
  if (s) gi_clusters_destroy(s->ctx, &c);
  return status;
}

void gable_symbolic_destroy(gable_symbolic **s)
{
  if (!s || !*s) return;
  gable_symbolic *p = *s;
  *s = NULL;
  gi_layout_destroy(p->ctx, &p->layout);
  GI_FREE(p->ctx, p->rows, p->cols, p);
}
