/* What a triangular solve does when things are wrong, and what it promises when they are not: NaN, bad diagonals,
 * refused matrices, wrong phases, lack of memory, no allocation in solve, the same bits every time. */
#include "support/test.h"

#include "base/random.h"
#include "support/failing_allocator.h"
#include "support/large_triangles.h"
#include "support/place.h"
#include "support/triangles.h"

static gable_vectors_view vector(gable_idx n, double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = n;
  v.ld = n;
  v.data = data;
  return v;
}

/* ops: 0 for both. */
static gable_trisolve *plan_for_ops(gable_context *ctx, const char *method, int ops, const test_triangle *t)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_matrix_view view = test_triangle_view(t);
  gable_trisolve *plan = NULL;
  options.method = method;
  options.solves = 0;
  options.ops = ops;
  CHECK_OK(gable_trisolve_create(ctx, &options, &plan));
  CHECK_OK(gable_trisolve_analyse(plan, &view));
  CHECK_OK(gable_trisolve_update(plan, t->val));
  return plan;
}

static gable_trisolve *plan_for(gable_context *ctx, const char *method, const test_triangle *t)
{
  return plan_for_ops(ctx, method, 0, t);
}

/* Rows of op(t) that depend on the marked ones are marked. */
static void spread(const test_triangle *t, gable_op op, char *tainted)
{
  for (gable_idx i = 0; op == GABLE_OP_N && i < t->n; i++)
    for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++) tainted[i] |= tainted[t->idx[p]];
  for (gable_idx i = t->n - 1; op == GABLE_OP_T && i >= 0; i--)
    for (int64_t p = t->ptr[i]; p < t->ptr[i + 1]; p++) tainted[t->idx[p]] |= tainted[i];
}

/* A NaN (infinity) in b of one right-hand side, or in an entry off the diagonal, comes out in exactly the unknowns that
 * depend on it, and nothing hangs; the next solve of the same work knows nothing of it.  ops: of the plan. */
static void check_nan(gable_context *ctx, const char *method, const char *shape, int ops, double poison, int in_values)
{
  enum { COUNT = 5, POISONED = 3 };
  test_triangle t = test_triangle_named(shape, 3);
  double *b = malloc((size_t)t.n * 8 * COUNT), *x = malloc((size_t)t.n * 8 * COUNT);
  char *tainted = malloc((size_t)t.n);
  gable_idx where = t.n - t.n / 4; /* or the next row that has an entry off the diagonal */
  while (t.ptr[where + 1] - t.ptr[where] == 1) where++;
  const gable_idx column = t.idx[t.ptr[where]];
  gable_trisolve_work *w = NULL;
  if (in_values) t.val[t.ptr[where]] = poison;
  gable_trisolve *plan = plan_for_ops(ctx, method, ops, &t);
  CHECK_OK(gable_trisolve_work_create(plan, COUNT, &w));
  for (int op = GABLE_OP_N; op <= GABLE_OP_T; op++)
    for (gable_idx count = 1; count <= COUNT; count += COUNT - 1)
      for (int clean = 0; clean < 2 - in_values; clean++) {
        const gable_idx poisoned = count > 1 ? POISONED : 0;
        gable_vectors_view bv = vector(t.n, b), xv = vector(t.n, x);
        bv.count = xv.count = count;
        for (gable_idx k = 0; k < t.n * count; k++) b[k] = 1;
        if (!in_values && !clean) b[where + poisoned * t.n] = poison;
        CHECK_OK(gable_trisolve_solve(plan, w, (gable_op)op, &bv, &xv));
        CHECK_OK(gable_trisolve_work_status(w, NULL));
        memset(tainted, 0, (size_t)t.n);
        tainted[in_values && op == GABLE_OP_T ? column : where] = !clean;
        spread(&t, (gable_op)op, tainted);
        for (gable_idx k = 0; k < t.n * count; k++) {
          const int expected = tainted[k % t.n] && (in_values || k / t.n == poisoned);
          CHECK(isfinite(x[k]) == !expected && (!expected || !isnan(poison) || isnan(x[k])),
                "%s, %s, ops %d, op %d, row %d, right-hand side %d of %d: %g", method, shape, ops, op, k % t.n, k / t.n,
                count, x[k]);
        }
      }
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
  free(b);
  free(x);
  free(tainted);
}

/* What becomes of an update: on a GPU the check of the diagonal may be told as late as by a solve's status. */
static gable_status update_and_ask(gable_trisolve *plan, const double *val, gable_idx n)
{
  gable_status status = gable_trisolve_update(plan, val);
  gable_trisolve_work *w = NULL;
  double *b = calloc((size_t)n, 8);
  gable_vectors_view v = vector(n, b);
  if (!status) status = gable_trisolve_work_create(plan, 1, &w);
  if (!status) status = gable_trisolve_solve(plan, w, GABLE_OP_N, &v, &v);
  if (!status) status = gable_trisolve_work_status(w, NULL);
  gable_trisolve_work_destroy(&w);
  free(b);
  return status;
}

/* A diagonal entry that is no good is refused by its row; the plan recovers with the next update. */
static void check_diagonal(gable_context *ctx, const char *method)
{
  static const struct {
    double value;
    gable_status status;
  } bad[] = {{0, GABLE_ERR_SINGULAR},
             {-0.0, GABLE_ERR_SINGULAR},
             {5e-324, GABLE_ERR_SINGULAR},
             {NAN, GABLE_ERR_NOT_FINITE},
             {INFINITY, GABLE_ERR_NOT_FINITE}};
  test_triangle t = test_triangle_named("DAG with near edges", 5);
  gable_trisolve *plan = plan_for(ctx, method, &t);
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  double *good = malloc((size_t)t.ptr[t.n] * 8);
  memcpy(good, t.val, (size_t)t.ptr[t.n] * 8);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    t.val[t.ptr[766] - 1] = bad[k].value;
    t.val[t.ptr[902] - 1] = bad[k].value;
    CHECK(update_and_ask(plan, t.val, t.n) == bad[k].status, "%s: %g", method, bad[k].value);
    CHECK(strstr(gable_last_error(), "row 765"), "%s", gable_last_error());
    CHECK_OK(gable_trisolve_get_info(plan, GABLE_OP_N, &info));
    CHECK(info.bad_row == 765);
    CHECK_OK(update_and_ask(plan, good, t.n));
  }
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
  free(good);
}

/* 100 solves under way together with others give the same bits, b untouched, with values updated in between. */
static void check_bits(gable_context *ctx, const char *method)
{
  enum { RUNS = GI_SANITIZED ? 20 : 100 };
  test_triangle t = test_triangle_named("7 point grid", 9);
  gable_trisolve *plan = plan_for(ctx, method, &t);
  gable_trisolve_work *w = NULL;
  const size_t bytes = (size_t)t.n * 8;
  double *b = malloc(bytes), *x = malloc(bytes), *first = malloc(bytes), *twice = malloc((size_t)t.ptr[t.n] * 8);
  CHECK_OK(gable_trisolve_work_create(plan, 1, &w));
  for (gable_idx i = 0; i < t.n; i++) b[i] = 1 + i % 5;
  for (int64_t p = 0; p < t.ptr[t.n]; p++) twice[p] = 2 * t.val[p];
  gable_vectors_view bv = vector(t.n, b), xv = vector(t.n, x);
  for (int run = 0; run < RUNS; run++) {
    memset(x, 0xff, bytes);
    if (run == RUNS / 2) CHECK_OK(gable_trisolve_update(plan, twice));
    CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, &bv, &xv));
    if (run == 0) memcpy(first, x, bytes);
    for (gable_idx i = 0; run >= RUNS / 2 && i < t.n; i++) x[i] *= 2;
    if (test_method_repeats(method)) CHECK(!memcmp(first, x, bytes), "%s differs in run %d", method, run);
  }
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
  free(b);
  free(x);
  free(first);
  free(twice);
}

/* The last error says which row it was; on a GPU it may be a column, whose number is the same. */
static int names(gable_idx row)
{
  char text[2][32];
  snprintf(text[0], sizeof text[0], "row %d", row);
  snprintf(text[1], sizeof text[1], "row or column %d", row);
  return strstr(gable_last_error(), text[0]) || strstr(gable_last_error(), text[1]);
}

/* The same matrix with its arrays in device memory is refused for the same row. */
static void check_refusal_there(gable_context *ctx, gable_trisolve *plan, gable_matrix_view view, gable_idx row,
                                gable_status status)
{
  const size_t ptr_bytes = ((size_t)view.n_rows + 1) * sizeof(int64_t);
  const size_t idx_bytes = (size_t)((const int64_t *)view.ptr)[view.n_rows] * sizeof *view.idx;
  void *ptr = NULL, *idx = NULL;
  CHECK_OK(gable_device_alloc(ctx, ptr_bytes, &ptr));
  CHECK_OK(gable_device_alloc(ctx, idx_bytes, &idx));
  CHECK_OK(gable_device_copy_in(ctx, ptr, view.ptr, ptr_bytes, NULL));
  CHECK_OK(gable_device_copy_in(ctx, idx, view.idx, idx_bytes, NULL));
  view.ptr = ptr;
  view.idx = idx;
  view.space = GABLE_SPACE_DEVICE;
  CHECK(gable_trisolve_analyse(plan, &view) == status && names(row), "there, row %d: %s", row, gable_last_error());
  gable_device_free(ctx, &ptr);
  gable_device_free(ctx, &idx);
}

/* One fault in an entry, or offset, of row, which has two entries or more: refused by its row, from host and from
 * device memory; full: the matrix may have entries above the diagonal. */
static void check_planted(gable_context *ctx, const char *method, test_triangle *t, gable_idx row)
{
  const int64_t last = t->ptr[row + 1] - 1; /* the diagonal entry */
  const struct {
    gable_idx *at, value;
    int full;
    gable_status status;
  } faults[] = {
      {&t->idx[last], row + 1, 0, GABLE_ERR_ARGUMENT}, /* a cycle, where the next row needs this one */
      {&t->idx[last], row + 1, 1, GABLE_ERR_SINGULAR}, /* ignored, but then there is no diagonal entry */
      {&t->idx[last], t->n, 1, GABLE_ERR_ARGUMENT},          {&t->idx[last - 1], -1, 1, GABLE_ERR_ARGUMENT},
      {&t->idx[last - 1], INT32_MIN, 1, GABLE_ERR_ARGUMENT}, {&t->idx[last - 1], INT32_MAX, 1, GABLE_ERR_ARGUMENT},
      {&t->idx[last - 1], row, 1, GABLE_ERR_ARGUMENT}}; /* twice */
  for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
    const gable_idx kept = *faults[k].at;
    gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
    gable_matrix_view view = test_triangle_view(t);
    gable_trisolve *plan = NULL;
    options.method = method;
    options.solves = 0;
    if (faults[k].full) view.part = GABLE_PART_FULL;
    options.uplo = faults[k].full ? GABLE_PART_LOWER : GABLE_PART_FULL;
    CHECK_OK(gable_trisolve_create(ctx, &options, &plan));
    *faults[k].at = faults[k].value;
    CHECK(gable_trisolve_analyse(plan, &view) == faults[k].status && names(row), "%s, fault %zu, row %d: %s", method, k,
          row, gable_last_error());
    if (test_place_is_gpu(ctx)) check_refusal_there(ctx, plan, view, row, faults[k].status);
    *faults[k].at = kept;
    CHECK_OK(gable_trisolve_analyse(plan, &view));
    CHECK_OK(update_and_ask(plan, t->val, t->n));
    gable_trisolve_destroy(&plan);
  }
}

/* In short rows and in a long one, of few rows and of many. */
static void check_plants(gable_context *ctx, const char *method)
{
  test_triangle grid = test_triangle_named("9 point grid", 4), chain = test_triangle_named("one long row", 4);
  test_triangle many = test_large_grid();
  check_planted(ctx, method, &grid, grid.n / 2 + 7);
  check_planted(ctx, method, &chain, chain.n - 2);
  if (!strcmp(method, "auto") || !strcmp(method, "tiles")) check_planted(ctx, method, &many, many.n / 2 + 7);
  test_triangle_free(&grid);
  test_triangle_free(&chain);
  test_triangle_free(&many);
}

/* A GPU's plan counts entries in 32 bits; it says so before it looks at any. */
static void check_too_many(gable_context *ctx)
{
  enum { N = 1 << 16 }; /* 2^32 places */
  const size_t bytes = (N + 1) * sizeof(int64_t);
  int64_t *ptr = calloc(1, bytes);
  const gable_idx idx[] = {0};
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_trisolve *plan = NULL;
  void *there = NULL;
  CHECK(ptr, "memory");
  ptr[N] = INT32_MAX;
  view.n_rows = view.n_cols = N;
  view.part = GABLE_PART_LOWER;
  view.ptr = ptr;
  view.idx = idx;
  CHECK_OK(gable_trisolve_create(ctx, NULL, &plan));
  CHECK(gable_trisolve_analyse(plan, &view) == GABLE_ERR_LIMIT, "%s", gable_last_error());
  CHECK_OK(gable_device_alloc(ctx, bytes, &there));
  CHECK_OK(gable_device_copy_in(ctx, there, ptr, bytes, NULL));
  view.ptr = there;
  view.idx = there;
  view.space = GABLE_SPACE_DEVICE;
  CHECK(gable_trisolve_analyse(plan, &view) == GABLE_ERR_LIMIT, "%s", gable_last_error());
  free(ptr);
  gable_device_free(ctx, &there);
  gable_trisolve_destroy(&plan);
}

/* Matrices that are refused, with the row, and calls in the wrong phase. */
static void check_refusals(gable_context *ctx)
{
  int64_t ptr[] = {0, 1, 3, 5};
  gable_idx idx[] = {0, 0, 1, 1, 2};
  double val[] = {1, 1, 1, 1, 1};
  test_triangle t = {3, ptr, idx, val};
  gable_matrix_view view = test_triangle_view(&t);
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve *plan = NULL;
  gable_trisolve_work *w = NULL;
  options.method = "no such";
  options.solves = 0;
  CHECK(gable_trisolve_create(ctx, &options, &plan) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "no such"));
  options.method = test_place_is_gpu(ctx) ? "serial" : "rows";
  CHECK(gable_trisolve_create(ctx, &options, &plan) == GABLE_ERR_UNAVAILABLE && !plan, "%s", gable_last_error());
  CHECK_OK(gable_trisolve_create(ctx, NULL, &plan));
  CHECK(gable_trisolve_update(plan, val) == GABLE_ERR_STATE);
  CHECK(gable_trisolve_work_create(plan, 1, &w) == GABLE_ERR_STATE && !w);
  view.part = GABLE_PART_FULL;
  CHECK(gable_trisolve_analyse(plan, &view) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "which triangle"));
  view.part = GABLE_PART_LOWER;
  idx[3] = 2; /* row 2 = {2, 2}: a duplicate */
  CHECK(gable_trisolve_analyse(plan, &view) == GABLE_ERR_ARGUMENT && names(2), "%s", gable_last_error());
  idx[3] = 1;
  idx[4] = 3;
  CHECK(gable_trisolve_analyse(plan, &view) == GABLE_ERR_ARGUMENT && names(2), "%s", gable_last_error());
  idx[4] = 2;
  idx[2] = 2; /* planted above the diagonal: with row 2 it would be a cycle */
  CHECK(gable_trisolve_analyse(plan, &view) == GABLE_ERR_ARGUMENT && names(1), "%s", gable_last_error());
  view.part = GABLE_PART_FULL;
  gable_trisolve_destroy(&plan);
  options.method = NULL;
  options.uplo = GABLE_PART_LOWER; /* ignored there, but then the diagonal entry is missing */
  CHECK_OK(gable_trisolve_create(ctx, &options, &plan));
  CHECK(gable_trisolve_analyse(plan, &view) == GABLE_ERR_SINGULAR && names(1), "%s", gable_last_error());
  idx[2] = 1;
  ptr[2] = 0;
  CHECK(gable_trisolve_analyse(plan, &view) == GABLE_ERR_ARGUMENT, "%s", gable_last_error());
  ptr[2] = 3;
  ptr[0] = 1; /* the first entry would belong to no row */
  CHECK(gable_trisolve_analyse(plan, &view) == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "ptr[0]"), "%s",
        gable_last_error());
  if (test_place_is_gpu(ctx)) check_refusal_there(ctx, plan, view, 0, GABLE_ERR_ARGUMENT);
  ptr[0] = 0;
  CHECK_OK(gable_trisolve_analyse(plan, &view));
  CHECK_OK(gable_trisolve_work_create(plan, 1, &w));
  gable_vectors_view b = vector(3, val), x = b;
  CHECK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &x) == GABLE_ERR_STATE);
  CHECK_OK(gable_trisolve_update(plan, val));
  x.n = 2;
  CHECK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &x) == GABLE_ERR_ARGUMENT);
  x.n = 3;
  x.major = (gable_major)2;
  CHECK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &x) == GABLE_ERR_ARGUMENT);
  x.major = GABLE_MAJOR_COL;
  x.count = b.count = 2;
  CHECK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &x) == GABLE_ERR_ARGUMENT);
  CHECK_OK(gable_trisolve_analyse(plan, &view));
  CHECK_OK(gable_trisolve_update(plan, val));
  x.count = b.count = 1;
  CHECK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b, &x) == GABLE_ERR_MISMATCH);
  CHECK(gable_trisolve_work_status(w, NULL) == GABLE_ERR_MISMATCH);
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
}

/* The work in the caller's memory; the schedule is a topological order, levels are right. */
static void check_schedule(gable_context *ctx, const char *method)
{
  test_triangle t = test_triangle_named("DAG with far edges", 21);
  gable_trisolve *plan = plan_for(ctx, method, &t);
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  gable_idx *order = malloc((size_t)t.n * 4), *level = malloc((size_t)t.n * 4), top = 0;
  char *seen = calloc((size_t)t.n, 1);
  size_t host = 0, device = 0;
  CHECK_OK(gable_trisolve_get_schedule(plan, GABLE_OP_N, order, level));
  CHECK_OK(gable_trisolve_get_info(plan, GABLE_OP_N, &info));
  for (gable_idx i = 0; i < t.n; i++) {
    gable_idx own = 0;
    CHECK(order[i] >= 0 && order[i] < t.n && !seen[order[i]], "order is no permutation");
    seen[order[i]] = 1;
    for (int64_t p = t.ptr[i]; p < t.ptr[i + 1] - 1; p++) own = level[t.idx[p]] >= own ? level[t.idx[p]] + 1 : own;
    CHECK(level[i] == own, "row %d: level %d, not %d", i, level[i], own);
    top = own > top ? own : top;
  }
  CHECK(info.levels == top + 1 && info.nnz == t.ptr[t.n] && !strcmp(info.method, method));
  CHECK(!strcmp(method, "auto") || !strcmp(info.method_used, method));
  CHECK_OK(gable_trisolve_work_bytes(plan, 4, &host, &device));
  CHECK(test_place_is_gpu(ctx) == (device > 0));
  void *memory = NULL, *there = NULL;
  gable_trisolve_work *w = NULL;
  CHECK(!posix_memalign(&memory, 64, host), "no memory");
  if (device) CHECK_OK(gable_device_alloc(ctx, device, &there));
  CHECK(gable_trisolve_work_create_in(plan, 4, (char *)memory + 8, there, &w) == GABLE_ERR_ARGUMENT && !w);
  CHECK_OK(gable_trisolve_work_create_in(plan, 4, memory, there, &w));
  double *b = calloc((size_t)t.n, 8);
  gable_vectors_view v = vector(t.n, b);
  b[0] = 1;
  CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, &v, &v));
  CHECK_OK(gable_trisolve_work_status(w, NULL));
  CHECK(b[0] == 1 / t.val[0], "%s: %g", method, b[0]);
  gable_trisolve_work_destroy(&w);
  gable_device_free(ctx, &there);
  free(memory);
  free(b);
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
  free(order);
  free(level);
  free(seen);
}

/* auto that times its candidates keeps one of them, says so, and solves. */
static void check_timing(gable_context *ctx)
{
  test_triangle t = test_triangle_named("5 point grid", 2);
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  gable_matrix_view view = test_triangle_view(&t);
  gable_trisolve *plan = NULL;
  gable_trisolve_work *w = NULL;
  double *b = malloc((size_t)t.n * 8), *x = malloc((size_t)t.n * 8);
  options.time_candidates = 1;
  options.solves = 0;
  CHECK_OK(gable_trisolve_create(ctx, &options, &plan));
  CHECK_OK(gable_trisolve_analyse(plan, &view));
  for (int round = 0; round < 2; round++) CHECK_OK(gable_trisolve_update(plan, t.val));
  CHECK_OK(gable_trisolve_work_create(plan, 1, &w));
  for (gable_idx i = 0; i < t.n; i++) b[i] = 1 + i % 3;
  gable_vectors_view bv = vector(t.n, b), xv = vector(t.n, x);
  CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, &bv, &xv));
  CHECK(test_bound_ratio(&t, x, b, 1, 0) <= 1, "wrong");
  CHECK_OK(gable_trisolve_get_info(plan, GABLE_OP_N, &info));
  CHECK(strstr(info.why, "timed: ") && strstr(info.why, "tiles"), "%s", info.why);
  CHECK(strstr(info.why, test_place_is_gpu(ctx) ? "rows" : "serial"), "%s", info.why);
  CHECK(!strcmp(info.method, "auto") && strstr(info.why, info.method_used), "%s: %s", info.method_used, info.why);
  if (test_place_is_gpu(ctx)) { /* a matrix that is wrong is refused, by its row */
    t.idx[t.ptr[71] - 1] = 69;
    CHECK(gable_trisolve_analyse(plan, &view) == GABLE_ERR_ARGUMENT && names(70), "%s", gable_last_error());
  }
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
  free(b);
  free(x);
}

/* No method is another under a second name: each leaves its own trace in the counters. */
static void check_counters(gable_context *ctx)
{
  test_triangle t = test_triangle_named("two levels", 2);
  for (const char *const *name = test_place_methods(ctx); strcmp(*name, "auto"); name++) {
    const char *method = *name;
    gable_trisolve *plan = plan_for(ctx, method, &t);
    gable_trisolve_info i = GABLE_TRISOLVE_INFO_INIT;
    CHECK_OK(gable_trisolve_get_info(plan, GABLE_OP_N, &i));
    const gable_off inside = t.ptr[t.n] - t.n;
    const int serial = !strcmp(method, "serial"), lev = !strncmp(method, "lev", 3);
    CHECK(serial == (i.launches == 0 && i.tiles == 0), "%s", method);
    CHECK(lev == (i.barriers > 0), "%s", method);
    CHECK(!strcmp(method, "levc") == (i.atomics == inside), "%s", method);
    CHECK((!strcmp(method, "elmr") || !strcmp(method, "rows")) == (i.waits == inside), "%s", method);
    if (i.waits == inside) CHECK(!strcmp(method, "elmr") == (!test_place_is_gpu(ctx) || i.threads == 32), "%s", method);
    CHECK((!strcmp(method, "elmc") || !strcmp(method, "gsf")) == (i.waits == t.n && i.atomics == 2 * inside), "%s",
          method);
    CHECK(!strcmp(method, "tiles") == (i.tiles > 0), "%s", method);
    CHECK(i.plan_bytes_host + i.plan_bytes_device >= 12 * (size_t)inside, "%s: a plan of %zu bytes", method,
          i.plan_bytes_host + i.plan_bytes_device);
    gable_trisolve_destroy(&plan);
  }
  test_triangle_free(&t);
}

int main(int argc, char **argv)
{
  static const char *const shapes[] = {"9 point grid",   "7 point grid", "blocks of uneven rows",
                                       "one long row",   "two levels",   "several unknowns a node",
                                       "arrow and chain"};
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.threads = 2;
  gable_context *ctx = test_place(argc, argv, &options);
  for (const char *const *method = test_place_methods(ctx); *method; method++) {
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k += GI_SANITIZED ? 2 : 1)
      for (int in_values = 0; in_values < 2; in_values++)
        check_nan(ctx, *method, shapes[k], k % 3 ? 0 : GABLE_TRISOLVE_N, NAN, in_values);
    check_nan(ctx, *method, "9 point grid", 0, INFINITY, 0);
    check_nan(ctx, *method, "9 point grid", 0, INFINITY, 1);
    check_diagonal(ctx, *method);
    check_bits(ctx, *method);
    check_schedule(ctx, *method);
    check_plants(ctx, *method);
  }
  check_refusals(ctx);
  if (test_place_is_gpu(ctx)) check_too_many(ctx);
  check_counters(ctx);
  check_timing(ctx);
  gable_context_destroy(&ctx);
  return 0;
}
