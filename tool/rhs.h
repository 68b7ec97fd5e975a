/* rhs.h: dense right-hand sides of the tool: read, made from the matrix, written. */
#ifndef TOOL_RHS_H
#define TOOL_RHS_H

#include <gable/gable.h>

#include "session.h"

/* *data [rows * count], freed by the caller: the columns of a file, array or coordinate, whose
 * duplicate entries are an error when strict, else summed and said. */
gable_status rhs_read(session *s, const char *path, int strict, double **data, gable_idx *rows, gable_idx *count);

/* data [n * count] = op(A) X: X is ones for count 0 (one column), else seeded columns between -1 and 1.  a: both
 * triangles, CSC. */
gable_status rhs_make(const gable_matrix_view *a, gable_op op, gable_idx count, double **data);

gable_status rhs_write(gable_context *ctx, const char *path, gable_idx n, gable_idx count, double *data);

#endif
