/* cuda_absent.c: what a build without CUDA answers. */
#include "device/device.h"
#include "device/loop.h"

static gable_status absent_open(int ordinal, void **state)
{
  (void)ordinal;
  *state = NULL;
  return gi_raise(GABLE_ERR_UNAVAILABLE, __FILE__, __LINE__, __func__,
                  "this build has no CUDA: build with `make CUDA=yes` where nvcc is");
}

static void absent_close(void *state)
{
  (void)state;
}

const gi_device gi_device_cuda = {
    .name = "cuda", .kind = GI_ON_CUDA, .kernels = &gik_kernels_cuda, .open = absent_open, .close = absent_close};

/* No context can lead to these. */
gable_status gi_loop_cuda(gable_context *ctx, void *stream, const int *flag, gi_launches *body, void *user)
{
  (void)ctx, (void)stream, (void)flag, (void)body, (void)user;
  return absent_open(0, &(void *){NULL});
}

gable_status gi_recording_capture_cuda(gable_context *ctx, gi_launches *launches, void *user, void **graph)
{
  (void)ctx, (void)launches, (void)user, (void)graph;
  return absent_open(0, &(void *){NULL});
}

gable_status gi_recording_play_cuda(void *graph, gi_launches *launches, void *user, void *stream)
{
  (void)graph, (void)launches, (void)user, (void)stream;
  return absent_open(0, &(void *){NULL});
}

void gi_recording_release_cuda(void *graph)
{
  (void)graph;
}
