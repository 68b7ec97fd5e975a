/* Sweeps by every method of a place against a plain loop over the rows, in place and with the second vector, with
 * vectors of the host and of the place, and their history.
 *
 * [place [most rows [method]]]: "cpu"; fewer rows for slow tools, which also get more time; one method alone. */
#include "support/test.h"

#include "base/portable.h"
#include "base/random.h"
#include "support/place.h"
#include "support/triangles.h"

/* A dominant matrix by rows: the lower triangle, and above it its transpose's pattern or another one. */
typedef struct square {
  gable_idx n;
  int64_t *ptr;
  gable_idx *idx;
  double *val;
} square;

static square make(int kind, int symmetric, uint64_t seed)
{
  test_triangle lower = test_triangle_make(kind, seed), other = test_triangle_make(kind, symmetric ? seed : seed + 1);
  test_triangle upper = test_triangle_transpose(&other);
  const gable_idx n = lower.n;
  const size_t nnz = (size_t)(lower.ptr[n] + upper.ptr[n]);
  square s = {n, calloc((size_t)n + 1, 8), malloc((nnz + 1) * 4), malloc((nnz + 1) * 8)};
  int64_t used = 0;
  for (gable_idx i = 0; i < n; i++) {
    int64_t diagonal = 0;
    double sum = 1;
    for (int64_t p = lower.ptr[i]; p < lower.ptr[i + 1]; p++) {
      if (lower.idx[p] == i) diagonal = used;
      s.idx[used] = lower.idx[p];
      s.val[used++] = lower.val[p];
      sum += fabs(lower.val[p]);
    }
    for (int64_t p = upper.ptr[i]; p < upper.ptr[i + 1]; p++) {
      if (upper.idx[p] == i) continue;
      s.idx[used] = upper.idx[p];
      s.val[used++] = upper.val[p];
      sum += fabs(upper.val[p]);
    }
    s.val[diagonal] = sum;
    s.ptr[i + 1] = used;
  }
  test_triangle_free(&lower);
  test_triangle_free(&other);
  test_triangle_free(&upper);
  return s;
}

static void drop(square *s)
{
  free(s->ptr);
  free(s->idx);
  free(s->val);
}

/* The oracle: one sweep in place, row after row. */
static void plain(const square *a, const double *b, double *x, double omega, int backward)
{
  for (gable_idx k = 0; k < a->n; k++) {
    const gable_idx i = backward ? a->n - 1 - k : k;
    double s = b[i], d = 1;
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
      if (a->idx[p] == i)
        d = a->val[p];
      else
        s -= a->val[p] * x[a->idx[p]];
    }
    x[i] += omega * (s / d - x[i]);
  }
}

static double residual(const square *a, const double *b, const double *x)
{
  double sum = 0;
  for (gable_idx i = 0; i < a->n; i++) {
    double r = b[i];
    for (int64_t p = a->ptr[i]; p < a->ptr[i + 1]; p++) r -= a->val[p] * x[a->idx[p]];
    sum += r * r;
  }
  return sqrt(sum);
}

/* The same by columns, as the caller's storage: positions of values change. */
static square by_columns(const square *a)
{
  test_triangle t = test_triangle_transpose(&(test_triangle){a->n, a->ptr, a->idx, a->val});
  return (square){t.n, t.ptr, t.idx, t.val};
}

enum { SWEEPS = 3 };

/* What is swept. */
typedef struct job {
  gable_context *ctx;
  const square *a;
  gable_smoother *smoother;
  double *b, *x; /* [n] */
  double history[SWEEPS + 1];
} job;

/* x in a row-major block of two columns in host memory, of which one is swept, with its history. */
static void sweep_on_host(job *j)
{
  const gable_idx n = j->a->n;
  double *wide = malloc(((size_t)n + 1) * 16);
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, x;
  for (gable_idx i = 0; i < n; i++) wide[2 * i] = j->x[i];
  b.n = n;
  b.ld = n;
  b.data = j->b;
  x = b;
  x.major = GABLE_MAJOR_ROW;
  x.ld = 2;
  x.data = wide;
  CHECK_OK(gable_smoother_apply(j->smoother, &b, &x, SWEEPS, j->history));
  for (gable_idx i = 0; i < n; i++) j->x[i] = wide[2 * i];
  free(wide);
}

/* Three row-major columns of twice, once and thrice the values, swept together or in turns: the same to rounding, for
 * sweeps are linear. */
static void sweep_multi_rhs(const job *j)
{
  enum { COLUMNS = 3 };
  static const double factor[COLUMNS] = {2, 1, 3};
  const gable_idx n = j->a->n;
  double *b_data = malloc(((size_t)n + 1) * 8 * COLUMNS), *x_data = malloc(((size_t)n + 1) * 8 * COLUMNS), scale = 1;
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, x;
  gi_random r = gi_random_seed(7);
  for (gable_idx i = 0; i < n; i++) {
    const double bi = 2 * gi_random_unit(&r) - 1, xi = 2 * gi_random_unit(&r) - 1;
    for (int c = 0; c < COLUMNS; c++) b_data[COLUMNS * i + c] = factor[c] * bi;
    for (int c = 0; c < COLUMNS; c++) x_data[COLUMNS * i + c] = factor[c] * xi;
  }
  b.n = n;
  b.count = COLUMNS;
  b.major = GABLE_MAJOR_ROW;
  b.ld = COLUMNS;
  b.data = b_data;
  x = b;
  x.data = x_data;
  CHECK_OK(gable_smoother_apply(j->smoother, &b, &x, SWEEPS, NULL));
  for (gable_idx i = 0; i < n; i++) scale = fmax(scale, fabs(j->x[i]));
  for (gable_idx i = 0; i < n; i++)
    for (int c = 0; c < COLUMNS; c++)
      CHECK(fabs(x_data[COLUMNS * i + c] - factor[c] * j->x[i]) <= 1e-11 * scale, "row %d column %d: %g instead of %g",
            i, c, x_data[COLUMNS * i + c], factor[c] * j->x[i]);
  free(b_data);
  free(x_data);
}

/* Two columns, the second of interest, in memory of the place, on a stream, without a history. */
static void sweep_in_place(job *j)
{
  const gable_idx n = j->a->n;
  const size_t bytes = (size_t)n * 8;
  void *b_data = NULL, *x_data = NULL, *stream = NULL;
  gable_idx row = 0;
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, x;
  CHECK_OK(gable_stream_create(j->ctx, &stream));
  CHECK_OK(gable_device_alloc(j->ctx, 2 * bytes, &b_data));
  CHECK_OK(gable_device_alloc(j->ctx, 2 * bytes, &x_data));
  for (size_t k = 0; k < 2; k++) {
    CHECK_OK(gable_device_copy_in(j->ctx, (char *)b_data + k * bytes, j->b, bytes, stream));
    CHECK_OK(gable_device_copy_in(j->ctx, (char *)x_data + k * bytes, j->x, bytes, stream));
  }
  b.n = n;
  b.ld = n;
  b.count = 2;
  b.space = gable_context_space(j->ctx);
  b.data = b_data;
  x = b;
  x.data = x_data;
  CHECK_OK(gable_smoother_set_stream(j->smoother, stream));
  CHECK_OK(gable_smoother_apply(j->smoother, &b, &x, SWEEPS, NULL));
  CHECK_OK(gable_smoother_status(j->smoother, &row));
  CHECK(row == -1);
  CHECK_OK(gable_device_copy_out(j->ctx, j->x, (char *)x_data + bytes, bytes, stream));
  CHECK_OK(gable_device_synchronise(j->ctx, stream));
  CHECK_OK(gable_smoother_set_stream(j->smoother, NULL));
  gable_device_free(j->ctx, &b_data);
  gable_device_free(j->ctx, &x_data);
  gable_stream_destroy(j->ctx, &stream);
}

static void compare(const job *j, gable_sweep sweep, double omega, int with_history)
{
  const gable_idx n = j->a->n;
  double *own = malloc(((size_t)n + 1) * 8), scale = 0;
  gi_random r = gi_random_seed(7);
  for (gable_idx i = 0; i < n; i++) {
    (void)gi_random_unit(&r);
    own[i] = 2 * gi_random_unit(&r) - 1;
    scale = fmax(scale, fabs(j->b[i]));
  }
  for (int k = 0; k <= SWEEPS; k++) {
    const double norm = residual(j->a, j->b, own);
    CHECK(!with_history || fabs(j->history[k] - norm) <= 1e-11 * (1 + j->history[0]), "sweep %d: %g instead of %g", k,
          j->history[k], norm);
    if (k == SWEEPS) break;
    if (sweep != GABLE_SWEEP_BACKWARD) plain(j->a, j->b, own, omega, 0);
    if (sweep != GABLE_SWEEP_FORWARD) plain(j->a, j->b, own, omega, 1);
  }
  for (gable_idx i = 0; i < n; i++)
    CHECK(fabs(j->x[i] - own[i]) <= 1e-12 * (1 + scale), "row %d: %g instead of %g", i, j->x[i], own[i]);
  CHECK(!with_history || n == 0 || omega != 1 || j->history[SWEEPS] <= j->history[0] * (1 + 1e-9),
        "a dominant matrix: sweeps converge");
  free(own);
}

static double deadline_s; /* 0: the default */

static void check(gable_context *ctx, const square *a, const char *method, gable_sweep sweep, double omega, int csc,
                  int symmetric)
{
  const gable_idx n = a->n;
  square stored = csc ? by_columns(a) : *a;
  job j = {.ctx = ctx, .a = a, .b = malloc(((size_t)n + 1) * 8), .x = malloc(((size_t)n + 1) * 8)};
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  gable_smoother_info info = GABLE_SMOOTHER_INFO_INIT;
  view.n_rows = view.n_cols = n;
  view.format = csc ? GABLE_FORMAT_CSC : GABLE_FORMAT_CSR;
  view.ptr = stored.ptr;
  view.idx = stored.idx;
  options.method = method;
  options.solves = 0;
  options.sweep = sweep;
  options.omega = omega;
  options.deadline_s = deadline_s;
  options.max_rhs = csc ? 2 : 0; /* together, or in turns */
  CHECK_OK(gable_smoother_create(ctx, &options, &j.smoother));
  CHECK_OK(gable_smoother_analyse(j.smoother, &view));
  CHECK_OK(gable_smoother_update(j.smoother, stored.val));
  for (int on_host = 0; on_host < 2; on_host++) {
    gi_random r = gi_random_seed(7);
    for (gable_idx i = 0; i < n; i++) {
      j.b[i] = 2 * gi_random_unit(&r) - 1;
      j.x[i] = 2 * gi_random_unit(&r) - 1;
    }
    (on_host ? sweep_on_host : sweep_in_place)(&j);
    compare(&j, sweep, omega, on_host);
    if (on_host) sweep_multi_rhs(&j);
  }
  CHECK_OK(gable_smoother_get_info(j.smoother, &info));
  CHECK(!symmetric || info.in_place, "%s", method);
  CHECK(!strcmp(method, "auto") || !strcmp(method, info.method_used), "%s: %s", method, info.method_used);
  gable_smoother_destroy(&j.smoother);
  if (csc) drop(&stored);
  free(j.b);
  free(j.x);
}

static void check_errors(gable_context *ctx)
{
  int64_t ptr[] = {0, 1, 2};
  gable_idx idx[] = {0, 0};
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_smoother *s = NULL;
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  view.n_rows = view.n_cols = 2;
  view.ptr = ptr;
  view.idx = idx;
  options.omega = 2;
  options.solves = 0;
  CHECK(gable_smoother_create(ctx, &options, &s) == GABLE_ERR_ARGUMENT);
  options.omega = 1;
  options.method = "no such";
  CHECK(gable_smoother_create(ctx, &options, &s) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "no such"));
  options.method = test_place_is_gpu(ctx) ? "serial" : "rows";
  CHECK(gable_smoother_create(ctx, &options, &s) == GABLE_ERR_UNAVAILABLE && !s, "%s", gable_last_error());
  CHECK_OK(gable_smoother_create(ctx, NULL, &s));
  CHECK(gable_smoother_update(s, ptr) == GABLE_ERR_STATE);
  CHECK(gable_smoother_analyse(s, &view) == GABLE_ERR_SINGULAR && strstr(gable_last_error(), "row 1"));
  idx[1] = 1;
  CHECK_OK(gable_smoother_analyse(s, &view));
  CHECK(gable_smoother_update(s, (double[]){1, 0}) == GABLE_ERR_SINGULAR && strstr(gable_last_error(), "row 1"));
  CHECK(gable_smoother_apply(s, NULL, NULL, 1, NULL) == GABLE_ERR_STATE);
  CHECK_OK(gable_smoother_update(s, (double[]){1, 1}));
  CHECK(gable_smoother_update(s, (double[]){NAN, 0}) == GABLE_ERR_NOT_FINITE && strstr(gable_last_error(), "row 0"));
  CHECK(gable_smoother_apply(s, NULL, NULL, 1, NULL) == GABLE_ERR_STATE);
  gable_smoother_destroy(&s);
}

/* A NaN in b comes out where it belongs: in the rows that depend on it. */
static void check_nan(gable_context *ctx, const char *method)
{
  int64_t ptr[] = {0, 1, 3, 4};
  gable_idx idx[] = {0, 0, 1, 2};
  double b[] = {NAN, 1, 3}, x[] = {0, 0, 0};
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_vectors_view bv = GABLE_VECTORS_VIEW_INIT, xv;
  gable_smoother *s = NULL;
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  options.method = method;
  options.solves = 0;
  view.n_rows = view.n_cols = 3;
  view.ptr = ptr;
  view.idx = idx;
  bv.n = 3;
  bv.ld = 3;
  bv.data = b;
  xv = bv;
  xv.data = x;
  CHECK_OK(gable_smoother_create(ctx, &options, &s));
  CHECK_OK(gable_smoother_analyse(s, &view));
  CHECK_OK(gable_smoother_update(s, (double[]){1, 1, 1, 2}));
  CHECK_OK(gable_smoother_apply(s, &bv, &xv, 2, NULL));
  CHECK(isnan(x[0]) && isnan(x[1]) && x[2] == 1.5, "%s: %g %g %g", method, x[0], x[1], x[2]);
  gable_smoother_destroy(&s);
}

/* On a GPU a wait ends at the deadline, and the error names the row; a sweep with patience still works. */
static void check_deadline(gable_context *ctx)
{
  enum { N = 40000 };
  static int64_t ptr[N + 1];
  static gable_idx idx[3 * N];
  static double val[3 * N], b[N], x[N];
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_vectors_view bv = GABLE_VECTORS_VIEW_INIT, xv;
  int64_t q = 0;
  for (gable_idx i = 0; i < N; i++) {
    for (gable_idx j = i ? i - 1 : 0; j <= i + 1 && j < N; j++) {
      idx[q] = j;
      val[q++] = i == j ? 4 : -1;
    }
    ptr[i + 1] = q;
    b[i] = 1;
  }
  view.n_rows = view.n_cols = N;
  view.ptr = ptr;
  view.idx = idx;
  bv.n = N;
  bv.ld = N;
  bv.data = b;
  xv = bv;
  xv.data = x;
  for (int patient = 0; patient < 2; patient++) {
    gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
    gable_smoother *s = NULL;
    options.method = "elmr";
    options.solves = 0;
    options.deadline_s = patient ? 10 : 1e-6;
    CHECK_OK(gable_smoother_create(ctx, &options, &s));
    CHECK_OK(gable_smoother_analyse(s, &view));
    CHECK_OK(gable_smoother_update(s, val));
    const gable_status status = gable_smoother_apply(s, &bv, &xv, 1, NULL);
    CHECK(patient ? !status : status == GABLE_ERR_DEADLINE && strstr(gable_last_error(), "row"), "%d: %s", (int)status,
          gable_last_error());
    gable_smoother_destroy(&s);
  }
}

int main(int argc, char **argv)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.threads = 2;
  gable_context *ctx = test_place(argc, argv, &options);
  const long most = argc > 2 ? atol(argv[2]) : 50000; /* rows */
  long checks = 0;
  deadline_s = argc > 2 ? 300 : 0;
  const char *const *methods = test_place_methods(ctx);
  for (int m = 0; methods[m]; m++) check_nan(ctx, methods[m]);
  for (int kind = 0; test_triangle_name(kind); kind++)
    for (int symmetric = 0; symmetric < 2; symmetric++) {
      square a = make(kind, symmetric, 11);
      if (a.n > most) {
        drop(&a);
        continue;
      }
      for (int m = 0; methods[m]; m++)
        for (int sweep = 1; sweep <= 3 && (argc < 4 || !strcmp(argv[3], methods[m])); sweep++) {
          /* Under a sanitizer each shape has one direction for each method: all of them over three shapes. */
          if (GI_SANITIZED && sweep != 1 + (kind + m + symmetric) % 3) continue;
          check(ctx, &a, methods[m], (gable_sweep)sweep, (kind + sweep + symmetric) % 2 ? 1.3 : 1.0, (m + sweep) % 2,
                symmetric);
          checks++;
        }
      drop(&a);
    }
  CHECK(checks, "no sweep was checked: is %s a method of this place?", argc > 3 ? argv[3] : "none");
  check_errors(ctx);
  if (test_place_is_gpu(ctx) && argc < 3) check_deadline(ctx);
  gable_context_destroy(&ctx);
  return 0;
}
