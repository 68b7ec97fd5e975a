/* panel_sweep_s_multi_rhs.c: the sweeps of panel_sweep.h for float values, float vectors, 16 right-hand sides. */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define TYPES s
#define V float
#define X float
#define X_BYTES 4
#define THIN_WIDEST_OF_16 0
#define LEVEL_BODY "kernels/panel/panel_sweep_multi_rhs.inc"
#include "base/each_level.inc"
