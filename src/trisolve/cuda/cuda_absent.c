/* cuda_absent.c: this build has no CUDA; no context can lead here. */
#include "trisolve/plan.h"

static gable_status absent_analyse(gable_trisolve *t, const gable_matrix_view *a)
{
  gable_status status = GABLE_OK;
  (void)t;
  (void)a;
  GI_REQUIRE(0, GABLE_ERR_UNAVAILABLE, "this build was made without CUDA=yes");
done:
  return status;
}

static void absent_release(gable_trisolve *t)
{
  (void)t;
}

const gi_trisolve_backend gi_trisolve_cuda = {.analyse = absent_analyse, .release = absent_release};
