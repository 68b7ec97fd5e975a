/* forest_serial.h: the serial program that products and conjugate gradients over ranks are compared with. */
#ifndef TOOL_FOREST_SERIAL_H
#define TOOL_FOREST_SERIAL_H

#include "forest_cg.h"

/* y = A x; a: square, by columns. */
void forest_serial_product(const gable_matrix_view *a, const double *x, double *y);

/* x solves A x = b, with sums in the order of ranks that have the rows as part [n] says.  *true_residual: ||b - A x|| /
 * ||b||.  at_work (user): before each iteration; its error ends the solve.  GABLE_ERR_MEMORY. */
gable_status forest_serial_cg(const gable_matrix_view *a, const int32_t *part, int ranks, double tolerance,
                              int64_t most, const double *b, double *x, gable_status (*at_work)(void *user), void *user,
                              forest_cg_outcome *out, double *true_residual);

#endif
