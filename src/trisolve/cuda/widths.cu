/* widths.cu: how many levels are narrow, and how many wide. */
#include "cuda/device_wait.cuh"
#include "device/cuda_place.h"
#include "trisolve/cuda/passes.cuh"

using gik::NONE;
using namespace gi;

enum { TALLY_THREADS = 1024 };

/* rows[l]: rows of level l are added; a block counts its own in shared memory. */
static __global__ void __launch_bounds__(TALLY_THREADS)
    tally_kernel(int n, const u64 *level, int levels, unsigned *rows)
{
  __shared__ unsigned own[GI_MOST_TALLIED];
  const unsigned lane = threadIdx.x % 32, step = gridDim.x * TALLY_THREADS;
  for (int l = (int)threadIdx.x; l < levels; l += TALLY_THREADS) own[l] = 0;
  __syncthreads();
  gik::next_launch();
  gik::after_last_launch();
  for (unsigned base = blockIdx.x * TALLY_THREADS; base < (unsigned)n; base += step) {
    const unsigned k = base + threadIdx.x, l = k < (unsigned)n ? (unsigned)(level[k] >> 32) : NONE;
    const unsigned alike = __match_any_sync(gik::ALL, l); /* neighbours often are of one level */
    if (l != NONE && (int)lane == __ffs((int)alike) - 1) atomicAdd(own + l, (unsigned)__popc(alike));
  }
  __syncthreads();
  for (int l = (int)threadIdx.x; l < levels; l += TALLY_THREADS)
    if (own[l]) atomicAdd(rows + l, own[l]);
}

gable_status gi_cuda_widths(gi_arena *scratch, int n, const unsigned long long *level, gi_profile *profile)
{
  gable_status status = GABLE_OK;
  const int levels = profile->levels, blocks = (n + TALLY_THREADS - 1) / TALLY_THREADS;
  const int most = 2 * gi_cuda_gpu(scratch->ctx)->processors;
  unsigned *rows = nullptr, *counts = nullptr, found[2] = {0, 0};
  GI_TRY(take(scratch, (size_t)levels + 2, &rows));
  counts = rows + levels;
  GI_TRY(fill(scratch->stream, rows, 0, (size_t)levels + 2));
  GI_TRY(gik::dependent_launch("widths of levels", scratch->stream, tally_kernel,
                               (unsigned)(blocks < most ? blocks : most), TALLY_THREADS, 0, n, level, levels, rows));
  GI_TRY(each(scratch->stream, (size_t)levels, [=] __device__(size_t l) {
    if (rows[l] < GI_NARROW_LEVEL) atomicAdd(counts, 1u);
    if (rows[l] >= GI_WIDE_LEVEL) atomicAdd(counts + 1, 1u);
  }));
  GI_TRY(fetch(scratch, found, counts, 2));
  profile->narrow = (int)found[0];
  profile->wide = (int)found[1];
done:
  return status;
}
