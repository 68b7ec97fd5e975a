/* A factor has the same bits from run to run and for every number of threads. */
#include "support/test.h"

#include "factor/factor.h"
#include "graph/symbolic/symbolic.h"
#include "support/grid.h"

static const int thread_counts[] = {1, 2, 2, 3, 5, 8, 16};

static void check_same(const gi_factor *f, const gi_factor *g, int threads)
{
  const gi_layout *y = f->layout;
  const size_t size = f->type == GABLE_TYPE_S ? sizeof(float) : sizeof(double), n = (size_t)y->n;
  CHECK(!memcmp(f->l, g->l, (size_t)y->lval[y->n_super] * size), "L with %d threads", threads);
  CHECK(!memcmp(f->dinv, g->dinv, n * size), "diagonal with %d threads", threads);
  CHECK(f->max_factor == g->max_factor && f->perturbed == g->perturbed);
  if (f->kind == GI_CHOLESKY) return;
  if (f->kind == GI_LU) CHECK(!memcmp(f->u, g->u, (size_t)y->uval[y->n_super] * size), "U with %d threads", threads);
  if (f->kind == GI_LDLT) CHECK(!memcmp(f->coupling, g->coupling, n * size), "pairs with %d threads", threads);
  CHECK(!memcmp(f->pivot, g->pivot, n * sizeof *f->pivot), "exchanges with %d threads", threads);
}

static void check(gable_context *ctx, gable_idx points, gi_factor_kind kind, gable_type type, gable_idx max_width)
{
  gi_csc a = {0}, at = {0};
  grid_matrix(ctx, points, kind == GI_LU ? 0.7 : 0, &a);
  for (gable_idx j = 0; kind == GI_LDLT && j < a.n_cols; j++)
    for (gable_off q = a.ptr[j]; q < a.ptr[j + 1]; q++)
      if (a.idx[q] == j) a.val[q] = j % 3 ? 0 : 2.5; /* indefinite, with pivots of two columns */
  CHECK_OK(gi_csc_transpose(ctx, &a, &at));
  gable_idx *perm = malloc((size_t)a.n_cols * sizeof *perm);
  for (gable_idx k = 0; k < a.n_cols; k++) perm[k] = k;
  const gi_symbolic_options options = {
      .form = GI_SYMBOLIC_SYMMETRIC, .cholesky = kind != GI_LU, .max_width = max_width};
  gi_layout *y = NULL;
  CHECK_OK(gi_symbolic(ctx, a.n_cols, a.ptr, a.idx, perm, &options, &y));
  gi_csc p = {0}, pt = {0};
  CHECK_OK(gi_csc_permute(ctx, &a, perm, perm, &p));
  CHECK_OK(gi_csc_transpose(ctx, &p, &pt));

  gi_factor *first = NULL;
  for (size_t i = 0; i < sizeof thread_counts / sizeof *thread_counts; i++) {
    gi_factor *f = NULL;
    const gi_factor_options how = {.threads = thread_counts[i]};
    CHECK_OK(gi_factor_create(ctx, y, kind, type, &f));
    CHECK_OK(gi_factor_numeric(ctx, f, &p, &pt, &how));
    if (first) {
      check_same(first, f, thread_counts[i]);
      CHECK_OK(gi_factor_numeric(ctx, f, &p, &pt, &how));
      check_same(first, f, thread_counts[i]);
      gi_factor_destroy(ctx, &f);
    } else {
      first = f;
    }
  }
  gi_factor_destroy(ctx, &first);
  gi_layout_destroy(ctx, &y);
  gi_csc_release(ctx, &a);
  gi_csc_release(ctx, &at);
  gi_csc_release(ctx, &p);
  gi_csc_release(ctx, &pt);
  free(perm);
}

int main(void)
{
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  check(ctx, 17, GI_LU, GABLE_TYPE_D, 0);
  check(ctx, 17, GI_CHOLESKY, GABLE_TYPE_D, 0);
  check(ctx, 17, GI_LDLT, GABLE_TYPE_D, 0);
  check(ctx, 15, GI_LDLT, GABLE_TYPE_S, 24);
  check(ctx, 15, GI_LU, GABLE_TYPE_S, 24);
  check(ctx, 15, GI_CHOLESKY, GABLE_TYPE_S, 300);
  gable_context_destroy(&ctx);
  return 0;
}
