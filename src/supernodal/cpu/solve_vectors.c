/* solve_vectors.c: copies between the caller's vectors and the work vector. */
#include "supernodal/cpu/solve_vectors.h"

#include <string.h>

#include "kernels/panel/panel_sweep.h"

enum { EDGE = 8, AHEAD = 4 * EDGE };

/* From so many rows on one column is copied with requests FAR rows ahead in y and a PAGE ahead in the caller's vector,
 * where the processor's own reading ahead ends.  What is written to y can wait for its line, what is read cannot. */
enum { MANY_IN = 1 << 19, MANY_OUT = 1 << 15, FAR = 64, PAGE = 4096 };

/* A y of so many bytes leaves the caches before the sweep comes to most of it: several whole columns are written past
 * them, which saves reading the lines that are written. */
enum { PAST_BYTES = 1 << 25 };

#define INLINE static inline __attribute__((always_inline))

typedef double VD __attribute__((vector_size(8 * EDGE)));
typedef float VS __attribute__((vector_size(4 * EDGE)));

#define NAME(stem) stem##_dd
#define VY VD
#define VB VD
#define Y double
#define B double
#include "supernodal/cpu/solve_vectors.inc"
#define NAME(stem) stem##_ds
#define VY VD
#define VB VS
#define Y double
#define B float
#include "supernodal/cpu/solve_vectors.inc"
#define NAME(stem) stem##_ss
#define VY VS
#define VB VS
#define Y float
#define B float
#include "supernodal/cpu/solve_vectors.inc"

void gi_solve_take(const gi_solve_window *w, const gi_solve_frame *frame, gable_idx i0, gable_idx i1, void *y)
{
  if (w->single) {
    take_ss(w, frame, i0, i1, y);
  } else if (w->view->type == GABLE_TYPE_S) {
    take_ds(w, frame, i0, i1, y);
  } else {
    take_dd(w, frame, i0, i1, y);
  }
}

void gi_solve_give(const gi_solve_window *w, const gi_solve_frame *frame, gable_idx i0, gable_idx i1, const void *y)
{
  if (w->single) {
    give_ss(w, frame, i0, i1, y);
  } else if (w->view->type == GABLE_TYPE_S) {
    give_ds(w, frame, i0, i1, y);
  } else {
    give_dd(w, frame, i0, i1, y);
  }
}
