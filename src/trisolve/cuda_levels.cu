/* cuda_levels.cu: levels, and chain levels, by one dataflow pass over the rows; row lengths. */
#include "kernels/device_wait.cuh"
#include "trisolve/cuda_passes.cuh"

using gik::NONE;
using namespace gi;

namespace
{

enum { LEVEL_THREADS = 1024 };

struct level_arguments {
  unsigned n;
  const unsigned *ptr, *col, *child;
  u64 *level;
  unsigned *ticket;
};

/* What a row knows of its level and chain level: at least these, and, when linked, the previous row's plus steps. */
struct level_bound {
  unsigned level, chain, level_step, chain_step;
  bool linked, open; /* open: entries are still awaited */

  /* This row after row `before` lanes up (which covers what lies between). */
  __device__ __forceinline__ void follow(int before)
  {
    const unsigned packed = level_step | chain_step << 8 | (unsigned)linked << 16 | (unsigned)open << 17;
    const unsigned l = __shfl_up_sync(gik::ALL, level, before), c = __shfl_up_sync(gik::ALL, chain, before);
    const unsigned o = __shfl_up_sync(gik::ALL, packed, before);
    if ((int)(threadIdx.x % 32) < before || !linked) return;
    level = max(level, l + level_step);
    chain = max(chain, c + chain_step);
    level_step += o & 0xff;
    chain_step += o >> 8 & 0xff;
    linked = o >> 16 & 1;
    open |= o >> 17 & 1;
  }
};

/* (level << 32 | chain level) of every row by waiting for its entries': a block takes as many consecutive rows as it
 * has threads and keeps their values in shared memory; those of earlier blocks are polled.  Runs of rows that follow
 * one another inside a warp are resolved by a prefix maximum. */
__global__ void __launch_bounds__(LEVEL_THREADS) level_kernel(const level_arguments g)
{
  __shared__ volatile u64 own[LEVEL_THREADS];
  __shared__ unsigned ticket;
  for (;;) {
    __syncthreads();
    if (!threadIdx.x) ticket = atomicAdd(g.ticket, 1u);
    own[threadIdx.x] = ~0ull;
    __syncthreads();
    const size_t base = (size_t)ticket * LEVEL_THREADS, k = base + threadIdx.x;
    if (base >= g.n) break;
    bool todo = k < g.n;
    const unsigned first = todo ? g.ptr[k] : 0, end = todo ? g.ptr[k + 1] : 0;
    const unsigned last = first < end ? g.col[end - 1] : gik::NONE;
    const bool chained = first < end && g.child[last] == k, follows = threadIdx.x % 32 && last == k - 1 && first < end;
    const unsigned limit = end - follows;
    unsigned p = first, c = p < limit ? g.col[p] : 0, level = 0, chain = 0;
    unsigned rest = 0; /* ns; rows far from their turn leave L2 alone */
    while (__any_sync(gik::ALL, todo)) {
      const unsigned p_before = p;
      if (rest) __nanosleep(rest);
      while (todo && p < limit) {
        const u64 v = c >= base ? own[c - base] : *(volatile u64 *)(g.level + c);
        if (v == ~0ull) break;
        level = max(level, (unsigned)(v >> 32) + 1);
        chain = max(chain, (unsigned)v + !(p + 1 == end && chained));
        if (++p < limit) c = g.col[p];
      }
      level_bound b = {level, chain, 1, !chained, todo && follows, todo && p < limit};
      for (int d = 1; d < 32; d *= 2) b.follow(d);
      if (todo && !b.open) {
        level = b.level;
        chain = b.chain;
        const u64 v = (u64)level << 32 | chain;
        own[threadIdx.x] = v;
        *(volatile u64 *)(g.level + k) = v;
        todo = false;
        rest = 0;
      }
      rest = __any_sync(gik::ALL, p > p_before) ? 0 : min(2 * rest + 32, 1000u);
    }
  }
}

__device__ const unsigned WITHIN[8] = {2, 4, 8, 14, 16, 32, 64, 256};

struct tally {
  int levels, chain_levels, chains;
  unsigned longest, within[8];
};

__global__ void lengths_kernel(size_t n, const unsigned *ptr, tally *out)
{
  unsigned longest = 0, within[8] = {0};
  for (size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x; k < n; k += (size_t)gridDim.x * blockDim.x) {
    const unsigned length = ptr[k + 1] - ptr[k];
    longest = max(longest, length);
    for (int i = 0; i < 8; i++) within[i] += length <= WITHIN[i];
  }
  longest = __reduce_max_sync(gik::ALL, longest);
  for (int i = 0; i < 8; i++) within[i] = __reduce_add_sync(gik::ALL, within[i]);
  if (threadIdx.x % 32) return;
  atomicMax(&out->longest, longest);
  for (int i = 0; i < 8; i++) atomicAdd(&out->within[i], within[i]);
}

__global__ void profile_kernel(const gik_device_triangle t, const u64 *level, const unsigned *child, tally *out)
{
  unsigned levels = 0, chain_levels = 0, chains = 0;
  for (size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x; k < (size_t)t.n; k += (size_t)gridDim.x * blockDim.x) {
    levels = max(levels, (unsigned)(level[k] >> 32) + 1);
    chain_levels = max(chain_levels, (unsigned)level[k] + 1);
    chains += !(t.ptr[k + 1] > t.ptr[k] && child[t.col[t.ptr[k + 1] - 1]] == k);
  }
  levels = __reduce_max_sync(gik::ALL, levels);
  chain_levels = __reduce_max_sync(gik::ALL, chain_levels);
  chains = __reduce_add_sync(gik::ALL, chains);
  if (threadIdx.x % 32) return;
  atomicMax(&out->levels, (int)levels);
  atomicMax(&out->chain_levels, (int)chain_levels);
  atomicAdd(&out->chains, (int)chains);
}

} /* namespace */

gable_status gi_cuda_lengths(gi_device_memory *m, const gik_device_triangle *t, gi_profile *profile)
{
  gable_status status = GABLE_OK;
  gi_device_memory scratch = {m->ctx};
  tally *out = nullptr, got = {};
  GI_TRY(take(&scratch, 1, &out));
  GI_TRY(checked(cudaMemsetAsync(out, 0, sizeof *out), "clear"));
  if (t->n) lengths_kernel<<<512, 256>>>((size_t)t->n, t->ptr, out);
  GI_TRY(checked(cudaGetLastError(), "lengths"));
  GI_TRY(fetch(&got, out, 1));
  profile->longest = got.longest;
  for (int i = 0; i < 8; i++) profile->within[i] = got.within[i];
done:
  gi_device_give_back(&scratch);
  return status;
}

gable_status gi_cuda_levels(gi_device_memory *m, const gik_device_triangle *t, unsigned long long **level,
                            gi_profile *profile)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  gi_device_memory scratch = {m->ctx};
  unsigned *child = nullptr, *ticket = nullptr;
  const gik_device_triangle s = *t;
  tally *out = nullptr, got = {};
  int device = 0, processors = 0;
  GI_TRY(take(m, n, level));
  GI_TRY(gi_cuda_children(&scratch, t, &child));
  GI_TRY(take(&scratch, 1, &ticket));
  GI_TRY(take(&scratch, 1, &out));
  GI_TRY(checked(cudaGetDevice(&device), "device"));
  GI_TRY(checked(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "device"));
  GI_TRY(checked(cudaMemsetAsync(*level, 0xff, n * sizeof **level), "clear"));
  GI_TRY(checked(cudaMemsetAsync(ticket, 0, sizeof *ticket), "clear"));
  GI_TRY(checked(cudaMemsetAsync(out, 0, sizeof *out), "clear"));
  if (n) {
    const level_arguments g = {(unsigned)n, s.ptr, s.col, child, *level, ticket};
    level_kernel<<<2 * processors, LEVEL_THREADS>>>(g);
    profile_kernel<<<2 * processors, 256>>>(s, *level, child, out);
  }
  GI_TRY(checked(cudaGetLastError(), "levels"));
  GI_TRY(fetch(&got, out, 1));
  profile->levels = got.levels;
  profile->chain_levels = got.chain_levels;
  profile->chains = got.chains;
  profile->gap = 0;
done:
  gi_device_give_back(&scratch);
  return status;
}
