/* The best matching, proven by its duals on every matrix and by trying all permutations on the small ones. */
#include "support/test.h"

#include "base/random.h"
#include "graph/match/match.h"

static gable_context *ctx;

/* Dense to compressed; NaN marks what is not stored. */
static gi_csc compress(gable_idx n, const double *dense)
{
  gi_csc a = {.n_rows = n, .n_cols = n};
  a.ptr = gi_alloc(ctx, n + 1, sizeof *a.ptr);
  a.idx = gi_alloc(ctx, (gable_off)n * n, sizeof *a.idx);
  a.val = gi_alloc(ctx, (gable_off)n * n, sizeof *a.val);
  gable_off k = 0;
  for (gable_idx j = 0; j < n; j++) {
    a.ptr[j] = k;
    for (gable_idx i = 0; i < n; i++) {
      if (isnan(dense[i + j * n])) continue;
      a.idx[k] = i;
      a.val[k++] = dense[i + j * n];
    }
  }
  a.ptr[n] = k;
  return a;
}

static void drop(gi_csc *a)
{
  gi_free(ctx, a->ptr);
  gi_free(ctx, a->idx);
  gi_free(ctx, a->val);
}

/* The certificate: matched entries are 1, no entry is larger, no row is matched twice. */
static void certify(const gi_csc *a, const gi_matching *m, uint64_t seed)
{
  gable_idx n = a->n_cols, matched = 0;
  char *seen = calloc((size_t)n + 1, 1);
  for (gable_idx j = 0; j < n; j++) {
    gable_idx i = m->row_of[j];
    if (i >= 0) {
      CHECK(!seen[i], "seed %llu: row %d matched twice", (unsigned long long)seed, i);
      seen[i] = 1;
      matched++;
    }
    int found = 0;
    for (gable_off k = a->ptr[j]; k < a->ptr[j + 1]; k++) {
      double size = a->val ? fabs(a->val[k]) * m->c[j] * m->r[a->idx[k]] : 1;
      CHECK(size <= 1 + 1e-11, "seed %llu: |scaled| = %g", (unsigned long long)seed, size);
      if (a->idx[k] != i) continue;
      found = 1;
      CHECK(fabs(size - 1) <= 1e-11, "seed %llu: matched entry is %g", (unsigned long long)seed, size);
    }
    CHECK(found || i < 0);
  }
  CHECK(matched == m->rank);
  free(seen);
}

/* The most columns matched from j on, and the largest log product with that many. */
static void brute(gable_idx n, const double *dense, gable_idx j, unsigned used, gable_idx count, double product,
                  gable_idx *most, double *best)
{
  if (j == n) {
    if (count > *most || (count == *most && product > *best)) {
      *most = count;
      *best = product;
    }
    return;
  }
  brute(n, dense, j + 1, used, count, product, most, best);
  for (gable_idx i = 0; i < n; i++) {
    double value = dense[i + j * n];
    if ((used >> i & 1) || isnan(value) || value == 0) continue;
    brute(n, dense, j + 1, used | 1u << i, count + 1, product + log(fabs(value)), most, best);
  }
}

static void small_cases(void)
{
  for (uint64_t seed = 1; seed <= 600; seed++) {
    gi_random rng = gi_random_seed(seed);
    gable_idx n = (gable_idx)gi_random_below(&rng, seed % 20 ? 6 : 8);
    double density = 0.2 + 0.7 * gi_random_unit(&rng), spread = gi_random_unit(&rng) * 40;
    double dense[64];
    for (gable_idx k = 0; k < n * n; k++) {
      double value = exp(spread * (gi_random_unit(&rng) - 0.5)) * (gi_random_below(&rng, 2) ? 1 : -1);
      if (seed % 3 == 0) value = (double)(1 + gi_random_below(&rng, 3)); /* many ties */
      if (gi_random_unit(&rng) < 0.1) value = 0;
      dense[k] = gi_random_unit(&rng) < density ? value : (double)NAN;
    }
    gi_csc a = compress(n, dense);
    gi_matching m = {0};
    CHECK_OK(gi_match(ctx, &a, &m));
    gable_idx most = 0;
    double best = -INFINITY, product = 0;
    brute(n, dense, 0, 0, 0, 0, &most, &best);
    CHECK(m.rank == most, "seed %llu: rank %d, brute force %d", (unsigned long long)seed, m.rank, most);
    if (most == n) {
      for (gable_idx j = 0; j < n; j++) product += log(fabs(dense[m.row_of[j] + j * n]));
      CHECK(fabs(product - (n ? best : 0)) <= 1e-9 * (1 + fabs(product)), "seed %llu: log product %g, brute force %g",
            (unsigned long long)seed, product, best);
      certify(&a, &m, seed);
    }
    gi_match_release(ctx, &m);
    drop(&a);
  }
}

static gi_csc random_sparse(gable_idx n, int per_column, double spread, uint64_t seed)
{
  gi_random rng = gi_random_seed(seed);
  gi_csc a = {.n_rows = n, .n_cols = n};
  a.ptr = gi_alloc(ctx, n + 1, sizeof *a.ptr);
  a.idx = gi_alloc(ctx, (gable_off)n * (per_column + 1), sizeof *a.idx);
  a.val = gi_alloc(ctx, (gable_off)n * (per_column + 1), sizeof *a.val);
  gable_off k = 0;
  gable_idx *shuffle = malloc((size_t)n * sizeof *shuffle), *last = malloc((size_t)n * sizeof *last);
  for (gable_idx i = 0; i < n; i++) {
    shuffle[i] = i;
    last[i] = -1;
  }
  for (gable_idx i = n - 1; i > 0; i--) {
    gable_idx j = (gable_idx)gi_random_below(&rng, i + 1), t = shuffle[i];
    shuffle[i] = shuffle[j];
    shuffle[j] = t;
  }
  for (gable_idx j = 0; j < n; j++) {
    a.ptr[j] = k;
    for (int e = 0; e <= per_column; e++) {
      gable_idx i = e ? (gable_idx)gi_random_below(&rng, n) : shuffle[j];
      if (last[i] == j) continue;
      last[i] = j;
      a.idx[k] = i;
      a.val[k++] = exp(spread * (gi_random_unit(&rng) - 0.5));
    }
  }
  a.ptr[n] = k;
  free(shuffle);
  free(last);
  return a;
}

int main(void)
{
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  small_cases();
  for (uint64_t seed = 1; seed <= 12; seed++) {
    gi_csc a = random_sparse(3000, (int)(seed % 6), seed % 2 ? 40 : 5, seed);
    gi_matching m = {0};
    CHECK_OK(gi_match(ctx, &a, &m));
    CHECK(m.rank == 3000, "seed %llu: rank %d", (unsigned long long)seed, m.rank);
    certify(&a, &m, seed);
    gi_match_release(ctx, &m);
    double *val = a.val;
    a.val = NULL;
    CHECK_OK(gi_match(ctx, &a, &m));
    CHECK(m.rank == 3000, "seed %llu: pattern rank %d", (unsigned long long)seed, m.rank);
    certify(&a, &m, seed);
    gi_match_release(ctx, &m);
    a.val = val;
    drop(&a);
  }
  gi_csc wide = {.n_rows = 2, .n_cols = 3};
  gi_matching m = {0};
  CHECK(gi_match(ctx, &wide, &m) == GABLE_ERR_ARGUMENT);
  gable_context_destroy(&ctx);
  return 0;
}
