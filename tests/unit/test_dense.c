/* The dense kernels against loops that anyone can read, for shapes around their block sizes. */
#include "support/test.h"

#include "base/random.h"
#include "kernels/dense/dense_ldlt.h"

enum { MOST = 200, GUARD = 7 };

static gable_idx size_below(gi_random *r, gable_idx most)
{
  return 1 + (gable_idx)gi_random_below(r, gi_random_below(r, 4) ? (most < 20 ? most : 20) : most);
}

/* n places of [0, most), increasing; in a run of their own every other time. */
static void choose_places(gi_random *r, gable_idx n, gable_idx *place)
{
  place[0] = (gable_idx)gi_random_below(r, 3);
  const int64_t gaps = 1 + gi_random_below(r, 3);
  for (gable_idx i = 1; i < n; i++) place[i] = place[i - 1] + 1 + (gi_random_below(r, 9) == 0 ? (gable_idx)gaps : 0);
}

#define REAL double
#define EPS 2.3e-16
#define NAME(x) x##_d
#include "unit/test_dense.inc"
#undef REAL
#undef EPS
#undef NAME
#define REAL float
#define EPS 1.2e-7
#define NAME(x) x##_s
#include "unit/test_dense.inc"

int main(void)
{
  const uint64_t seed = 77;
  printf("seed %lu\n", (unsigned long)seed);
  gi_random r = gi_random_seed(seed);
  for (int round = 0; round < 400; round++) {
    multiply_d(&r, round % 2);
    multiply_s(&r, round % 2);
    solve_d(&r);
    solve_s(&r);
    factor_d(&r);
    factor_s(&r);
    ldlt_d(&r, round % 4);
    ldlt_s(&r, round % 4);
    largest_d(&r);
    largest_s(&r);
  }
  return 0;
}
