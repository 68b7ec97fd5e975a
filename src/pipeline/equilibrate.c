#include "pipeline/equilibrate.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { MOST_SWEEPS = 10, LARGEST_EXPONENT = 1000 };

/* By the bits of x = m 2^e, m in [1, 2): what frexp and ldexp would say, in a fraction of their time.  Numbers below
 * 2^-1022 are written otherwise, but the limit holds there. */
double gi_power_of_two(double x)
{
  const uint64_t fraction = ((uint64_t)1 << 52) - 1, root_of_two = 0x6A09E667F3BCD;
  uint64_t bits;
  if (!(x > 0) || !isfinite(x)) return 1;
  memcpy(&bits, &x, sizeof bits);
  int e = (int)(bits >> 52) - 1023 + ((bits & fraction) >= root_of_two);
  e = e > LARGEST_EXPONENT ? LARGEST_EXPONENT : e < -LARGEST_EXPONENT ? -LARGEST_EXPONENT : e;
  bits = (uint64_t)(e + 1023) << 52;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Neither is NaN, so that this is fmax without the call. */
static inline double larger(double x, double y)
{
  return x > y ? x : y;
}

static double column_top(const gi_csc *a, const double *r, gable_idx j)
{
  double top = 0;
  for (gable_off k = a->ptr[j]; k < a->ptr[j + 1]; k++) top = larger(top, fabs(a->val[k]) * r[a->idx[k]]);
  return top;
}

/* Rows first.  Every row then has an entry near 1, so that the columns need no shrinking beyond a rounding of its
 * exponent, and the rows stay near 1 when the columns are stretched. */
void gi_equilibrate(const gi_csc *a, double *r, double *c)
{
  for (gable_idx i = 0; i < a->n_rows; i++) r[i] = 0;
  for (gable_off k = 0; k < a->ptr[a->n_cols]; k++) r[a->idx[k]] = larger(r[a->idx[k]], fabs(a->val[k]));
  for (gable_idx i = 0; i < a->n_rows; i++) r[i] = r[i] > 0 ? gi_power_of_two(1 / r[i]) : 1;
  for (gable_idx j = 0; j < a->n_cols; j++) {
    double top = column_top(a, r, j);
    c[j] = top > 0 ? gi_power_of_two(1 / top) : 1;
  }
}

/* Ruiz's iteration with the newest r at once: each column is divided by the square root of its largest entry. */
void gi_equilibrate_symmetric(const gi_csc *a, double *r)
{
  for (gable_idx j = 0; j < a->n_cols; j++) r[j] = 1;
  int level = 0;
  for (int pass = 0; pass < MOST_SWEEPS && !level; pass++) {
    level = 1;
    for (gable_idx j = 0; j < a->n_cols; j++) {
      double top = column_top(a, r, j) * r[j];
      if (top == 0 || (top >= 0.25 && top <= 4)) continue;
      level = 0;
      r[j] *= gi_power_of_two(1 / sqrt(top));
    }
  }
}

void gi_equilibrate_diagonal(const gi_csc *a, double *r)
{
  for (gable_idx j = 0; j < a->n_cols; j++) {
    gable_off k = a->ptr[j];
    const gable_off end = a->ptr[j + 1];
    while (k < end && a->idx[k] < j) k++;
    const double d = k < end && a->idx[k] == j ? fabs(a->val[k]) : 0;
    r[j] = d != 0 ? gi_power_of_two(1 / sqrt(d)) : 1;
  }
}
