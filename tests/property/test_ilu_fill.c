/* ILU(k) and ILUT beside the algorithms of Saad's book on dense arrays; complete factorizations at their ends; what a
 * preconditioner does with them: new values, an old work, fewer iterations; and what is wrong. */
#include "base/random.h"
#include "kernels/krylov/incomplete.h"
#include "precond/ilu_fill.h"
#include "support/failing_allocator.h"
#include "support/test.h"

enum { N = 60 };

static gable_context *ctx;

typedef struct sample {
  gable_off ptr[N + 1];
  gable_idx idx[N * N];
  double val[N * N];
  gi_csc rows;
} sample;

/* Random, unsymmetric, with a diagonal that dominates a little; without: -1 or a row that has no diagonal entry. */
static void make(sample *a, double density, int without, uint64_t seed)
{
  gi_random r = gi_random_seed(seed);
  gable_off q = 0;
  for (gable_idx i = 0; i < N; i++) {
    a->ptr[i] = q;
    for (gable_idx j = 0; j < N; j++) {
      const double chance = gi_random_unit(&r), value = gi_random_unit(&r) - 0.5;
      if (i == j ? i == without : chance > density) continue;
      a->idx[q] = j;
      a->val[q++] = i == j ? 2 + value : value;
    }
  }
  a->ptr[N] = q;
  a->rows = (gi_csc){.n_rows = N, .n_cols = N, .ptr = a->ptr, .idx = a->idx, .val = a->val};
}

static void to_dense(const sample *a, double *dense)
{
  memset(dense, 0, sizeof *dense * N * N);
  for (gable_idx i = 0; i < N; i++)
    for (gable_off p = a->ptr[i]; p < a->ptr[i + 1]; p++) dense[i * N + a->idx[p]] = a->val[p];
}

/* ILU(p), algorithm 10.5: *lev [N*N] the levels, *f the factors, 0 where the level is above p. */
static void dense_iluk(const sample *a, int level, int *lev, double *f)
{
  to_dense(a, f);
  for (int k = 0; k < N * N; k++) lev[k] = 2 * N;
  for (gable_idx i = 0; i < N; i++) {
    lev[i * N + i] = 0;
    for (gable_off p = a->ptr[i]; p < a->ptr[i + 1]; p++) lev[i * N + a->idx[p]] = 0;
  }
  for (gable_idx i = 1; i < N; i++) {
    double *row = f + i * N;
    int *l = lev + i * N;
    for (gable_idx k = 0; k < i; k++) {
      if (l[k] > level) continue;
      row[k] /= f[k * N + k];
      for (gable_idx j = k + 1; j < N; j++) {
        row[j] -= row[k] * f[k * N + j];
        if (lev[k * N + j] <= level && l[k] + lev[k * N + j] + 1 < l[j]) l[j] = l[k] + lev[k * N + j] + 1;
      }
    }
    for (gable_idx j = 0; j < N; j++)
      if (l[j] > level) row[j] = 0;
  }
}

/* f has exactly the entries of keep, in order, with their values. */
static void compare(const gi_csc *f, const double *values, const unsigned char *keep, const char *what)
{
  for (gable_idx i = 0; i < N; i++) {
    gable_off q = f->ptr[i];
    for (gable_idx j = 0; j < N; j++) {
      if (!keep[i * N + j]) continue;
      CHECK(q < f->ptr[i + 1] && f->idx[q] == j, "%s: row %d lacks column %d", what, i, j);
      CHECK(fabs(f->val[q] - values[i * N + j]) <= 1e-12 * (1 + fabs(values[i * N + j])), "%s: (%d,%d) is %g, not %g",
            what, i, j, f->val[q], values[i * N + j]);
      q++;
    }
    CHECK(q == f->ptr[i + 1], "%s: row %d has more columns than it should", what, i);
  }
}

static void factor_in_pattern(const gi_csc *f)
{
  const gik_rows rows = {.n = N, .idx = f->idx, .val = f->val, .value_type = GABLE_TYPE_D};
  unsigned scratch[2 * N];
  int fault = GIK_NO_ROW;
  CHECK(gik_incomplete_factors_cpu.bytes_a_row * N <= sizeof scratch, "scratch");
  for (gable_idx i = 0; i < N; i++) /* a row a part */
    CHECK_OK(gik_incomplete_factors_cpu.ilu0(&(gik_incomplete){
        .a = &rows, .wide = f->ptr, .factor = f->val, .first = i, .last = i + 1, .scratch = scratch, .fault = &fault}));
  CHECK(fault == GIK_NO_ROW, "row %d", fault);
}

static void check_iluk(void)
{
  static sample a;
  static int lev[N * N];
  static double dense[N * N];
  static unsigned char keep[N * N];
  for (int level = 0; level <= 5; level++)
    for (int pass = 0; pass < 4; pass++) {
      gi_csc f = {0};
      gable_off place[N * N];
      make(&a, pass < 2 ? 0.03 : 0.08, -1, (uint64_t)(7 * level + pass));
      dense_iluk(&a, level, lev, dense);
      for (int k = 0; k < N * N; k++) keep[k] = lev[k] <= level;
      CHECK_OK(gi_iluk_pattern(ctx, &a.rows, level, &f));
      f.val = calloc((size_t)f.ptr[N] + 1, sizeof *f.val);
      gi_iluk_places(&a.rows, &f, place);
      for (gable_off p = 0; p < a.ptr[N]; p++) f.val[place[p]] = a.val[p];
      factor_in_pattern(&f);
      compare(&f, dense, keep, "ILU(k)");
      free(f.val);
      f.val = NULL;
      gi_csc_release(ctx, &f);
    }
}

/* ILUT, algorithm 10.6, with its rules: small ones out of the row as they are made, small ones out of the finished row,
 * and the row_fill largest on either side. */
static void dense_ilut(const sample *a, double drop, int row_fill, double *f, unsigned char *keep)
{
  to_dense(a, f);
  memset(keep, 0, N * N);
  for (gable_idx i = 0; i < N; i++) {
    double *row = f + i * N, norm = 0;
    unsigned char in[N] = {0};
    for (gable_off p = a->ptr[i]; p < a->ptr[i + 1]; p++) {
      norm += a->val[p] * a->val[p];
      in[a->idx[p]] = 1;
    }
    const double least = drop * sqrt(norm);
    for (gable_idx k = 0; k < i; k++) {
      if (!in[k]) continue;
      row[k] /= f[k * N + k];
      in[k] = fabs(row[k]) >= least;
      if (!in[k]) continue;
      for (gable_idx j = k + 1; j < N; j++) {
        if (!keep[k * N + j]) continue;
        row[j] -= row[k] * f[k * N + j];
        in[j] = 1;
      }
    }
    keep[i * N + i] = 1;
    for (int side = 0; side < 2; side++)
      for (int taken = 0; taken < row_fill; taken++) {
        gable_idx best = -1;
        for (gable_idx j = side ? i + 1 : 0; j < (side ? N : i); j++)
          if (in[j] && fabs(row[j]) >= least && !keep[i * N + j] && (best < 0 || fabs(row[j]) > fabs(row[best])))
            best = j;
        if (best >= 0) keep[i * N + best] = 1;
      }
    for (gable_idx j = 0; j < N; j++)
      if (!keep[i * N + j]) row[j] = 0;
  }
}

static void check_ilut(void)
{
  static const double drops[] = {0, 1e-4, 1e-2, 0.1, 2};
  static const int fills[] = {0, 1, 3, 8, N};
  static sample a;
  static double dense[N * N];
  static unsigned char keep[N * N];
  for (int d = 0; d < 5; d++)
    for (int m = 0; m < 5; m++)
      for (int pass = 0; pass < 3; pass++) {
        gi_csc f = {0};
        make(&a, 0.02 + 0.05 * pass, -1, (uint64_t)(100 + 15 * d + 3 * m + pass));
        if (pass == 2)
          for (gable_off p = 0; p < a.ptr[N]; p++) a.val[p] = a.val[p] > 1 ? 2 : a.val[p] > 0 ? 0.25 : -0.25; /* ties */
        dense_ilut(&a, drops[d], fills[m], dense, keep);
        CHECK_OK(gi_ilut(ctx, &a.rows, drops[d], fills[m], &f));
        compare(&f, dense, keep, "ILUT");
        gi_csc_release(ctx, &f);
      }
}

/* All levels, or nothing dropped: L U = A. */
static void check_complete(const gi_csc *f, const sample *a)
{
  static double product[N * N], dense[N * N];
  memset(product, 0, sizeof product);
  to_dense(a, dense);
  for (gable_idx i = 0; i < N; i++)
    for (gable_off p = f->ptr[i]; p < f->ptr[i + 1]; p++) {
      const gable_idx k = f->idx[p];
      if (k >= i) product[i * N + k] += f->val[p];
      for (gable_off q = f->ptr[k]; q < f->ptr[k + 1] && k < i; q++)
        if (f->idx[q] >= k) product[i * N + f->idx[q]] += f->val[p] * f->val[q];
    }
  for (int k = 0; k < N * N; k++)
    CHECK(fabs(product[k] - dense[k]) <= 1e-11, "(%d,%d): %g, not %g", k / N, k % N, product[k], dense[k]);
}

static void check_ends(void)
{
  static sample a;
  gi_csc full = {0}, none = {0}, t = {0};
  gable_off place[N * N];
  make(&a, 0.1, -1, 5);
  CHECK_OK(gi_iluk_pattern(ctx, &a.rows, N, &full));
  full.val = calloc((size_t)full.ptr[N], sizeof *full.val);
  gi_iluk_places(&a.rows, &full, place);
  for (gable_off p = 0; p < a.ptr[N]; p++) full.val[place[p]] = a.val[p];
  factor_in_pattern(&full);
  check_complete(&full, &a);
  CHECK_OK(gi_ilut(ctx, &a.rows, 0, N, &t));
  check_complete(&t, &a);
  CHECK_OK(gi_iluk_pattern(ctx, &a.rows, 0, &none));
  CHECK(none.ptr[N] == a.ptr[N] && !memcmp(none.idx, a.idx, sizeof *a.idx * (size_t)a.ptr[N]), "ILU(0) has fill");
  free(full.val);
  full.val = NULL;
  gi_csc_release(ctx, &full);
  gi_csc_release(ctx, &none);
  gi_csc_release(ctx, &t);
}

static gable_matrix_view view_of(const sample *a)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = N;
  v.ptr = a->ptr;
  v.idx = a->idx;
  v.val = a->val;
  return v;
}

static gable_precond *precond(gable_preconditioner kind, const sample *a)
{
  gable_precond_options o = GABLE_PRECOND_OPTIONS_INIT;
  const gable_matrix_view v = view_of(a);
  gable_precond *p = NULL;
  o.kind = kind;
  o.level = N; /* complete, */
  o.drop = 0;  /* both: z = A^-1 r */
  o.row_fill = N;
  CHECK_OK(gable_precond_create(ctx, &o, &p));
  CHECK_OK(gable_precond_analyse(p, &v));
  CHECK_OK(gable_precond_update(p, a->val));
  return p;
}

/* A z = r. */
static void check_apply(const gable_precond *p, gable_precond_work *w, const sample *a)
{
  double r[N], z[N];
  gable_vectors_view vr = GABLE_VECTORS_VIEW_INIT, vz;
  for (gable_idx i = 0; i < N; i++) r[i] = 1 + i % 5;
  vr.n = N;
  vz = vr;
  vr.data = r;
  vz.data = z;
  CHECK_OK(gable_precond_apply(p, w, &vr, &vz));
  for (gable_idx i = 0; i < N; i++) {
    double sum = 0;
    for (gable_off q = a->ptr[i]; q < a->ptr[i + 1]; q++) sum += a->val[q] * z[a->idx[q]];
    CHECK(fabs(sum - r[i]) <= 1e-10, "row %d: %g, not %g", i, sum, r[i]);
  }
}

/* The work of before new values, whose pattern ILUT finds anew. */
static void check_object(gable_preconditioner kind)
{
  static sample a;
  gable_precond_info info = GABLE_PRECOND_INFO_INIT;
  gable_precond_work *w = NULL;
  make(&a, 0.1, -1, 9);
  gable_precond *p = precond(kind, &a);
  CHECK_OK(gable_precond_work_create(p, &w));
  check_apply(p, w, &a);
  CHECK_OK(gable_precond_get_info(p, &info));
  const gable_off before = info.nnz;
  CHECK(before > a.ptr[N] && before <= N * N && info.method_used[0], "%lld entries", (long long)before);
  for (gable_off q = 0; q < a.ptr[N]; q++) a.val[q] *= a.val[q] > 1 ? 1.5 : -1.25;
  CHECK_OK(gable_precond_update(p, a.val));
  check_apply(p, w, &a);
  for (gable_idx i = 0; i < N; i++) /* the last row has nothing left of the diagonal any more, so no fill */
    for (gable_off q = a.ptr[i]; q < a.ptr[i + 1]; q++)
      if (i == N - 1 && a.idx[q] < i) a.val[q] = 0;
  CHECK_OK(gable_precond_update(p, a.val));
  check_apply(p, w, &a);
  const double held = a.val[0];
  a.val[0] = 0; /* the first pivot */
  CHECK(gable_precond_update(p, a.val) == GABLE_ERR_SINGULAR, "%s", gable_last_error());
  CHECK(strstr(gable_last_error(), "the pivot of row 0 (counted from 0) is 0"), "%s", gable_last_error());
  a.val[0] = held;
  CHECK_OK(gable_precond_update(p, a.val));
  check_apply(p, w, &a);
  gable_precond_work_destroy(&w);
  gable_precond_destroy(&p);

  for (uint64_t seed = 1; seed <= 3; seed++) { /* fill makes the diagonal entry that row N-1 lacks */
    make(&a, 0.3, N - 1, seed);
    p = precond(kind, &a);
    CHECK_OK(gable_precond_work_create(p, &w));
    check_apply(p, w, &a);
    gable_precond_work_destroy(&w);
    gable_precond_destroy(&p);
  }
}

/* Scratch belongs to an analysis of the triangular solves: an apply after an update of ILUT makes it anew, no other one
 * takes memory. */
static void check_scratch(void)
{
  static sample a;
  gable_context *outer = ctx;
  failing_allocator memory = failing_allocator_init();
  gable_context_options options = failing_allocator_options(&memory);
  gable_precond_work *w = NULL;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  make(&a, 0.1, -1, 9);
  for (int kind = GABLE_PRECOND_ILUK; kind <= GABLE_PRECOND_ILUT; kind++) {
    gable_precond *p = precond((gable_preconditioner)kind, &a);
    CHECK_OK(gable_precond_work_create(p, &w));
    long before = atomic_load(&memory.count);
    check_apply(p, w, &a);
    CHECK(atomic_load(&memory.count) == before, "an apply allocates");
    CHECK_OK(gable_precond_update(p, a.val));
    before = atomic_load(&memory.count);
    check_apply(p, w, &a);
    CHECK((atomic_load(&memory.count) > before) == (kind == GABLE_PRECOND_ILUT), "the scratch of an earlier analysis");
    before = atomic_load(&memory.count);
    check_apply(p, w, &a);
    CHECK(atomic_load(&memory.count) == before, "an apply allocates");
    gable_precond_work_destroy(&w);
    gable_precond_destroy(&p);
  }
  gable_context_destroy(&ctx);
  CHECK(!atomic_load(&memory.live));
  ctx = outer;
}

static void refused(gable_precond_options o, const char *text)
{
  gable_precond *p = NULL;
  CHECK(gable_precond_create(ctx, &o, &p) == GABLE_ERR_ARGUMENT && !p && strstr(gable_last_error(), text), "%s",
        gable_last_error());
}

static void check_options(void)
{
  gable_precond_options o = GABLE_PRECOND_OPTIONS_INIT, bad;
  bad = o, bad.level = -1;
  refused(bad, "level is -1");
  bad = o, bad.drop = -0.5;
  refused(bad, "drop is -0.5");
  bad = o, bad.drop = NAN;
  refused(bad, "drop is nan");
  bad = o, bad.row_fill = -1;
  refused(bad, "row_fill is -1");
}

/* A grid with wind: more fill, fewer iterations; and AUTO does not take CG with ILUT. */
static void check_iterations(void)
{
  gable_matrix *half = NULL, *a = NULL;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  int count[5], k = 0;
  static const struct {
    gable_preconditioner kind;
    gable_idx level;
    double drop;
  } how[] = {{GABLE_PRECOND_ILU0, 0, 0},
             {GABLE_PRECOND_ILUK, 1, 0},
             {GABLE_PRECOND_ILUK, 3, 0},
             {GABLE_PRECOND_ILUT, 0, 1e-2},
             {GABLE_PRECOND_ILUT, 0, 1e-4}};
  CHECK_OK(gable_matrix_generate(ctx, "laplacian5:60x60", 1, &half));
  CHECK_OK(gable_matrix_expand(half, &a));
  CHECK_OK(gable_matrix_get_view(a, &v));
  double *b = malloc(sizeof *b * (size_t)v.n_rows), *x = malloc(sizeof *x * (size_t)v.n_rows);
  for (k = 0; k < 5; k++) {
    gable_krylov_options o = GABLE_KRYLOV_OPTIONS_INIT;
    gable_krylov_info info = GABLE_KRYLOV_INFO_INIT;
    gable_krylov *s = NULL;
    o.preconditioner = how[k].kind;
    o.level = how[k].level;
    o.drop = how[k].drop;
    o.solver = GABLE_KRYLOV_BICGSTAB;
    CHECK_OK(gable_krylov_create(ctx, &o, &s));
    CHECK_OK(gable_krylov_set_matrix(s, &v));
    for (gable_idx i = 0; i < v.n_rows; i++) b[i] = 1 + i % 3, x[i] = 0;
    CHECK_OK(gable_krylov_solve(s, b, x, NULL));
    CHECK_OK(gable_krylov_update(s, v.val)); /* and the solver's own work serves again */
    for (gable_idx i = 0; i < v.n_rows; i++) x[i] = 0;
    CHECK_OK(gable_krylov_solve(s, b, x, NULL));
    CHECK_OK(gable_krylov_get_info(s, &info));
    count[k] = info.iterations;
    gable_krylov_destroy(&s);
  }
  CHECK(count[1] < count[0] && count[2] < count[1] && 2 * count[2] <= count[0], "ILU(0) %d, (1) %d, (3) %d", count[0],
        count[1], count[2]);
  CHECK(count[4] < count[3] && count[3] < count[0], "ILUT(1e-2) %d, (1e-4) %d, ILU(0) %d", count[3], count[4],
        count[0]);
  for (int kind = GABLE_PRECOND_ILUK; kind <= GABLE_PRECOND_ILUT; kind++) {
    gable_krylov_options o = GABLE_KRYLOV_OPTIONS_INIT;
    gable_krylov_info info = GABLE_KRYLOV_INFO_INIT;
    gable_krylov *s = NULL;
    o.preconditioner = (gable_preconditioner)kind;
    CHECK_OK(gable_krylov_create(ctx, &o, &s));
    CHECK_OK(gable_krylov_set_matrix(s, &v));
    CHECK_OK(gable_krylov_get_info(s, &info));
    CHECK(info.solver == (kind == GABLE_PRECOND_ILUK ? GABLE_KRYLOV_CG : GABLE_KRYLOV_BICGSTAB));
    gable_krylov_destroy(&s);
  }
  free(b);
  free(x);
  gable_matrix_destroy(&half);
  gable_matrix_destroy(&a);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  check_iluk();
  check_ilut();
  check_ends();
  check_object(GABLE_PRECOND_ILUK);
  check_object(GABLE_PRECOND_ILUT);
  check_scratch();
  check_options();
  check_iterations();
  gable_context_destroy(&ctx);
  return 0;
}
