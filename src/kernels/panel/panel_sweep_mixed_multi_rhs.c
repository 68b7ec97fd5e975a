/* panel_sweep_mixed_multi_rhs.c: the sweeps of panel_sweep.h for float values, double vectors, 4, 8 or 16 right-hand
 * sides.
 */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define V float
#define X double
#define R 4
#define THIN_WIDEST 0
#define LANES 4
#define VU s4
#define VX d4
#define NAME(stem) stem##_4
#define KERNELS gik_panel_kernels_mixed_4
#include "kernels/panel/panel_sweep.inc"
#define R 8
#define THIN_WIDEST 0
#define LANES 8
#define VU s8
#define VX d8
#define NAME(stem) stem##_8
#define KERNELS gik_panel_kernels_mixed_8
#include "kernels/panel/panel_sweep.inc"
#define R 16
#define THIN_WIDEST 0
#define LANES 8
#define VU s8
#define VX d8
#define NAME(stem) stem##_16
#define KERNELS gik_panel_kernels_mixed_16
#include "kernels/panel/panel_sweep.inc"
