/* The numeric factorization against plain dense elimination with the same
 * exchanges, on random matrices and layouts. */
#include "support/test.h"

#include "base/random.h"
#include "factor/factor.h"
#include "graph/symbolic/symbolic.h"
#include "support/grid.h"
#include "support/random_factor.h"
#include "support/small_layout.h"

typedef struct problem {
  gable_idx n;
  gi_csc a, at;
  double *dense; /* [n*n] by columns */
} problem;

static void problem_release(gable_context *ctx, problem *p)
{
  gi_csc_release(ctx, &p->a);
  gi_csc_release(ctx, &p->at);
  free(p->dense);
}

/* The dense matrix as A' and its transpose; places that keep says are stored,
 * zero or not. */
static void compress(gable_context *ctx, problem *p, const unsigned char *keep)
{
  const gable_idx n = p->n;
  gable_off nnz = 0;
  for (gable_idx q = 0; q < n * n; q++) nnz += keep[q];
  p->a = (gi_csc){.n_rows = n,
                  .n_cols = n,
                  .ptr = gi_alloc(ctx, n + 1, sizeof(gable_off)),
                  .idx = gi_alloc(ctx, nnz, sizeof(gable_idx)),
                  .val = gi_alloc(ctx, nnz, sizeof(double))};
  nnz = 0;
  for (gable_idx j = 0; j < n; j++) {
    p->a.ptr[j] = nnz;
    for (gable_idx i = 0; i < n; i++) {
      if (!keep[i + j * n]) continue;
      p->a.idx[nnz] = i;
      p->a.val[nnz++] = p->dense[i + j * n];
    }
  }
  p->a.ptr[n] = nnz;
  CHECK_OK(gi_csc_transpose(ctx, &p->a, &p->at));
}

/* kind of values: 0 dominant diagonal, 1 plain random (exchanges), 2 with zeros
 * on the diagonal, 3 positive definite, 4 symmetric, 5 symmetric with zeros on
 * the diagonal. */
static void random_values(gi_random *r, problem *p, const unsigned char *keep, int kind)
{
  const gable_idx n = p->n;
  p->dense = calloc((size_t)n * (size_t)n + 1, sizeof *p->dense);
  for (gable_idx j = 0; j < n; j++)
    for (gable_idx i = 0; i < n; i++) {
      if (!keep[i + j * n]) continue;
      p->dense[i + j * n] = 2 * gi_random_unit(r) - 1;
      if (kind >= 3 && i > j) p->dense[j + i * n] = p->dense[i + j * n];
    }
  if (kind >= 3)
    for (gable_idx j = 0; j < n; j++)
      for (gable_idx i = 0; i < j; i++) p->dense[i + j * n] = p->dense[j + i * n];
  for (gable_idx j = 0; j < n; j++) {
    if (kind == 0 || kind == 3) p->dense[j + j * n] = n;
    if (kind == 2 || kind == 5) p->dense[j + j * n] = gi_random_below(r, 3) ? 3.0 : 0.0;
  }
}

static double at_d(const gi_factor *f, const void *x, gable_off k)
{
  return f->type == GABLE_TYPE_S ? (double)((const float *)x)[k] : ((const double *)x)[k];
}

/* L and U of the factor in one dense array by columns, unit diagonal of L left
 * out. */
static double *unpack(const gi_factor *f)
{
  const gi_layout *y = f->layout;
  const gable_idx n = y->n;
  double *d = calloc((size_t)n * (size_t)n + 1, sizeof *d);
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx w = gi_layout_width(y, s), nl = gi_layout_nl(y, s), nu = gi_layout_nu(y, s), first = y->super[s];
    for (gable_idx k = 0; k < w; k++) {
      const gable_off l = y->lval[s] + (gable_off)k * (w + nl), u = y->uval[s] + (gable_off)k * nu;
      for (gable_idx i = 0; i < w; i++) d[first + i + (first + k) * n] = at_d(f, f->l, l + i);
      for (gable_idx i = 0; i < nl; i++) d[y->lrow[y->lptr[s] + i] + (first + k) * n] = at_d(f, f->l, l + w + i);
      if (f->kind == GI_LU)
        for (gable_idx i = 0; i < nu; i++) d[first + k + y->ucol[y->uptr[s] + i] * n] = at_d(f, f->u, u + i);
    }
  }
  return d;
}

static void exchange_rows(double *d, gable_idx n, gable_idx from, gable_idx p, gable_idx q)
{
  for (gable_idx j = from; j < n; j++) {
    const double held = d[p + j * n];
    d[p + j * n] = d[q + j * n];
    d[q + j * n] = held;
  }
}

/* Dense elimination with the factor's own exchanges, each of which must keep to
 * the rule; returns the pivots replaced.
 */
static gable_idx eliminate(double *d, const gi_factor *f, double tiny, double slack)
{
  const gi_layout *y = f->layout;
  const gable_idx n = y->n;
  gable_idx perturbed = 0;
  for (gable_idx k = 0; k < n; k++) {
    const gable_idx s = y->of[k], p = f->pivot[k];
    CHECK(p >= k && p < y->super[s + 1], "pivot %d of row %d leaves its block", p, k);
    double largest = 0;
    for (gable_idx i = k; i < y->super[s + 1]; i++) largest = fmax(largest, fabs(d[i + k * n]));
    const double wanted = p == k ? 0.1 * largest : largest;
    CHECK(fabs(d[p + k * n]) >= wanted - slack, "pivot %d of row %d: %g of %g", p, k, d[p + k * n], largest);
    exchange_rows(d, n, y->super[s], k, p);
    if (fabs(d[k + k * n]) < tiny) {
      d[k + k * n] = d[k + k * n] < 0 ? -tiny : tiny;
      perturbed++;
    }
    for (gable_idx i = k + 1; i < n; i++) d[i + k * n] /= d[k + k * n];
    for (gable_idx j = k + 1; j < n; j++)
      for (gable_idx i = k + 1; i < n; i++) d[i + j * n] -= d[i + k * n] * d[k + j * n];
  }
  return perturbed;
}

static void check_lu(gable_context *ctx, const problem *p, const gi_layout *y, gable_type type, int threads,
                     int regular)
{
  gi_factor *f = NULL;
  const gable_idx n = p->n;
  const gi_factor_options options = {.threads = threads};
  CHECK_OK(gi_factor_create(ctx, y, GI_LU, type, &f));
  CHECK_OK(gi_factor_numeric(ctx, f, &p->a, &p->at, &options));
  const double eps = type == GABLE_TYPE_S ? 1.2e-7 : 2.2e-16, least = type == GABLE_TYPE_S ? 1.2e-38 : 2.3e-308;
  double *got = unpack(f), *want = malloc(((size_t)n * (size_t)n + 1) * sizeof *want);
  memcpy(want, p->dense, (size_t)n * (size_t)n * sizeof *want);
  const double bound = eps * 1e3 * (n + 1) * fmax(f->max_factor, f->max_entry);
  const gable_idx perturbed = eliminate(want, f, fmax(sqrt(eps) * f->max_entry, least), bound);
  if (regular) {
    CHECK(perturbed == f->perturbed && perturbed == 0, "%d and %d pivots replaced", perturbed, f->perturbed);
    for (gable_idx j = 0; j < n; j++) {
      CHECK(fabs(at_d(f, f->dinv, j) * want[j + j * n] - 1) < eps * 1e6, "reciprocal %d", j);
      for (gable_idx i = 0; i < n; i++) {
        const double scale = i > j ? bound * fmax(1, fabs(at_d(f, f->dinv, j))) * 10 : bound;
        CHECK(fabs(got[i + j * n] - want[i + j * n]) <= scale, "(%d,%d): %.17g, not %.17g", i, j, got[i + j * n],
              want[i + j * n]);
      }
    }
  }
  free(got);
  free(want);
  gi_factor_destroy(ctx, &f);
  CHECK(!f);
}

static void check_cholesky(gable_context *ctx, const problem *p, const gi_layout *y, gable_type type, int threads)
{
  gi_factor *f = NULL;
  const gable_idx n = p->n;
  const gi_factor_options options = {.threads = threads};
  CHECK_OK(gi_factor_create(ctx, y, GI_CHOLESKY, type, &f));
  CHECK_OK(gi_factor_numeric(ctx, f, &p->a, NULL, &options));
  const double eps = type == GABLE_TYPE_S ? 1.2e-7 : 2.2e-16;
  double *l = unpack(f);
  for (gable_idx j = 0; j < n; j++)
    for (gable_idx i = 0; i < n; i++) {
      double sum = 0;
      CHECK(i >= j || l[i + j * n] == 0, "(%d,%d) above the diagonal is %g", i, j, l[i + j * n]);
      for (gable_idx k = 0; k <= (i < j ? i : j); k++) sum += l[i + k * n] * l[j + k * n];
      CHECK(fabs(sum - p->dense[i + j * n]) <= eps * 10 * (n + 1) * n, "(%d,%d): %g, not %g", i, j, sum,
            p->dense[i + j * n]);
    }
  free(l);
  gi_factor_destroy(ctx, &f);
}

/* P A P^T = L D L^T, put together again; D^-1 beside D; what lies above the
 * diagonal but D is zero. */
static void check_ldlt(gable_context *ctx, const problem *p, const gi_layout *y, gable_type type, int threads)
{
  gi_factor *f = NULL;
  const gable_idx n = p->n;
  const gi_factor_options options = {.threads = threads};
  CHECK_OK(gi_factor_create(ctx, y, GI_LDLT, type, &f));
  CHECK_OK(gi_factor_numeric(ctx, f, &p->a, NULL, &options));
  const double eps = type == GABLE_TYPE_S ? 1.2e-7 : 2.2e-16;
  const dense_factor d = dense_factor_of(f);
  double *left = calloc((size_t)n * (size_t)n + 1, sizeof *left);
  for (gable_idx k = 0; k < n; k++) {
    const gable_idx end = y->super[y->of[k] + 1];
    CHECK(f->pivot[k] >= k && f->pivot[k] < end, "pivot %d of row %d leaves its block", f->pivot[k], k);
    CHECK(at_d(f, f->coupling, k) == 0 || (k + 1 < end && at_d(f, f->coupling, k + 1) == 0));
    for (gable_idx i = 0; i < n; i++) {
      left[i + k * n] += d.lower[i + k * n] * d.d[k];
      if (d.e[k] == 0) continue;
      left[i + k * n] += d.lower[i + (k + 1) * n] * d.e[k];
      left[i + (k + 1) * n] += d.lower[i + k * n] * d.e[k];
    }
  }
  for (gable_idx j = 0; j < n; j++)
    for (gable_idx i = 0; i < n; i++) {
      double sum = 0, size = f->max_entry;
      for (gable_idx k = 0; k < n; k++) {
        sum += left[i + k * n] * d.upper[k + j * n];
        size += fabs(left[i + k * n] * d.upper[k + j * n]);
      }
      CHECK(f->perturbed || fabs(sum - p->dense[i + j * n]) <= eps * 50 * (n + 1) * size, "(%d,%d): %g, not %g", i, j,
            sum, p->dense[i + j * n]);
    }
  free(left);
  dense_factor dense = d;
  dense_factor_free(&dense);
  gi_factor_destroy(ctx, &f);
}

static void one_round(gable_context *ctx, gi_random *r, int round, gable_idx n, gable_idx max_width)
{
  const int kind = round % 6, symmetric = kind >= 3 || round % 5 == 0;
  unsigned char *keep = small_pattern(r, n, gi_random_unit(r) * (round % 7 ? 4 : 30) / (n + 1), symmetric);
  problem p = {.n = n};
  random_values(r, &p, keep, kind);
  compress(ctx, &p, keep);
  gi_layout *y = small_layout(ctx, r, n, keep, kind >= 3, symmetric, max_width);
  const gable_type type = round % 7 ? GABLE_TYPE_D : GABLE_TYPE_S;
  const int threads = 1 + round % 3;
  if (kind == 3)
    check_cholesky(ctx, &p, y, type, threads);
  else if (kind > 3)
    check_ldlt(ctx, &p, y, type, threads);
  else
    check_lu(ctx, &p, y, type, threads, kind == 0);
  gi_layout_destroy(ctx, &y);
  problem_release(ctx, &p);
  free(keep);
}

/* A block upper triangular matrix: the blocks on the diagonal are factored,
 * what is right of them is copied. */
static void block_round(gable_context *ctx, gi_random *r, int round)
{
  const gable_idx n = 1 + (gable_idx)gi_random_below(r, 60);
  gable_idx block[61], perm[60], n_blocks = 0;
  for (gable_idx k = 0; k < n; k += 1 + (gable_idx)gi_random_below(r, 12)) block[n_blocks++] = k;
  block[n_blocks] = n;
  unsigned char *keep = small_pattern(r, n, gi_random_unit(r) * 8 / (n + 1), 0), *inside = calloc((size_t)(n * n), 1);
  for (gable_idx b = 0; b < n_blocks; b++)
    for (gable_idx j = block[b]; j < block[b + 1]; j++) {
      perm[j] = j;
      for (gable_idx i = block[b + 1]; i < n; i++) keep[i + j * n] = 0;
      for (gable_idx i = block[b]; i < block[b + 1]; i++) inside[i + j * n] = 1;
    }
  problem p = {.n = n};
  random_values(r, &p, keep, 0);
  compress(ctx, &p, keep);
  const gi_symbolic_options options = {
      .form = (gi_symbolic_form)(1 + round % 2), .n_blocks = n_blocks, .block = block, .exact = round % 3 == 0};
  gi_layout *y = NULL;
  CHECK_OK(gi_symbolic(ctx, n, p.a.ptr, p.a.idx, perm, &options, &y));

  problem q = {.n = n};
  unsigned char *kept = calloc((size_t)(n * n), 1);
  q.dense = calloc((size_t)(n * n), sizeof *q.dense);
  for (gable_idx j = 0; j < n; j++)
    for (gable_idx i = 0; i < n; i++) {
      q.dense[i + j * n] = p.dense[perm[i] + perm[j] * n];
      kept[i + j * n] = keep[perm[i] + perm[j] * n];
    }
  compress(ctx, &q, kept);
  gi_factor *f = NULL;
  CHECK_OK(gi_factor_create(ctx, y, GI_LU, GABLE_TYPE_D, &f));
  CHECK_OK(gi_factor_numeric(ctx, f, &q.a, &q.at, NULL));
  for (gable_idx j = 0; y->off_ptr && j < n; j++)
    for (gable_off o = y->off_ptr[j]; o < y->off_ptr[j + 1]; o++)
      CHECK(at_d(f, f->off, o) == q.dense[y->off_row[o] + j * n], "F(%d,%d)", y->off_row[o], j);
  gi_factor_destroy(ctx, &f);
  for (gable_idx k = 0; k < n * n; k++) q.dense[k] = inside[k] ? q.dense[k] : 0;
  check_lu(ctx, &q, y, GABLE_TYPE_D, 1, 1);
  gi_layout_destroy(ctx, &y);
  problem_release(ctx, &p);
  problem_release(ctx, &q);
  free(keep);
  free(kept);
  free(inside);
}

/* Infinity, then NaN, in one block, and numbers in the blocks before and after:
 * none hides the others. */
static void overflow_of_one_block(gable_context *ctx)
{
  enum { N = 5 };
  static const gi_factor_kind kinds[] = {GI_LU, GI_LDLT};
  const double a = 3e38;
  const double block[] = {a, a, a, a, -a, -a, a, -a, -a};
  unsigned char keep[N * N] = {0};
  problem p = {.n = N, .dense = calloc(N * N, sizeof *p.dense)};
  for (gable_idx k = 0; k < N; k++) p.dense[k + k * N] = 1;
  for (gable_idx k = 0; k < 9; k++) p.dense[1 + k % 3 + (1 + k / 3) * N] = block[k];
  for (gable_idx k = 0; k < N * N; k++) keep[k] = p.dense[k] != 0;
  compress(ctx, &p, keep);
  for (int k = 0; k < 2; k++) {
    const gi_symbolic_options options = {.form = GI_SYMBOLIC_SYMMETRIC, .cholesky = kinds[k] != GI_LU};
    gable_idx order[N] = {0, 1, 2, 3, 4};
    gi_layout *y = NULL;
    gi_factor *f = NULL;
    CHECK_OK(gi_symbolic(ctx, N, p.a.ptr, p.a.idx, order, &options, &y));
    for (gable_idx i = 0; i < N; i++) CHECK(order[i] == i);
    CHECK_OK(gi_factor_create(ctx, y, kinds[k], GABLE_TYPE_S, &f));
    CHECK(gi_factor_numeric(ctx, f, &p.a, &p.at, NULL) == GABLE_ERR_NOT_FINITE, "kind %d: max %g", (int)kinds[k],
          f->max_factor);
    gi_factor_destroy(ctx, &f);
    gi_layout_destroy(ctx, &y);
  }
  problem_release(ctx, &p);
}

/* A dense symmetric or unsymmetric block of 2 in one supernode. */
static gi_factor *factor_of_block(gable_context *ctx, gi_factor_kind kind, gable_type type, const double *block,
                                  gi_layout **y)
{
  gable_idx order[2] = {0, 1};
  const unsigned char keep[4] = {1, 1, 1, 1};
  problem p = {.n = 2, .dense = malloc(4 * sizeof *p.dense)};
  const gi_symbolic_options options = {.form = GI_SYMBOLIC_SYMMETRIC, .cholesky = kind != GI_LU};
  gi_factor *f = NULL;
  memcpy(p.dense, block, 4 * sizeof *block);
  compress(ctx, &p, keep);
  CHECK_OK(gi_symbolic(ctx, 2, p.a.ptr, p.a.idx, order, &options, y));
  CHECK((*y)->n_super == 1 && order[0] == 0);
  CHECK_OK(gi_factor_create(ctx, *y, kind, type, &f));
  CHECK_OK(gi_factor_numeric(ctx, f, &p.a, &p.at, NULL));
  problem_release(ctx, &p);
  return f;
}

/* Which pivot is taken: of LU the diagonal down to a tenth of the largest, of L
 * D L^T what Bunch and Kaufman take. */
static void choice_of_pivots(gable_context *ctx)
{
  static const struct {
    gi_factor_kind kind;
    double block[4];
    gable_idx pivot; /* of row 0 */
    double largest;  /* of U, or D L^T */
  } cases[] = {
      {GI_LU, {0.5, 1, 1, 1}, 0, 1},     {GI_LU, {0.11, 1, 1, 1}, 0, 8.1},  {GI_LU, {0.09, 1, 1, 1}, 1, 1},
      {GI_LU, {-0.5, 1, 1, 1}, 0, 3},    {GI_LDLT, {0.7, 1, 1, 1}, 0, 1},   {GI_LDLT, {0.01, 1, 1, 1}, 1, 1},
      {GI_LDLT, {0.6, 1, 1, 0.1}, 0, 1}, {GI_LDLT, {0.001, 1, 1, 0}, 0, 1}, {GI_LDLT, {0.03, 1, 1, 0.01}, 0, 1},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int type = 0; type < 2; type++) {
      gi_layout *y = NULL;
      gi_factor *f = factor_of_block(ctx, cases[c].kind, type ? GABLE_TYPE_S : GABLE_TYPE_D, cases[c].block, &y);
      CHECK(f->pivot[0] == cases[c].pivot, "case %zu: pivot %d", c, f->pivot[0]);
      CHECK(f->max_factor <= 1.0001 * cases[c].largest, "case %zu: largest %g", c, f->max_factor);
      CHECK(f->perturbed == 0, "case %zu", c);
      gi_factor_destroy(ctx, &f);
      gi_layout_destroy(ctx, &y);
    }
}

/* A pivot below sqrt(eps) of its type is replaced by that, and counted;
 * supernodes of one column, by several threads. */
static void tiny_pivots(gable_context *ctx)
{
  enum { N = 64 };
  for (int type = 0; type < 2; type++)
    for (int threads = 1; threads <= 3; threads += 2) {
      unsigned char *keep = calloc(N * N, 1);
      problem p = {.n = N, .dense = calloc(N * N, sizeof *p.dense)};
      gable_idx order[N], replaced = 0;
      const double eps = type ? 0x1p-23 : 0x1p-52;
      const gi_symbolic_options how = {.form = GI_SYMBOLIC_SYMMETRIC, .exact = 1, .max_width = 1};
      const gi_factor_options options = {.threads = threads};
      gi_layout *y = NULL;
      gi_factor *f = NULL;
      for (gable_idx k = 0; k < N; k++) {
        order[k] = k;
        p.dense[k + k * N] = (k % 2 ? -1 : 1) * pow(2, -k);
        keep[k + k * N] = 1;
        replaced += pow(2, -k) < sqrt(eps);
      }
      compress(ctx, &p, keep);
      CHECK_OK(gi_symbolic(ctx, N, p.a.ptr, p.a.idx, order, &how, &y));
      CHECK_OK(gi_factor_create(ctx, y, GI_LU, type ? GABLE_TYPE_S : GABLE_TYPE_D, &f));
      CHECK_OK(gi_factor_numeric(ctx, f, &p.a, &p.at, &options));
      CHECK(f->perturbed == replaced, "%d pivots replaced, not %d", f->perturbed, replaced);
      for (gable_idx k = 0; k < N; k++) {
        const double d = p.dense[order[k] + order[k] * N], want = fabs(d) < sqrt(eps) ? copysign(sqrt(eps), d) : d;
        CHECK(fabs(at_d(f, f->dinv, k) * want - 1) < 4 * eps, "pivot %d is %g, not %g", k, 1 / at_d(f, f->dinv, k),
              want);
      }
      gi_factor_destroy(ctx, &f);
      gi_layout_destroy(ctx, &y);
      problem_release(ctx, &p);
      free(keep);
    }
}

/* Columns that are zero, of several threads' share: each is a replaced pivot. */
static void replaced_by_threads(gable_context *ctx)
{
  enum { EVERY = 37 };
  gi_csc a = {0}, b = {0}, bt = {0};
  gi_layout *y = NULL;
  gi_factor *f = NULL;
  gable_idx zeros = 0;
  const gi_factor_options how = {.threads = 4};
  const gi_symbolic_options options = {.form = GI_SYMBOLIC_SYMMETRIC};
  grid_matrix(ctx, 20, 0.3, &a);
  gable_idx *perm = malloc((size_t)a.n_cols * sizeof *perm);
  for (gable_idx k = 0; k < a.n_cols; k++) perm[k] = k;
  for (gable_idx j = 0; j < a.n_cols; j++) {
    zeros += j % EVERY == 0;
    for (gable_off q = a.ptr[j]; q < a.ptr[j + 1]; q++)
      if (j % EVERY == 0 || a.idx[q] % EVERY == 0) a.val[q] = 0;
  }
  CHECK_OK(gi_symbolic(ctx, a.n_cols, a.ptr, a.idx, perm, &options, &y));
  CHECK(y->flops > 1e8, "%g operations: one thread may have done all before the others begin", y->flops);
  CHECK_OK(gi_csc_permute(ctx, &a, perm, perm, &b));
  CHECK_OK(gi_csc_transpose(ctx, &b, &bt));
  CHECK_OK(gi_factor_create(ctx, y, GI_LU, GABLE_TYPE_D, &f));
  for (int run = 0; run < 5; run++) {
    CHECK_OK(gi_factor_numeric(ctx, f, &b, &bt, &how));
    CHECK(f->perturbed == zeros, "run %d: %d pivots replaced, not %d", run, f->perturbed, zeros);
  }
  gi_factor_destroy(ctx, &f);
  gi_layout_destroy(ctx, &y);
  gi_csc_release(ctx, &a);
  gi_csc_release(ctx, &b);
  gi_csc_release(ctx, &bt);
  free(perm);
}

int main(void)
{
  const uint64_t seed = 31;
  printf("seed %lu\n", (unsigned long)seed);
  gi_random r = gi_random_seed(seed);
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (int round = 0; round < 800; round++) one_round(ctx, &r, round, (gable_idx)gi_random_below(&r, 40), 6);
  for (int round = 0; round < 24; round++) one_round(ctx, &r, round, (gable_idx)gi_random_below(&r, 300), 90);
  for (int round = 0; round < 200; round++) block_round(ctx, &r, round);
  /* Panels of several tiles, products of packed operands. */
  for (int round = 0; round < 8; round++) one_round(ctx, &r, 7 * round, 500 + 40 * round, 20 + 40 * (round % 4));
  overflow_of_one_block(ctx);
  choice_of_pivots(ctx);
  tiny_pivots(ctx);
  replaced_by_threads(ctx);
  gable_context_destroy(&ctx);
  return 0;
}
