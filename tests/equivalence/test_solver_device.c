/* The direct solver on the place that the first argument names: systems of every kind are solved to the tolerance, both
 * ops, with one and several right-hand sides; vectors in device memory get the bits of vectors in host memory; new
 * values, a turn to another method, saved and loaded factors. */
#include "support/test.h"

#include <unistd.h>

#include "device/device.h"
#include "support/place.h"
#include "support/systems.h"

enum { RHS = 5 };

static gable_context *ctx;

static double *right_sides(gable_idx n, gable_idx count)
{
  double *b = malloc(((size_t)n * (size_t)count + 1) * sizeof *b);
  for (gable_idx i = 0; i < n * count; i++) b[i] = (double)(i * 7 % 11) - 4.5;
  return b;
}

/* Refined solves of all columns, by the definition of the backward error. */
static void check_solved(const test_system *a, const gable_solver *s, gable_solver_work *w, const char *what)
{
  double *b = right_sides(a->n, RHS), *x = right_sides(a->n, RHS);
  for (int op = 0; op < 2; op++) {
    gable_vectors_view vb = test_vectors(a->n, RHS, b), vx = test_vectors(a->n, RHS, x);
    CHECK_OK(gable_solver_solve(s, w, (gable_op)op, &vb, &vx));
    for (gable_idx j = 0; j < RHS; j++) {
      const double error = test_backward_error(a, (gable_op)op, b + j * a->n, x + j * a->n);
      CHECK(error <= 1e-9, "%s, op %d, column %d: backward error %g", what, op, j, error);
    }
  }
  free(b);
  free(x);
}

/* gable_solver_apply between vectors in device memory and between the same in host memory: the same bits; and column j
 * alone. */
static void check_device_vectors(const test_system *a, const gable_solver *s, gable_solver_work *w, const char *what)
{
  const size_t entries = (size_t)a->n * RHS, bytes = entries * sizeof(double);
  double *b = right_sides(a->n, RHS), *x = right_sides(a->n, RHS), *y = right_sides(a->n, RHS);
  void *db = NULL, *dx = NULL;
  CHECK_OK(gable_device_alloc(ctx, bytes, &db));
  CHECK_OK(gable_device_alloc(ctx, bytes, &dx));
  CHECK_OK(gable_device_copy_in(ctx, db, b, bytes, NULL));
  for (int op = 0; op < 2; op++)
    for (gable_idx count = RHS; count >= 1; count -= RHS - 1) {
      gable_vectors_view vb = test_vectors(a->n, count, b), vx = test_vectors(a->n, count, x), ub = vb, ux = vx;
      ub.space = ux.space = GABLE_SPACE_DEVICE;
      ub.data = db;
      ux.data = dx;
      CHECK_OK(gable_solver_apply(s, w, (gable_op)op, GABLE_FACTOR_ALL, &vb, &vx));
      CHECK_OK(gable_solver_apply(s, w, (gable_op)op, GABLE_FACTOR_ALL, &ub, &ux));
      CHECK_OK(gable_device_copy_out(ctx, y, dx, (size_t)a->n * (size_t)count * sizeof *y, NULL));
      CHECK_OK(gable_device_synchronise(ctx, NULL));
      CHECK(!memcmp(x, y, (size_t)a->n * (size_t)count * sizeof *y), "%s, op %d, %d columns: other bits", what, op,
            count);
    }
  gable_device_free(ctx, &db);
  gable_device_free(ctx, &dx);
  free(b);
  free(x);
  free(y);
}

/* Forward errors of vectors in device memory, by columns and by rows, are those of the same vectors in host memory. */
static void check_forward_error(const test_system *a, const gable_solver *s, gable_solver_work *w, const char *what)
{
  enum { LD = 3 };
  double *b = right_sides(a->n, LD), *x = right_sides(a->n, LD), host, device;
  const size_t bytes = (size_t)a->n * LD * sizeof *b;
  void *db = NULL, *dx = NULL;
  CHECK_OK(gable_device_alloc(ctx, bytes, &db));
  CHECK_OK(gable_device_alloc(ctx, bytes, &dx));
  for (int rows = 0; rows < 2; rows++) {
    gable_vectors_view vb = test_vectors(a->n, 1, b), vx = test_vectors(a->n, 1, x), ub, ux;
    if (rows) {
      vb.major = vx.major = GABLE_MAJOR_ROW;
      vb.ld = vx.ld = LD;
    }
    CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
    CHECK_OK(gable_device_copy_in(ctx, db, b, bytes, NULL));
    CHECK_OK(gable_device_copy_in(ctx, dx, x, bytes, NULL));
    CHECK_OK(gable_device_synchronise(ctx, NULL));
    ub = vb;
    ux = vx;
    ub.space = ux.space = GABLE_SPACE_DEVICE;
    ub.data = db;
    ux.data = dx;
    CHECK_OK(gable_solver_forward_error(s, w, GABLE_OP_N, &vb, &vx, &host));
    CHECK_OK(gable_solver_forward_error(s, w, GABLE_OP_N, &ub, &ux, &device));
    CHECK(host == device || (host != host && device != device),
          "%s: forward error %.17g of the host's, %.17g of the device's", what, host, device);
  }
  gable_device_free(ctx, &db);
  gable_device_free(ctx, &dx);
  free(b);
  free(x);
}

static void check_kind(test_kind kind, gable_idx n, gable_type factor_type)
{
  test_system a = test_system_make(kind, n, 3);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver_work *w = NULL;
  int64_t bytes = 0;
  options.factor_type = factor_type;
  gable_solver *s = test_factored(ctx, &v, &options);
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_DEVICE_BYTES, &bytes, sizeof bytes));
  CHECK(bytes > 0 || !n, "%s: nothing on the device", test_kind_name(kind));
  CHECK_OK(gable_solver_work_create(s, RHS, &w));
  check_solved(&a, s, w, test_kind_name(kind));
  check_device_vectors(&a, s, w, test_kind_name(kind));
  if (n) check_forward_error(&a, s, w, test_kind_name(kind));
  for (int64_t k = 0; k < a.ptr[n]; k++) a.val[k] *= 2; /* keeps whatever symmetry there is */
  /* tiny rows of the wild system meet the tolerance by the library's definition alone, once scalings are kept */
  for (int reuse = kind == TEST_WILD ? GABLE_REUSE_NOTHING : GABLE_REUSE_ALL; reuse >= GABLE_REUSE_ROWS; reuse--) {
    CHECK_OK(gable_solver_factor(s, a.val, (gable_reuse)reuse));
    check_solved(&a, s, w, "new values");
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* Values that Cholesky cannot take any more: another method, so another factor on the device. */
static void check_turn(void)
{
  test_system a = test_system_make(TEST_SPD, 60, 5);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_work *w = NULL;
  gable_solver *s = test_factored(ctx, &v, NULL);
  for (gable_idx j = 0; j < a.n; j++)
    for (int64_t k = a.ptr[j]; k < a.ptr[j + 1]; k++)
      if (a.idx[k] == j && j % 3 == 0) a.val[k] = -a.val[k];
  CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_NOTHING));
  CHECK_OK(gable_solver_work_create(s, RHS, &w));
  check_solved(&a, s, w, "turned");
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* Ones on the diagonal, minus ones above it: the inverse has entries of 2^(n-2), and a product with it no digit of an x
 * of ones; substitution loses none.  First with values whose inverse is as good. */
static void check_ill_conditioned(void)
{
  enum { N = 90 };
  test_system a = test_system_make(TEST_DENSE, N, 5);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver_work *w = NULL;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  double b[N], x[N], *mild = malloc((size_t)a.ptr[N] * sizeof *mild);
  int64_t levels = 0;
  for (gable_idx j = 0; j < N; j++)
    for (int64_t k = a.ptr[j]; k < a.ptr[j + 1]; k++) {
      mild[k] = a.idx[k] == j ? 1 : a.idx[k] < j ? -1e-3 : 1e-9;
      a.val[k] = a.idx[k] == j ? 1 : a.idx[k] < j ? -1 : 1e-90;
    }
  gable_matrix_view v = test_system_view(&a);
  v.val = mild;
  options.match = options.blocks = GABLE_CHOICE_NEVER;
  options.order = GABLE_ORDER_NATURAL;
  options.method = GABLE_METHOD_LU;
  options.refine_steps = 0;
  gable_solver *s = test_factored(ctx, &v, &options);
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_SOLVE_LEVELS, &levels, sizeof levels));
  CHECK(!levels, "a good inverse was not used");
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int i = 0; i < N; i++) b[i] = 2.0 + i - N;
  for (int round = 0; round < 2; round++) {
    CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ALL));
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_SOLVE_LEVELS, &levels, sizeof levels));
    CHECK(levels, "inverses without a digit were used");
    if (!round) {
      CHECK(gable_solver_work_status(w) == GABLE_ERR_STATE, "a work of clusters that are gone");
      gable_solver_work_destroy(&w);
      CHECK_OK(gable_solver_work_create(s, 1, &w)); /* a second factorization keeps it */
    }
    gable_vectors_view vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, x);
    CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
    CHECK_OK(gable_solver_work_report(w, &report));
    CHECK(report.first_error < 1e-14, "backward error %g", report.first_error);
    for (int i = 0; i < N; i++) CHECK(x[i] == 1, "x[%d] is %.17g", i, x[i]);
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
  free(mild);
}

/* A = L L^T with ones on the diagonal of L and minus ones below it: inv(L) is good enough, inv(A) has entries of
 * 4^(n-2). */
static void check_ill_conditioned_product(void)
{
  enum { N = 30 };
  test_system a = test_system_make(TEST_DENSE, N, 5);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver_work *w = NULL;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  double b[N], x[N];
  int64_t levels = 0;
  for (gable_idx j = 0; j < N; j++) {
    b[j] = j % 3 - 1;
    for (int64_t k = a.ptr[j]; k < a.ptr[j + 1]; k++)
      a.val[k] = a.idx[k] == j ? j + 1 : (a.idx[k] < j ? a.idx[k] : j) - 1;
  }
  const gable_matrix_view v = test_system_view(&a);
  options.order = GABLE_ORDER_NATURAL;
  options.method = GABLE_METHOD_CHOLESKY;
  options.refine_steps = 0;
  gable_solver *s = test_factored(ctx, &v, &options);
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_SOLVE_LEVELS, &levels, sizeof levels));
  CHECK(levels, "a product of inverses without a digit was used");
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  gable_vectors_view vb = test_vectors(N, 1, b), vx = test_vectors(N, 1, x);
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
  CHECK_OK(gable_solver_work_report(w, &report));
  CHECK(report.first_error < 1e-14, "backward error %g", report.first_error);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* Three pivots of a chain: small ones stay in its clusters; where they are replaced, the inverse of all of them has no
 * digit, and clusters without them serve. */
static void check_small_pivots(void)
{
  enum { N = 300 };
  static gable_idx idx[3 * N];
  static int64_t ptr[N + 1];
  static double val[3 * N];
  const double pivots[3] = {1, 1e-3, 1e-30};
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  test_system a = {N, ptr, idx, val};
  int64_t levels[3], named, perturbed;
  options.match = options.blocks = GABLE_CHOICE_NEVER;
  options.order = GABLE_ORDER_NATURAL;
  options.method = GABLE_METHOD_LU;
  for (int k = 0; k < 3; k++) {
    int64_t count = 0;
    for (gable_idx j = 0; j < N; j++) {
      const int small = j % (N / 4) == N / 8, before = (j + 1) % (N / 4) == N / 8;
      for (gable_idx i = j ? j - 1 : 0; i < N && i < j + 2; i++, count++) {
        idx[count] = i;
        val[count] = i < j ? -1 : i > j ? (small || before ? 0 : 1e-9) : small && j < N - N / 4 ? pivots[k] : 1;
      }
      ptr[j + 1] = count;
    }
    const gable_matrix_view v = test_system_view(&a);
    gable_solver *s = test_factored(ctx, &v, &options);
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_DEVICE_LEVELS, &levels[k], sizeof *levels));
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_SOLVE_LEVELS, &named, sizeof named));
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_PERTURBED_PIVOTS, &perturbed, sizeof perturbed));
    CHECK(!named && perturbed == (k == 2 ? 3 : 0), "%d: %lld replaced, %lld levels of a method", k,
          (long long)perturbed, (long long)named);
    gable_solver_destroy(&s);
  }
  CHECK(levels[0] && levels[1] == levels[0] && levels[2] > levels[0] + 2, "%lld, %lld, %lld levels",
        (long long)levels[0], (long long)levels[1], (long long)levels[2]);
}

/* A matrix that cannot be analysed takes the place of one that was factored. */
static void check_failed_analysis(void)
{
  test_system a = test_system_make(TEST_DOMINANT, 30, 7);
  gable_matrix_view v = test_system_view(&a);
  gable_solver *s = test_factored(ctx, &v, NULL);
  gable_solver_work *w = NULL;
  int64_t ptr[] = {0, 1, 1};
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  v.n_rows = v.n_cols = 2;
  v.ptr = ptr;
  CHECK(gable_solver_analyse(s, &v) == GABLE_ERR_SINGULAR, "an empty column");
  CHECK(gable_solver_work_status(w) == GABLE_ERR_STATE, "a work of an analysis that is gone");
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  test_system_free(&a);
}

/* The context's own device, which notes what the release of memory comes after. */
static struct {
  const gi_device *own;
  gi_device table;
  void *stream;        /* of a work that goes, or NULL */
  int ordered, turned; /* turned: the stream comes after the context's own */
} planted;

static gable_status noting_order_after(gable_context *on, void *stream, void *earlier)
{
  planted.ordered |= !stream && earlier == planted.stream;
  planted.turned |= stream && stream == planted.stream && !earlier;
  return planted.own->order_after(on, stream, earlier);
}

static void checking_release(gable_context *on, void *p)
{
  CHECK(!p || !planted.stream || planted.ordered, "memory of a work goes before its solves have ended");
  planted.own->release(on, p);
}

/* New values, a new analysis and a work's end use or give back memory in the order of the context's stream; solves in
 * flight may be on another one. */
static void check_streams(void)
{
  test_system a = test_system_make(TEST_DOMINANT, 30, 7);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver *s = test_factored(ctx, &v, NULL);
  gable_solver_work *w = NULL;
  void *stream = NULL;
  planted.own = ctx->device;
  planted.table = *ctx->device;
  planted.table.order_after = noting_order_after;
  planted.table.release = checking_release;
  ctx->device = &planted.table;
  CHECK_OK(gable_stream_create(ctx, &stream));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  planted.stream = stream;
  planted.ordered = 1;
  CHECK_OK(gable_solver_work_set_stream(w, stream));
  CHECK(planted.turned, "solves on a new stream do not come after those on the old one");
  planted.ordered = 0;
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_ALL));
  CHECK(planted.ordered, "new values do not come after the solves in flight");
  planted.ordered = 0;
  CHECK_OK(gable_solver_analyse(s, &v));
  CHECK(planted.ordered, "a new analysis does not come after the solves in flight");
  planted.ordered = 0;
  gable_solver_work_destroy(&w);
  CHECK(planted.ordered);
  planted.stream = NULL;
  gable_stream_destroy(ctx, &stream);
  ctx->device = planted.own;
  gable_solver_destroy(&s);
  test_system_free(&a);
}

static void check_saved(void)
{
  test_system a = test_system_make(TEST_UNSYMMETRIC, 80, 7);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver *s = test_factored(ctx, &v, NULL), *t = NULL;
  gable_solver_work *w = NULL;
  char path[] = "/tmp/gable-test-factor-XXXXXX";
  const int file = mkstemp(path);
  CHECK(file >= 0, "no temporary file");
  close(file);
  CHECK_OK(gable_solver_save(s, path));
  CHECK_OK(gable_solver_create(ctx, NULL, &t));
  CHECK_OK(gable_solver_load(t, &v, path));
  CHECK_OK(gable_solver_work_create(t, RHS, &w));
  check_solved(&a, t, w, "loaded");
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&t);
  gable_solver_destroy(&s);
  unlink(path);
  test_system_free(&a);
}

/* What the device cannot do is an error, not a wrong answer. */
static void check_refused(void)
{
  test_system a = test_system_make(TEST_DOMINANT, 20, 7);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver *s = test_factored(ctx, &v, NULL);
  gable_solver_work *w = NULL;
  double *x = right_sides(a.n, 1);
  void *d = NULL;
  CHECK_OK(gable_device_alloc(ctx, (size_t)a.n * sizeof *x, &d));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  gable_vectors_view host = test_vectors(a.n, 1, x), device = host;
  device.space = GABLE_SPACE_DEVICE;
  device.data = d;
  CHECK(gable_solver_solve(s, w, GABLE_OP_N, &host, &device) == GABLE_ERR_UNAVAILABLE,
        "b and x of a refined solve in different memories");
  CHECK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_ALL, &host, &device) == GABLE_ERR_UNAVAILABLE,
        "b and x in different memories");
  gable_device_free(ctx, &d);
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  free(x);
  test_system_free(&a);
}

int main(int argc, char **argv)
{
  ctx = test_place(argc, argv, NULL);
  if (gable_context_space(ctx) != GABLE_SPACE_DEVICE) SKIP("the CPU has no device memory: give mirror or cuda:0");
  for (int kind = 0; kind < TEST_KINDS; kind++) {
    check_kind((test_kind)kind, kind == TEST_DENSE ? 40 : 150, GABLE_TYPE_D);
    if (kind != TEST_WILD && kind != TEST_GROWTH) check_kind((test_kind)kind, 45, GABLE_TYPE_S);
  }
  check_kind(TEST_DOMINANT, 1, GABLE_TYPE_D);
  check_turn();
  check_ill_conditioned();
  check_ill_conditioned_product();
  check_small_pivots();
  check_failed_analysis();
  check_streams();
  check_saved();
  check_refused();
  gable_context_destroy(&ctx);
  return 0;
}
