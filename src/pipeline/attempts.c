/* attempts.c: a factorization is tried, judged by the systems that it solves, and kept or set aside for the next. */
#include "pipeline/attempts.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/timer.h"
#include "pipeline/work.h"

/* Iterations of GMRES with which a factor is still good: solves with them cost less than another analysis and
 * factorization, which take as long as about ATTEMPT sweeps, and FLOPS operations of the factorization as long as an
 * entry of a sweep. */
static gable_idx good_iterations(const gable_solver *s)
{
  enum { ATTEMPT = 40, FLOPS = 10, LEAST = 2, MOST = 8 };
  const double solves = gi_solves_expected(&s->options);
  const gi_layout *y = s->arrangement.layout;
  const double sweeps = ATTEMPT + y->flops / (FLOPS * (double)(y->nnz_l + y->nnz_u + 1)), each = sweeps / solves - 2;
  return each < LEAST ? LEAST : each > MOST ? MOST : (gable_idx)each;
}

static const double GROWTH = 1e6; /* of max |U| over max |A'|: nothing is suspicious below */

void gi_attempt_release(gable_context *ctx, gi_attempt *a)
{
  gi_factor_destroy(ctx, &a->factor);
  gi_arrangement_release(ctx, &a->arrangement);
  memset(a, 0, sizeof *a);
}

int gi_attempt_has_grown(const gi_factor *f)
{
  return f->max_factor > GROWTH * f->max_entry;
}

/* Static pivots of a matrix that is not dominant: L and U may be small everywhere and their inverses overflow. */
static int may_hide_growth(const gable_solver *s)
{
  const gi_arrangement *a = &s->arrangement;
  return a->method == GABLE_METHOD_LU && s->options.match == GABLE_CHOICE_AUTO && !gi_problem_is_dominant(&s->problem);
}

/* b in nobody's range by chance, of the rows' or columns' own sizes: A times ones says nothing about a nearly singular
 * direction. */
static void draw(gi_random *r, gable_idx n, const double *size, double *b)
{
  for (gable_idx i = 0; i < n; i++) b[i] = (2 * gi_random_unit(r) - 1) * size[i];
}

/* x solves a nearly singular system: GMRES may have reached the tolerance by its size alone, and not for the next b. */
static int is_huge(const gi_system *a, const double *b, const double *x)
{
  return gi_largest(a->n, x) * gi_largest(a->n, a->row_max) > 1e12 * gi_largest(a->n, b);
}

/* One system with A and, when that reaches the tolerance, one with its transpose where that is another matrix: by
 * corrections, and by so many iterations of GMRES where they do not reach it. */
static gable_status solve_probes(gable_solver *s, gable_idx most_gmres, gi_verdict *v)
{
  gable_status status = GABLE_OK;
  gable_solver_work *w = NULL;
  double *b = NULL, *x = NULL;
  const gable_idx n = s->problem.n;
  const double tolerance = gi_pipeline_tolerance(s, GABLE_TYPE_D);
  const int last_op = s->factor->kind == GI_LU ? GABLE_OP_T : GABLE_OP_N;
  gi_random r = gi_random_seed(1);
  *v = (gi_verdict){0};
  GI_TRY(gi_pipeline_work_create(s, 1, most_gmres, 0, &w));
  GI_ALLOC(s->ctx, b, n);
  GI_ALLOC(s->ctx, x, n);
  const gi_system a = gi_problem_system(&s->problem, s->ctx->threads);
  const gi_refine_options how = gi_work_refine_options(s, GABLE_TYPE_D, most_gmres);
  for (int op = GABLE_OP_N; op <= last_op && v->error <= tolerance; op++) {
    gi_refine_result result;
    draw(&r, n, op == GABLE_OP_N ? a.row_max : a.col_max, b);
    GI_TRY(gi_pipeline_refines(s, w, (gable_op)op, b, x, &how, &result));
    if (result.gmres_iterations && is_huge(&a, b, x)) result.backward_error = result.first_error;
    v->error = fmax(v->error, result.backward_error);
    if (result.gmres_iterations > v->gmres) v->gmres = result.gmres_iterations;
  }
done:
  gi_pipeline_work_destroy(&w);
  GI_FREE(s->ctx, b, x);
  return status;
}

/* Do pivots and growth leave the factor above suspicion, or is it a Cholesky of all of A?  If not: what can be solved
 * with it?  fresh: it was arranged for these values, and what hides from pivots and growth is looked for. */
static gable_status judge(gable_solver *s, int fresh, int *good)
{
  gable_status status = GABLE_OK;
  const gi_factor *f = s->factor;
  gi_verdict *v = &s->verdict;
  const double begin = gi_now(), tolerance = gi_pipeline_tolerance(s, GABLE_TYPE_D);
  const int small = f->perturbed == 0 && !gi_attempt_has_grown(f);
  *v = (gi_verdict){0};
  *good = f->kind == GI_CHOLESKY ? s->problem.values_symmetric : small && !(fresh && may_hide_growth(s));
  if (*good) return GABLE_OK;
  GI_TRY(solve_probes(s, 0, v));
  if (v->error > tolerance && isfinite(v->error)) GI_TRY(solve_probes(s, good_iterations(s), v));
  *good = v->error <= tolerance;
done:
  s->judge_s += gi_now() - begin;
  return status;
}

static int is_better(const gi_verdict *v, const gi_verdict *than, double tolerance)
{
  if (v->error <= tolerance && than->error <= tolerance) return v->gmres < than->gmres;
  return v->error < than->error;
}

/* The factor that is there is not good enough.  The better one of it and the one set aside is kept, for the time when
 * nothing better is found. */
static void reject(gable_solver *s)
{
  gi_attempt *aside = &s->aside;
  gi_arrangement *a = &s->arrangement;
  s->rejected++;
  s->rejected_s += s->factor_s;
  if (!s->factor || (aside->factor && !is_better(&s->verdict, &aside->verdict, gi_pipeline_tolerance(s, GABLE_TYPE_D))))
    return;
  const gi_arrangement times = {
      .order_s = a->order_s, .match_s = a->match_s, .symbolic_s = a->symbolic_s, .structure_s = a->structure_s};
  gi_attempt_release(s->ctx, aside);
  *aside = (gi_attempt){*a, s->factor, s->verdict, s->factor_s};
  *a = times;
  s->factor = NULL;
}

/* The attempt set aside takes the place of the one that is there, if it is better. */
static void take_best(gable_solver *s)
{
  gi_attempt best = s->aside;
  if (!best.factor || !is_better(&best.verdict, &s->verdict, gi_pipeline_tolerance(s, GABLE_TYPE_D))) return;
  memset(&s->aside, 0, sizeof s->aside);
  s->rejected_s += s->factor_s - best.factor_s;
  best.arrangement.order_s = best.arrangement.match_s = 0;
  best.arrangement.symbolic_s = best.arrangement.structure_s = 0;
  gi_pipeline_adopt(s, &best.arrangement);
  s->analyses--; /* nothing was analysed */
  s->factor = best.factor;
  s->verdict = best.verdict;
  s->factor_s = best.factor_s;
  s->phase = GI_PHASE_FACTORED;
}

/* Pivots were replaced by larger ones, and yet nothing grew: their columns are small as well, and no other row had a
 * better one.  Then those above rounding are kept as they are, and the factor is one of A itself.  Where others are
 * left, or something grows, all are replaced as before. */
static gable_status keep_small_pivots(gable_solver *s)
{
  gable_status status = GABLE_OK;
  gi_arrangement *a = &s->arrangement;
  const gi_factor *f = s->factor;
  if (f->kind == GI_CHOLESKY || a->matched == 2 || s->options.tiny_pivot > 0) goto done;
  int wrong = f->perturbed > 0 && (a->keeps_small || !gi_attempt_has_grown(f));
  while (wrong) {
    s->rejected++;
    s->rejected_s += s->factor_s;
    a->keeps_small = !a->keeps_small;
    GI_TRY(gi_pipeline_eliminate(s));
    wrong = a->keeps_small && (f->perturbed > 0 || gi_attempt_has_grown(f));
  }
done:
  return status;
}

static gable_status numbers(gable_solver *s)
{
  gable_status status = GABLE_OK;
  GI_TRY(gi_pipeline_numeric(s));
  GI_TRY(keep_small_pivots(s));
done:
  return status;
}

/* The numbers of a problem arranged anew. */
static gable_status again(gable_solver *s, gable_method method, gable_choice match, int keep_order)
{
  gable_status status = GABLE_OK;
  gable_solver_options second = s->options;
  second.method = method;
  second.match = match;
  GI_TRY(gi_pipeline_arrange(s, &second, keep_order));
  GI_TRY(numbers(s));
done:
  return status;
}

/* Cholesky where it was chosen; where it fails L D L^T with the same order. */
static gable_status factor_either(gable_solver *s)
{
  gable_status status = numbers(s);
  if (status != GABLE_ERR_SINGULAR || s->arrangement.method != GABLE_METHOD_CHOLESKY ||
      s->options.method != GABLE_METHOD_AUTO)
    return status;
  const gable_method next = s->problem.values_symmetric ? GABLE_METHOD_LDLT : GABLE_METHOD_LU;
  gi_log(s->ctx, GABLE_LOG_INFO, "not positive definite: turning from Cholesky to %s",
         next == GABLE_METHOD_LDLT ? "L D L^T" : "LU");
  gi_factor_destroy(s->ctx, &s->factor);
  reject(s);
  return again(s, next, s->options.match, 1);
}

/* An L D L^T that came out badly: once more with the pairs of a matching, if it had none, then LU. */
static gable_status turn_from_ldlt(gable_solver *s, int *good)
{
  gable_status status = GABLE_OK;
  if (!s->arrangement.matched && s->options.match == GABLE_CHOICE_AUTO) {
    reject(s);
    GI_TRY(again(s, GABLE_METHOD_LDLT, GABLE_CHOICE_ALWAYS, 0));
    GI_TRY(judge(s, 1, good));
  }
  if (*good || s->options.method != GABLE_METHOD_AUTO) goto done;
  gi_log(s->ctx, GABLE_LOG_INFO, "pivots of one and two columns are not enough: turning from L D L^T to LU");
  reject(s);
  GI_TRY(again(s, GABLE_METHOD_LU, s->options.match, 0));
  GI_TRY(judge(s, 1, good));
done:
  return status;
}

/* The rows that threshold partial pivoting takes under the order of base, which is s->arrangement or the one set aside.
 */
static gable_status pivot(gable_solver *s, const gi_arrangement *base, double threshold, int *good)
{
  gable_status status = GABLE_OK;
  gi_permuted p = {0};
  gi_arrangement a = {0};
  const gi_csc *columns = &p.columns;
  if (base == &s->arrangement && s->permuted.columns.val) {
    columns = &s->permuted.columns;
  } else {
    GI_TRY(gi_permuted_init(s->ctx, &s->problem, base->row_perm, base->col_perm, 0, &p));
    GI_TRY(gi_permuted_fill(s->ctx, &p, &s->problem, base->row_perm, base->col_perm, base->r, base->c));
  }
  GI_TRY(gi_arrange_pivots(s->ctx, columns, &s->options, threshold, base, &a));
  gi_permuted_release(s->ctx, &p);
  if (s->factor) reject(s);
  gi_pipeline_adopt(s, &a);
  GI_TRY(gi_pipeline_numeric(s));
  GI_TRY(judge(s, 1, good));
done:
  gi_permuted_release(s->ctx, &p);
  gi_arrangement_release(s->ctx, &a);
  return status;
}

/* Where the answer of all else overflows: columns as they came and the largest pivots, as LAPACK has them.  An order
 * for low fill, or the scalings of a matching, may have made a triangle whose inverse no double holds. */
static gable_status pivot_in_natural_order(gable_solver *s, int *good)
{
  gable_status status = GABLE_OK;
  gable_solver_options how = s->options;
  how.method = GABLE_METHOD_LU;
  how.match = GABLE_CHOICE_NEVER;
  how.blocks = GABLE_CHOICE_NEVER;
  how.order = GABLE_ORDER_NATURAL;
  gi_log(s->ctx, GABLE_LOG_INFO, "the answer overflows: turning to partial pivoting in the natural order");
  reject(s);
  GI_TRY(gi_pipeline_arrange(s, &how, 0));
  GI_TRY(pivot(s, &s->arrangement, 1, good));
done:
  return status;
}

static gable_off values_of(const gi_arrangement *a)
{
  const gi_layout *y = a->layout;
  return y->lval[y->n_super] + y->uval[y->n_super];
}

/* Partial pivoting under the order that led to less fill: the matching's, or the one without. */
static gable_status pivot_last(gable_solver *s, int *good)
{
  gable_status status = GABLE_OK;
  const gi_arrangement *aside = &s->aside.arrangement, *base = &s->arrangement;
  if (s->aside.factor && aside->method == GABLE_METHOD_LU && values_of(aside) < values_of(base)) base = aside;
  GI_TRY(pivot(s, base, 0.1, good));
  if (!*good && isinf(s->verdict.error) && s->options.order == GABLE_ORDER_AUTO)
    GI_TRY(pivot_in_natural_order(s, good));
done:
  return status;
}

gable_status gi_attempts_factor(gable_solver *s, int may_arrange)
{
  gable_status status = GABLE_OK;
  const uint64_t structure = s->structure;
  const int chosen = s->options.method == GABLE_METHOD_AUTO;
  int good = 1;
  s->rejected = 0;
  s->rejected_s = s->judge_s = 0;
  GI_TRY(factor_either(s));
  GI_TRY(judge(s, may_arrange || s->structure != structure, &good));
  if (!good && (may_arrange || chosen) && s->arrangement.method == GABLE_METHOD_LDLT) GI_TRY(turn_from_ldlt(s, &good));
  may_arrange = (may_arrange || s->structure != structure) && s->options.match == GABLE_CHOICE_AUTO &&
                s->arrangement.method == GABLE_METHOD_LU;
  if (!good && may_arrange && !s->arrangement.matched) {
    reject(s);
    GI_TRY(again(s, GABLE_METHOD_LU, GABLE_CHOICE_ALWAYS, 0));
    GI_TRY(judge(s, 1, &good));
  }
  if (!good && may_arrange && s->arrangement.matched == 1) GI_TRY(pivot_last(s, &good));
  if (!good) take_best(s);
  s->drift = !good;
  const double begin = gi_now();
  GI_TRY(gi_pipeline_find_singular(s));
  s->judge_s += gi_now() - begin;
done:
  gi_attempt_release(s->ctx, &s->aside);
  gi_problem_forget_matching(s->ctx, &s->problem);
  gi_permuted_empty(s->ctx, &s->permuted);
  return status;
}
