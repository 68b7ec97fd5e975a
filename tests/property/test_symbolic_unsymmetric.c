/* The unsymmetric layout against elimination with bit sets and against its certificate, on random directed graphs. */
#include "support/test.h"

#include "base/random.h"
#include "graph/btf.h"
#include "graph/symbolic/symbolic.h"
#include "support/certificate.h"

enum { MAX_N = 192, WORDS = MAX_N / 64 };

typedef struct pattern {
  int n;
  gable_off ptr[MAX_N + 1];
  gable_idx idx[MAX_N * MAX_N];
} pattern;

static pattern a, permuted;
static uint64_t fill[MAX_N][WORDS]; /* rows of L + U */
static gable_idx perm[MAX_N];

static int has(int i, int j)
{
  return (int)(fill[i][j / 64] >> (j % 64) & 1);
}

/* Random, with some rows and columns that are long, and some arcs both ways. */
static void make_random(gi_random *r, int n, int with_diagonal)
{
  const double density = gi_random_unit(r) * 3 / (n + 1), both = gi_random_unit(r);
  memset(fill, 0, sizeof fill);
  for (int i = 0; i < n; i++) {
    const double more = gi_random_unit(r) < 0.03 ? 10 : 1;
    for (int j = 0; j < n; j++) {
      if (i == j ? !with_diagonal : gi_random_unit(r) >= more * density) continue;
      fill[i][j / 64] |= 1ull << (j % 64);
      if (gi_random_unit(r) < both) fill[j][i / 64] |= 1ull << (i % 64);
    }
  }
  a.n = n;
  gable_off p = 0;
  for (int j = 0; j < n; j++) {
    a.ptr[j] = p;
    for (int i = 0; i < n; i++)
      if (has(i, j)) a.idx[p++] = i;
  }
  a.ptr[n] = p;
  for (int k = 0; k < n; k++) {
    const int other = (int)gi_random_below(r, k + 1);
    perm[k] = perm[other];
    perm[other] = k;
  }
}

/* Fills `permuted`; entries outside the diagonal blocks are left out when block is not NULL. */
static void eliminate(const gable_idx *block, gable_off *nnz_l, gable_off *nnz_u)
{
  const int n = a.n;
  permute_pattern(n, a.ptr, a.idx, perm, permuted.ptr, permuted.idx);
  memset(fill, 0, sizeof fill);
  int b = 0;
  for (int j = 0; j < n; j++) {
    while (block && j >= block[b + 1]) b++;
    fill[j][j / 64] |= 1ull << (j % 64);
    for (gable_off p = permuted.ptr[j]; p < permuted.ptr[j + 1]; p++) {
      const int i = permuted.idx[p];
      if (!block || (i >= block[b] && i < block[b + 1])) fill[i][j / 64] |= 1ull << (j % 64);
    }
  }
  *nnz_l = *nnz_u = 0;
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) {
      if (!has(i, k)) continue;
      uint64_t low[WORDS]; /* columns up to k of row i stay as they are */
      memcpy(low, fill[i], sizeof low);
      for (int w = 0; w < WORDS; w++) {
        const uint64_t beyond = w < k / 64 ? 0 : w > k / 64 ? ~0ull : ~0ull << (k % 64);
        fill[i][w] = low[w] | (fill[k][w] & beyond);
      }
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      *nnz_l += j <= i && has(i, j);
      *nnz_u += j >= i && has(i, j);
    }
  }
}

static void check_superset(const gi_layout *y)
{
  static unsigned char in[MAX_N][MAX_N];
  memset(in, 0, sizeof in);
  for (gable_idx s = 0; s < y->n_super; s++) {
    for (gable_idx k = y->super[s]; k < y->super[s + 1]; k++) {
      for (gable_idx i = y->super[s]; i < y->super[s + 1]; i++) in[i][k] = 1;
      for (gable_off p = y->lptr[s]; p < y->lptr[s + 1]; p++) in[y->lrow[p]][k] = 1;
      for (gable_off p = y->uptr[s]; p < y->uptr[s + 1]; p++) in[k][y->ucol[p]] = 1;
    }
  }
  for (int i = 0; i < y->n; i++) {
    for (int j = 0; j < y->n; j++) CHECK(in[i][j] || !has(i, j), "(%d,%d) is missing", i, j);
  }
}

/* The entries right of the blocks are those of A. */
static void check_off_blocks(const gi_layout *y)
{
  if (y->n_blocks == 1) return;
  gable_idx b = 0;
  gable_off q = 0;
  for (gable_idx j = 0; j < y->n; j++) {
    while (j >= y->block[b + 1]) b++;
    CHECK(y->off_ptr[j] == q);
    for (gable_off p = permuted.ptr[j]; p < permuted.ptr[j + 1]; p++) {
      if (permuted.idx[p] < y->block[b]) CHECK(q < y->off_ptr[j + 1] && y->off_row[q++] == permuted.idx[p]);
    }
    CHECK(y->off_ptr[j + 1] == q);
  }
}

static void check_round(gable_context *ctx, gi_random *r, int n, int round)
{
  gable_idx block[MAX_N + 1], n_blocks = 0;
  gable_off nnz_l, nnz_u;
  gi_layout *y = NULL;
  gi_symbolic_options options = {.form = GI_SYMBOLIC_UNSYMMETRIC, .exact = round % 2};
  make_random(r, n, round % 3 > 0);
  if (round % 5 == 0) {
    CHECK_OK(gi_btf(ctx, n, a.ptr, a.idx, NULL, perm, block, &n_blocks));
    options.n_blocks = n_blocks;
    options.block = block;
  }
  if (round % 7 == 0) options.max_width = 1 + (gable_idx)gi_random_below(r, 6);
  if (round % 11 == 0) options.form = GI_SYMBOLIC_AUTO;
  CHECK_OK(gi_symbolic(ctx, n, a.ptr, a.idx, perm, &options, &y));
  eliminate(n_blocks > 1 ? block : NULL, &nnz_l, &nnz_u);
  check_layout(y, 0);
  check_superset(y);
  check_off_blocks(y);
  const int exact = options.exact && options.form == GI_SYMBOLIC_UNSYMMETRIC;
  const char *problem;
  CHECK(certificate_holds(y, permuted.ptr, permuted.idx, exact, &problem), "round %d, n %d: %s", round, n, problem);
  if (options.form == GI_SYMBOLIC_UNSYMMETRIC)
    CHECK(y->nnz_l == nnz_l && y->nnz_u == nnz_u, "round %d, n %d: L %ld for %ld, U %ld for %ld", round, n,
          (long)y->nnz_l, (long)nnz_l, (long)y->nnz_u, (long)nnz_u);
  gi_layout_destroy(ctx, &y);
}

/* A checker that passes everything proves nothing: take one row away, or add one. */
static void check_the_checker(gable_context *ctx, gi_random *r)
{
  for (;;) {
    gi_layout *y = NULL;
    gi_symbolic_options options = {.form = GI_SYMBOLIC_UNSYMMETRIC, .exact = 1};
    make_random(r, 60, 1);
    CHECK_OK(gi_symbolic(ctx, 60, a.ptr, a.idx, perm, &options, &y));
    permute_pattern(60, a.ptr, a.idx, perm, permuted.ptr, permuted.idx);
    if (!certificate_holds(y, permuted.ptr, permuted.idx, 1, NULL)) CHECK(0, "a right layout is refused");
    if (y->lptr[y->n_super] == 0) {
      gi_layout_destroy(ctx, &y);
      continue;
    }
    gable_idx s = 0;
    while (y->lptr[s + 1] == 0) s++;
    const gable_idx row = y->lrow[0];
    for (gable_idx other = y->super[s + 1]; other < 60; other++) {
      y->lrow[0] = other;
      if (other != row) CHECK(!certificate_holds(y, permuted.ptr, permuted.idx, 1, NULL), "row %d for %d", other, row);
    }
    gi_layout_destroy(ctx, &y);
    return;
  }
}

int main(void)
{
  const uint64_t seed = 20262;
  printf("seed %lu\n", (unsigned long)seed);
  gi_random r = gi_random_seed(seed);
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (int round = 0; round < 10000; round++)
    check_round(ctx, &r, (int)gi_random_below(&r, round % 20 ? 60 : MAX_N + 1), round);
  check_the_checker(ctx, &r);
  gable_context_destroy(&ctx);
  return 0;
}
