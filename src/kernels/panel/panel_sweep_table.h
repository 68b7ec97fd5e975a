/* panel_sweep_table.h: what the files that compile panel_sweep.inc share: the names of the tables. */
#ifndef GIK_PANEL_SWEEP_TABLE_H
#define GIK_PANEL_SWEEP_TABLE_H

#include "kernels/panel/panel_sweep.h"

#define PANEL_NAME_OF(stem, types, rhs) stem##_##types##_##rhs
#define PANEL_NAME(stem, types, rhs) PANEL_NAME_OF(stem, types, rhs)

/* By types, R and level; mixed: float values, double vectors. */
#define PANEL_EACH_RHS(level, types)                                                                                   \
  gik_panel_kernels_##types##_1_##level, gik_panel_kernels_##types##_4_##level, gik_panel_kernels_##types##_8_##level, \
      gik_panel_kernels_##types##_16_##level
#define PANEL_EXTERN(level)                                                                                            \
  extern const gik_panel_kernels PANEL_EACH_RHS(level, d), PANEL_EACH_RHS(level, s), PANEL_EACH_RHS(level, mixed);
PANEL_EXTERN(level0)
#if GI_INSTRUCTION_SETS > 1
PANEL_EXTERN(level1)
PANEL_EXTERN(level2)
#endif

#endif
