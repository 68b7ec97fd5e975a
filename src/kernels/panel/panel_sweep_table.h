/* panel_sweep_table.h: what the files that compile panel_sweep.inc share: vectors of the compiler's, and the names of
 * the tables. */
#ifndef GIK_PANEL_SWEEP_TABLE_H
#define GIK_PANEL_SWEEP_TABLE_H

#include "kernels/panel/panel_sweep.h"

/* Whatever the registers hold: the lanes, and so the bits, are the same everywhere. */
typedef double d4 __attribute__((vector_size(32)));
typedef double d8 __attribute__((vector_size(64)));
typedef float s4 __attribute__((vector_size(16)));
typedef float s8 __attribute__((vector_size(32)));
typedef int64_t dm8 __attribute__((vector_size(64)));
typedef int32_t sm8 __attribute__((vector_size(32)));

/* By types and R; mixed: float values, double vectors.  One file each or a few, so that none compiles for long. */
extern const gik_panel_kernels gik_panel_kernels_d_1, gik_panel_kernels_d_4, gik_panel_kernels_d_8,
    gik_panel_kernels_d_16, gik_panel_kernels_s_1, gik_panel_kernels_s_4, gik_panel_kernels_s_8, gik_panel_kernels_s_16,
    gik_panel_kernels_mixed_1, gik_panel_kernels_mixed_4, gik_panel_kernels_mixed_8, gik_panel_kernels_mixed_16;

#endif
