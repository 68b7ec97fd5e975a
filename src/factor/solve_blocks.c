#include "factor/solve_blocks.h"

#include <string.h>

#include "base/portable.h"

enum { LANES = 8 };

typedef double VD __attribute__((vector_size(8 * LANES)));
typedef float VS __attribute__((vector_size(4 * LANES)));

#define NAME(stem) stem##_dd
#define V double
#define X double
#define VV VD
#define VX VD
#include "factor/solve_blocks.inc"
#define NAME(stem) stem##_sd
#define V float
#define X double
#define VV VS
#define VX VD
#include "factor/solve_blocks.inc"
#define NAME(stem) stem##_ss
#define V float
#define X float
#define VV VS
#define VX VS
#include "factor/solve_blocks.inc"

void gi_solve_blocks(const gi_factor *factor, gable_idx rhs, int single, gable_idx j0, gable_idx j1, void *y)
{
  if (single) {
    blocks_ss(factor, rhs, j0, j1, y);
  } else if (factor->type == GABLE_S) {
    blocks_sd(factor, rhs, j0, j1, y);
  } else {
    blocks_dd(factor, rhs, j0, j1, y);
  }
}
