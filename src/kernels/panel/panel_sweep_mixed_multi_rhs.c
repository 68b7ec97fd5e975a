/* panel_sweep_mixed_multi_rhs.c: the sweeps of panel_sweep.h for float values, double vectors, 16 right-hand sides. */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define TYPES mixed
#define V float
#define X double
#define X_BYTES 8
#define THIN_WIDEST_OF_16 0
#define LEVEL_BODY "kernels/panel/panel_sweep_multi_rhs.inc"
#include "base/each_level.inc"
