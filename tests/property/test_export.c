/* Factors out as columns and in again: the exported product is A', an imported factor solves like the one it came from,
 * and triangles that are none are refused. */
#include "support/test.h"

#include "factor/export.h"
#include "supernodal/cpu/solve.h"
#include "support/certificate.h"
#include "support/failing_allocator.h"
#include "support/random_factor.h"
#include "support/small_layout.h"

/* M += a b (or a b^T for b = a when transposed), dense by columns. */
static void add_product(double *m, gable_idx n, const gi_csc *a, const gi_csc *b)
{
  for (gable_idx j = 0; j < n; j++)
    for (gable_off q = b->ptr[j]; q < b->ptr[j + 1]; q++)
      for (gable_off k = a->ptr[b->idx[q]]; k < a->ptr[b->idx[q] + 1]; k++)
        m[a->idx[k] + j * n] += a->val[k] * b->val[q];
}

static gable_idx column_of(const gi_factor_columns *c, gable_idx k)
{
  return c->col_of ? c->col_of[k] : k;
}

/* What the exported columns multiply to, against P^T L D U + F of the panels. */
static void check_product(gable_context *ctx, const gi_factor *f, const gi_factor_columns *c)
{
  const gable_idx n = f->layout->n;
  const size_t square = (size_t)n * (size_t)n + 1;
  double *product = calloc(square, sizeof *product);
  dense_factor d = dense_factor_of(f);
  gi_csc transposed = {0};
  if (f->kind == GI_CHOLESKY) CHECK_OK(gi_csc_transpose(ctx, &c->l, &transposed));
  add_product(product, n, &c->l, f->kind == GI_CHOLESKY ? &transposed : &c->u);
  for (gable_idx i = 0; i < n; i++)
    for (gable_idx j = 0; j < n; j++) {
      double sum = 0, size = 1;
      for (gable_idx k = 0; k < n; k++) {
        const double left = d.lower[c->row_of[i] + k * n], *right = d.upper + column_of(c, j) * n;
        double term = left * d.d[k] * right[k];
        if (d.e[k] != 0) term += left * d.e[k] * right[k + 1];
        if (k > 0 && d.e[k - 1] != 0) term += left * d.e[k - 1] * right[k - 1];
        sum += term;
        size += fabs(term);
      }
      CHECK(fabs(sum - product[i + j * n]) <= 16 * n * 0x1p-53 * size, "entry (%d,%d): %g, not %g", i, j,
            product[i + j * n], sum);
    }
  gi_csc_release(ctx, &transposed);
  dense_factor_free(&d);
  free(product);
}

static void solve(gable_context *ctx, const gi_factor *f, gable_op op, double *x)
{
  gi_solve_plan *plan = NULL;
  gi_solve_work *work = NULL;
  CHECK_OK(gi_solve_plan_create(ctx, f->layout, NULL, &plan));
  CHECK_OK(gi_solve_work_create(ctx, plan, 1, 1, &work));
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = f->layout->n;
  v.ld = v.n;
  v.data = x;
  CHECK_OK(gi_solve(plan, f, work, op, GI_SOLVE_ALL, &v, &v, NULL));
  gi_solve_work_destroy(ctx, &work);
  gi_solve_plan_destroy(ctx, &plan);
}

/* The supernodes of y are those that begin where begins is 1, column perm[k] being column k of y. */
static void check_supernodes(const gi_layout *y, const unsigned char *begins, const gable_idx *perm)
{
  for (gable_idx k = 0; k < y->n; k++) {
    const int first = y->super[y->of[k]] == k;
    CHECK(first == begins[perm[k]], "column %d: %d", perm[k], first);
    CHECK(first || perm[k] == perm[k - 1] + 1, "columns %d and %d side by side", perm[k - 1], perm[k]);
  }
}

/* given: with supernodes of any columns. */
static void check_import(gable_context *ctx, gi_random *r, const gi_factor *f, const gi_factor_columns *c, int given)
{
  const gable_idx n = f->layout->n;
  const size_t bytes = (size_t)n * sizeof(double) + 1;
  gable_idx *perm = malloc((size_t)n * sizeof *perm + 1);
  unsigned char *begins = given ? malloc((size_t)n + 1) : NULL;
  gi_layout *layout = NULL;
  gi_factor *back = NULL;
  for (gable_idx k = 0; given && k < n; k++) begins[k] = k == 0 || gi_random_below(r, 3) == 0;
  CHECK_OK(gi_factor_import(ctx, &c->l, f->kind == GI_CHOLESKY ? NULL : &c->u, NULL, GABLE_TYPE_D, begins, perm,
                            &layout, &back));
  check_layout(layout, f->kind == GI_CHOLESKY);
  if (given) check_supernodes(layout, begins, perm);
  for (int op = 0; op < 2; op++) {
    double *ours = malloc(bytes), *theirs = malloc(bytes), size = 0;
    double *b = malloc(bytes);
    for (gable_idx i = 0; i < n; i++) b[i] = ours[i] = gi_random_unit(r) - 0.5;
    /* Row k of the imported matrix is row row_of[perm[k]] of A', its column k is column col_of[perm[k]]. */
    for (gable_idx k = 0; k < n; k++) theirs[k] = b[op == GABLE_OP_N ? c->row_of[perm[k]] : column_of(c, perm[k])];
    solve(ctx, f, (gable_op)op, ours);
    solve(ctx, back, (gable_op)op, theirs);
    for (gable_idx i = 0; i < n; i++) size = fmax(size, fabs(ours[i]));
    for (gable_idx k = 0; k < n; k++) {
      const double x = ours[op == GABLE_OP_N ? column_of(c, perm[k]) : c->row_of[perm[k]]];
      CHECK(fabs(x - theirs[k]) <= 1e-9 * size, "op %d row %d: %.17g, not %.17g", op, k, theirs[k], x);
    }
    free(ours);
    free(theirs);
    free(b);
  }
  gi_factor_destroy(ctx, &back);
  gi_layout_destroy(ctx, &layout);
  free(perm);
  free(begins);
}

static void check_seed(gable_context *ctx, uint64_t seed)
{
  gi_random r = gi_random_seed(seed);
  const int symmetric = (int)gi_random_below(&r, 2), half = symmetric && gi_random_below(&r, 2);
  const gi_factor_kind kind = !half ? GI_LU : gi_random_below(&r, 2) ? GI_LDLT : GI_CHOLESKY;
  const gable_idx n = (gable_idx)gi_random_below(&r, 60);
  unsigned char *pattern = small_pattern(&r, n, gi_random_unit(&r) * 0.1, symmetric);
  gi_layout *layout = small_layout(ctx, &r, n, pattern, half, symmetric, 1 + (gable_idx)gi_random_below(&r, 5));
  gi_factor *f = random_factor(ctx, &r, layout, kind, GABLE_TYPE_D);
  /* Small off-diagonal entries: the comparison of two solves is about places, not about growth. */
  for (gable_off k = 0; f->u && k < layout->uval[layout->n_super]; k++) ((double *)f->u)[k] /= 16;
  for (gable_idx s = 0; s < layout->n_super; s++) {
    const gable_idx w = gi_layout_width(layout, s), nl = gi_layout_nl(layout, s);
    for (gable_off k = 0; k < (gable_off)w * (w + nl); k++)
      if (k % (w + nl) > k / (w + nl) || (kind != GI_LDLT && k % (w + nl) < k / (w + nl)))
        ((double *)f->l)[layout->lval[s] + k] /= 16;
  }
  gi_factor_columns c = {0};
  CHECK_OK(gi_factor_export(ctx, f, &c));
  check_product(ctx, f, &c);
  check_import(ctx, &r, f, &c, 0);
  check_import(ctx, &r, f, &c, 1);
  gi_factor_columns_release(ctx, &c);
  gi_factor_destroy(ctx, &f);
  gi_layout_destroy(ctx, &layout);
  free(pattern);
}

static void check_refusals(gable_context *ctx)
{
  gable_off lp[] = {0, 2, 3}, up[] = {0, 1, 3};
  gable_idx li[] = {0, 1, 1}, ui[] = {0, 0, 1}, perm[2];
  double lv[] = {1, 0.5, 1}, uv[] = {2, 1, 3};
  const gi_csc l = {.n_rows = 2, .n_cols = 2, .ptr = lp, .idx = li, .val = lv};
  const gi_csc u = {.n_rows = 2, .n_cols = 2, .ptr = up, .idx = ui, .val = uv};
  gi_layout *layout = NULL;
  gi_factor *f = NULL;
  CHECK(gi_factor_import(ctx, &u, &l, NULL, GABLE_TYPE_D, NULL, perm, &layout, &f) == GABLE_ERR_ARGUMENT);
  uv[2] = 0;
  CHECK(gi_factor_import(ctx, &l, &u, NULL, GABLE_TYPE_D, NULL, perm, &layout, &f) == GABLE_ERR_SINGULAR);
  uv[2] = NAN;
  CHECK(gi_factor_import(ctx, &l, &u, NULL, GABLE_TYPE_D, NULL, perm, &layout, &f) == GABLE_ERR_NOT_FINITE);
  uv[2] = 3;
  lv[0] = 2;
  CHECK(gi_factor_import(ctx, &l, &u, NULL, GABLE_TYPE_D, NULL, perm, &layout, &f) == GABLE_ERR_ARGUMENT);
  lv[0] = 1;
  li[1] = 2;
  CHECK(gi_factor_import(ctx, &l, &u, NULL, GABLE_TYPE_D, NULL, perm, &layout, &f) == GABLE_ERR_ARGUMENT);
  CHECK(!layout && !f);
}

/* x of the two equations L U x = b (u NULL: L L^T x = b), b (b0, b1), is (x0, x1), in the exact numbers given. */
static void check_two(gable_context *ctx, const gi_csc *l, const gi_csc *u, const double b[2], const double x[2])
{
  gi_layout *layout = NULL;
  gi_factor *f = NULL;
  gable_idx perm[2];
  CHECK_OK(gi_factor_import(ctx, l, u, NULL, GABLE_TYPE_D, NULL, perm, &layout, &f));
  double v[2] = {b[perm[0]], b[perm[1]]};
  solve(ctx, f, GABLE_OP_N, v);
  for (int k = 0; k < 2; k++)
    CHECK(fabs(v[k] - x[perm[k]]) <= 1e-14 * fabs(x[perm[k]]), "%s, row %d: %g, not %g", u ? "LU" : "LLt", perm[k],
          v[k], x[perm[k]]);
  gi_factor_destroy(ctx, &f);
  gi_layout_destroy(ctx, &layout);
}

/* An entry over its pivot is no number of this type, the solution is. */
static void check_steep(gable_context *ctx)
{
  gable_off lower[] = {0, 2, 3}, upper[] = {0, 1, 3};
  gable_idx li[] = {0, 1, 1}, ui[] = {0, 0, 1};
  double unit[] = {1, 0.5, 1}, uv[] = {1, 1e200, 1e-200}, lv[] = {1, 1e160, 1e-150};
  const gi_csc l = {.n_rows = 2, .n_cols = 2, .ptr = lower, .idx = li, .val = unit};
  const gi_csc u = {.n_rows = 2, .n_cols = 2, .ptr = upper, .idx = ui, .val = uv};
  const gi_csc c = {.n_rows = 2, .n_cols = 2, .ptr = lower, .idx = li, .val = lv};
  check_two(ctx, &l, &u, (double[]){4, 2}, (double[]){4, 0});
  check_two(ctx, &l, &u, (double[]){0, 1e-200}, (double[]){-1e200, 1});
  check_two(ctx, &c, NULL, (double[]){0, 1e-290}, (double[]){-1e170, 1e10});
  check_two(ctx, &c, NULL, (double[]){0, 0}, (double[]){0, 0});
}

int main(void)
{
  failing_allocator memory = failing_allocator_init();
  gable_context_options options = failing_allocator_options(&memory);
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  for (uint64_t seed = 1; seed <= 80; seed++) {
    printf("seed %llu\n", (unsigned long long)seed);
    check_seed(ctx, seed);
  }
  check_refusals(ctx);
  check_steep(ctx);
  gable_context_destroy(&ctx);
  CHECK(memory.live == 0, "%ld blocks leaked", memory.live);
  return 0;
}
