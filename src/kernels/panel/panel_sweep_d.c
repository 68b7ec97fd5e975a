/* panel_sweep_d.c: the sweeps of panel_sweep.h for double values, double vectors. */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define TYPES d
#define V double
#define X double
#define X_BYTES 8
#define XM int64_t
#define THIN_WIDEST_OF_ONE 8
#define THIN_WIDEST_OF_16 4
#define LEVEL_BODY "kernels/panel/panel_sweep_counts.inc"
#include "base/each_level.inc"
