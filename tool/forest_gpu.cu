/* forest_gpu.cu: see forest_gpu.h. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

extern "C" {
#include "forest_gpu.h"
}

namespace
{

/* -1: none. */
int number_of(gable_context *ctx)
{
  const char *where = gable_context_where(ctx);
  return strncmp(where, "cuda:", 5) ? -1 : atoi(where + 5);
}

} /* namespace */

extern "C" gable_status forest_gpu_about(gable_context *ctx, forest_gpu *out)
{
  const int gpu = number_of(ctx);
  cudaDeviceProp properties;
  int khz = 0, bits = 0;
  memset(out, 0, sizeof *out);
  if (gpu < 0) return GABLE_ERR_UNAVAILABLE;
  cudaError_t error = cudaGetDeviceProperties(&properties, gpu);
  if (!error) error = cudaDeviceGetPCIBusId(out->bus, sizeof out->bus, gpu);
  if (!error) error = cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, gpu);
  if (!error) error = cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, gpu);
  if (error) return GABLE_ERR_BACKEND;
  snprintf(out->name, sizeof out->name, "%.63s", properties.name);
  out->peak_bytes_s = 2e3 * khz * (bits / 8.0); /* two transfers a cycle */
  return GABLE_OK;
}

extern "C" gable_status forest_gpu_synchronise(gable_context *ctx)
{
  cudaError_t error = cudaSetDevice(number_of(ctx));
  if (!error) error = cudaDeviceSynchronize();
  return error ? GABLE_ERR_BACKEND : GABLE_OK;
}
