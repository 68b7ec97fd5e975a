/* test_precond.c: preconditioners as objects of their own, new values, Krylov solvers that take one or a callback, and
 * works that threads use side by side. */
#include <pthread.h>

#include "device/device.h"
#include "support/place.h"
#include "support/test.h"

enum { N = 400, THREADS = 4 };

/* A tridiagonal matrix by rows: its ILU(0) and IC(0) are exact. */
typedef struct chain {
  int64_t ptr[N + 1];
  gable_idx idx[3 * N];
  double val[3 * N];
} chain;

static gable_context *ctx;

static void make_values(chain *c, double wind, double middle)
{
  for (gable_idx i = 0; i < N; i++)
    for (int64_t p = c->ptr[i]; p < c->ptr[i + 1]; p++)
      c->val[p] = c->idx[p] == i ? middle + i % 3 : c->idx[p] < i ? -1 - wind : -1 + wind;
}

static chain *make_chain(double wind)
{
  chain *c = malloc(sizeof *c);
  int64_t p = 0;
  CHECK(c);
  for (gable_idx i = 0; i < N; i++) {
    c->ptr[i] = p;
    for (gable_idx j = i > 0 ? i - 1 : 0; j <= i + 1 && j < N; j++) c->idx[p++] = j;
  }
  c->ptr[N] = p;
  make_values(c, wind, 2.5);
  return c;
}

static gable_matrix_view view_of(const chain *c)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = N;
  v.ptr = c->ptr;
  v.idx = c->idx;
  v.val = c->val;
  return v;
}

static void multiply(const chain *c, const double *x, double *y)
{
  for (gable_idx i = 0; i < N; i++) {
    y[i] = 0;
    for (int64_t p = c->ptr[i]; p < c->ptr[i + 1]; p++) y[i] += c->val[p] * x[c->idx[p]];
  }
}

static gable_precond *make(gable_preconditioner kind, const gable_matrix_view *a)
{
  gable_precond_options o = GABLE_PRECOND_OPTIONS_INIT;
  gable_precond *p = NULL;
  o.kind = kind;
  CHECK_OK(gable_precond_create(ctx, &o, &p));
  CHECK_OK(gable_precond_analyse(p, a));
  CHECK_OK(gable_precond_update(p, a->val));
  return p;
}

/* Through memory of the place. */
static void apply(const gable_precond *p, gable_precond_work *w, const double *r, double *z)
{
  const size_t bytes = N * sizeof *r;
  const int there = gable_context_space(ctx) == GABLE_SPACE_DEVICE;
  gable_vectors_view vr = GABLE_VECTORS_VIEW_INIT, vz;
  vr.n = N;
  vr.ld = N;
  vz = vr;
  vr.data = (void *)(uintptr_t)r;
  vz.data = z;
  if (there) {
    vr.space = vz.space = GABLE_SPACE_DEVICE;
    CHECK_OK(gable_device_alloc(ctx, bytes, &vr.data));
    CHECK_OK(gable_device_alloc(ctx, bytes, &vz.data));
    CHECK_OK(gable_device_copy_in(ctx, vr.data, r, bytes, NULL));
  }
  CHECK_OK(gable_precond_apply(p, w, &vr, &vz));
  CHECK_OK(gable_precond_work_status(w));
  if (!there) return;
  CHECK_OK(gable_device_copy_out(ctx, z, vz.data, bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  gable_device_free(ctx, &vr.data);
  gable_device_free(ctx, &vz.data);
}

static void apply_once(const gable_precond *p, const double *r, double *z)
{
  gable_precond_work *w = NULL;
  CHECK_OK(gable_precond_work_create(p, &w));
  apply(p, w, r, z);
  gable_precond_work_destroy(&w);
}

static void fill(double *r)
{
  for (gable_idx i = 0; i < N; i++) r[i] = 1 + i % 7;
}

/* M z for the matrix M that the kind stands for, from the definition. */
static void apply_forward(const chain *c, gable_preconditioner kind, const double *z, double *y)
{
  double t[N];
  if (kind == GABLE_PRECOND_NONE) memcpy(y, z, sizeof t);
  if (kind == GABLE_PRECOND_JACOBI)
    for (gable_idx i = 0; i < N; i++) y[i] = c->val[c->ptr[i] + (i > 0)] * z[i];
  if (kind >= GABLE_PRECOND_ILU0) multiply(c, z, y);
  if (kind != GABLE_PRECOND_GS) return;
  for (gable_idx i = 0; i < N; i++) { /* t = z + D^-1 U z, y = (D + L) t */
    const int64_t d = c->ptr[i] + (i > 0);
    t[i] = z[i] + (i + 1 < N ? c->val[d + 1] * z[i + 1] / c->val[d] : 0);
  }
  for (gable_idx i = 0; i < N; i++) {
    const int64_t d = c->ptr[i] + (i > 0);
    y[i] = c->val[d] * t[i] + (i > 0 ? c->val[d - 1] * t[i - 1] : 0);
  }
}

static void check_kind(gable_preconditioner kind)
{
  chain *c = make_chain(kind == GABLE_PRECOND_IC0 ? 0 : 0.3);
  const gable_matrix_view a = view_of(c);
  gable_precond *p = make(kind, &a), *fresh;
  gable_precond_info info = GABLE_PRECOND_INFO_INIT;
  double r[N], z[N], y[N], again[N];
  fill(r);
  for (int round = 0; round < 2; round++) { /* the second with new values */
    apply_once(p, r, z);
    apply_forward(c, kind, z, y);
    for (gable_idx i = 0; i < N; i++)
      CHECK(fabs(y[i] - r[i]) < 1e-12, "%s, round %d: row %d is %g, not %g", gable_preconditioner_text(kind), round, i,
            y[i], r[i]);
    make_values(c, kind == GABLE_PRECOND_IC0 ? 0 : 0.1, 3);
    CHECK_OK(gable_precond_update(p, c->val));
  }
  fresh = make(kind, &a);
  apply_once(p, r, z);
  apply_once(fresh, r, again);
  CHECK(!memcmp(z, again, sizeof z), "%s: an update gives other bits than a fresh preconditioner",
        gable_preconditioner_text(kind));
  CHECK_OK(gable_precond_get_info(p, &info));
  CHECK(info.kind == kind && info.n == N && info.shift == 0);
  CHECK(!info.method_used[0] == (kind < GABLE_PRECOND_ILU0), "%s", info.method_used);
  gable_precond_destroy(&p);
  gable_precond_destroy(&fresh);
  free(c);
}

/* By columns, from 1, with 32-bit offsets: values come in another order, and give the same bits. */
static void check_columns(gable_preconditioner kind)
{
  chain *c = make_chain(0.3);
  const gable_matrix_view a = view_of(c);
  gable_matrix *m = NULL;
  gable_matrix_view columns = GABLE_MATRIX_VIEW_INIT;
  gable_precond *by_rows = make(kind, &a), *by_columns;
  int32_t ptr[N + 1];
  gable_idx idx[3 * N];
  double r[N], z[N], again[N];
  CHECK_OK(gable_matrix_from_view(ctx, &a, &m));
  CHECK_OK(gable_matrix_get_view(m, &columns));
  for (gable_idx j = 0; j <= N; j++) ptr[j] = (int32_t)((const int64_t *)columns.ptr)[j] + 1;
  for (int32_t q = 0; q < ptr[N] - 1; q++) idx[q] = columns.idx[q] + 1;
  columns.base = 1;
  columns.offset_type = GABLE_TYPE_I32;
  columns.ptr = ptr;
  columns.idx = idx;
  by_columns = make(kind, &columns);
  fill(r);
  apply_once(by_rows, r, z);
  apply_once(by_columns, r, again);
  CHECK(!memcmp(z, again, sizeof z), "%s", gable_preconditioner_text(kind));
  gable_precond_destroy(&by_rows);
  gable_precond_destroy(&by_columns);
  gable_matrix_destroy(&m);
  free(c);
}

/* A pivot of zero is not one that is NaN or infinite. */
static void check_pivots(gable_preconditioner kind)
{
  const double bad[] = {0, NAN, INFINITY};
  chain *c = make_chain(0.3);
  const gable_matrix_view a = view_of(c);
  gable_precond *p = make(kind, &a);
  for (int k = 0; k < 3; k++) {
    c->val[0] = bad[k];
    CHECK(gable_precond_update(p, c->val) == (k ? GABLE_ERR_NOT_FINITE : GABLE_ERR_SINGULAR) &&
              strstr(gable_last_error(), "row 0"),
          "%s, %g: %s", gable_preconditioner_text(kind), bad[k], gable_last_error());
  }
  gable_precond_destroy(&p);
  free(c);
}

static void check_phases(void)
{
  chain *c = make_chain(0);
  const gable_matrix_view a = view_of(c);
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT, u;
  gable_precond_options o = GABLE_PRECOND_OPTIONS_INIT;
  gable_precond *p = NULL;
  gable_precond_work *w = NULL, *none = NULL;
  double r[N], z[N];
  const double whole = c->val[1];
  fill(r);
  v.n = N;
  v.ld = N;
  v.space = gable_context_space(ctx);
  v.data = r;
  u = v;
  u.data = z;
  o.kind = GABLE_PRECOND_ILU0;
  CHECK_OK(gable_precond_create(ctx, &o, &p));
  CHECK(gable_precond_update(p, c->val) == GABLE_ERR_STATE);
  CHECK(gable_precond_work_create(p, &none) == GABLE_ERR_STATE && !none);
  CHECK_OK(gable_precond_analyse(p, &a));
  CHECK_OK(gable_precond_work_create(p, &w));
  CHECK(gable_precond_apply(p, w, &v, &u) == GABLE_ERR_STATE);
  CHECK_OK(gable_precond_update(p, c->val));
  CHECK(gable_precond_apply(p, w, &v, &v) != GABLE_OK, "z is r");
  c->val[0] = 0;
  CHECK(gable_precond_update(p, c->val) == GABLE_ERR_SINGULAR && strstr(gable_last_error(), "row 0"), "%s",
        gable_last_error());
  CHECK(gable_precond_apply(p, w, &v, &u) == GABLE_ERR_STATE);
  c->val[0] = -NAN;
  CHECK(gable_precond_update(p, c->val) == GABLE_ERR_NOT_FINITE &&
            strstr(gable_last_error(), "row 0 (counted from 0) is nan"),
        "%s", gable_last_error());
  c->val[0] = 2.5;
  CHECK(c->val[1] == whole);
  CHECK_OK(gable_precond_update(p, c->val));
  apply(p, w, r, z);
  CHECK_OK(gable_precond_analyse(p, &a));
  CHECK_OK(gable_precond_update(p, c->val));
  CHECK(gable_precond_apply(p, w, &v, &u) == GABLE_ERR_MISMATCH);
  gable_precond_work_destroy(&w);
  gable_precond_destroy(&p);
  o.kind = (gable_preconditioner)9;
  CHECK(gable_precond_create(ctx, &o, &p) == GABLE_ERR_ARGUMENT && !p);
  o.kind = GABLE_PRECOND_ILU0;
  o.method = "no such";
  CHECK(gable_precond_create(ctx, &o, &p) == GABLE_ERR_ARGUMENT && !p);
  free(c);
}

/* IC(0) names an entry that no diagonal can mend, but none above the diagonal, which it does not read. */
static void check_not_finite(void)
{
  chain *c = make_chain(0);
  const gable_matrix_view a = view_of(c);
  gable_precond *p = make(GABLE_PRECOND_IC0, &a);
  gable_precond_info info = GABLE_PRECOND_INFO_INIT;
  const struct {
    int above; /* the diagonal: the entry of row 7 */
    double value;
    const char *text;
  } cases[] = {{-1, -NAN, "IC(0): the entry in row 7, column 6 (counted from 0) is nan"},
               {0, -INFINITY, "IC(0): the entry in row 7, column 7 (counted from 0) is infinite"},
               {1, NAN, NULL}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    double *entry = &c->val[c->ptr[7] + 1 + cases[k].above], before = *entry;
    *entry = cases[k].value;
    const gable_status status = gable_precond_update(p, c->val);
    *entry = before;
    CHECK(status == (cases[k].text ? GABLE_ERR_NOT_FINITE : GABLE_OK), "case %zu: %s", k, gable_last_error());
    CHECK(!cases[k].text || strstr(gable_last_error(), cases[k].text), "%s", gable_last_error());
  }
  CHECK_OK(gable_precond_get_info(p, &info));
  CHECK(info.shift == 0, "the diagonal is enlarged %g times for an entry that is not finite", info.shift);
  gable_precond_destroy(&p);
  free(c);
}

static gable_status (*own_copy_out)(gable_context *, void *, const void *, size_t, void *);
static int copies;

static gable_status counting_copy_out(gable_context *c, void *host, const void *device, size_t bytes, void *stream)
{
  copies++;
  return own_copy_out(c, host, device, bytes, stream);
}

/* IC(0) fetches two numbers after each attempt, and the entries of a row where attempts break down once. */
static void check_breakdowns(void)
{
  const gi_device *own = ctx->device;
  gi_device counting = *own;
  chain *c = make_chain(0);
  const gable_matrix_view a = view_of(c);
  gable_precond_info info = GABLE_PRECOND_INFO_INIT;
  int attempts = 2; /* as they are, and with the diagonal enlarged by 1e-3 */
  own_copy_out = own->copy_out;
  counting.copy_out = counting_copy_out;
  ctx->device = &counting;
  gable_precond *p = make(GABLE_PRECOND_IC0, &a);
  c->val[c->ptr[7]] = c->val[c->ptr[7] - 1] = -5; /* (7,6) and (6,7) */
  copies = 0;
  CHECK_OK(gable_precond_update(p, c->val));
  CHECK_OK(gable_precond_get_info(p, &info));
  for (double shift = 1e-3; shift < info.shift; shift *= 2) attempts++;
  CHECK(attempts > 8 && copies <= 2 * attempts + 4, "%d copies in %d attempts", copies, attempts);
  gable_precond_destroy(&p);
  ctx->device = own;
  free(c);
}

static gable_krylov *solver_for(gable_krylov_solver solver, gable_preconditioner kind)
{
  gable_krylov_options o = GABLE_KRYLOV_OPTIONS_INIT;
  gable_krylov *k = NULL;
  o.solver = solver;
  o.preconditioner = kind;
  o.tolerance = 1e-10;
  CHECK_OK(gable_krylov_create(ctx, &o, &k));
  return k;
}

static void solve(gable_krylov *k, double *x)
{
  double b[N];
  fill(b);
  memset(x, 0, sizeof b);
  CHECK_OK(gable_krylov_solve(k, b, x, NULL));
}

/* A preconditioner of the caller's, or new values, give the bits of the solver's own made afresh. */
static void check_krylov(gable_krylov_solver solver, gable_preconditioner kind)
{
  chain *c = make_chain(0);
  const gable_matrix_view a = view_of(c);
  gable_precond *p = make(kind, &a);
  gable_krylov *own = solver_for(solver, kind), *with = solver_for(solver, GABLE_PRECOND_NONE);
  gable_krylov_work *w = NULL;
  double x[N], y[N];
  CHECK_OK(gable_krylov_set_matrix(own, &a));
  CHECK_OK(gable_krylov_set_precond(with, p));
  CHECK_OK(gable_krylov_set_matrix(with, &a));
  for (int round = 0; round < 2; round++) {
    solve(own, x);
    solve(with, y);
    CHECK(!memcmp(x, y, sizeof x), "solver %d, %s, round %d", (int)solver, gable_preconditioner_text(kind), round);
    make_values(c, 0, 4);
    CHECK_OK(gable_krylov_update(own, c->val));
    CHECK_OK(gable_krylov_update(with, c->val));
    CHECK_OK(gable_precond_update(p, c->val));
  }
  solve(own, x);
  CHECK_OK(gable_krylov_set_matrix(with, &a));
  solve(with, y);
  CHECK(!memcmp(x, y, sizeof x), "solver %d, %s: new values", (int)solver, gable_preconditioner_text(kind));

  CHECK_OK(gable_krylov_work_create(with, &w));
  CHECK_OK(gable_krylov_set_precond(with, NULL));
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = N;
  v.ld = N;
  v.data = x;
  CHECK(gable_krylov_work_solve(w, &v, &v, NULL) == GABLE_ERR_MISMATCH, "%s", gable_last_error());
  gable_krylov_work_destroy(&w);
  solve(with, y); /* without */
  gable_krylov_destroy(&own);
  gable_krylov_destroy(&with);
  gable_precond_destroy(&p);
  free(c);
}

typedef struct callbacks {
  const chain *c;
  int products, solves, fail_at;
} callbacks;

static gable_status product(void *user, const double *x, double *y)
{
  callbacks *u = user;
  multiply(u->c, x, y);
  return ++u->products == u->fail_at ? GABLE_ERR_IO : GABLE_OK;
}

static gable_status divide(void *user, const double *x, double *y)
{
  callbacks *u = user;
  u->solves++;
  for (gable_idx i = 0; i < N; i++) y[i] = x[i] / u->c->val[u->c->ptr[i] + (i > 0)];
  return GABLE_OK;
}

static void check_callbacks(gable_krylov_solver solver)
{
  chain *c = make_chain(0);
  const gable_matrix_view a = view_of(c);
  callbacks u = {c, 0, 0, 0};
  gable_krylov *k = solver_for(solver, GABLE_PRECOND_NONE), *own = solver_for(solver, GABLE_PRECOND_JACOBI);
  gable_krylov_info info = GABLE_KRYLOV_INFO_INIT, want = GABLE_KRYLOV_INFO_INIT;
  double x[N], y[N], b[N];
  CHECK_OK(gable_krylov_set_operator(k, N, product, &u));
  CHECK_OK(gable_krylov_set_precond_function(k, divide, &u));
  solve(k, x);
  CHECK_OK(gable_krylov_get_info(k, &info));
  CHECK(u.products > info.iterations && u.solves >= info.iterations, "%d products, %d solves", u.products, u.solves);
  CHECK_OK(gable_krylov_set_matrix(own, &a));
  solve(own, y);
  CHECK_OK(gable_krylov_get_info(own, &want));
  CHECK(abs(info.iterations - want.iterations) <= 1, "%d and %d iterations", info.iterations, want.iterations);
  for (gable_idx i = 0; i < N; i++) CHECK(fabs(x[i] - y[i]) < 1e-8, "row %d: %g, %g", i, x[i], y[i]);
  u.fail_at = u.products + 3;
  fill(b);
  memset(x, 0, sizeof x);
  CHECK(gable_krylov_solve(k, b, x, NULL) == GABLE_ERR_IO, "the callback's status is lost");
  CHECK(gable_krylov_update(k, c->val) == GABLE_ERR_STATE);
  CHECK_OK(gable_krylov_set_operator(own, N, product, &u));
  CHECK(gable_krylov_solve(own, b, x, NULL) == GABLE_ERR_STATE, "%s", gable_last_error());
  CHECK_OK(gable_krylov_set_operator(k, N - 1, product, &u));
  gable_precond *p = make(GABLE_PRECOND_ILU0, &a);
  CHECK_OK(gable_krylov_set_precond(k, p));
  CHECK(gable_krylov_solve(k, b, x, NULL) == GABLE_ERR_MISMATCH, "%s", gable_last_error());
  gable_krylov_destroy(&k);
  gable_krylov_destroy(&own);
  gable_precond_destroy(&p);
  free(c);
}

typedef struct job {
  const gable_krylov *k;
  double x[N];
  gable_status status;
} job;

static void *solve_often(void *user)
{
  job *j = user;
  gable_krylov_work *w = NULL;
  gable_vectors_view b = GABLE_VECTORS_VIEW_INIT, x;
  double right[N];
  fill(right);
  b.n = N;
  b.ld = N;
  x = b;
  b.data = right;
  x.data = j->x;
  j->status = gable_krylov_work_create(j->k, &w);
  for (int round = 0; round < 20 && !j->status; round++) {
    memset(j->x, 0, sizeof j->x);
    j->status = gable_krylov_work_solve(w, &b, &x, NULL);
  }
  gable_krylov_work_destroy(&w);
  return NULL;
}

/* Threads share a solver and its preconditioner, and get the bits of one alone. */
static void check_threads(gable_krylov_solver solver, gable_preconditioner kind)
{
  chain *c = make_chain(0);
  const gable_matrix_view a = view_of(c);
  gable_krylov *k = solver_for(solver, kind);
  static job jobs[THREADS];
  pthread_t thread[THREADS];
  double x[N];
  CHECK_OK(gable_krylov_set_matrix(k, &a));
  solve(k, x);
  for (int t = 0; t < THREADS; t++) {
    jobs[t].k = k;
    CHECK(!pthread_create(&thread[t], NULL, solve_often, &jobs[t]));
  }
  for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
  for (int t = 0; t < THREADS; t++) {
    CHECK(!jobs[t].status, "thread %d: %d", t, (int)jobs[t].status);
    CHECK(!memcmp(x, jobs[t].x, sizeof x), "thread %d: other bits", t);
  }
  gable_krylov_destroy(&k);
  free(c);
}

int main(int argc, char **argv)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.threads = 2;
  ctx = test_place(argc, argv, &options);
  const int host = !strcmp(gable_context_where(ctx), "cpu");
  for (int kind = GABLE_PRECOND_NONE; kind <= (host ? GABLE_PRECOND_ILUT : GABLE_PRECOND_IC0); kind++) {
    check_kind((gable_preconditioner)kind);
    check_columns((gable_preconditioner)kind);
    if (kind != GABLE_PRECOND_NONE && kind != GABLE_PRECOND_IC0) check_pivots((gable_preconditioner)kind);
    for (int s = GABLE_KRYLOV_CG; s <= GABLE_KRYLOV_GMRES; s++)
      check_krylov((gable_krylov_solver)s, (gable_preconditioner)kind);
  }
  for (int kind = GABLE_PRECOND_ILUK; kind <= GABLE_PRECOND_ILUT && !host; kind++) {
    gable_precond_options o = GABLE_PRECOND_OPTIONS_INIT;
    gable_precond *p = NULL;
    o.kind = (gable_preconditioner)kind;
    CHECK(gable_precond_create(ctx, &o, &p) == GABLE_ERR_UNAVAILABLE && !p && strstr(gable_last_error(), "on a CPU"));
  }
  check_phases();
  check_not_finite();
  check_breakdowns();
  for (int s = GABLE_KRYLOV_CG; s <= GABLE_KRYLOV_GMRES && host; s++) check_callbacks((gable_krylov_solver)s);
  check_threads(GABLE_KRYLOV_CG, GABLE_PRECOND_IC0);
  check_threads(GABLE_KRYLOV_CG, GABLE_PRECOND_GS);
  check_threads(GABLE_KRYLOV_BICGSTAB, GABLE_PRECOND_ILU0);
  check_threads(GABLE_KRYLOV_GMRES, GABLE_PRECOND_JACOBI);
  gable_context_destroy(&ctx);
  return 0;
}
