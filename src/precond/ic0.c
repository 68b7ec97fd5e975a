/* ic0.c: IC(0), row by row. */
#include <math.h>

#include "base/pulse.h"
#include "precond/ilu0.h"

/* The sum of l_ik l_jk over k < j, rows i and j of the factor; both increase and have their diagonal. */
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

gable_status gi_ic0(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx, const double *val,
                    double *l, double shift, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  gi_pulse pulse = gi_pulse_begin(ctx, "IC(0)");
  gable_off *diagonal = NULL; /* places of the diagonal entries */
  GI_ALLOC(ctx, diagonal, n);
  for (gable_idx i = 0; i < n; i++) {
    gable_off p = ptr[i];
    while (p < ptr[i + 1] && idx[p] < i) p++;
    *bad_row = i;
    GI_REQUIRE(p < ptr[i + 1] && idx[p] == i, GABLE_ERR_SINGULAR,
               "IC(0): row %d (counted from 0) has no diagonal entry", i);
    diagonal[i] = p;
  }
  for (gable_idx i = 0; i < n; i++) {
    *bad_row = i;
    if (i % GI_ROWS_A_LOOK == 0) GI_TRY(gi_pulse_tell(&pulse, (double)i / n));
    double pivot = val[diagonal[i]] * (1 + shift);
    for (gable_off p = ptr[i]; p < diagonal[i]; p++) {
      l[p] = (val[p] - row_product(ptr, idx, l, i, idx[p])) / l[diagonal[idx[p]]];
      pivot -= l[p] * l[p];
    }
    if (!(pivot > 0) || !isfinite(pivot)) goto done;
    l[diagonal[i]] = sqrt(pivot);
  }
  *bad_row = -1;
done:
  gi_free(ctx, diagonal);
  return status;
}
