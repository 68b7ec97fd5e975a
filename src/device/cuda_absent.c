/* cuda_absent.c: what a build without CUDA answers. */
#include "device/device.h"

static gable_status absent_open(int ordinal, void **state)
{
  (void)ordinal;
  *state = NULL;
  return gi_raise(GABLE_ERR_UNAVAILABLE, __FILE__, __LINE__, __func__, "this build was made without CUDA=yes");
}

static void absent_close(void *state)
{
  (void)state;
}

const gi_device gi_device_cuda = {
    .name = "cuda", .kind = GI_ON_CUDA, .kernels = &gik_kernels_cuda, .open = absent_open, .close = absent_close};
