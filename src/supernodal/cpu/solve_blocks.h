/* solve_blocks.h: ahead of the backward sweep of L D L^T: y := D^-1 y. */
#ifndef GI_SOLVE_BLOCKS_H
#define GI_SOLVE_BLOCKS_H

#include "factor/factor.h"

/* Rows j0 .. j1-1 of y, which are whole supernodes, so that no block of order 2 reaches out of them; rhs columns side
 * by side, of float when single is 1 (a factor of float alone). */
void gi_solve_blocks(const gi_factor *factor, gable_idx rhs, int single, gable_idx j0, gable_idx j1, void *y);

#endif
