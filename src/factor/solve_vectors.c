/* solve_vectors.c: copies between the caller's vectors and the work vector. */
#include "factor/solve_vectors.h"

#define NAME(stem) stem##_dd
#define Y double
#define B double
#include "factor/solve_vectors.inc"
#define NAME(stem) stem##_ds
#define Y double
#define B float
#include "factor/solve_vectors.inc"
#define NAME(stem) stem##_ss
#define Y float
#define B float
#include "factor/solve_vectors.inc"

void gi_solve_take(const gi_solve_window *w, const gi_solve_frame *frame, gable_idx k0, gable_idx k1, void *y)
{
  if (w->single) {
    take_ss(w, frame, k0, k1, y);
  } else if (w->view->type == GABLE_S) {
    take_ds(w, frame, k0, k1, y);
  } else {
    take_dd(w, frame, k0, k1, y);
  }
}

void gi_solve_give(const gi_solve_window *w, const gi_solve_frame *frame, gable_idx k0, gable_idx k1, const void *y)
{
  if (w->single) {
    give_ss(w, frame, k0, k1, y);
  } else if (w->view->type == GABLE_S) {
    give_ds(w, frame, k0, k1, y);
  } else {
    give_dd(w, frame, k0, k1, y);
  }
}
