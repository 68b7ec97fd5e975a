/* The rows that partial pivoting takes, against dense elimination: each pivot
 * is the largest of its column, or the diagonal where that is within the
 * threshold of it. */
#include "support/test.h"

#include "base/random.h"
#include "factor/partial_pivoting.h"

enum { MOST = 60 };
static const double threshold = 0.1;

static gable_off ptr[MOST + 1];
static gable_idx idx[MOST * MOST];
static double val[MOST * MOST], dense[MOST][MOST];

static gi_csc random_matrix(gi_random *r, gable_idx n, double density)
{
  gable_off count = 0;
  memset(dense, 0, sizeof dense);
  for (gable_idx j = 0; j < n; j++) {
    ptr[j] = count;
    for (gable_idx i = 0; i < n; i++) {
      if (i != j && gi_random_unit(r) >= density) continue;
      idx[count] = i;
      val[count] = (gi_random_unit(r) - 0.5) * (i == j && gi_random_unit(r) < 0.5 ? 0.05 : 1);
      dense[i][j] = val[count++];
    }
  }
  ptr[n] = count;
  return (gi_csc){.n_rows = n, .n_cols = n, .ptr = ptr, .idx = idx, .val = val};
}

/* Returns how many pivots are off the diagonal. */
static int check(gable_idx n, const gable_idx *row_of)
{
  int taken[MOST] = {0}, moved = 0;
  for (gable_idx k = 0; k < n; k++) {
    const gable_idx p = row_of[k];
    double largest = 0;
    CHECK(p >= 0 && p < n && !taken[p], "column %d: row %d", k, p);
    for (gable_idx i = 0; i < n; i++)
      if (!taken[i]) largest = fmax(largest, fabs(dense[i][k]));
    const double least = p == k ? threshold * largest : largest;
    CHECK(fabs(dense[p][k]) >= least * (1 - 1e-6), "column %d: pivot %g of %g", k, dense[p][k], largest);
    CHECK(p == k || taken[k] || fabs(dense[k][k]) < threshold * largest * (1 + 1e-6),
          "column %d: the diagonal %g of %g was left", k, dense[k][k], largest);
    moved += p != k;
    taken[p] = 1;
    for (gable_idx i = 0; i < n; i++) {
      if (taken[i] || dense[i][k] == 0) continue;
      const double f = dense[i][k] / dense[p][k];
      for (gable_idx j = k + 1; j < n; j++) dense[i][j] -= f * dense[p][j];
    }
  }
  return moved;
}

int main(void)
{
  gable_context *ctx = NULL;
  int moved = 0, columns = 0;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (uint64_t seed = 1; seed <= 200; seed++) {
    gi_random r = gi_random_seed(seed);
    const gable_idx n = 1 + (gable_idx)gi_random_below(&r, MOST);
    const gi_csc a = random_matrix(&r, n, (1 + 4 * gi_random_unit(&r)) / n);
    gable_idx row_of[MOST];
    CHECK_OK(gi_partial_pivoting(ctx, &a, threshold, row_of));
    moved += check(n, row_of);
    columns += n;
  }
  CHECK(10 * moved > columns && moved < columns, "%d of %d pivots are off the diagonal", moved, columns);
  gable_context_destroy(&ctx);
  return 0;
}
