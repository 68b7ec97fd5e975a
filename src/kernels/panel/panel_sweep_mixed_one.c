/* panel_sweep_mixed_one.c: the sweeps of panel_sweep.h for float values, double vectors, one right-hand side. */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define V float
#define X double
#define XM int64_t
#define VM dm8
#define R 1
#define THIN_WIDEST 4
#define LANES 8
#define VU s8
#define VX d8
#define NAME(stem) stem##_1
#define KERNELS gik_panel_kernels_mixed_1
#include "kernels/panel/panel_sweep.inc"
