/* exchange_tree.cuh: the tree of a wide root (wide_tree.h) by a warp of a GPU. */
#ifndef GIK_FOREST_EXCHANGE_TREE_CUH
#define GIK_FOREST_EXCHANGE_TREE_CUH

#include <cstring>

#include "cuda/device_wait.cuh"
#include "kernels/forest/exchange_values.cuh"
#include "kernels/forest/wide_tree.h"

namespace gik
{

enum { LANES = GIK_WIDE_LANES, TREE_BLOCK = GIK_WIDE_BLOCK, LEVELS = 8 };

/* The value of the lane h further on. */
template <typename T> static __device__ __forceinline__ T from_lane(T v, int h)
{
  enum { WORDS = (sizeof(T) + 3) / 4 };
  unsigned word[WORDS] = {};
  memcpy(word, &v, sizeof v);
#pragma unroll
  for (int k = 0; k < WORDS; k++) word[k] = __shfl_down_sync(ALL, word[k], h);
  memcpy(&v, word, sizeof v);
  return v;
}

/* A block of n values, which the lanes have folded: lane 0 has its result.  O: int or called_op. */
template <typename O, typename T> static __device__ __forceinline__ T close_block(O op, T v, int64_t n)
{
  const int lane = (int)threadIdx.x % LANES;
#pragma unroll
  for (int h = LANES / 2; h; h /= 2) {
    const T other = from_lane(v, h);
    if (lane < h && lane + h < n) v = combine(op, v, other);
  }
  return v;
}

/* The value of the first lane. */
template <typename T> static __device__ __forceinline__ T of_first_lane(T v)
{
  enum { WORDS = (sizeof(T) + 3) / 4 };
  unsigned word[WORDS] = {};
  memcpy(word, &v, sizeof v);
#pragma unroll
  for (int k = 0; k < WORDS; k++) word[k] = __shfl_sync(ALL, word[k], 0);
  memcpy(&v, word, sizeof v);
  return v;
}

/* Value number b of level `from` comes to its lane, which starts or folds; each full block goes on to the next level.
 */
template <typename O, typename T>
static __device__ __forceinline__ void feed_tree(O op, T (&lanes)[LEVELS], int from, T v, int64_t b)
{
#pragma unroll
  for (int level = 1; level < LEVELS; level++) {
    if (level < from) continue;
    if ((int)threadIdx.x % LANES == b % LANES) lanes[level] = b % TREE_BLOCK < LANES ? v : combine(op, lanes[level], v);
    if ((b + 1) % TREE_BLOCK) return;
    v = of_first_lane(close_block(op, lanes[level], TREE_BLOCK));
    b /= TREE_BLOCK;
  }
}

} /* namespace gik */

#endif
