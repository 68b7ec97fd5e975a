/* Every real matrix of $GABLE_MATRICES (else ../shared/matrices) with fewer than 20,000 rows (6,000 under a
 * sanitizer; GABLE_TEST_ROWS changes that) is solved by default options to the default tolerance, plain and transposed,
 * for b = op(A) e and for a random b. */
#include <dirent.h>

#include "support/test.h"

#include "base/portable.h"
#include "base/random.h"
#include "support/systems.h"

static gable_context *ctx;

static void solve_both(const char *name, gable_matrix *a)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  CHECK_OK(gable_matrix_get_view(a, &v));
  size_t n = (size_t)v.n_cols;
  test_system t = {v.n_cols, (int64_t *)(uintptr_t)v.ptr, (gable_idx *)(uintptr_t)v.idx, (double *)(uintptr_t)v.val};
  double *b = calloc(2 * n + 1, sizeof *b), *x = calloc(2 * n + 1, sizeof *x);
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  gable_status status = gable_solver_analyse(s, &v);
  if (!status) status = gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING);
  CHECK(status == GABLE_OK, "%s: %s", name, gable_last_error());
  CHECK_OK(gable_solver_work_create(s, 2, &w));
  for (int transposed = 0; transposed < 2; transposed++) {
    gable_op op = transposed ? GABLE_OP_T : GABLE_OP_N;
    gi_random r = gi_random_seed(7);
    memset(b, 0, 2 * n * sizeof *b);
    for (gable_idx j = 0; j < t.n; j++)
      for (int64_t k = t.ptr[j]; k < t.ptr[j + 1]; k++) b[transposed ? j : t.idx[k]] += t.val[k];
    for (size_t i = n; i < 2 * n; i++) b[i] = gi_random_unit(&r) - 0.5;
    gable_vectors_view vb = test_vectors(t.n, 2, b), vx = test_vectors(t.n, 2, x);
    status = gable_solver_solve(s, w, op, &vb, &vx);
    gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
    CHECK_OK(gable_solver_work_report(w, &report));
    printf("%-24s op %d: %.1e (%.1e before %d steps), by the definition %.1e %.1e\n", name, transposed,
           report.backward_error, report.first_error, report.refine_steps, test_backward_error(&t, op, b, x),
           test_backward_error(&t, op, b + n, x + n));
    const int solved = status == GABLE_OK || status == GABLE_NUMERICALLY_SINGULAR; /* lhr07 is */
    CHECK(solved && report.backward_error <= 1e-12, "%s op %d: %s", name, transposed, gable_last_error());
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  free(b);
  free(x);
}

int main(void)
{
  const char *folder = getenv("GABLE_MATRICES"), *limit = getenv("GABLE_TEST_ROWS");
  long rows = limit ? strtol(limit, NULL, 10) : GI_SANITIZED ? 6000 : 20000;
  int solved = 0;
  if (!folder) folder = "../shared/matrices";
  DIR *directory = opendir(folder);
  if (!directory) SKIP("no folder %s: set GABLE_MATRICES", folder);
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (struct dirent *e; (e = readdir(directory));) {
    char path[1024];
    gable_read_options reading = GABLE_READ_OPTIONS_INIT;
    gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
    gable_matrix *file = NULL, *a = NULL;
    if (!strstr(e->d_name, ".mtx")) continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    gable_status status = gable_matrix_read(ctx, path, &reading, &file);
    if (status == GABLE_ERR_UNAVAILABLE) SKIP("its matrices are compressed, and this build has no zlib");
    CHECK(!status, "%s: %s", e->d_name, gable_last_error());
    CHECK_OK(gable_matrix_get_info(file, &info));
    if (info.field == GABLE_FIELD_REAL && info.n_rows == info.n_cols && info.n_rows < rows) {
      CHECK_OK(gable_matrix_expand(file, &a));
      solve_both(e->d_name, a);
      solved++;
    }
    gable_matrix_destroy(&file);
    gable_matrix_destroy(&a);
  }
  closedir(directory);
  gable_context_destroy(&ctx);
  CHECK(solved > 0, "%s holds no matrix to solve", folder);
  return 0;
}
