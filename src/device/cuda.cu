/* cuda.cu: one GPU as a device. */
#include <cstdint>
#include <cuda_runtime.h>

#include "device/device.h"
#include "kernels/cuda_status.cuh"

using gik::checked;

namespace
{

/* The pool keeps what is given back, so that analyses do not pay for the driver's allocator. */
gable_status keep_pool(int ordinal)
{
  gable_status status = GABLE_OK;
  cudaMemPool_t pool;
  uint64_t all = UINT64_MAX;
  GI_TRY(checked(cudaDeviceGetDefaultMemPool(&pool, ordinal), "memory pool"));
  GI_TRY(checked(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "memory pool"));
done:
  return status;
}

gable_status cuda_open(int ordinal, void **state)
{
  gable_status status = GABLE_OK;
  int count = 0, major = 0;
  cudaError_t e = cudaGetDeviceCount(&count);
  *state = nullptr;
  if (e) cudaGetLastError();
  GI_REQUIRE(!e && count, GABLE_ERR_UNAVAILABLE, "no GPU answers: %s", e ? cudaGetErrorString(e) : "none is there");
  GI_REQUIRE(ordinal < count, GABLE_ERR_UNAVAILABLE, "cuda:%d: this machine has %d GPU%s", ordinal, count,
             count == 1 ? "" : "s");
  GI_TRY(checked(cudaSetDevice(ordinal), "cudaSetDevice"));
  GI_TRY(checked(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal), "device attribute"));
  GI_REQUIRE(major >= 9, GABLE_ERR_UNAVAILABLE, "cuda:%d has compute capability %d, Gable's kernels want 9", ordinal,
             major);
  GI_TRY(keep_pool(ordinal));
  *state = (void *)(intptr_t)(ordinal + 1);
done:
  return status;
}

void cuda_close(void *state)
{
  (void)state;
}

gable_status cuda_alloc(gable_context *ctx, size_t bytes, void **out)
{
  gable_status status = GABLE_OK;
  cudaError_t e = cudaSuccess;
  *out = nullptr;
  GI_TRY(checked(cudaSetDevice((int)(intptr_t)ctx->device_state - 1), "cudaSetDevice"));
  e = cudaMallocAsync(out, bytes ? bytes : 1, nullptr);
  if (e) cudaGetLastError();
  GI_REQUIRE(!e, e == cudaErrorMemoryAllocation ? GABLE_ERR_MEMORY : GABLE_ERR_BACKEND, "%.1f MB of device memory: %s",
             (double)bytes / 1e6, cudaGetErrorString(e));
done:
  return status;
}

/* In the order of the default stream. */
void cuda_release(gable_context *ctx, void *p)
{
  (void)ctx;
  if (p) cudaFreeAsync(p, nullptr);
}

gable_status copy(void *to, const void *from, size_t bytes, void *stream)
{
  gable_status status = GABLE_OK;
  cudaError_t e = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream);
  GI_REQUIRE(!e, GABLE_ERR_BACKEND, "copy of %.1f MB: %s", (double)bytes / 1e6, cudaGetErrorString(e));
done:
  return status;
}

gable_status cuda_copy_in(gable_context *ctx, void *device, const void *host, size_t bytes, void *stream)
{
  (void)ctx;
  return copy(device, host, bytes, stream);
}

gable_status cuda_copy_out(gable_context *ctx, void *host, const void *device, size_t bytes, void *stream)
{
  (void)ctx;
  return copy(host, device, bytes, stream);
}

gable_status cuda_synchronise(gable_context *ctx, void *stream)
{
  (void)ctx;
  return checked(cudaStreamSynchronize((cudaStream_t)stream), "synchronise");
}

gable_status cuda_fill(gable_context *ctx, void *device, int byte, size_t bytes, void *stream)
{
  (void)ctx;
  return checked(cudaMemsetAsync(device, byte, bytes, (cudaStream_t)stream), "fill");
}

/* Ordered with the default stream, on which allocations and updates of plans are made. */
gable_status cuda_stream_create(gable_context *ctx, void **out)
{
  gable_status status = GABLE_OK;
  GI_TRY(checked(cudaSetDevice((int)(intptr_t)ctx->device_state - 1), "cudaSetDevice"));
  GI_TRY(checked(cudaStreamCreate((cudaStream_t *)out), "stream"));
done:
  return status;
}

void cuda_stream_destroy(gable_context *ctx, void *stream)
{
  (void)ctx;
  cudaStreamDestroy((cudaStream_t)stream);
}

gable_status cuda_event_create(gable_context *ctx, void **out)
{
  gable_status status = GABLE_OK;
  GI_TRY(checked(cudaSetDevice((int)(intptr_t)ctx->device_state - 1), "cudaSetDevice"));
  GI_TRY(checked(cudaEventCreate((cudaEvent_t *)out), "event"));
done:
  return status;
}

gable_status cuda_event_record(gable_context *ctx, void *event, void *stream)
{
  (void)ctx;
  return checked(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream), "event");
}

gable_status cuda_event_elapsed(gable_context *ctx, void *begin, void *end, double *seconds)
{
  gable_status status = GABLE_OK;
  float ms = 0;
  (void)ctx;
  GI_TRY(checked(cudaEventSynchronize((cudaEvent_t)end), "event"));
  GI_TRY(checked(cudaEventElapsedTime(&ms, (cudaEvent_t)begin, (cudaEvent_t)end), "event"));
  *seconds = 1e-3 * ms;
done:
  return status;
}

void cuda_event_destroy(gable_context *ctx, void *event)
{
  (void)ctx;
  cudaEventDestroy((cudaEvent_t)event);
}

} /* namespace */

extern "C" const gi_device gi_device_cuda = {
    "cuda",
    cuda_open,
    cuda_close,
    cuda_alloc,
    cuda_release,
    cuda_copy_in,
    cuda_copy_out,
    cuda_synchronise,
    cuda_fill,
    cuda_stream_create,
    cuda_stream_destroy,
    cuda_event_create,
    cuda_event_record,
    cuda_event_elapsed,
    cuda_event_destroy,
};
