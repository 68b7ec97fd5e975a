/* panel_sweep_s.c: the sweeps of panel_sweep.h for float values, float vectors. */
#include "kernels/panel/panel_sweep_table.h"

#include <string.h>

#define TYPES s
#define V float
#define X float
#define X_BYTES 4
#define XM int32_t
#define THIN_WIDEST_OF_ONE 4
#define THIN_WIDEST_OF_16 0
#define LEVEL_BODY "kernels/panel/panel_sweep_counts.inc"
#include "base/each_level.inc"
