/* passes.cuh: what an analysis on the GPU is made of: passes, prefix sums, sorts, results that the host waits for. */
#ifndef GI_TRISOLVE_CUDA_PASSES_CUH
#define GI_TRISOLVE_CUDA_PASSES_CUH

#include "cuda/passes.cuh"
#include "device/arena.cuh"
#include "device/mailbox.cuh"
#include "device/scan_sort.cuh"
#include "trisolve/cuda/schedule.h"

namespace gi
{

using gik::bits_of;
using gik::checked;
using gik::each;
using gik::each_entry;
using gik::each_kernel;
using gik::fill;
using gik::ROW_THREADS;

/* No entries in a lane of a record (width lanes, two numbers of so many bytes a pair): an update leaves it alone. */
__device__ __forceinline__ void clear_lane(char *values, unsigned pairs, unsigned width, unsigned lane, size_t size)
{
  for (unsigned m = 0; m < pairs; m++)
    for (unsigned w = 0; w < size / 4; w++) ((uint2 *)(values + (m * width + lane) * 2 * size))[w] = make_uint2(0, 0);
}

} /* namespace gi */

#endif
