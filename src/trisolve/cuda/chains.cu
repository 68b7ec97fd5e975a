/* chains.cu: how chains of one chain level lie to one another.
 *
 * A row is chained to its last entry when it is the first row whose last entry that is. */
#include "cuda/device_wait.cuh"
#include "trisolve/cuda/passes.cuh"

using namespace gi;

enum { SAMPLE = 61 }; /* one row in so many is looked at for what needs no more; no power of two, as grids are */

namespace
{

/* Of every SAMPLE'th row: near[0] counts the entries that are at most one chain level below it, near[1] all.  For whole
 * warps, which add once each. */
struct near_counter {
  const unsigned *ptr, *col;
  const u64 *level;
  size_t sampled; /* rows */
  u64 *near;

  __device__ void operator()(size_t i) const
  {
    const bool there = i < sampled;
    const size_t k = there ? i * SAMPLE : 0;
    const unsigned end = there ? ptr[k + 1] : 0, first = there ? ptr[k] : 0, here = (unsigned)level[k];
    unsigned count = 0;
    for (unsigned q = first; q < end; q++) count += here - (unsigned)level[col[q]] <= 1;
    count = __reduce_add_sync(gik::ALL, count);
    const unsigned all = __reduce_add_sync(gik::ALL, end - first);
    if (i % 32) return;
    atomicAdd(near, (u64)count);
    atomicAdd(near + 1, (u64)all);
  }
};

} /* namespace */

/* Over the heads of chains of one chain level the distances of neighbours sum up to the largest minus the smallest. */
gable_status gi_cuda_gap(gi_arena *scratch, const gik_device_triangle *t, const unsigned long long *level,
                         const unsigned *child, gi_profile *profile)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n, levels = (size_t)profile->chain_levels, sampled = n / SAMPLE;
  const unsigned *ptr = t->ptr, *col = t->col;
  unsigned *head = nullptr;                  /* per chain level: ~(the smallest head), the largest, how many */
  u64 *sum = nullptr, got[4] = {0, 0, 0, 0}; /* distances, how many; entries that are near, all */
  GI_TRY(take(scratch, 3 * levels, &head));
  GI_TRY(take(scratch, 4, &sum));
  GI_TRY(fill(scratch->stream, head, 0, 3 * levels));
  GI_TRY(fill(scratch->stream, sum, 0, 4 * sizeof *sum / sizeof(unsigned)));
  GI_TRY(each(scratch->stream, n, [=] __device__(size_t k) {
    if (ptr[k + 1] > ptr[k] && child[col[ptr[k + 1] - 1]] == n - k) return;
    unsigned *h = head + 3 * (size_t)(unsigned)level[k];
    atomicMax(h, ~(unsigned)k);
    atomicMax(h + 1, (unsigned)k);
    atomicAdd(h + 2, 1u);
  }));
  GI_TRY(each(scratch->stream, levels, [=] __device__(size_t l) {
    const unsigned *h = head + 3 * l;
    if (h[2] < 2) return;
    atomicAdd(sum, (u64)(h[1] - ~h[0]));
    atomicAdd(sum + 1, (u64)(h[2] - 1));
  }));
  GI_TRY(each(scratch->stream, (sampled + 31) / 32 * 32, near_counter{ptr, col, level, sampled, sum + 2}));
  GI_TRY(fetch(scratch, got, sum, 4));
  profile->near = got[3] ? (double)got[2] / (double)got[3] : 1;
  profile->gap = got[1] ? (double)got[0] / (double)got[1] : 0;
done:
  return status;
}
