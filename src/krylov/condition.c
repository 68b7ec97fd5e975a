#include "krylov/condition.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 5 };

static double sum_abs(gable_idx n, const double *x)
{
  double sum = 0;
  for (gable_idx i = 0; i < n; i++) sum += fabs(x[i]);
  return sum;
}

/* y = B x, B = diag(d) op(A)^-1. */
static gable_status apply(gable_idx n, gable_op op, const double *d, gi_near_inverse inverse, void *user,
                          const double *x, double *y)
{
  gable_status status = GABLE_OK;
  GI_TRY(inverse(user, op, 1, x, y));
  if (d)
    for (gable_idx i = 0; i < n; i++) y[i] *= d[i];
done:
  return status;
}

/* x = B^T s, s = signs of y; y is scratch after. */
static gable_status apply_transposed_signs(gable_idx n, gable_op op, const double *d, gi_near_inverse inverse,
                                           void *user, double *y, double *x)
{
  for (gable_idx i = 0; i < n; i++) y[i] = (y[i] < 0 ? -1 : 1) * (d ? d[i] : 1);
  return inverse(user, op == GABLE_OP_N ? GABLE_OP_T : GABLE_OP_N, 1, y, x);
}

/* Higham's last guess, a vector with alternating signs and growing entries, for the matrices that deceive the
 * iteration. */
static gable_status alternative(gable_idx n, gable_op op, const double *d, gi_near_inverse inverse, void *user,
                                double *x, double *y, double *norm)
{
  gable_status status = GABLE_OK;
  for (gable_idx i = 0; i < n; i++) x[i] = (i % 2 ? -1 : 1) * (1 + (n > 1 ? (double)i / (double)(n - 1) : 0));
  GI_TRY(apply(n, op, d, inverse, user, x, y));
  double guess = 2 * sum_abs(n, y) / (3 * (double)n);
  if (!(guess <= *norm)) *norm = isfinite(guess) ? guess : (double)INFINITY;
done:
  return status;
}

gable_status gi_inverse_norm(gable_idx n, gable_op op, const double *d, gi_near_inverse inverse, void *user,
                             double *work, double *norm)
{
  gable_status status = GABLE_OK;
  double *x = work, *y = work + n;
  gable_idx last = -1;
  *norm = 0;
  if (!n) return GABLE_OK;
  for (gable_idx i = 0; i < n; i++) x[i] = 1.0 / (double)n;
  for (int round = 0; round < MOST_ROUNDS; round++) {
    GI_TRY(apply(n, op, d, inverse, user, x, y));
    double reached = sum_abs(n, y);
    if (!isfinite(reached)) {
      *norm = INFINITY;
      goto done;
    }
    if (round && reached <= *norm) break;
    *norm = reached;
    GI_TRY(apply_transposed_signs(n, op, d, inverse, user, y, x));
    gable_idx best = 0;
    for (gable_idx i = 1; i < n; i++)
      if (fabs(x[i]) > fabs(x[best])) best = i;
    if (best == last || (round && fabs(x[best]) <= fabs(x[last]))) break;
    last = best;
    memset(x, 0, (size_t)n * sizeof *x);
    x[best] = 1;
  }
  GI_TRY(alternative(n, op, d, inverse, user, x, y, norm));
done:
  return status;
}
