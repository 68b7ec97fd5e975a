/* Imported factors: every choice of L, D and U, plain and transposed, against dense products of what was given, with
 * and without F, permutations and scalings; and an incomplete factorization as the preconditioner of a refinement. */
#include "support/test.h"

#include "base/random.h"
#include "support/systems.h"

enum { MAX_N = 30, SQUARE = MAX_N * MAX_N };

typedef struct columns {
  int64_t ptr[MAX_N + 1];
  gable_idx idx[SQUARE];
  double val[SQUARE];
} columns;

/* Dense by columns, ld = MAX_N. */
typedef struct given {
  gable_idx n;
  int cholesky, scaled;
  double l[SQUARE], d[MAX_N], u[SQUARE], f[SQUARE]; /* u: unit upper; Cholesky: d ones, u = l^T */
  gable_idx row_order[MAX_N], col_order[MAX_N];
  double row_scale[MAX_N], col_scale[MAX_N];
} given;

static void shuffle(gi_random *r, gable_idx n, gable_idx *perm)
{
  for (gable_idx k = 0; k < n; k++) {
    const gable_idx other = (gable_idx)gi_random_below(r, k + 1);
    perm[k] = perm[other];
    perm[other] = k;
  }
}

static void make_given(gi_random *r, given *g)
{
  gable_idx first = 0;
  memset(g, 0, sizeof *g);
  g->n = 1 + (gable_idx)gi_random_below(r, MAX_N);
  g->cholesky = (int)gi_random_below(r, 3) == 0;
  g->scaled = (int)gi_random_below(r, 2);
  const int blocks = !g->cholesky && gi_random_below(r, 2);
  for (gable_idx j = 0; j < g->n; j++) {
    if (blocks && gi_random_below(r, 5) == 0) first = j;
    g->d[j] = g->cholesky ? 1 : (0.5 + gi_random_unit(r)) * (gi_random_below(r, 2) ? 1 : -1);
    g->l[j + j * MAX_N] = g->cholesky ? 0.5 + gi_random_unit(r) : 1;
    g->u[j + j * MAX_N] = 1;
    for (gable_idx i = 0; i < j; i++) {
      if (gi_random_below(r, 4)) continue;
      const double v = gi_random_unit(r) - 0.5;
      if (i < first)
        g->f[i + j * MAX_N] = v;
      else if (gi_random_below(r, 2) || g->cholesky)
        g->l[j + i * MAX_N] = v;
      else
        g->u[i + j * MAX_N] = v;
    }
  }
  for (gable_idx j = 0; g->cholesky && j < g->n; j++)
    for (gable_idx i = 0; i <= j; i++) g->u[i + j * MAX_N] = g->l[j + i * MAX_N];
  shuffle(r, g->n, g->row_order);
  shuffle(r, g->n, g->col_order);
  for (gable_idx i = 0; i < g->n; i++) {
    g->row_scale[i] = g->scaled ? 0.25 + gi_random_unit(r) : 1;
    g->col_scale[i] = g->scaled ? 0.25 + gi_random_unit(r) : 1;
  }
}

/* What is not zero of dense, row i multiplied by scale[i] (or NULL). */
static gable_matrix_view view_of(const double *dense, const double *scale, gable_idx n, columns *c)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  int64_t p = 0;
  for (gable_idx j = 0; j < n; j++) {
    c->ptr[j] = p;
    for (gable_idx i = 0; i < n; i++)
      if (dense[i + j * MAX_N] != 0) {
        c->idx[p] = i;
        c->val[p++] = dense[i + j * MAX_N] * (scale ? scale[i] : 1);
      }
  }
  c->ptr[n] = p;
  v.n_rows = v.n_cols = n;
  v.format = GABLE_FORMAT_CSC;
  v.ptr = c->ptr;
  v.idx = c->idx;
  v.val = c->val;
  return v;
}

static void multiply(gable_idx n, const double *a, const double *b, double *out)
{
  double product[SQUARE] = {0};
  for (gable_idx j = 0; j < n; j++)
    for (gable_idx k = 0; k < n; k++)
      for (gable_idx i = 0; i < n; i++) product[i + j * MAX_N] += a[i + k * MAX_N] * b[k + j * MAX_N];
  memcpy(out, product, sizeof product);
}

/* m = the product of the chosen factors, in the numbering of what was given. */
static void product_of(const given *g, int factors, double *m)
{
  memset(m, 0, SQUARE * sizeof *m);
  for (gable_idx i = 0; i < g->n; i++) m[i + i * MAX_N] = 1;
  if (factors & GABLE_FACTOR_U) multiply(g->n, g->u, m, m);
  for (gable_idx j = 0; j < g->n; j++)
    for (gable_idx i = 0; i < g->n && (factors & GABLE_FACTOR_D); i++) m[i + j * MAX_N] *= g->d[i];
  if (factors & GABLE_FACTOR_L) multiply(g->n, g->l, m, m);
}

/* row[i], column[j]: the place in x and b of row i and column j of m; scale factors of A where all is solved. */
static void check_solution(const given *g, gable_op op, const double *m, const gable_idx *row, const gable_idx *column,
                           const double *b, const double *x, int factors, double bound)
{
  for (gable_idx i = 0; i < g->n; i++) {
    const gable_idx *left = op == GABLE_OP_N ? row : column, *right = op == GABLE_OP_N ? column : row;
    double sum = -b[left[i]], size = fabs(sum);
    for (gable_idx j = 0; j < g->n; j++) {
      const double term = (op == GABLE_OP_N ? m[i + j * MAX_N] : m[j + i * MAX_N]) * x[right[j]];
      sum += term;
      size += fabs(term);
    }
    CHECK(fabs(sum) <= bound * size, "factors %d, op %d, row %d of %d: residual %g of %g", factors, (int)op, i, g->n,
          sum, size);
  }
}

/* place[i]: where row i of what was given is in the solver's own numbering. */
static void places(const gable_solver *s, gable_solver_key key, gable_idx n, const gable_idx *order, gable_idx *place)
{
  gable_idx own[MAX_N], at[MAX_N];
  CHECK_OK(gable_solver_get(s, key, own, (size_t)n * sizeof *own));
  for (gable_idx k = 0; k < n; k++) at[own[k]] = k;
  for (gable_idx i = 0; i < n; i++) place[i] = at[order[i]];
}

/* b, x: of the type of the vectors, side by side or by rows. */
static void apply(const gable_solver *s, gable_solver_work *w, gable_op op, int factors, gable_type type, gable_idx n,
                  const double *b, double *x)
{
  float narrow_b[2 * MAX_N], narrow_x[2 * MAX_N];
  double wide_b[2 * MAX_N], wide_x[2 * MAX_N];
  gable_vectors_view vb = test_vectors(n, 2, wide_b), vx = test_vectors(n, 2, wide_x);
  const int rows = factors & 1;
  vb.major = vx.major = rows ? GABLE_MAJOR_ROW : GABLE_MAJOR_COL;
  vb.ld = vx.ld = rows ? 2 : n;
  vb.type = vx.type = type;
  if (type == GABLE_TYPE_S) vb.data = narrow_b, vx.data = narrow_x;
  for (gable_idx i = 0; i < n; i++)
    for (gable_idx c = 0; c < 2; c++) {
      const gable_idx at = rows ? 2 * i + c : i + c * n;
      wide_b[at] = b[i] * (1 + 2 * c);
      narrow_b[at] = (float)wide_b[at];
    }
  CHECK_OK(gable_solver_apply(s, w, op, factors, &vb, &vx));
  for (gable_idx i = 0; i < n; i++) {
    const gable_idx first = rows ? 2 * i : i, second = rows ? 2 * i + 1 : i + n;
    x[i] = type == GABLE_TYPE_S ? (double)narrow_x[first] : wide_x[first];
    const double thrice = type == GABLE_TYPE_S ? (double)narrow_x[second] : wide_x[second];
    CHECK(fabs(thrice - 3 * x[i]) <= 1e-3 * (1 + fabs(thrice)), "second column: %g, not three times %g", thrice, x[i]);
  }
}

static void check_all(gi_random *r, const given *g, const gable_solver *s, gable_type type, double bound)
{
  static double m[SQUARE];
  double b[MAX_N], x[MAX_N];
  gable_idx row[MAX_N], column[MAX_N];
  gable_solver_work *w = NULL;
  CHECK_OK(gable_solver_work_create(s, 2, &w));
  for (int factors = 1; factors <= GABLE_FACTOR_ALL; factors++)
    for (int op = 0; op < 2; op++) {
      const int all = factors == GABLE_FACTOR_ALL;
      for (gable_idx i = 0; i < g->n; i++) b[i] = gi_random_unit(r) - 0.5;
      apply(s, w, (gable_op)op, factors, type, g->n, b, x);
      product_of(g, factors, m);
      for (gable_idx j = 0; j < g->n && all; j++) /* A = R^-1 (L D U + F) C^-1, in the rows and columns of A */
        for (gable_idx i = 0; i < g->n; i++)
          m[i + j * MAX_N] =
              (m[i + j * MAX_N] + g->f[i + j * MAX_N]) / g->row_scale[g->row_order[i]] / g->col_scale[g->col_order[j]];
      places(s, GABLE_SOLVER_ROW_ORDER, g->n, g->row_order, row);
      places(s, GABLE_SOLVER_COLUMN_ORDER, g->n, g->col_order, column);
      check_solution(g, (gable_op)op, m, all ? g->row_order : row, all ? g->col_order : column, b, x, factors, bound);
    }
  gable_solver_work_destroy(&w);
}

/* super [at most n+1]: supernodes of any columns, no longer than the blocks of F allow; returns their number. */
static gable_idx cut(gi_random *r, const given *g, gable_idx *super)
{
  gable_idx count = 0;
  for (gable_idx k = 0; k < g->n; k++) {
    int apart = k == 0 || gi_random_below(r, 3) == 0;
    for (gable_idx j = k; j < g->n; j++) /* F right of row k - 1: a block may end there */
      for (gable_idx i = 0; i < k; i++) apart |= g->f[i + j * MAX_N] != 0;
    if (apart) super[count++] = k;
  }
  super[count] = g->n;
  return count;
}

/* The factors that leave have the supernodes that came, their columns side by side. */
static void check_supernodes(const given *g, const gable_solver *s, const gable_factors_view *v)
{
  gable_factors *out = NULL;
  gable_factors_view back = GABLE_FACTORS_VIEW_INIT;
  int64_t elementwise;
  gable_idx at[MAX_N];
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ELEMENTWISE, &elementwise, sizeof elementwise));
  CHECK_OK(gable_solver_export(s, &out));
  CHECK_OK(gable_factors_get_view(out, &back));
  CHECK(back.n_supernodes == (elementwise ? 0 : v->n_supernodes), "%d supernodes came, %d leave", v->n_supernodes,
        back.n_supernodes);
  for (gable_idx k = 0; k < back.n_supernodes; k++)
    for (gable_idx j = back.supernodes[k]; j < back.supernodes[k + 1]; j++)
      at[back.col_order[j]] = j - back.supernodes[k];
  for (gable_idx k = 0; k < back.n_supernodes; k++)
    for (gable_idx j = v->supernodes[k]; j < v->supernodes[k + 1]; j++)
      CHECK(at[g->col_order[j]] == j - v->supernodes[k], "column %d is number %d of its supernode", j,
            at[g->col_order[j]]);
  gable_factors_destroy(&out);
}

static void apart(gable_context *ctx, uint64_t seed)
{
  static given g;
  static columns l, u, f;
  gable_idx super[MAX_N + 1];
  gi_random r = gi_random_seed(seed);
  gable_factors_view v = GABLE_FACTORS_VIEW_INIT;
  gable_matrix_view view[3];
  gable_solver *s = NULL;
  make_given(&r, &g);
  v.n = g.n;
  view[0] = view_of(g.l, NULL, g.n, &l);
  v.l = &view[0];
  if (!g.cholesky) {
    view[1] = view_of(g.u, g.d, g.n, &u);
    v.u = &view[1];
  }
  view[2] = view_of(g.f, NULL, g.n, &f);
  if (f.ptr[g.n]) v.f = &view[2];
  v.row_order = g.row_order;
  v.col_order = g.col_order;
  if (g.scaled) v.row_scale = g.row_scale;
  if (g.scaled) v.col_scale = g.col_scale;
  if (seed % 2) {
    v.n_supernodes = cut(&r, &g, super);
    v.supernodes = super;
  }
  for (int types = 0; types < 4; types++) { /* of the factor and of the vectors */
    gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
    options.factor_type = types & 1 ? GABLE_TYPE_S : GABLE_TYPE_D;
    CHECK_OK(gable_solver_create(ctx, &options, &s));
    CHECK_OK(gable_solver_import(s, &v, NULL));
    if (v.supernodes) check_supernodes(&g, s, &v);
    check_all(&r, &g, s, types & 2 ? GABLE_TYPE_S : GABLE_TYPE_D, types ? 1e-3 : 1e-9);
    gable_solver_destroy(&s);
  }
}

/* ILU(0) of a by columns in place, the plainest way: a_ij -= l_ik u_kj where a has (i, j). */
static void incomplete(gable_idx n, const int64_t *ptr, const gable_idx *idx, double *val)
{
  double *column = calloc((size_t)n, sizeof *column);
  char *has = calloc((size_t)n, 1);
  CHECK(column && has);
  for (gable_idx j = 0; j < n; j++) {
    double pivot = 0;
    for (int64_t p = ptr[j]; p < ptr[j + 1]; p++) {
      column[idx[p]] = val[p];
      has[idx[p]] = 1;
    }
    for (int64_t p = ptr[j]; p < ptr[j + 1] && idx[p] < j; p++)
      for (int64_t q = ptr[idx[p]]; q < ptr[idx[p] + 1]; q++)
        if (idx[q] > idx[p] && has[idx[q]]) column[idx[q]] -= val[q] * column[idx[p]];
    for (int64_t p = ptr[j]; p < ptr[j + 1]; p++) {
      if (idx[p] == j) pivot = column[j];
      val[p] = idx[p] > j ? column[idx[p]] / pivot : column[idx[p]];
      has[idx[p]] = 0;
    }
  }
  free(column);
  free(has);
}

/* One triangle of (ptr, idx, val), the diagonal with the upper one. */
static gable_matrix_view triangle(const gable_matrix_view *a, int upper, int64_t *ptr, gable_idx *idx, double *val)
{
  const int64_t *from = a->ptr;
  const double *values = a->val;
  gable_matrix_view v = *a;
  int64_t count = 0;
  for (gable_idx j = 0; j < a->n_cols; j++) {
    ptr[j] = count;
    for (int64_t p = from[j]; p < from[j + 1]; p++)
      if ((a->idx[p] <= j) == upper) {
        idx[count] = a->idx[p];
        val[count++] = values[p];
      }
  }
  ptr[a->n_cols] = count;
  v.structure = GABLE_STRUCTURE_GENERAL;
  v.part = GABLE_PART_FULL;
  v.ptr = ptr;
  v.idx = idx;
  v.val = val;
  return v;
}

static void preconditions(gable_context *ctx, const char *kind)
{
  gable_matrix *stored = NULL, *whole = NULL;
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT, lu;
  gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  CHECK_OK(gable_matrix_generate(ctx, kind, 1, &stored));
  CHECK_OK(gable_matrix_expand(stored, &whole));
  CHECK_OK(gable_matrix_get_view(whole, &a));
  const gable_idx n = a.n_cols;
  const size_t nnz = (size_t)((const int64_t *)a.ptr)[n];
  double *val = malloc(nnz * sizeof *val), *lv = malloc(nnz * sizeof *lv), *uv = malloc(nnz * sizeof *uv);
  gable_idx *li = malloc(nnz * sizeof *li), *ui = malloc(nnz * sizeof *ui);
  int64_t *lp = malloc(((size_t)n + 1) * sizeof *lp), *up = malloc(((size_t)n + 1) * sizeof *up);
  double *b = malloc((size_t)n * sizeof *b), *x = malloc((size_t)n * sizeof *x);
  CHECK(val && lv && uv && li && ui && lp && up && b && x);
  memcpy(val, a.val, nnz * sizeof *val);
  incomplete(n, a.ptr, a.idx, val);
  lu = a;
  lu.val = val;
  f.n = n;
  const gable_matrix_view lower = triangle(&lu, 0, lp, li, lv); /* its ones are left out */
  const gable_matrix_view upper = triangle(&lu, 1, up, ui, uv);
  f.l = &lower;
  f.u = &upper;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  CHECK_OK(gable_solver_import(s, &f, &a));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int op = 0; op < 2; op++) {
    gable_vectors_view vb = test_vectors(n, 1, b), vx = test_vectors(n, 1, x);
    for (gable_idx i = 0; i < n; i++) b[i] = 1 + i % 5;
    CHECK_OK(gable_solver_solve(s, w, (gable_op)op, &vb, &vx));
    CHECK_OK(gable_solver_work_report(w, &report));
    const test_system system = {n, (int64_t *)(uintptr_t)a.ptr, (gable_idx *)(uintptr_t)a.idx,
                                (double *)(uintptr_t)a.val};
    const double error = test_backward_error(&system, (gable_op)op, b, x);
    printf("ILU(0) of %s, op %d: %d corrections, %d iterations, backward error %.1e\n", kind, op, report.refine_steps,
           report.gmres_iterations, error);
    CHECK(error <= 1e-12 && report.first_error > 1e-6, "%s", kind);
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  gable_matrix_destroy(&whole);
  gable_matrix_destroy(&stored);
  void *all[] = {val, lv, uv, li, ui, lp, up, b, x};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

/* What is no cut of the columns is refused, and so is a supernode in two blocks. */
static void refuses(gable_context *ctx)
{
  const int64_t ptr[] = {0, 1, 2, 3}, off_ptr[] = {0, 0, 1, 1};
  const gable_idx idx[] = {0, 1, 2}, off_idx[] = {0};
  const double val[] = {1, 1, 1};
  const struct {
    gable_idx count, super[4];
    int block;
  } wrong[] = {{-1, {0, 3}, 0},      {1, {1, 3}, 0},       {1, {0, 2}, 0},        {2, {0, 0, 3}, 0},
               {3, {0, 2, 1, 3}, 0}, {3, {0, 4, 2, 3}, 0}, {3, {0, -1, 2, 3}, 0}, {2, {0, 2, 3}, 1}};
  gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
  gable_matrix_view ones = GABLE_MATRIX_VIEW_INIT, off;
  gable_solver *s = NULL;
  CHECK_OK(gable_solver_create(ctx, NULL, &s));
  f.n = ones.n_rows = ones.n_cols = 3;
  ones.format = GABLE_FORMAT_CSC;
  ones.ptr = ptr;
  ones.idx = idx;
  ones.val = val;
  off = ones;
  off.ptr = off_ptr;
  off.idx = off_idx;
  f.l = f.u = &ones;
  f.f = &off;
  f.n_supernodes = 1;
  CHECK(gable_solver_import(s, &f, NULL) == GABLE_ERR_ARGUMENT, "no columns");
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    f.n_supernodes = wrong[k].count;
    f.supernodes = wrong[k].super;
    CHECK(gable_solver_import(s, &f, NULL) == GABLE_ERR_ARGUMENT, "%d: %s", (int)k, gable_last_error());
    CHECK(strstr(gable_last_error(), wrong[k].block ? "right of a diagonal block" : "supernode"), "%d: %s", (int)k,
          gable_last_error());
  }
  f.n_supernodes = 2;
  f.supernodes = (const gable_idx[]){0, 1, 3};
  CHECK_OK(gable_solver_import(s, &f, NULL));
  gable_solver_destroy(&s);
}

int main(void)
{
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (uint64_t seed = 1; seed <= 300; seed++) {
    fprintf(stderr, "seed %d\n", (int)seed);
    apart(ctx, seed);
  }
  refuses(ctx);
  preconditions(ctx, "laplacian5:25x20");
  preconditions(ctx, "convection2d:20x20");
  preconditions(ctx, "laplacian7:8x8x8,values=random");
  gable_context_destroy(&ctx);
  return 0;
}
