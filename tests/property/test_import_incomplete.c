/* Incomplete factors, of which panels would store many zeros, are imported as they are and solved element by element:
 * against two triangular solves, with permutations and scalings; and the fill count that decides it, against
 * dense elimination. */
#include "support/test.h"

#include "base/context.h"
#include "base/random.h"
#include "base/timer.h"
#include "graph/symbolic/fill_count.h"
#include "support/failing_allocator.h"
#include "support/systems.h"

enum { SMALL = 24, RHS = 3 };

static gable_context *ctx;

static void *room(size_t count, size_t size)
{
  void *p = calloc(count + 1, size);
  CHECK(p);
  return p;
}

/* A square matrix by rows or by columns. */
typedef struct lists {
  gable_idx n;
  int64_t *ptr;
  gable_idx *idx;
  double *val;
} lists;

static lists lists_of(gable_idx n, size_t most)
{
  return (lists){n, room((size_t)n + 1, sizeof(int64_t)), room(most, sizeof(gable_idx)), room(most, sizeof(double))};
}

static void lists_free(lists *a)
{
  free(a->ptr);
  free(a->idx);
  free(a->val);
}

static void add(lists *a, int64_t *count, gable_idx i, double v)
{
  a->idx[*count] = i;
  a->val[(*count)++] = v;
}

static gable_matrix_view view_of(const lists *a, gable_format format)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = a->n;
  v.format = format;
  v.ptr = a->ptr;
  v.idx = a->idx;
  v.val = a->val;
  return v;
}

/* Convection and diffusion on a grid of side^3 points, upwind, by rows. */
static lists convection(gable_idx side)
{
  const gable_idx n = side * side * side, step[3] = {1, side, side * side};
  const double wind[3] = {0.6, 0.3, 0.1};
  lists a = lists_of(n, 7 * (size_t)n);
  int64_t count = 0;
  for (gable_idx i = 0; i < n; i++) {
    for (int d = 2; d >= 0; d--)
      if (i / step[d] % side > 0) add(&a, &count, i - step[d], -1 - wind[d]);
    add(&a, &count, i, 6 + wind[0] + wind[1] + wind[2]);
    for (int d = 0; d < 3; d++)
      if (i / step[d] % side < side - 1) add(&a, &count, i + step[d], -1);
    a.ptr[i + 1] = count;
  }
  return a;
}

/* ILUT: rows of L and U without what is smaller than drop times the diagonal; l without its ones. */
static void incomplete(const lists *a, double drop, lists *l, lists *u)
{
  const gable_idx n = a->n;
  double *row = room((size_t)n, sizeof *row);
  int64_t in_l = 0, in_u = 0;
  *l = lists_of(n, 60 * (size_t)n);
  *u = lists_of(n, 60 * (size_t)n);
  for (gable_idx i = 0; i < n; i++) {
    gable_idx first = i, last = i;
    for (int64_t q = a->ptr[i]; q < a->ptr[i + 1]; q++) {
      row[a->idx[q]] = a->val[q];
      if (a->idx[q] < first) first = a->idx[q];
      if (a->idx[q] > last) last = a->idx[q];
    }
    const double least = drop * fabs(row[i]);
    for (gable_idx k = first; k < i; k++) {
      if (row[k] == 0) continue;
      const int64_t begin = u->ptr[k];
      const double by = row[k] / u->val[begin];
      row[k] = 0;
      if (fabs(by) <= drop) continue;
      add(l, &in_l, k, by);
      for (int64_t q = begin + 1; q < u->ptr[k + 1]; q++) {
        row[u->idx[q]] -= by * u->val[q];
        if (u->idx[q] > last) last = u->idx[q];
      }
    }
    for (gable_idx k = i; k <= last; k++) {
      if (k == i || fabs(row[k]) > least) add(u, &in_u, k, row[k]);
      row[k] = 0;
    }
    l->ptr[i + 1] = in_l;
    u->ptr[i + 1] = in_u;
    CHECK(in_l < 59 * (int64_t)n && in_u < 59 * (int64_t)n);
  }
  free(row);
}

static void shuffle(gi_random *r, gable_idx n, gable_idx *perm)
{
  for (gable_idx k = 0; k < n; k++) {
    const gable_idx other = (gable_idx)gi_random_below(r, k + 1);
    perm[k] = perm[other];
    perm[other] = k;
  }
}

typedef struct plan {
  gable_trisolve *t;
  gable_work *w;
} plan;

static plan plan_of(const gable_matrix_view *a, gable_part part, gable_diag diag)
{
  gable_trisolve_options how = GABLE_TRISOLVE_OPTIONS_INIT;
  plan p = {NULL, NULL};
  how.uplo = part;
  how.solves = 0;
  how.diag = diag;
  CHECK_OK(gable_trisolve_create(ctx, &how, &p.t));
  CHECK_OK(gable_trisolve_analyse(p.t, a));
  CHECK_OK(gable_trisolve_update(p.t, a->val));
  CHECK_OK(gable_work_create(p.t, 1, &p.w));
  return p;
}

static void plan_free(plan *p)
{
  gable_work_destroy(&p->w);
  gable_trisolve_destroy(&p->t);
}

/* Factors of A with A' = (R A C)(row_order, col_order) = L U nearly. */
typedef struct given {
  gable_idx n;
  lists a_prime, a, l, u; /* by rows */
  gable_idx *row_order, *col_order;
  double *row_scale, *col_scale;
  gable_factors_view view;
  gable_matrix_view a_view, l_view, u_view; /* l_view, u_view: where view points, once it is complete */
  plan lower, upper;
} given;

static given make_given(gable_idx side, double drop)
{
  given g = {.a_prime = convection(side)};
  gi_random r = gi_random_seed(11);
  const size_t n = (size_t)(g.n = g.a_prime.n);
  incomplete(&g.a_prime, drop, &g.l, &g.u);
  g.row_order = room(n, sizeof *g.row_order);
  g.col_order = room(n, sizeof *g.col_order);
  g.row_scale = room(n, sizeof *g.row_scale);
  g.col_scale = room(n, sizeof *g.col_scale);
  shuffle(&r, g.n, g.row_order);
  shuffle(&r, g.n, g.col_order);
  for (size_t i = 0; i < n; i++) g.row_scale[i] = gi_random_below(&r, 2) ? 2 : 0.25;
  for (size_t i = 0; i < n; i++) g.col_scale[i] = gi_random_below(&r, 2) ? 4 : 1;
  /* A by rows: row row_order[i] is row i of A', its entries in order. */
  gable_idx *from = room(n, sizeof *from);
  int64_t count = 0;
  g.a = lists_of(g.n, 7 * n);
  for (gable_idx k = 0; k < g.n; k++) from[g.row_order[k]] = k;
  for (gable_idx i = 0; i < g.n; i++) {
    const int64_t begin = g.a_prime.ptr[from[i]], end = g.a_prime.ptr[from[i] + 1];
    gable_idx previous = -1;
    for (int64_t q = begin; q < end; q++) { /* by selection: seven entries at most */
      gable_idx least = g.n;
      double v = 0;
      for (int64_t p = begin; p < end; p++) {
        const gable_idx j = g.col_order[g.a_prime.idx[p]];
        if (j > previous && j < least) least = j, v = g.a_prime.val[p];
      }
      add(&g.a, &count, least, v / g.row_scale[i] / g.col_scale[least]);
      previous = least;
    }
    g.a.ptr[i + 1] = count;
  }
  free(from);
  g.view = (gable_factors_view)GABLE_FACTORS_VIEW_INIT;
  g.view.n = g.n;
  g.l_view = view_of(&g.l, GABLE_FORMAT_CSR);
  g.u_view = view_of(&g.u, GABLE_FORMAT_CSR);
  g.view.row_order = g.row_order;
  g.view.col_order = g.col_order;
  g.view.row_scale = g.row_scale;
  g.view.col_scale = g.col_scale;
  g.a_view = view_of(&g.a, GABLE_FORMAT_CSR);
  g.lower = plan_of(&g.l_view, GABLE_PART_LOWER, GABLE_DIAG_UNIT);
  g.upper = plan_of(&g.u_view, GABLE_PART_UPPER, GABLE_DIAG_STORED);
  return g;
}

/* Where g stays: the views of its factors. */
static void point(given *g)
{
  g->view.l = &g->l_view;
  g->view.u = &g->u_view;
}

static void given_free(given *g)
{
  plan_free(&g->lower);
  plan_free(&g->upper);
  lists_free(&g->a_prime);
  lists_free(&g->a);
  lists_free(&g->l);
  lists_free(&g->u);
  free(g->row_order);
  free(g->col_order);
  free(g->row_scale);
  free(g->col_scale);
}

static int64_t number(const gable_solver *s, gable_solver_key key)
{
  int64_t value = -1;
  CHECK_OK(gable_solver_get(s, key, &value, sizeof value));
  return value;
}

static void solve_by_plan(const plan *p, gable_idx n, gable_op op, double *x)
{
  gable_vectors_view v = test_vectors(n, 1, x);
  CHECK_OK(gable_trisolve_solve(p->t, p->w, op, &v, &v));
}

/* x = op(A)^-1 b nearly, by two plans and the definition of the factors. */
static void by_two_plans(const given *g, gable_op op, const double *b, double *x)
{
  const gable_idx *in = op == GABLE_OP_N ? g->row_order : g->col_order,
                  *out = op == GABLE_OP_N ? g->col_order : g->row_order;
  const double *r = op == GABLE_OP_N ? g->row_scale : g->col_scale, *c = op == GABLE_OP_N ? g->col_scale : g->row_scale;
  double *y = room((size_t)g->n, sizeof *y);
  for (gable_idx k = 0; k < g->n; k++) y[k] = r[in[k]] * b[in[k]];
  if (op == GABLE_OP_T) solve_by_plan(&g->upper, g->n, op, y);
  solve_by_plan(&g->lower, g->n, op, y);
  if (op == GABLE_OP_N) solve_by_plan(&g->upper, g->n, op, y);
  for (gable_idx k = 0; k < g->n; k++) x[out[k]] = c[out[k]] * y[k];
  free(y);
}

static void close_to(const double *x, const double *wanted, size_t count, double bound, const char *what)
{
  for (size_t i = 0; i < count; i++)
    CHECK(fabs(x[i] - wanted[i]) <= bound * (1 + fabs(wanted[i])), "%s: entry %zu is %g, not %g", what, i, x[i],
          wanted[i]);
}

/* Every column of an apply is what two plans give; x may be b; more columns than the work has. */
static void check_apply(const given *g, const gable_solver *s, double bound)
{
  const size_t n = (size_t)g->n;
  double *b = room(RHS * n, sizeof *b), *x = room(RHS * n, sizeof *x), *wanted = room(RHS * n, sizeof *wanted);
  gable_solver_work *w = NULL;
  CHECK_OK(gable_solver_work_create(s, 2, &w));
  for (size_t i = 0; i < RHS * n; i++) b[i] = (double)(i * 7 % 11) - 4.5;
  for (int op = 0; op < 2; op++) {
    gable_vectors_view vb = test_vectors(g->n, RHS, b), vx = test_vectors(g->n, RHS, x);
    for (size_t c = 0; c < RHS; c++) by_two_plans(g, (gable_op)op, b + c * n, wanted + c * n);
    CHECK_OK(gable_solver_apply(s, w, (gable_op)op, GABLE_FACTOR_ALL, &vb, &vx));
    close_to(x, wanted, RHS * n, bound, "apply");
    memcpy(x, b, RHS * n * sizeof *x);
    CHECK_OK(gable_solver_apply(s, w, (gable_op)op, GABLE_FACTOR_ALL, &vx, &vx));
    close_to(x, wanted, RHS * n, bound, "apply in place");
    memcpy(x, b, RHS * n * sizeof *x); /* L, D and U one after the other, in the numbering of A' */
    const int order[2][3] = {{GABLE_FACTOR_L, GABLE_FACTOR_D, GABLE_FACTOR_U},
                             {GABLE_FACTOR_U, GABLE_FACTOR_D, GABLE_FACTOR_L}};
    for (int k = 0; k < 3; k++) CHECK_OK(gable_solver_apply(s, w, (gable_op)op, order[op][k], &vx, &vx));
    for (gable_idx i = 0; i < g->n; i++) wanted[i] = b[i];
    if (op == GABLE_OP_T) solve_by_plan(&g->upper, g->n, GABLE_OP_T, wanted);
    solve_by_plan(&g->lower, g->n, (gable_op)op, wanted);
    if (op == GABLE_OP_N) solve_by_plan(&g->upper, g->n, GABLE_OP_N, wanted);
    close_to(x, wanted, n, bound, "apply of one factor after the other");
  }
  gable_solver_work_destroy(&w);
  free(b);
  free(x);
  free(wanted);
}

static void check_solve(const given *g, const gable_solver *s)
{
  const size_t n = (size_t)g->n;
  double *b = room(RHS * n, sizeof *b), *x = room(RHS * n, sizeof *x), rcond, forward;
  gable_solver_work *w = NULL;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  CHECK_OK(gable_solver_work_create(s, 2, &w));
  for (size_t i = 0; i < RHS * n; i++) b[i] = (double)(i * 5 % 7) - 3;
  for (int op = 0; op < 2; op++) {
    gable_vectors_view vb = test_vectors(g->n, RHS, b), vx = test_vectors(g->n, RHS, x);
    CHECK_OK(gable_solver_solve(s, w, (gable_op)op, &vb, &vx));
    CHECK_OK(gable_solver_work_report(w, &report));
    CHECK(report.backward_error <= 1e-12 && report.first_error > 1e-12 &&
          report.refine_steps + report.gmres_iterations > 0);
    /* by columns of A^T: by rows of A */
    const test_system system = {g->n, g->a.ptr, g->a.idx, g->a.val};
    for (size_t c = 0; c < RHS; c++) {
      const double error =
          test_backward_error(&system, op == GABLE_OP_N ? GABLE_OP_T : GABLE_OP_N, b + c * n, x + c * n);
      CHECK(error <= 1e-12, "op %d, column %zu: %g", op, c, error);
    }
    vb.count = vx.count = 1;
    CHECK_OK(gable_solver_forward_error(s, w, (gable_op)op, &vb, &vx, &forward));
    CHECK(forward > 0 && forward < 1e-6, "%g", forward);
  }
  CHECK_OK(gable_solver_rcond(s, w, &rcond));
  CHECK(rcond > 1e-8 && rcond < 1, "%g", rcond);
  gable_solver_work_destroy(&w);
  free(b);
  free(x);
}

static void check_keys(const given *g, const gable_solver *s)
{
  const int64_t entries = g->l.ptr[g->n] + g->u.ptr[g->n] + g->n;
  double log_abs, wanted = 0, bytes, *diagonal = room((size_t)g->n, sizeof *diagonal), flops;
  int64_t height;
  CHECK(number(s, GABLE_SOLVER_ELEMENTWISE) == 1);
  CHECK(number(s, GABLE_SOLVER_NNZ_L) + number(s, GABLE_SOLVER_NNZ_U) == entries);
  CHECK(number(s, GABLE_SOLVER_MEMORY) < 150 * entries, "%lld bytes", (long long)number(s, GABLE_SOLVER_MEMORY));
  CHECK(number(s, GABLE_SOLVER_MEMORY) > 20 * entries);
  CHECK(number(s, GABLE_SOLVER_BLOCKS) == 1 && number(s, GABLE_SOLVER_PERTURBED_PIVOTS) == 0);
  CHECK(gable_solver_get(s, GABLE_SOLVER_TREE_HEIGHT, &height, sizeof height) == GABLE_ERR_STATE &&
        strstr(gable_last_error(), "element by element"));
  CHECK(gable_solver_get(s, GABLE_SOLVER_FLOPS, &flops, sizeof flops) == GABLE_ERR_STATE);
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_SOLVE_BYTES, &bytes, sizeof bytes));
  CHECK(bytes == 12.0 * (double)entries + 16.0 * g->n, "%g", bytes);
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_DIAGONAL, diagonal, (size_t)g->n * sizeof *diagonal));
  for (gable_idx k = 0; k < g->n; k++) {
    CHECK(diagonal[k] == g->u.val[g->u.ptr[k]]);
    wanted += log(fabs(diagonal[k])) - log(g->row_scale[k]) - log(g->col_scale[k]);
  }
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_LOG_ABS_DETERMINANT, &log_abs, sizeof log_abs));
  CHECK(fabs(log_abs - wanted) <= 1e-10 * fabs(wanted), "%g, not %g", log_abs, wanted);
  CHECK(gable_solver_save(s, "/tmp/gable_incomplete.never") == GABLE_ERR_STATE &&
        strstr(gable_last_error(), "import them again"));
  free(diagonal);
}

/* The factors leave as they came. */
static void check_export(const given *g, const gable_solver *s)
{
  gable_factors *f = NULL;
  gable_factors_view v = GABLE_FACTORS_VIEW_INIT;
  gable_solver *again = NULL;
  CHECK_OK(gable_solver_export(s, &f));
  CHECK_OK(gable_factors_get_view(f, &v));
  CHECK(!memcmp(v.row_order, g->row_order, (size_t)g->n * sizeof *v.row_order));
  CHECK(!memcmp(v.col_order, g->col_order, (size_t)g->n * sizeof *v.col_order));
  CHECK(!memcmp(v.row_scale, g->row_scale, (size_t)g->n * sizeof *v.row_scale));
  CHECK(((const int64_t *)v.u->ptr)[g->n] == g->u.ptr[g->n] && !v.f);
  CHECK_OK(gable_solver_create(ctx, NULL, &again));
  CHECK_OK(gable_solver_import(again, &v, NULL));
  check_keys(g, again);
  check_apply(g, again, 1e-12);
  gable_solver_destroy(&again);
  gable_factors_destroy(&f);
}

static void large(void)
{
  given g = make_given(20, 1e-2);
  point(&g);
  gable_solver *s = NULL;
  gable_solver_options single = GABLE_SOLVER_OPTIONS_INIT;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_import(s, &g.view, &g.a_view));
  printf("%d rows, %lld entries, %.1f MB\n", g.n, (long long)(g.l.ptr[g.n] + g.u.ptr[g.n] + g.n),
         (double)number(s, GABLE_SOLVER_MEMORY) / 1e6);
  check_keys(&g, s);
  check_apply(&g, s, 1e-12);
  check_solve(&g, s);
  check_export(&g, s);
  CHECK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING) == GABLE_ERR_STATE);
  gable_solver_destroy(&s);
  single.factor_type = GABLE_TYPE_S;
  CHECK_OK(gable_solver_create(ctx, &single, &s));
  CHECK_OK(gable_solver_import(s, &g.view, &g.a_view));
  check_apply(&g, s, 1e-5);
  gable_solver_destroy(&s);
  given_free(&g);
}

static double best(double a, double b)
{
  return a < b ? a : b;
}

/* An apply of imported factors takes the time of two plans and of permuting: the best of several pairs in turns, best
 * of three of such attempts. */
static void speed(void)
{
  enum { PAIRS = 15, ATTEMPTS = 3 };
  const double most = 1.6;
  given g = make_given(24, 1e-2);
  point(&g);
  const size_t n = (size_t)g.n;
  double *b = room(n, sizeof *b), *x = room(n, sizeof *x), ratio = HUGE_VAL;
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  gable_vectors_view vb = test_vectors(g.n, 1, b), vx = test_vectors(g.n, 1, x);
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_import(s, &g.view, &g.a_view));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (size_t i = 0; i < n; i++) b[i] = 1;
  for (int k = 0; k < ATTEMPTS && ratio > most; k++) {
    double imported = HUGE_VAL, plans = HUGE_VAL;
    for (int pair = 0; pair < PAIRS; pair++) {
      const double begin = gi_now();
      CHECK_OK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_ALL, &vb, &vx));
      const double middle = gi_now();
      by_two_plans(&g, GABLE_OP_N, b, x);
      imported = best(imported, middle - begin);
      plans = best(plans, gi_now() - middle);
    }
    ratio = best(ratio, imported / plans);
    printf("%d rows: imported %.1f us, two plans %.1f us\n", g.n, 1e6 * imported, 1e6 * plans);
  }
  CHECK(ratio <= most, "imported factors take %.2f times the two plans", ratio);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  free(b);
  free(x);
  given_free(&g);
}

/* A complete factor goes to panels, and a solver turns from one to the other. */
static void complete(void)
{
  given g = make_given(8, 1e-2);
  point(&g);
  gable_solver *own = NULL, *s = NULL;
  gable_factors *f = NULL;
  gable_factors_view v = GABLE_FACTORS_VIEW_INIT;
  own = test_factored(ctx, &g.a_view, NULL);
  CHECK(number(own, GABLE_SOLVER_ELEMENTWISE) == 0);
  CHECK_OK(gable_solver_export(own, &f));
  CHECK_OK(gable_factors_get_view(f, &v));
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_import(s, &g.view, &g.a_view));
  CHECK(number(s, GABLE_SOLVER_ELEMENTWISE) == 1);
  CHECK_OK(gable_solver_import(s, &v, &g.a_view));
  CHECK(number(s, GABLE_SOLVER_ELEMENTWISE) == 0 && number(s, GABLE_SOLVER_SUPERNODES) > 0);
  CHECK_OK(gable_solver_import(s, &g.view, &g.a_view));
  check_solve(&g, s);
  CHECK_OK(gable_solver_analyse(s, &g.a_view));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
  CHECK(number(s, GABLE_SOLVER_ELEMENTWISE) == 0 && number(s, GABLE_SOLVER_TREE_HEIGHT) > 0);
  gable_factors_destroy(&f);
  gable_solver_destroy(&own);
  gable_solver_destroy(&s);
  given_free(&g);
}

/* Each allocation of an import and of a work fails once. */
static void memory_fails(void)
{
  failing_allocator memory = failing_allocator_init();
  gable_context_options options = failing_allocator_options(&memory);
  gable_context *own = NULL;
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  given g = make_given(6, 1e-2);
  point(&g);
  gable_status status = GABLE_ERR_MEMORY;
  CHECK_OK(gable_context_create("cpu", &options, &own));
  CHECK_OK(gable_solver_create(own, NULL, &s));
  for (long k = 0; status; k++) {
    failing_allocator_arm(&memory, k);
    status = gable_solver_import(s, &g.view, &g.a_view);
    CHECK(status == (memory.failures ? GABLE_ERR_MEMORY : GABLE_OK), "allocation %ld: %s", k, gable_last_error());
  }
  CHECK(number(s, GABLE_SOLVER_ELEMENTWISE) == 1);
  status = GABLE_ERR_MEMORY;
  for (long k = 0; status; k++) {
    failing_allocator_arm(&memory, k);
    status = gable_solver_work_create(s, 2, &w);
    CHECK(status == (memory.failures ? GABLE_ERR_MEMORY : GABLE_OK), "work, allocation %ld: %s", k, gable_last_error());
  }
  failing_allocator_disarm(&memory);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  gable_context_destroy(&own);
  CHECK(memory.live == 0, "%ld blocks are left", (long)memory.live);
  given_free(&g);
}

static void fill_of_random(uint64_t seed)
{
  gi_random r = gi_random_seed(seed);
  const gable_idx n = (gable_idx)gi_random_below(&r, SMALL + 1);
  const int64_t every = 1 + gi_random_below(&r, 12);
  char full[SMALL][SMALL] = {{0}}; /* [column][row] */
  gi_csc l = {0}, u = {0};
  gable_off wanted = 0, count = -1;
  CHECK_OK(gi_csc_init(ctx, n, n, n * n, 0, &l));
  CHECK_OK(gi_csc_init(ctx, n, n, n * n, 0, &u));
  for (gable_idx j = 0; j < n; j++) {
    l.ptr[j + 1] = l.ptr[j];
    u.ptr[j + 1] = u.ptr[j];
    for (gable_idx i = 0; i < n; i++) {
      if (i != j && gi_random_below(&r, every + 1) < every) continue;
      if (i == j && gi_random_below(&r, 2)) continue; /* the diagonal may be missing */
      full[j][i] = 1;
      if (i > j)
        l.idx[l.ptr[j + 1]++] = i;
      else
        u.idx[u.ptr[j + 1]++] = i;
    }
  }
  for (gable_idx k = 0; k < n; k++) {
    full[k][k] = 1;
    for (gable_idx j = k + 1; j < n; j++)
      for (gable_idx i = k + 1; i < n; i++) full[j][i] |= full[k][i] & full[j][k];
  }
  for (gable_idx j = 0; j < n; j++)
    for (gable_idx i = 0; i < n; i++) wanted += full[j][i];
  for (gable_off most = 0; most <= wanted + 2; most += 1 + gi_random_below(&r, 4)) {
    CHECK_OK(gi_fill_count(ctx, &l, &u, most, &count));
    CHECK(count == (wanted <= most ? wanted : most + 1), "seed %d: %lld of %lld, at most %lld", (int)seed,
          (long long)count, (long long)wanted, (long long)most);
  }
  CHECK_OK(gi_fill_count(ctx, &l, &u, wanted, &count));
  CHECK(count == wanted, "seed %d", (int)seed);
  gi_csc_release(ctx, &l);
  gi_csc_release(ctx, &u);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (uint64_t seed = 1; seed <= 500; seed++) fill_of_random(seed);
  large();
  speed();
  complete();
  memory_fails();
  gable_context_destroy(&ctx);
  return 0;
}
