/* panel_sweep.c: which sweeps serve which types and how many right-hand sides. */
#include "kernels/panel_sweep_table.h"

const gik_panel_kernels *gik_panel_kernels_for(gable_type value, gable_type vector, gable_idx nrhs)
{
  const int count = nrhs <= 1 ? 0 : nrhs <= 4 ? 1 : nrhs <= 8 ? 2 : 3;
  if (value == GABLE_D) return vector == GABLE_D ? gik_panel_kernels_dd[count] : NULL;
  return vector == GABLE_S ? gik_panel_kernels_ss[count] : gik_panel_kernels_sd[count];
}
