/* The mirror device: memory that the host cannot touch, pointers that are told apart, and solves between them. */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

#include "support/triangles.h"

/* Whether a process that does this to p comes to a good end. */
static int survives(void (*touch)(void *p), void *p)
{
  int status = 0;
  fflush(NULL);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    CHECK(freopen("/dev/null", "w", stderr));
    touch(p);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void read_it(void *p)
{
  volatile double sink = *(volatile double *)p;
  (void)sink;
}

static void write_it(void *p)
{
  *(volatile double *)p = 1;
}

static void check_memory(gable_context *ctx)
{
  enum { N = 1000 };
  double host[N] = {1, 2, 3}, own = 5;
  void *p = NULL, *q = NULL;
  CHECK(gable_context_space(ctx) == GABLE_SPACE_DEVICE && !strcmp(gable_context_where(ctx), "mirror"));
  CHECK(survives(read_it, &own) && survives(write_it, &own), "the test's own memory");
  CHECK_OK(gable_device_alloc(ctx, sizeof host, &p));
  CHECK_OK(gable_device_alloc(ctx, sizeof host, &q));
  CHECK(!survives(read_it, p) && !survives(write_it, p), "device memory is open after alloc");
  CHECK_OK(gable_device_copy_in(ctx, p, host, sizeof host, NULL));
  CHECK(!survives(read_it, p) && !survives(write_it, p), "device memory is open after a copy");
  CHECK_OK(gable_device_copy_out(ctx, host + 500, p, 3 * sizeof *host, NULL));
  CHECK(host[500] == 1 && host[502] == 3);

  CHECK(gable_device_copy_in(ctx, host, host + 500, 8, NULL) == GABLE_ERR_ARGUMENT, "a host pointer as device memory");
  CHECK(gable_device_copy_in(ctx, p, q, 8, NULL) == GABLE_ERR_ARGUMENT, "device memory as the host's");
  CHECK(gable_device_copy_out(ctx, q, p, 8, NULL) == GABLE_ERR_ARGUMENT, "device memory as the host's");
  CHECK(gable_device_copy_in(ctx, (char *)p + 8, host, sizeof host, NULL) == GABLE_ERR_ARGUMENT, "beyond the end");
  CHECK(gable_device_fill(ctx, host, 0, 8, NULL) == GABLE_ERR_ARGUMENT, "a host pointer as device memory");
  gable_device_free(ctx, &q);
  CHECK_OK(gable_device_copy_out(ctx, host, p, sizeof host, NULL)); /* the other block stays */
  gable_device_free(ctx, &p);
}

/* A view that says device of host memory, or host of device memory. */
static void check_confusion(gable_context *ctx)
{
  int64_t ptr[] = {0, 1, 3};
  gable_idx idx[] = {0, 0, 1};
  double val[] = {2, 1, 4}, numbers[] = {2, 9}, x[2];
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, to;
  gable_trisolve *plan = NULL;
  gable_trisolve_work *w = NULL;
  a.n_rows = a.n_cols = 2;
  a.part = GABLE_PART_LOWER;
  a.ptr = ptr;
  a.idx = idx;
  a.space = GABLE_SPACE_DEVICE;
  CHECK_OK(gable_trisolve_create(ctx, NULL, &plan));
  CHECK(gable_trisolve_analyse(plan, &a) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "device memory"), "%s",
        gable_last_error());
  a.space = GABLE_SPACE_HOST;
  CHECK_OK(gable_trisolve_analyse(plan, &a));
  CHECK_OK(gable_trisolve_update(plan, val));
  CHECK_OK(gable_trisolve_work_create(plan, 1, &w));
  b.n = 2;
  b.ld = 2;
  b.data = numbers;
  to = b;
  to.data = x;
  CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &to));
  CHECK(x[0] == 1 && x[1] == 2);
  b.space = to.space = GABLE_SPACE_DEVICE;
  CHECK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &to) == GABLE_ERR_ARGUMENT);
  CHECK_OK(gable_device_alloc(ctx, sizeof x, &b.data));
  CHECK_OK(gable_device_copy_in(ctx, b.data, numbers, sizeof numbers, NULL));
  CHECK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &to) == GABLE_ERR_ARGUMENT, "x alone is the host's");
  to.data = b.data;
  CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &to));
  CHECK(!survives(read_it, b.data), "device memory is open after a solve");
  CHECK_OK(gable_device_copy_out(ctx, x, b.data, sizeof x, NULL));
  CHECK(x[0] == 1 && x[1] == 2);
  gable_device_free(ctx, &b.data);
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
}

/* Vectors, and a diagonal, that end beyond their block are refused; so are values. */
static void check_short_blocks(gable_context *ctx)
{
  int64_t ptr[] = {0, 1, 3};
  gable_idx idx[] = {0, 0, 1};
  double numbers[] = {2, 1, 4, 2, 9, 2, 9};
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT;
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve *plan = NULL;
  gable_trisolve_work *w = NULL;
  void *there[5];
  for (size_t k = 0; k < 5; k++) { /* of k numbers */
    CHECK_OK(gable_device_alloc(ctx, k ? k * sizeof *numbers : 1, &there[k]));
    CHECK_OK(gable_device_copy_in(ctx, there[k], numbers + 3 * (k != 3), k * sizeof *numbers, NULL));
  }
  void *device_ptr = NULL, *device_idx = NULL;
  CHECK_OK(gable_device_alloc(ctx, sizeof ptr, &device_ptr));
  CHECK_OK(gable_device_copy_in(ctx, device_ptr, ptr, sizeof ptr, NULL));
  CHECK_OK(gable_device_alloc(ctx, sizeof idx, &device_idx));
  CHECK_OK(gable_device_copy_in(ctx, device_idx, idx, sizeof idx, NULL));
  a.n_rows = a.n_cols = 2;
  a.part = GABLE_PART_LOWER;
  a.ptr = device_ptr;
  a.idx = device_idx;
  a.space = GABLE_SPACE_DEVICE;
  options.diag = GABLE_DIAG_SEPARATE;
  options.solves = 0;
  CHECK_OK(gable_trisolve_create(ctx, &options, &plan));
  CHECK_OK(gable_trisolve_analyse(plan, &a));
  CHECK(gable_trisolve_update_with_diagonal(plan, there[3], there[1]) == GABLE_ERR_ARGUMENT, "a short diagonal");
  CHECK(gable_trisolve_update_with_diagonal(plan, there[2], there[2]) == GABLE_ERR_ARGUMENT, "short values");
  CHECK_OK(gable_trisolve_update_with_diagonal(plan, there[3], there[2]));
  CHECK_OK(gable_trisolve_work_create(plan, 2, &w));
  b.n = 2;
  b.ld = 2;
  b.count = 2;
  b.space = GABLE_SPACE_DEVICE;
  gable_vectors_view x = b;
  b.data = x.data = there[4];
  CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &x));
  b.data = there[3];
  CHECK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &x) == GABLE_ERR_ARGUMENT, "b ends beyond its block");
  b.data = there[4];
  x.data = there[3];
  CHECK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &x) == GABLE_ERR_ARGUMENT, "x ends beyond its block");
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  for (size_t k = 0; k < 5; k++) gable_device_free(ctx, &there[k]);
  gable_device_free(ctx, &device_ptr);
  gable_device_free(ctx, &device_idx);
}

/* n numbers' worth of bytes in the context's memory. */
static void *there(gable_context *ctx, const void *host, size_t bytes)
{
  void *p = NULL;
  CHECK_OK(gable_device_alloc(ctx, bytes, &p));
  CHECK_OK(gable_device_copy_in(ctx, p, host, bytes, NULL));
  return p;
}

/* The matrix and the vectors in device memory, every phase. */
static void check_device_matrix(gable_context *ctx, int kind)
{
  test_triangle t = test_triangle_make(kind, 5);
  const size_t n = (size_t)t.n, nnz = (size_t)t.ptr[n];
  gable_matrix_view a = test_triangle_view(&t);
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  gable_trisolve *plan = NULL;
  gable_trisolve_work *w = NULL;
  double *b = malloc((n + 1) * 16), *x = b + n + 1;
  for (size_t i = 0; i < n; i++) b[i] = 1 - 0.3 * (double)(i % 6);
  void *ptr = there(ctx, t.ptr, (n + 1) * sizeof *t.ptr), *idx = there(ctx, t.idx, nnz * sizeof *t.idx);
  void *val = there(ctx, t.val, nnz * sizeof *t.val);
  a.ptr = ptr;
  a.idx = idx;
  a.val = val;
  a.space = GABLE_SPACE_DEVICE;
  v.n = t.n;
  v.ld = t.n;
  v.space = GABLE_SPACE_DEVICE;
  v.data = there(ctx, b, n * sizeof *b);
  CHECK_OK(gable_trisolve_create(ctx, NULL, &plan));
  CHECK_OK(gable_trisolve_analyse(plan, &a));
  CHECK_OK(gable_trisolve_update(plan, val));
  CHECK_OK(gable_trisolve_work_create(plan, 1, &w));
  CHECK(gable_trisolve_update(plan, t.val) == GABLE_ERR_ARGUMENT || !nnz, "values on the host, matrix on the device");
  CHECK_OK(gable_trisolve_update(plan, val));
  CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, &v, &v));
  CHECK_OK(gable_device_copy_out(ctx, x, v.data, n * sizeof *x, NULL));
  CHECK(test_bound_ratio(&t, x, b, 1, 0) <= 1, "%s", test_triangle_name(kind));
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  gable_device_free(ctx, &ptr);
  gable_device_free(ctx, &idx);
  gable_device_free(ctx, &val);
  gable_device_free(ctx, &v.data);
  test_triangle_free(&t);
  free(b);
}

/* Sweeps of every method take host memory here. */
static void check_sweeps(gable_context *ctx)
{
  static const char *const methods[] = {"serial", "levr", "tiles", "auto", "levc", "elmr", "elmc", "gsf"};
  const int64_t ptr[] = {0, 1, 3};
  const gable_idx idx[] = {0, 0, 1};
  const double val[] = {2, 1, 4}, b[] = {2, 9};
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  a.n_rows = a.n_cols = 2;
  a.ptr = ptr;
  a.idx = idx;
  for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
    gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
    gable_smoother *s = NULL;
    options.method = methods[m];
    options.solves = 0;
    const gable_status status = gable_smoother_create(ctx, &options, &s);
    double own[] = {2, 9}, x[] = {0, 0};
    gable_vectors_view bv = GABLE_VECTORS_VIEW_INIT;
    bv.n = 2;
    bv.ld = 2;
    gable_vectors_view xv = bv;
    bv.data = own;
    xv.data = x;
    CHECK_OK(status);
    CHECK_OK(gable_smoother_analyse(s, &a));
    CHECK_OK(gable_smoother_update(s, val));
    CHECK_OK(gable_smoother_apply(s, &bv, &xv, 1, NULL));
    CHECK(x[0] == 1 && x[1] == 2 && own[0] == b[0] && own[1] == b[1], "%s: %g %g", methods[m], x[0], x[1]);
    gable_smoother_destroy(&s);
  }
}

/* Updated objects of one matrix in device memory. */
typedef struct solvers {
  gable_smoother *s;
  gable_precond *p;
  gable_precond_work *w;
  gable_krylov *k;
} solvers;

static void check_called_vectors(const solvers *o, const double *host, void *far_b, void *far_x)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = 2;
  v.ld = 2;
  v.space = GABLE_SPACE_DEVICE;
  gable_vectors_view b = v, x = v, near = v, cut = v;
  b.data = far_b;
  x.data = far_x;
  near.data = (double[]){host[0], host[1]};
  cut.data = (double *)far_b + 1;
  CHECK(gable_smoother_apply(o->s, &near, &x, 1, NULL) == GABLE_ERR_ARGUMENT, "b of the host");
  CHECK(gable_smoother_apply(o->s, &b, &near, 1, NULL) == GABLE_ERR_ARGUMENT, "x of the host");
  CHECK(gable_smoother_apply(o->s, &cut, &x, 1, NULL) == GABLE_ERR_ARGUMENT, "b ends beyond its block");
  CHECK(gable_precond_apply(o->p, o->w, &near, &x) == GABLE_ERR_ARGUMENT, "r of the host");
  CHECK(gable_precond_apply(o->p, o->w, &b, &near) == GABLE_ERR_ARGUMENT, "z of the host");
  CHECK(gable_krylov_solve_vectors(o->k, &near, &x, NULL) == GABLE_ERR_ARGUMENT, "b of the host");
  CHECK(gable_krylov_solve_vectors(o->k, &b, &near, NULL) == GABLE_ERR_ARGUMENT, "x of the host");
  CHECK_OK(gable_smoother_apply(o->s, &b, &x, 1, NULL));
  CHECK_OK(gable_precond_apply(o->p, o->w, &b, &x));
  CHECK_OK(gable_krylov_solve_vectors(o->k, &b, &x, NULL));
}

/* Of sweeps, preconditioners and Krylov solvers: host memory that is called device memory, and arrays that end beyond
 * their block, are refused. */
static void check_called_device_memory(gable_context *ctx)
{
  int64_t ptr[] = {0, 1, 3};
  gable_idx idx[] = {0, 0, 1};
  double val[] = {2, 1, 4}, b[] = {2, 9};
  void *own[] = {there(ctx, ptr, sizeof ptr), there(ctx, idx, sizeof idx), there(ctx, val, sizeof val),
                 there(ctx, b, sizeof b), there(ctx, b, sizeof b)};
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_precond_options jacobi = GABLE_PRECOND_OPTIONS_INIT;
  solvers o = {0};
  jacobi.kind = GABLE_PRECOND_JACOBI;
  a.n_rows = a.n_cols = 2;
  a.ptr = own[0];
  a.idx = idx;
  a.space = GABLE_SPACE_DEVICE;
  CHECK_OK(gable_smoother_create(ctx, NULL, &o.s));
  CHECK_OK(gable_precond_create(ctx, &jacobi, &o.p));
  CHECK_OK(gable_krylov_create(ctx, NULL, &o.k));
  CHECK(gable_smoother_analyse(o.s, &a) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "idx"), "idx of the host");
  a.idx = own[1];
  CHECK_OK(gable_smoother_analyse(o.s, &a));
  CHECK_OK(gable_precond_analyse(o.p, &a));
  CHECK_OK(gable_krylov_analyse(o.k, &a));
  CHECK(gable_smoother_update(o.s, val) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "val"), "of the host");
  CHECK(gable_smoother_update(o.s, own[3]) == GABLE_ERR_ARGUMENT, "short values");
  CHECK(gable_precond_update(o.p, val) == GABLE_ERR_ARGUMENT, "values of the host");
  CHECK(gable_krylov_update(o.k, val) == GABLE_ERR_ARGUMENT, "values of the host");
  CHECK_OK(gable_smoother_update(o.s, own[2]));
  CHECK_OK(gable_precond_update(o.p, own[2]));
  CHECK_OK(gable_krylov_update(o.k, own[2]));
  CHECK_OK(gable_precond_work_create(o.p, &o.w));
  check_called_vectors(&o, b, own[3], own[4]);
  gable_precond_work_destroy(&o.w);
  gable_krylov_destroy(&o.k);
  gable_precond_destroy(&o.p);
  gable_smoother_destroy(&o.s);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) gable_device_free(ctx, &own[i]);
}

/* The same of vectors of a direct solver. */
static void check_direct_vectors(gable_context *ctx)
{
  int64_t ptr[] = {0, 2, 4};
  gable_idx idx[] = {0, 1, 0, 1};
  double val[] = {4, 1, 1, 3}, host[] = {1, 2};
  void *far_b = there(ctx, host, sizeof host), *far_x = there(ctx, host, sizeof host);
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT;
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  a.n_rows = a.n_cols = 2;
  a.ptr = ptr;
  a.idx = idx;
  b.n = 2;
  b.space = GABLE_SPACE_DEVICE;
  gable_vectors_view x = b, near = b, cut = b;
  b.data = far_b;
  x.data = far_x;
  near.data = host;
  cut.data = (double *)far_b + 1;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_analyse(s, &a));
  CHECK_OK(gable_solver_factor(s, val, GABLE_REUSE_ALL));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  CHECK(gable_solver_solve(s, w, GABLE_OP_N, &near, &x) == GABLE_ERR_ARGUMENT, "b of the host");
  CHECK(gable_solver_solve(s, w, GABLE_OP_N, &b, &near) == GABLE_ERR_ARGUMENT, "x of the host");
  CHECK(gable_solver_solve(s, w, GABLE_OP_N, &cut, &x) == GABLE_ERR_ARGUMENT, "b ends beyond its block");
  CHECK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_ALL, &near, &x) == GABLE_ERR_ARGUMENT, "b of the host");
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &b, &x));
  CHECK_OK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_ALL, &b, &x));
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  gable_device_free(ctx, &far_b);
  gable_device_free(ctx, &far_x);
}

int main(void)
{
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("mirror", NULL, &ctx));
  check_memory(ctx);
  check_confusion(ctx);
  check_short_blocks(ctx);
  for (int kind = 0; test_triangle_name(kind); kind++) check_device_matrix(ctx, kind);
  check_sweeps(ctx);
  check_called_device_memory(ctx);
  check_direct_vectors(ctx);
  gable_context_destroy(&ctx);
  return 0;
}
