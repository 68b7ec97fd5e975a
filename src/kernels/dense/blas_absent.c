/* blas_absent.c: the build was told to do without, or cannot open libraries. */
#include "kernels/dense/blas.h"

gable_status gik_blas_open(int threads, gik_blas *blas)
{
  gable_status status = GABLE_OK;
  (void)threads, (void)blas;
  GI_REQUIRE(0, GABLE_ERR_UNAVAILABLE,
             "this build does not open an OpenBLAS: build with BLAS=yes, or use its own kernels");
done:
  return status;
}

void gik_blas_open_if_good(int threads, gik_blas *blas)
{
  (void)threads, (void)blas;
}

void gik_blas_close(gik_blas *blas)
{
  (void)blas;
}

void gik_blas_begin(const gik_blas *blas, int threads)
{
  (void)blas, (void)threads;
}

void gik_blas_end(const gik_blas *blas, int threads)
{
  (void)blas, (void)threads;
}

void gik_blas_alone(void (*run)(void *user), void *user)
{
  run(user);
}
