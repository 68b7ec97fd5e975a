/* Vectors of a caller: b and x that share memory are solved in place or refused by every object, and never give a wrong
 * answer; ld = 0 stands for the smallest one. */
#include "support/test.h"

#include "base/random.h"
#include "base/type_size.h"
#include "sparse/vectors.h"
#include "support/systems.h"

enum { N = 23, RHS = 5, SWEEPS = 3, BYTES = 2048 };

static gable_context *ctx;
static gable_solver *solver;
static gable_solver_work *work; /* for fewer columns than RHS */
static gable_trisolve *triangle;
static gable_trisolve_work *triangle_work;
static gable_smoother *smoother;
static gable_krylov *krylov;
static gable_precond *precond;
static gable_precond_work *precond_work;

typedef gable_status call(const gable_vectors_view *b, gable_vectors_view *x);

static gable_status solve(const gable_vectors_view *b, gable_vectors_view *x)
{
  return gable_solver_solve(solver, work, GABLE_OP_N, b, x);
}

static gable_status apply(const gable_vectors_view *b, gable_vectors_view *x)
{
  return gable_solver_apply(solver, work, GABLE_OP_T, GABLE_FACTOR_ALL, b, x);
}

static gable_status apply_l(const gable_vectors_view *b, gable_vectors_view *x)
{
  return gable_solver_apply(solver, work, GABLE_OP_N, GABLE_FACTOR_L, b, x);
}

static gable_status trisolve(const gable_vectors_view *b, gable_vectors_view *x)
{
  return gable_trisolve_solve(triangle, triangle_work, GABLE_OP_N, b, x);
}

static gable_status smooth(const gable_vectors_view *b, gable_vectors_view *x)
{
  return gable_smoother_apply(smoother, b, x, SWEEPS, NULL);
}

static gable_status iterate(const gable_vectors_view *b, gable_vectors_view *x)
{
  return gable_krylov_solve_vectors(krylov, b, x, NULL);
}

static gable_status iterate_plain(const gable_vectors_view *b, gable_vectors_view *x)
{
  return gable_krylov_solve(krylov, b->data, x->data, NULL);
}

static gable_status precondition(const gable_vectors_view *b, gable_vectors_view *x)
{
  return gable_precond_apply(precond, precond_work, b, x);
}

static const struct {
  const char *name;
  call *run;
  int in_place;      /* 1: x may be b */
  gable_idx columns; /* that it takes */
} calls[] = {{"solver_solve", solve, 1, RHS},        {"solver_apply", apply, 1, RHS},
             {"solver_apply of L", apply_l, 1, RHS}, {"trisolve_solve", trisolve, 1, RHS},
             {"smoother_apply", smooth, 0, RHS},     {"krylov_solve_vectors", iterate, 0, 1},
             {"krylov_solve", iterate_plain, 0, 1},  {"precond_apply", precondition, 0, 1}};
enum { CALLS = sizeof calls / sizeof calls[0] };

static void make_objects(const test_system *a)
{
  gable_matrix_view v = test_system_view(a);
  gable_trisolve_options lower = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_krylov_options how = GABLE_KRYLOV_OPTIONS_INIT;
  solver = test_factored(ctx, &v, NULL);
  CHECK_OK(gable_solver_work_create(solver, 2, &work));
  lower.uplo = GABLE_PART_LOWER;
  CHECK_OK(gable_trisolve_create(ctx, &lower, &triangle));
  CHECK_OK(gable_trisolve_analyse(triangle, &v));
  CHECK_OK(gable_trisolve_update(triangle, v.val));
  CHECK_OK(gable_trisolve_work_create(triangle, RHS, &triangle_work));
  CHECK_OK(gable_smoother_create(ctx, NULL, &smoother));
  CHECK_OK(gable_smoother_analyse(smoother, &v));
  CHECK_OK(gable_smoother_update(smoother, v.val));
  how.solver = GABLE_KRYLOV_GMRES;
  CHECK_OK(gable_krylov_create(ctx, &how, &krylov));
  CHECK_OK(gable_krylov_set_matrix(krylov, &v));
  gable_precond_options incomplete = GABLE_PRECOND_OPTIONS_INIT;
  incomplete.kind = GABLE_PRECOND_ILU0;
  CHECK_OK(gable_precond_create(ctx, &incomplete, &precond));
  CHECK_OK(gable_precond_analyse(precond, &v));
  CHECK_OK(gable_precond_update(precond, v.val));
  CHECK_OK(gable_precond_work_create(precond, &precond_work));
}

static void destroy_objects(void)
{
  gable_solver_work_destroy(&work);
  gable_solver_destroy(&solver);
  gable_trisolve_work_destroy(&triangle_work);
  gable_trisolve_destroy(&triangle);
  gable_smoother_destroy(&smoother);
  gable_krylov_destroy(&krylov);
  gable_precond_work_destroy(&precond_work);
  gable_precond_destroy(&precond);
}

static gable_vectors_view view_of(double *data, gable_idx count, gable_major major, gable_off ld)
{
  gable_vectors_view v = test_vectors(N, count, data);
  v.major = major;
  v.ld = ld;
  return v;
}

static double *entry(const gable_vectors_view *v, gable_idx i, gable_idx j)
{
  return (double *)v->data + (v->major == GABLE_MAJOR_COL ? i + j * v->ld : i * v->ld + j);
}

static void fill(const gable_vectors_view *v, double start)
{
  for (gable_idx j = 0; j < v->count; j++)
    for (gable_idx i = 0; i < v->n; i++) *entry(v, i, j) = start == 0 ? 0 : start + (i * 3 + j * 5) % 7;
}

/* Gives call k these views, x's content being 0 unless it is b's; must it be refused, or solve? */
static void try(int k, gable_vectors_view b, gable_vectors_view x, int refused, const char *what)
{
  double reference[N * RHS], right[N * RHS];
  const gable_idx count = b.count;
  gable_vectors_view wanted = view_of(reference, count, GABLE_MAJOR_COL, N),
                     plain = view_of(right, count, GABLE_MAJOR_COL, N);
  fill(&plain, -2.5);
  fill(&wanted, 0);
  CHECK_OK(calls[k].run(&plain, &wanted));
  if (x.data != b.data) fill(&x, 0);
  fill(&b, -2.5);
  const gable_status status = calls[k].run(&b, &x);
  if (refused) {
    CHECK(status == GABLE_ERR_ARGUMENT && strstr(gable_last_error(), "share memory"), "%s, %s: status %d, %s",
          calls[k].name, what, (int)status, gable_last_error());
    return;
  }
  CHECK(status == GABLE_OK, "%s, %s: status %d, %s", calls[k].name, what, (int)status, gable_last_error());
  for (gable_idx j = 0; j < count; j++)
    for (gable_idx i = 0; i < N; i++)
      CHECK(*entry(&x, i, j) == *entry(&wanted, i, j), "%s, %s: x(%d,%d) is %g, not %g", calls[k].name, what, i, j,
            *entry(&x, i, j), *entry(&wanted, i, j));
}

static void shared_memory(int k)
{
  static double data[4 * N * RHS];
  const gable_idx count = calls[k].columns;
  const gable_vectors_view columns = view_of(data, count, GABLE_MAJOR_COL, N),
                           rows = view_of(data, count, GABLE_MAJOR_ROW, count);
  gable_vectors_view later = columns, wide = view_of(data, count, GABLE_MAJOR_COL, N + 1),
                     twice = view_of(data, count, GABLE_MAJOR_COL, 2 * N);
  try(k, columns, columns, !calls[k].in_place, "x is b");
  if (count > 1) {
    try(k, rows, rows, !calls[k].in_place, "x is b, by rows");
    try(k, columns, rows, 1, "x is b by rows");
    try(k, rows, columns, 1, "b is x by rows");
    try(k, columns, wide, 1, "another leading dimension");
    later.data = data + N;
    try(k, columns, later, 1, "x begins at the second column of b");
    try(k, later, columns, 1, "b begins at the second column of x");
  }
  later.data = data + 1;
  try(k, columns, later, 1, "x begins at the second entry of b");
  try(k, later, columns, 1, "b begins at the second entry of x");
  later.data = data + N * count;
  try(k, columns, later, 0, "x begins where b ends");
  later = twice;
  later.data = data + N;
  try(k, twice, later, 0, "columns that alternate");
}

static void smallest_ld(int k)
{
  double b[N * RHS], x[N * RHS], y[N * RHS];
  const gable_idx count = calls[k].columns;
  for (int major = GABLE_MAJOR_COL; major <= GABLE_MAJOR_ROW; major++) {
    const gable_off least = major == GABLE_MAJOR_COL ? N : count;
    gable_vectors_view vb = view_of(b, count, (gable_major)major, least),
                       vx = view_of(x, count, (gable_major)major, least), none = vb, vy = vx;
    fill(&vb, 1);
    fill(&vx, 0);
    none.ld = vy.ld = 0;
    vy.data = y;
    memcpy(y, x, sizeof y);
    CHECK_OK(calls[k].run(&vb, &vx));
    CHECK_OK(calls[k].run(&none, &vy));
    CHECK(!memcmp(x, y, (size_t)(N * count) * sizeof *x), "%s, major %d: ld = 0 gives another answer", calls[k].name,
          major);
    none.ld = -1;
    if (calls[k].run != iterate_plain) CHECK(calls[k].run(&none, &vx) == GABLE_ERR_ARGUMENT, "ld = -1");
    none.ld = least - 1;
    if (calls[k].run != iterate_plain && least > 1)
      CHECK(calls[k].run(&none, &vx) == GABLE_ERR_ARGUMENT, "ld is too small");
  }
}

/* The estimate reads both, and makes a matrix of vectors reads one. */
static void other_readers(void)
{
  double b[N], error, rows[6] = {1, 2, 3, 4, 5, 6};
  gable_vectors_view v = view_of(b, 1, GABLE_MAJOR_COL, 0);
  gable_matrix *a = NULL;
  gable_matrix_view shown = GABLE_MATRIX_VIEW_INIT;
  fill(&v, 1);
  CHECK_OK(gable_solver_forward_error(solver, work, GABLE_OP_N, &v, &v, &error));
  v = view_of(rows, 2, GABLE_MAJOR_ROW, 0);
  v.n = 3;
  CHECK_OK(gable_matrix_from_vectors(ctx, &v, &a));
  CHECK_OK(gable_matrix_get_view(a, &shown));
  const double *val = shown.val;
  CHECK(shown.n_rows == 3 && shown.n_cols == 2 && val[0] == 1 && val[1] == 3 && val[2] == 5 && val[5] == 6);
  gable_matrix_destroy(&a);
}

typedef struct marks {
  unsigned char at[BYTES]; /* bit 1: bytes of b, 2: of x */
} marks;

static size_t offset_of(const gable_vectors_view *v, const char *base, gable_idx i, gable_idx j)
{
  const gable_off k = v->major == GABLE_MAJOR_COL ? i + j * v->ld : i * v->ld + j;
  return (size_t)((const char *)v->data - base) + (size_t)k * gi_type_size(v->type);
}

static size_t mark(const gable_vectors_view *v, const char *base, unsigned char bit, marks *m)
{
  size_t end = 0;
  for (gable_idx j = 0; j < v->count; j++)
    for (gable_idx i = 0; i < v->n; i++) {
      const size_t first = offset_of(v, base, i, j), after = first + gi_type_size(v->type);
      for (size_t q = first; q < after; q++) m->at[q] |= bit;
      if (after > end) end = after;
    }
  return end;
}

static gable_vectors_view random_view(gi_random *r, gable_idx n, gable_idx count, char *base)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.type = gi_random_below(r, 2) ? GABLE_TYPE_D : GABLE_TYPE_S;
  v.major = gi_random_below(r, 2) ? GABLE_MAJOR_COL : GABLE_MAJOR_ROW;
  v.n = n;
  v.count = count;
  v.ld = (v.major == GABLE_MAJOR_COL ? n : count) + (gable_off)gi_random_below(r, 6);
  v.data = base + 4 * gi_random_below(r, 60);
  return v;
}

/* Against bytes marked one by one. */
static void random_pairs(void)
{
  static char base[BYTES];
  static marks m;
  gi_random r = gi_random_seed(7);
  int counted[4] = {0, 0, 0, 0};
  for (int trial = 0; trial < 100000; trial++) {
    const gable_idx n = (gable_idx)gi_random_below(&r, 5), count = (gable_idx)gi_random_below(&r, 5);
    gable_vectors_view b = random_view(&r, n, count, base), x = random_view(&r, n, count, base);
    if (gi_random_below(&r, 2)) x.ld = b.ld, x.type = b.type, x.major = b.major;
    if (!gi_random_below(&r, 4)) x.data = b.data;
    gi_vectors_pair own;
    int share = 0, same = b.type == x.type;
    memset(&m, 0, sizeof m);
    if (x.ld < (x.major == GABLE_MAJOR_COL ? n : count)) continue;
    const size_t b_end = mark(&b, base, 1, &m), x_end = mark(&x, base, 2, &m);
    for (int q = 0; q < BYTES; q++) share |= m.at[q] == 3;
    for (gable_idx i = 0; i < n; i++)
      for (gable_idx j = 0; j < count; j++) same &= offset_of(&b, base, i, j) == offset_of(&x, base, i, j);
    const size_t b_begin = (size_t)((char *)b.data - base), x_begin = (size_t)((char *)x.data - base);
    const int cross = n && count && b_begin < x_end && x_begin < b_end;
    const gable_status apart = gi_vectors_take_pair(&b, &x, n, GABLE_TYPE_S, GI_VECTORS_APART, &own);
    const gable_status place = gi_vectors_take_pair(&b, &x, n, GABLE_TYPE_S, GI_VECTORS_IN_PLACE, &own);
    const int equal = own.b.ld * (gable_off)gi_type_size(b.type) == own.x.ld * (gable_off)gi_type_size(x.type);
    CHECK(apart == GABLE_OK || apart == GABLE_ERR_ARGUMENT);
    if (share) CHECK(apart && (place == GABLE_OK) == same, "trial %d: share memory, same %d", trial, same);
    if (!share && (equal || !cross)) CHECK(!apart && !place, "trial %d: share none: %s", trial, gable_last_error());
    CHECK(share == !!apart || (cross && !equal), "trial %d", trial);
    counted[share ? 1 + same : 3 * cross]++;
    CHECK_OK(gi_vectors_take_pair(&b, &x, n, GABLE_TYPE_S, GI_VECTORS_READ, &own));
  }
  for (int k = 0; k < 4; k++) CHECK(counted[k] > 1000, "case %d came %d times", k, counted[k]);
}

int main(void)
{
  test_system a = test_system_make(TEST_DOMINANT, N, 4);
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  make_objects(&a);
  for (int k = 0; k < CALLS; k++) {
    shared_memory(k);
    smallest_ld(k);
  }
  other_readers();
  random_pairs();
  destroy_objects();
  gable_context_destroy(&ctx);
  test_system_free(&a);
  return 0;
}
