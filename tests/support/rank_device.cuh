/* rank_device.cuh: what tests in CUDA C++ of ranks on GPUs share. */
#ifndef TEST_RANK_DEVICE_CUH
#define TEST_RANK_DEVICE_CUH

#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

#include "support/test.h"

#include <gable/gable.h>

#define CHECK_CUDA(call) CHECK((call) == cudaSuccess, "%s", #call)

/* The rank's GPU becomes the one of this thread's calls of CUDA. */
inline void use_device(gable_comm *comm)
{
  const char *where = gable_context_where(gable_comm_context(comm));
  CHECK(cudaSetDevice(atoi(strchr(where, ':') + 1)) == cudaSuccess, "%s", where);
}

/* A kernel that is loaded at its first launch may have to wait for those that run, and these for other ranks' launches.
 */
template <typename... A> void load_kernel(void (*kernel)(A...))
{
  cudaFuncAttributes about;
  CHECK_CUDA(cudaFuncGetAttributes(&about, (const void *)kernel));
}

/* A copy in device memory, for gable_device_free. */
template <typename T> T *on_device(gable_comm *comm, const T *host, size_t n)
{
  void *p = nullptr;
  CHECK_OK(gable_device_alloc(gable_comm_context(comm), n * sizeof(T), &p));
  CHECK_OK(gable_device_copy_in(gable_comm_context(comm), p, host, n * sizeof(T), nullptr));
  CHECK_OK(gable_device_synchronise(gable_comm_context(comm), nullptr));
  return (T *)p;
}

#endif
