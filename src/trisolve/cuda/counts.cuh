/* counts.cuh: rows counted by a key in tiles of GI_TILE_ROWS, so that places follow by adding up. */
#ifndef GI_TRISOLVE_CUDA_COUNTS_CUH
#define GI_TRISOLVE_CUDA_COUNTS_CUH

#include "cuda/device_wait.cuh"
#include "trisolve/cuda/passes.cuh"

namespace gi
{

static_assert((int)GI_WIDTHS <= (int)GI_TILE_ROWS, "a block of a thread a row has one for each key");

/* What the rows of one tile are; in shared memory, used by all threads of a block of GI_TILE_ROWS. */
struct tile_tally {
  unsigned rows[GI_WIDTHS], entries;

  __device__ __forceinline__ void clear()
  {
    if (threadIdx.x < GI_WIDTHS) rows[threadIdx.x] = 0;
    if (!threadIdx.x) entries = 0;
  }

  /* A thread's row, if it is there; keys from GI_WIDTHS on are not counted. */
  __device__ __forceinline__ void add(bool there, unsigned key, unsigned count)
  {
    const unsigned alike = __match_any_sync(gik::ALL, there ? key : gik::NONE);
    const unsigned all = __reduce_add_sync(gik::ALL, count);
    const int lane = threadIdx.x % 32;
    if (there && key < GI_WIDTHS && lane == __ffs((int)alike) - 1) atomicAdd(rows + key, (unsigned)__popc(alike));
    if (!lane) atomicAdd(&entries, all);
  }

  /* To tile number at; sum: [GI_WIDTHS] of all tiles.  Clears. */
  __device__ __forceinline__ void write(const gi_tile_counts &counts, unsigned at, unsigned *sum)
  {
    __syncthreads();
    if (!threadIdx.x) counts.entries[at] = entries;
    if (threadIdx.x < GI_WIDTHS) {
      const unsigned here = rows[threadIdx.x];
      counts.rows[(size_t)at * GI_WIDTHS + threadIdx.x] = here;
      if (here) atomicAdd(sum + threadIdx.x, here);
    }
    __syncthreads();
    clear();
  }
};

} /* namespace gi */

#endif
