/* Every method on both triangles of every real matrix of $GABLE_MATRICES (else ../shared/matrices) with at most 60,000
 * rows (10,000 on a GPU, where gable bench checks all of them; 3,000 under a sanitizer; GABLE_TEST_ROWS changes that),
 * op N and T, against the written bound.  The diagonal is made dominant, since many of these triangles are singular or
 * overflow. */
#include <dirent.h>

#include "support/test.h"

#include "base/portable.h"
#include "support/place.h"
#include "support/triangles.h"

typedef struct square {
  gable_matrix *matrix;
  gable_matrix_view view;
  double *diagonal;
} square;

/* Both triangles, and 1.1 times the magnitudes of row and column as the diagonal. */
static int open_matrix(gable_context *ctx, const char *path, square *s)
{
  gable_matrix *file = NULL;
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  memset(s, 0, sizeof *s);
  s->view = (gable_matrix_view)GABLE_MATRIX_VIEW_INIT;
  gable_status status = gable_matrix_read(ctx, path, NULL, &file);
  if (status == GABLE_ERR_UNAVAILABLE) SKIP("its matrices are compressed, and this build has no zlib");
  CHECK(!status, "%s: %s", path, gable_last_error());
  CHECK_OK(gable_matrix_get_info(file, &info));
  const char *limit = getenv("GABLE_TEST_ROWS");
  const long most = GI_SANITIZED ? 3000 : test_place_is_gpu(ctx) ? 10000 : 60000;
  if (info.n_rows != info.n_cols || info.n_rows > (limit ? atol(limit) : most) || info.field == GABLE_FIELD_COMPLEX ||
      info.field == GABLE_FIELD_PATTERN) {
    gable_matrix_destroy(&file);
    return 0;
  }
  CHECK_OK(gable_matrix_expand(file, &s->matrix));
  gable_matrix_destroy(&file);
  CHECK_OK(gable_matrix_get_view(s->matrix, &s->view));
  s->view.part = GABLE_PART_FULL;
  s->diagonal = calloc((size_t)s->view.n_rows + 1, 8);
  const int64_t *ptr = s->view.ptr;
  for (gable_idx j = 0; j < s->view.n_cols; j++)
    for (int64_t p = ptr[j]; p < ptr[j + 1]; p++) {
      s->diagonal[j] += 1.1 * fabs(((const double *)s->view.val)[p]);
      s->diagonal[s->view.idx[p]] += 1.1 * fabs(((const double *)s->view.val)[p]);
    }
  for (gable_idx j = 0; j < s->view.n_cols; j++)
    if (s->diagonal[j] == 0) s->diagonal[j] = 1;
  return 1;
}

/* op(triangle) by rows, as the check wants it. */
static test_triangle meant(const square *s, int upper, gable_op op)
{
  const int64_t *ptr = s->view.ptr;
  const gable_idx n = s->view.n_cols;
  test_triangle t = {n, calloc((size_t)n + 1, 8), malloc((size_t)(ptr[n] + n + 1) * 4),
                     malloc((size_t)(ptr[n] + n + 1) * 8)};
  int64_t q = 0;
  for (gable_idx j = 0; j < n; j++) {
    if (upper == 0) {
      t.idx[q] = j;
      t.val[q++] = s->diagonal[j];
    }
    for (int64_t p = ptr[j]; p < ptr[j + 1]; p++)
      if (s->view.idx[p] != j && (s->view.idx[p] < j) == upper) {
        t.idx[q] = s->view.idx[p];
        t.val[q++] = ((const double *)s->view.val)[p];
      }
    if (upper) {
      t.idx[q] = j;
      t.val[q++] = s->diagonal[j];
    }
    t.ptr[j + 1] = q;
  }
  if (op == GABLE_OP_T) return t; /* columns are the rows of the transpose */
  test_triangle back = test_triangle_transpose(&t);
  test_triangle_free(&t);
  return back;
}

static void check(gable_context *ctx, const char *name, const square *s, const char *method, int upper)
{
  const gable_idx n = s->view.n_cols;
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve *plan = NULL;
  gable_trisolve_work *w = NULL;
  double *b = malloc(((size_t)n + 1) * 8), *x = malloc(((size_t)n + 1) * 8);
  options.method = method;
  options.solves = 0;
  options.uplo = upper ? GABLE_PART_UPPER : GABLE_PART_LOWER;
  options.diag = GABLE_DIAG_SEPARATE;
  CHECK_OK(gable_trisolve_create(ctx, &options, &plan));
  CHECK_OK(gable_trisolve_analyse(plan, &s->view));
  CHECK_OK(gable_trisolve_update_with_diagonal(plan, s->view.val, s->diagonal));
  CHECK_OK(gable_trisolve_work_create(plan, 1, &w));
  for (int op = GABLE_OP_N; op <= GABLE_OP_T; op++) {
    test_triangle t = meant(s, upper, (gable_op)op);
    gable_vectors_view bv = GABLE_VECTORS_VIEW_INIT, xv;
    for (gable_idx i = 0; i < n; i++) b[i] = 1 - 0.3 * (i % 6);
    memset(x, 0xff, (size_t)n * 8);
    bv.n = n;
    bv.ld = n;
    bv.data = b;
    xv = bv;
    xv.data = x;
    CHECK_OK(gable_trisolve_solve(plan, w, (gable_op)op, &bv, &xv));
    double ratio = test_bound_ratio(&t, x, b, 1, 0);
    CHECK(ratio <= 1, "%s, %s, %s, op %d: error over bound %g", name, method, upper ? "upper" : "lower", op, ratio);
    test_triangle_free(&t);
  }
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  free(b);
  free(x);
}

int main(int argc, char **argv)
{
  const char *folder = getenv("GABLE_MATRICES") ? getenv("GABLE_MATRICES") : "../shared/matrices";
  DIR *dir = opendir(folder);
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  gable_context *ctx = NULL;
  int count = 0;
  if (!dir) SKIP("no real matrices: set GABLE_MATRICES to a folder of .mtx or .mtx.gz files");
  options.threads = 2;
  ctx = test_place(argc, argv, &options);
  const char *const *methods = test_place_methods(ctx);
  for (struct dirent *e; (e = readdir(dir));) {
    char path[1024];
    square s;
    if (!strstr(e->d_name, ".mtx")) continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (!open_matrix(ctx, path, &s)) continue;
    for (int upper = 0; upper < 2; upper++)
      for (int m = 0; methods[m]; m++) check(ctx, e->d_name, &s, methods[m], upper);
    gable_matrix_destroy(&s.matrix);
    free(s.diagonal);
    count++;
  }
  closedir(dir);
  gable_context_destroy(&ctx);
  printf("%d matrices\n", count);
  CHECK(count > 0, "no readable matrix in %s", folder);
  return 0;
}
