/* panel_sweep_mixed.c: the sweeps of panel_sweep.h for float values, double vectors. */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define TYPES mixed
#define V float
#define X double
#define X_BYTES 8
#define XM int64_t
#define THIN_WIDEST_OF_ONE 4
#define THIN_WIDEST_OF_16 0
#define LEVEL_BODY "kernels/panel/panel_sweep_counts.inc"
#include "base/each_level.inc"
