/* panel_sweep_d_few.c: the sweeps of panel_sweep.h for double values, double vectors, 4 or 8 right-hand sides. */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define TYPES d
#define V double
#define X double
#define X_BYTES 8
#define LEVEL_BODY "kernels/panel/panel_sweep_few.inc"
#include "base/each_level.inc"
