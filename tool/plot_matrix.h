/* plot_matrix.h: a picture of a matrix: where its entries are, and how wide the level sets of its triangles. */
#ifndef TOOL_PLOT_MATRIX_H
#define TOOL_PLOT_MATRIX_H

#include <gable/gable.h>

/* Writes an SVG to path.  name: for the title.  a: both triangles stored.  lower and upper: widths of the levels, or
 * NULL.  Returns an exit status. */
int plot_matrix(const char *path, const char *name, const gable_matrix *a, const gable_matrix_shape *shape,
                const gable_idx *lower, const gable_idx *upper);

#endif
