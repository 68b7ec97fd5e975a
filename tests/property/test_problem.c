/* What gi_problem_init finds out about a matrix, against the dense one: its rows, whichever way they were given, the
 * symmetry of pattern and values, the diagonal, and the sums and maxima of rows and columns. */
#include "support/test.h"

#include <float.h>
#include <math.h>

#include "base/random.h"
#include "pipeline/problem.h"

enum { MAX_N = 12, ROUNDS = 3000 };

static double dense[MAX_N][MAX_N];
static int there[MAX_N][MAX_N];

/* mirror: 0: no symmetry; 1: of the pattern; 2: of the values, too, up to rounding. */
static void make_random(gi_random *r, int n, int mirror)
{
  const double density = gi_random_unit(r);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      there[i][j] = gi_random_unit(r) < density;
      dense[i][j] = there[i][j] ? (double)(float)(gi_random_unit(r) - 0.3) : 0;
      if (mirror && j < i) there[i][j] = there[j][i];
      if (mirror && j < i)
        dense[i][j] = !there[i][j] ? 0 : mirror == 2 ? dense[j][i] : (double)(float)(0.5 + gi_random_unit(r));
    }
  }
}

/* The lists of the dense matrix, or of its transpose, as a view.  single [n*n]: values as float, or NULL. */
static gable_matrix_view view_of(int n, int by_rows, int64_t *ptr, gable_idx *idx, double *val, float *single)
{
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  int64_t p = 0;
  for (int k = 0; k < n; k++) {
    ptr[k] = p;
    for (int m = 0; m < n; m++) {
      const int i = by_rows ? k : m, j = by_rows ? m : k;
      if (!there[i][j]) continue;
      idx[p] = m;
      val[p] = dense[i][j];
      if (single) single[p] = (float)dense[i][j];
      p++;
    }
  }
  ptr[n] = p;
  v.n_rows = v.n_cols = n;
  v.format = by_rows ? GABLE_FORMAT_CSR : GABLE_FORMAT_CSC;
  v.ptr = ptr;
  v.idx = idx;
  v.val = single ? (const void *)single : val;
  if (single) v.value_type = GABLE_TYPE_S;
  return v;
}

static void check_rows(const gi_problem *p, int n)
{
  gable_off k = 0;
  for (int i = 0; i < n; i++) {
    CHECK(p->rows.ptr[i] == k);
    for (int j = 0; j < n; j++) {
      if (!there[i][j]) continue;
      CHECK(p->rows.idx[k] == j && p->rows.val[k] == dense[i][j], "(%d,%d)", i, j);
      k++;
    }
  }
  CHECK(p->rows.ptr[n] == k);
}

static void check_flags(const gi_problem *p, int n)
{
  int pattern = 1, values = 1, full = 1;
  for (int i = 0; i < n; i++) {
    full &= dense[i][i] != 0;
    for (int j = 0; j < n; j++) {
      pattern &= there[i][j] == there[j][i];
      values &= fabs(dense[i][j] - dense[j][i]) <= 4 * DBL_EPSILON * fabs(dense[i][j]);
    }
  }
  CHECK(p->pattern_symmetric == pattern && p->values_symmetric == (pattern && values) && p->diagonal_full == full,
        "pattern %d values %d", pattern, values);
}

static void check_norms(const gi_problem *p, int n)
{
  const gi_system s = gi_problem_system(p, 1);
  for (int i = 0; i < n; i++) {
    double sum[2] = {0, 0}, most[2] = {0, 0};
    for (int j = 0; j < n; j++) {
      sum[0] += fabs(dense[i][j]);
      sum[1] += fabs(dense[j][i]);
      most[0] = fmax(most[0], fabs(dense[i][j]));
      most[1] = fmax(most[1], fabs(dense[j][i]));
    }
    CHECK(fabs(s.row_sum[i] - sum[0]) <= 1e-14 * sum[0] && s.row_max[i] == most[0]);
    CHECK(fabs(s.col_sum[i] - sum[1]) <= 1e-14 * sum[1] && s.col_max[i] == most[1]);
  }
}

int main(void)
{
  static int64_t ptr[MAX_N + 1];
  static gable_idx idx[MAX_N * MAX_N];
  static double val[MAX_N * MAX_N];
  static float single[MAX_N * MAX_N];
  const uint64_t seed = 77;
  printf("seed %lu\n", (unsigned long)seed);
  gi_random r = gi_random_seed(seed);
  gable_context *ctx = NULL;
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  for (int round = 0; round < ROUNDS; round++) {
    const int n = (int)gi_random_below(&r, MAX_N + 1);
    make_random(&r, n, round % 3);
    for (int form = 0; form < 4; form++) {
      gi_problem p = {0};
      const gable_matrix_view v = view_of(n, form & 1, ptr, idx, val, form & 2 ? single : NULL);
      CHECK_OK(gi_problem_init(ctx, &v, &p));
      check_rows(&p, n);
      check_flags(&p, n);
      gi_problem_measure(&p);
      check_norms(&p, n);
      if (ptr[n] > 0) { /* a value that is not finite is found where it is */
        const gable_off wrong = (gable_off)gi_random_below(&r, ptr[n]);
        if (form & 2)
          single[wrong] = INFINITY;
        else
          val[wrong] = NAN;
        CHECK(gi_problem_check_values(ctx, &p, v.val) == GABLE_ERR_NOT_FINITE);
        char said[40];
        snprintf(said, sizeof said, "value %lld of", (long long)wrong);
        CHECK(strstr(gable_last_error(), said), "%s", gable_last_error());
      }
      gi_problem_release(ctx, &p);
    }
  }
  gable_context_destroy(&ctx);
  return 0;
}
