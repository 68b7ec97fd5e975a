/* Factors out of a solver and into another: the columns multiply to the permuted and scaled matrix, a solver that
 * imports them solves as the first one, and what is no factorization is refused.  The oracle is the product itself,
 * column by column. */
#include <unistd.h>

#include "support/test.h"

#include "base/random.h"
#include "support/systems.h"

static gable_context *ctx;

static void fill(double *b, gable_idx n, uint64_t seed)
{
  gi_random r = gi_random_seed(seed);
  for (gable_idx k = 0; k < n; k++) b[k] = 2 * gi_random_unit(&r) - 1;
}

static int64_t integer_of(const gable_solver *s, gable_solver_key key)
{
  int64_t value = -1;
  CHECK_OK(gable_solver_get(s, key, &value, sizeof value));
  return value;
}

static gable_solver *factored(const gable_matrix_view *v, gable_type type, gable_method method, gable_choice match)
{
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.factor_type = type;
  options.method = method;
  options.match = match;
  return test_factored(ctx, v, &options);
}

/* sum += factor a(:,j), size += |that|. */
static void add_column(const gable_matrix_view *a, gable_idx j, double factor, double *sum, double *size)
{
  const int64_t *ptr = a->ptr;
  const double *val = a->val;
  for (int64_t q = ptr[j]; q < ptr[j + 1]; q++) {
    sum[a->idx[q]] += factor * val[q];
    size[a->idx[q]] += fabs(factor * val[q]);
  }
}

/* A' - L U - F, column by column, against what rounding may leave of |L||U| + |F| + |A'|, and, in float, underflow.
 * whole: the largest magnitude of what rounding erred by otherwise: of an L D L^T, whose own terms may cancel in L U.
 */
static void check_identity(const char *name, const gable_factors_view *f, const test_system *a, gable_type type,
                           double whole)
{
  const double eps = type == GABLE_TYPE_S ? 0x1p-24 : 0x1p-53, tiny = type == GABLE_TYPE_S ? 0x1p-110 : 0;
  const size_t n = (size_t)f->n;
  double *sum = calloc(n + 1, sizeof *sum), *size = calloc(n + 1, sizeof *size);
  gable_idx *place = malloc(n * sizeof *place + 1);
  gable_matrix *l = NULL, *lt = NULL;
  gable_matrix_view u = GABLE_MATRIX_VIEW_INIT;
  if (f->u) {
    u = *f->u;
  } else {
    CHECK_OK(gable_matrix_from_view(ctx, f->l, &l));
    CHECK_OK(gable_matrix_transpose(l, &lt));
    CHECK_OK(gable_matrix_get_view(lt, &u));
  }
  for (gable_idx i = 0; i < f->n; i++) place[f->row_order[i]] = i;
  for (gable_idx j = 0; j < f->n; j++) {
    const int64_t *ptr = u.ptr;
    const gable_idx c = f->col_order[j];
    memset(sum, 0, n * sizeof *sum);
    memset(size, 0, n * sizeof *size);
    for (int64_t q = ptr[j]; q < ptr[j + 1]; q++) add_column(f->l, u.idx[q], ((const double *)u.val)[q], sum, size);
    if (f->f) add_column(f->f, j, 1, sum, size);
    for (int64_t q = a->ptr[c]; q < a->ptr[c + 1]; q++) {
      const gable_idx i = a->idx[q];
      const double v = f->row_scale[i] * a->val[q] * f->col_scale[c];
      sum[place[i]] -= v;
      size[place[i]] += fabs(v);
    }
    for (gable_idx i = 0; i < f->n; i++)
      CHECK(fabs(sum[i]) <= 4 * (f->n + 4) * (eps * (size[i] + whole) + tiny), "%s n %d: entry (%d,%d) off by %g of %g",
            name, f->n, i, j, sum[i], size[i]);
  }
  gable_matrix_destroy(&l);
  gable_matrix_destroy(&lt);
  free(sum);
  free(size);
  free(place);
}

static double sweep_error(const gable_solver *s, const test_system *a, gable_op op, const double *b, double *x)
{
  gable_solver_work *w = NULL;
  gable_vectors_view vb = test_vectors(a->n, 1, (double *)(uintptr_t)b), vx = test_vectors(a->n, 1, x);
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  memset(x, 0xff, (size_t)a->n * sizeof *x);
  CHECK_OK(gable_solver_apply(s, w, op, GABLE_FACTOR_ALL, &vb, &vx));
  gable_solver_work_destroy(&w);
  return test_backward_error(a, op, b, x);
}

static gable_solve_report solve(const gable_solver *s, gable_idx n, gable_op op, const double *b, double *x)
{
  gable_solver_work *w = NULL;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  gable_vectors_view vb = test_vectors(n, 1, (double *)(uintptr_t)b), vx = test_vectors(n, 1, x);
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  memset(x, 0xff, (size_t)n * sizeof *x);
  CHECK_OK(gable_solver_solve(s, w, op, &vb, &vx));
  CHECK_OK(gable_solver_work_report(w, &report));
  gable_solver_work_destroy(&w);
  return report;
}

/* own: the solver that the factors came from. */
static void check_round_trip(const char *name, const gable_solver *own, const gable_factors_view *f,
                             const test_system *a, gable_type type)
{
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver *plain = NULL, *refined = NULL;
  gable_matrix_view v = test_system_view(a);
  const size_t bytes = (size_t)a->n * sizeof(double) + 1;
  double *b = malloc(bytes), *x = malloc(bytes), *y = malloc(bytes), log_abs[2];
  options.factor_type = type;
  CHECK_OK(gable_solver_create(ctx, &options, &plain));
  CHECK_OK(gable_solver_create(ctx, &options, &refined));
  CHECK_OK(gable_solver_import(plain, f, NULL));
  CHECK_OK(gable_solver_import(refined, f, &v));
  fill(b, a->n, 9);
  for (int op = 0; op < 2; op++) {
    const double ours = sweep_error(own, a, (gable_op)op, b, x), theirs = sweep_error(plain, a, (gable_op)op, b, y);
    CHECK(theirs <= 1e-13 + 1000 * ours, "%s n %d op %d: backward error %g, of the first factor %g", name, a->n, op,
          theirs, ours);
    const gable_solve_report without = solve(plain, a->n, (gable_op)op, b, x);
    CHECK(!memcmp(x, y, (size_t)a->n * sizeof *x), "%s: a solve without a matrix is a sweep", name);
    CHECK(isnan(without.backward_error) && without.refine_steps == 0);
    const gable_solve_report with = solve(refined, a->n, (gable_op)op, b, x);
    CHECK(with.backward_error <= 1e-12, "%s n %d op %d: %g", name, a->n, op, with.backward_error);
  }
  CHECK_OK(gable_solver_get(own, GABLE_SOLVER_LOG_ABS_DETERMINANT, log_abs, sizeof *log_abs));
  CHECK_OK(gable_solver_get(plain, GABLE_SOLVER_LOG_ABS_DETERMINANT, log_abs + 1, sizeof *log_abs));
  CHECK(fabs(log_abs[0] - log_abs[1]) <= (type == GABLE_TYPE_S ? 1e-5 : 1e-8) * (1 + fabs(log_abs[0])), "%s: %g, %g",
        name, log_abs[0], log_abs[1]);
  CHECK(integer_of(own, GABLE_SOLVER_SIGN_DETERMINANT) == integer_of(plain, GABLE_SOLVER_SIGN_DETERMINANT));
  gable_solver_destroy(&plain);
  gable_solver_destroy(&refined);
  free(b);
  free(x);
  free(y);
}

static int with_f, with_l_alone, with_ldlt;

static void check_system(const char *name, const test_system *a, gable_type type, gable_method method,
                         gable_choice match)
{
  gable_matrix_view v = test_system_view(a);
  gable_solver *s = factored(&v, type, method, match);
  double growth;
  gable_factors *f = NULL;
  gable_factors_view view = GABLE_FACTORS_VIEW_INIT;
  CHECK_OK(gable_solver_export(s, &f));
  CHECK_OK(gable_factors_get_view(f, &view));
  CHECK(view.n == a->n && !view.u == (integer_of(s, GABLE_SOLVER_METHOD) == GABLE_METHOD_CHOLESKY));
  with_f += view.f != NULL;
  with_l_alone += !view.u;
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_GROWTH, &growth, sizeof growth));
  const int ldlt = integer_of(s, GABLE_SOLVER_METHOD) == GABLE_METHOD_LDLT;
  with_ldlt += ldlt;
  if (integer_of(s, GABLE_SOLVER_PERTURBED_PIVOTS) == 0) check_identity(name, &view, a, type, ldlt ? growth : 0);
  check_round_trip(name, s, &view, a, type);
  gable_factors_destroy(&f);
  gable_solver_destroy(&s);
}

static void check_file(const char *path)
{
  gable_matrix *a = NULL, *whole = NULL;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  if (gable_matrix_read(ctx, path, NULL, &a)) {
    printf("left out: %s\n", gable_last_error());
    return;
  }
  CHECK_OK(gable_matrix_expand(a, &whole));
  CHECK_OK(gable_matrix_get_view(whole, &v));
  test_system t = {v.n_cols, (int64_t *)(uintptr_t)v.ptr, (gable_idx *)(uintptr_t)v.idx, (double *)(uintptr_t)v.val};
  check_system(path, &t, GABLE_TYPE_D, GABLE_METHOD_AUTO, GABLE_CHOICE_AUTO);
  gable_matrix_destroy(&a);
  gable_matrix_destroy(&whole);
}

/* L = [1 . .; .5 1 .; . . 1], U = [2 1 .; . 4 .; . . 8], F = [. . 3; . . 5; . . .] in two blocks, with everything else
 * that a caller may do to them. */
typedef struct by_hand {
  gable_factors_view view;
  int64_t lp[4], fp[4];
  int32_t up[4];
  gable_idx li[4], ui[4], fi[2], rows[3], cols[3];
  double lv[4], fv[2], r[3], c[3];
  float uv[4];
  gable_matrix_view l, u, f;
} by_hand;

static gable_matrix_view square(gable_format format, int base, const void *ptr, const gable_idx *idx, const void *val)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = 3;
  v.format = format;
  v.base = base;
  v.ptr = ptr;
  v.idx = idx;
  v.val = val;
  return v;
}

/* L by rows, U in floats with 32-bit offsets from 1, F by columns. */
static by_hand *make_by_hand(void)
{
  by_hand *h = malloc(sizeof *h);
  *h = (by_hand){.view = GABLE_FACTORS_VIEW_INIT,
                 .lp = {0, 1, 3, 4},
                 .li = {0, 0, 1, 2},
                 .lv = {1, 0.5, 1, 1},
                 .up = {1, 2, 4, 5},
                 .ui = {1, 1, 2, 3},
                 .uv = {2, 1, 4, 8},
                 .fp = {0, 0, 0, 2},
                 .fi = {0, 1},
                 .fv = {3, 5},
                 .rows = {2, 0, 1},
                 .cols = {1, 2, 0},
                 .r = {2, -1, 0.5},
                 .c = {1, 4, -0.25}};
  h->view.n = 3;
  h->l = square(GABLE_FORMAT_CSR, 0, h->lp, h->li, h->lv);
  h->u = square(GABLE_FORMAT_CSC, 1, h->up, h->ui, h->uv);
  h->u.offset_type = GABLE_TYPE_I32;
  h->u.value_type = GABLE_TYPE_S;
  h->f = square(GABLE_FORMAT_CSC, 0, h->fp, h->fi, h->fv);
  h->view.l = &h->l;
  h->view.u = &h->u;
  h->view.f = &h->f;
  h->view.row_order = h->rows;
  h->view.col_order = h->cols;
  h->view.row_scale = h->r;
  h->view.col_scale = h->c;
  return h;
}

static void check_by_hand(void)
{
  static const double product[3][3] = {{2, 1, 3}, {1, 4.5, 5}, {0, 0, 8}}; /* L U + F */
  by_hand *h = make_by_hand();
  gable_solver *s = NULL;
  double a[3][3], x[3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) a[h->rows[i]][h->cols[j]] = product[i][j] / h->r[h->rows[i]] / h->c[h->cols[j]];
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_import(s, &h->view, NULL));
  CHECK(integer_of(s, GABLE_SOLVER_BLOCKS) == 2 && integer_of(s, GABLE_SOLVER_MATCHED) == 3);
  for (int op = 0; op < 2; op++) {
    double b[3] = {0};
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) b[i] += (op == GABLE_OP_N ? a[i][j] : a[j][i]) * (j + 1);
    solve(s, 3, (gable_op)op, b, x);
    for (int i = 0; i < 3; i++) CHECK(fabs(x[i] - (i + 1)) <= 1e-14, "op %d: x[%d] = %.17g", op, i, x[i]);
  }
  double det = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
               a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
  CHECK(integer_of(s, GABLE_SOLVER_SIGN_DETERMINANT) == (det > 0 ? 1 : -1));
  gable_solver_destroy(&s);
  free(h);
}

/* Without a matrix, what needs one says so; a factorization of it must be analysed first. */
static void check_states(void)
{
  by_hand *h = make_by_hand();
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  gable_factors *f = NULL;
  int64_t value;
  double rcond;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK(gable_solver_export(s, &f) == GABLE_ERR_STATE && !f);
  CHECK_OK(gable_solver_import(s, &h->view, NULL));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  CHECK(gable_solver_rcond(s, w, &rcond) == GABLE_ERR_STATE);
  CHECK(gable_solver_save(s, "/nowhere/at/all") == GABLE_ERR_STATE);
  CHECK(gable_solver_get(s, GABLE_SOLVER_NNZ, &value, sizeof value) == GABLE_ERR_STATE);
  CHECK(integer_of(s, GABLE_SOLVER_MEMORY) > 0);
  for (int reuse = 0; reuse <= GABLE_REUSE_ALL; reuse++)
    CHECK(gable_solver_factor(s, h->fv, (gable_reuse)reuse) == GABLE_ERR_STATE);
  double b[3] = {1, 2, 3}, x[3];
  solve(s, 3, GABLE_OP_N, b, x); /* still there */
  gable_solver_work_destroy(&w);
  test_system a = test_system_make(TEST_DOMINANT, 20, 1);
  gable_matrix_view v = test_system_view(&a);
  CHECK(gable_solver_import(s, &h->view, &v) == GABLE_ERR_ARGUMENT); /* of another size */
  CHECK(gable_solver_work_create(s, 1, &w) == GABLE_ERR_STATE);      /* and nothing is left */
  CHECK_OK(gable_solver_analyse(s, &v));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_ALL));
  CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ALL));
  gable_solver_destroy(&s);
  test_system_free(&a);
  free(h);
}

/* Saved with their matrix and loaded again, imported factors are imported factors still. */
static void check_saved(void)
{
  char path[] = "/tmp/gable_factors_XXXXXX";
  const int fd = mkstemp(path);
  test_system a = test_system_make(TEST_REDUCIBLE, 50, 2);
  gable_matrix_view v = test_system_view(&a);
  gable_solver *own = factored(&v, GABLE_TYPE_D, GABLE_METHOD_AUTO, GABLE_CHOICE_AUTO), *s = NULL, *loaded = NULL;
  gable_factors *f = NULL;
  gable_factors_view view = GABLE_FACTORS_VIEW_INIT;
  double b[50], x[50], y[50];
  CHECK(fd >= 0);
  close(fd);
  CHECK_OK(gable_solver_export(own, &f));
  CHECK_OK(gable_factors_get_view(f, &view));
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_create(ctx, NULL, &loaded));
  CHECK_OK(gable_solver_import(s, &view, &v));
  CHECK_OK(gable_solver_save(s, path));
  CHECK_OK(gable_solver_load(loaded, &v, path));
  unlink(path);
  fill(b, a.n, 3);
  solve(s, a.n, GABLE_OP_T, b, x);
  solve(loaded, a.n, GABLE_OP_T, b, y);
  CHECK(!memcmp(x, y, sizeof x), "other bits after loading");
  CHECK(gable_solver_factor(loaded, NULL, GABLE_REUSE_ALL) == GABLE_ERR_STATE);
  gable_factors_destroy(&f);
  gable_solver_destroy(&own);
  gable_solver_destroy(&s);
  gable_solver_destroy(&loaded);
  test_system_free(&a);
}

static by_hand *changed;

static void expect(gable_status wanted, const char *what)
{
  gable_solver *s = NULL;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  gable_status status = gable_solver_import(s, &changed->view, NULL);
  CHECK(status == wanted, "%s: status %d: %s", what, (int)status, status ? gable_last_error() : "");
  gable_solver_destroy(&s);
  free(changed);
  changed = make_by_hand();
}

static void check_refusals(void)
{
  changed = make_by_hand();
  expect(GABLE_OK, "nothing");
#define REFUSED(status, ...)                                                                                           \
  do {                                                                                                                 \
    __VA_ARGS__;                                                                                                       \
    expect(status, #__VA_ARGS__);                                                                                      \
  } while (0)
  REFUSED(GABLE_ERR_ARGUMENT, changed->view.size = 8);
  REFUSED(GABLE_ERR_ARGUMENT, changed->view.n = 2);
  REFUSED(GABLE_ERR_ARGUMENT, changed->view.n = -1);
  REFUSED(GABLE_ERR_ARGUMENT, changed->l.n_cols = 2);
  REFUSED(GABLE_ERR_ARGUMENT, changed->f.size = 1);
  REFUSED(GABLE_ERR_ARGUMENT, changed->l.val = NULL);
  REFUSED(GABLE_ERR_ARGUMENT, changed->l.ptr = NULL);
  REFUSED(GABLE_ERR_UNAVAILABLE, changed->l.value_type = GABLE_TYPE_Z);
  REFUSED(GABLE_ERR_ARGUMENT, changed->l.format = GABLE_FORMAT_CSC);     /* then upper */
  REFUSED(GABLE_ERR_ARGUMENT, changed->u.format = GABLE_FORMAT_CSR);     /* then lower */
  REFUSED(GABLE_ERR_ARGUMENT, changed->li[3] = 3);                       /* out of range */
  REFUSED(GABLE_ERR_ARGUMENT, changed->ui[0] = -1);                      /* out of range */
  REFUSED(GABLE_ERR_ARGUMENT, (changed->li[1] = 1, changed->li[2] = 0)); /* out of order */
  REFUSED(GABLE_ERR_ARGUMENT, changed->lp[1] = 5);                       /* offsets go back */
  REFUSED(GABLE_ERR_ARGUMENT, changed->lv[0] = 2);                       /* not unit */
  REFUSED(GABLE_ERR_SINGULAR, changed->uv[2] = 0);                       /* zero diagonal */
  REFUSED(GABLE_ERR_SINGULAR, changed->ui[3] = 2);                       /* no diagonal */
  REFUSED(GABLE_ERR_NOT_FINITE, changed->uv[1] = NAN);                   /* a value */
  REFUSED(GABLE_ERR_NOT_FINITE, changed->fv[1] = INFINITY);              /* a value */
  REFUSED(GABLE_ERR_ARGUMENT, (changed->fp[1] = 2, changed->fp[2] = 2)); /* F on the diagonal */
  REFUSED(GABLE_ERR_ARGUMENT, (changed->fp[2] = 1, changed->fi[1] = 0)); /* F inside a block of L and U */
  REFUSED(GABLE_ERR_ARGUMENT, changed->u.ptr = NULL);                    /* F without U */
  REFUSED(GABLE_ERR_ARGUMENT, changed->view.u = NULL);                   /* F without U */
  REFUSED(GABLE_ERR_ARGUMENT, changed->view.l = NULL);
  REFUSED(GABLE_ERR_ARGUMENT, changed->rows[0] = 0);  /* twice */
  REFUSED(GABLE_ERR_ARGUMENT, changed->cols[0] = 3);  /* out of range */
  REFUSED(GABLE_ERR_ARGUMENT, changed->r[1] = 0);     /* a scale */
  REFUSED(GABLE_ERR_NOT_FINITE, changed->c[1] = NAN); /* a scale */
#undef REFUSED
  free(changed);
}

int main(void)
{
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  options.threads = 2;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  check_by_hand();
  check_states();
  check_saved();
  check_refusals();
  static const gable_idx sizes[] = {0, 1, 2, 7, 40, 150};
  for (uint64_t seed = 1; seed <= 3; seed++)
    for (int kind = 0; kind < TEST_KINDS; kind++)
      for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        test_system a = test_system_make((test_kind)kind, sizes[k], seed);
        const char *name = test_kind_name((test_kind)kind);
        check_system(name, &a, GABLE_TYPE_D, GABLE_METHOD_AUTO, GABLE_CHOICE_AUTO);
        if (kind == TEST_GROWTH) { /* refinement needs its pivots, and doubles */
          test_system_free(&a);
          continue;
        }
        check_system(name, &a, GABLE_TYPE_D, GABLE_METHOD_LU, GABLE_CHOICE_ALWAYS);
        check_system(name, &a, GABLE_TYPE_S, GABLE_METHOD_AUTO, GABLE_CHOICE_AUTO);
        test_system_free(&a);
      }
  CHECK(with_f > 0 && with_l_alone > 0 && with_ldlt > 0, "%d with F, %d by Cholesky, %d by L D L^T", with_f,
        with_l_alone, with_ldlt);
  check_file("examples/data/bcsstk18.mtx.gz");
  check_file("tests/data/1138_bus.mtx.gz");
  check_file("tests/data/steam2.mtx.gz");
  check_file("tests/data/west0479.mtx.gz");
  gable_context_destroy(&ctx);
  return 0;
}
