/* block_sum.cuh: one sum of what the threads of a block bring, in a fixed order. */
#ifndef GIK_BLOCK_SUM_CUH
#define GIK_BLOCK_SUM_CUH

namespace gik
{

/* of: [BLOCK] shared; every thread of the block calls it, with v, and gets the sum.  BLOCK is a power of two. */
template <int BLOCK> __device__ inline double block_sum(double v, double *of)
{
  static_assert(BLOCK > 0 && (BLOCK & (BLOCK - 1)) == 0, "halves all the way");
  __syncthreads();
  of[threadIdx.x] = v;
  for (int d = BLOCK / 2; d > 0; d >>= 1) {
    __syncthreads();
    if ((int)threadIdx.x < d) of[threadIdx.x] += of[threadIdx.x + d];
  }
  __syncthreads();
  return of[0];
}

} /* namespace gik */

#endif
