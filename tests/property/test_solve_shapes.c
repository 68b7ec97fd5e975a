/* Solves with factors of extreme shapes, by Gable's own sweeps on the CPU and on the mirror, or on the place that the
 * first argument names, and by the named methods: supernodes of one column each in a chain of 10^6, 10^5 roots, no row,
 * one row, one dense block; supernodes of 300 and of 1,100 columns with 400 rows below; each against its recurrence.
 * Under a sanitizer a tenth of the chain and of the roots.
 * test_solve_shapes PLACE CHAIN CHAIN_OF_METHODS */
#include "support/test.h"

#include <gable/factors.h>

#include "base/portable.h"
#include "support/place.h"
#include "support/systems.h"

typedef struct triangle {
  int64_t *ptr;
  gable_idx *idx;
  double *val;
} triangle;

/* Columns j of 1 and, in the next below rows, -below/(j+1). */
static triangle unit_lower(gable_idx n, gable_idx below)
{
  const size_t most = (size_t)n * ((size_t)below + 1);
  triangle t = {malloc(((size_t)n + 1) * sizeof *t.ptr), malloc(most * sizeof *t.idx + 1),
                malloc(most * sizeof *t.val + 1)};
  int64_t count = 0;
  CHECK(t.ptr && t.idx && t.val);
  for (gable_idx j = 0; j < n; j++) {
    t.ptr[j] = count;
    for (gable_idx i = j; i < n && i <= j + below; i++) {
      t.idx[count] = i;
      t.val[count++] = i == j ? 1 : -0.5 / below;
    }
  }
  t.ptr[n] = count;
  return t;
}

/* U = diag(2): L U has the pattern of L. */
static triangle twos(gable_idx n)
{
  triangle t = unit_lower(n, 0);
  for (gable_idx j = 0; j < n; j++) t.val[j] = 2;
  return t;
}

static gable_matrix_view view_of(gable_idx n, const triangle *t)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  v.n_rows = v.n_cols = n;
  v.format = GABLE_FORMAT_CSC;
  v.ptr = t->ptr;
  v.idx = t->idx;
  v.val = t->val;
  return v;
}

static void drop(triangle *t)
{
  free(t->ptr);
  free(t->idx);
  free(t->val);
}

/* x of L (2 x) = b, or of its transpose. */
static void expect(gable_idx n, const triangle *l, gable_op op, const double *b, double *x)
{
  if (op == GABLE_OP_N) {
    memcpy(x, b, (size_t)n * sizeof *x);
    for (gable_idx j = 0; j < n; j++)
      for (int64_t k = l->ptr[j] + 1; k < l->ptr[j + 1]; k++) x[l->idx[k]] -= l->val[k] * x[j];
    for (gable_idx j = 0; j < n; j++) x[j] /= 2;
  } else {
    for (gable_idx j = n - 1; j >= 0; j--) {
      x[j] = b[j] / 2;
      for (int64_t k = l->ptr[j] + 1; k < l->ptr[j + 1]; k++) x[j] -= l->val[k] * x[l->idx[k]];
    }
  }
}

/* wide: columns of a supernode. */
static void check(gable_context *ctx, const char *name, gable_idx n, gable_idx below, gable_idx wide,
                  gable_solve_method method, int merge)
{
  const gable_idx count = (n + wide - 1) / wide;
  triangle l = unit_lower(n, below), u = twos(n);
  gable_idx *each = malloc(((size_t)n + 1) * sizeof *each);
  double *b = malloc((size_t)n * sizeof *b + 1), *x = malloc((size_t)n * sizeof *x + 1),
         *want = malloc((size_t)n * sizeof *want + 1);
  gable_factors_view f = GABLE_FACTORS_VIEW_INIT;
  const gable_matrix_view l_view = view_of(n, &l), u_view = view_of(n, &u);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver *s = NULL;
  gable_solver_work *w = NULL;
  int64_t supernodes, bytes;
  CHECK(each && b && x && want);
  for (gable_idx k = 0; k <= count; k++) each[k] = k * wide < n ? k * wide : n;
  for (gable_idx k = 0; k < n; k++) b[k] = 1 + k % 5;
  f.n = n;
  f.l = &l_view;
  f.u = &u_view;
  f.n_supernodes = count;
  f.supernodes = each;
  options.solve_method = method;
  options.merge_blocks = merge;
  CHECK_OK(gable_solver_create(ctx, &options, &s));
  CHECK_OK(gable_solver_import(s, &f, NULL));
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_SUPERNODES, &supernodes, sizeof supernodes));
  CHECK(supernodes == count, "%s: %lld supernodes", name, (long long)supernodes);
  CHECK_OK(gable_solver_get(s, GABLE_SOLVER_DEVICE_BYTES, &bytes, sizeof bytes));
  CHECK(bytes <= 2000000000, "%s: %lld bytes on the device", name, (long long)bytes);
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  for (int op = 0; op < 2; op++) {
    gable_vectors_view vb = test_vectors(n, 1, b), vx = test_vectors(n, 1, x);
    CHECK_OK(gable_solver_solve(s, w, (gable_op)op, &vb, &vx));
    expect(n, &l, (gable_op)op, b, want);
    for (gable_idx k = 0; k < n; k++)
      CHECK(fabs(x[k] - want[k]) <= 1e-13 * fabs(want[k]), "%s, %s, op %d, row %d: %.17g, not %.17g", name,
            gable_solve_method_text(method), op, k, x[k], want[k]);
  }
  gable_solver_work_destroy(&w);
  gable_solver_destroy(&s);
  drop(&l);
  drop(&u);
  free(each);
  free(b);
  free(x);
  free(want);
}

static void check_shapes(gable_context *ctx, gable_solve_method method, int merge, gable_idx chain, gable_idx roots)
{
  check(ctx, "a chain", chain, 1, 1, method, merge);
  check(ctx, "roots alone", roots, 0, 1, method, merge);
  check(ctx, "no row", 0, 1, 1, method, merge);
  check(ctx, "one row", 1, 1, 1, method, merge);
  check(ctx, "one dense block", 90, 90, 1, method, merge);
  if (GI_SANITIZED && method != GABLE_SOLVE_BATCHED) return; /* the others take minutes there */
  check(ctx, "wide blocks", 900, 400, 300, method, merge);
  check(ctx, "wider blocks", 1500, 400, 1100, method, merge);
}

/* chain: of Gable's own; few: of the named methods, for which each column is a level. */
static void check_place(gable_context **ctx, gable_idx chain, gable_idx few)
{
  const gable_idx roots = GI_SANITIZED ? 10000 : 100000;
  check_shapes(*ctx, GABLE_SOLVE_AUTO, 0, GI_SANITIZED ? chain / 10 : chain, roots);
  for (int m = GABLE_SOLVE_LEVELS; m <= GABLE_SOLVE_PARTITIONED_CUSPARSE; m++)
    for (int merge = 0; merge < 2; merge++)
      check_shapes(*ctx, (gable_solve_method)m, merge, GI_SANITIZED ? few / 10 : few, roots);
  gable_context_destroy(ctx);
}

int main(int argc, char **argv)
{
  gable_context *ctx = NULL;
  if (argc > 1) {
    ctx = test_place(argc, argv, NULL);
    check_place(&ctx, argc > 2 ? atoi(argv[2]) : 1000000, argc > 3 ? atoi(argv[3]) : 300);
    return 0;
  }
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  check_place(&ctx, 1000000, 3000);
  CHECK_OK(gable_context_create("mirror", NULL, &ctx));
  check_place(&ctx, 1000000, 1000);
  return 0;
}
