/* Host memory that a caller calls device memory is refused, on the mirror and on a GPU: there it would end the
 * process's work with an illegal access. */
#include "support/test.h"

#include "support/place.h"

enum { N = 2 };

static int64_t ptr[] = {0, 1, 3};
static gable_idx idx[] = {0, 0, 1};
static double val[] = {2, 1, 4}, numbers[] = {2, 9};

static void *there(gable_context *ctx, const void *host, size_t bytes)
{
  void *p = NULL;
  CHECK_OK(gable_device_alloc(ctx, bytes, &p));
  CHECK_OK(gable_device_copy_in(ctx, p, host, bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  return p;
}

static gable_vectors_view vector(void *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = N;
  v.space = GABLE_SPACE_DEVICE;
  v.data = data;
  return v;
}

static int refused(gable_status status, const char *name)
{
  return status == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), name);
}

static void check_triangle(gable_context *ctx, gable_vectors_view *b, gable_vectors_view *x, gable_vectors_view *near)
{
  void *own[] = {there(ctx, ptr, sizeof ptr), there(ctx, idx, sizeof idx), there(ctx, val, sizeof val)};
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_trisolve *t = NULL;
  gable_trisolve_work *w = NULL;
  double answer[N];
  a.n_rows = a.n_cols = N;
  a.part = GABLE_PART_LOWER;
  a.space = GABLE_SPACE_DEVICE;
  a.ptr = ptr;
  a.idx = own[1];
  CHECK_OK(gable_trisolve_create(ctx, NULL, &t));
  CHECK(refused(gable_trisolve_analyse(t, &a), "ptr"), "%s", gable_last_error());
  a.ptr = own[0];
  a.idx = idx;
  CHECK(refused(gable_trisolve_analyse(t, &a), "idx"), "%s", gable_last_error());
  a.idx = own[1];
  CHECK_OK(gable_trisolve_analyse(t, &a));
  a.idx = NULL; /* refused before the analysis is touched */
  CHECK(refused(gable_trisolve_analyse(t, &a), "idx is NULL"), "%s", gable_last_error());
  CHECK(refused(gable_trisolve_update(t, val), "val"), "%s", gable_last_error());
  CHECK_OK(gable_trisolve_update(t, own[2]));
  CHECK_OK(gable_trisolve_work_create(t, 1, &w));
  CHECK(refused(gable_trisolve_solve(t, w, GABLE_OP_N, near, x), "b"), "%s", gable_last_error());
  CHECK(refused(gable_trisolve_solve(t, w, GABLE_OP_N, b, near), "x"), "%s", gable_last_error());
  CHECK_OK(gable_trisolve_solve(t, w, GABLE_OP_N, b, x));
  CHECK_OK(gable_trisolve_work_status(w, NULL));
  CHECK_OK(gable_device_copy_out(ctx, answer, x->data, sizeof answer, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  CHECK(answer[0] == 1 && answer[1] == 2, "%g %g", answer[0], answer[1]);
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&t);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) gable_device_free(ctx, &own[i]);
}

static void check_solver(gable_context *ctx, gable_vectors_view *b, gable_vectors_view *x, gable_vectors_view *near)
{
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  a.n_rows = a.n_cols = N;
  a.ptr = ptr;
  a.idx = idx;
  a.val = val;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_analyse(s, &a));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_ALL));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  CHECK(refused(gable_solver_solve(s, w, GABLE_OP_N, near, x), "b"), "%s", gable_last_error());
  CHECK(refused(gable_solver_solve(s, w, GABLE_OP_N, b, near), "x"), "%s", gable_last_error());
  CHECK(refused(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_ALL, b, near), "x"), "%s", gable_last_error());
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, b, x));
  CHECK_OK(gable_solver_work_status(w));
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
}

int main(int argc, char **argv)
{
  gable_context *ctx = test_place(argc, argv, NULL);
  if (gable_context_space(ctx) == GABLE_SPACE_DEVICE) {
    gable_vectors_view b = vector(there(ctx, numbers, sizeof numbers));
    gable_vectors_view x = vector(there(ctx, numbers, sizeof numbers)), near = vector(numbers);
    check_triangle(ctx, &b, &x, &near);
    check_solver(ctx, &b, &x, &near);
    gable_device_free(ctx, &b.data);
    gable_device_free(ctx, &x.data);
  }
  gable_context_destroy(&ctx);
  return 0;
}
