/* An entry that overflows when divided by its diagonal entry, beside an unknown that is zero: substitution gives finite
 * numbers.  Every method gives them too, or says GABLE_ERR_LIMIT with the row; never NaN. */
#include "support/test.h"

#include "support/place.h"

enum { N = 300, ROW = 200 };

/* A bidiagonal matrix of ones, but row ROW: 1e150 beside 1e-200.  b makes x zero up to ROW - 1 and one from ROW on. */
typedef struct problem {
  int64_t ptr[N + 1];
  gable_idx idx[2 * N];
  double val[2 * N], b[N];
} problem;

static void fill(problem *p)
{
  int64_t used = 0;
  for (gable_idx i = 0; i < N; i++) {
    p->ptr[i] = used;
    if (i) {
      p->idx[used] = i - 1;
      p->val[used++] = i == ROW ? 1e150 : 1;
    }
    p->idx[used] = i;
    p->val[used++] = i == ROW ? 1e-200 : 1;
    p->b[i] = i < ROW ? 0 : i == ROW ? 1e-200 : 2;
  }
  p->ptr[N] = used;
}

static void check(gable_context *ctx, const problem *p, const char *method)
{
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, x;
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  gable_trisolve *t = NULL;
  gable_work *w = NULL;
  double solution[N];
  a.format = GABLE_FORMAT_CSR;
  a.part = GABLE_PART_LOWER;
  a.n_rows = a.n_cols = N;
  a.ptr = p->ptr;
  a.idx = p->idx;
  options.method = method;
  options.solves = 0;
  CHECK_OK(gable_trisolve_create(ctx, &options, &t));
  CHECK_OK(gable_trisolve_analyse(t, &a));
  const gable_status status = gable_trisolve_update(t, p->val);
  CHECK_OK(gable_trisolve_get_info(t, GABLE_OP_N, &info));
  if (status == GABLE_ERR_LIMIT) {
    CHECK(info.bad_row == ROW, "%s: row %d", method, info.bad_row);
    CHECK(test_place_is_gpu(ctx) && (!strcmp(info.method_used, "tiles") || !strcmp(info.method_used, "rows")),
          "%s divides last", info.method_used);
    gable_trisolve_destroy(&t);
    return;
  }
  CHECK_OK(status);
  CHECK_OK(gable_work_create(t, 1, &w));
  b.n = N;
  b.ld = N;
  b.count = 1;
  b.data = (void *)p->b;
  x = b;
  x.data = solution;
  CHECK_OK(gable_trisolve_solve(t, w, GABLE_OP_N, &b, &x));
  CHECK_OK(gable_work_status(w, NULL));
  for (gable_idx i = 0; i < N; i++)
    CHECK(solution[i] == (i < ROW ? 0 : 1), "%s: x[%d] is %g", info.method_used, i, solution[i]);
  gable_work_destroy(&w);
  gable_trisolve_destroy(&t);
}

int main(int argc, char **argv)
{
  static problem p;
  gable_context *ctx = test_place(argc, argv, NULL);
  fill(&p);
  for (const char *const *method = test_place_methods(ctx); *method; method++) check(ctx, &p, *method);
  check(ctx, &p, "auto");
  gable_context_destroy(&ctx);
  return 0;
}
