/* solve_vectors.h: the caller's vectors into the interleaved work vector and back, permuted and scaled on the way. */
#ifndef GI_SOLVE_VECTORS_H
#define GI_SOLVE_VECTORS_H

#include "factor/solve.h"

/* Columns c0 .. c0+count-1 of the view; the work vector has rhs columns, of float when single is 1. */
typedef struct gi_solve_window {
  const gable_vectors_view *view;
  gable_idx c0, count, rhs;
  int single;
} gi_solve_window;

/* y[k] for k0 <= k < k1; columns beyond count become zero. */
void gi_solve_take(const gi_solve_window *w, const gi_solve_frame *frame, gable_idx k0, gable_idx k1, void *y);
void gi_solve_give(const gi_solve_window *w, const gi_solve_frame *frame, gable_idx k0, gable_idx k1, const void *y);

/* The same for several columns of a column-major view, i0 <= i < i1 in the caller's order, so that whole cache lines
 * are moved: y has the row of i at place[i], place the inverse of the permutation; NULL: at i. */
void gi_solve_take_rows(const gi_solve_window *w, const gi_solve_frame *frame, const gable_idx *place, gable_idx i0,
                        gable_idx i1, void *y);
void gi_solve_give_rows(const gi_solve_window *w, const gi_solve_frame *frame, const gable_idx *place, gable_idx i0,
                        gable_idx i1, const void *y);

static inline int gi_solve_by_rows(const gi_solve_window *w)
{
  return w->rhs > 1 && w->view->major == GABLE_COL_MAJOR;
}

#endif
