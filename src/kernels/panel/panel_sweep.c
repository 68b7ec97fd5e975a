/* panel_sweep.c: which sweeps serve which types, how many right-hand sides and which processor. */
#include "kernels/panel/panel_sweep_table.h"

#define ALL(level, types)                                                                                              \
  {                                                                                                                    \
    &gik_panel_kernels_##types##_1_##level, &gik_panel_kernels_##types##_4_##level,                                    \
        &gik_panel_kernels_##types##_8_##level, &gik_panel_kernels_##types##_16_##level                                \
  }
#define LEVEL(level)                                                                                                   \
  {                                                                                                                    \
    ALL(level, d), ALL(level, s), ALL(level, mixed)                                                                    \
  }

static const gik_panel_kernels *const kernels[GI_INSTRUCTION_SETS][3][4] = {
    LEVEL(level0),
#if GI_INSTRUCTION_SETS > 1
    LEVEL(level1),
    LEVEL(level2),
#endif
};

const gik_panel_kernels *gik_panel_kernels_at(int level, gable_type value, gable_type vector, gable_idx nrhs)
{
  const int count = nrhs <= 1 ? 0 : nrhs <= 4 ? 1 : nrhs <= 8 ? 2 : 3;
  if (value == GABLE_TYPE_D) return vector == GABLE_TYPE_D ? kernels[level][0][count] : NULL;
  return kernels[level][vector == GABLE_TYPE_S ? 1 : 2][count];
}

const gik_panel_kernels *gik_panel_kernels_for(gable_type value, gable_type vector, gable_idx nrhs)
{
  return gik_panel_kernels_at(gi_level(), value, vector, nrhs);
}
