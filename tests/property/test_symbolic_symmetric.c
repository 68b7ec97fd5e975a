/* The symmetrised layout against elimination on dense patterns and against its certificate, on random patterns. */
#include "support/test.h"

#include "base/random.h"
#include "graph/symbolic/symbolic.h"
#include "support/certificate.h"

enum { MAX_N = 160 };

typedef struct dense {
  int n;
  unsigned char at[MAX_N][MAX_N];
} dense;

static dense pattern_of, fill;
static gable_off ptr[MAX_N + 1];
static gable_idx idx[MAX_N * MAX_N], perm[MAX_N];

static void make_random(gi_random *r, int n, double density, int with_diagonal, int mirrored)
{
  pattern_of.n = n;
  memset(pattern_of.at, 0, sizeof pattern_of.at);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++)
      pattern_of.at[i][j] = (unsigned char)(i == j ? with_diagonal : gi_random_unit(r) < density);
    for (int i = 0; mirrored && i < j; i++) pattern_of.at[i][j] = pattern_of.at[j][i];
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

/* The pattern of A + A^T in the final order. */
static void check_certificate(const gi_layout *y, int exact)
{
  static gable_off both_ptr[MAX_N + 1];
  static gable_idx both[MAX_N * MAX_N];
  gable_off p = 0;
  for (int j = 0; j < y->n; j++) {
    both_ptr[j] = p;
    for (int i = 0; i < y->n; i++) {
      if (pattern_of.at[perm[i]][perm[j]] || pattern_of.at[perm[j]][perm[i]]) both[p++] = i;
    }
  }
  both_ptr[y->n] = p;
  const char *problem;
  CHECK(certificate_holds(y, both_ptr, both, exact, &problem), "%s", problem);
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
    make_random(&r, n, gi_random_unit(&r) * 4 / (n + 1), round % 2, round % 3 == 1);
    gi_symbolic_options options = {.form = GI_SYMBOLIC_SYMMETRIC, .exact = round % 3 == 0, .cholesky = round % 5 == 0};
    options.mirrored = round % 6 == 1;
    if (round % 4 == 0) options.max_width = 1 + (gable_idx)gi_random_below(&r, 9);
    gi_layout *y = NULL;
    CHECK_OK(gi_symbolic(ctx, n, ptr, idx, perm, &options, &y));
    CHECK(y->nnz_l == eliminate() && y->nnz_u == y->nnz_l, "round %d, n %d", round, n);
    check_layout(y, options.cholesky);
    check_certificate(y, options.exact);
    for (gable_idx s = 0; options.max_width && s < y->n_super; s++) CHECK(gi_layout_width(y, s) <= options.max_width);
    gi_layout_destroy(ctx, &y);
  }
  gable_context_destroy(&ctx);
  return 0;
}
