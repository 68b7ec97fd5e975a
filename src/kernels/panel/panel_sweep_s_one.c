/* panel_sweep_s_one.c: the sweeps of panel_sweep.h for float values, float vectors, one right-hand side. */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define V float
#define X float
#define XM int32_t
#define VM sm8
#define R 1
#define THIN_WIDEST 4
#define LANES 8
#define VU s8
#define VX s8
#define NAME(stem) stem##_1
#define KERNELS gik_panel_kernels_s_1
#include "kernels/panel/panel_sweep.inc"
