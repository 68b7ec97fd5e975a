/* One system in every form that a caller may hold it in gives one answer; new values at every level of reuse; factors
 * apart and together; wrong arguments and singular matrices are said. */
#include <float.h>

#include "support/test.h"

#include "support/systems.h"

enum { N = 45, RHS = 5 };

static gable_context *ctx;

static gable_solver *solver_for(const gable_matrix_view *v, const gable_solver_options *options)
{
  gable_solver *s = NULL;
  CHECK_OK(gable_solver_create(ctx, options, &s));
  CHECK_OK(gable_solver_analyse(s, v));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
  return s;
}

static void solve_with(const gable_solver *s, gable_op op, gable_vectors_view b, gable_vectors_view x)
{
  gable_solver_work *w = NULL;
  CHECK_OK(gable_solver_work_create(s, b.count, &w));
  CHECK_OK(gable_solver_solve(s, w, op, &b, &x));
  gable_solver_work_destroy(&w);
}

/* The arrays of one system under another base, other offsets, other values, as rows of its transpose, as one triangle.
 */
typedef struct holder {
  int32_t ptr32[N + 1];
  int64_t ptr64[N + 1];
  gable_idx idx[N * N];
  float single[N * N];
  double val[N * N];
} holder;

static gable_matrix_view hold(const test_system *a, holder *h, int base, int narrow, int single, gable_part part)
{
  gable_matrix_view v = test_system_view(a);
  int64_t to = 0;
  for (gable_idx j = 0; j < a->n; j++) {
    h->ptr64[j] = to + base;
    for (int64_t k = a->ptr[j]; k < a->ptr[j + 1]; k++) {
      if ((part == GABLE_PART_LOWER && a->idx[k] < j) || (part == GABLE_PART_UPPER && a->idx[k] > j)) continue;
      h->idx[to] = a->idx[k] + base;
      h->single[to] = (float)a->val[k];
      h->val[to++] = a->val[k];
    }
  }
  h->ptr64[a->n] = to + base;
  for (gable_idx j = 0; j <= a->n; j++) h->ptr32[j] = (int32_t)h->ptr64[j];
  v.base = base;
  v.offset_type = narrow ? GABLE_TYPE_I32 : GABLE_TYPE_I64;
  v.ptr = narrow ? (const void *)h->ptr32 : h->ptr64;
  v.idx = h->idx;
  v.value_type = single ? GABLE_TYPE_S : GABLE_TYPE_D;
  v.val = single ? (const void *)h->single : h->val;
  if (part != GABLE_PART_FULL) v.structure = GABLE_STRUCTURE_SYMMETRIC;
  v.part = part;
  return v;
}

static void every_view(test_kind kind, int symmetric)
{
  static holder h;
  test_system a = test_system_make(kind, N, 4);
  double b[N], x[N], plain[N], transposed[N];
  for (int64_t k = 0; k < a.ptr[N]; k++) a.val[k] = (double)(float)a.val[k];
  for (int i = 0; i < N; i++) b[i] = i % 4 - 1.5;
  gable_matrix_view v = test_system_view(&a);
  gable_solver *s = solver_for(&v, NULL);
  solve_with(s, GABLE_OP_N, test_vectors(N, 1, b), test_vectors(N, 1, plain));
  solve_with(s, GABLE_OP_T, test_vectors(N, 1, b), test_vectors(N, 1, transposed));
  gable_solver_destroy(&s);
  for (int form = 0; form < 8 * (symmetric ? 3 : 1); form++) {
    v = hold(&a, &h, form & 1, form >> 1 & 1, form >> 2 & 1, (gable_part)(form >> 3));
    for (int rows = 0; rows < 2; rows++) {
      v.format = rows ? GABLE_FORMAT_CSR : GABLE_FORMAT_CSC; /* the same arrays by rows are the transpose */
      if (rows && v.part != GABLE_PART_FULL) v.part = v.part == GABLE_PART_LOWER ? GABLE_PART_UPPER : GABLE_PART_LOWER;
      s = solver_for(&v, NULL);
      solve_with(s, rows ? GABLE_OP_T : GABLE_OP_N, test_vectors(N, 1, b), test_vectors(N, 1, x));
      for (int i = 0; i < N; i++)
        CHECK(fabs(x[i] - plain[i]) <= 1e-6 * (1 + fabs(plain[i])), "%s form %d rows %d: x[%d] %g, not %g",
              test_kind_name(kind), form, rows, i, x[i], plain[i]);
      solve_with(s, rows ? GABLE_OP_N : GABLE_OP_T, test_vectors(N, 1, b), test_vectors(N, 1, x));
      for (int i = 0; i < N; i++) CHECK(fabs(x[i] - transposed[i]) <= 1e-6 * (1 + fabs(transposed[i])));
      gable_solver_destroy(&s);
    }
  }
  test_system_free(&a);
}

/* One triangle of a general matrix: the other one is not looked at. */
static void triangle_of_general(void)
{
  static holder h;
  test_system a = test_system_make(TEST_DOMINANT, N, 4);
  double b[N], x[N], product[N];
  for (int i = 0; i < N; i++) b[i] = i % 4 - 1.5;
  for (int form = 0; form < 4; form++) {
    int rows = form & 1, lower = form >> 1; /* of the arrays; by rows they are the transpose */
    gable_matrix_view v = hold(&a, &h, 0, 0, 0, GABLE_PART_FULL);
    v.format = rows ? GABLE_FORMAT_CSR : GABLE_FORMAT_CSC;
    v.part = lower != rows ? GABLE_PART_LOWER : GABLE_PART_UPPER;
    gable_solver *s = solver_for(&v, NULL);
    solve_with(s, GABLE_OP_N, test_vectors(N, 1, b), test_vectors(N, 1, x));
    memset(product, 0, sizeof product);
    for (gable_idx j = 0; j < N; j++)
      for (int64_t k = a.ptr[j]; k < a.ptr[j + 1]; k++) {
        gable_idx i = a.idx[k];
        if (lower ? i < j : i > j) continue;
        product[rows ? j : i] += a.val[k] * x[rows ? i : j];
      }
    for (int i = 0; i < N; i++) CHECK(fabs(product[i] - b[i]) <= 1e-10, "form %d: %g, not %g", form, product[i], b[i]);
    gable_solver_destroy(&s);
  }
  test_system_free(&a);
}

/* Row-major and float vectors, float factors. */
static void every_vector(void)
{
  test_system a = test_system_make(TEST_DOMINANT, N, 8);
  gable_matrix_view v = test_system_view(&a);
  double b[N * RHS], x[N * RHS], y[N * RHS];
  float fb[N * RHS], fx[N * RHS];
  for (int type = 0; type < 2; type++) {
    gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
    options.factor_type = type ? GABLE_TYPE_S : GABLE_TYPE_D;
    gable_solver *s = solver_for(&v, &options);
    for (int i = 0; i < N; i++)
      for (int c = 0; c < RHS; c++) {
        b[i + c * N] = (double)((i * 3 + c * 5) % 7) - 3;
        fb[i * RHS + c] = (float)b[i + c * N];
        y[i * RHS + c] = b[i + c * N];
      }
    solve_with(s, GABLE_OP_N, test_vectors(N, RHS, b), test_vectors(N, RHS, x));
    for (int c = 0; c < RHS; c++) CHECK(test_backward_error(&a, GABLE_OP_N, b + c * N, x + c * N) <= 1e-12);
    gable_vectors_view rows = test_vectors(N, RHS, y);
    rows.major = GABLE_MAJOR_ROW;
    rows.ld = RHS;
    solve_with(s, GABLE_OP_N, rows, rows);
    gable_vectors_view singles = rows, answers = rows;
    singles.type = answers.type = GABLE_TYPE_S;
    singles.data = fb;
    answers.data = fx;
    solve_with(s, GABLE_OP_N, singles, answers);
    for (int i = 0; i < N; i++)
      for (int c = 0; c < RHS; c++) {
        CHECK(y[i * RHS + c] == x[i + c * N]);
        CHECK(fabs((double)fx[i * RHS + c] - x[i + c * N]) <= 1e-5 * (1 + fabs(x[i + c * N])));
      }
    gable_solver_destroy(&s);
  }
  test_system_free(&a);
}

static void every_reuse(test_kind kind)
{
  test_system a = test_system_make(kind, N, 2);
  gable_matrix_view v = test_system_view(&a), pattern = v;
  double b[N], x[N];
  gable_solver *s = solver_for(&v, NULL);
  for (int i = 0; i < N; i++) b[i] = 1 + i % 2;
  for (int level = GABLE_REUSE_ALL; level >= 0; level--) {
    for (int64_t k = 0; k < a.ptr[N]; k++) a.val[k] *= 1.5;
    CHECK_OK(gable_solver_factor(s, a.val, (gable_reuse)level));
    solve_with(s, GABLE_OP_N, test_vectors(N, 1, b), test_vectors(N, 1, x));
    CHECK(test_backward_error(&a, GABLE_OP_N, b, x) <= 1e-12, "%s level %d", test_kind_name(kind), level);
  }
  gable_solver_destroy(&s);

  /* Pattern first, values later. */
  pattern.val = NULL;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_analyse(s, &pattern));
  CHECK(gable_solver_factor(s, NULL, GABLE_REUSE_ALL) == GABLE_ERR_ARGUMENT);
  gable_status status = gable_solver_factor(s, a.val, GABLE_REUSE_PATTERN);
  CHECK(status == GABLE_OK, "%s", gable_last_error());
  solve_with(s, GABLE_OP_N, test_vectors(N, 1, b), test_vectors(N, 1, x));
  CHECK(test_backward_error(&a, GABLE_OP_N, b, x) <= 1e-12);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* L D U in turn, with the permutations and scalings of the query, make the solution. */
static void factors_apart(test_kind kind)
{
  test_system a = test_system_make(kind, N, 6);
  gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.blocks = GABLE_CHOICE_NEVER; /* the entries right of diagonal blocks belong to no factor */
  gable_solver *s = solver_for(&v, &options);
  gable_solver_work *w = NULL;
  gable_idx rows[N], columns[N];
  double r[N], c[N], b[N], y[N], x[N], whole[N];
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ROW_ORDER, rows, sizeof rows));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_COLUMN_ORDER, columns, sizeof columns));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ROW_SCALE, r, sizeof r));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_COLUMN_SCALE, c, sizeof c));
  CHECK(gable_solver_get(s, GABLE_SOLVER_COLUMN_SCALE, c, sizeof c - 1) == GABLE_ERR_ARGUMENT);
  for (int i = 0; i < N; i++) b[i] = i % 5 - 2;
  for (int k = 0; k < N; k++) y[k] = r[rows[k]] * b[rows[k]];
  gable_vectors_view vy = test_vectors(N, 1, y), vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, whole);
  CHECK_OK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_L, &vy, &vy));
  CHECK_OK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_D, &vy, &vy));
  CHECK_OK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_U, &vy, &vy));
  for (int k = 0; k < N; k++) x[columns[k]] = c[columns[k]] * y[k];
  CHECK_OK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_ALL, &vb, &vx));
  for (int i = 0; i < N; i++) CHECK(fabs(x[i] - whole[i]) <= 1e-9 * (1 + fabs(whole[i])), "%g, not %g", x[i], whole[i]);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* New values with a NaN are refused at every reuse level, and the old ones and their factor stay; four entries, n = 3.
 */
static void refused_values(gable_solver *s, gable_solver_work *w)
{
  const gable_reuse levels[] = {GABLE_REUSE_NOTHING, GABLE_REUSE_PATTERN, GABLE_REUSE_ROWS, GABLE_REUSE_ALL};
  double b[3] = {1, 2, 3}, before[3], after[3], wrong[4] = {5, 6, 7, NAN};
  gable_vectors_view vb = test_vectors(3, 1, b), vx = test_vectors(3, 1, before), vy = test_vectors(3, 1, after);
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
  for (int k = 0; k < 4; k++) {
    CHECK(gable_solver_factor(s, wrong, levels[k]) == GABLE_ERR_NOT_FINITE && strstr(gable_last_error(), "value 3"));
    memset(after, 0xff, sizeof after);
    CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vy));
    CHECK_OK(gable_solver_work_report(w, &report));
    CHECK(report.backward_error <= 1e-15, "reuse level %d: backward error %g", k, report.backward_error);
    CHECK(!memcmp(before, after, sizeof after), "reuse level %d", k);
  }
}

static void refusals(void)
{
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  int64_t ptr[] = {0, 2, 3, 4}, empty[] = {0, 0, 0};
  gable_idx idx[] = {0, 1, 0, 0}; /* columns 1 and 2 share their only row */
  double val[] = {1, 2, 3, 4}, b[3] = {1, 2, 3}, number;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = 3;
  v.format = GABLE_FORMAT_CSC;
  v.ptr = ptr;
  v.idx = idx;
  v.val = val;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING) == GABLE_ERR_STATE);
  CHECK(gable_solver_work_create(s, 1, &w) == GABLE_ERR_STATE);
  CHECK(gable_solver_analyse(s, &v) == GABLE_ERR_SINGULAR);
  CHECK(strstr(gable_last_error(), "rank 2 of 3") && strstr(gable_last_error(), "row 2 (counted from 0)"), "%s",
        gable_last_error());
  v.ptr = empty;
  v.n_rows = v.n_cols = 2;
  CHECK(gable_solver_analyse(s, &v) == GABLE_ERR_SINGULAR);
  v.ptr = ptr;
  v.n_cols = 3;
  CHECK(gable_solver_analyse(s, &v) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "square"));
  v.n_rows = 3;
  idx[2] = 7;
  CHECK(gable_solver_analyse(s, &v) == GABLE_ERR_ARGUMENT);
  idx[2] = 1;
  idx[3] = 2;
  val[3] = INFINITY;
  CHECK(gable_solver_analyse(s, &v) == GABLE_ERR_NOT_FINITE);
  val[3] = 4;
  CHECK_OK(gable_solver_analyse(s, &v));
  CHECK(gable_solver_get(s, GABLE_SOLVER_GROWTH, &number, sizeof number) == GABLE_ERR_STATE);
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  gable_vectors_view vb = test_vectors(3, 1, b), wrong = test_vectors(2, 1, b);
  CHECK(gable_solver_solve(s, w, GABLE_OP_N, &wrong, &vb) == GABLE_ERR_ARGUMENT);
  refused_values(s, w);
  CHECK_OK(gable_solver_factor(s, val, GABLE_REUSE_NOTHING));
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vb)); /* the work is from before the analysis, and fits */
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
}

/* The determinant, a matrix of rank n - 1, and a tolerance that cannot be met. */
static void numbers(void)
{
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  int64_t ptr[] = {0, 2, 5, 7}, sign;
  gable_idx idx[] = {0, 1, 0, 1, 2, 1, 2};
  double val[] = {2, 1, -3, 1, 4, 5, -2}, log_abs, rcond; /* det = 2(-2-20) + 3(-2-0) = -50 */
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = 3;
  v.format = GABLE_FORMAT_CSC;
  v.ptr = ptr;
  v.idx = idx;
  v.val = val;
  s = solver_for(&v, NULL);
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_LOG_ABS_DETERMINANT, &log_abs, sizeof log_abs));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_SIGN_DETERMINANT, &sign, sizeof sign));
  CHECK(fabs(exp(log_abs) - 50) < 1e-12 && sign == -1, "%g, sign %d", exp(log_abs), (int)sign);
  val[6] = -20; /* now 2(-20-20) + 3(-20) = -140 */
  CHECK_OK(gable_solver_factor(s, val, GABLE_REUSE_ROWS));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_LOG_ABS_DETERMINANT, &log_abs, sizeof log_abs));
  CHECK(fabs(exp(log_abs) - 140) < 1e-12);
  gable_solver_destroy(&s);

  double ring[] = {2, -1, -1, -1, 2, -1, -1, -1, 2}, b[] = {1, 2, 4}, x[3];
  int64_t ring_ptr[] = {0, 3, 6, 9};
  gable_idx ring_idx[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  v.ptr = ring_ptr;
  v.idx = ring_idx;
  v.val = ring;
  s = solver_for(&v, NULL);
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  CHECK_OK(gable_solver_rcond(s, w, &rcond));
  CHECK(rcond < DBL_EPSILON, "rcond of a singular matrix is %g", rcond);
  gable_vectors_view vb = test_vectors(3, 1, b), vx = test_vectors(3, 1, x);
  CHECK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx) == GABLE_NUMERICALLY_SINGULAR);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
}

static void missed_tolerance(void)
{
  test_system a = test_system_make(TEST_UNSYMMETRIC, 150, 3);
  gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.factor_type = GABLE_TYPE_S;
  options.refine_steps = 0;
  gable_solver *s = solver_for(&v, &options);
  gable_solver_work *w = NULL;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  double b[150], x[150];
  for (int i = 0; i < 150; i++) {
    b[i] = i % 3 + 1;
    x[i] = NAN;
  }
  gable_vectors_view vb = test_vectors(150, 1, b), vx = test_vectors(150, 1, x);
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  CHECK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx) == GABLE_ERR_TOLERANCE);
  CHECK_OK(gable_solver_work_report(w, &report));
  CHECK(report.reason[0] && strstr(gable_last_error(), report.reason));
  double error = test_backward_error(&a, GABLE_OP_N, b, x);
  CHECK(error < 1e-3 && error > 1e-12, "x was not written: %g", error);
  CHECK(fabs(error - report.backward_error) <= 1e-9 * error + 1e-15);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

static int cancel(void *user, const char *phase, double done)
{
  (void)phase;
  (void)done;
  return --*(int *)user < 0;
}

static void cancelled(void)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  int calls = 0;
  gable_context *own = NULL;
  gable_solver *s = NULL;
  test_system a = test_system_make(TEST_UNSYMMETRIC, 100, 3);
  gable_matrix_view v = test_system_view(&a);
  options.progress = cancel;
  options.progress_user = &calls;
  CHECK_OK(gable_context_create("cpu", &options, &own));
  CHECK_OK(gable_solver_create(own, NULL, &s));
  int seen = 0;
  for (int limit = 0; limit < 100; limit++) {
    calls = limit;
    gable_status status = gable_solver_analyse(s, &v);
    if (!status) status = gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING);
    CHECK(status == (calls < 0 ? GABLE_ERR_CANCELLED : GABLE_OK), "limit %d: status %d", limit, (int)status);
    seen += status == GABLE_ERR_CANCELLED;
    if (!status) break;
  }
  CHECK(seen > 5, "asked %d times", seen);
  gable_solver_destroy(&s);
  gable_context_destroy(&own);
  test_system_free(&a);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  every_view(TEST_DOMINANT, 0);
  every_view(TEST_REDUCIBLE, 0);
  every_view(TEST_SPD, 1);
  every_view(TEST_INDEFINITE, 1);
  triangle_of_general();
  every_vector();
  for (int kind = 0; kind < TEST_KINDS; kind++)
    if (kind != TEST_WILD && kind != TEST_GROWTH) every_reuse((test_kind)kind);
  factors_apart(TEST_DOMINANT);
  factors_apart(TEST_SPD);
  factors_apart(TEST_SADDLE);
  refusals();
  numbers();
  missed_tolerance();
  cancelled();
  gable_context_destroy(&ctx);
  return 0;
}
