/* estimate_steps.c: the plain version. */
#include "kernels/refine/estimate_steps.h"

#include <math.h>
#include <string.h>

static gable_status start(gable_idx n, double *x, void *stream)
{
  (void)stream;
  for (gable_idx i = 0; i < n; i++) x[i] = 1.0 / (double)n;
  return GABLE_OK;
}

static gable_status unit(gable_idx n, gable_idx k, double *x, void *stream)
{
  (void)stream;
  memset(x, 0, (size_t)n * sizeof *x);
  x[k] = 1;
  return GABLE_OK;
}

static gable_status alternate(gable_idx n, double *x, void *stream)
{
  (void)stream;
  for (gable_idx i = 0; i < n; i++) x[i] = (i % 2 ? -1 : 1) * (1 + (n > 1 ? (double)i / (double)(n - 1) : 0));
  return GABLE_OK;
}

static gable_status signs(gable_idx n, const double *d, double *y, void *stream)
{
  (void)stream;
  for (gable_idx i = 0; i < n; i++) y[i] = (y[i] < 0 ? -1 : 1) * (d ? d[i] : 1);
  return GABLE_OK;
}

static gable_status weigh(gable_idx n, const double *d, double *y, gik_estimate *out, void *stream)
{
  double sum = 0;
  (void)stream;
  for (gable_idx i = 0; i < n; i++) {
    if (d) y[i] *= d[i];
    sum += fabs(y[i]);
  }
  out->sum = sum;
  return GABLE_OK;
}

static gable_status largest(gable_idx n, const double *x, gable_idx last, gik_estimate *out, void *stream)
{
  (void)stream;
  out->best = -1;
  out->largest = 0;
  for (gable_idx i = 0; i < n; i++)
    if (fabs(x[i]) > out->largest || (out->best < 0 && x[i] == 0)) {
      out->largest = fabs(x[i]);
      out->best = i;
    }
  out->last = last < 0 ? 0 : fabs(x[last]);
  return GABLE_OK;
}

static gable_status bound(gable_idx n, double slack, const double *weight, const double *b, double *r, void *stream)
{
  (void)stream;
  for (gable_idx i = 0; i < n; i++) r[i] = fabs(r[i]) + slack * (weight[i] + fabs(b[i]));
  return GABLE_OK;
}

const gik_estimate_steps gik_estimate_steps_cpu = {start, unit, alternate, signs, weigh, largest, bound};
