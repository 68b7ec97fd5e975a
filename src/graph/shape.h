/* shape.h: what can be said of a matrix in linear time, and its structural rank. */
#ifndef GI_SHAPE_H
#define GI_SHAPE_H

#include <gable/matrix.h>

#include "sparse/csc.h"

/* a: both triangles stored.  shape->size is set already. */
gable_status gi_shape(gable_context *ctx, const gi_csc *a, gable_matrix_shape *shape);

/* level [n] of each row when the triangle (GABLE_PART_LOWER or GABLE_PART_UPPER) of the square a is solved: 0 without
 * predecessors, else 1 + the largest of theirs.  Returns how many levels there are. */
gable_idx gi_triangle_levels(const gi_csc *a, gable_part triangle, gable_idx *level);

#endif
