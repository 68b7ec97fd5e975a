/* solve_vectors.h: the caller's vectors into the interleaved work vector and back, permuted and scaled on the way. */
#ifndef GI_SOLVE_VECTORS_H
#define GI_SOLVE_VECTORS_H

#include "supernodal/cpu/solve.h"

/* Columns c0 .. c0+count-1 of the view; the work vector has rhs columns, of float when single is 1. */
typedef struct gi_solve_window {
  const gable_vectors_view *view;
  gable_idx c0, count, rhs;
  int single;
} gi_solve_window;

/* Rows i0 <= i < i1 of the caller's; columns beyond count become zero. */
void gi_solve_take(const gi_solve_window *w, const gi_solve_frame *frame, gable_idx i0, gable_idx i1, void *y);
void gi_solve_give(const gi_solve_window *w, const gi_solve_frame *frame, gable_idx i0, gable_idx i1, const void *y);

#endif
