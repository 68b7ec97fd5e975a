/* Scalings are powers of two and bring every row and column near 1, whatever the exponents were. */
#include "support/test.h"

#include "base/random.h"
#include "pipeline/equilibrate.h"

enum { N = 60 };

static int is_power_of_two(double x)
{
  int e;
  return frexp(x, &e) == 0.5;
}

static void check_tops(const gi_csc *a, const double *r, const double *c, uint64_t seed)
{
  double row[N] = {0}, col[N] = {0};
  for (gable_idx j = 0; j < N; j++) {
    CHECK(is_power_of_two(r[j]) && is_power_of_two(c[j]));
    for (gable_off k = a->ptr[j]; k < a->ptr[j + 1]; k++) {
      double size = fabs(a->val[k]) * r[a->idx[k]] * c[j];
      row[a->idx[k]] = fmax(row[a->idx[k]], size);
      col[j] = fmax(col[j], size);
    }
  }
  for (gable_idx j = 0; j < N; j++) {
    CHECK(row[j] == 0 || (row[j] >= 0.25 && row[j] <= 4), "seed %llu row %g", (unsigned long long)seed, row[j]);
    CHECK(col[j] == 0 || (col[j] >= 0.25 && col[j] <= 4), "seed %llu column %g", (unsigned long long)seed, col[j]);
  }
}

static void check_powers(void)
{
  CHECK(gi_power_of_two(3) == 4 && gi_power_of_two(1) == 1 && gi_power_of_two(0.7) == 0.5 && gi_power_of_two(0) == 1);
  CHECK(gi_power_of_two(INFINITY) == 1);
  for (int e = -1074; e < 1024; e++) {
    const int limited = e > 1000 ? 1000 : e < -1000 ? -1000 : e;
    CHECK(gi_power_of_two(ldexp(1, e)) == ldexp(1, limited), "2^%d", e);
    if (e < -1020 || e >= 1000) continue;
    CHECK(gi_power_of_two(ldexp(1.4142135623730949, e)) == ldexp(1, limited), "2^%d", e);
    CHECK(gi_power_of_two(ldexp(1.4142135623730952, e)) == ldexp(1, limited == e ? e + 1 : limited), "2^%d", e);
  }
}

int main(void)
{
  for (uint64_t seed = 1; seed <= 50; seed++) {
    gi_random rng = gi_random_seed(seed);
    static double dense[N][N];
    static gable_off ptr[N + 1];
    static gable_idx idx[N * N];
    static double val[N * N];
    for (int symmetric = 0; symmetric < 2; symmetric++) {
      double left[N], right[N];
      for (int i = 0; i < N; i++) {
        left[i] = exp(200 * (gi_random_unit(&rng) - 0.5));
        right[i] = symmetric ? left[i] : exp(200 * (gi_random_unit(&rng) - 0.5));
      }
      for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
          for (int side = 0; side < 2; side++) {
            double value = gi_random_unit(&rng) < 0.1 ? gi_random_unit(&rng) - 0.5 : 0;
            if (side && symmetric)
              dense[j][i] = dense[i][j];
            else if (side)
              dense[j][i] = value * left[j] * right[i];
            else
              dense[i][j] = value * left[i] * right[j];
          }
      gable_off k = 0;
      for (int j = 0; j < N; j++) {
        ptr[j] = k;
        for (int i = 0; i < N; i++) {
          if (dense[i][j] == 0) continue;
          idx[k] = i;
          val[k++] = dense[i][j];
        }
      }
      ptr[N] = k;
      gi_csc a = {.n_rows = N, .n_cols = N, .ptr = ptr, .idx = idx, .val = val};
      double r[N], c[N];
      if (symmetric) {
        gi_equilibrate_symmetric(&a, r);
        check_tops(&a, r, r, seed);
      } else {
        gi_equilibrate(&a, r, c);
        check_tops(&a, r, c, seed);
      }
    }
  }
  check_powers();
  gable_off ptr[3] = {0, 1, 2};
  gable_idx idx[2] = {0, 1};
  double val[2] = {1e300, 1e-300}, r[2];
  gi_csc d = {.n_rows = 2, .n_cols = 2, .ptr = ptr, .idx = idx, .val = val};
  gi_equilibrate_diagonal(&d, r);
  for (int i = 0; i < 2; i++) CHECK(val[i] * r[i] * r[i] >= 0.5 && val[i] * r[i] * r[i] <= 2);
  return 0;
}
