/* L D L^T of symmetric indefinite systems: the answers, in every order, with pairs and without, in double and float;
 * the same bits for every number of threads and from a file; the determinant of LU; and what happens when the values
 * are symmetric no longer, or pivots inside supernodes are not enough. */
#include "support/test.h"

#include <unistd.h>

#include "base/random.h"
#include "graph/match/match.h"
#include "graph/match/pairs.h"
#include "graph/order/order.h"
#include "graph/order/order_parts.h"
#include "graph/symbolic/symbolic.h"
#include "sparse/csc.h"
#include "support/systems.h"

static gable_context *ctx, *three_threads;

static int64_t integer_of(const gable_solver *s, gable_solver_key key)
{
  int64_t value = -1;
  CHECK_OK(gable_solver_get(s, key, &value, sizeof value));
  return value;
}

static gable_solver_options by_ldlt(void)
{
  gable_solver_options o = GABLE_SOLVER_OPTIONS_INIT;
  o.method = GABLE_METHOD_LDLT;
  return o;
}

static gable_solver *factored(gable_context *c, const test_system *a, const gable_solver_options *o)
{
  const gable_matrix_view v = test_system_view(a);
  return test_factored(c, &v, o);
}

/* Three right-hand sides, op N and T; x [2 * 3 * n]. */
static void solve(const gable_solver *s, const test_system *a, const char *name, double *x)
{
  const size_t n = (size_t)a->n;
  double *b = malloc((3 * n + 1) * sizeof *b);
  gable_solver_work *w = NULL;
  gi_random r = gi_random_seed(5);
  for (size_t k = 0; k < 3 * n; k++) b[k] = gi_random_unit(&r) - 0.5;
  CHECK_OK(gable_solver_work_create(s, 3, &w));
  for (int op = 0; op < 2; op++) {
    gable_vectors_view vb = test_vectors(a->n, 3, b), vx = test_vectors(a->n, 3, x + 3 * n * (size_t)op);
    const gable_status status = gable_solver_solve(s, w, (gable_op)op, &vb, &vx);
    CHECK(status == GABLE_OK, "%s n %d op %d: %s", name, a->n, op, gable_last_error());
    for (size_t c = 0; c < 3; c++) {
      const double error = test_backward_error(a, (gable_op)op, b + c * n, x + 3 * n * (size_t)op + c * n);
      CHECK(error <= 1e-9, "%s n %d op %d: %g", name, a->n, op, error);
    }
  }
  gable_solver_work_destroy(&w);
  free(b);
}

/* A NaN stays in its block of D. */
static void check_nan(void)
{
  enum { N = 50, BAD = 21 };
  test_system a = test_system_make(TEST_INDEFINITE, N, 3);
  const gable_solver_options o = by_ldlt();
  gable_solver *s = factored(ctx, &a, &o);
  gable_solver_work *w = NULL;
  double b[N], x[N];
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int k = 0; k < N; k++) b[k] = k == BAD ? NAN : 1;
  gable_vectors_view vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, x);
  CHECK_OK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_D, &vb, &vx));
  int bad = 0;
  for (int k = 0; k < N; k++) bad += isnan(x[k]);
  CHECK(isnan(x[BAD]) && bad <= 2, "%d of %d are NaN", bad, N);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

static void check_determinant(const gable_solver *s, const test_system *a, const char *name)
{
  gable_solver_options o = GABLE_SOLVER_OPTIONS_INIT;
  o.method = GABLE_METHOD_LU;
  o.match = GABLE_CHOICE_ALWAYS;
  gable_solver *lu = factored(ctx, a, &o);
  double log_abs[2];
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_LOG_ABS_DETERMINANT, log_abs, sizeof *log_abs));
  CHECK_OK(gable_solver_get(lu, GABLE_SOLVER_LOG_ABS_DETERMINANT, log_abs + 1, sizeof *log_abs));
  if (!integer_of(s, GABLE_SOLVER_PERTURBED_PIVOTS) && !integer_of(lu, GABLE_SOLVER_PERTURBED_PIVOTS)) {
    CHECK(fabs(log_abs[0] - log_abs[1]) <= 1e-6 * (1 + fabs(log_abs[1])), "%s n %d: log |det| %.17g, not %.17g", name,
          a->n, log_abs[0], log_abs[1]);
    CHECK(integer_of(s, GABLE_SOLVER_SIGN_DETERMINANT) == integer_of(lu, GABLE_SOLVER_SIGN_DETERMINANT), "%s n %d",
          name, a->n);
  }
  gable_solver_destroy(&lu);
}

static void check_file(const gable_solver *s, const test_system *a, const double *x, double *y)
{
  char path[] = "/tmp/gable-ldlt-XXXXXX";
  const int file = mkstemp(path);
  gable_solver *loaded = NULL;
  gable_matrix_view v = test_system_view(a);
  CHECK(file >= 0 && !close(file));
  CHECK_OK(gable_solver_save(s, path));
  CHECK_OK(gable_solver_create(ctx, NULL, &loaded));
  CHECK_OK(gable_solver_load(loaded, &v, path));
  CHECK(integer_of(loaded, GABLE_SOLVER_METHOD) == GABLE_METHOD_LDLT);
  solve(loaded, a, "loaded", y);
  CHECK(!memcmp(x, y, 6 * (size_t)a->n * sizeof *x), "a loaded factor gives other bits");
  gable_solver_destroy(&loaded);
  remove(path);
}

static void check_system(const test_system *a, const char *name, const gable_solver_options *o)
{
  const size_t n = (size_t)a->n;
  double *x = malloc((6 * n + 1) * sizeof *x), *y = malloc((6 * n + 1) * sizeof *y);
  gable_solver *s = factored(ctx, a, o), *shared = factored(three_threads, a, o);
  CHECK(integer_of(s, GABLE_SOLVER_METHOD) == GABLE_METHOD_LDLT);
  CHECK(integer_of(s, GABLE_SOLVER_NNZ_L) == integer_of(s, GABLE_SOLVER_NNZ_U));
  CHECK(integer_of(s, GABLE_SOLVER_MEMORY) <= integer_of(s, GABLE_SOLVER_MEMORY_PREDICTED));
  solve(s, a, name, x);
  solve(shared, a, name, y);
  CHECK(!memcmp(x, y, 6 * n * sizeof *x), "%s n %d: other bits with 3 threads", name, a->n);
  if (o->factor_type == GABLE_TYPE_D) check_determinant(s, a, name);
  check_file(s, a, x, y);
  CHECK_OK(gable_solver_factor(s, a->val, GABLE_REUSE_ALL));
  solve(s, a, name, y);
  CHECK(!memcmp(x, y, 6 * n * sizeof *x), "%s n %d: other bits the second time", name, a->n);
  gable_solver_destroy(&s);
  gable_solver_destroy(&shared);
  free(x);
  free(y);
}

static test_system arrow(gable_idx n)
{
  test_system a = {n, malloc(((size_t)n + 1) * sizeof *a.ptr), malloc((4 * (size_t)n + 1) * sizeof *a.idx),
                   malloc((4 * (size_t)n + 1) * sizeof *a.val)};
  int64_t count = 0;
  for (gable_idx j = 0; j < n; j++) {
    a.ptr[j] = count;
    for (gable_idx i = 0; i < n; i++) {
      if (i != j && i != 0 && j != 0) continue;
      a.idx[count] = i;
      a.val[count++] = i != j ? 1 + i + j : i == 0 && n > 1 ? 0 : j % 2 ? -0.5 : 3;
    }
  }
  a.ptr[n] = count;
  return a;
}

static void check_systems(uint64_t seed)
{
  static const gable_idx sizes[] = {0, 1, 2, 3, 7, 40, 150, 500};
  static const test_kind kinds[] = {TEST_INDEFINITE, TEST_SADDLE};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    gable_solver_options o = by_ldlt();
    o.order = gi_order_has_amd() ? (gable_order)(seed % 2 ? GABLE_ORDER_AUTO : 1 + seed) : GABLE_ORDER_NATURAL;
    for (int kind = 0; kind < 3; kind++) {
      test_system a = kind == 2 ? arrow(sizes[k]) : test_system_make(kinds[kind], sizes[k], seed);
      const char *name = kind == 2 ? "arrow" : test_kind_name(kinds[kind]);
      o.match = GABLE_CHOICE_AUTO;
      check_system(&a, name, &o);
      o.match = GABLE_CHOICE_ALWAYS;
      check_system(&a, name, &o);
      o.factor_type = GABLE_TYPE_S;
      check_system(&a, name, &o);
      o.factor_type = GABLE_TYPE_D;
      test_system_free(&a);
    }
  }
}

/* The user's order of rows, pairs pulled together. */
static void check_user_order(void)
{
  enum { N = 60 };
  gable_idx order[N];
  test_system a = test_system_make(TEST_SADDLE, N, 9);
  gable_solver_options o = by_ldlt();
  for (gable_idx k = 0; k < N; k++) order[k] = (7 * k + 3) % N;
  o.order = GABLE_ORDER_USER;
  o.user_order = order;
  check_system(&a, "saddle in a user's order", &o);
  test_system_free(&a);
}

/* Pairs of a matching, and the structure that keeps them together. */
static void check_pairs(gi_random *r, gable_idx n, gable_idx max_width)
{
  test_system t = test_system_make(TEST_SADDLE, n, (uint64_t)gi_random_below(r, 1000));
  const gi_csc a = {.n_rows = n, .n_cols = n, .ptr = t.ptr, .idx = t.idx, .val = t.val};
  gi_matching m = {0};
  gi_csc small = {0}, whole = {0};
  gi_layout *y = NULL;
  const size_t bytes = ((size_t)n + 1) * sizeof(gable_idx);
  gable_idx *mate = malloc(bytes), *of = malloc(bytes), *node = malloc(bytes), *perm = malloc(bytes);
  gable_idx *order = malloc(bytes), pairs = 0;
  CHECK_OK(gi_match(ctx, &a, &m));
  CHECK(m.rank == n);
  for (gable_idx i = 0; i < n; i++) m.r[i] = sqrt(m.r[i] * m.c[i]);
  CHECK_OK(gi_pairs(ctx, &a, m.row_of, m.r, mate));
  for (gable_idx i = 0; i < n; i++) {
    double partner = 0;
    CHECK(mate[i] >= 0 && mate[i] < n && mate[mate[i]] == i);
    pairs += mate[i] > i;
    for (int64_t k = t.ptr[i]; k < t.ptr[i + 1]; k++) {
      const double size = fabs(t.val[k]) * m.r[i] * m.r[t.idx[k]];
      CHECK(size <= 1 + 1e-10, "scaled entry %g", size);
      if (t.idx[k] == mate[i]) partner = size;
    }
    CHECK(mate[i] == i || partner >= 1 - 1e-10, "row %d is paired by an entry of %g", i, partner);
  }
  CHECK_OK(gi_pairs_gather(ctx, &a, mate, of, node, &small));
  CHECK(small.n_cols == n - pairs);
  for (gable_idx k = 0; k < small.n_cols; k++) order[k] = small.n_cols - 1 - k;
  gi_pairs_expand(small.n_cols, order, mate, node, perm);
  CHECK_OK(gi_order_check(ctx, n, perm));
  CHECK_OK(gi_pairs_spread(ctx, &small, mate, node, n, &whole));
  const gi_symbolic_options form = {
      .form = GI_SYMBOLIC_SYMMETRIC, .cholesky = 1, .mirrored = 1, .mate = mate, .max_width = max_width};
  CHECK_OK(gi_symbolic(ctx, n, whole.ptr, whole.idx, perm, &form, &y));
  for (gable_idx k = 0; k < n; k++) {
    if (mate[perm[k]] == perm[k]) continue;
    const int after = k + 1 < n && mate[perm[k]] == perm[k + 1], before = k > 0 && mate[perm[k]] == perm[k - 1];
    CHECK(after || before, "a pair was torn apart");
    if (after) CHECK(y->of[k] == y->of[k + 1], "a pair is in two supernodes");
  }
  for (gable_idx s = 0; s < y->n_super; s++) CHECK(gi_layout_width(y, s) <= max_width);
  gi_layout_destroy(ctx, &y);
  gi_csc_release(ctx, &small);
  gi_csc_release(ctx, &whole);
  gi_match_release(ctx, &m);
  free(mate);
  free(of);
  free(node);
  free(perm);
  free(order);
  test_system_free(&t);
}

/* By itself L D L^T is chosen; values that are symmetric no longer turn it to LU, or are refused. */
static void check_asymmetry(void)
{
  test_system a = test_system_make(TEST_INDEFINITE, 80, 3);
  double *x = malloc(6 * 80 * sizeof *x);
  gable_solver *s = factored(ctx, &a, NULL), *fixed = NULL;
  const gable_solver_options o = by_ldlt();
  CHECK(integer_of(s, GABLE_SOLVER_METHOD) == GABLE_METHOD_LDLT && integer_of(s, GABLE_SOLVER_ANALYSES) == 1);
  fixed = factored(ctx, &a, &o);
  int64_t off = 0;
  while (a.idx[off] == 0) off++;
  a.val[off] *= 1.5;
  for (int reuse = GABLE_REUSE_ALL; reuse >= GABLE_REUSE_NOTHING; reuse--) {
    CHECK_OK(gable_solver_factor(s, a.val, (gable_reuse)reuse));
    CHECK(integer_of(s, GABLE_SOLVER_METHOD) == GABLE_METHOD_LU && integer_of(s, GABLE_SOLVER_ANALYSES) > 1);
    solve(s, &a, "no longer symmetric", x);
    CHECK(gable_solver_factor(fixed, a.val, (gable_reuse)reuse) == GABLE_ERR_ARGUMENT);
    CHECK(strstr(gable_last_error(), "not symmetric"), "%s", gable_last_error());
  }
  a.val[off] /= 1.5;
  CHECK_OK(gable_solver_factor(fixed, a.val, GABLE_REUSE_ALL));
  solve(fixed, &a, "symmetric again", x);
  gable_solver_destroy(&fixed);
  gable_solver_destroy(&s);
  a.val[off] *= 2;
  gable_matrix_view v = test_system_view(&a);
  CHECK_OK(gable_solver_create(ctx, &o, &s));
  CHECK(gable_solver_analyse(s, &v) == GABLE_ERR_ARGUMENT);
  CHECK(strstr(gable_last_error(), "not symmetric"), "%s", gable_last_error());
  gable_solver_destroy(&s);
  test_system_free(&a);
  free(x);
}

/* The pattern alone, a third of the diagonal missing, and then the values under every level of reuse. */
static void check_pattern_alone(void)
{
  test_system a = test_system_make(TEST_SADDLE, 120, 4);
  double *x = malloc(6 * 120 * sizeof *x);
  gable_solver_options o = by_ldlt();
  gable_matrix_view v = test_system_view(&a);
  v.val = NULL;
  for (int reuse = GABLE_REUSE_NOTHING; reuse <= GABLE_REUSE_ALL; reuse++) {
    gable_solver *s = NULL;
    CHECK_OK(gable_solver_create(ctx, &o, &s));
    CHECK_OK(gable_solver_analyse(s, &v));
    CHECK(integer_of(s, GABLE_SOLVER_METHOD) == GABLE_METHOD_LDLT && integer_of(s, GABLE_SOLVER_MATCHED) == 1);
    CHECK_OK(gable_solver_factor(s, a.val, (gable_reuse)reuse));
    if (!integer_of(s, GABLE_SOLVER_DRIFT)) solve(s, &a, "a pattern first", x);
    CHECK(reuse > GABLE_REUSE_PATTERN || !integer_of(s, GABLE_SOLVER_DRIFT), "reuse level %d", reuse);
    gable_solver_destroy(&s);
  }
  test_system_free(&a);
  free(x);
}

/* (0 B; B^T 0), B with two diagonals: LU finds blocks of order 1 in it, pairs do not. */
static void check_hollow(void)
{
  enum { SIDE = 50 };
  test_system a = {2 * SIDE, malloc((2 * SIDE + 1) * sizeof *a.ptr), malloc(4 * SIDE * sizeof *a.idx),
                   malloc(4 * SIDE * sizeof *a.val)};
  double *x = malloc(12 * SIDE * sizeof *x);
  int64_t count = 0;
  for (gable_idx j = 0; j < 2 * SIDE; j++) {
    const gable_idx k = j < SIDE ? j : j - SIDE, next = j < SIDE ? k + 1 : k - 1;
    a.ptr[j] = count;
    for (gable_idx i = 0; i < SIDE; i++) {
      if (i != k && i != next) continue;
      a.idx[count] = j < SIDE ? SIDE + i : i;
      a.val[count++] = i == k ? 2 + k % 5 : -1;
    }
  }
  a.ptr[2 * SIDE] = count;
  gable_solver *s = factored(ctx, &a, NULL);
  CHECK(integer_of(s, GABLE_SOLVER_SYMMETRIC_VALUES) == 1 && integer_of(s, GABLE_SOLVER_METHOD) == GABLE_METHOD_LU);
  CHECK(integer_of(s, GABLE_SOLVER_BLOCKS) == 2 * SIDE);
  solve(s, &a, "hollow", x);
  gable_solver_destroy(&s);
  const gable_solver_options o = by_ldlt();
  check_system(&a, "hollow, by pairs", &o);
  test_system_free(&a);
  free(x);
}

/* Half the numbers of LU. */
static void check_memory(void)
{
  gable_solver_options o = GABLE_SOLVER_OPTIONS_INIT;
  test_system a = test_system_make(TEST_INDEFINITE, 3000, 2);
  gable_solver *half = factored(ctx, &a, NULL);
  o.method = GABLE_METHOD_LU;
  gable_solver *whole = factored(ctx, &a, &o);
  const double ratio = (double)integer_of(half, GABLE_SOLVER_MEMORY) / (double)integer_of(whole, GABLE_SOLVER_MEMORY);
  CHECK(integer_of(half, GABLE_SOLVER_METHOD) == GABLE_METHOD_LDLT && ratio < 0.8, "%g of the memory of LU", ratio);
  gable_solver_destroy(&half);
  gable_solver_destroy(&whole);
  test_system_free(&a);
}

/* A chain of pairs (0.1 5; 5 0.1) with 1 between them: blocks of order 2 in all of D. */
static test_system chain(gable_idx n)
{
  test_system a = {.n = n};
  a.ptr = calloc((size_t)n + 1, sizeof *a.ptr);
  a.idx = calloc(3 * (size_t)n, sizeof *a.idx);
  a.val = calloc(3 * (size_t)n, sizeof *a.val);
  for (gable_idx j = 0; j < n; j++) {
    int64_t at = a.ptr[j];
    for (gable_idx i = j > 0 ? j - 1 : 0; i <= j + 1 && i < n; i++) {
      const gable_idx above = i < j ? i : j;
      a.idx[at] = i;
      a.val[at++] = i == j ? 0.1 : above % 2 ? 1 : 5;
    }
    a.ptr[j + 1] = at;
  }
  return a;
}

static void apply(const gable_solver *s, const test_system *a, gable_idx count, const double *b, double *x)
{
  gable_solver_work *w = NULL;
  gable_vectors_view vb = test_vectors(a->n, count, (double *)(uintptr_t)b), vx = test_vectors(a->n, count, x);
  CHECK_OK(gable_solver_work_create(s, count, &w));
  CHECK_OK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_ALL, &vb, &vx));
  for (gable_idx c = 0; c < count; c += 5) {
    const double error = test_backward_error(a, GABLE_OP_N, b + (size_t)c * (size_t)a->n, x + (size_t)c * (size_t)a->n);
    CHECK(error <= 1e-11, "before refinement, column %d of %d: %g", c, count, error);
  }
  gable_solver_work_destroy(&w);
}

/* Rows by the hundred thousand: D^-1 goes stretch by stretch, and 16 columns are 32 MB, which are written past the
 * caches. */
static void check_long(void)
{
  const gable_idx n = (1 << 18) + 5, columns = 16;
  const size_t entries = (size_t)n * (size_t)columns;
  const gable_solver_options o = by_ldlt();
  test_system a = chain(n);
  double *b = malloc(entries * sizeof *b), *x = malloc(entries * sizeof *x), *y = malloc(entries * sizeof *y);
  gable_solver *one = factored(ctx, &a, &o), *several = factored(three_threads, &a, &o);
  gi_random r = gi_random_seed(3);
  for (size_t k = 0; k < entries; k++) b[k] = gi_random_unit(&r) - 0.5;
  for (gable_idx count = 1; count <= columns; count += columns - 1) {
    apply(one, &a, count, b, x);
    apply(several, &a, count, b, y);
    CHECK(!memcmp(x, y, (size_t)n * (size_t)count * sizeof *x), "%d columns: other bits with 3 threads", count);
  }
  gable_solver_destroy(&one);
  gable_solver_destroy(&several);
  free(b);
  free(x);
  free(y);
  test_system_free(&a);
}

/* Pivots of two columns whose entries overflow or underflow when multiplied. */
static void check_far_exponents(void)
{
  int64_t ptr[] = {0, 2, 4};
  gable_idx idx[] = {0, 1, 0, 1};
  double val[] = {1e-3, 1, 1, 1e-3};
  const test_system a = {2, ptr, idx, val};
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.method = GABLE_METHOD_LDLT;
  options.match = GABLE_CHOICE_NEVER;
  gable_solver *s = test_factored(ctx, &v, &options);
  for (int up = 0; up < 2; up++) {
    const double scale = up ? 1e160 : 1e-160, want = 2 * log(scale) + log(1 - 1e-6);
    double values[4], log_abs = 0;
    int64_t sign = 0, positive = -1, negative = -1;
    for (int k = 0; k < 4; k++) values[k] = scale * val[k];
    CHECK_OK(gable_solver_factor(s, values, GABLE_REUSE_ALL));
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_LOG_ABS_DETERMINANT, &log_abs, sizeof log_abs));
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_SIGN_DETERMINANT, &sign, sizeof sign));
    CHECK(fabs(log_abs - want) <= 1e-12 * fabs(want) && sign == -1, "%g: log %.17g, not %.17g, sign %d", scale, log_abs,
          want, (int)sign);
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_POSITIVE_EIGENVALUES, &positive, sizeof positive));
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_NEGATIVE_EIGENVALUES, &negative, sizeof negative));
    CHECK(positive == 1 && negative == 1, "%g: inertia %d, %d", scale, (int)positive, (int)negative);
  }
  gable_solver_destroy(&s);
}

int main(void)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  const uint64_t seed = 12;
  gi_random r = gi_random_seed(seed);
  printf("seed %lu\n", (unsigned long)seed);
  options.threads = 1;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  options.threads = 3;
  CHECK_OK(gable_context_create("cpu", &options, &three_threads));
  for (uint64_t round = 1; round <= 3; round++) check_systems(round);
  check_user_order();
  for (int round = 0; round < 100; round++)
    check_pairs(&r, (gable_idx)gi_random_below(&r, 80), 2 + (gable_idx)gi_random_below(&r, 12));
  check_asymmetry();
  check_pattern_alone();
  check_hollow();
  check_memory();
  check_long();
  check_nan();
  check_far_exponents();
  gable_context_destroy(&ctx);
  gable_context_destroy(&three_threads);
  return 0;
}
