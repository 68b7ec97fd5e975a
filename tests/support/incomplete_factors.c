/* incomplete_factors.c: see incomplete_factors.h. */
#include "support/incomplete_factors.h"

#include "base/random.h"
#include "support/systems.h"
#include "support/test.h"

void *test_room(size_t count, size_t size)
{
  void *p = calloc(count + 1, size);
  CHECK(p);
  return p;
}

static test_lists test_lists_of(gable_idx n, size_t most)
{
  return (test_lists){n, test_room((size_t)n + 1, sizeof(int64_t)), test_room(most, sizeof(gable_idx)),
                      test_room(most, sizeof(double))};
}

static void test_lists_free(test_lists *a)
{
  free(a->ptr);
  free(a->idx);
  free(a->val);
}

static void add(test_lists *a, int64_t *count, gable_idx i, double v)
{
  a->idx[*count] = i;
  a->val[(*count)++] = v;
}

static gable_matrix_view view_of(const test_lists *a, gable_format format)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = a->n;
  v.format = format;
  v.ptr = a->ptr;
  v.idx = a->idx;
  v.val = a->val;
  return v;
}

/* Convection and diffusion on a grid of side^3 points, upwind, by rows. */
static test_lists convection(gable_idx side)
{
  const gable_idx n = side * side * side, step[3] = {1, side, side * side};
  const double wind[3] = {0.6, 0.3, 0.1};
  test_lists a = test_lists_of(n, 7 * (size_t)n);
  int64_t count = 0;
  for (gable_idx i = 0; i < n; i++) {
    for (int d = 2; d >= 0; d--)
      if (i / step[d] % side > 0) add(&a, &count, i - step[d], -1 - wind[d]);
    add(&a, &count, i, 6 + wind[0] + wind[1] + wind[2]);
    for (int d = 0; d < 3; d++)
      if (i / step[d] % side < side - 1) add(&a, &count, i + step[d], -1);
    a.ptr[i + 1] = count;
  }
  return a;
}

/* ILUT: rows of L and U without what is smaller than drop times the diagonal; l without its ones. */
static void incomplete(const test_lists *a, double drop, test_lists *l, test_lists *u)
{
  const gable_idx n = a->n;
  double *row = test_room((size_t)n, sizeof *row);
  int64_t in_l = 0, in_u = 0;
  *l = test_lists_of(n, 60 * (size_t)n);
  *u = test_lists_of(n, 60 * (size_t)n);
  for (gable_idx i = 0; i < n; i++) {
    gable_idx first = i, last = i;
    for (int64_t q = a->ptr[i]; q < a->ptr[i + 1]; q++) {
      row[a->idx[q]] = a->val[q];
      if (a->idx[q] < first) first = a->idx[q];
      if (a->idx[q] > last) last = a->idx[q];
    }
    const double least = drop * fabs(row[i]);
    for (gable_idx k = first; k < i; k++) {
      if (row[k] == 0) continue;
      const int64_t begin = u->ptr[k];
      const double by = row[k] / u->val[begin];
      row[k] = 0;
      if (fabs(by) <= drop) continue;
      add(l, &in_l, k, by);
      for (int64_t q = begin + 1; q < u->ptr[k + 1]; q++) {
        row[u->idx[q]] -= by * u->val[q];
        if (u->idx[q] > last) last = u->idx[q];
      }
    }
    for (gable_idx k = i; k <= last; k++) {
      if (k == i || fabs(row[k]) > least) add(u, &in_u, k, row[k]);
      row[k] = 0;
    }
    l->ptr[i + 1] = in_l;
    u->ptr[i + 1] = in_u;
    CHECK(in_l < 59 * (int64_t)n && in_u < 59 * (int64_t)n);
  }
  free(row);
}

static void shuffle(gi_random *r, gable_idx n, gable_idx *perm)
{
  for (gable_idx k = 0; k < n; k++) {
    const gable_idx other = (gable_idx)gi_random_below(r, k + 1);
    perm[k] = perm[other];
    perm[other] = k;
  }
}

static test_triangle_plan plan_of(gable_context *ctx, const gable_matrix_view *a, gable_part part, gable_diag diag)
{
  gable_trisolve_options how = GABLE_TRISOLVE_OPTIONS_INIT;
  test_triangle_plan p = {NULL, NULL};
  how.uplo = part;
  how.solves = 0;
  how.diag = diag;
  CHECK_OK(gable_trisolve_create(ctx, &how, &p.t));
  CHECK_OK(gable_trisolve_analyse(p.t, a));
  CHECK_OK(gable_trisolve_update(p.t, a->val));
  CHECK_OK(gable_trisolve_work_create(p.t, 1, &p.w));
  return p;
}

static void plan_free(test_triangle_plan *p)
{
  gable_trisolve_work_destroy(&p->w);
  gable_trisolve_destroy(&p->t);
}

void incomplete_factors_make(gable_context *ctx, gable_idx side, double drop, incomplete_factors *g)
{
  *g = (incomplete_factors){.a_prime = convection(side)};
  gi_random r = gi_random_seed(11);
  const size_t n = (size_t)(g->n = g->a_prime.n);
  incomplete(&g->a_prime, drop, &g->l, &g->u);
  g->row_order = test_room(n, sizeof *g->row_order);
  g->col_order = test_room(n, sizeof *g->col_order);
  g->row_scale = test_room(n, sizeof *g->row_scale);
  g->col_scale = test_room(n, sizeof *g->col_scale);
  shuffle(&r, g->n, g->row_order);
  shuffle(&r, g->n, g->col_order);
  for (size_t i = 0; i < n; i++) g->row_scale[i] = gi_random_below(&r, 2) ? 2 : 0.25;
  for (size_t i = 0; i < n; i++) g->col_scale[i] = gi_random_below(&r, 2) ? 4 : 1;
  /* A by rows: row row_order[i] is row i of A', its entries in order. */
  gable_idx *from = test_room(n, sizeof *from);
  int64_t count = 0;
  g->a = test_lists_of(g->n, 7 * n);
  for (gable_idx k = 0; k < g->n; k++) from[g->row_order[k]] = k;
  for (gable_idx i = 0; i < g->n; i++) {
    const int64_t begin = g->a_prime.ptr[from[i]], end = g->a_prime.ptr[from[i] + 1];
    gable_idx previous = -1;
    for (int64_t q = begin; q < end; q++) { /* by selection: seven entries at most */
      gable_idx least = g->n;
      double v = 0;
      for (int64_t p = begin; p < end; p++) {
        const gable_idx j = g->col_order[g->a_prime.idx[p]];
        if (j > previous && j < least) least = j, v = g->a_prime.val[p];
      }
      add(&g->a, &count, least, v / g->row_scale[i] / g->col_scale[least]);
      previous = least;
    }
    g->a.ptr[i + 1] = count;
  }
  free(from);
  g->view = (gable_factors_view)GABLE_FACTORS_VIEW_INIT;
  g->view.n = g->n;
  g->l_view = view_of(&g->l, GABLE_FORMAT_CSR);
  g->u_view = view_of(&g->u, GABLE_FORMAT_CSR);
  g->view.l = &g->l_view;
  g->view.u = &g->u_view;
  g->view.row_order = g->row_order;
  g->view.col_order = g->col_order;
  g->view.row_scale = g->row_scale;
  g->view.col_scale = g->col_scale;
  g->a_view = view_of(&g->a, GABLE_FORMAT_CSR);
  g->lower = plan_of(ctx, &g->l_view, GABLE_PART_LOWER, GABLE_DIAG_UNIT);
  g->upper = plan_of(ctx, &g->u_view, GABLE_PART_UPPER, GABLE_DIAG_STORED);
}

void incomplete_factors_free(incomplete_factors *g)
{
  plan_free(&g->lower);
  plan_free(&g->upper);
  test_lists_free(&g->a_prime);
  test_lists_free(&g->a);
  test_lists_free(&g->l);
  test_lists_free(&g->u);
  free(g->row_order);
  free(g->col_order);
  free(g->row_scale);
  free(g->col_scale);
}

void test_solve_by_plan(const test_triangle_plan *p, gable_idx n, gable_op op, double *x)
{
  gable_vectors_view v = test_vectors(n, 1, x);
  CHECK_OK(gable_trisolve_solve(p->t, p->w, op, &v, &v));
}

void incomplete_factors_by_plans(const incomplete_factors *g, gable_op op, const double *b, double *x)
{
  const gable_idx *in = op == GABLE_OP_N ? g->row_order : g->col_order,
                  *out = op == GABLE_OP_N ? g->col_order : g->row_order;
  const double *r = op == GABLE_OP_N ? g->row_scale : g->col_scale, *c = op == GABLE_OP_N ? g->col_scale : g->row_scale;
  double *y = test_room((size_t)g->n, sizeof *y);
  for (gable_idx k = 0; k < g->n; k++) y[k] = r[in[k]] * b[in[k]];
  if (op == GABLE_OP_T) test_solve_by_plan(&g->upper, g->n, op, y);
  test_solve_by_plan(&g->lower, g->n, op, y);
  if (op == GABLE_OP_N) test_solve_by_plan(&g->upper, g->n, op, y);
  for (gable_idx k = 0; k < g->n; k++) x[out[k]] = c[out[k]] * y[k];
  free(y);
}
