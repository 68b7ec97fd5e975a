/* panel_sweep.c: which sweeps serve which types and how many right-hand sides. */
#include "kernels/panel/panel_sweep_table.h"

#define ALL(types)                                                                                                     \
  {                                                                                                                    \
    &gik_panel_kernels_##types##_1, &gik_panel_kernels_##types##_4, &gik_panel_kernels_##types##_8,                    \
        &gik_panel_kernels_##types##_16                                                                                \
  }

static const gik_panel_kernels *const of_d[4] = ALL(d), *const of_s[4] = ALL(s), *const of_mixed[4] = ALL(mixed);

const gik_panel_kernels *gik_panel_kernels_for(gable_type value, gable_type vector, gable_idx nrhs)
{
  const int count = nrhs <= 1 ? 0 : nrhs <= 4 ? 1 : nrhs <= 8 ? 2 : 3;
  if (value == GABLE_TYPE_D) return vector == GABLE_TYPE_D ? of_d[count] : NULL;
  return vector == GABLE_TYPE_S ? of_s[count] : of_mixed[count];
}
