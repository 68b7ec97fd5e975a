/* panel_sweep_d_few.c: the sweeps of panel_sweep.h for double values, double vectors, 4 or 8 right-hand sides. */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define V double
#define X double
#define R 4
#define THIN_WIDEST 0
#define LANES 4
#define VU d4
#define VX d4
#define NAME(stem) stem##_4
#define KERNELS gik_panel_kernels_d_4
#include "kernels/panel/panel_sweep.inc"
#define R 8
#define THIN_WIDEST 0
#define LANES 8
#define VU d8
#define VX d8
#define NAME(stem) stem##_8
#define KERNELS gik_panel_kernels_d_8
#include "kernels/panel/panel_sweep.inc"
