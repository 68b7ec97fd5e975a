/* panel_sweep_mixed.c: the sweeps of panel_sweep.h for float values, double vectors. */
#include "kernels/panel_sweep_table.h"

#include <string.h>

#define V float
#define X double
#define XM int64_t
#define VM dm8
#define R 1
#define LANES 8
#define VU s8
#define VX d8
#define NAME(stem) stem##_1
#include "kernels/panel_sweep.inc"
#define R 4
#define LANES 4
#define VU s4
#define VX d4
#define NAME(stem) stem##_4
#include "kernels/panel_sweep.inc"
#define R 8
#define LANES 8
#define VU s8
#define VX d8
#define NAME(stem) stem##_8
#include "kernels/panel_sweep.inc"
#define R 16
#define LANES 8
#define VU s8
#define VX d8
#define NAME(stem) stem##_16
#include "kernels/panel_sweep.inc"

const gik_panel_kernels *const gik_panel_kernels_sd[4] = {&kernels_1, &kernels_4, &kernels_8, &kernels_16};
