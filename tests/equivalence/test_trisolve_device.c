/* Triangular solves with vectors where the solve runs: x = b, several streams and works at once under load, the same
 * bits again and again, new values after analysis, the caller's memory, more right-hand sides than one launch takes,
 * and waits that never end.  On "cpu" the same calls run with one stream that is always done. */
#include "support/test.h"

#include "base/portable.h"
#include "base/random.h"
#include "kernels/trisolve/trisolve_cuda.h"
#include "support/large_triangles.h"
#include "support/place.h"

static gable_context *ctx;

/* n x count numbers, column major, on the host and where solves run. */
typedef struct vectors {
  gable_vectors_view there;
  double *host;
  size_t bytes;
} vectors;

static vectors vectors_make(gable_idx n, gable_idx count, uint64_t seed)
{
  gi_random r = gi_random_seed(seed);
  vectors v = {GABLE_VECTORS_VIEW_INIT, NULL, (size_t)n * (size_t)count * sizeof(double)};
  v.host = malloc(v.bytes + 8);
  for (size_t k = 0; k < v.bytes / 8; k++) v.host[k] = 2 * gi_random_unit(&r) - 1;
  v.there.space = gable_context_space(ctx);
  v.there.n = n;
  v.there.count = count;
  v.there.ld = n;
  CHECK_OK(gable_device_alloc(ctx, v.bytes, &v.there.data));
  CHECK_OK(gable_device_copy_in(ctx, v.there.data, v.host, v.bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  return v;
}

static void vectors_fetch(vectors *v, void *stream)
{
  CHECK_OK(gable_device_copy_out(ctx, v->host, v->there.data, v->bytes, stream));
  CHECK_OK(gable_device_synchronise(ctx, stream));
}

static void vectors_free(vectors *v)
{
  gable_device_free(ctx, &v->there.data);
  free(v->host);
}

/* ops: 0, or GABLE_TRISOLVE_N for that alone. */
static gable_trisolve *plan_of(const char *method, int ops, const test_triangle *t, double deadline_s)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  const gable_matrix_view view = test_triangle_view(t);
  gable_trisolve *plan = NULL;
  options.method = method;
  options.solves = 0;
  options.ops = ops;
  options.deadline_s = deadline_s;
  CHECK_OK(gable_trisolve_create(ctx, &options, &plan));
  CHECK_OK(gable_trisolve_analyse(plan, &view));
  CHECK_OK(gable_trisolve_update(plan, t->val));
  return plan;
}

static gable_trisolve *plan_for(const char *method, const test_triangle *t, double deadline_s)
{
  return plan_of(method, 0, t, deadline_s);
}

static void check_bound(const test_triangle *t, const vectors *x, const double *b, const char *method)
{
  for (gable_idx j = 0; j < x->there.count; j++) {
    const size_t at = (size_t)j * (size_t)t->n;
    const double ratio = test_bound_ratio(t, x->host + at, b + at, 1, 0);
    CHECK(ratio <= 1, "%s, right-hand side %d: error over bound %g", method, j, ratio);
  }
}

/* x in the order of the stream, fetched and held against the bound; b: what there_b has, on the host. */
static void solve_well(const gable_trisolve *plan, gable_trisolve_work *w, const test_triangle *t,
                       const gable_vectors_view *there_b, const double *b, vectors *x, void *stream, const char *method)
{
  CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, there_b, &x->there));
  CHECK_OK(gable_trisolve_work_status(w, NULL));
  vectors_fetch(x, stream);
  check_bound(t, x, b, method);
}

static void check_in_place(const char *method)
{
  test_triangle t = test_triangle_named("DAG with near edges", 4);
  gable_trisolve *plan = plan_for(method, &t, 0);
  gable_trisolve_work *w = NULL;
  vectors x = vectors_make(t.n, 3, 11);
  double *b = malloc(x.bytes);
  memcpy(b, x.host, x.bytes);
  CHECK_OK(gable_trisolve_work_create(plan, 3, &w));
  solve_well(plan, w, &t, &x.there, b, &x, NULL, method);
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
  vectors_free(&x);
  free(b);
}

/* One of the solves that are under way together. */
typedef struct lane {
  void *stream;
  gable_trisolve_work *w;
  vectors b, x;
  double *expected;
} lane;

enum { LANES = 4, ROUNDS = GI_SANITIZED ? 50 : 250 };

static void lane_open(lane *l, gable_trisolve *plan, const test_triangle *t, uint64_t seed, const char *method)
{
  CHECK_OK(gable_stream_create(ctx, &l->stream));
  CHECK_OK(gable_trisolve_work_create(plan, 1, &l->w));
  CHECK_OK(gable_trisolve_work_set_stream(l->w, l->stream));
  l->b = vectors_make(t->n, 1, seed);
  l->x = vectors_make(t->n, 1, seed + 1);
  l->expected = malloc(l->x.bytes);
  solve_well(plan, l->w, t, &l->b.there, l->b.host, &l->x, l->stream, method);
  memcpy(l->expected, l->x.host, l->x.bytes);
}

static void lane_close(lane *l)
{
  gable_trisolve_work_destroy(&l->w);
  gable_stream_destroy(ctx, &l->stream);
  vectors_free(&l->b);
  vectors_free(&l->x);
  free(l->expected);
}

/* 1,000 solves of one plan on four streams, each with its own work and b, while a fifth stream writes memory: the bits
 * of a solve alone (the bound, where atomics forbid that).  Takes over t. */
static void check_streams(const char *method, test_triangle t)
{
  enum { LOAD = 1 << 26 };
  gable_trisolve *plan = plan_for(method, &t, 60);
  lane lanes[LANES];
  void *busy = NULL, *load = NULL;
  CHECK_OK(gable_stream_create(ctx, &busy));
  CHECK_OK(gable_device_alloc(ctx, LOAD, &load));
  memset(lanes, 0, sizeof lanes);
  for (int k = 0; k < LANES; k++) lane_open(&lanes[k], plan, &t, 100 + 2 * (uint64_t)k, method);
  for (int round = 0; round < ROUNDS; round++) {
    if (test_place_is_gpu(ctx)) CHECK_OK(gable_device_fill(ctx, load, round, LOAD, busy));
    for (int k = 0; k < LANES; k++) {
      lane *l = &lanes[k];
      CHECK_OK(gable_device_fill(ctx, l->x.there.data, 0xff, l->x.bytes, l->stream));
      CHECK_OK(gable_trisolve_solve(plan, l->w, GABLE_OP_N, &l->b.there, &l->x.there));
    }
    for (int k = 0; k < LANES; k++) {
      lane *l = &lanes[k];
      vectors_fetch(&l->x, l->stream);
      if (test_method_repeats(method))
        CHECK(!memcmp(l->x.host, l->expected, l->x.bytes), "%s: other bits in round %d on stream %d", method, round, k);
      else if (round % 25 == 0)
        check_bound(&t, &l->x, l->b.host, method);
    }
  }
  for (int k = 0; k < LANES; k++) CHECK_OK(gable_trisolve_work_status(lanes[k].w, NULL));
  for (int k = 0; k < LANES; k++) lane_close(&lanes[k]);
  CHECK_OK(gable_device_synchronise(ctx, busy));
  gable_device_free(ctx, &load);
  gable_stream_destroy(ctx, &busy);
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
}

/* 100 solves in a row without a look in between; every tenth is fetched. */
static void check_repeats(const char *method, const char *shape)
{
  enum { RUNS = GI_SANITIZED ? 20 : 100 };
  test_triangle t = test_triangle_named(shape, 8);
  gable_trisolve *plan = plan_for(method, &t, 60);
  gable_trisolve_work *w = NULL;
  vectors b = vectors_make(t.n, 2, 3), x = vectors_make(t.n, 2, 4);
  double *first = malloc(x.bytes);
  CHECK_OK(gable_trisolve_work_create(plan, 2, &w));
  for (int k = 0; k < RUNS; k++) {
    CHECK_OK(gable_device_fill(ctx, x.there.data, 0xff, x.bytes, NULL));
    CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b.there, &x.there));
    if (k % 10 && k < RUNS - 10) continue;
    vectors_fetch(&x, NULL);
    if (k == 0) memcpy(first, x.host, x.bytes);
    CHECK(!memcmp(first, x.host, x.bytes), "%s, %s: other bits in run %d", method, shape, k);
  }
  CHECK_OK(gable_trisolve_work_status(w, NULL));
  check_bound(&t, &x, b.host, method);
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
  vectors_free(&b);
  vectors_free(&x);
  free(first);
}

/* New values after analysis: the bits of a plan that never had others. */
static void check_update(const char *method)
{
  test_triangle t = test_triangle_named("9 point grid", 8), other = test_triangle_named("9 point grid", 9);
  gable_trisolve *plan = plan_for(method, &t, 0), *fresh = plan_for(method, &other, 0);
  gable_trisolve_work *w = NULL, *v = NULL;
  vectors b = vectors_make(t.n, 1, 3), x = vectors_make(t.n, 1, 4), y = vectors_make(t.n, 1, 5);
  CHECK_OK(gable_trisolve_work_create(plan, 1, &w));
  CHECK_OK(gable_trisolve_work_create(fresh, 1, &v));
  CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b.there, &x.there));
  CHECK_OK(gable_trisolve_update(plan, other.val));
  solve_well(plan, w, &other, &b.there, b.host, &x, NULL, method);
  solve_well(fresh, v, &other, &b.there, b.host, &y, NULL, method);
  if (test_method_repeats(method)) CHECK(!memcmp(x.host, y.host, x.bytes), "%s", method);
  gable_trisolve_work_destroy(&w);
  gable_trisolve_work_destroy(&v);
  gable_trisolve_destroy(&plan);
  gable_trisolve_destroy(&fresh);
  test_triangle_free(&t);
  test_triangle_free(&other);
  vectors_free(&b);
  vectors_free(&x);
  vectors_free(&y);
}

/* More right-hand sides than one launch takes, then few again with the same work. */
static void check_multi_rhs(const char *method)
{
  enum { MANY = GIK_MOST_RHS + 77 };
  test_triangle t = test_triangle_named("dense", 6);
  gable_trisolve *plan = plan_for(method, &t, 60);
  gable_trisolve_work *w = NULL;
  vectors b = vectors_make(t.n, MANY, 3), x = vectors_make(t.n, MANY, 4);
  static const gable_idx counts[] = {MANY, 3, MANY, 1};
  CHECK_OK(gable_trisolve_work_create(plan, MANY, &w));
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    b.there.count = x.there.count = counts[k];
    CHECK_OK(gable_device_fill(ctx, x.there.data, 0xff, x.bytes, NULL));
    solve_well(plan, w, &t, &b.there, b.host, &x, NULL, method);
  }
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
  vectors_free(&b);
  vectors_free(&x);
}

enum { COUNTS = 17, COLUMNS = COUNTS + 1 }; /* right-hand sides; numbers a row where they lie by rows */

static size_t at_of(const vectors *v, gable_idx i, gable_idx j)
{
  return (size_t)(v->there.major == GABLE_MAJOR_COL ? i + j * v->there.ld : i * v->there.ld + j);
}

/* Column j alone: its error against its bound. */
static void check_column(const test_triangle *t, const vectors *b, const vectors *x, gable_idx j, const char *method)
{
  double *column = malloc(((size_t)t->n + 1) * 16), *own = column + t->n + 1;
  for (gable_idx i = 0; i < t->n; i++) {
    column[i] = x->host[at_of(x, i, j)];
    own[i] = b->host[at_of(b, i, j)];
  }
  const double ratio = test_bound_ratio(t, column, own, 1, 0);
  CHECK(ratio <= 1, "%s, column %d of %d: error over bound %g", method, j, x->there.count, ratio);
  free(column);
}

/* Any number of right-hand sides of one work, by columns and by rows: within the bound, and the bits of every repeat,
 * on the CPU for any number of them, also where a neighbour holds a NaN; nothing is written beside them. */
static void check_counts_of(gable_trisolve *plan, const test_triangle *triangle, const char *method, const char *shape,
                            gable_major major)
{
  static const gable_idx counts[] = {COUNTS, 1, 2, 3, 16, 5, COUNTS};
  const test_triangle t = *triangle;
  const int alone = test_method_repeats(method) && !test_place_is_gpu(ctx); /* whatever goes beside a column */
  gable_trisolve_work *w = NULL;
  vectors b = vectors_make(t.n, COLUMNS, 3), x = vectors_make(t.n, COLUMNS, 4);
  double *first = malloc(x.bytes), poison;
  CHECK_OK(gable_trisolve_work_create(plan, COUNTS, &w));
  b.there.major = x.there.major = major;
  b.there.ld = x.there.ld = major == GABLE_MAJOR_COL ? t.n : COLUMNS;
  memset(&poison, 0xff, sizeof poison);
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    b.there.count = x.there.count = counts[k];
    CHECK_OK(gable_device_fill(ctx, x.there.data, 0xff, x.bytes, NULL));
    CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b.there, &x.there));
    vectors_fetch(&x, NULL);
    for (gable_idx j = 0; j < counts[k]; j++) check_column(&t, &b, &x, j, method);
    for (gable_idx i = 0; i < t.n; i++)
      CHECK(!memcmp(&x.host[at_of(&x, i, counts[k])], &poison, 8), "%s: column %d was written", method, counts[k]);
    if (k == 0) memcpy(first, x.host, x.bytes);
    for (gable_idx j = 0; alone && j < counts[k]; j++)
      for (gable_idx i = 0; i < t.n; i++)
        CHECK(!memcmp(&x.host[at_of(&x, i, j)], &first[at_of(&x, i, j)], 8), "%s, %s: column %d of %d has other bits",
              method, shape, j, counts[k]);
  }
  CHECK(!test_method_repeats(method) || !memcmp(first, x.host, x.bytes), "%s, %s: other bits", method, shape);
  b.host[at_of(&b, 0, 6)] = NAN;
  CHECK_OK(gable_device_copy_in(ctx, b.there.data, b.host, b.bytes, NULL));
  CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, &b.there, &x.there));
  vectors_fetch(&x, NULL);
  CHECK_OK(gable_trisolve_work_status(w, NULL));
  for (gable_idx i = 0; i < t.n; i++)
    for (gable_idx j = 0; j < COUNTS; j++)
      if (j != 6 && test_method_repeats(method))
        CHECK(!memcmp(&x.host[at_of(&x, i, j)], &first[at_of(&x, i, j)], 8), "%s: a NaN reached column %d", method, j);
  CHECK(isnan(x.host[at_of(&x, 0, 6)]), "%s: a NaN was lost", method);
  gable_trisolve_work_destroy(&w);
  vectors_free(&b);
  vectors_free(&x);
  free(first);
}

static void check_counts(const char *method, const char *shape, gable_major major)
{
  test_triangle t = test_triangle_named(shape, 8);
  gable_trisolve *plan = plan_for(method, &t, 60);
  check_counts_of(plan, &t, method, shape, major);
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
}

/* So many right-hand sides of so many rows that a GPU's rows turn them: columns become rows of 16 numbers.  With one op
 * its rows are placed by counting. */
static void check_large(const char *method, int ops)
{
  enum { MANY = GI_SANITIZED ? 7 : 61 };
  test_triangle t = test_wide_levels();
  gable_trisolve *plan = plan_of(method, ops, &t, 60);
  gable_trisolve_work *w = NULL;
  vectors b = vectors_make(t.n, MANY, 5), x = vectors_make(t.n, MANY, 6);
  CHECK(GI_SANITIZED || (double)t.n * MANY * 8 > 30e6, "%d rows are too few", t.n);
  CHECK_OK(gable_trisolve_work_create(plan, MANY, &w));
  for (int k = 0; k < 2; k++) {
    CHECK_OK(gable_device_fill(ctx, x.there.data, 0xff, x.bytes, NULL));
    solve_well(plan, w, &t, &b.there, b.host, &x, NULL, method);
  }
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
  vectors_free(&b);
  vectors_free(&x);
}

/* Rows by level: a launch for each level or for several narrow ones, and no waits; b may be x. */
static void check_steps(gable_idx longest, int ops)
{
  test_triangle t = test_two_levels(longest);
  gable_trisolve *plan = plan_of("rows", ops, &t, 60);
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  gable_trisolve_work *w = NULL;
  vectors x = vectors_make(t.n, 1, 11);
  double *b = malloc(x.bytes);
  CHECK_OK(gable_trisolve_get_info(plan, GABLE_OP_N, &info));
  CHECK(info.launches > 1 && info.launches <= info.levels && info.waits == 0 && info.barriers == info.levels - 1,
        "longest row %d: %lld launches for %d levels, %lld waits", longest, (long long)info.launches, info.levels,
        (long long)info.waits);
  memcpy(b, x.host, x.bytes);
  CHECK_OK(gable_trisolve_work_create(plan, 1, &w));
  CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, &x.there, &x.there));
  CHECK_OK(gable_trisolve_work_status(w, NULL));
  vectors_fetch(&x, NULL);
  check_bound(&t, &x, b, "rows by level");
  for (int rows = 0; rows < 2 && ops; rows++)
    check_counts_of(plan, &t, "rows", "two levels", rows ? GABLE_MAJOR_ROW : GABLE_MAJOR_COL);
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
  vectors_free(&x);
  free(b);
}

/* A few long rows among short ones; both ops, the second one with or without a schedule, of two sets of values. */
static void check_long_rows(const char *method, int ops, gable_idx levels, gable_idx width, gable_idx longest)
{
  test_triangle t = test_long_rows(levels, width, longest);
  gable_trisolve *plan = plan_of(method, ops, &t, 60);
  gable_trisolve_work *w = NULL;
  CHECK_OK(gable_trisolve_work_create(plan, 1, &w));
  for (int k = 0; k < 4; k++) {
    vectors b = vectors_make(t.n, 1, 7), x = vectors_make(t.n, 1, 8);
    for (int64_t p = 0; k == 2 && p < t.ptr[t.n]; p++) t.val[p] *= 1 + 0.25 * (double)(p % 3);
    if (k == 2) CHECK_OK(gable_trisolve_update(plan, t.val));
    CHECK_OK(gable_trisolve_solve(plan, w, k % 2 ? GABLE_OP_T : GABLE_OP_N, &b.there, &x.there));
    CHECK_OK(gable_trisolve_work_status(w, NULL));
    vectors_fetch(&x, NULL);
    if (k % 2 == 0) check_bound(&t, &x, b.host, method);
    for (gable_idx i = t.n - 1; k % 2 && i >= 0; i--) { /* no later row has entries in column i: b_i is the residual */
      for (int64_t p = t.ptr[i]; p < t.ptr[i + 1]; p++) b.host[t.idx[p]] -= t.val[p] * x.host[i];
      CHECK(fabs(b.host[i]) < 1e-10, "%s: residual %g of row %d", method, b.host[i], i);
    }
    vectors_free(&b);
    vectors_free(&x);
  }
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
}

/* A GPU's solve whose first piece of work was already taken by nobody: whoever needs its values waits for ever.  The
 * solve ends at its deadline and names a row, and so does every method that waits; another work of the plan is well.
 * near: 1: of vectors in host memory, whose solve returns that itself. */
static void check_deadline(const char *method, int near)
{
  test_triangle t = test_large_grid();
  gable_trisolve *plan = plan_for(method, &t, 0.05);
  gable_trisolve_work *w = NULL, *good = NULL;
  vectors b = vectors_make(t.n, 1, 3), x = vectors_make(t.n, 1, 4);
  size_t host_bytes = 0, device_bytes = 0;
  void *host = NULL, *device = NULL;
  const unsigned taken = 1;
  gable_idx row = -1;
  char named[40];
  CHECK_OK(gable_trisolve_work_bytes(plan, 1, &host_bytes, &device_bytes));
  CHECK(!posix_memalign(&host, 64, host_bytes), "no memory");
  CHECK_OK(gable_device_alloc(ctx, device_bytes, &device));
  CHECK_OK(gable_trisolve_work_create_in(plan, 1, host, device, &w));
  CHECK_OK(gable_device_copy_in(ctx, (char *)device + offsetof(gik_control, ticket), &taken, sizeof taken, NULL));
  gable_vectors_view from = b.there, to = x.there;
  if (near) {
    from.space = to.space = GABLE_SPACE_HOST;
    from.data = b.host;
    to.data = x.host;
  }
  const gable_status status = gable_trisolve_solve(plan, w, GABLE_OP_N, &from, &to);
  CHECK(status == (near ? GABLE_ERR_DEADLINE : GABLE_OK), "%s: %s", method, gable_last_error());
  if (!near) {
    CHECK(gable_trisolve_work_status(w, &row) == GABLE_ERR_DEADLINE, "%s: %s", method, gable_last_error());
    CHECK(row >= 0 && row < t.n, "%s: row %d", method, row);
  }
  snprintf(named, sizeof named, near ? "row " : "row %d ", row);
  CHECK(strstr(gable_last_error(), named), "%s: %s", method, gable_last_error());
  CHECK_OK(gable_trisolve_work_status(w, &row));
  CHECK_OK(gable_trisolve_work_create(plan, 1, &good));
  solve_well(plan, good, &t, &b.there, b.host, &x, NULL, method);
  gable_trisolve_work_destroy(&w);
  gable_trisolve_work_destroy(&good);
  gable_device_free(ctx, &device);
  free(host);
  gable_trisolve_destroy(&plan);
  test_triangle_free(&t);
  vectors_free(&b);
  vectors_free(&x);
}

int main(int argc, char **argv)
{
  static const char *const waiting[] = {"elmr", "elmc", "gsf", "tiles", "rows"};
  /* levels, rows of each, longest row: whole, and in parts of a record where rows are few, where they are many, and of
   * less than a record where levels are narrow */
  static const gable_idx long_rows[][3] = {{6, 2000, 2000}, {6, 4000, 3500}, {6, 20000, 9000}, {1400, 30, 3000}};
  ctx = test_place(argc, argv, NULL);
  for (const char *const *method = test_place_methods(ctx); *method; method++) {
    check_in_place(*method);
    check_update(*method);
    check_streams(*method, test_triangle_named("7 point grid", 8));
    for (int rows = 0; rows < 2; rows++) {
      check_counts(*method, "7 point grid", rows ? GABLE_MAJOR_ROW : GABLE_MAJOR_COL);
      if (GI_SANITIZED && rows) continue; /* one shape has both there */
      check_counts(*method, "wide levels of uneven rows", rows ? GABLE_MAJOR_ROW : GABLE_MAJOR_COL);
      check_counts(*method, "several unknowns a node", rows ? GABLE_MAJOR_ROW : GABLE_MAJOR_COL);
    }
    if (test_method_repeats(*method)) {
      check_repeats(*method, "7 point grid");
      check_repeats(*method, "DAG with near edges");
      check_repeats(*method, "wide levels of uneven rows");
    }
  }
  check_multi_rhs("auto");
  check_multi_rhs("tiles");
  check_large(test_place_is_gpu(ctx) ? "rows" : "auto", 0);
  check_large(test_place_is_gpu(ctx) ? "rows" : "auto", GABLE_TRISOLVE_N);
  for (int ops = 0; ops <= GABLE_TRISOLVE_N; ops += GABLE_TRISOLVE_N) {
    for (size_t k = 0; k < sizeof long_rows / sizeof *long_rows; k++) {
      const gable_idx *l = long_rows[k];
      check_long_rows("auto", ops, l[0], l[1], l[2]);
      if (!test_place_is_gpu(ctx)) continue;
      check_long_rows("rows", ops, l[0], l[1], l[2]);
      check_long_rows("tiles", ops, l[0], l[1], l[2]);
    }
  }
  if (test_place_is_gpu(ctx)) {
    check_multi_rhs("rows");
    for (int ops = 0; ops <= GABLE_TRISOLVE_N; ops += GABLE_TRISOLVE_N) {
      check_steps(6, ops);    /* rows of one record each */
      check_steps(200, ops);  /* of several lanes */
      check_steps(3000, ops); /* split: parts have levels of their own */
    }
    check_streams("rows", test_two_levels(3000));
    for (size_t k = 0; k < 2 * (sizeof waiting / sizeof *waiting); k++) check_deadline(waiting[k / 2], (int)(k % 2));
  }
  gable_context_destroy(&ctx);
  return 0;
}
