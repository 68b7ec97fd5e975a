/* incomplete.cu: see incomplete.h.
 *
 * Rows are taken by ticket in the order of their levels, so that the oldest unfinished row never waits for a warp that
 * does not run.  A warp works on its row in shared memory where it fits, and reads the rows that it needs when their
 * flags say that they are done. */
#include "cuda/device_wait.cuh"
#include "cuda/launch.cuh"
#include "kernels/krylov/incomplete.h"

namespace gik
{

enum { INCOMPLETE_BLOCK = 256, ROW_ROOM = 96 };

/* The row of one warp: columns and values, in shared memory or in place. */
struct warp_row {
  gable_idx i;
  unsigned begin, diagonal, length;
  const gable_idx *col;
  double *val;

  /* The place of column j among those from `from` on; length: there is none. */
  __device__ __forceinline__ unsigned find(unsigned from, gable_idx j) const
  {
    unsigned low = from, high = length;
    while (low < high) {
      const unsigned middle = (low + high) / 2;
      if (col[middle] < j)
        low = middle + 1;
      else
        high = middle;
    }
    return low < length && col[low] == j ? low : length;
  }
};

struct row_room {
  gable_idx col[ROW_ROOM];
  double val[ROW_ROOM];
};

static __device__ __forceinline__ warp_row open_row(const gik_incomplete &f, const gik_rows &a, gable_idx i,
                                                    row_room *room, unsigned lane)
{
  warp_row r;
  r.i = i;
  r.begin = a.ptr[i];
  r.diagonal = a.diagonal[i] - r.begin;
  r.length = a.ptr[i + 1] - r.begin;
  r.col = r.length <= ROW_ROOM ? room->col : a.idx + r.begin;
  r.val = r.length <= ROW_ROOM ? room->val : f.factor + r.begin;
  for (unsigned p = lane; p < r.length; p += 32) {
    if (r.length <= ROW_ROOM) room->col[p] = a.idx[r.begin + p];
    r.val[p] = ((const double *)a.val)[r.begin + p];
  }
  __syncwarp();
  return r;
}

/* The first `count` values of the row go to the factor, and the row is done. */
static __device__ __forceinline__ void close_row(const gik_incomplete &f, const warp_row &r, unsigned count,
                                                 unsigned lane)
{
  __syncwarp();
  if (r.length <= ROW_ROOM)
    for (unsigned p = lane; p < count; p += 32) f.factor[r.begin + p] = r.val[p];
  __syncwarp();
  if (lane) return;
  __threadfence();
  ((volatile unsigned char *)f.scratch)[r.i] = 1;
}

static __device__ __forceinline__ void await_row(const gik_incomplete &f, gable_idx k, patience *patient)
{
  while (!((volatile unsigned char *)f.scratch)[k] && !patient->lost(f.control, f.deadline_ns, k)) {
  }
  __threadfence();
  __syncwarp();
}

static __device__ __forceinline__ void ilu0_row(const gik_incomplete &f, const gik_rows &a, const warp_row &r,
                                                unsigned lane)
{
  patience patient;
  for (unsigned p = 0; p < r.diagonal; p++) {
    const gable_idx k = r.col[p];
    const unsigned pivot = a.diagonal[k], end = a.ptr[k + 1];
    await_row(f, k, &patient);
    const double factor = __ddiv_rn(r.val[p], __ldcg(f.factor + pivot));
    __syncwarp();
    if (!lane) r.val[p] = factor;
    for (unsigned q = pivot + 1 + lane; q < end; q += 32) {
      const unsigned at = r.find(p + 1, a.idx[q]);
      if (at < r.length) r.val[at] = __dsub_rn(r.val[at], __dmul_rn(factor, __ldcg(f.factor + q)));
    }
    __syncwarp();
  }
  const double pivot = r.val[r.diagonal];
  if (!lane && !(isfinite(pivot) && isfinite(1 / pivot))) atomicMin(f.fault, r.i);
  close_row(f, r, r.length, lane);
}

static __device__ __forceinline__ void ic0_row(const gik_incomplete &f, const gik_rows &a, const warp_row &r,
                                               unsigned lane)
{
  patience patient;
  double pivot = __dmul_rn(r.val[r.diagonal], 1 + f.shift);
  for (unsigned p = 0; p < r.diagonal; p++) {
    const gable_idx j = r.col[p];
    const unsigned begin = a.ptr[j], last = a.diagonal[j];
    double sum = 0;
    await_row(f, j, &patient);
    for (unsigned q = begin + lane; q < last; q += 32) {
      const unsigned at = r.find(0, a.idx[q]);
      if (at < p) sum = fma(r.val[at], __ldcg(f.factor + q), sum);
    }
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(ALL, sum, d);
    const double l = __ddiv_rn(__dsub_rn(r.val[p], sum), __ldcg(f.factor + last));
    pivot = __dsub_rn(pivot, __dmul_rn(l, l));
    __syncwarp();
    if (!lane) r.val[p] = l;
    __syncwarp();
  }
  __syncwarp(); /* all lanes have read the diagonal entry */
  if (!lane) {
    if (!(pivot > 0) || !isfinite(pivot)) atomicMin(f.fault, r.i);
    r.val[r.diagonal] = __dsqrt_rn(pivot);
  }
  close_row(f, r, r.diagonal + 1, lane);
}

template <bool SYMMETRIC>
static __global__ void __launch_bounds__(INCOMPLETE_BLOCK) incomplete_kernel(const gik_incomplete f, const gik_rows a)
{
  __shared__ row_room rooms[INCOMPLETE_BLOCK / 32];
  const unsigned lane = threadIdx.x % 32;
  for (;;) {
    unsigned w = 0;
    if (!lane) w = atomicAdd(&f.control->ticket, 1u);
    w = __shfl_sync(ALL, w, 0);
    if (w >= (unsigned)a.n) break;
    const warp_row r = open_row(f, a, (gable_idx)f.order[w], &rooms[threadIdx.x / 32], lane);
    if (SYMMETRIC)
      ic0_row(f, a, r, lane);
    else
      ilu0_row(f, a, r, lane);
  }
  leave(f.control, 0);
}

} /* namespace gik */

namespace
{

template <bool SYMMETRIC> gable_status run(const gik_incomplete *f)
{
  int device = 0, processors = 1, blocks = 1;
  const unsigned wanted = ((unsigned)f->a->n + 7) / 8;
  const auto kernel = gik::incomplete_kernel<SYMMETRIC>;
  gik::launches on(f->stream);
  if (!f->a->n) return GABLE_OK;
  on.call([&] { return cudaGetDevice(&device); });
  on.call([&] { return cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device); });
  on.call([&] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, gik::INCOMPLETE_BLOCK, 0); });
  on.call([&] { return cudaMemsetAsync(f->scratch, 0, (size_t)f->a->n, on.stream); });
  const unsigned most = (unsigned)(blocks * processors), grid = wanted < most ? wanted : most;
  on.launch(kernel, grid, gik::INCOMPLETE_BLOCK, 0, *f, *f->a);
  return on.status(SYMMETRIC ? "IC(0)" : "ILU(0)");
}

} /* namespace */

extern "C" const gik_incomplete_factors gik_incomplete_factors_cuda = {run<false>, run<true>, 1};
