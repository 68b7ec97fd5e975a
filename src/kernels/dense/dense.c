/* dense.c: the small dense kernels, for each value type.  Built with contraction of a*b+c allowed (Makefile). */
#include "kernels/dense/dense.h"

#include <math.h>
#include <string.h>

#include "base/portable.h"

enum {
  BLOCK = 6,      /* columns of a register block: 6 sums of 64 bytes and their operands fit 16 registers of 32 bytes */
  BASE = 8,       /* columns factored one by one */
  PACK_ROWS = 64, /* a product of at least so many rows, columns and terms has its operands packed first ... */
  PACK_COLUMNS = 24,
  PACK_DEPTH = 24,
  GROUP = 4, /* strips packed side by side */
  DEPTH = GIK_PACK_DEPTH,
  SOLVE = 64, /* columns of a triangular solve between products */
  STRIP = 24  /* columns of a product that skips what is above the diagonal */
};

#define LEVEL_BODY "kernels/dense/dense_types.inc"
#include "base/each_level.inc"

#if GI_INSTRUCTION_SETS > 1
#define BEST(name) (gi_level() == 2 ? name##_level2 : gi_level() == 1 ? name##_level1 : name##_level0)
#else
#define BEST(name) name##_level0
#endif

#define DENSE(real, t)                                                                                                 \
  void gik_multiply_##t(gable_idx m, gable_idx n, gable_idx k, const real *a, gable_off lda, const real *b,            \
                        gable_off across, gable_off down, real *c, gable_off ldc, const gable_idx *rows,               \
                        const gable_idx *columns)                                                                      \
  {                                                                                                                    \
    BEST(multiply_##t)(m, n, k, a, lda, b, across, down, c, ldc, rows, columns);                                       \
  }                                                                                                                    \
  void gik_multiply_large_##t(gable_idx m, gable_idx n, gable_idx k, const real *a, gable_off lda, const real *b,      \
                              gable_off across, gable_off down, real *c, gable_off ldc, const gable_idx *rows,         \
                              const gable_idx *columns, int lower, const gik_tools *tools)                             \
  {                                                                                                                    \
    BEST(multiply_large_##t)(m, n, k, a, lda, b, across, down, c, ldc, rows, columns, lower, tools);                   \
  }                                                                                                                    \
  void gik_solve_right_##t(gable_idx m, gable_idx n, real *x, gable_off ldx, const real *u, gable_off across,          \
                           gable_off down, const real *inverse)                                                        \
  {                                                                                                                    \
    BEST(solve_right_##t)(m, n, x, ldx, u, across, down, inverse);                                                     \
  }                                                                                                                    \
  void gik_solve_right_large_##t(gable_idx m, gable_idx n, real *x, gable_off ldx, const real *u, gable_off across,    \
                                 gable_off down, const real *inverse, const gik_tools *tools)                          \
  {                                                                                                                    \
    BEST(solve_right_large_##t)(m, n, x, ldx, u, across, down, inverse, tools);                                        \
  }                                                                                                                    \
  gable_idx gik_lu_##t(gable_idx n, real *a, gable_off lda, gable_idx *pivot, real *inverse, real tiny, real prefer,   \
                       const gik_tools *tools)                                                                         \
  {                                                                                                                    \
    return BEST(lu_##t)(n, a, lda, pivot, inverse, tiny, prefer, tools);                                               \
  }                                                                                                                    \
  gable_idx gik_cholesky_##t(gable_idx n, real *a, gable_off lda, real *inverse, const gik_tools *tools)               \
  {                                                                                                                    \
    return BEST(cholesky_##t)(n, a, lda, inverse, tools);                                                              \
  }                                                                                                                    \
  real gik_largest_##t(gable_idx m, gable_idx n, const real *x, gable_off ldx)                                         \
  {                                                                                                                    \
    return BEST(largest_##t)(m, n, x, ldx);                                                                            \
  }

DENSE(double, d)
DENSE(float, s)
