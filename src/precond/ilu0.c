/* ilu0.c: ILU(0), row by row. */
#include <math.h>

#include "base/pulse.h"
#include "precond/ilu0.h"

gable_status gi_ilu_in_pattern(gable_context *ctx, const char *name, gable_idx n, const gable_off *ptr,
                               const gable_idx *idx, double *val, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  gi_pulse pulse = gi_pulse_begin(ctx, name);
  gable_off *place = NULL, *diagonal = NULL; /* of each column in row i, -1: none */
  *bad_row = -1;
  GI_ALLOC(ctx, place, n);
  GI_ALLOC(ctx, diagonal, n);
  for (gable_idx j = 0; j < n; j++) place[j] = -1;
  for (gable_idx i = 0; i < n; i++) {
    if (i % GI_ROWS_A_LOOK == 0) GI_TRY(gi_pulse_tell(&pulse, (double)i / n));
    diagonal[i] = -1;
    for (gable_off p = ptr[i]; p < ptr[i + 1]; p++) place[idx[p]] = p;
    for (gable_off p = ptr[i]; p < ptr[i + 1] && idx[p] < i; p++) {
      const gable_idx k = idx[p];
      const double factor = val[p] / val[diagonal[k]];
      val[p] = factor;
      for (gable_off q = diagonal[k] + 1; q < ptr[k + 1]; q++)
        if (place[idx[q]] >= 0) val[place[idx[q]]] -= factor * val[q];
    }
    diagonal[i] = place[i];
    for (gable_off p = ptr[i]; p < ptr[i + 1]; p++) place[idx[p]] = -1;
    *bad_row = i;
    GI_REQUIRE(diagonal[i] >= 0, GABLE_ERR_SINGULAR, "%s: row %d (counted from 0) has no diagonal entry", name, i);
    const double pivot = val[diagonal[i]];
    GI_REQUIRE(isfinite(pivot) && isfinite(1 / pivot), GABLE_ERR_SINGULAR,
               "%s: the pivot of row %d (counted from 0) is %g", name, i, pivot);
  }
  *bad_row = -1;
done:
  gi_free(ctx, place);
  gi_free(ctx, diagonal);
  return status;
}

gable_status gi_ilu0(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx, double *val,
                     gable_idx *bad_row)
{
  return gi_ilu_in_pattern(ctx, "ILU(0)", n, ptr, idx, val, bad_row);
}
