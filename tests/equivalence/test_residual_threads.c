/* Products and residuals with A and its transpose: the same bits for every number of threads, and those of a plain loop
 * over the rows. */
#include "support/test.h"

#include "base/random.h"
#include "krylov/refine.h"

enum { N = 3000, MOST = 400000 };

static gable_off ptr[N + 1];
static gable_idx idx[MOST];
static double val[MOST], ones[N];

/* Rows of every length: empty ones, long ones, one that is full; columns increase. */
static void fill(gi_random *r)
{
  for (gable_idx i = 0; i < N; i++) {
    gable_off k = ptr[i];
    const double share = i == 7 ? 1 : i % 50 == 3 ? 0 : 0.05 * gi_random_unit(r);
    for (gable_idx j = 0; j < N && k < MOST; j++)
      if (gi_random_unit(r) < share) {
        idx[k] = j;
        val[k++] = gi_random_unit(r) - 0.5;
      }
    ptr[i + 1] = k;
    ones[i] = 1;
  }
}

static void plain(const double *b, const double *x, double *y, double *r, double *w)
{
  for (gable_idx j = 0; j < N; j++) {
    y[j] = 0;
    r[j] = b[j];
    w[j] = 0;
  }
  for (gable_idx i = 0; i < N; i++)
    for (gable_off k = ptr[i]; k < ptr[i + 1]; k++) {
      const double term = val[k] * x[i];
      y[idx[k]] += term;
      r[idx[k]] -= term;
      w[idx[k]] += fabs(term);
    }
  for (gable_idx j = 0; j < N; j++) w[j] += fabs(b[j]);
}

/* Several columns in one pass: the errors of each alone, whoever shares the rows. */
static void check_columns(const gi_system *a, gable_op op, gi_random *r)
{
  enum { COLUMNS = GI_ERROR_COLUMNS };
  static double b[COLUMNS * N], x[COLUMNS * N], scratch[COLUMNS * N], more[COLUMNS * N], residual[N], weight[N];
  gi_errors together[COLUMNS];
  for (gable_idx i = 0; i < COLUMNS * N; i++) {
    b[i] = gi_random_unit(r);
    x[i] = gi_random_unit(r) - 0.5;
  }
  gi_backward_errors(a, op, COLUMNS, b, N, x, N, scratch, more, together);
  for (gable_idx c = 0; c < COLUMNS; c++) {
    const gi_errors alone = gi_backward_error(a, op, b + c * N, x + c * N, residual, weight);
    CHECK(!memcmp(&together[c], &alone, sizeof alone), "op %d, %d threads: column %d differs", op, a->threads, c);
  }
}

int main(void)
{
  static double b[N], x[N], y[3][N], r[3][N], w[3][N];
  const uint64_t seed = 11;
  printf("seed %lu\n", (unsigned long)seed);
  gi_random random = gi_random_seed(seed);
  fill(&random);
  CHECK(ptr[N] > 100000 && ptr[N] < MOST, "%ld entries", (long)ptr[N]);
  for (gable_idx i = 0; i < N; i++) {
    b[i] = gi_random_unit(&random);
    x[i] = gi_random_unit(&random) - 0.5;
  }
  const gi_csc rows = {.n_rows = N, .n_cols = N, .ptr = ptr, .idx = idx, .val = val};
  plain(b, x, y[0], r[0], w[0]);
  for (int op = 0; op < 2; op++) {
    const gable_op which = op ? GABLE_OP_T : GABLE_OP_N;
    for (int threads = 1; threads <= 9; threads += 2) {
      const int with = op ? 0 : 1, at = threads == 1 && !op ? 1 : 2; /* transposed: as the plain loop does */
      const gi_system a = {N, &rows, ones, ones, ones, ones, threads};
      gi_system_apply(&a, which, x, y[at]);
      gi_backward_error(&a, which, b, x, r[at], w[at]);
      CHECK(!memcmp(y[at], y[with], sizeof *y), "op %d, %d threads: another product", op, threads);
      CHECK(!memcmp(r[at], r[with], sizeof *r), "op %d, %d threads: another residual", op, threads);
      CHECK(!memcmp(w[at], w[with], sizeof *w), "op %d, %d threads: other weights", op, threads);
      check_columns(&a, which, &random);
    }
  }
  return 0;
}
