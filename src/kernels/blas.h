/* blas.h: large dense products, by OpenBLAS (blas.c) where it is and by the register kernels (blas_absent.c) elsewhere.
 */
#ifndef GIK_BLAS_H
#define GIK_BLAS_H

#include <gable/types.h>

/* What does the products: "openblas" or "own". */
const char *gik_blas_name(void);

#define GIK_BLAS(real, t)                                                                                              \
  /* C = beta C - A B, A m x k, B k x n: stored by columns as it is (transposed 0) or as its transpose (1); beta is 0  \
   * or 1. */                                                                                                          \
  void gik_gemm_##t(int transposed, gable_idx m, gable_idx n, gable_idx k, const real *a, gable_off lda,               \
                    const real *b, gable_off ldb, real beta, real *c, gable_off ldc);

GIK_BLAS(double, d)
GIK_BLAS(float, s)

#endif
