/* symmetry.h: does a matrix have the symmetry that its view declares? */
#ifndef GI_SYMMETRY_H
#define GI_SYMMETRY_H

#include "sparse/csc.h"

/* 1: GABLE_STRUCTURE_SYMMETRIC, _HERMITIAN, _SKEW or _SPD with both triangles stored: entries can contradict it. */
static inline int gi_declares_symmetry(gable_structure structure, gable_part part)
{
  return structure != GABLE_STRUCTURE_GENERAL && part == GABLE_PART_FULL;
}

/* lists: a square pattern, indices increasing; by_rows: its lists are rows.  val: its values, GABLE_TYPE_S or
 * GABLE_TYPE_D; NULL: the pattern alone.  GABLE_ERR_ARGUMENT names the first entry (i,j) without (j,i), or with a_ij !=
 * a_ji (SKEW: -a_ji) by more than the rounding of either row: 64 eps of their largest entry.  why begins the message;
 * NULL: the view declares structure.  O(nnz). */
gable_status gi_symmetry_check(gable_context *ctx, const gi_csc *lists, int by_rows, gable_structure structure,
                               const char *why, gable_type type, const void *val);

/* The same for a view in host memory that declares a symmetry; values of other types are not read.  Others pass. */
gable_status gi_symmetry_check_view(gable_context *ctx, const gable_matrix_view *view);

#endif
