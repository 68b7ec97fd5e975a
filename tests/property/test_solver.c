/* The solver on random systems of every kind: answers within the tolerance by
 * the definition, transposed or not, for every way in which a caller may hold a
 * matrix and vectors, and the same bits for every number of threads. */
#include "support/test.h"

#include "base/random.h"
#include "graph/order/order_parts.h"
#include "support/systems.h"

enum { RHS = 3 };
static const double TOLERANCE = 1e-12;

static gable_context *ctx, *three_threads;
static int pivoted;

static void fill(double *b, size_t count, uint64_t seed)
{
  gi_random r = gi_random_seed(seed);
  for (size_t k = 0; k < count; k++) b[k] = 2 * gi_random_unit(&r) - 1;
}

/* b = op(A) x for x of ones, in the scale of the matrix. */
static void image_of_ones(const test_system *a, gable_op op, double *b)
{
  memset(b, 0, (size_t)a->n * sizeof *b);
  for (gable_idx j = 0; j < a->n; j++)
    for (int64_t k = a->ptr[j]; k < a->ptr[j + 1]; k++) b[op == GABLE_OP_N ? a->idx[k] : j] += a->val[k];
}

/* One sweep of a factor that needs no refinement, which would hide what is
 * wrong with it.  x [n] is scratch. */
static void check_sweep(const gable_solver *s, gable_solver_work *w, const test_system *a, const char *name,
                        gable_op op, double *b, double *x)
{
  gable_vectors_view vb = test_vectors(a->n, 1, b), vx = test_vectors(a->n, 1, x);
  CHECK_OK(gable_solver_apply(s, w, op, GABLE_FACTOR_ALL, &vb, &vx));
  const double error = test_backward_error(a, op, b, x);
  CHECK(error <= TOLERANCE, "%s n %d op %d: backward error %g before refinement", name, a->n, op, error);
}

static void check_system(const test_system *a, const char *name, uint64_t seed, const gable_solver_options *options)
{
  gable_solver *s = NULL, *other = NULL;
  gable_solver_work *w = NULL, *other_work = NULL;
  gable_matrix_view v = test_system_view(a);
  size_t n = (size_t)a->n;
  double *b = malloc((RHS * n + 1) * sizeof *b), *x = malloc((RHS * n + 1) * sizeof *x),
         *y = malloc((RHS * n + 1) * sizeof *y);
  /* growth: rings of three rows are singular, and one alone is all there is */
  const gable_status want = !strcmp(name, "growth") && n / 3 == 1 ? GABLE_NUMERICALLY_SINGULAR : GABLE_OK;
  CHECK_OK(gable_solver_create(ctx, options, &s));
  CHECK_OK(gable_solver_create(three_threads, options, &other));
  CHECK_OK(gable_solver_analyse(s, &v));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
  CHECK_OK(gable_solver_analyse(other, &v));
  CHECK_OK(gable_solver_factor(other, NULL, GABLE_REUSE_NOTHING));
  CHECK_OK(gable_solver_work_create(s, RHS, &w));
  CHECK_OK(gable_solver_work_create(other, RHS, &other_work));
  for (int transposed = 0; transposed < 2; transposed++) {
    gable_op op = transposed ? GABLE_OP_T : GABLE_OP_N;
    fill(b, RHS * n, seed);
    image_of_ones(a, op, b);
    gable_vectors_view vb = test_vectors(a->n, RHS, b), vx = test_vectors(a->n, RHS, x),
                       vy = test_vectors(a->n, RHS, y);
    memset(x, 0xff, RHS * n * sizeof *x);
    gable_status status = gable_solver_solve(s, w, op, &vb, &vx);
    CHECK(status == want, "%s n %d seed %llu op %d: %s", name, a->n, (unsigned long long)seed, op, gable_last_error());
    double worst = 0;
    for (size_t c = 0; c < RHS; c++) worst = fmax(worst, test_backward_error(a, op, b + c * n, x + c * n));
    /* The definition knows no tiny denominators, which the solver's own measure
     * may forgive on wildly scaled systems.
     */
    const double enough = strcmp(name, "wild") ? TOLERANCE : 1e-9;
    CHECK(worst <= enough, "%s n %d seed %llu op %d: %g", name, a->n, (unsigned long long)seed, op, worst);
    if (options == NULL && (!strcmp(name, "dominant") || !strcmp(name, "spd") || !strcmp(name, "negative")))
      check_sweep(s, w, a, name, op, b, y);
    memset(y, 0xff, RHS * n * sizeof *y);
    CHECK(gable_solver_solve(other, other_work, op, &vb, &vy) == want, "%s", gable_last_error());
    CHECK(!memcmp(x, y, RHS * n * sizeof *x), "%s n %d seed %llu: other bits with 3 threads", name, a->n,
          (unsigned long long)seed);
    /* x may be b */
    memcpy(y, b, RHS * n * sizeof *y);
    CHECK(gable_solver_solve(s, w, op, &vy, &vy) == want, "%s", gable_last_error());
    CHECK(!memcmp(x, y, RHS * n * sizeof *x), "%s: other bits in place", name);
  }
  gable_solver_work_destroy(&w);
  gable_solver_work_destroy(&other_work);
  gable_solver_destroy(&s);
  gable_solver_destroy(&other);
  free(b);
  free(x);
  free(y);
}

static int64_t integer_of(const gable_solver *s, gable_solver_key key)
{
  int64_t value = -1;
  CHECK_OK(gable_solver_get(s, key, &value, sizeof value));
  return value;
}

/* The method that each kind should take. */
static void check_method(const test_system *a, test_kind kind)
{
  gable_solver *s = NULL;
  gable_matrix_view v = test_system_view(a);
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_analyse(s, &v));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
  int cholesky = integer_of(s, GABLE_SOLVER_METHOD) == GABLE_METHOD_CHOLESKY;
  if (kind == TEST_SPD || kind == TEST_NEGATIVE) CHECK(cholesky, "%s by LU", test_kind_name(kind));
  if (kind != TEST_SPD && kind != TEST_NEGATIVE && a->n > 2) CHECK(!cholesky, "%s by Cholesky", test_kind_name(kind));
  if (kind == TEST_UNSYMMETRIC && a->n > 5)
    CHECK(integer_of(s, GABLE_SOLVER_MATCHED) > 0 && integer_of(s, GABLE_SOLVER_ANALYSES) == 1, "no matching at once");
  if (kind == TEST_REDUCIBLE && a->n > 5) CHECK(integer_of(s, GABLE_SOLVER_BLOCKS) > 1);
  if (kind == TEST_GROWTH && a->n > 100) pivoted += integer_of(s, GABLE_SOLVER_MATCHED) == 2;
  CHECK(integer_of(s, GABLE_SOLVER_STRUCTURAL_RANK) == a->n);
  CHECK(integer_of(s, GABLE_SOLVER_DRIFT) == 0);
  gable_solver_destroy(&s);
}

/* A full diagonal that is small: rows are matched to columns before the first factorization, not after one that failed.
 */
static void matched_at_once(void)
{
  for (uint64_t seed = 1; seed <= 5; seed++) {
    test_system a = test_system_make(TEST_DOMINANT, 150, seed);
    gable_matrix_view v = test_system_view(&a);
    for (gable_idx j = 0; j < a.n; j++)
      for (int64_t k = a.ptr[j]; k < a.ptr[j + 1]; k++)
        if (a.idx[k] == j) a.val[k] *= j % 3 ? 1e-9 : 1;
    gable_solver *s = test_factored(ctx, &v, NULL);
    CHECK(integer_of(s, GABLE_SOLVER_MATCHED) == 1 && integer_of(s, GABLE_SOLVER_ANALYSES) == 1,
          "seed %d: %d, %d analyses", (int)seed, (int)integer_of(s, GABLE_SOLVER_MATCHED),
          (int)integer_of(s, GABLE_SOLVER_ANALYSES));
    gable_solver_destroy(&s);
    test_system_free(&a);
  }
}

/* Cosines, an orthogonal matrix, with columns from 1 down to 1e-20.  Exchanges
 * inside supernodes leave tiny pivots in the first ones, whose factor happens
 * to solve A x = b after corrections, and A^T x = b not at all. */
static void both_ways(void)
{
  enum { SIDE = 400 };
  test_system a = {SIDE, malloc((SIDE + 1) * sizeof *a.ptr), malloc((size_t)SIDE * SIDE * sizeof *a.idx),
                   malloc((size_t)SIDE * SIDE * sizeof *a.val)};
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  double b[SIDE], x[SIDE];
  for (gable_idx j = 0; j <= SIDE; j++) a.ptr[j] = (int64_t)j * SIDE;
  for (gable_idx j = 0; j < SIDE; j++)
    for (gable_idx i = 0; i < SIDE; i++) {
      a.idx[i + j * SIDE] = i;
      a.val[i + j * SIDE] = cos(3.14159265358979 * (i + 0.5) * j / SIDE) * pow(10, -j / 20.0);
    }
  gable_matrix_view v = test_system_view(&a);
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_analyse(s, &v));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int op = 0; op < 2; op++) {
    gable_vectors_view vb = test_vectors(SIDE, 1, b), vx = test_vectors(SIDE, 1, x);
    fill(b, SIDE, 7);
    gable_status status = gable_solver_solve(s, w, (gable_op)op, &vb, &vx);
    CHECK(status == GABLE_OK, "op %d: %s", op, gable_last_error());
    CHECK(test_backward_error(&a, (gable_op)op, b, x) <= TOLERANCE);
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* A chain long enough for the copies of long vectors, which ask ahead; in
 * pieces by three threads. */
static void long_vectors(void)
{
  const gable_idx n = (1 << 19) + 4321;
  const size_t bytes = (size_t)n * sizeof(double);
  test_system a = {n, malloc(((size_t)n + 1) * sizeof *a.ptr), malloc(3 * (size_t)n * sizeof *a.idx),
                   malloc(3 * (size_t)n * sizeof *a.val)};
  double *b = malloc(bytes), *x[2] = {malloc(bytes), malloc(bytes)};
  a.ptr[0] = 0;
  for (gable_idx j = 0; j < n; j++) {
    int64_t q = a.ptr[j];
    for (gable_idx i = j > 0 ? j - 1 : 0; i <= j + 1 && i < n; i++, q++) {
      a.idx[q] = i;
      a.val[q] = i == j ? 4 + j % 7 : -1;
    }
    a.ptr[j + 1] = q;
  }
  gable_matrix_view v = test_system_view(&a);
  gable_vectors_view vb = test_vectors(n, 1, b);
  fill(b, (size_t)n, 11);
  for (int k = 0; k < 2; k++) {
    gable_solver *s = NULL;
    gable_solver_work *w = NULL;
    gable_vectors_view vx = test_vectors(n, 1, x[k]);
    CHECK_OK(gable_solver_create(k ? three_threads : ctx, NULL, &s));
    CHECK_OK(gable_solver_analyse(s, &v));
    CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
    CHECK_OK(gable_solver_work_create(s, 1, &w));
    memset(x[k], 0xff, bytes);
    CHECK_OK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_ALL, &vb, &vx));
    gable_solver_work_destroy(&w);
    gable_solver_destroy(&s);
  }
  CHECK(test_backward_error(&a, GABLE_OP_N, b, x[0]) <= TOLERANCE);
  CHECK(!memcmp(x[0], x[1], bytes), "one thread and three differ");
  free(x[0]);
  free(x[1]);
  free(b);
  test_system_free(&a);
}

/* (-1 2 -1), and then (1 2 -1) under the same arrangement: Cholesky of one
 * triangle is not that of the matrix. */
static void symmetric_no_longer(void)
{
  enum { N = 60 };
  int64_t ptr[N + 1], count = 0;
  gable_idx idx[3 * N];
  double val[3 * N], b[N], x[N];
  for (gable_idx j = 0; j < N; j++) {
    ptr[j] = count;
    for (gable_idx i = j ? j - 1 : 0; i <= j + 1 && i < N; i++) {
      idx[count] = i;
      val[count++] = i == j ? 2 : -1;
    }
  }
  ptr[N] = count;
  const test_system a = {N, ptr, idx, val};
  gable_matrix_view v = test_system_view(&a);
  gable_vectors_view vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, x);
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_analyse(s, &v));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
  CHECK(integer_of(s, GABLE_SOLVER_METHOD) == GABLE_METHOD_CHOLESKY && !integer_of(s, GABLE_SOLVER_DRIFT));
  for (gable_idx j = 1; j < N; j++) val[ptr[j]] = 1;
  CHECK_OK(gable_solver_factor(s, val, GABLE_REUSE_ALL));
  CHECK(integer_of(s, GABLE_SOLVER_METHOD) == GABLE_METHOD_LU && !integer_of(s, GABLE_SOLVER_DRIFT));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  fill(b, N, 1);
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
}

int main(void)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.threads = 1;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  options.threads = 3;
  CHECK_OK(gable_context_create("cpu", &options, &three_threads));
  static const gable_idx sizes[] = {0, 1, 2, 3, 7, 40, 150};
  for (uint64_t seed = 1; seed <= 3; seed++)
    for (int kind = 0; kind < TEST_KINDS; kind++)
      for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        test_system a = test_system_make((test_kind)kind, sizes[k], seed);
        check_system(&a, test_kind_name((test_kind)kind), seed, NULL);
        check_method(&a, (test_kind)kind);
        gable_solver_options o = GABLE_SOLVER_OPTIONS_INIT;
        o.match = GABLE_CHOICE_ALWAYS;
        o.blocks = seed % 2 ? GABLE_CHOICE_NEVER : GABLE_CHOICE_ALWAYS;
        o.order = gi_order_has_amd() ? (gable_order)(seed + 1) : GABLE_ORDER_NATURAL; /* amd, colamd, natural */
        o.method = GABLE_METHOD_LU;
        if (kind != TEST_GROWTH) check_system(&a, test_kind_name((test_kind)kind), seed, &o);
        test_system_free(&a);
      }
  both_ways();
  matched_at_once();
  symmetric_no_longer();
  long_vectors();
  /* In the natural order, the only one without AMD and METIS, static pivots
   * happen to do. */
  CHECK(pivoted > 0 || !gi_order_has_amd(), "partial pivoting was never needed");
  gable_context_destroy(&ctx);
  gable_context_destroy(&three_threads);
  return 0;
}
