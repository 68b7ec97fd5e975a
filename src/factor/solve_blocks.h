/* solve_blocks.h: between the sweeps of L D L^T: y := D^-1 y. */
#ifndef GI_SOLVE_BLOCKS_H
#define GI_SOLVE_BLOCKS_H

#include "factor/factor.h"

/* Rows j0 .. j1-1 of y, rhs columns side by side, of float when single is 1 (a factor of float alone); a block of order
 * 2 is the share of its first row. */
void gi_solve_blocks(const gi_factor *factor, gable_idx rhs, int single, gable_idx j0, gable_idx j1, void *y);

#endif
