/* Which factorization a solver keeps: small pivots over which nothing grows stay, a matrix is matched once, rejected
 * factorizations are counted, and when none is good the best of them is kept. */
#include "support/test.h"

#include <time.h>

#include "support/systems.h"

static gable_context *ctx;

static int64_t integer_of(const gable_solver *s, gable_solver_key key)
{
  int64_t value = -1;
  CHECK_OK(gable_solver_get(s, key, &value, sizeof value));
  return value;
}

static double real_of(const gable_solver *s, gable_solver_key key)
{
  double value = NAN;
  CHECK_OK(gable_solver_get(s, key, &value, sizeof value));
  return value;
}

/* b solved; returns the report. */
static gable_solve_report solve(const gable_solver *s, const test_system *a, gable_op op, gable_status want)
{
  gable_solver_work *w = NULL;
  gable_solve_report r = GABLE_SOLVE_REPORT_INIT;
  double *b = calloc((size_t)a->n, sizeof *b), *x = calloc((size_t)a->n, sizeof *x);
  gable_vectors_view vb = test_vectors(a->n, 1, b), vx = test_vectors(a->n, 1, x);
  for (gable_idx i = 0; i < a->n; i++) b[i] = 1 + i % 3;
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  const gable_status got = gable_solver_solve(s, w, op, &vb, &vx);
  CHECK(got == want, "%d, not %d: %s", (int)got, (int)want, gable_last_error());
  CHECK_OK(gable_solver_work_report(w, &r));
  if (want == GABLE_OK) CHECK(test_backward_error(a, op, b, x) <= 1e-12);
  gable_solver_work_destroy(&w);
  free(b);
  free(x);
  return r;
}

/* [1 2; 1/2 1+d]: the second pivot is d, below what is replaced by default, and nothing stands below it.  A replaced
 * one would make an LU of another matrix, which corrections do not bring back; the next factorization knows. */
static void small_pivots_stay(void)
{
  int64_t ptr[] = {0, 2, 4};
  gable_idx idx[] = {0, 1, 0, 1};
  double val[] = {1, 0.5, 2, 1 + 1e-11};
  const test_system a = {2, ptr, idx, val};
  gable_matrix_view v = test_system_view(&a);
  gable_solver *s = test_factored(ctx, &v, NULL);
  CHECK(integer_of(s, GABLE_SOLVER_ANALYSES) == 1, "%lld analyses", (long long)integer_of(s, GABLE_SOLVER_ANALYSES));
  CHECK(integer_of(s, GABLE_SOLVER_PERTURBED_PIVOTS) == 0 && integer_of(s, GABLE_SOLVER_DRIFT) == 0);
  CHECK(integer_of(s, GABLE_SOLVER_REJECTED) == 1);
  for (int op = 0; op < 2; op++) CHECK(solve(s, &a, (gable_op)op, GABLE_OK).gmres_iterations == 0);
  CHECK_OK(gable_solver_factor(s, val, GABLE_REUSE_ALL));
  CHECK(integer_of(s, GABLE_SOLVER_REJECTED) == 0 && integer_of(s, GABLE_SOLVER_PERTURBED_PIVOTS) == 0);
  val[3] = 1; /* singular: the pivot is replaced after all */
  CHECK_OK(gable_solver_factor(s, val, GABLE_REUSE_PATTERN));
  CHECK(integer_of(s, GABLE_SOLVER_PERTURBED_PIVOTS) == 1 && integer_of(s, GABLE_SOLVER_NUMERICALLY_SINGULAR) == 1);
  gable_solver_destroy(&s);
}

static int matchings;

static int count_matchings(void *user, const char *phase, double done)
{
  (void)user;
  matchings += !strcmp(phase, "matching") && done == 0;
  return 0;
}

/* A tiny diagonal, which no order makes good pivots of: L D L^T without a matching, with one, and by METIS LU too, from
 * one matching of the values; other values have their own. */
static void matched_once(void)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_context *counting = NULL;
  options.progress = count_matchings;
  CHECK_OK(gable_context_create("cpu", &options, &counting));
  test_system a = test_system_make(TEST_SADDLE, 120, 3);
  gable_matrix_view v = test_system_view(&a);
  gable_solver_options how = GABLE_SOLVER_OPTIONS_INIT;
  how.tolerance = 1e-30; /* out of reach: every method gets its turn */
  for (gable_idx j = 0; j < a.n; j++)
    for (int64_t k = a.ptr[j]; k < a.ptr[j + 1]; k++)
      if (a.idx[k] == j) a.val[k] *= 1e-14;
  matchings = 0;
  gable_solver *s = test_factored(counting, &v, &how);
  CHECK(integer_of(s, GABLE_SOLVER_ANALYSES) > 1, "%lld analyses", (long long)integer_of(s, GABLE_SOLVER_ANALYSES));
  CHECK(matchings == 1, "%d matchings of one matrix", matchings);
  CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_NOTHING));
  CHECK(matchings == 2, "%d matchings for two sets of values", matchings);
  gable_solver_destroy(&s);
  gable_context_destroy(&counting);
  test_system_free(&a);
}

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* No factor reaches the tolerance: all are tried, one is kept, the others are counted with their times.  A processor
 * that was taken from the program between two phases is no time of theirs: the largest share of eight counts. */
static void best_is_kept(void)
{
  int matched[4] = {0};
  double share = 0;
  for (uint64_t seed = 1; seed <= 8; seed++) {
    test_system a = test_system_make(TEST_DENSE, 300, seed);
    gable_matrix_view v = test_system_view(&a);
    gable_solver_options how = GABLE_SOLVER_OPTIONS_INIT;
    gable_solver *s = NULL;
    how.tolerance = 1e-30;
    CHECK_OK(gable_solver_create(ctx, &how, &s));
    const double begin = seconds();
    CHECK_OK(gable_solver_analyse(s, &v));
    CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_ALL));
    const double took = seconds() - begin;
    CHECK(integer_of(s, GABLE_SOLVER_DRIFT) == 1);
    CHECK(integer_of(s, GABLE_SOLVER_REJECTED) == 2 && integer_of(s, GABLE_SOLVER_ANALYSES) == 3);
    const double sum = real_of(s, GABLE_SOLVER_ORDER_S) + real_of(s, GABLE_SOLVER_MATCH_S) +
                       real_of(s, GABLE_SOLVER_SYMBOLIC_S) + real_of(s, GABLE_SOLVER_FACTOR_S) +
                       real_of(s, GABLE_SOLVER_REJECTED_S) + real_of(s, GABLE_SOLVER_JUDGE_S);
    CHECK(real_of(s, GABLE_SOLVER_REJECTED_S) > 0 && real_of(s, GABLE_SOLVER_JUDGE_S) > 0);
    CHECK(sum <= took, "the phases take %g of %g s", sum, took);
    share = fmax(share, sum / took);
    CHECK(solve(s, &a, GABLE_OP_N, GABLE_ERR_TOLERANCE).backward_error <= 1e-14);
    matched[integer_of(s, GABLE_SOLVER_MATCHED)]++;
    gable_solver_destroy(&s);
    test_system_free(&a);
  }
  CHECK(share > 0.5, "the phases take %g of the time", share);
  CHECK(matched[0] + matched[1] > 0 && matched[2] > 0, "kept %d, %d and %d times: always the same of the three",
        matched[0], matched[1], matched[2]);
}

/* [T B^T; B 0] with T tridiagonal of order LEAD, B the sums of neighbours: zeros on a fifth of the diagonal.  empty:
 * the last row of B is zero. */
enum { LEAD = 8, CONSTRAINTS = 2, ORDER = LEAD + CONSTRAINTS };

static double saddle_entry(int i, int j, int empty)
{
  if (i < LEAD && j < LEAD) return i == j ? 4 : abs(i - j) == 1 ? -1 : 0;
  if (i >= LEAD && j >= LEAD) return 0;
  const int row = (i > j ? i : j) - LEAD, column = i < j ? i : j;
  return (column == 4 * row || column == 4 * row + 1) && !(empty && row == CONSTRAINTS - 1);
}

/* Few zeros on the diagonal of a symmetric matrix: no matching where the factor without one is good; where rows cannot
 * be paired at all the analysis says so. */
static void few_zeros_need_no_matching(void)
{
  for (int empty = 0; empty < 2; empty++) {
    int64_t ptr[ORDER + 1] = {0};
    gable_idx idx[ORDER * ORDER];
    double val[ORDER * ORDER];
    for (int j = 0; j < ORDER; j++) {
      ptr[j + 1] = ptr[j];
      for (int i = 0; i < ORDER; i++) {
        if (saddle_entry(i, j, empty) == 0) continue;
        idx[ptr[j + 1]] = i;
        val[ptr[j + 1]++] = saddle_entry(i, j, empty);
      }
    }
    const test_system a = {ORDER, ptr, idx, val};
    gable_matrix_view v = test_system_view(&a);
    gable_solver *s = NULL;
    CHECK_OK(gable_solver_create(ctx, NULL, &s));
    const gable_status status = gable_solver_analyse(s, &v);
    CHECK(status == (empty ? GABLE_ERR_SINGULAR : GABLE_OK), "%d: %s", (int)status, gable_last_error());
    if (!empty) {
      CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_ALL));
      CHECK(integer_of(s, GABLE_SOLVER_METHOD) == GABLE_METHOD_LDLT && integer_of(s, GABLE_SOLVER_MATCHED) == 0);
      CHECK(integer_of(s, GABLE_SOLVER_ANALYSES) == 1 && integer_of(s, GABLE_SOLVER_DRIFT) == 0);
      CHECK(solve(s, &a, GABLE_OP_N, GABLE_OK).gmres_iterations == 0);
    }
    gable_solver_destroy(&s);
  }
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  small_pivots_stay();
  matched_once();
  few_zeros_need_no_matching();
  best_is_kept();
  gable_context_destroy(&ctx);
  return 0;
}
