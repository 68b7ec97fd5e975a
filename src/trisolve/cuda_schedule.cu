/* cuda_schedule.cu: analysis on the GPU.
 *
 * Everything is a pass over rows or entries, a prefix sum or a radix sort.  Nothing looks at a grid: what it uses are
 * the levels, and the chain levels, which are levels of the graph after chains (a row and the first row whose last
 * entry it is) have been contracted. */
#include <climits>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "device/device.h"
#include "kernels/device_wait.cuh"
#include "trisolve/cuda_schedule.h"

using gik::NONE;

namespace
{

typedef unsigned long long u64;

template <typename F> __global__ void each_kernel(size_t n, F f)
{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) f(i);
}

template <typename F> gable_status each(size_t n, F f)
{
  gable_status status = GABLE_OK;
  cudaError_t e = cudaSuccess;
  size_t blocks = (n + 255) / 256;
  if (n) each_kernel<<<(unsigned)(blocks < 8192 ? blocks : 8192), 256>>>(n, f);
  e = cudaGetLastError();
  GI_REQUIRE(!e, GABLE_ERR_BACKEND, "analysis: %s", cudaGetErrorString(e));
done:
  return status;
}

enum { ROW_THREADS = 256, LONG_ROW = 128 };

/* f(k, p) for every entry p of every row k: a thread a row, the whole block for a row longer than LONG_ROW. */
template <typename F> __global__ void __launch_bounds__(ROW_THREADS) entries_kernel(size_t n, const unsigned *ptr, F f)
{
  __shared__ unsigned list[ROW_THREADS], count;
  for (size_t base = blockIdx.x * (size_t)ROW_THREADS; base < n; base += (size_t)gridDim.x * ROW_THREADS) {
    const size_t k = base + threadIdx.x;
    const unsigned first = k < n ? ptr[k] : 0, end = k < n ? ptr[k + 1] : 0;
    __syncthreads();
    if (!threadIdx.x) count = 0;
    __syncthreads();
    if (end - first > LONG_ROW)
      list[atomicAdd(&count, 1u)] = (unsigned)k;
    else
      for (unsigned p = first; p < end; p++) f(k, p);
    __syncthreads();
    for (unsigned i = 0; i < count; i++)
      for (unsigned p = ptr[list[i]] + threadIdx.x, last = ptr[list[i] + 1]; p < last; p += ROW_THREADS) f(list[i], p);
  }
}

template <typename F> gable_status each_entry(size_t n, const unsigned *ptr, F f)
{
  gable_status status = GABLE_OK;
  cudaError_t e = cudaSuccess;
  size_t blocks = (n + ROW_THREADS - 1) / ROW_THREADS;
  if (n) entries_kernel<<<(unsigned)(blocks < 8192 ? blocks : 8192), ROW_THREADS>>>(n, ptr, f);
  e = cudaGetLastError();
  GI_REQUIRE(!e, GABLE_ERR_BACKEND, "analysis: %s", cudaGetErrorString(e));
done:
  return status;
}

template <typename T> gable_status take(gi_device_memory *m, size_t count, T **out)
{
  return gi_device_take(m, (count ? count : 1) * sizeof(T), (void **)out);
}

gable_status checked(cudaError_t e, const char *what)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(!e, GABLE_ERR_BACKEND, "%s: %s", what, cudaGetErrorString(e));
done:
  return status;
}

template <typename T> gable_status fetch(T *host, const T *device, size_t count)
{
  return checked(cudaMemcpy(host, device, count * sizeof(T), cudaMemcpyDeviceToHost), "copy to the host");
}

/* out[i] = in[0] + ... + in[i-1], n+1 of them (in has n; in may be out). */
gable_status offsets(gi_device_memory *m, unsigned *in, unsigned *out, size_t n)
{
  gable_status status = GABLE_OK;
  size_t bytes = 0;
  void *space = nullptr;
  GI_TRY(checked(cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, n + 1), "scan"));
  GI_TRY(gi_device_take(m, bytes, &space));
  GI_TRY(checked(cub::DeviceScan::ExclusiveSum(space, bytes, in, out, n + 1), "scan"));
done:
  return status;
}

/* Stable, by the low bits of key; the results are in *key and *value. */
template <typename K> gable_status sort(gi_device_memory *m, K **key, unsigned **value, size_t n, int bits)
{
  gable_status status = GABLE_OK;
  size_t bytes = 0;
  void *space = nullptr;
  K *other_key = nullptr;
  unsigned *other_value = nullptr;
  cub::DoubleBuffer<K> k;
  cub::DoubleBuffer<unsigned> v;
  GI_TRY(take(m, n, &other_key));
  GI_TRY(take(m, n, &other_value));
  k = cub::DoubleBuffer<K>(*key, other_key);
  v = cub::DoubleBuffer<unsigned>(*value, other_value);
  GI_TRY(checked(cub::DeviceRadixSort::SortPairs(nullptr, bytes, k, v, n, 0, bits), "sort"));
  GI_TRY(gi_device_take(m, bytes, &space));
  GI_TRY(checked(cub::DeviceRadixSort::SortPairs(space, bytes, k, v, n, 0, bits), "sort"));
  *key = k.Current();
  *value = v.Current();
done:
  return status;
}

int bits_of(u64 largest)
{
  int b = 1;
  while (b < 64 && largest >> b) b++;
  return b;
}

/* A caller's offsets, 32 or 64 bit. */
struct any_offsets {
  const void *ptr;
  int wide, base;
  __device__ long long at(size_t i) const
  {
    return (wide ? ((const long long *)ptr)[i] : ((const int *)ptr)[i]) - base;
  }
};

enum { BAD_RANGE = 1, BAD_ORDER = 2, BAD_SIDE = 3, NO_DIAGONAL = 4 };

/* What the threads of a block find out together about a long row. */
struct long_row {
  unsigned count, first, diagonal;
  int why; /* the smallest fault; INT_MAX: none */
};

/* One row of the caller's matrix, checked: its entries on the wanted side lie at [first, first + count). */
struct row_reader {
  any_offsets ptr;
  const int *idx;
  int n, base, lower, strict, need_diagonal;
  u64 *bad; /* smallest (row << 3 | why) */
  unsigned *count, *first, *diagonal_from;

  __device__ bool is_long(size_t i) const { return ptr.at(i + 1) - ptr.at(i) > LONG_ROW; }

  __device__ void write(size_t i, unsigned c, unsigned f, unsigned d, int why) const
  {
    if (!why && need_diagonal && d == NONE) why = NO_DIAGONAL;
    if (why) atomicMin(bad, (u64)i << 3 | (unsigned)why);
    count[lower ? i : n - 1 - i] = c;
    first[i] = f;
    diagonal_from[i] = d;
  }

  /* By all threads of a block; r is shared and empty. */
  __device__ void read_long(size_t i, long_row *r) const
  {
    const long long p0 = ptr.at(i), p1 = ptr.at(i + 1);
    unsigned c = 0, f = NONE;
    int why = INT_MAX;
    for (long long p = p0 + threadIdx.x; p < p1; p += ROW_THREADS) {
      const int j = idx[p] - base;
      if (j < 0 || j >= n)
        why = min(why, (int)BAD_RANGE);
      else if (p > p0 && idx[p - 1] - base >= j)
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
    if (!threadIdx.x) write(i, r->count, r->count ? r->first : 0, r->diagonal, r->why == INT_MAX ? 0 : r->why);
  }

  __device__ void operator()(size_t i) const
  {
    const long long p0 = ptr.at(i), p1 = ptr.at(i + 1);
    unsigned c = 0, f = 0, d = NONE;
    int last = -1, why = p1 < p0 ? BAD_ORDER : 0;
    for (long long p = p0; p < p1 && !why; p++) {
      const int j = idx[p] - base;
      if (j < 0 || j >= n)
        why = BAD_RANGE;
      else if (j <= last)
        why = BAD_ORDER;
      else if (j == (int)i)
        d = (unsigned)p;
      else if ((j < (int)i) == (lower != 0)) {
        if (!c++) f = (unsigned)p;
      } else if (strict)
        why = BAD_SIDE;
      last = j;
    }
    write(i, c, f, d, why);
  }
};

__global__ void __launch_bounds__(ROW_THREADS) read_rows_kernel(const row_reader r)
{
  __shared__ unsigned list[ROW_THREADS], count;
  __shared__ long_row found;
  for (size_t base = blockIdx.x * (size_t)ROW_THREADS; base < (size_t)r.n; base += (size_t)gridDim.x * ROW_THREADS) {
    const size_t i = base + threadIdx.x;
    __syncthreads();
    if (!threadIdx.x) count = 0;
    __syncthreads();
    if (i < (size_t)r.n) {
      if (r.is_long(i))
        list[atomicAdd(&count, 1u)] = (unsigned)i;
      else
        r(i);
    }
    __syncthreads();
    for (unsigned k = 0; k < count; k++) {
      if (!threadIdx.x) found = {0, NONE, NONE, INT_MAX};
      __syncthreads();
      r.read_long(list[k], &found);
      __syncthreads();
    }
  }
}

gable_status refuse(u64 bad, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  const int row = (int)(bad >> 3), why = (int)(bad & 7);
  if (bad == ~0ull) goto done;
  *bad_row = row;
  GI_REQUIRE(why != NO_DIAGONAL, GABLE_ERR_SINGULAR, "row %d (counted from 0) has no diagonal entry", row);
  GI_REQUIRE(why != BAD_RANGE, GABLE_ERR_ARGUMENT, "row or column %d (counted from 0): an index is out of range", row);
  GI_REQUIRE(why != BAD_ORDER, GABLE_ERR_ARGUMENT, "row or column %d (counted from 0): indices do not increase", row);
  GI_REQUIRE(0, GABLE_ERR_ARGUMENT, "row or column %d (counted from 0) has an entry outside of the triangle", row);
done:
  return status;
}

gable_status triangle_arrays(gi_device_memory *m, int n, unsigned nnz, gik_device_triangle *t)
{
  gable_status status = GABLE_OK;
  t->n = n;
  t->nnz = nnz;
  GI_TRY(take(m, nnz, &t->col));
  GI_TRY(take(m, nnz, &t->from));
  GI_TRY(take(m, (size_t)n, &t->row));
  GI_TRY(take(m, (size_t)n, &t->parent));
done:
  return status;
}

/* The row of each entry. */
gable_status rows_of(gi_device_memory *m, const gik_device_triangle *t, unsigned **out)
{
  gable_status status = GABLE_OK;
  unsigned *row = nullptr;
  GI_TRY(take(m, t->nnz, &row));
  GI_TRY(each_entry((size_t)t->n, t->ptr, [=] __device__(size_t k, unsigned p) { row[p] = (unsigned)k; }));
  *out = row;
done:
  return status;
}

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

/* Mean distance in index between neighbouring chain heads of the same chain level. */
gable_status chain_gap(gi_device_memory *m, const gik_device_triangle *t, const u64 *level, const unsigned *child,
                       gi_profile *profile)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  unsigned *head = nullptr, *key = nullptr, *value = nullptr;
  u64 *sum = nullptr, got[2] = {0, 0};
  const unsigned *ptr = t->ptr, *col = t->col;
  size_t heads = (size_t)profile->chains;
  GI_TRY(take(m, n + 1, &head));
  GI_TRY(take(m, heads, &key));
  GI_TRY(take(m, heads, &value));
  GI_TRY(take(m, 2, &sum));
  GI_TRY(checked(cudaMemsetAsync(sum, 0, 2 * sizeof *sum), "clear"));
  GI_TRY(each(n + 1, [=] __device__(size_t k) {
    head[k] = k < n && !(ptr[k + 1] > ptr[k] && child[col[ptr[k + 1] - 1]] == k);
  }));
  GI_TRY(offsets(m, head, head, n));
  GI_TRY(each(n, [=] __device__(size_t k) {
    if (head[k + 1] == head[k]) return;
    key[head[k]] = (unsigned)level[k];
    value[head[k]] = (unsigned)k;
  }));
  GI_TRY(sort(m, &key, &value, heads, bits_of((u64)profile->chain_levels)));
  GI_TRY(each(heads ? heads - 1 : 0, [=] __device__(size_t i) {
    if (key[i] != key[i + 1]) return;
    atomicAdd(sum, (u64)(value[i + 1] - value[i]));
    atomicAdd(sum + 1, 1ull);
  }));
  GI_TRY(fetch(got, sum, 2));
  profile->gap = got[1] ? (double)got[0] / (double)got[1] : 0;
done:
  return status;
}

} /* namespace */

gable_status gi_device_take(gi_device_memory *m, size_t bytes, void **out)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(m->count < (int)(sizeof m->block / sizeof *m->block), GABLE_ERR_LIMIT, "too many device arrays");
  GI_TRY(m->ctx->device->alloc(m->ctx, bytes, out));
  m->block[m->count++] = *out;
  m->bytes += bytes;
done:
  return status;
}

void gi_device_give_back(gi_device_memory *m)
{
  while (m->count) m->ctx->device->release(m->ctx, m->block[--m->count]);
  m->bytes = 0;
}

gable_status gi_cuda_triangle(gi_device_memory *m, const gi_shape *shape, const gable_matrix_view *a, int need_diagonal,
                              gik_device_triangle *out, int *reverse, unsigned **diagonal_from, gable_idx *bad_row)
{
  gable_status status = GABLE_OK;
  const int n = shape->n, lower = (shape->format == GABLE_CSR) == (shape->uplo == GABLE_LOWER);
  gi_device_memory scratch = {m->ctx};
  unsigned *first = nullptr, nnz = 0;
  u64 *bad = nullptr, bad_host = 0;
  row_reader r = {
      {a->ptr, a->offset_type == GABLE_I64, a->base}, a->idx, n, a->base, lower, shape->strict, need_diagonal};
  gik_device_triangle t = {};
  GI_TRY(take(&scratch, (size_t)n, &first));
  GI_TRY(take(&scratch, 1, &bad));
  GI_TRY(take(m, (size_t)n + 1, &t.ptr));
  GI_TRY(take(m, (size_t)n, diagonal_from));
  r.bad = bad;
  r.count = t.ptr;
  r.first = first;
  r.diagonal_from = *diagonal_from;
  GI_TRY(checked(cudaMemset(bad, 0xff, sizeof *bad), "clear"));
  if (n) read_rows_kernel<<<(unsigned)(((size_t)n + ROW_THREADS - 1) / ROW_THREADS), ROW_THREADS>>>(r);
  GI_TRY(checked(cudaGetLastError(), "analysis"));
  GI_TRY(fetch(&bad_host, bad, 1));
  GI_TRY(refuse(bad_host, bad_row));
  GI_TRY(offsets(&scratch, t.ptr, t.ptr, (size_t)n));
  GI_TRY(fetch(&nnz, t.ptr + n, 1));
  GI_TRY(triangle_arrays(m, n, nnz, &t));
  GI_TRY(each((size_t)n,
              [=] __device__(size_t k) { t.row[k] = t.parent[k] = lower ? (unsigned)k : n - 1 - (unsigned)k; }));
  GI_TRY(each_entry((size_t)n, t.ptr, [=] __device__(size_t k, unsigned q) {
    /* numbered from the end: also in reverse within the row */
    const unsigned p = lower ? first[k] + (q - t.ptr[k]) : first[n - 1 - k] + (t.ptr[k + 1] - 1 - q);
    const int j = r.idx[p] - r.base;
    t.col[q] = lower ? j : n - 1 - j;
    t.from[q] = p;
  }));
  *out = t;
  *reverse = !lower;
done:
  gi_device_give_back(&scratch);
  return status;
}

gable_status gi_cuda_transpose(gi_device_memory *m, const gik_device_triangle *t, int turned, gik_device_triangle *out)
{
  gable_status status = GABLE_OK;
  const unsigned n = (unsigned)t->n, nnz = t->nnz;
  const gik_device_triangle s = *t;
  gi_device_memory scratch = {m->ctx};
  gik_device_triangle o = {};
  unsigned *row = nullptr, *key = nullptr, *value = nullptr;
  GI_TRY(rows_of(&scratch, t, &row));
  GI_TRY(take(&scratch, nnz, &key));
  GI_TRY(take(&scratch, nnz, &value));
  GI_TRY(take(m, (size_t)n + 1, &o.ptr));
  GI_TRY(triangle_arrays(m, (int)n, nnz, &o));
  GI_TRY(each(nnz, [=] __device__(size_t i) {
    const unsigned p = turned ? nnz - 1 - (unsigned)i : (unsigned)i;
    value[i] = p;
    key[i] = turned ? n - 1 - s.col[p] : s.col[p];
  }));
  GI_TRY(sort(&scratch, &key, &value, nnz, bits_of(n)));
  GI_TRY(each((size_t)n + 1, [=] __device__(size_t k) {
    unsigned lo = 0, hi = nnz; /* the first entry of row k */
    while (lo < hi) {
      const unsigned mid = lo + (hi - lo) / 2;
      if (key[mid] < k)
        lo = mid + 1;
      else
        hi = mid;
    }
    o.ptr[k] = lo;
    if (k < n) o.row[k] = o.parent[k] = s.row[turned ? n - 1 - k : k];
  }));
  GI_TRY(each(nnz, [=] __device__(size_t i) {
    const unsigned p = value[i];
    o.col[i] = turned ? n - 1 - row[p] : row[p];
    o.from[i] = s.from[p];
  }));
  *out = o;
done:
  gi_device_give_back(&scratch);
  return status;
}

/* One round: every row longer than limit becomes parts of at most limit entries and a row over the parts. */
static gable_status split_round(gi_device_memory *m, gik_device_triangle *t, unsigned limit)
{
  gable_status status = GABLE_OK;
  const unsigned n = (unsigned)t->n;
  const gik_device_triangle s = *t;
  gi_device_memory scratch = {m->ctx};
  gik_device_triangle o = {};
  unsigned *parts = nullptr, *length = nullptr, added = 0;
  GI_TRY(take(&scratch, (size_t)n + 1, &parts));
  GI_TRY(each((size_t)n + 1, [=] __device__(size_t k) {
    const unsigned c = k < n ? s.ptr[k + 1] - s.ptr[k] : 0;
    parts[k] = c > limit ? (c + limit - 1) / limit : 0;
  }));
  GI_TRY(offsets(&scratch, parts, parts, n));
  GI_TRY(fetch(&added, parts + n, 1));
  GI_TRY(take(m, (size_t)n + added + 1, &o.ptr));
  GI_TRY(triangle_arrays(m, (int)(n + added), s.nnz + added, &o));
  length = o.ptr;
  GI_TRY(each(n, [=] __device__(size_t k) {
    const unsigned c = s.ptr[k + 1] - s.ptr[k], own = parts[k + 1] - parts[k], at = (unsigned)k + parts[k];
    for (unsigned q = 0; q < own; q++) {
      length[at + q] = min(limit, c - q * limit);
      o.row[at + q] = NONE;
      o.parent[at + q] = s.parent[k];
    }
    length[at + own] = own ? own : c;
    o.row[at + own] = s.row[k];
    o.parent[at + own] = s.parent[k];
  }));
  GI_TRY(offsets(&scratch, o.ptr, o.ptr, (size_t)n + added));
  GI_TRY(each(n, [=] __device__(size_t k) {
    const unsigned own = parts[k + 1] - parts[k], at = (unsigned)k + parts[k];
    for (unsigned r = 0, q = own ? o.ptr[at + own] : 0; r < own; r++, q++) {
      o.col[q] = at + r;
      o.from[q] = NONE;
    }
  }));
  GI_TRY(each_entry(n, s.ptr, [=] __device__(size_t k, unsigned p) {
    const unsigned q = o.ptr[k + parts[k]] + (p - s.ptr[k]), c = s.col[p];
    o.col[q] = c + parts[c + 1];
    o.from[q] = s.from[p];
  }));
  *t = o;
done:
  gi_device_give_back(&scratch);
  return status;
}

gable_status gi_cuda_split(gi_device_memory *m, gik_device_triangle *t, unsigned longest, unsigned limit)
{
  gable_status status = GABLE_OK;
  for (; longest > limit; longest = (longest + limit - 1) / limit) GI_TRY(split_round(m, t, limit));
done:
  return status;
}

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

/* child[c]: the first row whose last entry is c. */
static gable_status find_children(gi_device_memory *m, const gik_device_triangle *t, unsigned **out)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  const unsigned *ptr = t->ptr, *col = t->col;
  unsigned *child = nullptr;
  GI_TRY(take(m, n, &child));
  GI_TRY(checked(cudaMemsetAsync(child, 0xff, n * sizeof *child), "clear"));
  GI_TRY(each(n, [=] __device__(size_t k) {
    if (ptr[k + 1] > ptr[k]) atomicMin(child + col[ptr[k + 1] - 1], (unsigned)k);
  }));
  *out = child;
done:
  return status;
}

gable_status gi_cuda_gap(gi_device_memory *m, const gik_device_triangle *t, const unsigned long long *level,
                         gi_profile *profile)
{
  gable_status status = GABLE_OK;
  gi_device_memory scratch = {m->ctx};
  unsigned *child = nullptr;
  GI_TRY(find_children(&scratch, t, &child));
  GI_TRY(chain_gap(&scratch, t, level, child, profile));
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
  GI_TRY(find_children(&scratch, t, &child));
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

/* Rows sorted by key, in index order where keys are equal; position[row] is a row's place. */
static gable_status place_rows(gi_device_memory *m, size_t n, u64 **key, int bits, unsigned **order,
                               unsigned **position)
{
  gable_status status = GABLE_OK;
  unsigned *value = nullptr, *place = nullptr;
  GI_TRY(take(m, n, &value));
  GI_TRY(take(m, n, &place));
  GI_TRY(each(n, [=] __device__(size_t k) { value[k] = (unsigned)k; }));
  GI_TRY(sort(m, key, &value, n, bits));
  {
    const unsigned *v = value;
    GI_TRY(each(n, [=] __device__(size_t p) { place[v[p]] = (unsigned)p; }));
  }
  *order = value;
  *position = place;
done:
  return status;
}

/* begin[p] = the first place with the same key as place p, by doubling-free search backwards in sorted keys. */
static __device__ __forceinline__ unsigned first_equal(const u64 *key, unsigned p)
{
  const u64 k = key[p];
  unsigned step = 1, hi = p, lo;
  while (hi >= step && key[hi - step] == k) {
    hi -= step;
    step *= 2;
  }
  lo = hi >= step ? hi - step + 1 : 0;
  while (lo < hi) {
    const unsigned mid = lo + (hi - lo) / 2;
    if (key[mid] == k)
      hi = mid;
    else
      lo = mid + 1;
  }
  return hi;
}

gable_status gi_cuda_order(gi_device_memory *keep, const gik_device_triangle *t, const unsigned long long *level,
                           int levels, unsigned **order, unsigned **starts)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  gi_device_memory scratch = {keep->ctx};
  u64 *key = nullptr;
  unsigned *sorted = nullptr, *position = nullptr, *kept = nullptr, *start = nullptr;
  GI_TRY(take(&scratch, n, &key));
  {
    u64 *k = key;
    GI_TRY(each(n, [=] __device__(size_t i) { k[i] = level[i] >> 32; }));
  }
  GI_TRY(place_rows(&scratch, n, &key, bits_of((u64)levels), &sorted, &position));
  GI_TRY(take(keep, n, &kept));
  GI_TRY(take(keep, (size_t)levels + 1, &start));
  {
    const u64 *k = key;
    const unsigned *from = sorted;
    GI_TRY(each(n + 1, [=] __device__(size_t p) {
      const unsigned here = p < n ? (unsigned)k[p] : (unsigned)levels, before = p ? (unsigned)k[p - 1] : NONE;
      if (p < n) kept[p] = from[p];
      for (unsigned l = before + 1; l <= here; l++) start[l] = (unsigned)p;
    }));
  }
  *order = kept;
  *starts = start;
done:
  gi_device_give_back(&scratch);
  return status;
}

/* A schedule while it is built.  Places are the sorted rows; records are numbered tile by tile. */
struct schedule {
  unsigned *order, *position; /* [n] */
  u64 *key;                   /* [n] by place: (tile key, level) */
  unsigned *tile;             /* [n] by place */
  unsigned *record;           /* [n] by place */
  unsigned *slot;             /* [n] by place: row within its record */
};

/* Numbers the tiles (runs of equal key >> level_bits) in tile[p]; *count of them. */
static gable_status number_tiles(gi_device_memory *m, size_t n, const u64 *key, int level_bits, unsigned *tile,
                                 unsigned *count)
{
  gable_status status = GABLE_OK;
  unsigned *flag = nullptr;
  GI_TRY(take(m, n + 1, &flag));
  GI_TRY(each(n + 1,
              [=] __device__(size_t p) { flag[p] = p < n && p && key[p] >> level_bits != key[p - 1] >> level_bits; }));
  GI_TRY(offsets(m, flag, flag, n));
  GI_TRY(each(n, [=] __device__(size_t p) { tile[p] = flag[p + 1]; }));
  GI_TRY(fetch(count, flag + n, 1));
  *count += n > 0;
done:
  return status;
}

/* Records of at most rows rows of one key; a tile's records are padded to a multiple of batch.  first: [tiles+1]. */
static gable_status number_records(gi_device_memory *m, size_t n, const schedule *s, unsigned tiles, unsigned rows,
                                   unsigned batch, unsigned **first, unsigned *records)
{
  gable_status status = GABLE_OK;
  unsigned *flag = nullptr, *padded = nullptr;
  const u64 *key = s->key;
  const unsigned *tile = s->tile;
  unsigned *record = s->record, *slot = s->slot;
  GI_TRY(take(m, n + 1, &flag));
  GI_TRY(take(m, (size_t)tiles + 1, &padded));
  GI_TRY(each(n + 1, [=] __device__(size_t p) {
    unsigned within = 1;
    if (p < n) {
      within = ((unsigned)p - first_equal(key, (unsigned)p)) % rows;
      slot[p] = within;
    }
    flag[p] = within == 0;
  }));
  GI_TRY(offsets(m, flag, flag, n)); /* flag[p]: records that begin before place p */
  GI_TRY(each(n, [=] __device__(size_t p) {
    const bool last = p + 1 == n || tile[p + 1] != tile[p];
    if (last) padded[tile[p]] = flag[p + 1]; /* records up to and with this tile's */
  }));
  GI_TRY(take(m, (size_t)tiles + 1, first));
  {
    unsigned *sizes = *first;
    GI_TRY(each((size_t)tiles + 1, [=] __device__(size_t t) {
      const unsigned c = t < tiles ? padded[t] - (t ? padded[t - 1] : 0) : 0;
      sizes[t] = (c + batch - 1) / batch * batch;
    }));
    GI_TRY(offsets(m, sizes, sizes, tiles));
    GI_TRY(fetch(records, sizes + tiles, 1));
    GI_TRY(each(n, [=] __device__(size_t p) {
      const unsigned t = tile[p];
      record[p] = sizes[t] + flag[p + 1] - 1 - (t ? padded[t - 1] : 0);
    }));
  }
done:
  return status;
}

static gable_status schedule_arrays(gi_device_memory *m, size_t n, schedule *s)
{
  gable_status status = GABLE_OK;
  GI_TRY(take(m, n, &s->key));
  GI_TRY(take(m, n, &s->tile));
  GI_TRY(take(m, n, &s->record));
  GI_TRY(take(m, n, &s->slot));
done:
  return status;
}

/* Sorts the rows by (chain block + index block, index block, level). */
static gable_status tile_order(gi_device_memory *m, const gik_device_triangle *t, const u64 *level,
                               const gi_profile *profile, const gi_tile_shape *shape, schedule *s, unsigned *tiles)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  const unsigned index_cut = shape->index_cut, chain_cut = shape->chain_cut;
  const u64 blocks = (index_cut ? n / index_cut : 0) + (chain_cut ? (u64)profile->chain_levels / chain_cut : 0) + 1;
  const int level_bits = bits_of((u64)profile->levels), index_bits = bits_of(index_cut ? n / index_cut : 0);
  u64 *key = s->key;
  GI_TRY(each(n, [=] __device__(size_t k) {
    const u64 i = index_cut ? k / index_cut : 0, c = chain_cut ? (unsigned)level[k] / chain_cut : 0;
    key[k] = ((i + c) << index_bits | i) << level_bits | level[k] >> 32;
  }));
  GI_TRY(place_rows(m, n, &s->key, level_bits + index_bits + bits_of(blocks), &s->order, &s->position));
  GI_TRY(number_tiles(m, n, s->key, level_bits, s->tile, tiles));
done:
  return status;
}

/* An entry inside its tile whose result is still in the window. */
struct locality {
  const unsigned *position, *tile, *record;
  unsigned window;
  __device__ bool operator()(unsigned row_place, unsigned column_place) const
  {
    return tile[row_place] == tile[column_place] && record[row_place] - record[column_place] < window;
  }
};

/* The border of every tile: which published values it needs, once each, in the order of their levels.
 * number[q]: for the entry q that is not local, its place within its tile's border. */
struct border {
  unsigned *list, *number; /* [n_borders] published places; [nnz] */
  unsigned *first;         /* [tiles+1] */
  unsigned count, published;
  unsigned *rank; /* [n] by place: published place, NONE */
};

static gable_status rank_published(gi_device_memory *m, const gik_device_triangle *t, const schedule *s,
                                   const locality local, unsigned *external, border *b)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  const gik_device_triangle tri = *t;
  const unsigned *order = s->order;
  unsigned *flag = nullptr, *rank = nullptr;
  GI_TRY(take(m, n + 1, &flag));
  GI_TRY(take(m, n, &rank));
  GI_TRY(checked(cudaMemsetAsync(flag, 0, (n + 1) * sizeof *flag), "clear"));
  GI_TRY(each(n, [=] __device__(size_t p) {
    const unsigned k = order[p];
    unsigned count = 0;
    for (unsigned q = tri.ptr[k]; q < tri.ptr[k + 1]; q++) {
      const unsigned c = local.position[tri.col[q]];
      if (local((unsigned)p, c)) continue;
      flag[c] = 1;
      count++;
    }
    external[p] = count;
    if (p + 1 == n) external[n] = 0;
  }));
  GI_TRY(each(n, [=] __device__(size_t p) { rank[p] = flag[p]; }));
  GI_TRY(offsets(m, flag, flag, n));
  GI_TRY(each(n, [=] __device__(size_t p) { rank[p] = rank[p] ? flag[p] : NONE; }));
  GI_TRY(fetch(&b->published, flag + n, 1));
  b->rank = rank;
done:
  return status;
}

/* Sorts the entries that are not local by (tile of the row, level of the column, place of the column). */
static gable_status sort_border(gi_device_memory *m, const gik_device_triangle *t, const schedule *s,
                                const locality local, const unsigned *external, size_t entries, unsigned tiles,
                                int levels, u64 **key, unsigned **entry)
{
  gable_status status = GABLE_OK;
  const gik_device_triangle tri = *t;
  const unsigned *order = s->order, *tile = s->tile;
  const u64 *place_key = s->key;
  const int place_bits = bits_of((u64)t->n), tile_bits = bits_of(tiles);
  int level_bits = bits_of((u64)levels);
  const u64 level_mask = ((u64)1 << level_bits) - 1;
  int dropped = level_bits + place_bits + tile_bits - 64;
  u64 *k = nullptr;
  unsigned *e = nullptr;
  if (dropped < 0) dropped = 0;
  GI_TRY(take(m, entries, &k));
  GI_TRY(take(m, entries, &e));
  GI_TRY(each((size_t)t->n, [=] __device__(size_t p) {
    const unsigned row = order[p];
    unsigned at = external[p];
    for (unsigned q = tri.ptr[row]; q < tri.ptr[row + 1]; q++) {
      const unsigned c = local.position[tri.col[q]];
      if (local((unsigned)p, c)) continue;
      const u64 level = (place_key[c] & level_mask) >> dropped;
      k[at] = ((u64)tile[p] << (level_bits - dropped) | level) << place_bits | c;
      e[at++] = q;
    }
  }));
  GI_TRY(sort(m, &k, &e, entries, tile_bits + level_bits - dropped + place_bits));
  *key = k;
  *entry = e;
done:
  return status;
}

static gable_status find_border(gi_device_memory *keep, gi_device_memory *m, const gik_device_triangle *t,
                                const schedule *s, unsigned tiles, int levels, unsigned window, border *b)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  const locality local = {s->position, s->tile, s->record, window};
  const int place_bits = bits_of((u64)t->n);
  unsigned *external = nullptr, entries = 0, *flag = nullptr, *entry = nullptr;
  u64 *key = nullptr;
  GI_TRY(take(m, n + 1, &external));
  GI_TRY(take(m, t->nnz, &b->number));
  GI_TRY(take(m, (size_t)tiles + 1, &b->first));
  GI_TRY(rank_published(m, t, s, local, external, b));
  GI_TRY(offsets(m, external, external, n));
  GI_TRY(fetch(&entries, external + n, 1));
  GI_TRY(sort_border(m, t, s, local, external, entries, tiles, levels, &key, &entry));
  GI_TRY(take(m, (size_t)entries + 1, &flag));
  {
    const u64 *k = key;
    unsigned *f = flag;
    GI_TRY(each((size_t)entries + 1, [=] __device__(size_t i) { f[i] = i < entries && (!i || k[i] != k[i - 1]); }));
  }
  GI_TRY(offsets(m, flag, flag, entries));
  GI_TRY(fetch(&b->count, flag + entries, 1));
  GI_TRY(take(keep, b->count, &b->list));
  {
    const u64 *k = key;
    const unsigned *f = flag, *e = entry, *rank = b->rank;
    const unsigned row_bits = (unsigned)place_bits;
    unsigned *list = b->list, *first = b->first, *number = b->number;
    const unsigned *tile = s->tile, *position = s->position;
    unsigned *row = nullptr;
    GI_TRY(rows_of(m, t, &row));
    GI_TRY(checked(cudaMemsetAsync(first, 0, ((size_t)tiles + 1) * sizeof *first), "clear"));
    GI_TRY(each(entries, [=] __device__(size_t i) {
      number[e[i]] = f[i + 1] - 1;
      if (f[i + 1] == f[i]) return;
      list[f[i]] = rank[k[i] & (((u64)1 << row_bits) - 1)];
      atomicAdd(first + tile[position[row[e[i]]]], 1u);
    }));
    GI_TRY(offsets(m, first, first, tiles));
  }
done:
  return status;
}

/* Fixed parts of the records, for vectors of size bytes a number: slots, published places, rows. */
struct tile_writer {
  gik_device_triangle t;
  schedule s;
  locality local;
  border b;
  const unsigned *first; /* records of tiles */
  int lanes, pairs, window, rows;
  size_t bytes, slots, meta;
  char *record;

  __device__ void operator()(size_t p) const
  {
    const unsigned k = s.order[p], tile = s.tile[p], slot = s.slot[p];
    char *r = record + s.record[p] * bytes;
    unsigned *m = (unsigned *)(r + meta) + 2 * slot;
    m[0] = b.rank[p];
    m[1] = t.row[k] == NONE ? t.parent[k] | 0x80000000u : t.row[k];
    unsigned j = 0;
    for (unsigned q = t.ptr[k]; q < t.ptr[k + 1]; q++, j++) {
      const unsigned c = local.position[t.col[q]], lane = slot * lanes + j % lanes, entry = j / lanes;
      unsigned at;
      if (local((unsigned)p, c))
        at = 1 + (s.record[c] - first[tile]) % window * rows + s.slot[c];
      else
        at = 1 + window * rows + b.number[q] - b.first[tile];
      ((unsigned short *)(r + slots))[(entry / 2 * 32 + lane) * 2 + entry % 2] = (unsigned short)at;
    }
  }
};

static gable_status write_tiles(gi_device_memory *keep, const gik_device_triangle *t, const schedule *s,
                                const border *b, const unsigned *first, int type, gik_tiles *out)
{
  gable_status status = GABLE_OK;
  const gable_type vectors = type ? GABLE_D : GABLE_S;
  const size_t bytes = gik_tiles_record_bytes(out->lanes, out->pairs, vectors), size = type ? 8 : 4;
  const size_t total = bytes * out->n_records, slots = (size_t)out->pairs * 64 * size,
               meta = slots + (size_t)out->pairs * 128;
  const int rows = 32 / out->lanes;
  char *record = nullptr;
  GI_TRY(gi_device_take(keep, total, &out->record[type]));
  record = (char *)out->record[type];
  GI_TRY(checked(cudaMemsetAsync(record, 0, total), "clear"));
  GI_TRY(each((size_t)out->n_records * rows, [=] __device__(size_t i) {
    unsigned *m = (unsigned *)(record + i / rows * bytes + meta) + 2 * (i % rows);
    m[0] = m[1] = NONE;
  }));
  {
    const tile_writer w = {*t,         *s,          {s->position, s->tile, s->record, (unsigned)out->window},
                           *b,         first,       out->lanes,
                           out->pairs, out->window, rows,
                           bytes,      slots,       meta,
                           record};
    GI_TRY(each((size_t)t->n, w));
  }
done:
  return status;
}

gable_status gi_cuda_tiles(gi_device_memory *keep, const gik_device_triangle *t, const unsigned long long *level,
                           const gi_profile *profile, const gi_tile_shape *shape, int types, gik_tiles *out,
                           unsigned **place)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  const unsigned rows = 32 / (unsigned)shape->lanes, window = (unsigned)shape->window;
  gi_device_memory scratch = {keep->ctx};
  schedule s = {};
  border b = {};
  unsigned tiles = 0, *first = nullptr, records = 0, *largest = nullptr, most = 0, *kept = nullptr;
  gik_tiles o = {shape->lanes, shape->pairs, shape->pollers, shape->window};
  GI_TRY(schedule_arrays(&scratch, n, &s));
  GI_TRY(tile_order(&scratch, t, level, profile, shape, &s, &tiles));
  GI_TRY(number_records(&scratch, n, &s, tiles, rows, GIK_TILE_BATCH, &first, &records));
  GI_TRY(find_border(keep, &scratch, t, &s, tiles, profile->levels, window, &b));
  GI_TRY(take(&scratch, 1, &largest));
  GI_TRY(checked(cudaMemset(largest, 0, sizeof *largest), "clear"));
  GI_TRY(take(keep, tiles, &o.tile));
  GI_TRY(take(keep, n, &kept));
  {
    gik_tile *tile = o.tile;
    const border c = b;
    const unsigned *f = first, *order = s.order, *record = s.record, *slot = s.slot;
    GI_TRY(each(tiles, [=] __device__(size_t i) {
      const unsigned borders = c.first[i + 1] - c.first[i];
      tile[i] = {f[i], f[i + 1], c.first[i], borders};
      atomicMax(largest, 1 + window * rows + borders);
    }));
    GI_TRY(each(n, [=] __device__(size_t p) { kept[order[p]] = record[p] * rows + slot[p]; }));
  }
  GI_TRY(fetch(&most, largest, 1));
  o.count = (int)tiles;
  o.slots = (int)most;
  o.n_records = records;
  o.n_borders = b.count;
  o.n_published = b.published;
  o.border = b.list;
  *place = kept;
  *out = o;
  for (int type = 0; type < 2 && most <= 0xffff; type++)
    if (types >> type & 1) GI_TRY(write_tiles(keep, t, &s, &b, first, type, out));
done:
  gi_device_give_back(&scratch);
  return status;
}

/* Pairs of entries a lane that row k fills. */
static __device__ __forceinline__ unsigned pairs_in_use(const gik_device_triangle &t, unsigned k, unsigned lanes)
{
  return (t.ptr[k + 1] - t.ptr[k] + 2 * lanes - 1) / (2 * lanes);
}

/* Packed records: everything is published, at the row's place in level order. */
static gable_status write_packed(gi_device_memory *keep, const gik_device_triangle *t, const schedule *s, int type,
                                 gik_packed *out)
{
  gable_status status = GABLE_OK;
  const gable_type vectors = type ? GABLE_D : GABLE_S;
  const size_t bytes = gik_packed_record_bytes(out->lanes, out->pairs, vectors), size = type ? 8 : 4;
  const size_t total = bytes * out->n_records, places = bytes - (size_t)out->pairs * 256;
  const unsigned lanes = (unsigned)out->lanes, rows = 32 / lanes, pairs = (unsigned)out->pairs;
  const gik_device_triangle tri = *t;
  const schedule c = *s;
  char *record = nullptr;
  (void)size;
  GI_TRY(gi_device_take(keep, total, &out->record[type]));
  record = (char *)out->record[type];
  GI_TRY(checked(cudaMemsetAsync(record, 0, total), "clear"));
  GI_TRY(each((size_t)out->n_records * 32, [=] __device__(size_t i) {
    char *r = record + i / 32 * bytes;
    const unsigned lane = (unsigned)(i % 32);
    for (unsigned k = 0; k < pairs; k++) ((uint2 *)(r + places))[k * 32 + lane] = make_uint2(NONE, NONE);
    if (lane < rows) ((unsigned *)(r + 16))[lane] = NONE;
  }));
  GI_TRY(each((size_t)t->n, [=] __device__(size_t p) {
    const unsigned k = c.order[p], slot = c.slot[p];
    char *r = record + c.record[p] * bytes;
    unsigned *head = (unsigned *)r, j = 0;
    ((unsigned *)(r + 16))[slot] = tri.row[k] == NONE ? tri.parent[k] | 0x80000000u : tri.row[k];
    atomicAdd(head + 1, 1u);
    for (unsigned q = tri.ptr[k]; q < tri.ptr[k + 1]; q++, j++) {
      const unsigned lane = slot * lanes + j % lanes, entry = j / lanes;
      ((unsigned *)(r + places))[(entry / 2 * 32 + lane) * 2 + entry % 2] = c.position[tri.col[q]];
    }
    if (slot) return;
    unsigned gate = k, up = 0; /* three steps up by last entries */
    for (; up < 3 && tri.ptr[gate + 1] > tri.ptr[gate]; up++) gate = tri.col[tri.ptr[gate + 1] - 1];
    head[0] = (unsigned)p;
    head[3] = pairs_in_use(tri, k, lanes);
    head[2] = up == 3 ? c.position[gate] : NONE;
  }));
done:
  return status;
}

gable_status gi_cuda_packed(gi_device_memory *keep, const gik_device_triangle *t, const unsigned long long *level,
                            const gi_profile *profile, int types, gik_packed *out, unsigned **place)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  const unsigned rows = 32 / (unsigned)out->lanes, most = (unsigned)out->pairs;
  const int class_bits = out->classed ? bits_of(most) : 0;
  gi_device_memory scratch = {keep->ctx};
  schedule s = {};
  unsigned *first = nullptr, *kept = nullptr;
  GI_TRY(schedule_arrays(&scratch, n, &s));
  {
    u64 *key = s.key;
    const gik_device_triangle tri = *t;
    const unsigned lanes = (unsigned)out->lanes;
    GI_TRY(each(n, [=] __device__(size_t k) {
      key[k] = level[k] >> 32 << class_bits;
      if (class_bits) key[k] |= most - pairs_in_use(tri, (unsigned)k, lanes); /* long rows first */
    }));
  }
  GI_TRY(place_rows(&scratch, n, &s.key, bits_of((u64)profile->levels) + class_bits, &s.order, &s.position));
  GI_TRY(checked(cudaMemsetAsync(s.tile, 0, n * sizeof *s.tile), "clear"));
  GI_TRY(number_records(&scratch, n, &s, n ? 1 : 0, rows, 1, &first, &out->n_records));
  out->n_published = (unsigned)n;
  GI_TRY(take(keep, n, &kept));
  {
    const unsigned *order = s.order, *record = s.record, *slot = s.slot;
    GI_TRY(each(n, [=] __device__(size_t p) { kept[order[p]] = record[p] * rows + slot[p]; }));
  }
  *place = kept;
  for (int type = 0; type < 2; type++)
    if (types >> type & 1) GI_TRY(write_packed(keep, t, &s, type, out));
done:
  gi_device_give_back(&scratch);
  return status;
}

/* 1 / diagonal of a row of the matrix; faults are noted. */
template <typename M> struct diagonal_of {
  const M *val, *separate;
  const unsigned *from;
  int *fault;
  __device__ double at(unsigned row) const
  {
    const double d = separate ? (double)separate[row] : from ? (double)val[from[row]] : 1.0;
    const double r = 1.0 / d;
    if (!isfinite(d))
      atomicMin(fault + 1, (int)row);
    else if (d == 0.0 || !isfinite((double)(M)r))
      atomicMin(fault, (int)row);
    return d;
  }
};

template <typename M> static diagonal_of<M> diagonal_from(const gi_values *v)
{
  return {(const M *)v->val, (const M *)v->diagonal, v->diagonal_from, v->fault};
}

/* values of a row, scaled by 1/diagonal, into its record; inverse at record + inverse, pairs at record + values. */
template <typename M, typename T>
static gable_status fill_records(const gik_device_triangle *t, char *record, size_t bytes, size_t inverse,
                                 size_t values, int lanes, const unsigned *place, const gi_values *v)
{
  gable_status status = GABLE_OK;
  const gik_device_triangle tri = *t;
  const diagonal_of<M> diagonal = diagonal_from<M>(v);
  const M *val = (const M *)v->val;
  const unsigned rows = 32 / (unsigned)lanes, l = (unsigned)lanes;
  GI_TRY(each((size_t)t->n, [=] __device__(size_t k) {
    const unsigned slot = place[k] % rows;
    char *r = record + place[k] / rows * bytes;
    const double scale = 1.0 / diagonal.at(tri.parent[k]);
    unsigned j = 0;
    ((T *)(r + inverse))[slot] = (T)scale;
    for (unsigned q = tri.ptr[k]; q < tri.ptr[k + 1]; q++, j++) {
      const unsigned lane = slot * l + j % l, entry = j / l;
      /* a part is minus the sum of its share, already scaled: its row adds it */
      ((T *)(r + values))[(entry / 2 * 32 + lane) * 2 + entry % 2] =
          tri.from[q] == NONE ? (T)-1 : (T)((double)val[tri.from[q]] * scale);
    }
  }));
done:
  return status;
}

template <typename T>
static gable_status fill_as(const gik_device_triangle *t, char *record, size_t bytes, size_t inverse, size_t values,
                            int lanes, const unsigned *place, const gi_values *v)
{
  return v->type == GABLE_D ? fill_records<double, T>(t, record, bytes, inverse, values, lanes, place, v)
                            : fill_records<float, T>(t, record, bytes, inverse, values, lanes, place, v);
}

gable_status gi_cuda_update_tiles(const gik_device_triangle *t, const gik_tiles *tiles, const unsigned *place,
                                  const gi_values *v)
{
  gable_status status = GABLE_OK;
  const size_t k = (size_t)tiles->pairs, rows = 32 / (size_t)tiles->lanes;
  for (int type = 0; type < 2; type++) {
    const size_t size = type ? 8 : 4, inverse = k * 64 * size + k * 128 + rows * 8;
    const size_t bytes = gik_tiles_record_bytes(tiles->lanes, tiles->pairs, type ? GABLE_D : GABLE_S);
    char *record = (char *)tiles->record[type];
    if (!record) continue;
    GI_TRY((type ? fill_as<double> : fill_as<float>)(t, record, bytes, inverse, 0, tiles->lanes, place, v));
  }
done:
  return status;
}

gable_status gi_cuda_update_packed(const gik_device_triangle *t, const gik_packed *packed, const unsigned *place,
                                   const gi_values *v)
{
  gable_status status = GABLE_OK;
  const size_t rows = 32 / (size_t)packed->lanes;
  for (int type = 0; type < 2; type++) {
    const size_t size = type ? 8 : 4, inverse = (16 + rows * 4 + 7) / 8 * 8;
    const size_t values = (inverse + rows * size + 15) / 16 * 16;
    const size_t bytes = gik_packed_record_bytes(packed->lanes, packed->pairs, type ? GABLE_D : GABLE_S);
    char *record = (char *)packed->record[type];
    if (!record) continue;
    GI_TRY((type ? fill_as<double> : fill_as<float>)(t, record, bytes, inverse, values, packed->lanes, place, v));
  }
done:
  return status;
}

template <typename M, typename T>
static gable_status fill_seed(const gik_seed *m, T *out, T *diagonal_out, const gi_values *v)
{
  gable_status status = GABLE_OK;
  const diagonal_of<M> diagonal = diagonal_from<M>(v);
  const M *val = (const M *)v->val;
  const unsigned *from = m->a.from, *row = m->a.row;
  GI_TRY(each(m->a.nnz, [=] __device__(size_t q) { out[q] = (T)val[from[q]]; }));
  GI_TRY(each((size_t)m->a.n, [=] __device__(size_t k) { diagonal_out[k] = (T)diagonal.at(row[k]); }));
done:
  return status;
}

gable_status gi_cuda_update_seed(const gik_seed *m, const gi_values *v)
{
  gable_status status = GABLE_OK;
  float *single = (float *)m->val[0];
  double *both = (double *)m->val[1];
  if (single && v->type == GABLE_S) GI_TRY((fill_seed<float, float>(m, single, (float *)m->diagonal[0], v)));
  if (both && v->type == GABLE_S) GI_TRY((fill_seed<float, double>(m, both, (double *)m->diagonal[1], v)));
  if (both && v->type == GABLE_D) GI_TRY((fill_seed<double, double>(m, both, (double *)m->diagonal[1], v)));
done:
  return status;
}
