/* blas_absent.c: large dense products without a BLAS, cut so that the operands of gik_multiply stay in cache. */
#include <string.h>

#include "kernels/blas.h"
#include "kernels/dense.h"

enum { ROWS = 192, COLUMNS = 96, DEPTH = 128 };

const char *gik_blas_name(void)
{
  return "own";
}

#define LESS(x, y) ((x) < (y) ? (x) : (y))
#define GEMM(real, t)                                                                                                  \
  void gik_gemm_##t(int transposed, gable_idx m, gable_idx n, gable_idx k, const real *a, gable_off lda,               \
                    const real *b, gable_off ldb, real beta, real *c, gable_off ldc)                                   \
  {                                                                                                                    \
    const gable_off across = transposed ? 1 : ldb, down = transposed ? ldb : 1;                                        \
    if (beta == 0)                                                                                                     \
      for (gable_idx j = 0; j < n; j++) memset(c + j * ldc, 0, (size_t)m * sizeof *c);                                 \
    for (gable_idx p = 0; p < k; p += DEPTH)                                                                           \
      for (gable_idx j = 0; j < n; j += COLUMNS)                                                                       \
        for (gable_idx i = 0; i < m; i += ROWS)                                                                        \
          gik_multiply_##t(LESS(ROWS, m - i), LESS(COLUMNS, n - j), LESS(DEPTH, k - p), a + i + p * lda, lda,          \
                           b + j * across + p * down, across, down, c + i + j * ldc, ldc, NULL, NULL);                 \
  }

GEMM(double, d)
GEMM(float, s)
