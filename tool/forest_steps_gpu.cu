/* forest_steps_gpu.cu: see forest_steps.h.  A thread an element. */
#include <cstdlib>
#include <cuda_runtime.h>

extern "C" {
#include "forest_steps.h"
}

namespace
{

enum { BLOCK = 256 };

#define FUNCTION static __device__ inline
#define STEP(name) FUNCTION void name(gable_off i, const forest_arrays *a)
#define PLUS(x, y) __dadd_rn(x, y)
#define TIMES(x, y) __dmul_rn(x, y)
#define UNROLLED _Pragma("unroll 16")
#include "forest_steps.inc"

template <void (*step)(gable_off, const forest_arrays *)>
__global__ void __launch_bounds__(BLOCK) step_kernel(forest_arrays a, gable_off from, gable_off to)
{
  const gable_off i = from + (gable_off)blockIdx.x * BLOCK + threadIdx.x;
  if (i < to) step(i, &a);
}

const void *kernel_of(forest_step step)
{
  switch (step) {
  case FOREST_PRODUCT: return (const void *)step_kernel<product>;
  case FOREST_START: return (const void *)step_kernel<start>;
  case FOREST_LANE_PQ: return (const void *)step_kernel<lane_pq>;
  case FOREST_LANE_RR: return (const void *)step_kernel<lane_rr>;
  case FOREST_FOLD: return (const void *)step_kernel<fold>;
  case FOREST_TOTAL: return (const void *)step_kernel<total>;
  case FOREST_BEGIN: return (const void *)step_kernel<begin>;
  case FOREST_UPDATE: return (const void *)step_kernel<update>;
  case FOREST_DIRECTION: return (const void *)step_kernel<direction>;
  case FOREST_ADVANCE: return (const void *)step_kernel<advance>;
  }
  return nullptr;
}

} /* namespace */

extern "C" gable_status forest_steps_gpu_prepare(gable_context *ctx)
{
  cudaError_t error = cudaSetDevice(atoi(gable_context_where(ctx) + sizeof "cuda:" - 1));
  for (int k = FOREST_PRODUCT; k <= FOREST_ADVANCE && !error; k++) {
    cudaFuncAttributes attributes;
    error = cudaFuncGetAttributes(&attributes, kernel_of((forest_step)k));
  }
  return error ? GABLE_ERR_BACKEND : GABLE_OK;
}

extern "C" gable_status forest_steps_gpu(gable_context *ctx, forest_step step, const forest_arrays *a, gable_off from,
                                         gable_off to)
{
  forest_arrays arrays = *a;
  void *arguments[] = {&arrays, &from, &to};
  const dim3 grid((unsigned)((to - from + BLOCK - 1) / BLOCK));
  const cudaError_t error =
      cudaLaunchKernel(kernel_of(step), grid, dim3(BLOCK), arguments, 0, (cudaStream_t)gable_context_stream(ctx));
  return error ? GABLE_ERR_BACKEND : GABLE_OK;
}
