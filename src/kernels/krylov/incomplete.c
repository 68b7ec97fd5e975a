/* incomplete.c: see incomplete.h.  One thread takes the rows in the order of their levels, so nothing waits. */
#include "kernels/krylov/incomplete.h"

#include <math.h>

/* The place of column j in [low, end); end: there is none. */
static unsigned find(const gable_idx *idx, unsigned low, unsigned end, gable_idx j)
{
  unsigned high = end;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (idx[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && idx[low] == j ? low : end;
}

static void blame(const gik_incomplete *f, gable_idx i)
{
  if (i < *f->fault) *f->fault = i;
}

static void ilu0_row(const gik_incomplete *f, gable_idx i)
{
  const gik_rows *a = f->a;
  const unsigned begin = a->ptr[i], diagonal = a->diagonal[i], end = a->ptr[i + 1];
  double *val = f->factor;
  for (unsigned p = begin; p < end; p++) val[p] = ((const double *)a->val)[p];
  for (unsigned p = begin; p < diagonal; p++) {
    const gable_idx k = a->idx[p];
    const double factor = val[p] / val[a->diagonal[k]];
    val[p] = factor;
    for (unsigned q = a->diagonal[k] + 1; q < a->ptr[k + 1]; q++) {
      const unsigned at = find(a->idx, p + 1, end, a->idx[q]);
      if (at < end) val[at] -= factor * val[q];
    }
  }
  if (!isfinite(val[diagonal]) || !isfinite(1 / val[diagonal])) blame(f, i);
}

static void ic0_row(const gik_incomplete *f, gable_idx i)
{
  const gik_rows *a = f->a;
  const double *val = a->val;
  const unsigned begin = a->ptr[i], diagonal = a->diagonal[i];
  double *l = f->factor, pivot = val[diagonal] * (1 + f->shift);
  for (unsigned p = begin; p < diagonal; p++) {
    const gable_idx j = a->idx[p];
    double sum = 0;
    for (unsigned q = a->ptr[j]; q < a->diagonal[j]; q++) {
      const unsigned at = find(a->idx, begin, p, a->idx[q]);
      if (at < p) sum += l[at] * l[q];
    }
    l[p] = (val[p] - sum) / l[a->diagonal[j]];
    pivot -= l[p] * l[p];
  }
  if (!(pivot > 0) || !isfinite(pivot)) blame(f, i);
  l[diagonal] = sqrt(pivot);
}

static gable_status ilu0(const gik_incomplete *f)
{
  for (gable_idx k = 0; k < f->a->n; k++) ilu0_row(f, (gable_idx)f->order[k]);
  return GABLE_OK;
}

static gable_status ic0(const gik_incomplete *f)
{
  for (gable_idx k = 0; k < f->a->n; k++) ic0_row(f, (gable_idx)f->order[k]);
  return GABLE_OK;
}

const gik_incomplete_factors gik_incomplete_factors_cpu = {ilu0, ic0};
