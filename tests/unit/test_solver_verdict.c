/* What a solver says about what it was given: NaN and infinity in b, and in values, by row and column from 0. */
#include "support/test.h"

#include "support/systems.h"

enum { N = 30 };

static gable_context *ctx;

/* b is refused before x is touched, in every layout and type. */
static void not_finite_b(void)
{
  enum { COUNT = 3, BAD = 17 };
  test_system a = test_system_make(TEST_DOMINANT, N, 3);
  gable_matrix_view v = test_system_view(&a);
  gable_solver *s = test_factored(ctx, &v, NULL);
  gable_solver_work *w = NULL;
  double b[N * COUNT], x[N * COUNT];
  float fb[N * COUNT];
  const double wrong[] = {NAN, INFINITY, -INFINITY};
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int form = 0; form < 4; form++) {
    const int by_rows = form & 1, bad = by_rows ? BAD * COUNT + 2 : BAD + 2 * N;
    gable_vectors_view vb = test_vectors(N, COUNT, b), vx = test_vectors(N, COUNT, x);
    if (by_rows) vb.major = GABLE_MAJOR_ROW;
    if (by_rows) vb.ld = COUNT;
    if (form & 2) vb.type = GABLE_TYPE_S;
    if (form & 2) vb.data = fb;
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < N * COUNT; i++) b[i] = fb[i] = 1;
      for (int i = 0; i < N * COUNT; i++) x[i] = 7;
      b[bad] = wrong[k];
      fb[bad] = (float)wrong[k];
      CHECK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx) == GABLE_ERR_NOT_FINITE &&
                strstr(gable_last_error(), "row 17, column 2 (counted from 0)"),
            "form %d: %s", form, gable_last_error());
      for (int i = 0; i < N * COUNT; i++) CHECK(x[i] == 7);
    }
    b[bad] = fb[bad] = 1;
    CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

static void expect_said(const gable_matrix_view *v, gable_status want, const char *words)
{
  gable_solver *s = NULL;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  const gable_status got = gable_solver_analyse(s, v);
  CHECK(got == want && strstr(gable_last_error(), words), "%d, not %d: %s, not %s", (int)got, (int)want,
        gable_last_error(), words);
  gable_solver_destroy(&s);
}

/* Lists of CSR are rows, those of CSC columns, and both count from 0 whatever the base of the view. */
static void rows_count_from_0(void)
{
  for (int base = 0; base < 2; base++)
    for (int by_rows = 0; by_rows < 2; by_rows++) {
      int64_t ptr[] = {base, base + 2, base + 3, base + 5};
      gable_idx idx[] = {base, base + 2, base + 1, base, base + 2};
      double val[] = {4, 1, 4, 2, 4};
      gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
      v.n_rows = v.n_cols = 3;
      v.format = by_rows ? GABLE_FORMAT_CSR : GABLE_FORMAT_CSC;
      v.base = base;
      v.ptr = ptr;
      v.idx = idx;
      v.val = val;
      val[1] = NAN;
      expect_said(&v, GABLE_ERR_NOT_FINITE, by_rows ? "row 0, column 2 (" : "row 2, column 0 (");
      val[1] = 1;
      idx[4] = base;
      expect_said(&v, GABLE_ERR_ARGUMENT, by_rows ? "in row 2 (counted from 0)" : "in column 2 (counted from 0)");
      idx[4] = base + 2;
      ptr[1] = base + 4;
      expect_said(&v, GABLE_ERR_ARGUMENT, by_rows ? "after row 1 (counted from 0)" : "after column 1 (counted from 0)");
      ptr[1] = base + 2;
      idx[2] = base + 2; /* nothing is left for row or column 1 */
      v.val = val;
      expect_said(&v, GABLE_ERR_SINGULAR, by_rows ? "row" : "row 1 (counted from 0)");
    }
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  not_finite_b();
  rows_count_from_0();
  gable_context_destroy(&ctx);
  return 0;
}
