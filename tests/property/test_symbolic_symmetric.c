/* The symmetrised layout against elimination with bit sets, on random patterns. */
#include "support/test.h"

#include "base/random.h"
#include "graph/symbolic.h"

enum { MAX_N = 160 };

typedef struct dense {
  int n;
  unsigned char at[MAX_N][MAX_N];
} dense;

static dense pattern_of, fill;
static gable_off ptr[MAX_N + 1];
static gable_idx idx[MAX_N * MAX_N], perm[MAX_N];

static void make_random(gi_random *r, int n, double density, int with_diagonal)
{
  pattern_of.n = n;
  memset(pattern_of.at, 0, sizeof pattern_of.at);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) pattern_of.at[i][j] = i == j ? with_diagonal : gi_random_unit(r) < density;
  }
  gable_off p = 0;
  for (int j = 0; j < n; j++) {
    ptr[j] = p;
    for (int i = 0; i < n; i++) {
      if (pattern_of.at[i][j]) idx[p++] = i;
    }
  }
  ptr[n] = p;
  for (int k = 0; k < n; k++) {
    const int other = (int)gi_random_below(r, k + 1);
    perm[k] = perm[other];
    perm[other] = k;
  }
}

static gable_off eliminate(void)
{
  const int n = pattern_of.n;
  fill.n = n;
  gable_off count = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      fill.at[i][j] = i == j || pattern_of.at[perm[i]][perm[j]] || pattern_of.at[perm[j]][perm[i]];
  }
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) {
      if (!fill.at[i][k]) continue;
      for (int j = k + 1; j < n; j++) fill.at[i][j] |= fill.at[k][j];
    }
    for (int i = k; i < n; i++) count += fill.at[i][k];
  }
  return count;
}

static int in_layout(const gi_layout *y, int i, int j)
{
  const gable_idx s = y->of[j];
  if (i < y->super[s + 1]) return i >= y->super[s];
  for (gable_off p = y->lptr[s]; p < y->lptr[s + 1]; p++) {
    if (y->lrow[p] == i) return 1;
  }
  return 0;
}

static void check_layout(const gi_layout *y, int exact, gable_idx max_width)
{
  const int n = y->n;
  CHECK(y->super[0] == 0 && y->super[y->n_super] == n);
  gable_off stored = 0;
  for (gable_idx s = 0; s < y->n_super; s++) {
    CHECK(gi_layout_width(y, s) >= 1 && gi_layout_width(y, s) <= max_width);
    gable_idx last = y->super[s + 1] - 1;
    for (gable_off p = y->lptr[s]; p < y->lptr[s + 1]; last = y->lrow[p++]) CHECK(y->lrow[p] > last && y->lrow[p] < n);
    const gable_idx p = y->parent[s];
    if (p < 0) {
      CHECK(gi_layout_nl(y, s) == 0);
    } else {
      CHECK(p > s && p == y->of[y->lrow[y->lptr[s]]]);
    }
    const gable_off w = gi_layout_width(y, s);
    stored += w * (w + 1) / 2 + w * gi_layout_nl(y, s);
    CHECK(y->lval[s + 1] - y->lval[s] == w * (w + gi_layout_nl(y, s)));
  }
  for (int j = 0; j < n; j++) {
    for (int i = j; i < n; i++) CHECK(!fill.at[i][j] || in_layout(y, i, j), "(%d,%d) is missing", i, j);
  }
  CHECK(exact ? stored == y->nnz_l : stored >= y->nnz_l, "stored %ld, exact %ld", (long)stored, (long)y->nnz_l);
}

int main(void)
{
  const uint64_t seed = 20261;
  printf("seed %lu\n", (unsigned long)seed);
  gi_random r = gi_random_seed(seed);
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (int round = 0; round < 600; round++) {
    const int n = (int)gi_random_below(&r, round % 10 ? 40 : MAX_N + 1);
    make_random(&r, n, gi_random_unit(&r) * 4 / (n + 1), round % 2);
    gi_symbolic_options options = {.form = GI_SYMBOLIC_SYMMETRIC, .exact = round % 3 == 0};
    if (round % 4 == 0) options.max_width = 1 + (gable_idx)gi_random_below(&r, 9);
    gi_layout *y = NULL;
    CHECK_OK(gi_symbolic(ctx, n, ptr, idx, perm, &options, &y));
    CHECK(y->nnz_l == eliminate(), "round %d, n %d", round, n);
    check_layout(y, options.exact, options.max_width ? options.max_width : 1000);
    gi_layout_destroy(ctx, &y);
  }
  gable_context_destroy(&ctx);
  return 0;
}
