/* ipc.cu: see device_memory.h.  The memory is cudaMalloc's: a pool's cannot be opened by another process's handle. */
#include <cstring>

#include "comm/device_memory.h"
#include "cuda/status.cuh"
#include "cuda/undisturbed.cuh"

using gik::checked;
using gik::undisturbed;

namespace
{

gable_status device(int64_t id[GI_IPC_DEVICE / 8])
{
  gable_status status = GABLE_OK;
  int ordinal = 0;
  cudaDeviceProp about;
  GI_TRY(checked(cudaGetDevice(&ordinal), "device"));
  GI_TRY(checked(cudaGetDeviceProperties(&about, ordinal), "device"));
  static_assert(sizeof about.uuid.bytes == GI_IPC_DEVICE, "bytes of a device's name");
  memcpy(id, about.uuid.bytes, sizeof about.uuid.bytes);
done:
  return status;
}

void release(void *p)
{
  if (p) (void)undisturbed([&] { return cudaFree(p); });
}

gable_status allocate(int64_t bytes, void **p, unsigned char handle[GI_IPC_HANDLE])
{
  gable_status status = GABLE_OK;
  cudaIpcMemHandle_t own;
  cudaError_t e = undisturbed([&] { return cudaMalloc(p, (size_t)bytes); });
  static_assert(sizeof own == GI_IPC_HANDLE, "bytes of a handle");
  GI_REQUIRE(!e, e == cudaErrorMemoryAllocation ? GABLE_ERR_MEMORY : GABLE_ERR_BACKEND, "%.1f MB of device memory: %s",
             (double)bytes / 1e6, cudaGetErrorString(e));
  e = undisturbed([&] { return cudaIpcGetMemHandle(&own, *p); });
  GI_REQUIRE(!e, GABLE_ERR_UNAVAILABLE, "device memory has no handle for other processes: %s", cudaGetErrorString(e));
  memcpy(handle, &own, sizeof own);
done:
  if (status) {
    if (e != cudaErrorMemoryAllocation) release(*p);
    *p = nullptr;
  }
  return status;
}

gable_status open(const unsigned char handle[GI_IPC_HANDLE], void **p)
{
  gable_status status = GABLE_OK;
  cudaIpcMemHandle_t other;
  memcpy(&other, handle, sizeof other);
  const cudaError_t e = undisturbed([&] { return cudaIpcOpenMemHandle(p, other, cudaIpcMemLazyEnablePeerAccess); });
  GI_REQUIRE(!e, GABLE_ERR_UNAVAILABLE, "device memory of another process cannot be opened: %s", cudaGetErrorString(e));
done:
  return status;
}

void close(void *p)
{
  if (p) (void)undisturbed([&] { return cudaIpcCloseMemHandle(p); });
}

} /* namespace */

extern "C" const gi_ipc gi_ipc_cuda = {device, allocate, release, open, close};
