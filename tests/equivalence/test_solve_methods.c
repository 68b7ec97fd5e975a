/* The named solve methods on random factors of random layouts: every part and op against the dense product within the
 * written bound, for every kind, type, width and major order, merged or not, with and without a block triangular form;
 * a column has the bits that it has alone; and through a solver against the plain solve. */
#include "support/test.h"

#include "supernodal/methods/method_solve.h"
#include "support/random_factor.h"
#include "support/small_layout.h"
#include "support/systems.h"
#include "support/vectors.h"

enum { SEEDS = 24, LAST = GABLE_SOLVE_PARTITIONED_CUSPARSE };

static const gi_cluster_outside none;

static gable_idx cut(gi_random *r, gable_idx n, gable_idx *block)
{
  gable_idx count = 0;
  const double often = gi_random_unit(r);
  block[0] = 0;
  for (gable_idx k = 1; k < n; k++)
    if (gi_random_unit(r) < often) block[++count] = k;
  block[++count] = n;
  return count;
}

static gi_layout *random_layout(gable_context *ctx, gi_random *r, gable_idx n, int cholesky, int symmetric, int blocks)
{
  gable_idx block[64];
  unsigned char *pattern = small_pattern(r, n, gi_random_unit(r) * 0.15, symmetric);
  const gable_idx width = 1 + (gable_idx)gi_random_below(r, 8);
  gi_layout *y = blocks ? small_layout_blocks(ctx, r, cut(r, n, block), block, pattern, symmetric, width)
                        : small_layout(ctx, r, n, pattern, cholesky, symmetric, width);
  free(pattern);
  return y;
}

/* A column of several is the column alone. */
static void check_alone(const gi_method_solver *m, gi_method_work *w, gable_op op, unsigned parts,
                        const gable_vectors_view *b, const gable_vectors_view *x)
{
  const gable_idx n = b->n, j = b->count - 1;
  double *one = malloc(((size_t)n + 4) * 8);
  gable_vectors_view v = test_gapped_view(one, GABLE_TYPE_D, n, 1, GABLE_MAJOR_COL);
  for (gable_idx i = 0; i < n; i++) one[i] = test_value(b, i, j);
  CHECK_OK(gi_method_solve(m, w, op, parts, &v, &v, NULL));
  for (gable_idx i = 0; i < n; i++)
    CHECK(test_value(x, i, j) == (x->type == GABLE_TYPE_S ? (double)(float)one[i] : one[i]),
          "row %d of column %d: %.17g, alone %.17g", i, j, test_value(x, i, j), one[i]);
  free(one);
}

static void check_method(gable_context *ctx, gi_random *r, const gi_factor *f, const dense_factor *dense,
                         gable_solve_method method, int merge)
{
  static const gable_idx counts[] = {1, 2, 4, 7, 16, 19};
  const gable_idx n = f->layout->n;
  double *one_b = malloc(((size_t)n + 1) * 8), *one_x = malloc(((size_t)n + 1) * 8);
  gi_method_solver *m = NULL;
  gi_method_work *w = NULL;
  int moved = 0;
  CHECK_OK(gi_method_solver_update(ctx, f, method, merge, &none, &m, &moved));
  CHECK_OK(gi_method_work_create(m, 16, &w));
  for (unsigned parts = 1; parts <= GI_SOLVE_ALL; parts++)
    for (int op = 0; op < 2; op++) {
      const gable_idx count = counts[gi_random_below(r, 6)];
      const gable_type type = gi_random_below(r, 3) ? GABLE_TYPE_D : GABLE_TYPE_S;
      gable_vectors_view b = test_gapped_view(NULL, type, n, count, (gable_major)gi_random_below(r, 2));
      gable_vectors_view x = test_gapped_view(NULL, type, n, count, (gable_major)gi_random_below(r, 2));
      b.data = test_random_vectors(r, &b);
      x.data = test_random_vectors(r, &x);
      CHECK_OK(gi_method_solve(m, w, (gable_op)op, parts, &b, &x, NULL));
      for (gable_idx j = 0; j < count; j++) {
        for (gable_idx i = 0; i < n; i++) {
          one_b[i] = test_value(&b, i, j);
          one_x[i] = test_value(&x, i, j);
        }
        const double ratio = dense_factor_ratio(dense, parts, (gable_op)op, one_x, one_b,
                                                type == GABLE_TYPE_S || f->type == GABLE_TYPE_S);
        CHECK(ratio <= 16, "%s%s, kind %d, parts %u, op %d, column %d of %d: %g times the bound",
              gable_solve_method_text(method), merge ? ", merged" : "", (int)f->kind, parts, op, j, count, ratio);
      }
      check_alone(m, w, (gable_op)op, parts, &b, &x);
      free(b.data);
      free(x.data);
    }
  gi_method_work_destroy(&w);
  gi_method_solver_destroy(ctx, &m);
  free(one_b);
  free(one_x);
}

static void check_seed(gable_context *ctx, uint64_t seed)
{
  gi_random r = gi_random_seed(seed);
  const gi_factor_kind kind = (gi_factor_kind)(1 + seed % 3);
  const int lu = kind == GI_LU, symmetric = !lu || gi_random_below(&r, 2);
  const gable_idx n = (gable_idx)gi_random_below(&r, 50);
  gi_layout *y = random_layout(ctx, &r, n, !lu, symmetric, lu && n > 0 && gi_random_below(&r, 2));
  gi_factor *f = random_factor(ctx, &r, y, kind, seed % 4 == 0 ? GABLE_TYPE_S : GABLE_TYPE_D);
  dense_factor dense = dense_factor_of(f);
  for (int method = GABLE_SOLVE_LEVELS; method <= LAST; method++)
    for (int merge = 0; merge < 2; merge++) check_method(ctx, &r, f, &dense, (gable_solve_method)method, merge);
  dense_factor_free(&dense);
  gi_factor_destroy(ctx, &f);
  gi_layout_destroy(ctx, &y);
}

/* x [n] of a solve with b in columns of doubles, all parts and ops: within the bound of a substitution. */
static void check_products(const gi_method_solver *m, gi_method_work *w, gi_random *r, const dense_factor *d,
                           const char *name, int is_float)
{
  double *b = malloc(((size_t)d->n + 1) * 8), *x = malloc(((size_t)d->n + 1) * 8);
  gable_vectors_view vb = test_vectors(d->n, 1, b), vx = test_vectors(d->n, 1, x);
  for (unsigned parts = 1; parts <= GI_SOLVE_ALL; parts++)
    for (int op = 0; op < 2; op++) {
      for (gable_idx i = 0; i < d->n; i++) x[i] = gi_random_unit(r) - 0.5;
      dense_factor_multiply(d, parts, (gable_op)op, x, b);
      CHECK_OK(gi_method_solve(m, w, (gable_op)op, parts, &vb, &vx, NULL));
      const double ratio = dense_factor_ratio(d, parts, (gable_op)op, x, b, is_float);
      CHECK(ratio <= 16, "%s, parts %u, op %d: %g times the bound", name, parts, op, ratio);
    }
  free(b);
  free(x);
}

/* Blocks whose inverses lose too much, or overflow: both triangles are as good as by substitution. */
static void check_substituted(gable_context *ctx, uint64_t seed)
{
  gi_random r = gi_random_seed(seed);
  const gi_factor_kind kind = (gi_factor_kind)(1 + seed % 3);
  const gable_idx n = 20 + (gable_idx)gi_random_below(&r, 30);
  gi_layout *y = random_layout(ctx, &r, n, kind != GI_LU, 1, kind == GI_LU && gi_random_below(&r, 2));
  gi_factor *f = random_factor(ctx, &r, y, kind, GABLE_TYPE_D);
  const gable_idx spoilt = random_factor_spoil(f);
  dense_factor dense = dense_factor_of(f);
  for (int method = GABLE_SOLVE_LEVELS; method <= LAST; method++)
    for (int merge = 0; merge < 2; merge++) {
      gi_method_solver *m = NULL;
      gi_method_work *w = NULL;
      int moved = 0;
      CHECK_OK(gi_method_solver_update(ctx, f, (gable_solve_method)method, merge, &none, &m, &moved));
      CHECK_OK(gi_method_work_create(m, 1, &w));
      const gi_method_counts c = gi_method_solver_counts(m);
      CHECK(method > GABLE_SOLVE_BATCHED ? (c.substituted > 0) == (spoilt > 0) : c.substituted == c.blocks,
            "%s: %lld of %lld blocks by substitution, %d are spoilt",
            gable_solve_method_text((gable_solve_method)method), (long long)c.substituted, (long long)c.blocks, spoilt);
      check_products(m, w, &r, &dense, gable_solve_method_text((gable_solve_method)method), 0);
      gi_method_work_destroy(&w);
      gi_method_solver_destroy(ctx, &m);
    }
  dense_factor_free(&dense);
  gi_factor_destroy(ctx, &f);
  gi_layout_destroy(ctx, &y);
}

/* A block whose inverse overflows. */
static void check_wide_range(gable_context *ctx, int which)
{
  const wide_range *is = &wide_ranges[which];
  gi_layout *y;
  gi_factor *f = wide_range_factor(ctx, which, &y);
  for (int method = GABLE_SOLVE_LEVELS; method <= LAST; method++) {
    gi_method_solver *m = NULL;
    gi_method_work *w = NULL;
    int moved = 0;
    CHECK_OK(gi_method_solver_update(ctx, f, (gable_solve_method)method, 0, &none, &m, &moved));
    CHECK_OK(gi_method_work_create(m, 1, &w));
    for (int op = 0; op < 2; op++) {
      double x[4];
      memcpy(x, is->b[op], sizeof x);
      gable_vectors_view v = test_vectors(is->n, 1, x);
      CHECK_OK(gi_method_solve(m, w, (gable_op)op, GI_SOLVE_L, &v, &v, NULL));
      for (int i = 0; i < is->n; i++)
        CHECK(x[i] == is->x[op][i], "%s, op %d: x[%d] = %g of %d", gable_solve_method_text((gable_solve_method)method),
              op, i, x[i], is->n);
    }
    gi_method_work_destroy(&w);
    gi_method_solver_destroy(ctx, &m);
  }
  gi_factor_destroy(ctx, &f);
  gi_layout_destroy(ctx, &y);
}

/* One column a supernode of a dense matrix: one block and one level when merged, n of both when not. */
static void check_merging(gable_context *ctx)
{
  enum { N = 12 };
  gi_random r = gi_random_seed(5);
  unsigned char *pattern = small_pattern(&r, N, 1, 1);
  gi_layout *y = small_layout(ctx, &r, N, pattern, 0, 1, 1);
  gi_factor *f = random_factor(ctx, &r, y, GI_LU, GABLE_TYPE_D);
  CHECK(y->n_super == N, "%d supernodes", y->n_super);
  for (int upper = 0; upper < 2; upper++)
    for (int merge = 0; merge < 2; merge++) {
      gi_block_triangle *t = NULL;
      CHECK_OK(gi_block_triangle_create(ctx, f, upper, GABLE_SOLVE_LEVELS, merge, &t));
      CHECK(t->n_blocks == (merge ? 1 : N) && t->n_levels == t->n_blocks, "merge %d: %d blocks, %d levels", merge,
            t->n_blocks, t->n_levels);
      gi_block_triangle_destroy(ctx, &t);
    }
  gi_factor_destroy(ctx, &f);
  gi_layout_destroy(ctx, &y);
  free(pattern);
}

/* Solvers of every kind with every method: refined to the tolerance; one sweep as with the plain solve; new values. */
static void check_solver(gable_context *ctx, test_kind kind)
{
  enum { COUNT = 3 };
  test_system a = test_system_make(kind, 60, 7);
  const gable_matrix_view v = test_system_view(&a);
  const size_t entries = (size_t)a.n * COUNT;
  double *b = malloc(entries * 8), *x = malloc(entries * 8), *plain = malloc(entries * 8);
  for (size_t k = 0; k < entries; k++) b[k] = (double)(k * 7 % 11) - 4.5;
  for (int method = 0; method <= LAST; method++)
    for (int merge = 0; merge < 2; merge++) {
      gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
      gable_solver_work *w = NULL;
      gable_vectors_view vb = test_vectors(a.n, COUNT, b), vx = test_vectors(a.n, COUNT, x);
      int64_t levels;
      double rcond;
      options.solve_method = (gable_solve_method)method;
      options.merge_blocks = merge;
      gable_solver *s = test_factored(ctx, &v, &options);
      CHECK_OK(gable_solver_work_create(s, COUNT, &w));
      CHECK_OK(gable_solver_get(s, GABLE_SOLVER_SOLVE_LEVELS, &levels, sizeof levels));
      CHECK(method ? levels > 0 : levels == 0, "method %d: %d levels", method, (int)levels);
      for (int values = 0; values < 3; values++) { /* the last under another analysis */
        CHECK_OK(gable_solver_apply(s, w, GABLE_OP_N, GABLE_FACTOR_ALL, &vb, &vx));
        if (method == 0) memcpy(plain, x, entries * 8);
        double size = 0;
        for (size_t k = 0; k < entries; k++) size = fmax(size, fabs(plain[k]));
        for (size_t k = 0; k < entries; k++)
          CHECK(fabs(x[k] - plain[k]) <= 1e-6 * size, "%s, %s: %.17g, plain %.17g", test_kind_name(kind),
                gable_solve_method_text(options.solve_method), x[k], plain[k]);
        for (int op = 0; op < 2; op++) {
          CHECK_OK(gable_solver_solve(s, w, (gable_op)op, &vb, &vx));
          for (gable_idx j = 0; j < COUNT; j++) {
            const double error = test_backward_error(&a, (gable_op)op, b + j * a.n, x + j * a.n);
            CHECK(error <= 1e-12, "%s, %s, op %d: backward error %g", test_kind_name(kind),
                  gable_solve_method_text(options.solve_method), op, error);
          }
        }
        CHECK_OK(gable_solver_rcond(s, w, &rcond));
        CHECK(rcond > 0 && rcond <= 1, "rcond %g", rcond);
        CHECK_OK(gable_solver_factor(s, a.val, values ? GABLE_REUSE_NOTHING : GABLE_REUSE_ALL));
      }
      gable_solver_work_destroy(&w);
      gable_solver_destroy(&s);
    }
  test_system_free(&a);
  free(b);
  free(x);
  free(plain);
}

/* On a device the sweeps of a named method run there, unless they are asked to the CPU; what no method is is refused.
 */
static void check_device(void)
{
  gable_context *ctx = NULL;
  gable_solver *s = NULL;
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  test_system a = test_system_make(TEST_SPD, 30, 7);
  const gable_matrix_view v = test_system_view(&a);
  CHECK_OK(gable_context_create("mirror", NULL, &ctx));
  options.solve_method = GABLE_SOLVE_MERGED;
  for (int place = GABLE_PLACE_CONTEXT; place <= GABLE_PLACE_HOST; place++) {
    int64_t on_device, levels;
    options.place = (gable_place)place;
    s = test_factored(ctx, &v, &options);
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_ON_DEVICE, &on_device, sizeof on_device));
    CHECK_OK(gable_solver_get(s, GABLE_SOLVER_SOLVE_LEVELS, &levels, sizeof levels));
    CHECK(on_device == (place == GABLE_PLACE_CONTEXT) && levels > 0, "place %d: on device %d, %d levels", place,
          (int)on_device, (int)levels);
    gable_solver_destroy(&s);
  }
  options.solve_method = (gable_solve_method)(LAST + 1);
  CHECK(gable_solver_create(ctx, &options, &s) == GABLE_ERR_ARGUMENT, "no such method");
  options.solve_method = GABLE_SOLVE_AUTO;
  options.merge_blocks = 2;
  CHECK(gable_solver_create(ctx, &options, &s) == GABLE_ERR_ARGUMENT, "merge_blocks 2");
  gable_context_destroy(&ctx);
  test_system_free(&a);
}

/* A work from before the factor would solve by auto. */
static void check_early_work(gable_context *ctx)
{
  test_system a = test_system_make(TEST_SPD, 20, 1);
  const gable_matrix_view v = test_system_view(&a);
  double b[20] = {1}, x[20];
  gable_vectors_view vb = test_vectors(a.n, 1, b), vx = test_vectors(a.n, 1, x);
  for (int method = 0; method <= LAST; method++) {
    gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
    gable_solver *s = NULL;
    gable_solver_work *w = NULL;
    options.solve_method = (gable_solve_method)method;
    CHECK_OK(gable_solver_create(ctx, &options, &s));
    CHECK_OK(gable_solver_analyse(s, &v));
    CHECK_OK(gable_solver_work_create(s, 1, &w));
    CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_ALL));
    const gable_status status = gable_solver_solve(s, w, GABLE_OP_N, &vb, &vx);
    CHECK(status == (method ? GABLE_ERR_STATE : GABLE_OK), "%s: %d", gable_solve_method_text(options.solve_method),
          status);
    gable_solver_work_destroy(&w);
    gable_solver_destroy(&s);
  }
  test_system_free(&a);
}

int main(void)
{
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (uint64_t seed = 1; seed <= SEEDS; seed++) check_seed(ctx, seed);
  for (uint64_t seed = 1; seed <= SEEDS; seed++) check_substituted(ctx, seed);
  for (int k = 0; k < WIDE_RANGES; k++) check_wide_range(ctx, k);
  check_merging(ctx);
  check_early_work(ctx);
  for (int kind = 0; kind < TEST_PERMUTATION; kind++)
    if (kind != TEST_WILD && kind != TEST_GROWTH) check_solver(ctx, (test_kind)kind);
  check_device();
  gable_context_destroy(&ctx);
  return 0;
}
