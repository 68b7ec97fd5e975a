#include "supernodal/cpu/solve_blocks.h"

#include "base/portable.h"

#define NAME(stem) stem##_dd
#define V double
#define X double
#include "supernodal/cpu/solve_blocks.inc"
#define NAME(stem) stem##_sd
#define V float
#define X double
#include "supernodal/cpu/solve_blocks.inc"
#define NAME(stem) stem##_ss
#define V float
#define X float
#include "supernodal/cpu/solve_blocks.inc"

void gi_solve_blocks(const gi_factor *factor, gable_idx rhs, int single, gable_idx j0, gable_idx j1, void *y)
{
  if (single) {
    blocks_ss(factor, rhs, j0, j1, y);
  } else if (factor->type == GABLE_TYPE_S) {
    blocks_sd(factor, rhs, j0, j1, y);
  } else {
    blocks_dd(factor, rhs, j0, j1, y);
  }
}
