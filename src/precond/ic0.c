/* ic0.c: IC(0), row by row, with a diagonal shift where it breaks down. */
#include <math.h>

#include "base/pulse.h"
#include "precond/ilu0.h"

/* The sum of l_ik l_jk over k < j, rows i and j of the factor; both increase and end with their diagonal. */
static double row_product(const gable_off *ptr, const gable_idx *idx, const double *l, gable_idx i, gable_idx j)
{
  gable_off p = ptr[i], q = ptr[j];
  double sum = 0;
  while (idx[p] < j && idx[q] < j) {
    if (idx[p] == idx[q])
      sum += l[p++] * l[q++];
    else if (idx[p] < idx[q])
      p++;
    else
      q++;
  }
  return sum;
}

/* One attempt; *bad_row: the row whose pivot is not positive, or -1. */
static gable_status attempt(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                            const double *val, double *l, double shift, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  gi_pulse pulse = gi_pulse_begin(ctx, "IC(0)");
  for (gable_idx i = 0; i < n; i++) {
    *bad_row = i;
    if (i % GI_ROWS_A_LOOK == 0) GI_TRY(gi_pulse_tell(&pulse, (double)i / n));
    const gable_off last = ptr[i + 1] - 1;
    double pivot = val[last] * (1 + shift);
    for (gable_off p = ptr[i]; p < last; p++) {
      const gable_idx j = idx[p];
      l[p] = (val[p] - row_product(ptr, idx, l, i, j)) / l[ptr[j + 1] - 1];
      pivot -= l[p] * l[p];
    }
    if (!(pivot > 0) || !isfinite(pivot)) goto done;
    l[last] = sqrt(pivot);
  }
  *bad_row = -1;
done:
  return status;
}

gable_status gi_ic0(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx, const double *val,
                    double *factor, double *shift, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  for (gable_idx i = 0; i < n; i++) {
    *bad_row = i;
    GI_REQUIRE(ptr[i + 1] > ptr[i] && idx[ptr[i + 1] - 1] == i, GABLE_ERR_SINGULAR,
               "IC(0): row %d (counted from 0) has no diagonal entry", i);
  }
  for (;;) {
    GI_TRY(attempt(ctx, n, ptr, idx, val, factor, *shift, bad_row));
    if (*bad_row < 0) break;
    const double next = *shift > 0 ? 2 * *shift : 1e-3;
    GI_REQUIRE(next <= 10, GABLE_ERR_SINGULAR,
               "IC(0): the pivot of row %d (counted from 0) is not positive, even with the diagonal enlarged %g times",
               *bad_row, 1 + *shift);
    *shift = next;
  }
done:
  return status;
}
