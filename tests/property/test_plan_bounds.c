/* test_plan_bounds [PLACE]: the bytes that a plan is bound to before its analysis are at least those that it has after
 * it, and on a CPU not absurdly many: triangular solves by every method of the place, both ops and one, threads, types,
 * on every shape of triangle and on real matrices; smoothers and preconditioners, whose sizes are on a CPU those that
 * the allocator saw. */
#include <dirent.h>

#include "support/test.h"

#include "support/failing_allocator.h"
#include "support/systems.h"
#include "support/triangles.h"

static const char *const methods[] = {"serial", "levr", "levc", "elmr", "elmc", "gsf", "tiles", "rows", "auto"};
enum { METHODS = sizeof methods / sizeof *methods };

static const char *place = "cpu";

/* Whether a plan by this method can be had at the place. */
static int method_runs(gable_context *ctx, const char *method)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve *t = NULL;
  options.method = method;
  const gable_status status = gable_trisolve_create(ctx, &options, &t);
  gable_trisolve_destroy(&t);
  return !status;
}

static int on_gpu(void)
{
  return !strncmp(place, "cuda", 4);
}

/* Of bound over real: of plans of 1,000 rows and more the largest, the sum of logarithms, how many. */
typedef struct ratios {
  double most, logs;
  long count;
} ratios;

/* Of host and of device memory. */
static void check(ratios *r, const char *what, gable_idx n, const size_t bound[2], size_t host, size_t device)
{
  const double ratio = (double)(bound[0] + bound[1]) / (double)(host + device + 1);
  CHECK(bound[0] >= host, "%s: bound to %zu bytes of the host, %zu are there", what, bound[0], host);
  CHECK(bound[1] >= device, "%s: bound to %zu bytes of the device, %zu are there", what, bound[1], device);
  CHECK(strcmp(place, "cpu") || (!bound[1] && !device), "%s: device memory on %s", what, place);
  if (n < 1000) return;
  if (ratio > r->most) r->most = ratio;
  r->logs += log(ratio);
  r->count++;
}

static void report(const ratios *r, const char *what, double allowed)
{
  if (!r->count) return;
  printf("%s: %ld plans, bound over real %.2f in the geometric mean, at most %.2f\n", what, r->count,
         exp(r->logs / (double)r->count), r->most);
  CHECK(strcmp(place, "cpu") || r->most <= allowed, "%s: a bound %.2f times the real size", what, r->most);
}

static void check_triangle(gable_context *ctx, const gable_matrix_view *view, int64_t nnz, const char *name,
                           int threads, ratios *of)
{
  for (int m = 0; m < METHODS; m++)
    for (int ops = 1; ops <= 3; ops++) {
      gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
      gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
      gable_trisolve *t = NULL;
      size_t bound[2] = {0, 0};
      char what[160];
      if (!method_runs(ctx, methods[m])) continue;
      options.method = methods[m];
      options.ops = ops;
      options.threads = threads;
      options.solves = ops == 3 ? 0 : 10; /* auto: tiles are worth a search; mostly not */
      options.diag = ops == 3 ? GABLE_DIAG_STORED : GABLE_DIAG_SEPARATE;
      CHECK_OK(gable_trisolve_create(ctx, &options, &t));
      CHECK_OK(gable_trisolve_plan_bound(t, view->n_rows, nnz, view->value_type, &bound[0], &bound[1]));
      CHECK_OK(gable_trisolve_analyse(t, view));
      CHECK_OK(gable_trisolve_get_info(t, ops == 2 ? GABLE_OP_T : GABLE_OP_N, &info));
      snprintf(what, sizeof what, "%s, %s, ops %d, %d threads", name, methods[m], ops, threads);
      check(&of[m], what, view->n_rows, bound, info.plan_bytes_host, info.plan_bytes_device);
      gable_trisolve_destroy(&t);
    }
}

static void check_shapes(gable_context *ctx, ratios *of)
{
  for (int kind = 0; test_triangle_name(kind); kind++) {
    test_triangle t = test_triangle_make_small(kind, 7, 3000);
    gable_matrix_view view = test_triangle_view(&t);
    for (int threads = 1; threads <= 4; threads += threads) {
      view.value_type = threads == 2 ? GABLE_TYPE_S : GABLE_TYPE_D; /* values are not read */
      check_triangle(ctx, &view, t.ptr[t.n], test_triangle_name(kind), threads, of);
    }
    test_triangle_free(&t);
  }
}

static size_t bytes_of_type(gable_context *ctx, gable_matrix_view view, gable_type type, const char *method)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  gable_trisolve *t = NULL;
  options.method = method;
  options.ops = GABLE_TRISOLVE_N;
  view.value_type = type;
  CHECK_OK(gable_trisolve_create(ctx, &options, &t));
  CHECK_OK(gable_trisolve_analyse(t, &view));
  CHECK_OK(gable_trisolve_get_info(t, GABLE_OP_N, &info));
  gable_trisolve_destroy(&t);
  return info.plan_bytes_host + info.plan_bytes_device;
}

/* Floats are stored once, for vectors of both types. */
static void check_types(gable_context *ctx)
{
  for (int kind = 0; test_triangle_name(kind); kind++) {
    test_triangle t = test_triangle_make_small(kind, 11, 60000);
    const gable_matrix_view view = test_triangle_view(&t);
    for (int m = 0; m < 2; m++) {
      const char *method = m ? "rows" : "tiles";
      if (!method_runs(ctx, method)) continue;
      const size_t single = bytes_of_type(ctx, view, GABLE_TYPE_S, method);
      const size_t both = bytes_of_type(ctx, view, GABLE_TYPE_D, method);
      CHECK(single <= both, "%s, %s: %zu bytes for floats, %zu for doubles", test_triangle_name(kind), method, single,
            both);
    }
    test_triangle_free(&t);
  }
}

/* Both triangles of the matrix in path; 0: it is not square or larger than most. */
static int check_file(gable_context *ctx, const char *path, gable_idx most, ratios *of)
{
  gable_matrix *file = NULL, *whole = NULL;
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  const gable_status status = gable_matrix_read(ctx, path, NULL, &file);
  if (status == GABLE_ERR_UNAVAILABLE) return 0;
  CHECK(!status, "%s: %s", path, gable_last_error());
  CHECK_OK(gable_matrix_get_info(file, &info));
  const int fits = info.n_rows == info.n_cols && info.n_rows <= most && info.field != GABLE_FIELD_COMPLEX &&
                   info.field != GABLE_FIELD_PATTERN;
  if (fits) {
    CHECK_OK(gable_matrix_expand(file, &whole));
    CHECK_OK(gable_matrix_get_view(whole, &view));
    const int64_t *ptr = view.ptr;
    for (int upper = 0; upper < 2; upper++) {
      int64_t below = 0;
      gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
      options.diag = GABLE_DIAG_UNIT;
      options.uplo = upper ? GABLE_PART_UPPER : GABLE_PART_LOWER;
      for (gable_idx j = 0; j < view.n_cols; j++)
        for (int64_t p = ptr[j]; p < ptr[j + 1]; p++) below += upper ? view.idx[p] < j : view.idx[p] > j;
      for (int m = 0; m < METHODS; m++) {
        gable_trisolve *t = NULL;
        gable_trisolve_info plan = GABLE_TRISOLVE_INFO_INIT;
        size_t bound[2] = {0, 0};
        if (!method_runs(ctx, methods[m])) continue;
        options.method = methods[m];
        options.threads = 1 + m % 2;
        CHECK_OK(gable_trisolve_create(ctx, &options, &t));
        /* a GPU's plan keeps all values of a matrix in host memory */
        CHECK_OK(gable_trisolve_plan_bound(t, view.n_rows, on_gpu() ? ptr[view.n_cols] : below, view.value_type,
                                           &bound[0], &bound[1]));
        CHECK_OK(gable_trisolve_analyse(t, &view));
        CHECK_OK(gable_trisolve_get_info(t, GABLE_OP_N, &plan));
        check(&of[m], path, view.n_rows, bound, plan.plan_bytes_host, plan.plan_bytes_device);
        gable_trisolve_destroy(&t);
      }
    }
  }
  gable_matrix_destroy(&whole);
  gable_matrix_destroy(&file);
  return fits;
}

static void check_files(gable_context *ctx, ratios *of)
{
  const char *folder = getenv("GABLE_MATRICES"), *rows = getenv("GABLE_TEST_ROWS");
  DIR *all = opendir(folder ? folder : "../shared/matrices");
  int checked = 0;
  for (struct dirent *e = all ? readdir(all) : NULL; e; e = readdir(all)) {
    char path[1024];
    if (!strstr(e->d_name, ".mtx")) continue;
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "../shared/matrices", e->d_name);
    checked += check_file(ctx, path, rows ? (gable_idx)atol(rows) : 4000, of);
  }
  if (all) closedir(all);
  printf("%d real matrices\n", checked);
}

/* said: what the object says that it took since `before`. */
static void check_taken(const failing_allocator *memory, long before, const char *what, size_t said)
{
  const double taken = (double)(atomic_load(&memory->bytes) - before);
  CHECK(fabs(taken - (double)said) < 0.01 * taken + 4000, "%s: %.0f bytes are taken, it says %zu", what, taken, said);
}

static void check_smoothers(gable_context *ctx, const failing_allocator *memory, const gable_matrix_view *view,
                            const char *name, ratios *r)
{
  for (int m = 0; m < METHODS; m++)
    for (int sweep = GABLE_SWEEP_FORWARD; sweep <= GABLE_SWEEP_SYMMETRIC; sweep++) {
      gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
      gable_smoother_info info = GABLE_SMOOTHER_INFO_INIT;
      gable_smoother *s = NULL;
      const long before = atomic_load(&memory->bytes);
      size_t bound[2] = {0, 0};
      char what[120];
      if (!method_runs(ctx, methods[m])) continue;
      options.method = methods[m];
      options.sweep = (gable_sweep)sweep;
      options.threads = sweep;
      CHECK_OK(gable_smoother_create(ctx, &options, &s));
      CHECK_OK(gable_smoother_plan_bound(s, view->n_rows, ((const int64_t *)view->ptr)[view->n_rows], view->value_type,
                                         &bound[0], &bound[1]));
      CHECK_OK(gable_smoother_analyse(s, view));
      CHECK_OK(gable_smoother_get_info(s, &info));
      snprintf(what, sizeof what, "%s, sweep %d by %s", name, sweep, methods[m]);
      if (!strcmp(place, "cpu")) check_taken(memory, before, what, info.plan_bytes_host);
      check(r, what, view->n_rows, bound, info.plan_bytes_host, info.plan_bytes_device);
      gable_smoother_destroy(&s);
    }
}

static void check_preconditioners(gable_context *ctx, const failing_allocator *memory, const gable_matrix_view *view,
                                  const char *name, ratios *r)
{
  for (int kind = GABLE_PRECOND_NONE; kind <= GABLE_PRECOND_ILUT; kind++) {
    gable_precond_options options = GABLE_PRECOND_OPTIONS_INIT;
    gable_precond_info info = GABLE_PRECOND_INFO_INIT;
    gable_precond *p = NULL;
    const long before = atomic_load(&memory->bytes);
    const int64_t nnz = ((const int64_t *)view->ptr)[view->n_rows];
    size_t bound[2] = {0, 0};
    char what[120];
    options.kind = (gable_preconditioner)kind;
    options.level = 0;
    options.row_fill = 4;
    options.threads = 1 + kind % 2;
    if (gable_precond_create(ctx, &options, &p) == GABLE_ERR_UNAVAILABLE) continue; /* ILUK, ILUT on a GPU */
    CHECK_OK(gable_precond_plan_bound(p, view->n_rows, nnz, &bound[0], &bound[1]));
    CHECK_OK(gable_precond_analyse(p, view));
    CHECK_OK(gable_precond_update(p, view->val));
    CHECK_OK(gable_precond_get_info(p, &info));
    snprintf(what, sizeof what, "%s, preconditioner %d", name, kind);
    if (!strcmp(place, "cpu")) check_taken(memory, before, what, info.plan_bytes_host);
    check(r, what, view->n_rows, bound, info.plan_bytes_host, info.plan_bytes_device);
    gable_precond_destroy(&p);
  }
}

/* An arrow fills at level 1; n is small, so that n^2 entries are a bound that can be met. */
static void check_full(gable_context *ctx)
{
  enum { N = 60 };
  int64_t ptr[N + 1] = {0};
  gable_idx idx[3 * N];
  double val[3 * N];
  int64_t q = 0;
  for (gable_idx i = 0; i < N; i++) {
    for (gable_idx j = 0; j < N; j++)
      if (!i || !j || i == j) idx[q] = j, val[q++] = i == j ? N + 1 : 1;
    ptr[i + 1] = q;
  }
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_precond_options options = GABLE_PRECOND_OPTIONS_INIT;
  gable_precond_info info = GABLE_PRECOND_INFO_INIT;
  gable_precond *p = NULL;
  ratios r = {0};
  size_t bound[2] = {0, 0};
  view.format = GABLE_FORMAT_CSR;
  view.n_rows = view.n_cols = N;
  view.ptr = ptr;
  view.idx = idx;
  view.val = val;
  options.kind = GABLE_PRECOND_ILUK;
  if (gable_precond_create(ctx, &options, &p) == GABLE_ERR_UNAVAILABLE) return;
  CHECK_OK(gable_precond_plan_bound(p, N, q, &bound[0], &bound[1]));
  CHECK_OK(gable_precond_analyse(p, &view));
  CHECK_OK(gable_precond_update(p, val));
  CHECK_OK(gable_precond_get_info(p, &info));
  CHECK(info.nnz == N * N, "ILU(1) of an arrow has %lld entries", (long long)info.nnz);
  check(&r, "ILU(1) of an arrow", N, bound, info.plan_bytes_host, info.plan_bytes_device);
  CHECK_OK(gable_precond_plan_bound(p, INT32_MAX, q, &bound[0], &bound[1])); /* and nothing overflows */
  CHECK(bound[0] > (size_t)1 << 48, "ILU(1) of 2^31 rows is bound to %zu bytes", bound[0]);
  gable_precond_destroy(&p);
}

/* By columns, and as if they were rows. */
static void check_systems(void)
{
  static const test_kind kinds[] = {TEST_SPD, TEST_DOMINANT};
  failing_allocator memory = failing_allocator_init();
  const gable_context_options options = failing_allocator_options(&memory);
  gable_context *ctx = NULL;
  ratios smoothers = {0}, preconditioners = {0};
  CHECK_OK(gable_context_create(place, &options, &ctx));
  check_full(ctx);
  for (int k = 0; k < 4; k++) {
    test_system a = test_system_make(kinds[k / 2], 1200, 5);
    gable_matrix_view view = test_system_view(&a);
    if (k % 2) view.format = GABLE_FORMAT_CSR;
    check_smoothers(ctx, &memory, &view, test_kind_name(kinds[k / 2]), &smoothers);
    check_preconditioners(ctx, &memory, &view, test_kind_name(kinds[k / 2]), &preconditioners);
    test_system_free(&a);
  }
  report(&smoothers, "smoothers", 5);
  report(&preconditioners, "preconditioners", 5);
  gable_context_destroy(&ctx);
}

static void check_arguments(gable_context *ctx)
{
  gable_trisolve *t = NULL;
  size_t host = 1, device = 1;
  CHECK_OK(gable_trisolve_create(ctx, NULL, &t));
  CHECK(gable_trisolve_plan_bound(t, -1, 0, GABLE_TYPE_D, &host, &device) == GABLE_ERR_ARGUMENT, "n is -1");
  CHECK(gable_trisolve_plan_bound(t, 1, -1, GABLE_TYPE_D, &host, &device) == GABLE_ERR_ARGUMENT, "nnz is -1");
  CHECK(gable_trisolve_plan_bound(t, 1, INT64_MAX, GABLE_TYPE_D, &host, &device) == GABLE_ERR_ARGUMENT,
        "nnz overflows");
  CHECK(gable_trisolve_plan_bound(t, 1, 1, GABLE_TYPE_Z, &host, &device) == GABLE_ERR_ARGUMENT, "complex values");
  CHECK(gable_trisolve_plan_bound(NULL, 1, 1, GABLE_TYPE_D, &host, &device) == GABLE_ERR_ARGUMENT, "no plan");
  CHECK_OK(gable_trisolve_plan_bound(t, 0, 0, GABLE_TYPE_D, &host, &device));
  CHECK(host > 0 && (on_gpu() || !device), "%zu and %zu bytes of an empty plan", host, device);
  gable_trisolve_destroy(&t);
}

int main(int argc, char **argv)
{
  gable_context *ctx = NULL;
  ratios of[METHODS];
  if (argc > 1) place = argv[1];
  memset(of, 0, sizeof of);
  CHECK_OK(gable_context_create(place, NULL, &ctx));
  check_arguments(ctx);
  check_shapes(ctx, of);
  check_types(ctx);
  check_files(ctx, of);
  check_systems();
  for (int m = 0; m < METHODS; m++) report(&of[m], methods[m], m < METHODS - 3 ? 2.5 : 12); /* tiles of one row */
  gable_context_destroy(&ctx);
  return 0;
}
