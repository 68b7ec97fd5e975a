/* A work of before another analysis solves with the new one, to the same bits as a new work, where its sizes hold, and
 * is refused where they do not: another n, longer panels, an LU after a symmetric factor, a GPU. */
#include "support/test.h"

#include "support/systems.h"

enum { COLUMNS = 3, N = 300 };

static gable_status solve(const gable_solver *s, gable_solver_work *w, gable_idx n, double *x)
{
  double b[COLUMNS * N];
  for (gable_idx k = 0; k < COLUMNS * n; k++) b[k] = 1 + k % 7;
  gable_vectors_view vb = test_vectors(n, COLUMNS, b), vx = test_vectors(n, COLUMNS, x);
  return gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx);
}

/* w solves with what s holds now as a new work does. */
static void check_fits(const gable_solver *s, gable_solver_work *w, gable_idx n, const char *name)
{
  double x[COLUMNS * N], y[COLUMNS * N];
  gable_solver_work *fresh = NULL;
  CHECK_OK(gable_solver_work_create(s, COLUMNS, &fresh));
  const gable_status status = solve(s, w, n, x);
  CHECK(!status, "%s: %s", name, gable_last_error());
  CHECK_OK(solve(s, fresh, n, y));
  CHECK(!memcmp(x, y, sizeof *x * COLUMNS * (size_t)n), "%s: an old work gives other bits", name);
  gable_solver_work_destroy(&fresh);
}

static void check_refused(const gable_solver *s, gable_solver_work *w, gable_idx n, const char *name)
{
  double x[COLUMNS * N];
  CHECK(solve(s, w, n, x) == GABLE_ERR_STATE && strstr(gable_last_error(), "does not fit"), "%s: %s", name,
        gable_last_error());
  gable_solver_work *fresh = NULL;
  CHECK_OK(gable_solver_work_create(s, COLUMNS, &fresh));
  CHECK_OK(solve(s, fresh, n, x));
  gable_solver_work_destroy(&fresh);
}

/* Values that move a little, in the order of the same pattern. */
static void check_reuse_pattern(gable_context *ctx)
{
  static const test_kind kinds[] = {TEST_DOMINANT, TEST_UNSYMMETRIC, TEST_REDUCIBLE,
                                    TEST_SPD,      TEST_NEGATIVE,    TEST_INDEFINITE};
  for (int k = 0; k < 6; k++) {
    test_system a = test_system_make(kinds[k], N, 11);
    const gable_matrix_view v = test_system_view(&a);
    gable_solver *s = test_factored(ctx, &v, NULL);
    gable_solver_work *w = NULL;
    int64_t before, after;
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ANALYSES, &before, sizeof before));
    CHECK_OK(gable_solver_work_create(s, COLUMNS, &w));
    for (int pass = 0; pass < 3; pass++) {
      for (int64_t p = 0; p < a.ptr[a.n]; p++) a.val[p] *= 1.25;
      CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_PATTERN));
      check_fits(s, w, N, test_kind_name(kinds[k]));
    }
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ANALYSES, &after, sizeof after));
    CHECK(after >= before + 3, "nothing was analysed again");
    CHECK_OK(gable_solver_analyse(s, &v));
    CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
    check_fits(s, w, N, "the same matrix, analysed again");
    gable_solver_work_destroy(&w);
    gable_solver_destroy(&s);
    test_system_free(&a);
  }
}

/* Rows of an unsymmetric matrix change places: another matching, hence another order of rows. */
static void check_matching(gable_context *ctx)
{
  enum { M = 40 };
  int64_t ptr[M + 1];
  gable_idx idx[3 * M];
  double val[3 * M], large_above[3 * M];
  for (gable_idx j = 0; j <= M; j++) ptr[j] = 2 * j;
  for (gable_idx j = 0; j < M; j++) { /* a cycle: (j,j) and (j+1,j) */
    const gable_idx next = (j + 1) % M;
    idx[2 * j] = j < next ? j : next;
    idx[2 * j + 1] = j < next ? next : j;
    for (int e = 0; e < 2; e++) {
      val[2 * j + e] = idx[2 * j + e] == j ? 10 : 1e-3;
      large_above[2 * j + e] = idx[2 * j + e] == j ? 1e-3 : 10;
    }
  }
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  gable_solver_options o = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver_work *w = NULL;
  gable_idx rows[2][M], columns[2][M];
  o.match = GABLE_CHOICE_ALWAYS;
  o.method = GABLE_METHOD_LU;
  v.n_rows = v.n_cols = M;
  v.format = GABLE_FORMAT_CSC;
  v.ptr = ptr;
  v.idx = idx;
  v.val = val;
  gable_solver *s = test_factored(ctx, &v, &o);
  CHECK_OK(gable_solver_work_create(s, COLUMNS, &w));
  check_fits(s, w, M, "a cycle");
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ROW_ORDER, rows[0], sizeof *rows));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_COLUMN_ORDER, columns[0], sizeof *columns));
  CHECK(!memcmp(rows[0], columns[0], sizeof *rows), "the diagonal is large, but rows are exchanged");
  CHECK_OK(gable_solver_factor(s, large_above, GABLE_REUSE_PATTERN));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ROW_ORDER, rows[1], sizeof *rows));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_COLUMN_ORDER, columns[1], sizeof *columns));
  CHECK(memcmp(rows[1], columns[1], sizeof *rows), "rows are not exchanged");
  check_fits(s, w, M, "a cycle whose rows moved");
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
}

static void check_misfits(gable_context *ctx)
{
  test_system small = test_system_make(TEST_PERMUTATION, N, 1), dense = test_system_make(TEST_DENSE, N, 1),
              other = test_system_make(TEST_DENSE, N - 1, 1), spd = test_system_make(TEST_SPD, N, 1);
  gable_matrix_view v = test_system_view(&small), vd = test_system_view(&dense), vo = test_system_view(&other),
                    vs = test_system_view(&spd);
  gable_solver_work *w = NULL;
  gable_solver *s = test_factored(ctx, &v, NULL);
  CHECK_OK(gable_solver_work_create(s, COLUMNS, &w));
  CHECK_OK(gable_solver_analyse(s, &vd));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
  check_refused(s, w, N, "longer panels");
  CHECK_OK(gable_solver_analyse(s, &vo));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
  check_refused(s, w, N - 1, "another n");
  gable_solver_work_destroy(&w);

  CHECK_OK(gable_solver_analyse(s, &vs));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
  CHECK_OK(gable_solver_work_create(s, COLUMNS, &w));
  CHECK_OK(gable_solver_analyse(s, &v)); /* an LU that exchanges rows */
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING));
  check_refused(s, w, N, "an LU after Cholesky");
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&small);
  test_system_free(&dense);
  test_system_free(&other);
  test_system_free(&spd);
}

static void check_mirror(void)
{
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("mirror", NULL, &ctx));
  test_system a = test_system_make(TEST_DOMINANT, N, 1);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver *s = test_factored(ctx, &v, NULL);
  gable_solver_work *w = NULL;
  CHECK_OK(gable_solver_work_create(s, COLUMNS, &w));
  CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_PATTERN));
  check_refused(s, w, N, "a GPU's");
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
  gable_context_destroy(&ctx);
}

int main(void)
{
  for (int threads = 1; threads <= 3; threads += 2) {
    gable_context *ctx = NULL;
    gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
    options.threads = threads;
    CHECK_OK(gable_context_create("cpu", &options, &ctx));
    check_reuse_pattern(ctx);
    check_matching(ctx);
    check_misfits(ctx);
    gable_context_destroy(&ctx);
  }
  check_mirror();
  return 0;
}
