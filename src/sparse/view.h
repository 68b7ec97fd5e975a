/* view.h: the checks that every view of a caller's passes, before anything else is asked of it; its size is
 * api/structs.h's. */
#ifndef GI_VIEW_H
#define GI_VIEW_H

#include "base/context.h"

/* GABLE_ERR_ARGUMENT: v is NULL, or has a negative dimension, an enumerator or a base out of range or no ptr,
 * or is symmetric or triangular and not square.  No array is looked at: they may be in device memory. */
gable_status gi_view_check(const gable_matrix_view *v);

/* Where list k of the view begins, counted from 0. */
static inline gable_off gi_view_offset(const gable_matrix_view *v, gable_idx k)
{
  return (v->offset_type == GABLE_TYPE_I32 ? ((const int32_t *)v->ptr)[k] : ((const int64_t *)v->ptr)[k]) - v->base;
}

/* The arguments of a bound on the bytes of a plan: GABLE_ERR_ARGUMENT: a count that is negative, or so large that bytes
 * do not fit size_t, or a type that no matrix has. */
gable_status gi_bound_check(gable_idx n, gable_off nnz, gable_type value_type);

#endif
