/* gpu_properties.cu: see gpu_properties.h. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

extern "C" {
#include "gpu_properties.h"
}

namespace
{

/* -1: none. */
int number_of(const char *where)
{
  return strncmp(where, "cuda:", 5) ? -1 : atoi(where + 5);
}

} /* namespace */

extern "C" gable_status gpu_properties_read(const char *where, gpu_properties *out)
{
  const double h200_bytes_s = 4.28e12, h200_peak_bytes_s = 4.8e12;
  const int gpu = number_of(where);
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
  const double peak = 2e3 * khz * (bits / 8.0); /* two transfers a cycle */
  out->memory_bytes_s = h200_bytes_s * (peak > 0 && !strstr(out->name, "H200") ? peak / h200_peak_bytes_s : 1);
  return GABLE_OK;
}

extern "C" gable_status gpu_synchronise(const char *where)
{
  const int gpu = number_of(where);
  if (gpu < 0) return GABLE_ERR_UNAVAILABLE;
  cudaError_t error = cudaSetDevice(gpu);
  if (!error) error = cudaDeviceSynchronize();
  return error ? GABLE_ERR_BACKEND : GABLE_OK;
}
