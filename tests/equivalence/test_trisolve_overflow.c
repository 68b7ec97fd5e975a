/* An entry that overflows when divided by its diagonal entry, beside an unknown that is zero: substitution gives finite
 * numbers, and so does every method, for both ops, planned or not, for float and double.  On a GPU the plan leaves its
 * records of quotients in the update that finds them, or after gable_trisolve_work_status has named the row where the
 * values are in device memory; a plan that a graph knows keeps them.  Never NaN.
 *
 * [place]: "cpu" */
#include "support/test.h"

#include "support/place.h"

enum { N = 300, ROW = 200, ENTRIES = 2 * N - 1 };

/* A bidiagonal matrix of ones, but the diagonal entry of row ROW, which is tiny, and a large one beside it: in its row,
 * which is an overflow for op N, or in its column, for op T. */
typedef struct problem {
  gable_op over;
  gable_type type; /* of the matrix */
  int32_t ptr[N + 1];
  gable_idx idx[ENTRIES];
  double val[ENTRIES];
} problem;

static problem make(gable_op over, gable_type type)
{
  problem p = {.over = over, .type = type};
  const double tiny = type == GABLE_TYPE_D ? 1e-200 : (double)1e-20f;
  const double large = type == GABLE_TYPE_D ? 1e150 : (double)1e20f;
  const gable_idx at = over == GABLE_OP_N ? ROW : ROW + 1;
  int32_t used = 0;
  for (gable_idx i = 0; i < N; i++) {
    p.ptr[i] = used;
    if (i) {
      p.idx[used] = i - 1;
      p.val[used++] = i == at ? large : 1;
    }
    p.idx[used] = i;
    p.val[used++] = i == ROW ? tiny : 1;
  }
  p.ptr[N] = used;
  return p;
}

/* x: zero on the side of the large entry that a solve of op begins with, one on the other. */
static double solution_at(const problem *p, gable_op op, gable_idx i)
{
  const gable_idx large = p->over == GABLE_OP_N ? ROW : ROW + 1; /* its row; its column is one less */
  return op == GABLE_OP_N ? i >= large : i < large;
}

static void right_side(const problem *p, gable_op op, double *b)
{
  for (gable_idx i = 0; i < N; i++) b[i] = 0;
  for (gable_idx i = 0; i < N; i++)
    for (int32_t q = p->ptr[i]; q < p->ptr[i + 1]; q++) {
      const gable_idx j = p->idx[q], row = op == GABLE_OP_N ? i : j, column = op == GABLE_OP_N ? j : i;
      b[row] += p->val[q] * solution_at(p, op, column);
    }
}

/* count numbers of this type, in device memory where far is the context of a GPU. */
static void *numbers(gable_context *far, gable_type type, const double *from, size_t count)
{
  const size_t bytes = count * (type == GABLE_TYPE_D ? sizeof(double) : sizeof(float));
  void *p = malloc(bytes), *device = NULL;
  for (size_t k = 0; k < count; k++)
    if (type == GABLE_TYPE_D)
      ((double *)p)[k] = from[k];
    else
      ((float *)p)[k] = (float)from[k];
  if (!far) return p;
  CHECK_OK(gable_device_alloc(far, bytes, &device));
  CHECK_OK(gable_device_copy_in(far, device, p, bytes, NULL));
  CHECK_OK(gable_device_synchronise(far, NULL));
  free(p);
  return device;
}

static void give(gable_context *far, void *p)
{
  if (far)
    gable_device_free(far, &p);
  else
    free(p);
}

static gable_trisolve *plan_of(gable_context *ctx, const problem *p, const char *method, int ops, int far)
{
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve *t = NULL;
  void *ptr = NULL, *idx = NULL;
  a.part = GABLE_PART_LOWER;
  a.n_rows = a.n_cols = N;
  a.offset_type = GABLE_TYPE_I32;
  a.value_type = p->type;
  a.ptr = p->ptr;
  a.idx = p->idx;
  options.method = method;
  options.solves = 0;
  options.ops = ops;
  if (far) {
    CHECK_OK(gable_device_alloc(ctx, sizeof p->ptr, &ptr));
    CHECK_OK(gable_device_alloc(ctx, sizeof p->idx, &idx));
    CHECK_OK(gable_device_copy_in(ctx, ptr, p->ptr, sizeof p->ptr, NULL));
    CHECK_OK(gable_device_copy_in(ctx, idx, p->idx, sizeof p->idx, NULL));
    a.space = GABLE_SPACE_DEVICE;
    a.ptr = ptr;
    a.idx = idx;
  }
  CHECK_OK(gable_trisolve_create(ctx, &options, &t));
  CHECK_OK(gable_trisolve_analyse(t, &a));
  gable_device_free(ctx, &ptr);
  gable_device_free(ctx, &idx);
  return t;
}

/* The solution of op, from and to host memory. */
static void check_solve(const gable_trisolve *t, gable_trisolve_work *w, const problem *p, gable_op op, gable_type type)
{
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, x;
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  double sides[N];
  right_side(p, op, sides);
  b.type = type;
  b.n = N;
  b.ld = N;
  b.count = 1;
  b.data = numbers(NULL, type, sides, N);
  x = b;
  x.data = numbers(NULL, type, sides, N);
  CHECK_OK(gable_trisolve_get_info(t, op, &info));
  CHECK_OK(gable_trisolve_solve(t, w, op, &b, &x));
  CHECK_OK(gable_trisolve_work_status(w, NULL));
  for (gable_idx i = 0; i < N; i++) {
    const double value = type == GABLE_TYPE_D ? ((double *)x.data)[i] : (double)((float *)x.data)[i];
    CHECK(value == solution_at(p, op, i), "%s, op %d of an overflow in op %d, matrix type %d: x[%d] is %g",
          info.method_used, (int)op, (int)p->over, (int)p->type, i, value);
  }
  free(b.data);
  free(x.data);
}

static int by_records(const gable_trisolve *t, gable_op op)
{
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  CHECK_OK(gable_trisolve_get_info(t, op, &info));
  return !strcmp(info.method_used, "tiles") || !strcmp(info.method_used, "rows");
}

static void check(gable_context *ctx, const problem *p, const char *method, int ops, int far)
{
  gable_trisolve *t = plan_of(ctx, p, method, ops, far);
  gable_trisolve_work *w = NULL;
  gable_idx row = -1;
  void *val = numbers(far ? ctx : NULL, p->type, p->val, ENTRIES);
  const int overflows = test_place_is_gpu(ctx) && by_records(t, p->over);
  CHECK_OK(gable_trisolve_work_create(t, 1, &w)); /* before the plan changes */
  CHECK_OK(gable_trisolve_update(t, val));
  if (far && overflows) {
    CHECK(gable_trisolve_work_status(w, &row) == GABLE_ERR_LIMIT && row == ROW, "%s: row %d, %s", method, row,
          gable_last_error());
    CHECK_OK(gable_trisolve_update(t, val));
  }
  CHECK(!(overflows && by_records(t, p->over)), "%s: the records overflow and stay", method);
  for (int op = 0; op < 2; op++) {
    check_solve(t, w, p, (gable_op)op, p->type);
    if (p->type == GABLE_TYPE_S) check_solve(t, w, p, (gable_op)op, GABLE_TYPE_D);
  }
  CHECK_OK(gable_trisolve_update(t, val)); /* and stays so */
  check_solve(t, w, p, p->over, p->type);
  gable_trisolve_work_destroy(&w);
  CHECK_OK(gable_trisolve_work_create(t, 3, &w));
  check_solve(t, w, p, p->over, p->type);
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&t);
  give(far ? ctx : NULL, val);
}

int main(int argc, char **argv)
{
  static const int ops[] = {0, GABLE_TRISOLVE_N, GABLE_TRISOLVE_T};
  gable_context *ctx = test_place(argc, argv, NULL);
  for (int over = 0; over < 2; over++)
    for (int type = 0; type < 2; type++) {
      const problem p = make((gable_op)over, type ? GABLE_TYPE_S : GABLE_TYPE_D);
      for (const char *const *method = test_place_methods(ctx); *method; method++)
        for (int k = 0; k < 3; k++)
          for (int far = 0; far <= test_place_is_gpu(ctx); far++) check(ctx, &p, *method, ops[k], far);
    }
  gable_context_destroy(&ctx);
  return 0;
}
