/* dot.c: see dot.h. */
#include "kernels/krylov/dot.h"

#include <math.h>

double gik_dot(gable_off n, const double *x, const double *y)
{
  double part[8] = {0};
  gable_off i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; k++) part[k] += x[i + k] * y[i + k];
  for (; i < n; i++) part[0] += x[i] * y[i];
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

double gik_norm2_of(gable_off n, const double *x, double square)
{
  double top = 0, scaled = 0;
  if (square > 1e-280 && square < 1e280) return sqrt(square);
  if (isnan(square)) return square;
  for (gable_off i = 0; i < n; i++) top = fmax(top, fabs(x[i]));
  if (top == 0 || isinf(top)) return top;
  for (gable_off i = 0; i < n; i++) scaled += (x[i] / top) * (x[i] / top);
  return top * sqrt(scaled);
}

double gik_norm2(gable_off n, const double *x)
{
  return gik_norm2_of(n, x, gik_dot(n, x, x));
}
