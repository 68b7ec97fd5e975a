/* Incomplete factors, of which panels would store many zeros, are imported as they are and solved element by element:
 * against two triangular solves, with permutations and scalings; and the fill count that decides it, against
 * dense elimination. */
#include "support/test.h"

#include "base/context.h"
#include "base/portable.h"
#include "base/random.h"
#include "base/timer.h"
#include "graph/symbolic/fill_count.h"
#include "support/failing_allocator.h"
#include "support/incomplete_factors.h"
#include "support/systems.h"

enum { SMALL = 24, RHS = 3 };

static gable_context *ctx;

static int64_t number(const gable_solver *s, gable_solver_key key)
{
  int64_t value = -1;
  CHECK_OK(gable_solver_get(s, key, &value, sizeof value));
  return value;
}

static void close_to(const double *x, const double *wanted, size_t count, double bound, const char *what)
{
  for (size_t i = 0; i < count; i++)
    CHECK(fabs(x[i] - wanted[i]) <= bound * (1 + fabs(wanted[i])), "%s: entry %zu is %g, not %g", what, i, x[i],
          wanted[i]);
}

/* Every column of an apply is what two plans give; x may be b; more columns than the work has.  apart: so is that of L,
 * D and U, whose numbering panels change. */
static void check_apply(const incomplete_factors *g, const gable_solver *s, double bound, int apart)
{
  const size_t n = (size_t)g->n;
  double *b = test_room(RHS * n, sizeof *b), *x = test_room(RHS * n, sizeof *x),
         *wanted = test_room(RHS * n, sizeof *wanted);
  gable_solver_work *w = NULL;
  CHECK_OK(gable_solver_work_create(s, 2, &w));
  for (size_t i = 0; i < RHS * n; i++) b[i] = (double)(i * 7 % 11) - 4.5;
  for (int op = 0; op < 2; op++) {
    gable_vectors_view vb = test_vectors(g->n, RHS, b), vx = test_vectors(g->n, RHS, x);
    for (size_t c = 0; c < RHS; c++) incomplete_factors_by_plans(g, (gable_op)op, b + c * n, wanted + c * n);
    CHECK_OK(gable_solver_apply(s, w, (gable_op)op, GABLE_FACTOR_ALL, &vb, &vx));
    close_to(x, wanted, RHS * n, bound, "apply");
    memcpy(x, b, RHS * n * sizeof *x);
    CHECK_OK(gable_solver_apply(s, w, (gable_op)op, GABLE_FACTOR_ALL, &vx, &vx));
    close_to(x, wanted, RHS * n, bound, "apply in place");
    if (!apart) continue;
    memcpy(x, b, RHS * n * sizeof *x); /* L, D and U one after the other, in the numbering of A' */
    const int order[2][3] = {{GABLE_FACTOR_L, GABLE_FACTOR_D, GABLE_FACTOR_U},
                             {GABLE_FACTOR_U, GABLE_FACTOR_D, GABLE_FACTOR_L}};
    for (int k = 0; k < 3; k++) CHECK_OK(gable_solver_apply(s, w, (gable_op)op, order[op][k], &vx, &vx));
    for (gable_idx i = 0; i < g->n; i++) wanted[i] = b[i];
    if (op == GABLE_OP_T) test_solve_by_plan(&g->upper, g->n, GABLE_OP_T, wanted);
    test_solve_by_plan(&g->lower, g->n, (gable_op)op, wanted);
    if (op == GABLE_OP_N) test_solve_by_plan(&g->upper, g->n, GABLE_OP_N, wanted);
    close_to(x, wanted, n, bound, "apply of one factor after the other");
  }
  gable_solver_work_destroy(&w);
  free(b);
  free(x);
  free(wanted);
}

static void check_solve(const incomplete_factors *g, const gable_solver *s)
{
  const size_t n = (size_t)g->n;
  double *b = test_room(RHS * n, sizeof *b), *x = test_room(RHS * n, sizeof *x), rcond, forward;
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

static void check_keys(const incomplete_factors *g, const gable_solver *s)
{
  const int64_t entries = g->l.ptr[g->n] + g->u.ptr[g->n] + g->n;
  double log_abs, wanted = 0, bytes, *diagonal = test_room((size_t)g->n, sizeof *diagonal), flops;
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
  free(diagonal);
}

/* The factors leave as they came. */
static void check_export(const incomplete_factors *g, const gable_solver *s)
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
  check_apply(g, again, 1e-12, 1);
  gable_solver_destroy(&again);
  gable_factors_destroy(&f);
}

static void large(void)
{
  incomplete_factors g;
  incomplete_factors_make(ctx, 20, 1e-2, &g);
  gable_solver *s = NULL;
  gable_solver_options single = GABLE_SOLVER_OPTIONS_INIT;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_import(s, &g.view, &g.a_view));
  printf("%d rows, %lld entries, %.1f MB\n", g.n, (long long)(g.l.ptr[g.n] + g.u.ptr[g.n] + g.n),
         (double)number(s, GABLE_SOLVER_MEMORY) / 1e6);
  check_keys(&g, s);
  check_apply(&g, s, 1e-12, 1);
  check_solve(&g, s);
  check_export(&g, s);
  CHECK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING) == GABLE_ERR_STATE);
  gable_solver_destroy(&s);
  single.factor_type = GABLE_TYPE_S;
  CHECK_OK(gable_solver_create(ctx, &single, &s));
  CHECK_OK(gable_solver_import(s, &g.view, &g.a_view));
  check_apply(&g, s, 1e-5, 1);
  gable_solver_destroy(&s);
  incomplete_factors_free(&g);
}

static double best(double a, double b)
{
  return a < b ? a : b;
}

/* An apply of imported factors takes the time of two plans and of permuting: the best of several pairs in turns, best
 * of some such attempts, since others may work here too.  Not under sanitizers, which slow down one more than the
 * other. */
static void speed(void)
{
  enum { PAIRS = 15, ATTEMPTS = 20 };
  const double most = 1.6;
  incomplete_factors g;
  incomplete_factors_make(ctx, 24, 1e-2, &g);
  const size_t n = (size_t)g.n;
  double *b = test_room(n, sizeof *b), *x = test_room(n, sizeof *x), ratio = HUGE_VAL;
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
      incomplete_factors_by_plans(&g, GABLE_OP_N, b, x);
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
  incomplete_factors_free(&g);
}

/* A complete factor goes to panels, and a solver turns from one to the other. */
static void complete(void)
{
  incomplete_factors g;
  incomplete_factors_make(ctx, 8, 1e-2, &g);
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
  incomplete_factors_free(&g);
}

/* Every solve method by name has panels of them, imported or loaded from what was saved element by element. */
static void by_method(void)
{
  size_t bytes = 0;
  gable_solver *plain = NULL;
  incomplete_factors g;
  incomplete_factors_make(ctx, 6, 1e-2, &g);
  CHECK_OK(gable_solver_create(ctx, NULL, &plain));
  CHECK_OK(gable_solver_import(plain, &g.view, &g.a_view));
  CHECK(number(plain, GABLE_SOLVER_ELEMENTWISE) == 1);
  CHECK_OK(gable_solver_save_memory(plain, NULL, &bytes));
  void *saved = test_room(bytes, 1);
  CHECK_OK(gable_solver_save_memory(plain, saved, &bytes));
  for (int method = GABLE_SOLVE_LEVELS; method <= GABLE_SOLVE_PARTITIONED_CUSPARSE; method += GI_SANITIZED ? 3 : 1)
    for (int loaded = 0; loaded < 2; loaded++) {
      gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
      gable_solver *s = NULL;
      options.solve_method = (gable_solve_method)method;
      CHECK_OK(gable_solver_create(ctx, &options, &s));
      CHECK_OK(loaded ? gable_solver_load_memory(s, &g.a_view, saved, bytes)
                      : gable_solver_import(s, &g.view, &g.a_view));
      CHECK(number(s, GABLE_SOLVER_ELEMENTWISE) == 0 && number(s, GABLE_SOLVER_SUPERNODES) > 0);
      check_apply(&g, s, 1e-9, 0);
      check_solve(&g, s);
      gable_solver_destroy(&s);
    }
  free(saved);
  gable_solver_destroy(&plain);
  incomplete_factors_free(&g);
}

/* L L^T of a tree that is not numbered in postorder, so that panels have an order of their own: twos on the diagonal,
 * and in every column two entries below. */
static void by_method_in_another_order(void)
{
  enum { N = 60 };
  gi_random r = gi_random_seed(3);
  static double l[N][N]; /* [column][row] */
  int64_t ptr[N + 1] = {0};
  gable_idx idx[3 * N];
  double val[3 * N], b[N], x[N], wanted[N];
  gable_matrix_view lower = GABLE_MATRIX_VIEW_INIT;
  gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
  for (gable_idx j = 0; j < N; j++) {
    l[j][j] = 2;
    for (int k = 0; k < 2 && j + 1 < N; k++) l[j][j + 1 + gi_random_below(&r, N - 1 - j)] = 0.25;
    wanted[j] = b[j] = 1 + j % 7;
    ptr[j + 1] = ptr[j];
    for (gable_idx i = j; i < N; i++) {
      if (l[j][i] == 0) continue;
      idx[ptr[j + 1]] = i;
      val[ptr[j + 1]++] = l[j][i];
    }
  }
  for (gable_idx j = 0; j < N; j++) {
    wanted[j] /= l[j][j];
    for (gable_idx i = j + 1; i < N; i++) wanted[i] -= l[j][i] * wanted[j];
  }
  for (gable_idx j = N - 1; j >= 0; j--) {
    for (gable_idx i = j + 1; i < N; i++) wanted[j] -= l[j][i] * wanted[i];
    wanted[j] /= l[j][j];
  }
  lower.n_rows = lower.n_cols = f.n = N;
  lower.format = GABLE_FORMAT_CSC;
  lower.ptr = ptr;
  lower.idx = idx;
  lower.val = val;
  f.l = &lower;
  for (int method = GABLE_SOLVE_AUTO; method <= GABLE_SOLVE_BATCHED; method++) {
    gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
    gable_solver *s = NULL;
    gable_solver_work *w = NULL;
    gable_vectors_view vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, x);
    options.solve_method = (gable_solve_method)method;
    CHECK_OK(gable_solver_create(ctx, &options, &s));
    CHECK_OK(gable_solver_import(s, &f, NULL));
    CHECK(number(s, GABLE_SOLVER_ELEMENTWISE) == (method == GABLE_SOLVE_AUTO));
    CHECK_OK(gable_solver_work_create(s, 1, &w));
    CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
    close_to(x, wanted, N, 1e-12, gable_solve_method_text((gable_solve_method)method));
    gable_solver_work_destroy(&w);
    gable_solver_destroy(&s);
  }
}

/* Each allocation of an import and of a work fails once. */
static void memory_fails(void)
{
  failing_allocator memory = failing_allocator_init();
  gable_context_options options = failing_allocator_options(&memory);
  gable_context *own = NULL;
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  incomplete_factors g;
  incomplete_factors_make(ctx, 6, 1e-2, &g);
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
  incomplete_factors_free(&g);
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
  if (GI_SANITIZED)
    printf("no speed is judged under a sanitizer\n");
  else
    speed();
  complete();
  by_method();
  by_method_in_another_order();
  memory_fails();
  gable_context_destroy(&ctx);
  return 0;
}
