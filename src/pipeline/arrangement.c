#include "pipeline/arrangement.h"

#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "factor/partial_pivoting.h"
#include "graph/btf.h"
#include "graph/match/matching_cardinality.h"
#include "graph/match/pairs.h"
#include "graph/order/order.h"
#include "graph/symbolic/symbolic_symmetric.h"
#include "pipeline/equilibrate.h"

static gable_method choose_method(const gi_problem *p, const gable_solver_options *options)
{
  if (options->method != GABLE_METHOD_AUTO) return options->method;
  if (p->promised_spd) return GABLE_METHOD_CHOLESKY;
  int one_sign = p->diagonal_positive || p->diagonal_negative;
  if (!p->values_symmetric) return GABLE_METHOD_LU;
  return one_sign ? GABLE_METHOD_CHOLESKY : GABLE_METHOD_LDLT;
}

static gable_idx diagonal_zeros(const gi_problem *p)
{
  gable_idx full = 0;
  for (gable_idx i = 0; i < p->n; i++)
    for (gable_off k = p->rows.ptr[i]; k < p->rows.ptr[i + 1]; k++) full += p->rows.idx[k] == i && p->rows.val[k] != 0;
  return p->n - full;
}

/* Zeros on more than half of the diagonal: there are pairs (0 b; b 0), whose columns half fill a panel, and A may be
 * two unsymmetric matrices in one, (0 B; B^T 0), which LU takes apart. */
static int is_hollow(const gi_problem *p)
{
  return diagonal_zeros(p) > p->n / 2;
}

/* Symmetric values with zeros on at most a third of the diagonal: fill reaches most of those before they are pivots,
 * while pairs would cost a matching, a second order and wider panels. */
static int has_few_zeros(const gi_problem *p)
{
  return p->rows.val && diagonal_zeros(p) <= p->n / 3;
}

/* *full = 1: all rows can be paired with columns by entries that are not 0. */
static gable_status has_full_rank(gable_context *ctx, const gi_problem *p, int *full)
{
  gable_status status = GABLE_OK;
  gable_off *ptr = NULL, count = 0;
  gable_idx *idx = NULL, *row_of = NULL, rank = 0;
  GI_ALLOC(ctx, ptr, (gable_off)p->n + 1);
  GI_ALLOC(ctx, idx, p->rows.ptr[p->n]);
  GI_ALLOC(ctx, row_of, p->n);
  for (gable_idx i = 0; i < p->n; i++) {
    ptr[i] = count;
    for (gable_off k = p->rows.ptr[i]; k < p->rows.ptr[i + 1]; k++)
      if (p->rows.val[k] != 0) idx[count++] = p->rows.idx[k];
  }
  ptr[p->n] = count;
  GI_TRY(gi_matching_cardinality(ctx, p->n, p->n, ptr, idx, row_of, &rank));
  *full = rank == p->n;
done:
  GI_FREE(ctx, ptr, idx, row_of);
  return status;
}

/* A symmetric pattern with nothing missing on the diagonal keeps its symmetry: a matching would take it, and fill would
 * grow.  Pivots inside the supernodes and refinement mostly do; gi_attempts_factor comes back with a matching where
 * they do not. */
static gable_status wants_matching(gable_context *ctx, const gi_problem *p, const gable_solver_options *options,
                                   gable_method method, int *wanted)
{
  gable_status status = GABLE_OK;
  int full = 0;
  if (options->match != GABLE_CHOICE_AUTO) {
    *wanted = options->match == GABLE_CHOICE_ALWAYS;
  } else if (!p->diagonal_full) {
    if (method == GABLE_METHOD_LDLT && has_few_zeros(p)) GI_TRY(has_full_rank(ctx, p, &full));
    *wanted = !full;
  } else {
    *wanted = p->rows.val && !p->pattern_symmetric && !gi_problem_is_dominant(p);
  }
done:
  return status;
}

void gi_arrangement_rescale(const gi_problem *p, gi_arrangement *a)
{
  if (!p->rows.val) {
    for (gable_idx i = 0; i < p->n; i++) a->r[i] = a->c[i] = 1;
  } else if (a->method == GABLE_METHOD_CHOLESKY) {
    gi_equilibrate_diagonal(&p->rows, a->r);
    memcpy(a->c, a->r, (size_t)p->n * sizeof *a->c);
    if (p->diagonal_negative) /* -A may be positive definite */
      for (gable_idx i = 0; i < p->n; i++) a->r[i] = -a->r[i];
  } else if (p->values_symmetric) {
    gi_equilibrate_symmetric(&p->rows, a->r);
    memcpy(a->c, a->r, (size_t)p->n * sizeof *a->c);
  } else {
    gi_equilibrate(&p->rows, a->c, a->r); /* by rows: the roles are exchanged */
  }
}

static gable_status check_rank(gable_context *ctx, const gi_problem *p)
{
  gable_status status = GABLE_OK;
  const gi_matching *m = &p->matching;
  unsigned char *taken = NULL;
  if (m->rank == p->n) return GABLE_OK;
  GI_ALLOC_ZERO(ctx, taken, p->n);
  for (gable_idx j = 0; j < p->n; j++)
    if (m->row_of[j] >= 0) taken[m->row_of[j]] = 1;
  for (gable_idx i = 0; i < p->n; i++)
    GI_REQUIRE(taken[i], GABLE_ERR_SINGULAR,
               "the matrix is structurally singular: rank %d of %d, no column is left for row %d (counted from 0)",
               m->rank, p->n, i);
done:
  gi_free(ctx, taken);
  return status;
}

/* row_of [n]: the row of A that stands on the diagonal of each column, and the scalings.  columns: A. */
static gable_status match_and_scale(gable_context *ctx, gi_problem *p, const gi_prediction *predicted,
                                    const gi_csc *columns, gi_arrangement *a, gable_idx *row_of)
{
  gable_status status = GABLE_OK;
  const gi_matching *m = &p->matching;
  a->rank = p->n;
  if (a->matched) {
    GI_TRY(gi_problem_match(ctx, p, columns));
    a->rank = m->rank;
    if (predicted)
      a->matched = a->rank == p->n;
    else
      GI_TRY(check_rank(ctx, p));
  }
  if (!a->matched) {
    for (gable_idx j = 0; j < p->n; j++) row_of[j] = j;
    if (!predicted) gi_arrangement_rescale(p, a);
    goto done;
  }
  memcpy(row_of, m->row_of, (size_t)p->n * sizeof *row_of);
  memcpy(a->r, m->r, (size_t)p->n * sizeof *a->r);
  memcpy(a->c, m->c, (size_t)p->n * sizeof *a->c);
done:
  return status;
}

/* The rows of b, which is A by columns, take the numbers of the columns that they are matched with. */
static gable_status relabel_rows(gable_context *ctx, const gable_idx *row_of, gi_csc *b)
{
  gable_status status = GABLE_OK;
  gable_idx *column_of = NULL;
  GI_ALLOC(ctx, column_of, b->n_cols);
  for (gable_idx j = 0; j < b->n_cols; j++) column_of[row_of[j]] = j;
  for (gable_off k = 0; k < b->ptr[b->n_cols]; k++) b->idx[k] = column_of[b->idx[k]];
done:
  gi_free(ctx, column_of);
  return status;
}

/* Matching and scalings; *b = pattern of A with its rows matched, by columns, unsorted; that of A^T where the pattern
 * is symmetric and nothing was permuted (*borrowed = 1: the arrays are the problem's). */
static gable_status match_rows(gable_context *ctx, gi_problem *p, const gi_prediction *predicted, gi_arrangement *a,
                               gable_idx *row_of, gi_csc *b, int *borrowed)
{
  gable_status status = GABLE_OK;
  double begin = gi_now();
  *borrowed = p->pattern_symmetric && (!a->matched || a->method == GABLE_METHOD_LDLT);
  if (*borrowed)
    *b = p->rows;
  else
    GI_TRY(gi_problem_take_columns(ctx, p, b));
  GI_TRY(match_and_scale(ctx, p, predicted, b, a, row_of));
  if (a->matched && a->method == GABLE_METHOD_LU) GI_TRY(relabel_rows(ctx, row_of, b));
done:
  a->match_s += gi_now() - begin;
  return status;
}

/* a->layout of b as a->col_perm orders it; form with what a prediction asks of the structure.  begin: of the time that
 * this phase takes. */
static gable_status find_layout(gable_context *ctx, const gi_csc *b, const gi_prediction *predicted,
                                gi_symbolic_options *form, double begin, gi_arrangement *a)
{
  gable_status status = GABLE_OK;
  if (predicted) {
    form->max_width = predicted->max_width;
    form->exact = predicted->exact;
    if (!form->cholesky && predicted->form != GI_SYMBOLIC_AUTO) form->form = predicted->form;
  }
  GI_TRY(gi_symbolic(ctx, b->n_cols, b->ptr, b->idx, a->col_perm, form, &a->layout));
  a->structure_s += gi_now() - begin;
  if (!predicted) GI_TRY(gi_solve_plan_create(ctx, a->layout, NULL, &a->plan));
  a->symbolic_s += gi_now() - begin;
done:
  return status;
}

static void take_report(const gi_order_report *found, gi_arrangement *a)
{
  a->order = (gable_order)found->used;
  a->starved = found->metis_starved;
  a->long_rows = found->long_rows;
}

/* a->col_perm: block triangular form, fill-reducing order, postorder; a->layout.  mirrored: b is, both triangles. */
static gable_status order_and_structure(gable_context *ctx, const gi_problem *p, const gable_solver_options *options,
                                        const gi_prediction *predicted, const gi_csc *b, int mirrored,
                                        gi_arrangement *a)
{
  gable_status status = GABLE_OK;
  gable_idx *block = NULL, n_blocks = 1;
  gi_tree tree = {0};
  double begin = gi_now();
  if (options->blocks != GABLE_CHOICE_NEVER && a->method == GABLE_METHOD_LU && (a->matched || !p->pattern_symmetric)) {
    GI_ALLOC(ctx, block, p->n + 1);
    GI_TRY(gi_btf(ctx, p->n, b->ptr, b->idx, NULL, a->col_perm, block, &n_blocks));
  }
  gi_order_options how = {
      (gi_order_method)options->order, options->user_order, n_blocks, n_blocks > 1 ? block : NULL, mirrored, &tree,
      gi_solves_expected(options)};
  gi_order_report found = {0};
  GI_TRY(gi_order(ctx, p->n, b->ptr, b->idx, &how, a->col_perm, &found));
  take_report(&found, a);
  double ordered = gi_now() - found.tree_s; /* the tree counts as symbolic */
  a->order_s += ordered - begin;
  gi_symbolic_options form = {.cholesky = a->method != GABLE_METHOD_LU,
                              .n_blocks = n_blocks,
                              .block = block,
                              .mirrored = mirrored,
                              .solves = how.solves};
  if (form.cholesky || p->pattern_symmetric) form.form = GI_SYMBOLIC_SYMMETRIC;
  if (a->matched && !form.cholesky) form.form = GI_SYMBOLIC_AUTO;
  if (n_blocks <= 1) form.block = NULL;
  if (tree.parent) form.tree = &tree;
  GI_TRY(find_layout(ctx, b, predicted, &form, ordered, a));
done:
  gi_free(ctx, block);
  gi_tree_release(ctx, &tree);
  return status;
}

/* order [n_small]: of the nodes, as the user's or the natural one of the rows has them; NULL: no such order. */
static gable_status order_of_nodes(gable_context *ctx, gable_idx n, const gable_solver_options *options,
                                   const gable_idx *of, gable_idx n_small, gable_idx **order)
{
  gable_status status = GABLE_OK;
  unsigned char *seen = NULL;
  gable_idx count = 0;
  *order = NULL;
  if (options->order != GABLE_ORDER_USER) return GABLE_OK;
  GI_REQUIRE(options->user_order, GABLE_ERR_ARGUMENT, "the user's order was asked for, and none was given");
  GI_TRY(gi_order_check(ctx, n, options->user_order));
  GI_ALLOC(ctx, *order, n_small);
  GI_ALLOC_ZERO(ctx, seen, n_small);
  for (gable_idx k = 0; k < n; k++) {
    const gable_idx node = of[options->user_order[k]];
    if (!seen[node]) (*order)[count++] = node;
    seen[node] = 1;
  }
done:
  gi_free(ctx, seen);
  return status;
}

/* The same with the rows of a matrix in pairs (mate [n]), which are ordered as one and share a structure. */
static gable_status order_pairs(gable_context *ctx, const gi_problem *p, const gable_solver_options *options,
                                const gi_prediction *predicted, const gable_idx *mate, gi_arrangement *a)
{
  gable_status status = GABLE_OK;
  gable_idx *of = NULL, *node = NULL, *user = NULL, *perm = NULL;
  gi_csc small = {0}, whole = {0};
  gi_order_report found = {0};
  const double begin = gi_now();
  GI_ALLOC(ctx, of, p->n);
  GI_ALLOC(ctx, node, p->n);
  GI_TRY(gi_pairs_gather(ctx, &p->rows, mate, of, node, &small));
  GI_TRY(order_of_nodes(ctx, p->n, options, of, small.n_cols, &user));
  GI_ALLOC(ctx, perm, small.n_cols);
  gi_order_options how = {
      .method = (gi_order_method)options->order, .user = user, .mirrored = 1, .solves = gi_solves_expected(options)};
  GI_TRY(gi_order(ctx, small.n_cols, small.ptr, small.idx, &how, perm, &found));
  take_report(&found, a);
  gi_pairs_expand(small.n_cols, perm, mate, node, a->col_perm);
  const double ordered = gi_now();
  a->order_s += ordered - begin;
  GI_TRY(gi_pairs_spread(ctx, &small, mate, node, p->n, &whole));
  gi_symbolic_options form = {
      .form = GI_SYMBOLIC_SYMMETRIC, .cholesky = 1, .mirrored = 1, .mate = mate, .solves = how.solves};
  GI_TRY(find_layout(ctx, &whole, predicted, &form, ordered, a));
done:
  GI_FREE(ctx, of, node, user, perm);
  gi_csc_release(ctx, &small);
  gi_csc_release(ctx, &whole);
  return status;
}

/* The scalings r and c of a matching of a symmetric matrix are as good the other way round, and their geometric means
 * are good, and symmetric; *row_of, the matching, becomes pairs, and then the identity. */
static gable_status arrange_pairs(gable_context *ctx, const gi_problem *p, const gable_solver_options *options,
                                  const gi_prediction *predicted, gable_idx *row_of, gi_arrangement *a)
{
  gable_status status = GABLE_OK;
  gable_idx *mate = NULL;
  GI_ALLOC(ctx, mate, p->n);
  for (gable_idx i = 0; i < p->n; i++) a->r[i] = a->c[i] = sqrt(a->r[i]) * sqrt(a->c[i]);
  GI_TRY(gi_pairs(ctx, &p->rows, row_of, a->r, mate));
  for (gable_idx i = 0; i < p->n; i++) row_of[i] = i;
  GI_TRY(order_pairs(ctx, p, options, predicted, mate, a));
done:
  gi_free(ctx, mate);
  return status;
}

gable_status gi_arrangement_init(gable_context *ctx, gable_idx n, gi_arrangement *a)
{
  gable_status status = GABLE_OK;
  GI_ALLOC(ctx, a->row_perm, n);
  GI_ALLOC(ctx, a->col_perm, n);
  GI_ALLOC(ctx, a->r, n);
  GI_ALLOC(ctx, a->c, n);
done:
  return status;
}

static gable_status arrange_by(gable_context *ctx, gi_problem *p, const gable_solver_options *options,
                               const gi_prediction *predicted, gable_method method, int matched, gi_arrangement *out)
{
  gable_status status = GABLE_OK;
  gable_idx *row_of = NULL;
  gi_csc b = {0};
  int borrowed = 1;
  gi_arrangement a = {.method = method, .matched = matched};
  GI_TRY(gi_arrangement_init(ctx, p->n, &a));
  GI_ALLOC(ctx, row_of, p->n);
  GI_TRY(match_rows(ctx, p, predicted, &a, row_of, &b, &borrowed));
  if (a.matched && a.method == GABLE_METHOD_LDLT)
    GI_TRY(arrange_pairs(ctx, p, options, predicted, row_of, &a));
  else
    GI_TRY(order_and_structure(ctx, p, options, predicted, &b, borrowed, &a));
  for (gable_idx k = 0; k < p->n; k++) a.row_perm[k] = row_of[a.col_perm[k]];
  *out = a;
  memset(&a, 0, sizeof a);
done:
  if (!borrowed) gi_csc_release(ctx, &b);
  gi_free(ctx, row_of);
  gi_arrangement_release(ctx, &a);
  return status;
}

/* Numbers of a factor that stays in a cache: it may well be larger, if its solves read less.  Entries of a matrix whose
 * LU always was the cheaper one: no pairs are arranged to find that out. */
enum { CACHED_VALUES = 1 << 20, FEW_ENTRIES = CACHED_VALUES / 32 };

static gable_off panel_values(const gi_arrangement *a)
{
  const gi_layout *y = a->layout;
  return y->lval[y->n_super] + y->uval[y->n_super];
}

/* Of a layout with pairs and one of LU: is the second cheaper?  A solve reads the one panel of L D L^T twice. */
static int lu_is_cheaper(const gi_arrangement *pairs, const gi_arrangement *lu)
{
  const gable_off reads = panel_values(pairs) <= CACHED_VALUES ? 2 : 1;
  return panel_values(lu) < reads * panel_values(pairs);
}

/* Both are arranged where LU may be the cheaper one, and that can be had for little or saves much. */
static int wants_comparison(const gi_problem *p, const gable_solver_options *options, const gi_arrangement *a)
{
  return options->method == GABLE_METHOD_AUTO && a->method == GABLE_METHOD_LDLT && a->matched &&
         (is_hollow(p) || panel_values(a) <= CACHED_VALUES);
}

gable_status gi_arrange(gable_context *ctx, gi_problem *p, const gable_solver_options *options,
                        const gi_prediction *predicted, gi_arrangement *out)
{
  gable_status status = GABLE_OK;
  gi_arrangement a = {0}, lu = {0}, *kept = &a;
  gable_method method = choose_method(p, options);
  int matched = 0;
  if (method != GABLE_METHOD_CHOLESKY) GI_TRY(wants_matching(ctx, p, options, method, &matched));
  if (matched && options->method == GABLE_METHOD_AUTO && p->rows.ptr[p->n] <= FEW_ENTRIES) method = GABLE_METHOD_LU;
  GI_TRY(arrange_by(ctx, p, options, predicted, method, matched, &a));
  if (wants_comparison(p, options, &a)) {
    GI_TRY(arrange_by(ctx, p, options, predicted, GABLE_METHOD_LU, 1, &lu));
    if (lu_is_cheaper(&a, &lu)) kept = &lu;
    const gi_arrangement *other = kept == &a ? &lu : &a;
    kept->order_s += other->order_s;
    kept->match_s += other->match_s;
    kept->symbolic_s += other->symbolic_s;
    kept->structure_s += other->structure_s;
  }
  *out = *kept;
  memset(kept, 0, sizeof *kept);
done:
  gi_arrangement_release(ctx, &a);
  gi_arrangement_release(ctx, &lu);
  return status;
}

/* Does every pivot row lie in the diagonal block of its column? */
static int keeps_blocks(const gi_layout *y, const gable_idx *pivot_row)
{
  for (gable_idx b = 0; b < y->n_blocks; b++)
    for (gable_idx k = y->block[b]; k < y->block[b + 1]; k++)
      if (pivot_row[k] < y->block[b] || pivot_row[k] >= y->block[b + 1]) return 0;
  return 1;
}

/* a: old with its rows in the order pivot_row; perm [n]: the identity in, the postorder out. */
static gable_status structure_of_pivots(gable_context *ctx, const gi_csc *a_prime, const gable_solver_options *options,
                                        const gi_arrangement *old, const gable_idx *pivot_row, gable_idx *perm,
                                        gi_arrangement *a)
{
  gable_status status = GABLE_OK;
  gable_idx n = a_prime->n_cols, *place = NULL, *idx = NULL;
  GI_ALLOC(ctx, place, n);
  GI_ALLOC(ctx, idx, a_prime->ptr[n]);
  for (gable_idx k = 0; k < n; k++) {
    place[pivot_row[k]] = k;
    perm[k] = k;
  }
  for (gable_off k = 0; k < a_prime->ptr[n]; k++) idx[k] = place[a_prime->idx[k]];
  gi_symbolic_options form = {.form = GI_SYMBOLIC_AUTO, .solves = gi_solves_expected(options)};
  if (old->layout->n_blocks > 1 && keeps_blocks(old->layout, pivot_row)) {
    form.n_blocks = old->layout->n_blocks;
    form.block = old->layout->block;
  }
  GI_TRY(gi_symbolic(ctx, n, a_prime->ptr, idx, perm, &form, &a->layout));
  GI_TRY(gi_solve_plan_create(ctx, a->layout, NULL, &a->plan));
done:
  GI_FREE(ctx, place, idx);
  return status;
}

gable_status gi_arrange_pivots(gable_context *ctx, const gi_csc *a_prime, const gable_solver_options *options,
                               double threshold, const gi_arrangement *old, gi_arrangement *out)
{
  gable_status status = GABLE_OK;
  gable_idx *pivot_row = NULL, *perm = NULL, n = a_prime->n_cols;
  gi_arrangement a = {
      .method = old->method, .order = old->order, .starved = old->starved, .matched = 2, .rank = old->rank};
  double begin = gi_now();
  GI_TRY(gi_arrangement_init(ctx, n, &a));
  GI_ALLOC(ctx, pivot_row, n);
  GI_ALLOC(ctx, perm, n);
  GI_TRY(gi_partial_pivoting(ctx, a_prime, threshold, pivot_row));
  double pivoted = gi_now();
  GI_TRY(structure_of_pivots(ctx, a_prime, options, old, pivot_row, perm, &a));
  a.structure_s = gi_now() - pivoted;
  for (gable_idx k = 0; k < n; k++) {
    a.col_perm[k] = old->col_perm[perm[k]];
    a.row_perm[k] = old->row_perm[pivot_row[perm[k]]];
    a.r[k] = old->r[k];
    a.c[k] = old->c[k];
  }
  a.match_s = pivoted - begin;
  a.symbolic_s = gi_now() - pivoted;
  *out = a;
  memset(&a, 0, sizeof a);
done:
  GI_FREE(ctx, pivot_row, perm);
  gi_arrangement_release(ctx, &a);
  return status;
}

void gi_arrangement_release(gable_context *ctx, gi_arrangement *a)
{
  GI_FREE(ctx, a->row_perm, a->col_perm, a->r, a->c);
  gi_solve_plan_destroy(ctx, &a->plan);
  gi_layout_destroy(ctx, &a->layout);
  memset(a, 0, sizeof *a);
}

gable_off gi_arrangement_bytes(const gi_arrangement *a)
{
  const gi_layout *y = a->layout;
  if (!y) return 0;
  gable_off n = y->n, ns = y->n_super;
  gable_off bytes = n * (2 * 4 + 2 * 8) + n * 4 + (ns + 1) * (4 + 4 + 4 * 8) + 4 * y->lptr[ns];
  if (y->ucol != y->lrow) bytes += 4 * y->uptr[ns];
  if (y->off_ptr) bytes += 8 * (n + 1) + 4 * y->off_ptr[n];
  return bytes + gi_solve_plan_bytes(a->plan);
}
