/* panel_sweep_s_one.c: the sweeps of panel_sweep.h for float values, float vectors, one right-hand side. */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define TYPES s
#define V float
#define X float
#define X_BYTES 4
#define XM int32_t
#define THIN_WIDEST_OF_ONE 4
#define LEVEL_BODY "kernels/panel/panel_sweep_one.inc"
#include "base/each_level.inc"
