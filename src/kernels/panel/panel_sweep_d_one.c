/* panel_sweep_d_one.c: the sweeps of panel_sweep.h for double values, double vectors, one right-hand side. */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define V double
#define X double
#define XM int64_t
#define VM dm8
#define R 1
#define THIN_WIDEST 8
#define LANES 8
#define VU d8
#define VX d8
#define NAME(stem) stem##_1
#define KERNELS gik_panel_kernels_d_1
#include "kernels/panel/panel_sweep.inc"
