/* panel_sweep.c: the sweeps of panel_sweep.h, one body for every type and number of right-hand sides. */
#include "kernels/panel_sweep.h"

#include <string.h>

/* Vectors of the compiler's, whatever the registers hold: the lanes, and so the bits, are the same everywhere. */
typedef double d4 __attribute__((vector_size(32)));
typedef double d8 __attribute__((vector_size(64)));
typedef float s4 __attribute__((vector_size(16)));
typedef float s8 __attribute__((vector_size(32)));
typedef int64_t dm8 __attribute__((vector_size(64)));
typedef int32_t sm8 __attribute__((vector_size(32)));

#define V double
#define X double
#define XM int64_t
#define VM dm8
#define R 1
#define LANES 8
#define VU d8
#define VX d8
#define NAME(stem) stem##_dd_1
#include "kernels/panel_sweep.inc"
#define R 4
#define LANES 4
#define VU d4
#define VX d4
#define NAME(stem) stem##_dd_4
#include "kernels/panel_sweep.inc"
#define R 8
#define LANES 8
#define VU d8
#define VX d8
#define NAME(stem) stem##_dd_8
#include "kernels/panel_sweep.inc"
#define R 16
#define LANES 8
#define VU d8
#define VX d8
#define NAME(stem) stem##_dd_16
#include "kernels/panel_sweep.inc"
#undef V
#undef X
#undef XM
#undef VM

#define V float
#define X float
#define XM int32_t
#define VM sm8
#define R 1
#define LANES 8
#define VU s8
#define VX s8
#define NAME(stem) stem##_ss_1
#include "kernels/panel_sweep.inc"
#define R 4
#define LANES 4
#define VU s4
#define VX s4
#define NAME(stem) stem##_ss_4
#include "kernels/panel_sweep.inc"
#define R 8
#define LANES 8
#define VU s8
#define VX s8
#define NAME(stem) stem##_ss_8
#include "kernels/panel_sweep.inc"
#define R 16
#define LANES 8
#define VU s8
#define VX s8
#define NAME(stem) stem##_ss_16
#include "kernels/panel_sweep.inc"
#undef V
#undef X
#undef XM
#undef VM

#define V float
#define X double
#define XM int64_t
#define VM dm8
#define R 1
#define LANES 8
#define VU s8
#define VX d8
#define NAME(stem) stem##_sd_1
#include "kernels/panel_sweep.inc"
#define R 4
#define LANES 4
#define VU s4
#define VX d4
#define NAME(stem) stem##_sd_4
#include "kernels/panel_sweep.inc"
#define R 8
#define LANES 8
#define VU s8
#define VX d8
#define NAME(stem) stem##_sd_8
#include "kernels/panel_sweep.inc"
#define R 16
#define LANES 8
#define VU s8
#define VX d8
#define NAME(stem) stem##_sd_16
#include "kernels/panel_sweep.inc"
#undef V
#undef X
#undef XM
#undef VM

const gik_panel_kernels *gik_panel_kernels_for(gable_type value, gable_type vector, gable_idx nrhs)
{
  static const gik_panel_kernels *const table[3][4] = {
      {&kernels_dd_1, &kernels_dd_4, &kernels_dd_8, &kernels_dd_16},
      {&kernels_ss_1, &kernels_ss_4, &kernels_ss_8, &kernels_ss_16},
      {&kernels_sd_1, &kernels_sd_4, &kernels_sd_8, &kernels_sd_16},
  };
  int type = value == GABLE_D ? 0 : vector == GABLE_S ? 1 : 2;
  int count = nrhs <= 1 ? 0 : nrhs <= 4 ? 1 : nrhs <= 8 ? 2 : 3;
  return value == GABLE_D && vector != GABLE_D ? NULL : table[type][count];
}
