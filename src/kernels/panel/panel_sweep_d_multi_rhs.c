/* panel_sweep_d_multi_rhs.c: the sweeps of panel_sweep.h for double values, double vectors, 16 right-hand sides. */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define V double
#define X double
#define R 16
#define THIN_WIDEST 8
#define EACH_REST
#define LANES 8
#define VU d8
#define VX d8
#define NAME(stem) stem##_16
#define KERNELS gik_panel_kernels_d_16
#include "kernels/panel/panel_sweep.inc"
