/* Triplets assembled into a matrix beside a table that adds them one by one, in every type, part and base; new values
 * through the kept map with the bits of a new matrix; what is wrong is named, and changes nothing. */
#include "support/test.h"

#include "base/random.h"

enum { MOST = 400, ROWS = 23, COLS = 17 };

static gable_context *ctx;

typedef struct triplets {
  gable_coo_view view;
  gable_idx row[MOST], col[MOST];
  double d[2 * MOST]; /* of GABLE_TYPE_D and _Z */
  float s[2 * MOST];  /* of GABLE_TYPE_S and _C */
} triplets;

static int words_of(gable_type type)
{
  return type == GABLE_TYPE_C || type == GABLE_TYPE_Z ? 2 : 1;
}

static void random_values(triplets *t, gi_random *r)
{
  for (int k = 0; k < 2 * MOST; k++) {
    t->d[k] = (gi_random_unit(r) - 0.5) * pow(10, 20 * gi_random_unit(r) - 10); /* sums depend on their order */
    t->s[k] = (float)t->d[k];
  }
}

static void random_triplets(triplets *t, gable_off count, gable_type type, gable_part part, int base, uint64_t seed)
{
  gi_random r = gi_random_seed(seed);
  const int square = part != GABLE_PART_FULL;
  t->view = (gable_coo_view)GABLE_COO_VIEW_INIT;
  t->view.n_rows = ROWS;
  t->view.n_cols = square ? ROWS : COLS;
  t->view.count = count;
  t->view.base = base;
  t->view.value_type = type;
  t->view.part = part;
  t->view.structure = square ? GABLE_STRUCTURE_SYMMETRIC : GABLE_STRUCTURE_GENERAL;
  t->view.row = t->row;
  t->view.col = t->col;
  t->view.val = type == GABLE_TYPE_D || type == GABLE_TYPE_Z ? (void *)t->d : (void *)t->s;
  for (gable_off k = 0; k < count; k++) {
    t->row[k] = (gable_idx)(gi_random_unit(&r) * t->view.n_rows) + base;
    t->col[k] = (gable_idx)(gi_random_unit(&r) * t->view.n_cols) + base;
  }
  random_values(t, &r);
}

static double value_of(const triplets *t, gable_off k, int w)
{
  const gable_off at = words_of(t->view.value_type) * k + w;
  return t->view.value_type == GABLE_TYPE_D || t->view.value_type == GABLE_TYPE_Z ? t->d[at] : (double)t->s[at];
}

/* a against a table that the triplets are added to in their order. */
static void check_matrix(const triplets *t, const gable_matrix *a)
{
  static double sum[ROWS][ROWS][2];
  static int seen[ROWS][ROWS];
  const gable_coo_view *v = &t->view;
  gable_matrix_view m = GABLE_MATRIX_VIEW_INIT;
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  int64_t entries = 0, kept = 0;
  memset(sum, 0, sizeof sum);
  memset(seen, 0, sizeof seen);
  for (gable_off k = 0; k < v->count; k++) {
    const gable_idx i = v->row[k] - v->base, j = v->col[k] - v->base;
    if ((v->part == GABLE_PART_LOWER && i < j) || (v->part == GABLE_PART_UPPER && i > j)) continue;
    kept++;
    for (int w = 0; w < words_of(v->value_type) && v->val; w++)
      sum[i][j][w] = seen[i][j] ? sum[i][j][w] + value_of(t, k, w) : value_of(t, k, w);
    entries += !seen[i][j]++;
  }
  CHECK_OK(gable_matrix_get_view(a, &m));
  CHECK_OK(gable_matrix_get_info(a, &info));
  const int64_t *ptr = m.ptr;
  CHECK(m.n_rows == v->n_rows && m.n_cols == v->n_cols && m.part == v->part && m.structure == v->structure);
  CHECK(ptr[m.n_cols] == entries && info.nnz == entries && info.duplicates == kept - entries, "%lld of %lld",
        (long long)ptr[m.n_cols], (long long)entries);
  CHECK(info.field == (!v->val                        ? GABLE_FIELD_PATTERN
                       : words_of(v->value_type) == 2 ? GABLE_FIELD_COMPLEX
                                                      : GABLE_FIELD_REAL));
  const int words = words_of(v->value_type);
  for (gable_idx j = 0; j < m.n_cols; j++)
    for (int64_t p = ptr[j]; p < ptr[j + 1]; p++) {
      const gable_idx i = m.idx[p];
      CHECK(p == ptr[j] || m.idx[p - 1] < i, "column %d is out of order", j);
      CHECK(i >= 0 && i < m.n_rows && seen[i][j], "(%d,%d) is not there", i, j);
      if (v->val) CHECK(!memcmp((const double *)m.val + words * p, sum[i][j], (size_t)words * 8), "(%d,%d)", i, j);
    }
}

static void check_random(void)
{
  static const gable_type types[] = {GABLE_TYPE_D, GABLE_TYPE_S, GABLE_TYPE_Z, GABLE_TYPE_C};
  static triplets t;
  for (int type = 0; type < 4; type++)
    for (int part = GABLE_PART_FULL; part <= GABLE_PART_UPPER; part++)
      for (int pass = 0; pass < 6; pass++) {
        static const gable_off counts[] = {0, 1, 2, 60, 399, MOST};
        gable_coo *map = NULL;
        gable_matrix *a = NULL, *b = NULL;
        random_triplets(&t, counts[pass], types[type], (gable_part)part, pass & 1, (uint64_t)(10 * type + pass));
        CHECK_OK(gable_matrix_from_coo(ctx, &t.view, &map, &a));
        check_matrix(&t, a);
        gi_random r = gi_random_seed(77);
        random_values(&t, &r);
        CHECK_OK(gable_coo_update(map, t.view.val, a));
        check_matrix(&t, a);

        const void *val = t.view.val; /* a pattern first, its values later */
        t.view.val = NULL;
        gable_coo_destroy(&map);
        CHECK_OK(gable_matrix_from_coo(ctx, &t.view, &map, &b));
        check_matrix(&t, b);
        t.view.val = val;
        CHECK_OK(gable_coo_update(map, val, b));
        if (t.view.count) check_matrix(&t, b);
        gable_coo_destroy(&map);
        gable_matrix_destroy(&a);
        gable_matrix_destroy(&b);
      }
}

/* The bits of a are those that were kept in val [count]. */
static int is_untouched(const gable_matrix *a, const double *val, size_t count)
{
  gable_matrix_view m = GABLE_MATRIX_VIEW_INIT;
  CHECK_OK(gable_matrix_get_view(a, &m));
  return !memcmp(m.val, val, count * sizeof *val);
}

static void refused(const gable_coo_view *v, gable_status wanted, const char *text)
{
  gable_coo *map = (gable_coo *)&ctx; /* not NULL */
  gable_matrix *a = (gable_matrix *)&ctx;
  const gable_status status = gable_matrix_from_coo(ctx, v, &map, &a);
  CHECK(status == wanted && strstr(gable_last_error(), text) && !map && !a, "%d: '%s', not '%s'", (int)status,
        gable_last_error(), text);
}

static void check_refusals(void)
{
  gable_idx row[] = {0, 2, 2, 1}, col[] = {1, 0, 0, 1};
  double val[] = {1, 2, 3, 4}, held[3];
  const double huge[] = {1, 1e308, 1e308, 4}, none[] = {1, 2, NAN, 4};
  gable_coo_view v = GABLE_COO_VIEW_INIT, w;
  gable_matrix_view m = GABLE_MATRIX_VIEW_INIT;
  gable_coo *map = NULL;
  gable_matrix *a = NULL;
  v.n_rows = 3;
  v.n_cols = 2;
  v.count = 4;
  v.row = row;
  v.col = col;
  v.val = val;
  CHECK_OK(gable_matrix_from_coo(ctx, &v, &map, &a));
  CHECK_OK(gable_matrix_get_view(a, &m));
  memcpy(held, m.val, sizeof held);
  CHECK(held[0] == 5 && held[1] == 1 && held[2] == 4);
  CHECK(gable_coo_update(map, huge, a) == GABLE_ERR_NOT_FINITE &&
            strstr(gable_last_error(), "sum to inf in row 2, column 0 (counted from 0)"),
        "%s", gable_last_error());
  CHECK(is_untouched(a, held, 3), "a refused update changed the matrix");
  CHECK(gable_coo_update(map, none, a) == GABLE_ERR_NOT_FINITE &&
            strstr(gable_last_error(), "triplet 2 (row 2, column 0) (counted from 0) is nan"),
        "%s", gable_last_error());
  CHECK(is_untouched(a, held, 3), "a refused update changed the matrix");
  CHECK(gable_coo_update(map, NULL, a) == GABLE_ERR_ARGUMENT && gable_coo_update(NULL, val, a) == GABLE_ERR_ARGUMENT);
  gable_matrix *other = NULL;
  CHECK_OK(gable_matrix_transpose(a, &other));
  CHECK(gable_coo_update(map, val, other) == GABLE_ERR_MISMATCH, "%s", gable_last_error());
  gable_matrix_destroy(&other);
  gable_coo_destroy(&map);
  gable_matrix_destroy(&a);

  v.val = huge;
  refused(&v, GABLE_ERR_NOT_FINITE, "sum to inf");
  v.val = val;
  row[3] = 3;
  refused(&v, GABLE_ERR_ARGUMENT, "triplet 3 (counted from 0) is at row 3, column 1: rows go from 0 to 2");
  v.base = 1;
  refused(&v, GABLE_ERR_ARGUMENT, "triplet 0 (counted from 0) is at row 0, column 1: rows go from 1 to 3");
  v.base = 0;
  row[3] = 1;
  col[2] = -1;
  refused(&v, GABLE_ERR_ARGUMENT, "triplet 2 (counted from 0) is at row 2, column -1: columns go from 0 to 1");
  col[2] = 0;
  w = v, w.base = 2;
  refused(&w, GABLE_ERR_ARGUMENT, "base");
  w = v, w.count = -1;
  refused(&w, GABLE_ERR_ARGUMENT, "count is -1");
  w = v, w.value_type = GABLE_TYPE_I32;
  refused(&w, GABLE_ERR_ARGUMENT, "value_type");
  w = v, w.part = GABLE_PART_LOWER;
  refused(&w, GABLE_ERR_ARGUMENT, "square");
  w = v, w.structure = (gable_structure)9;
  refused(&w, GABLE_ERR_ARGUMENT, "structure");
  w = v, w.part = (gable_part)9;
  refused(&w, GABLE_ERR_ARGUMENT, "part");
  w = v, w.col = NULL;
  refused(&w, GABLE_ERR_ARGUMENT, "no col");
  w = v, w.n_rows = -1;
  refused(&w, GABLE_ERR_ARGUMENT, "-1 by 2");
}

/* Elements of a string of springs, assembled; the solver takes the new values by the view that it had. */
static void check_with_solver(void)
{
  enum { N = 50, E = 4 * (N + 1) };
  gable_idx row[E], col[E];
  double val[E], b[N], x[N];
  gable_coo_view v = GABLE_COO_VIEW_INIT;
  gable_matrix_view m = GABLE_MATRIX_VIEW_INIT;
  gable_vectors_view vb = GABLE_VECTORS_VIEW_INIT, vx;
  gable_coo *map = NULL;
  gable_matrix *a = NULL;
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  v.n_rows = v.n_cols = N;
  v.structure = GABLE_STRUCTURE_SPD;
  v.part = GABLE_PART_LOWER;
  v.row = row;
  v.col = col;
  v.val = val;
  for (int e = 0; e <= N; e++) /* spring e joins nodes e - 1 and e; the walls have no number */
    for (int k = 0; k < 4; k++) {
      const gable_idx i = e - 1 + (k & 1), j = e - 1 + (k >> 1);
      if (i < 0 || j < 0 || i >= N || j >= N) continue;
      row[v.count] = i;
      col[v.count] = j;
      val[v.count++] = i == j ? 1 : -1;
    }
  CHECK_OK(gable_matrix_from_coo(ctx, &v, &map, &a));
  CHECK_OK(gable_matrix_get_view(a, &m));
  CHECK(((const int64_t *)m.ptr)[N] == 2 * N - 1);
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_analyse(s, &m));
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_ALL));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  vb.n = N;
  vx = vb;
  vb.data = b;
  vx.data = x;
  for (int stiffness = 1; stiffness <= 3; stiffness++) {
    for (int i = 0; i < N; i++) b[i] = stiffness * (i + 1 == N ? N + 1 : 0); /* x_i = i + 1 pulls at the last node */
    CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx));
    for (int i = 0; i < N; i++) CHECK(fabs(x[i] - (i + 1)) <= 1e-9, "stiffness %d: x[%d] = %g", stiffness, i, x[i]);
    for (gable_off k = 0; k < v.count; k++) val[k] *= (stiffness + 1.0) / stiffness;
    CHECK_OK(gable_coo_update(map, val, a));
    CHECK_OK(gable_solver_factor(s, m.val, GABLE_REUSE_ALL));
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  gable_coo_destroy(&map);
  gable_matrix_destroy(&a);
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  check_random();
  check_refusals();
  check_with_solver();
  gable_coo_destroy(NULL);
  gable_context_destroy(&ctx);
  return 0;
}
