/* read.cu: the caller's matrix, read once: checked row by row, and where each row of the wanted triangle lies. */
#include <algorithm>
#include <climits>

#include "cuda/device_wait.cuh"
#include "cuda/launch.cuh"
#include "trisolve/cuda/passes.cuh"

using gik::NONE;
using namespace gi;

namespace
{

/* A caller's offsets, 32 or 64 bit. */
struct any_offsets {
  const void *ptr;
  int wide, base;
  __device__ long long at(size_t i) const
  {
    return (wide ? ((const long long *)ptr)[i] : ((const int *)ptr)[i]) - base;
  }
};

enum { LONG_ROW = 128, AT_ONCE = 4 }; /* AT_ONCE: entries that a thread asks for together */
enum { BAD_RANGE = 1, BAD_ORDER = 2, BAD_SIDE = 3, NO_DIAGONAL = 4 };

/* What the threads of a block find out together about a long row. */
struct long_row {
  unsigned count, first, diagonal;
  int why; /* the smallest fault; INT_MAX: none */
};

/* Row lengths that a thread, then a warp, has seen. */
struct length_tally {
  unsigned longest, entries, follow, within[GI_SHAPES];

  __device__ __forceinline__ void add(unsigned length)
  {
    longest = max(longest, length);
    entries += length;
#pragma unroll
    for (int i = 0; i < GI_SHAPES; i++) within[i] += length <= gi_limit_of(i);
  }
  __device__ __forceinline__ void reduce()
  {
    longest = __reduce_max_sync(gik::ALL, longest);
    entries = __reduce_add_sync(gik::ALL, entries);
    follow = __reduce_add_sync(gik::ALL, follow);
#pragma unroll
    for (int i = 0; i < GI_SHAPES; i++) within[i] = __reduce_add_sync(gik::ALL, within[i]);
  }
};

/* One row of the caller's matrix, checked: its entries on the wanted side lie at [first, first + count).  Nothing is
 * written before what is cleared is clear. */
struct row_reader {
  any_offsets ptr;
  gi_device_rows rows;
  int lower, strict, need_diagonal;
  gi_findings *found;
  unsigned *diagonal_from, *row, *count, *child;
  u64 *level;

  /* No entry lies before those of the first row. */
  __device__ bool begins_well(size_t i) const { return i ? ptr.at(i) >= 0 : !ptr.at(i); }

  __device__ bool is_long(size_t i, long long nnz) const
  {
    return ptr.at(i + 1) - ptr.at(i) > LONG_ROW && begins_well(i) && ptr.at(i + 1) <= nnz;
  }

  __device__ void write(size_t i, unsigned c, unsigned f, unsigned d, int why, length_tally *tally) const
  {
    const unsigned n = (unsigned)rows.n, k = lower ? (unsigned)i : n - 1 - (unsigned)i;
    gik::after_last_launch();
    if (!why && need_diagonal && d == NONE) why = NO_DIAGONAL;
    if (why) atomicMax(&found->bad, ~((u64)i << 3 | (unsigned)why));
    count[k] = c;
    row[k] = (unsigned)i;
    diagonal_from[i] = d;
    level[k] = GI_NO_LEVEL;
    rows.run[k] = make_uint2(lower ? (c ? f : d) : ~(c ? f + c - 1 : d), c);
    if (c && !why) {
      const unsigned last = rows.column(rows.run[k].x + c - 1);
      atomicMax(child + last, n - k);
      tally->follow += k - last == 1;
    }
    tally->add(c);
  }

  /* By all threads of a block; r is shared and empty. */
  __device__ void read_long(size_t i, long_row *r, length_tally *tally) const
  {
    const long long p0 = ptr.at(i), p1 = ptr.at(i + 1);
    unsigned c = 0, f = NONE;
    int why = INT_MAX;
    for (long long p = p0 + threadIdx.x; p < p1; p += ROW_THREADS) {
      const int j = rows.idx[p] - rows.base;
      if (j < 0 || j >= rows.n)
        why = min(why, (int)BAD_RANGE);
      else if (p > p0 && rows.idx[p - 1] - rows.base >= j)
        why = min(why, (int)BAD_ORDER);
      else if (j == (int)i)
        r->diagonal = (unsigned)p;
      else if ((j < (int)i) == (lower != 0))
        c++, f = min(f, (unsigned)p);
      else if (strict)
        why = min(why, (int)BAD_SIDE);
    }
    atomicAdd(&r->count, c);
    atomicMin(&r->first, f);
    atomicMin(&r->why, why);
    __syncthreads();
    if (!threadIdx.x) write(i, r->count, r->count ? r->first : 0, r->diagonal, r->why == INT_MAX ? 0 : r->why, tally);
  }

  __device__ void read(size_t i, long long nnz, length_tally *tally) const
  {
    const long long p0 = ptr.at(i), p1 = ptr.at(i + 1);
    unsigned c = 0, f = 0, d = NONE;
    int last = -1, why = p1 < p0 || !begins_well(i) || p1 > nnz ? BAD_ORDER : 0;
    for (long long p = p0; p < p1 && !why; p += AT_ONCE) {
      const int there = (int)min(p1 - p, (long long)AT_ONCE);
      int column[AT_ONCE];
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) column[u] = rows.idx[p + min(u, there - 1)] - rows.base;
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) {
        const int j = column[u];
        if (u >= there || why) continue;
        if (j < 0 || j >= rows.n)
          why = BAD_RANGE;
        else if (j <= last)
          why = BAD_ORDER;
        else if (j == (int)i)
          d = (unsigned)p + u;
        else if ((j < (int)i) == (lower != 0)) {
          if (!c++) f = (unsigned)p + u;
        } else if (strict)
          why = BAD_SIDE;
        last = j;
      }
    }
    write(i, c, f, d, why, tally);
  }
};

/* What a block has seen goes to the findings. */
__device__ void note_lengths(length_tally tally, gi_findings *f)
{
  __shared__ unsigned most, entries, follow, within[GI_SHAPES];
  if (threadIdx.x < GI_SHAPES) within[threadIdx.x] = 0;
  if (!threadIdx.x) most = entries = follow = 0;
  __syncthreads();
  tally.reduce();
  if (threadIdx.x % 32 == 0) {
    atomicMax(&most, tally.longest);
    atomicAdd(&entries, tally.entries);
    atomicAdd(&follow, tally.follow);
    for (int i = 0; i < GI_SHAPES; i++) atomicAdd(within + i, tally.within[i]);
  }
  __syncthreads();
  if (threadIdx.x < GI_SHAPES) atomicAdd(f->within + threadIdx.x, within[threadIdx.x]);
  if (threadIdx.x) return;
  atomicMax(&f->longest, most);
  atomicAdd(&f->entries, entries);
  atomicAdd(&f->follow, follow);
}

__global__ void __launch_bounds__(ROW_THREADS) read_rows_kernel(const row_reader r)
{
  __shared__ unsigned list[ROW_THREADS], count;
  __shared__ long_row found;
  const size_t n = (size_t)r.rows.n;
  const long long nnz = r.ptr.at(n);
  const bool countable = nnz >= 0 && nnz < INT_MAX;
  length_tally tally = {};
  gik::next_launch();
  for (size_t base = blockIdx.x * (size_t)ROW_THREADS; countable && base < n; base += (size_t)gridDim.x * ROW_THREADS) {
    const size_t i = base + threadIdx.x;
    __syncthreads();
    if (!threadIdx.x) count = 0;
    __syncthreads();
    if (i < n) {
      if (r.is_long(i, nnz))
        list[atomicAdd(&count, 1u)] = (unsigned)i;
      else
        r.read(i, nnz, &tally);
    }
    __syncthreads();
    for (unsigned k = 0; k < count; k++) {
      if (!threadIdx.x) found = {0, NONE, NONE, INT_MAX};
      __syncthreads();
      r.read_long(list[k], &found, &tally);
      __syncthreads();
    }
  }
  gik::after_last_launch();
  if (!blockIdx.x && !threadIdx.x) {
    r.found->stored = nnz;
    if (!countable) atomicMax(&r.found->bad, ~0ull); /* row 0, no reason: see gi_cuda_refuse */
  }
  note_lengths(tally, r.found);
}

__global__ void __launch_bounds__(ROW_THREADS) clear_kernel(uint4 *at, size_t count)
{
  gik::next_launch();
  for (size_t i = blockIdx.x * (size_t)ROW_THREADS + threadIdx.x; i < count; i += (size_t)gridDim.x * ROW_THREADS)
    at[i] = make_uint4(0, 0, 0, 0);
}

unsigned blocks_for(size_t threads)
{
  return (unsigned)std::min((threads + ROW_THREADS - 1) / ROW_THREADS, (size_t)4096);
}

} /* namespace */

gable_status gi_cuda_read(gi_arena *m, const gi_shape *shape, const gable_matrix_view *a, int need_diagonal,
                          gi_reading *out)
{
  gable_status status = GABLE_OK;
  const int n = shape->n, lower = (shape->format == GABLE_FORMAT_CSR) == (shape->uplo == GABLE_PART_LOWER);
  const size_t used = sizeof *out->found + (2 * GI_WIDTHS + (size_t)n + 1) * sizeof *out->child;
  const size_t cleared = (used + 15) / 16;
  gi_reading o = {{n, a->base, lower ? 0u : ~0u, (unsigned)(lower ? -a->base : n + a->base), a->idx}};
  row_reader r = {};
  gik::launches on(m->stream);
  o.stream = m->stream;
  o.follow = 1;
  GI_TRY(gi_arena_take(m, cleared * sizeof(uint4), (void **)&o.found));
  o.width = (unsigned *)(o.found + 1);
  o.child = o.width + 2 * GI_WIDTHS;
  GI_TRY(take(m, (size_t)n, &o.rows.run));
  GI_TRY(take(m, (size_t)n, &o.level));
  GI_TRY(take(m, (size_t)n, &o.diagonal_from));
  GI_TRY(take(m, (size_t)n, &o.row));
  GI_TRY(take(m, (size_t)n + 1, &o.count));
  r.ptr = {a->ptr, a->offset_type == GABLE_TYPE_I64, a->base};
  r.rows = o.rows;
  r.lower = lower;
  r.strict = shape->strict;
  r.need_diagonal = need_diagonal;
  r.found = o.found;
  r.diagonal_from = o.diagonal_from;
  r.row = o.row;
  r.count = o.count;
  r.child = o.child;
  r.level = o.level;
  on.launch(clear_kernel, blocks_for(cleared), ROW_THREADS, 0, (uint4 *)o.found, cleared);
  if (n) on.dependent(read_rows_kernel, blocks_for((size_t)n), ROW_THREADS, 0, false, r);
  GI_TRY(on.status("analysis"));
  *out = o;
done:
  return status;
}

gable_status gi_cuda_refuse(const gi_findings *found, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  const unsigned long long bad = ~found->bad;
  const int row = (int)(bad >> 3), why = (int)(bad & 7);
  if (bad == ~0ull) goto done;
  GI_REQUIRE(why, GABLE_ERR_LIMIT, "%lld entries: a GPU plan holds fewer than 2^31", found->stored);
  *bad_row = row;
  GI_REQUIRE(why != NO_DIAGONAL, GABLE_ERR_SINGULAR, "row %d (counted from 0) has no diagonal entry", row);
  GI_REQUIRE(why != BAD_RANGE, GABLE_ERR_ARGUMENT, "row or column %d (counted from 0): an index is out of range", row);
  GI_REQUIRE(why != BAD_ORDER, GABLE_ERR_ARGUMENT,
             "row or column %d (counted from 0): its offsets are wrong, or its indices do not increase", row);
  GI_REQUIRE(0, GABLE_ERR_ARGUMENT, "row or column %d (counted from 0) has an entry outside of the triangle", row);
done:
  return status;
}
