/* panel_sweep_s_few.c: the sweeps of panel_sweep.h for float values, float vectors, 4 or 8 right-hand sides. */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define TYPES s
#define V float
#define X float
#define X_BYTES 4
#define LEVEL_BODY "kernels/panel/panel_sweep_few.inc"
#include "base/each_level.inc"
