/* What holds of every symbolic factorization, whatever the pattern.  F(A): the entries of L + U of A(p, p), in the
 * numbering of A, for one order p.
 *
 *   F(A^T) = F(A)^T,   F(F(A)) = F(A),   A in F(A),   F(A) in F(A + A^T) = F(A + A^T)^T,
 *   the postorder changes nothing, nor does the number of threads;
 *   no fill: tridiagonal, an arrow whose point comes last; full: an arrow whose point comes first;
 *   rows exchanged by partial pivoting: U lies in the Cholesky factor of A^T A (A. George and E. Ng, 1985). */
#include "support/test.h"

#include "base/random.h"
#include "factor/partial_pivoting.h"
#include "graph/symbolic/symbolic.h"

enum { MAX_N = 120 };

typedef struct set {
  int n;
  unsigned char at[MAX_N][MAX_N]; /* [row][column] */
} set;

static gable_context *ctx, *many;

/* The pattern of s by columns; val, when not NULL, gets random values, large on the diagonal now and then. */
static void columns_of(const set *s, gable_off *ptr, gable_idx *idx, double *val, gi_random *r)
{
  gable_off p = 0;
  for (int j = 0; j < s->n; j++) {
    ptr[j] = p;
    for (int i = 0; i < s->n; i++) {
      if (!s->at[i][j]) continue;
      if (val) val[p] = 2 * gi_random_unit(r) - 1;
      idx[p++] = i;
    }
  }
  ptr[s->n] = p;
}

/* *out = F(s) for the order perm, postordered on return; returns the entries that the layout counts in L and U. */
static gable_off fill(gable_context *with, const set *s, gi_symbolic_form form, gable_idx *perm, set *out)
{
  static gable_off ptr[MAX_N + 1];
  static gable_idx idx[MAX_N * MAX_N];
  const gi_symbolic_options options = {.form = form, .exact = 1};
  gi_layout *y = NULL;
  columns_of(s, ptr, idx, NULL, NULL);
  CHECK_OK(gi_symbolic(with, s->n, ptr, idx, perm, &options, &y));
  memset(out, 0, sizeof *out);
  out->n = s->n;
  for (gable_idx t = 0; t < y->n_super; t++)
    for (gable_idx k = y->super[t]; k < y->super[t + 1]; k++) {
      for (gable_idx i = y->super[t]; i < y->super[t + 1]; i++) out->at[perm[i]][perm[k]] = 1;
      for (gable_off p = y->lptr[t]; p < y->lptr[t + 1]; p++) out->at[perm[y->lrow[p]]][perm[k]] = 1;
      for (gable_off p = y->uptr[t]; p < y->uptr[t + 1]; p++) out->at[perm[k]][perm[y->ucol[p]]] = 1;
    }
  const gable_off count = y->nnz_l + y->nnz_u - y->n;
  gi_layout_destroy(with, &y);
  return count;
}

static int size_of(const set *s)
{
  int count = 0;
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j < s->n; j++) count += s->at[i][j];
  return count;
}

static int subset(const set *a, const set *b)
{
  for (int i = 0; i < a->n; i++)
    for (int j = 0; j < a->n; j++)
      if (a->at[i][j] && !b->at[i][j]) return 0;
  return 1;
}

static int same(const set *a, const set *b)
{
  return subset(a, b) && subset(b, a);
}

static void transpose(const set *a, set *out)
{
  out->n = a->n;
  for (int i = 0; i < a->n; i++)
    for (int j = 0; j < a->n; j++) out->at[j][i] = a->at[i][j];
}

static void make_random(gi_random *r, int n, set *a)
{
  const double density = 4 * gi_random_unit(r) / (n + 1);
  memset(a, 0, sizeof *a);
  a->n = n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a->at[i][j] = i == j || gi_random_unit(r) < density;
}

static void shuffle(gi_random *r, int n, gable_idx *perm)
{
  for (int k = 0; k < n; k++) {
    const int other = (int)gi_random_below(r, k + 1);
    perm[k] = perm[other];
    perm[other] = k;
  }
}

static void one_pattern(gi_random *r, int round)
{
  static set a, at, both, f, g, h, ft;
  gable_idx order[MAX_N], perm[MAX_N], again[MAX_N];
  const size_t bytes = sizeof order;
  make_random(r, (int)gi_random_below(r, MAX_N + 1), &a);
  shuffle(r, a.n, order);
  memcpy(perm, order, bytes);
  const gable_off count = fill(ctx, &a, GI_SYMBOLIC_UNSYMMETRIC, perm, &f);
  CHECK(subset(&a, &f) && size_of(&f) == count, "round %d: %d entries, counted %lld", round, size_of(&f),
        (long long)count);

  memcpy(again, perm, bytes); /* postordered already */
  CHECK(fill(many, &a, GI_SYMBOLIC_UNSYMMETRIC, again, &g) == count && same(&f, &g), "round %d: postorder", round);
  memcpy(again, order, bytes);
  fill(many, &a, GI_SYMBOLIC_UNSYMMETRIC, again, &g);
  CHECK(same(&f, &g) && !memcmp(again, perm, (size_t)a.n * sizeof *perm), "round %d: threads", round);

  transpose(&a, &at);
  memcpy(again, order, bytes);
  fill(ctx, &at, GI_SYMBOLIC_UNSYMMETRIC, again, &g);
  transpose(&f, &ft);
  CHECK(same(&g, &ft), "round %d: the transpose", round);

  memcpy(again, order, bytes);
  fill(ctx, &f, GI_SYMBOLIC_UNSYMMETRIC, again, &g);
  CHECK(same(&f, &g), "round %d: the fill of what is filled", round);

  both = a;
  for (int i = 0; i < a.n; i++)
    for (int j = 0; j < a.n; j++) both.at[i][j] |= a.at[j][i];
  memcpy(again, order, bytes);
  fill(ctx, &a, GI_SYMBOLIC_SYMMETRIC, again, &g);
  transpose(&g, &h);
  CHECK(subset(&f, &g) && same(&g, &h), "round %d: inside that of A + A^T", round);
  memcpy(again, order, bytes);
  fill(ctx, &both, GI_SYMBOLIC_UNSYMMETRIC, again, &h);
  CHECK(same(&g, &h), "round %d: both forms for a symmetric pattern", round);
}

/* The rows in the order in which partial pivoting takes them. */
static void pivoted(gi_random *r, int round)
{
  static set a, product, pa, f, g;
  static gable_off ptr[MAX_N + 1];
  static gable_idx idx[MAX_N * MAX_N];
  static double val[MAX_N * MAX_N];
  gable_idx pivot_row[MAX_N], place[MAX_N], perm[MAX_N];
  make_random(r, 1 + (int)gi_random_below(r, MAX_N / 2), &a);
  const int n = a.n;
  columns_of(&a, ptr, idx, val, r);
  const gi_csc columns = {.n_rows = n, .n_cols = n, .ptr = ptr, .idx = idx, .val = val};
  CHECK_OK(gi_partial_pivoting(ctx, &columns, 1.0, pivot_row));
  for (int k = 0; k < n; k++) place[pivot_row[k]] = k;
  memset(&pa, 0, sizeof pa);
  memset(&product, 0, sizeof product);
  pa.n = product.n = n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      pa.at[place[i]][j] |= a.at[i][j];
      for (int k = 0; k < n && a.at[i][j]; k++) product.at[j][k] |= a.at[i][k];
    }
  for (int k = 0; k < n; k++) perm[k] = k;
  fill(ctx, &pa, GI_SYMBOLIC_UNSYMMETRIC, perm, &f);
  for (int k = 0; k < n; k++) perm[k] = k;
  fill(ctx, &product, GI_SYMBOLIC_SYMMETRIC, perm, &g);
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++)
      CHECK(!f.at[i][j] || g.at[i][j], "round %d: (%d,%d) of U is beyond the bound", round, i, j);
}

static void known_fill(int n)
{
  static set a, f;
  gable_idx perm[MAX_N];
  for (int kind = 0; kind < 3; kind++) {
    memset(&a, 0, sizeof a);
    a.n = n;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        a.at[i][j] = i == j || (kind == 0   ? i - j == 1 || j - i == 1
                                : kind == 1 ? i == n - 1 || j == n - 1
                                            : i == 0 || j == 0);
    for (int form = GI_SYMBOLIC_SYMMETRIC; form <= GI_SYMBOLIC_UNSYMMETRIC; form++) {
      for (int k = 0; k < n; k++) perm[k] = k;
      fill(ctx, &a, (gi_symbolic_form)form, perm, &f);
      CHECK(size_of(&f) == (kind == 2 ? n * n : size_of(&a)), "kind %d, n %d: %d entries", kind, n, size_of(&f));
    }
  }
}

int main(void)
{
  const uint64_t seed = 20263;
  gable_context_options options = GABLE_CONTEXT_OPTIONS_INIT;
  printf("seed %lu\n", (unsigned long)seed);
  gi_random r = gi_random_seed(seed);
  options.threads = 1;
  CHECK_OK(gable_context_create("cpu", &options, &ctx));
  options.threads = 5;
  CHECK_OK(gable_context_create("cpu", &options, &many));
  for (int round = 0; round < 400; round++) one_pattern(&r, round);
  for (int round = 0; round < 200; round++) pivoted(&r, round);
  for (int n = 1; n <= MAX_N; n += 7) known_fill(n);
  gable_context_destroy(&ctx);
  gable_context_destroy(&many);
  return 0;
}
