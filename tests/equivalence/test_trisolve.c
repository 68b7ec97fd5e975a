/* Every method, op, triangle, format, type, layout, diagonal and memory against the written bound, on the place that
 * the first argument names ("cpu" without one). */
#include "support/test.h"

#include "base/random.h"
#include "support/place.h"
#include "support/triangles.h"

static double deadline_s; /* of every plan */

/* One way of asking: drawn at random, printed when it fails. */
typedef struct request {
  const char *method;
  int upper, csc, base, i64, in_place, full, diag, op, ops;
  gable_type value_type, vector_type;
  gable_major major;
  gable_idx rhs;
  gable_off pad;
  int matrix_there, vectors_there; /* in the place's own memory */
  gable_major x_major;
} request;

static request draw(gi_random *r, const char *method)
{
  request q = {.method = method};
  q.upper = (int)gi_random_below(r, 2);
  q.csc = (int)gi_random_below(r, 2);
  q.base = (int)gi_random_below(r, 2);
  q.i64 = (int)gi_random_below(r, 2);
  q.in_place = (int)gi_random_below(r, 2);
  q.full = (int)gi_random_below(r, 2);
  q.diag = (int)gi_random_below(r, 3);
  q.op = (int)gi_random_below(r, 2);
  q.ops = (int)gi_random_below(r, 4);
  q.value_type = gi_random_below(r, 2) ? GABLE_TYPE_D : GABLE_TYPE_S;
  q.vector_type = q.value_type == GABLE_TYPE_D || gi_random_below(r, 2) ? GABLE_TYPE_D : GABLE_TYPE_S;
  q.major = gi_random_below(r, 2) ? GABLE_MAJOR_COL : GABLE_MAJOR_ROW;
  q.rhs = gi_random_below(r, 2) ? 1 : (gable_idx)(1 + gi_random_below(r, 19));
  q.pad = gi_random_below(r, 3);
  q.matrix_there = (int)gi_random_below(r, 2);
  q.vectors_there = (int)gi_random_below(r, 2);
  q.x_major = q.major;
  if (!q.in_place && gi_random_below(r, 3) == 0)
    q.x_major = q.major == GABLE_MAJOR_COL ? GABLE_MAJOR_ROW : GABLE_MAJOR_COL;
  return q;
}

/* What is being tried, printed when the program ends early. */
static struct {
  const request *q;
  const char *shape;
  uint64_t seed;
} current;

static void describe(void)
{
  const request *q = current.q;
  if (!q) return;
  fprintf(stderr, "%s, seed %llu: method %s, %s %s, base %d, %s offsets, diag %d, op %c, ops %d, types %d/%d%s\n",
          current.shape, (unsigned long long)current.seed, q->method, q->upper ? "upper" : "lower",
          q->csc ? "CSC" : "CSR", q->base, q->i64 ? "64 bit" : "32 bit", q->diag, q->op ? 'T' : 'N', q->ops,
          (int)q->value_type, (int)q->vector_type, q->full ? ", one triangle of a full matrix" : "");
  fprintf(stderr, "%d right-hand sides, %s major (x: %s), padded by %lld%s%s%s\n", q->rhs,
          q->major == GABLE_MAJOR_COL ? "column" : "row", q->x_major == GABLE_MAJOR_COL ? "column" : "row",
          (long long)q->pad, q->in_place ? ", in place" : "", q->matrix_there ? ", the matrix there" : "",
          q->vectors_there ? ", the vectors there" : "");
}

/* The caller's matrix as the request wants it. */
typedef struct storage {
  gable_matrix_view view;
  void *ptr, *val, *diagonal;
  gable_idx *idx;
  size_t nnz; /* entries of idx and val */
} storage;

/* lists: the triangle as stored (by rows or columns); other: its transpose, mixed in when the request is for a full
 * matrix: there its values must not matter. */
static storage store(const request *q, const test_triangle *lists, const test_triangle *other, const double *diagonal)
{
  storage s;
  const gable_idx n = lists->n;
  const size_t nnz = (size_t)(lists->ptr[n] + (q->full ? other->ptr[n] : 0));
  size_t used = 0;
  memset(&s, 0, sizeof s);
  s.ptr = malloc(((size_t)n + 1) * 8);
  s.idx = malloc((nnz + 1) * sizeof *s.idx);
  s.val = malloc((nnz + 1) * 8);
  s.diagonal = malloc(((size_t)n + 1) * 8);
  for (gable_idx i = 0; i <= n; i++) {
    if (q->i64)
      ((int64_t *)s.ptr)[i] = (int64_t)used + q->base;
    else
      ((int32_t *)s.ptr)[i] = (int32_t)used + q->base;
    if (i == n) break;
    if (q->value_type == GABLE_TYPE_S)
      ((float *)s.diagonal)[i] = (float)diagonal[i];
    else
      ((double *)s.diagonal)[i] = diagonal[i];
    int64_t p0 = lists->ptr[i], p1 = lists->ptr[i + 1], o0 = other->ptr[i], o1 = other->ptr[i + 1];
    while (p0 < p1 || (q->full && o0 < o1)) { /* merge; the diagonal comes from lists */
      int take = p0 < p1 && (!q->full || o0 >= o1 || lists->idx[p0] <= other->idx[o0]);
      gable_idx j = take ? lists->idx[p0] : other->idx[o0];
      double v = take ? lists->val[p0++] : NAN;
      if (!take) o0++;
      if (!take && j == i) continue;
      s.idx[used] = j + q->base;
      if (q->value_type == GABLE_TYPE_S)
        ((float *)s.val)[used] = (float)v;
      else
        ((double *)s.val)[used] = v;
      used++;
    }
  }
  s.nnz = used;
  s.view = (gable_matrix_view)GABLE_MATRIX_VIEW_INIT;
  s.view.n_rows = s.view.n_cols = n;
  s.view.format = q->csc ? GABLE_FORMAT_CSC : GABLE_FORMAT_CSR;
  s.view.base = q->base;
  s.view.offset_type = q->i64 ? GABLE_TYPE_I64 : GABLE_TYPE_I32;
  s.view.value_type = q->value_type;
  s.view.part = q->full ? GABLE_PART_FULL : q->upper ? GABLE_PART_UPPER : GABLE_PART_LOWER;
  s.view.ptr = s.ptr;
  s.view.idx = s.idx;
  return s;
}

static void *copy_there(gable_context *ctx, const void *host, size_t bytes)
{
  void *p = NULL;
  CHECK_OK(gable_device_alloc(ctx, bytes, &p));
  CHECK_OK(gable_device_copy_in(ctx, p, host, bytes, NULL));
  return p;
}

/* The same in the place's memory: its view, val and diagonal. */
static storage bring(gable_context *ctx, const storage *s)
{
  storage there = {.view = s->view};
  const size_t n = (size_t)s->view.n_rows, offset = s->view.offset_type == GABLE_TYPE_I64 ? 8 : 4;
  const size_t size = s->view.value_type == GABLE_TYPE_S ? 4 : 8;
  there.ptr = copy_there(ctx, s->ptr, (n + 1) * offset);
  there.idx = copy_there(ctx, s->idx, s->nnz * sizeof *s->idx);
  there.val = copy_there(ctx, s->val, s->nnz * size);
  there.diagonal = copy_there(ctx, s->diagonal, n * size);
  there.view.ptr = there.ptr;
  there.view.idx = there.idx;
  there.view.space = gable_context_space(ctx);
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  return there;
}

static void leave(gable_context *ctx, storage there)
{
  void *idx = there.idx;
  gable_device_free(ctx, &there.ptr);
  gable_device_free(ctx, &idx);
  gable_device_free(ctx, &there.val);
  gable_device_free(ctx, &there.diagonal);
}

static void drop(storage *s)
{
  free(s->ptr);
  free(s->idx);
  free(s->val);
  free(s->diagonal);
}

/* What op(T) is by rows, with the diagonal that the request asks for and values rounded as stored. */
static test_triangle meant(const request *q, const test_triangle *rows, const test_triangle *columns,
                           const double *diagonal)
{
  test_triangle back = test_triangle_transpose(q->op ? rows : columns);
  for (gable_idx i = 0; i < back.n; i++)
    for (int64_t p = back.ptr[i]; p < back.ptr[i + 1]; p++) {
      if (back.idx[p] == i && q->diag) back.val[p] = q->diag == GABLE_DIAG_UNIT ? 1.0 : diagonal[i];
      if (q->value_type == GABLE_TYPE_S) back.val[p] = (float)back.val[p];
    }
  return back;
}

static gable_vectors_view vectors(const request *q, gable_idx n, gable_major major)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.type = q->vector_type;
  v.n = n;
  v.count = q->rhs;
  v.major = major;
  v.ld = (major == GABLE_MAJOR_COL ? n : q->rhs) + q->pad;
  return v;
}

static double number_at(const gable_vectors_view *v, gable_idx i, gable_idx j)
{
  const size_t at = (size_t)(v->major == GABLE_MAJOR_COL ? i + j * v->ld : i * v->ld + j);
  return v->type == GABLE_TYPE_S ? (double)((const float *)v->data)[at] : ((const double *)v->data)[at];
}

static void fill(const request *q, gi_random *r, void *data, size_t size)
{
  for (size_t k = 0; k < size; k++) {
    double v = 2 * gi_random_unit(r) - 1;
    if (q->vector_type == GABLE_TYPE_S)
      ((float *)data)[k] = (float)v;
    else
      ((double *)data)[k] = v;
  }
}

static void check_solution(const test_triangle *m, const gable_vectors_view *b, const gable_vectors_view *x)
{
  double *column = malloc(((size_t)m->n + 1) * 16), *own = column + m->n + 1;
  for (gable_idx j = 0; j < b->count; j++) {
    for (gable_idx i = 0; i < m->n; i++) {
      column[i] = number_at(x, i, j);
      own[i] = number_at(b, i, j);
    }
    double ratio = test_bound_ratio(m, column, own, 1, b->type == GABLE_TYPE_S);
    CHECK(ratio <= 1, "right-hand side %d: error over bound %g", j, ratio);
  }
  free(column);
}

/* Solves with vectors in the place's memory: b and x [size numbers of 8 bytes] go there and come back. */
static void solve_there(gable_context *ctx, gable_trisolve *t, gable_trisolve_work *w, const request *q,
                        const gable_vectors_view *b, const gable_vectors_view *x, size_t size)
{
  gable_vectors_view own_b = *b, own_x = *x;
  own_b.space = own_x.space = gable_context_space(ctx);
  own_b.data = copy_there(ctx, b->data, size * 8);
  own_x.data = q->in_place ? own_b.data : copy_there(ctx, x->data, size * 8);
  CHECK_OK(gable_trisolve_solve(t, w, q->op ? GABLE_OP_T : GABLE_OP_N, &own_b, &own_x));
  CHECK_OK(gable_device_copy_out(ctx, x->data, own_x.data, size * 8, NULL));
  if (!q->in_place) CHECK_OK(gable_device_copy_out(ctx, b->data, own_b.data, size * 8, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  if (!q->in_place) gable_device_free(ctx, &own_x.data);
  gable_device_free(ctx, &own_b.data);
}

static void solve_and_check(gable_context *ctx, gable_trisolve *t, const request *q, const test_triangle *m,
                            gi_random *r)
{
  gable_vectors_view b = vectors(q, m->n, q->major), x = vectors(q, m->n, q->x_major);
  const gable_off rows = b.ld * (q->major == GABLE_MAJOR_COL ? q->rhs : m->n);
  const gable_off columns = x.ld * (q->x_major == GABLE_MAJOR_COL ? q->rhs : m->n);
  const size_t size = (size_t)(rows > columns ? rows : columns) + 1;
  void *bytes = malloc(size * 8), *keep = malloc(size * 8), *again = malloc(size * 8);
  gable_trisolve_work *w = NULL;
  CHECK_OK(gable_trisolve_work_create(t, q->rhs, &w));
  for (int repeat = 0; repeat < (q->rhs > 1 ? 4 : 2); repeat++) {
    b.count = x.count = repeat == 1 ? 1 : q->rhs; /* one work serves solves of different counts */
    fill(q, r, keep, size);
    memcpy(again, keep, size * 8);
    memset(bytes, 0xff, size * 8);
    b.data = q->in_place ? again : keep;
    x.data = q->in_place ? again : bytes;
    if (q->vectors_there)
      solve_there(ctx, t, w, q, &b, &x, size);
    else
      CHECK_OK(gable_trisolve_solve(t, w, q->op ? GABLE_OP_T : GABLE_OP_N, &b, &x));
    CHECK_OK(gable_trisolve_work_status(w, NULL));
    if (!q->in_place) CHECK(!memcmp(again, keep, size * 8), "b was written");
    b.data = keep;
    check_solution(m, &b, &x);
  }
  gable_trisolve_work_destroy(&w);
  free(bytes);
  free(keep);
  free(again);
}

static void run_request(gable_context *ctx, const request *q, const test_triangle *lower, gi_random *r)
{
  const gable_idx n = lower->n;
  test_triangle upper = test_triangle_transpose(lower);
  test_triangle rows = q->upper ? upper : *lower, columns = q->upper ? *lower : upper; /* of T, and of its transpose */
  double *diagonal = malloc(((size_t)n + 1) * sizeof *diagonal);
  for (gable_idx i = 0; i < n; i++) diagonal[i] = 1 + gi_random_unit(r);
  storage s = store(q, q->csc ? &columns : &rows, q->csc ? &rows : &columns, diagonal);
  test_triangle m = meant(q, &rows, &columns, diagonal);

  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  options.method = q->method;
  options.solves = 0;
  options.uplo = q->full ? (q->upper ? GABLE_PART_UPPER : GABLE_PART_LOWER) : GABLE_PART_FULL;
  options.diag = (gable_diag)q->diag;
  options.ops = q->ops;
  options.deadline_s = deadline_s;
  gable_trisolve *t = NULL;
  CHECK_OK(gable_trisolve_create(ctx, &options, &t));
  const storage used = q->matrix_there ? bring(ctx, &s) : s;
  CHECK_OK(gable_trisolve_analyse(t, &used.view));
  if (q->diag == GABLE_DIAG_SEPARATE)
    CHECK_OK(gable_trisolve_update_with_diagonal(t, used.val, used.diagonal));
  else
    CHECK_OK(gable_trisolve_update(t, used.val));
  solve_and_check(ctx, t, q, &m, r);
  gable_trisolve_destroy(&t);
  if (q->matrix_there) leave(ctx, used);
  test_triangle_free(&m);
  test_triangle_free(&upper);
  drop(&s);
  free(diagonal);
}

/* The bound itself: a solution passes, and none that is wrong in one place, by a rounding error too many, a NaN or an
 * infinity. */
static void check_bound(void)
{
  const double wrong[] = {0.5 + 0x1p-45, -0.5, 0, NAN, INFINITY, -INFINITY, 1e308};
  test_triangle t = test_triangle_named("diagonal", 1);
  double *b = malloc((size_t)t.n * 16), *x = b + t.n;
  test_triangle_set_diagonal(&t, 2);
  for (gable_idx i = 0; i < t.n; i++) {
    b[i] = 1;
    x[i] = 0.5;
  }
  CHECK(test_bound_ratio(&t, x, b, 1, 0) <= 1);
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    x[t.n / 2] = wrong[k];
    CHECK(test_bound_ratio(&t, x, b, 1, 0) > 1, "%g passes", wrong[k]);
  }
  free(b);
  test_triangle_free(&t);
}

/* [place [seed [most rows [requests of each method [method]]]]]: fewer and smaller for slow tools, which also get more
 * time; one method alone, so that several processes can share the work. */
int main(int argc, char **argv)
{
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20240607;
  const gable_idx most = argc > 3 ? (gable_idx)strtol(argv[3], NULL, 10) : INT32_MAX;
  const int rounds = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 12;
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.threads = 2;
  deadline_s = argc > 3 ? 300 : 0;
  long requests = 0;
  atexit(describe);
  check_bound();
  gable_context *ctx = test_place(argc, argv, &options);
  for (int kind = 0; test_triangle_name(kind); kind++) {
    test_triangle lower = test_triangle_make_small(kind, seed, most);
    const char *const *methods = test_place_methods(ctx);
    for (int m = 0; methods[m]; m++)
      for (int round = 0; round < (lower.n > 50000 ? 1 : rounds); round++) {
        if (argc > 5 && strcmp(argv[5], methods[m])) continue;
        requests++;
        gi_random r = gi_random_seed(seed + (uint64_t)(1000 * kind + 100 * m + round));
        request q = draw(&r, methods[m]);
        current.q = &q;
        current.shape = test_triangle_name(kind);
        current.seed = seed;
        run_request(ctx, &q, &lower, &r);
        current.q = NULL;
      }
    test_triangle_free(&lower);
  }
  CHECK(requests, "%s is no method of this place", argv[5]);
  gable_context_destroy(&ctx);
  return 0;
}
