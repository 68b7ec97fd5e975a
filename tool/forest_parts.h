/* forest_parts.h: which rank has each row of a matrix. */
#ifndef TOOL_FOREST_PARTS_H
#define TOOL_FOREST_PARTS_H

#include <gable/gable.h>

/* part [n]: the rank of each row, 0 <= part < ranks.  how: "block" (equal numbers of neighbouring rows), "metis" (least
 * cut of the graph of A + A^T, with equal numbers of rows), or a file of n such ranks.  a: square, by columns.  why:
 * one line where the library has no message. */
gable_status forest_parts(const gable_matrix *a, const char *how, int ranks, int32_t *part, char *why,
                          size_t why_bytes);

/* parts_metis.c: ptr [n+1], idx [ptr[n]]: neighbours of each node, none its own.  GABLE_ERR_UNAVAILABLE without METIS.
 */
gable_status parts_metis(gable_idx n, const int32_t *ptr, const int32_t *idx, int parts, int32_t *part, char *why,
                         size_t why_bytes);

#endif
