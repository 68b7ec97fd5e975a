/* attributes.cu: see attributes.h. */
#include "cuda/attributes.h"
#include "cuda/status.cuh"

gable_status gik_gpu_read(int ordinal, gik_gpu *out)
{
  gable_status status = GABLE_OK;
  int clock_khz = 0, memory_khz = 0, memory_bits = 0;
  gik_gpu g = {};
  const struct {
    cudaDeviceAttr attribute;
    int *to;
  } wanted[] = {
      {cudaDevAttrComputeCapabilityMajor, &g.major},
      {cudaDevAttrComputeCapabilityMinor, &g.minor},
      {cudaDevAttrMultiProcessorCount, &g.processors},
      {cudaDevAttrMaxThreadsPerMultiProcessor, &g.threads},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, &g.shared},
      {cudaDevAttrClockRate, &clock_khz},
      {cudaDevAttrMemoryClockRate, &memory_khz},
      {cudaDevAttrGlobalMemoryBusWidth, &memory_bits},
  };
  for (const auto &w : wanted)
    GI_TRY(gik::checked(cudaDeviceGetAttribute(w.to, w.attribute, ordinal), "device attribute"));
  g.ordinal = ordinal;
  g.shared -= 1024;
  g.clock_hz = 1e3 * clock_khz;
  g.bytes_s = 2 * 1e3 * memory_khz * memory_bits / 8.0; /* both edges of the clock */
  *out = g;
done:
  return status;
}
