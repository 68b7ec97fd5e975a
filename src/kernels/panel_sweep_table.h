/* panel_sweep_table.h: what the files of one type each share: vectors of the compiler's, and the tables by number of
 * right-hand sides (1, 4, 8, 16). */
#ifndef GIK_PANEL_SWEEP_TABLE_H
#define GIK_PANEL_SWEEP_TABLE_H

#include "kernels/panel_sweep.h"

/* Whatever the registers hold: the lanes, and so the bits, are the same everywhere. */
typedef double d4 __attribute__((vector_size(32)));
typedef double d8 __attribute__((vector_size(64)));
typedef float s4 __attribute__((vector_size(16)));
typedef float s8 __attribute__((vector_size(32)));
typedef int64_t dm8 __attribute__((vector_size(64)));
typedef int32_t sm8 __attribute__((vector_size(32)));

extern const gik_panel_kernels *const gik_panel_kernels_dd[4];
extern const gik_panel_kernels *const gik_panel_kernels_ss[4];
extern const gik_panel_kernels *const gik_panel_kernels_sd[4]; /* float values, double vectors */

#endif
