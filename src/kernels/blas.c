/* blas.c: large dense products by OpenBLAS, whose leading dimensions are 32 bit: beyond that the own kernels do it. */
#include "kernels/blas.h"

#include "base/portable.h"

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);
void sgemm_(const char *, const char *, const int *, const int *, const int *, const float *, const float *,
            const int *, const float *, const int *, const float *, float *, const int *, size_t, size_t);

const char *gik_blas_name(void)
{
  return "openblas";
}

#define GEMM(real, t)                                                                                                  \
  void gik_gemm_##t(int transposed, gable_idx m, gable_idx n, gable_idx k, const real *a, gable_off lda,               \
                    const real *b, gable_off ldb, real beta, real *c, gable_off ldc)                                   \
  {                                                                                                                    \
    const real minus = -1;                                                                                             \
    const int ia = (int)lda, ib = (int)ldb, ic = (int)ldc;                                                             \
    t##gemm_("N", transposed ? "T" : "N", &m, &n, &k, &minus, a, &ia, b, &ib, &beta, c, &ic, 1, 1);                    \
  }

GEMM(double, d)
GEMM(float, s)
