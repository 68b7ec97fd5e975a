/* row_pattern.c: see row_pattern.h. */
#include "kernels/sparse/row_pattern.h"

static gable_status offsets(gable_idx n, unsigned nnz, const void *from, int wide, int base, unsigned *ptr,
                            gik_pattern_flags *flags, void *stream)
{
  gable_off last = 0;
  (void)stream;
  for (gable_idx i = 0; i <= n; i++) {
    const gable_off at = (wide ? ((const int64_t *)from)[i] : ((const int32_t *)from)[i]) - (gable_off)base;
    if (at < last || at > (gable_off)nnz || (i == 0 && at != 0)) flags->irregular = 1;
    ptr[i] = (unsigned)at;
    last = at;
  }
  return GABLE_OK;
}

static gable_status indices(gable_idx n, const unsigned *ptr, int base, const gable_idx *given, gable_idx *idx,
                            unsigned *diagonal, gik_pattern_flags *flags, void *stream)
{
  (void)stream;
  for (gable_idx i = 0; i < n; i++) {
    unsigned left = 0;
    int met = 0;
    for (unsigned p = ptr[i]; p < ptr[i + 1]; p++) {
      const gable_off j = (gable_off)given[p] - base;
      if (j < 0 || j >= n || (p > ptr[i] && given[p - 1] >= given[p])) flags->irregular = 1;
      left += j < i;
      met |= j == i;
      idx[p] = (gable_idx)j;
    }
    if (!met) flags->hollow = 1;
    diagonal[i] = ptr[i] + left;
  }
  return GABLE_OK;
}

/* Whether row j has column i > j. */
static int has_right(const gik_rows *a, gable_idx j, gable_idx i)
{
  unsigned low = a->diagonal[j] + 1, high = a->ptr[j + 1];
  const unsigned end = high;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (a->idx[middle] < i)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && a->idx[low] == i;
}

static gable_status compare(const gik_rows *a, gik_pattern_flags *flags, void *stream)
{
  (void)stream;
  for (gable_idx i = 0; i < a->n; i++) {
    flags->below += a->diagonal[i] - a->ptr[i];
    for (unsigned p = a->ptr[i]; p < a->diagonal[i] && !flags->unequal; p++)
      if (!has_right(a, a->idx[p], i)) flags->unequal = 1;
  }
  return GABLE_OK;
}

const gik_row_patterns gik_row_patterns_cpu = {offsets, indices, compare};
