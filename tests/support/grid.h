/* grid.h: a box of points with convection, numbered by nested dissection: matrices whose factors have wide supernodes.
 */
#ifndef GRID_H
#define GRID_H

#include "sparse/csc.h"

/* *a: the 7-point operator on an n x n x n box, already permuted; wind 0: symmetric positive definite. */
void grid_matrix(gable_context *ctx, gable_idx n, double wind, gi_csc *a);

#endif
