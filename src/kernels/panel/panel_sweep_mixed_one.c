/* panel_sweep_mixed_one.c: the sweeps of panel_sweep.h for float values, double vectors, one right-hand side. */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define TYPES mixed
#define V float
#define X double
#define X_BYTES 8
#define XM int64_t
#define THIN_WIDEST_OF_ONE 4
#define LEVEL_BODY "kernels/panel/panel_sweep_one.inc"
#include "base/each_level.inc"
