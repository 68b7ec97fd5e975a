/* What a solve says of its answer: the forward error of both ops beside the bound that it estimates, the condition
 * beside the inverse, the determinant beside dense elimination, and which column is the worst. */
#include "support/test.h"

#include <float.h>

#include "base/random.h"
#include "support/place.h"
#include "support/systems.h"

enum { N = 40 };

static gable_context *ctx;

/* inverse = A^-1 by Gauss and Jordan in long double; both by columns. */
static void invert(const double *a, double *inverse)
{
  static long double w[N][2 * N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      w[i][j] = a[i + j * N];
      w[i][N + j] = i == j;
    }
  for (int k = 0; k < N; k++) {
    int p = k;
    for (int i = k; i < N; i++)
      if (fabsl(w[i][k]) > fabsl(w[p][k])) p = i;
    for (int j = 0; j < 2 * N; j++) {
      const long double held = w[k][j];
      w[k][j] = w[p][j];
      w[p][j] = held;
    }
    for (int i = 0; i < N; i++) {
      const long double f = i == k ? 0 : w[i][k] / w[k][k];
      for (int j = 0; j < 2 * N && i != k; j++) w[i][j] -= f * w[k][j];
    }
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) inverse[i + j * N] = (double)(w[i][N + j] / w[i][i]);
}

/* Dense, rows scaled from 1 to 1e8, so that A and A^T differ much. */
static test_system steep(uint64_t seed)
{
  gi_random r = gi_random_seed(seed);
  test_system a = {N, malloc((N + 1) * sizeof *a.ptr), malloc(N * N * sizeof *a.idx), malloc(N * N * sizeof *a.val)};
  for (gable_idx j = 0; j <= N; j++) a.ptr[j] = j * N;
  for (gable_idx k = 0; k < N * N; k++) {
    a.idx[k] = k % N;
    a.val[k] = (gi_random_unit(&r) - 0.5) * pow(10, 8.0 * (k % N) / N);
  }
  return a;
}

/* max_i (|op(A)^-1| f)_i / max_i |x_i|, f = |r| + (N + 1) eps (|op(A)||x| +
 * |b|). */
static double bound(const test_system *a, const double *inverse, int op, const double *b, const double *x)
{
  double most = 0, norm_x = 0, f[N];
  for (int i = 0; i < N; i++) {
    long double r = b[i], size = fabsl(r);
    for (int j = 0; j < N; j++) {
      const long double term = (long double)a->val[op ? j + i * N : i + j * N] * x[j];
      r -= term;
      size += fabsl(term);
    }
    f[i] = (double)(fabsl(r) + (N + 1) * DBL_EPSILON * size);
    norm_x = fmax(norm_x, fabs(x[i]));
  }
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int j = 0; j < N; j++) sum += fabs(inverse[op ? j + i * N : i + j * N]) * f[j];
    most = fmax(most, sum);
  }
  return most / norm_x;
}

static void check_estimates(uint64_t seed)
{
  test_system a = steep(seed);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver *s = test_factored(ctx, &v, NULL);
  gable_solver_work *w = NULL;
  static double inverse[N * N];
  double b[N], x[N], rcond, norm = 0, inverse_norm = 0;
  gable_vectors_view vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, x);
  invert(a.val, inverse);
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int op = 0; op < 2; op++) {
    double said;
    for (int i = 0; i < N; i++) b[i] = op ? 1 + i % 3 : pow(10, 8.0 * i / N);
    CHECK_OK(gable_solver_solve(s, w, (gable_op)op, &vb, &vx));
    CHECK_OK(gable_solver_forward_error(s, w, (gable_op)op, &vb, &vx, &said));
    const double exact = bound(&a, inverse, op, b, x);
    CHECK(said <= 1.5 * exact && said >= exact / 5, "seed %d, op %d: forward error %g, the bound is %g", (int)seed, op,
          said, exact);
  }
  for (int j = 0; j < N; j++) {
    double sum = 0, other = 0;
    for (int i = 0; i < N; i++) {
      sum += fabs(a.val[i + j * N]);
      other += fabs(inverse[i + j * N]);
    }
    norm = fmax(norm, sum);
    inverse_norm = fmax(inverse_norm, other);
  }
  CHECK_OK(gable_solver_rcond(s, w, &rcond));
  const double exact = 1 / (norm * inverse_norm);
  CHECK(rcond >= 0.99 * exact && rcond <= 5 * exact, "seed %d: rcond %g, by definition %g", (int)seed, rcond, exact);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* Where the factor is elsewhere, its estimates are those of the CPU to rounding. */
static void check_beside_cpu(test_kind kind, uint64_t seed)
{
  enum { ROWS = 170 };
  test_system a = test_system_make(kind, ROWS, seed);
  const gable_matrix_view v = test_system_view(&a);
  gable_context *cpu = NULL;
  double b[ROWS], x[ROWS], rcond[2], forward[2][2];
  gable_vectors_view vb = test_vectors(ROWS, 1, b), vx = test_vectors(ROWS, 1, x);
  CHECK_OK(gable_context_create("cpu", NULL, &cpu));
  for (int i = 0; i < ROWS; i++) b[i] = 1 + i % 5;
  for (int k = 0; k < 2; k++) {
    gable_solver *s = test_factored(k ? ctx : cpu, &v, NULL);
    gable_solver_work *w = NULL;
    CHECK_OK(gable_solver_work_create(s, 1, &w));
    CHECK_OK(gable_solver_rcond(s, w, &rcond[k]));
    for (int op = 0; op < 2; op++) {
      for (int i = 0; i < ROWS; i++) x[i] = 1 + i % 7; /* far off, so that the residual is no rounding error */
      CHECK_OK(gable_solver_forward_error(s, w, (gable_op)op, &vb, &vx, &forward[k][op]));
    }
    gable_solver_work_destroy(&w);
    gable_solver_destroy(&s);
  }
  CHECK(fabs(rcond[1] - rcond[0]) <= 1e-6 * rcond[0], "%s: rcond %g, on the CPU %g", test_kind_name(kind), rcond[1],
        rcond[0]);
  for (int op = 0; op < 2; op++)
    CHECK(fabs(forward[1][op] - forward[0][op]) <= 1e-6 * forward[0][op], "%s, op %d: forward error %g, on the CPU %g",
          test_kind_name(kind), op, forward[1][op], forward[0][op]);
  gable_context_destroy(&cpu);
  test_system_free(&a);
}

/* Sign and logarithm of the determinant, by dense elimination. */
static void check_determinant(test_kind kind, uint64_t seed)
{
  test_system a = test_system_make(kind, N, seed);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver *s = test_factored(ctx, &v, NULL);
  static long double w[N][N];
  double log_abs, want = 0;
  int64_t sign, perturbed, positive = 1;
  memset(w, 0, sizeof w);
  for (gable_idx j = 0; j < N; j++)
    for (int64_t k = a.ptr[j]; k < a.ptr[j + 1]; k++) w[a.idx[k]][j] = a.val[k];
  for (int k = 0; k < N; k++) {
    int p = k;
    for (int i = k; i < N; i++)
      if (fabsl(w[i][k]) > fabsl(w[p][k])) p = i;
    for (int j = 0; j < N && p != k; j++) {
      const long double held = w[k][j];
      w[k][j] = w[p][j];
      w[p][j] = held;
    }
    want += (double)logl(fabsl(w[k][k]));
    positive *= (w[k][k] < 0 ? -1 : 1) * (p != k ? -1 : 1);
    for (int i = k + 1; i < N; i++) {
      const long double f = w[i][k] / w[k][k];
      for (int j = k; j < N; j++) w[i][j] -= f * w[k][j];
    }
  }
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_PERTURBED_PIVOTS, &perturbed, sizeof perturbed));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_LOG_ABS_DETERMINANT, &log_abs, sizeof log_abs));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_SIGN_DETERMINANT, &sign, sizeof sign));
  CHECK(perturbed || (sign == positive && fabs(log_abs - want) <= 1e-8 * (1 + fabs(want))),
        "%s, seed %d: %d, log %g, not %d, log %g", test_kind_name(kind), (int)seed, (int)sign, log_abs, (int)positive,
        want);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* One column is not zero, in a block of its own and in the middle of one; the
 * work takes two at a time. */
static void worst_column(void)
{
  enum { COLUMNS = 7 };
  test_system a = test_system_make(TEST_DOMINANT, N, 2);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver_work *w = NULL;
  options.refine_steps = 0;
  options.factor_type = GABLE_TYPE_S;
  options.tolerance = 1e-3;
  gable_solver *s = test_factored(ctx, &v, &options);
  CHECK_OK(gable_solver_work_create(s, 2, &w));
  for (gable_idx worst = 0; worst < COLUMNS; worst++) {
    double b[COLUMNS * N] = {0}, x[COLUMNS * N];
    gable_vectors_view vb = test_vectors(N, COLUMNS, b), vx = test_vectors(N, COLUMNS, x);
    gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
    for (gable_idx i = 0; i < N; i++) b[i + worst * N] = 1 + i % 3;
    CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
    CHECK_OK(gable_solver_work_report(w, &report));
    CHECK(report.worst == worst, "column %d is the worst, not %d", worst, report.worst);
    CHECK(report.backward_error == report.first_error && report.backward_error > 0 && report.refine_steps == 0);
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* tridiag(-1, 2 + shift, -1) by columns, or a factor of it. */
typedef struct tridiagonal {
  int64_t ptr[N + 1];
  gable_idx idx[3 * N];
  double val[3 * N];
} tridiagonal;

static gable_matrix_view tridiagonal_view(tridiagonal *t)
{
  const test_system a = {N, t->ptr, t->idx, t->val};
  return test_system_view(&a);
}

static void set_tridiagonal(tridiagonal *t, double shift)
{
  int64_t k = 0;
  for (gable_idx j = 0; j < N; j++) {
    for (gable_idx i = j ? j - 1 : 0; i < N && i <= j + 1; i++, k++) {
      t->idx[k] = i;
      t->val[k] = i == j ? 2 + shift : -1;
    }
    t->ptr[j + 1] = k;
  }
}

/* Unit L, or U. */
static void set_bidiagonal(tridiagonal *t, double shift, int upper)
{
  double pivot = 0;
  int64_t k = 0;
  for (gable_idx j = 0; j < N; j++) {
    pivot = 2 + shift - (j ? 1 / pivot : 0);
    if (upper && j) t->idx[k] = j - 1, t->val[k++] = -1;
    t->idx[k] = j, t->val[k++] = upper ? pivot : 1;
    if (!upper && j + 1 < N) t->idx[k] = j + 1, t->val[k++] = -1 / pivot;
    t->ptr[j + 1] = k;
  }
}

/* A factor from elsewhere, of another matrix: the estimates are those of A, as with a factor of its own. */
static void check_imported(void)
{
  const double shift = 0.01;
  static tridiagonal t, l, u;
  double b[N], x[N], rcond[2], forward[2];
  gable_vectors_view vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, x);
  set_tridiagonal(&t, 0);
  set_bidiagonal(&l, shift, 0);
  set_bidiagonal(&u, shift, 1);
  const gable_matrix_view a = tridiagonal_view(&t), vl = tridiagonal_view(&l), vu = tridiagonal_view(&u);
  for (int i = 0; i < N; i++) b[i] = 1;
  for (int own = 0; own < 2; own++) {
    gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
    gable_solver *s = NULL;
    gable_solver_work *w = NULL;
    f.n = N;
    f.l = &vl;
    f.u = &vu;
    if (own) {
      s = test_factored(ctx, &a, NULL);
    } else {
      CHECK_OK(gable_solver_create(ctx, NULL, &s));
      CHECK_OK(gable_solver_import(s, &f, &a));
    }
    CHECK_OK(gable_solver_work_create(s, 1, &w));
    CHECK_OK(gable_solver_rcond(s, w, &rcond[own]));
    if (!own) CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
    CHECK_OK(gable_solver_forward_error(s, w, GABLE_OP_N, &vb, &vx, &forward[own]));
    gable_solver_work_destroy(&w);
    gable_solver_destroy(&s);
  }
  CHECK(fabs(rcond[0] - rcond[1]) <= 1e-6 * rcond[1], "rcond %g, by a factor of its own %g", rcond[0], rcond[1]);
  CHECK(forward[0] >= 0.9 * forward[1] && forward[0] <= 2 * forward[1], "forward error %g, by a factor of its own %g",
        forward[0], forward[1]);
}

/* Two equal rows under the arrangement of other values: corrections by the factor stall, so that no solve shows the
 * inverse to be large.  rcond is below rounding or not known, and strict refuses them all. */
static void check_stalled(void)
{
  enum { MATRICES = 200 };
  const int64_t ptr[] = {0, 2, 4, 5};
  const gable_idx idx[] = {0, 1, 0, 1, 2};
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  gi_random r = gi_random_seed(1);
  v.n_rows = v.n_cols = 3;
  v.ptr = ptr;
  v.idx = idx;
  for (int k = 0; k < MATRICES; k++) {
    const double p = 2 * gi_random_unit(&r) - 1, q = 2 * gi_random_unit(&r) - 1;
    const double first[] = {2 + gi_random_unit(&r), 2 * gi_random_unit(&r) - 1, 2 * gi_random_unit(&r) - 1,
                            2 + gi_random_unit(&r), 1.5};
    const double singular[] = {p, q, p, q, gi_random_unit(&r) + 0.5};
    for (int strict = 0; strict < 2; strict++) {
      gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
      gable_solver *s = NULL;
      gable_solver_work *w = NULL;
      double rcond;
      options.strict = strict;
      v.val = first;
      s = test_factored(ctx, &v, &options);
      const gable_status status = gable_solver_factor(s, singular, GABLE_REUSE_ALL);
      CHECK(status == (strict ? GABLE_ERR_SINGULAR : GABLE_OK), "matrix %d, strict %d: %d", k, strict, status);
      if (strict) {
        gable_solver_destroy(&s);
        continue;
      }
      CHECK_OK(gable_solver_work_create(s, 1, &w));
      CHECK_OK(gable_solver_rcond(s, w, &rcond));
      CHECK(!(rcond >= DBL_EPSILON), "matrix %d: rcond %g", k, rcond);
      gable_solver_work_destroy(&w);
      gable_solver_destroy(&s);
    }
  }
}

int main(int argc, char **argv)
{
  ctx = test_place(argc, argv, NULL);
  for (uint64_t seed = 1; seed <= 10; seed++) check_estimates(seed);
  check_imported();
  check_stalled();
  worst_column();
  for (int kind = 0; kind < TEST_KINDS; kind++)
    if (kind != TEST_WILD) check_beside_cpu((test_kind)kind, 4); /* the scales of that one leave rounding alone */
  for (uint64_t seed = 1; seed <= 10; seed++)
    for (int kind = 0; kind < TEST_KINDS; kind++)
      if (kind != TEST_WILD) check_determinant((test_kind)kind, seed);
  gable_context_destroy(&ctx);
  return 0;
}
