/* exchange_steps.cu: see exchange_steps.h.
 *
 * A launch has a row of blocks (blockIdx.y) for each neighbour, then for the own edges (send) or for shared roots, the
 * wide ones last (receive); fetch has shared roots alone.
 *
 *   1  where the launch is small, its blocks wait themselves: thread k of each for neighbour k; else a kernel of one
 *      block has waited before
 *   2  the blocks of a row move its items, each its share
 *   3  the last block of a row raises the row's flag, at system scope after a fence; receive and fetch, whose slots
 *      several rows read, raise all flags at the end
 *   4  the last row counts the round
 *
 * Sums are those of the CPU bit for bit: each root has one thread, which takes its values in order, or, for a wide one,
 * a warp, which takes them by the tree. */
#include "kernels/forest/exchange_flags.cuh"
#include "kernels/forest/exchange_tree.cuh"
#include "kernels/forest/exchange_values.cuh"

using gik::await_kernel;
using gik::await_rows;
using gik::BLOCK;
using gik::checked;
using gik::close_block;
using gik::combine;
using gik::complex_of;
using gik::empty_kernel;
using gik::feed_tree;
using gik::filled_kernel;
using gik::FREE_SLOTS;
using gik::LANES;
using gik::launches;
using gik::LEVELS;
using gik::MESSAGES;
using gik::of_first_lane;
using gik::pair;
using gik::REPLY_SLOTS;
using gik::row_of;
using gik::state;
using gik::state_of;
using gik::store_emptied;
using gik::store_flag;
using gik::TREE_BLOCK;

namespace
{

enum { UNROLL = 4, MOST_BLOCKS = 1056, MOST_WAITING = 16 /* blocks of a launch that waits */ };

/* One side of a move: item i of field f is number ((f * stride + p(i)) * width) of at.  The map is a copy, which stays
 * in registers. */
template <typename T> struct side {
  T *at;
  gik_indices map;
  int64_t stride;

  __device__ __forceinline__ int64_t item(int64_t i) const { return gik_index_at(&map, i); }
};

/* p(i) = i, of a message. */
__device__ __forceinline__ gik_indices whole(int64_t n)
{
  gik_indices m = {};
  m.n = n;
  m.kind = GIK_MAP_CONTIGUOUS;
  return m;
}

__device__ __forceinline__ bool is_shared(const uint32_t *shared, int64_t root)
{
  return shared && shared[root / 32] >> (root % 32) & 1;
}

/* Bytes that lie side by side on both ends, all threads of a row of blocks. */
template <typename T> __device__ void copy_plain(T *to, const T *from, int64_t n, int64_t first, int64_t step)
{
  if (((uintptr_t)to | (uintptr_t)from) % sizeof(uint4) == 0 && n * sizeof(T) >= sizeof(uint4) * BLOCK) {
    const int64_t words = n * (int64_t)sizeof(T) / (int64_t)sizeof(uint4);
    const uint4 *f = (const uint4 *)from;
    uint4 *t = (uint4 *)to;
    for (int64_t i = first; i < words; i += UNROLL * step) {
      uint4 v[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; u++)
        if (i + u * step < words) v[u] = f[i + u * step];
#pragma unroll
      for (int u = 0; u < UNROLL; u++)
        if (i + u * step < words) t[i + u * step] = v[u];
    }
    const int64_t done = words * (int64_t)(sizeof(uint4) / sizeof(T));
    to += done;
    from += done;
    n -= done;
  }
  for (int64_t i = first; i < n; i += step) to[i] = from[i];
}

/* to = op(to, from) for n items of each field but those of shared roots; loads of UNROLL items before their stores. */
template <typename T>
__device__ void move_items(int op, const side<T> &to, const side<T> &from, int64_t n, int64_t fields, int64_t width,
                           const uint32_t *shared, int64_t first, int64_t step)
{
  const bool plain =
      op == GABLE_FOREST_REPLACE && !shared && to.map.kind == GIK_MAP_CONTIGUOUS && from.map.kind == GIK_MAP_CONTIGUOUS;
  for (int64_t f = 0; f < fields; f++) {
    T *t = to.at + f * to.stride * width;
    const T *p = from.at + f * from.stride * width;
    if (plain) {
      copy_plain(t + to.item(0) * width, p + from.item(0) * width, n * width, first, step);
      continue;
    }
    for (int64_t e = first; e < n * width; e += UNROLL * step) {
      T value[UNROLL], before[UNROLL];
      int64_t place[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; u++) {
        const int64_t number = e + u * step, i = width == 1 ? number : number / width, w = number - i * width;
        place[u] = -1;
        if (number >= n * width) continue;
        const int64_t item = to.item(i);
        if (is_shared(shared, item)) continue;
        place[u] = item * width + w;
        value[u] = p[from.item(i) * width + w];
        if (op != GABLE_FOREST_REPLACE) before[u] = t[place[u]];
      }
#pragma unroll
      for (int u = 0; u < UNROLL; u++)
        if (place[u] >= 0) t[place[u]] = op == GABLE_FOREST_REPLACE ? value[u] : combine(op, before[u], value[u]);
    }
  }
}

/* Blocks of a row that have work: the same on host and device. */
GI_HD unsigned row_blocks(int64_t numbers, unsigned most)
{
  const int64_t wanted = (numbers + BLOCK * UNROLL - 1) / (BLOCK * UNROLL);
  return wanted < 1 ? 1 : wanted < most ? (unsigned)wanted : most;
}

/* After a block's share of a row; true for all threads of the block that is the last one of the row.  What the others
 * have stored then comes before what this block's thread 0 stores with release. */
__device__ bool last_of_row(const gik_exchange_step &s, unsigned row, unsigned blocks)
{
  __shared__ bool last;
  __syncthreads();
  if (blocks == 1) return true;
  if (!threadIdx.x) {
    __threadfence_system();
    last = atomicAdd(&s.row_done[row], 1u) == blocks - 1;
    if (last) {
      s.row_done[row] = 0;
      __threadfence_system();
    }
  }
  __syncthreads();
  return last;
}

/* By thread 0 of the last block of each row; true for the last of count rows, which counts the round. */
__device__ bool last_row(const gik_exchange_step &s, unsigned count, unsigned round)
{
  bool last = count == 1;
  if (!last) {
    __threadfence_system();
    last = atomicAdd(&s.control->done, 1u) == count - 1;
    if (last) {
      s.control->done = 0;
      __threadfence_system();
    }
  }
  if (last) s.control->round = round + 1;
  return last;
}

template <typename T>
__global__ void __launch_bounds__(BLOCK)
    send_kernel(const __grid_constant__ gik_exchange_step s, bool waits, unsigned most)
{
  const state now = state_of(s);
  const unsigned round = now.round;
  const int k = (int)blockIdx.y;
  const bool own = k == s.n_rows;
  const int64_t n = own ? s.own : row_of(s, k).mine.n;
  const unsigned blocks = row_blocks(n * s.width, most);
  const int64_t first = blockIdx.x * BLOCK + threadIdx.x, step = (int64_t)blocks * BLOCK;
  if (blockIdx.x >= blocks || !await_rows(s, waits ? FREE_SLOTS : 0, now, own ? 0 : k, own ? 0 : k + 1)) return;
  if (own) {
    const side<T> to = {(T *)s.to, s.own_to, s.to_stride}, from = {(T *)s.from, s.own_from, s.from_stride};
    move_items(s.op, to, from, n, s.fields, s.width, s.roots.shared, first, step);
  } else {
    const gik_row &r = row_of(s, k);
    const side<T> to = {(T *)r.slot[round % 2], whole(n), n}, from = {(T *)s.from, r.mine, s.from_stride};
    move_items(GABLE_FOREST_REPLACE, to, from, n, s.fields, s.width, nullptr, first, step);
  }
  if (!last_of_row(s, blockIdx.y, blocks) || threadIdx.x) return;
  if (!own && row_of(s, k).raise) store_flag(row_of(s, k).raise, round + 1);
  last_row(s, gridDim.y, round);
}

/* The value of edge e of a shared root in field f: its first number. */
template <typename T>
__device__ __forceinline__ const T *value_of(const gik_exchange_step &s, unsigned round, int64_t f, int64_t e)
{
  const int k = s.roots.row[e];
  if (k == s.n_rows) return (const T *)s.from + (f * s.from_stride + s.roots.item[e]) * s.width;
  const gik_row &r = row_of(s, k);
  return (const T *)r.slot[round % 2] + (f * r.mine.n + s.roots.item[e]) * s.width;
}

template <typename T>
__device__ __forceinline__ T *reply_to(const gik_exchange_step &s, unsigned round, int64_t f, int64_t e)
{
  const int k = s.roots.row[e];
  if (k == s.n_rows) return (T *)s.update + (f * s.from_stride + s.roots.item[e]) * s.width;
  return (T *)s.reply[k].slot[round % 2] + (f * row_of(s, k).mine.n + s.roots.item[e]) * s.width;
}

/* Each number of each shared root has a thread.  fetch: replies go out too. */
template <typename T>
__device__ void combine_shared(const gik_exchange_step &s, unsigned round, bool fetch, int64_t first, int64_t step)
{
  const gik_shared_roots &q = s.roots;
  const int64_t n = q.n - q.wide;
  for (int64_t e = first; e < n * s.fields * s.width; e += step) {
    const int64_t w = e % s.width, r = e / s.width % n, f = e / s.width / n;
    T *root = (T *)s.to + (f * s.to_stride + q.root[r]) * s.width + w;
    T sum = *root;
    for (int64_t k = q.ptr[r]; k < q.ptr[r + 1]; k++) {
      if (fetch) reply_to<T>(s, round, f, k)[w] = sum;
      sum = combine(s.op, sum, value_of<T>(s, round, f, k)[w]);
    }
    *root = sum;
  }
}

/* Each number of each wide root has a warp. */
template <typename T>
__device__ void combine_wide(const gik_exchange_step &s, unsigned round, int64_t first, int64_t step)
{
  const gik_shared_roots &q = s.roots;
  const int lane = (int)threadIdx.x % LANES;
  for (int64_t e = first / LANES; e < q.wide * s.fields * s.width; e += step / LANES) {
    const int64_t w = e % s.width, r = q.n - q.wide + e / s.width % q.wide, f = e / s.width / q.wide;
    const int64_t from = q.ptr[r], values = q.ptr[r + 1] - from;
    T lanes[LEVELS];
    for (int64_t at = 0; at < values; at += TREE_BLOCK) {
      const int64_t n = values - at < TREE_BLOCK ? values - at : TREE_BLOCK;
      T v[TREE_BLOCK / LANES];
#pragma unroll
      for (int u = 0; u < TREE_BLOCK / LANES; u++)
        if (lane + u * LANES < n) v[u] = value_of<T>(s, round, f, from + at + lane + u * LANES)[w];
#pragma unroll
      for (int u = 1; u < TREE_BLOCK / LANES; u++)
        if (lane + u * LANES < n) v[0] = combine(s.op, v[0], v[u]);
      feed_tree(s.op, lanes, 1, of_first_lane(close_block(s.op, v[0], n)), at / TREE_BLOCK);
    }
    /* What is left on each level, from the first on. */
    int64_t n = (values + TREE_BLOCK - 1) / TREE_BLOCK;
    T last = lanes[1];
#pragma unroll
    for (int level = 1; level < LEVELS - 1; level++) {
      if (n == 1) break;
      if (n % TREE_BLOCK)
        feed_tree(s.op, lanes, level + 1, of_first_lane(close_block(s.op, lanes[level], n % TREE_BLOCK)),
                  n / TREE_BLOCK);
      n = (n + TREE_BLOCK - 1) / TREE_BLOCK;
      last = lanes[level + 1];
    }
    T *root = (T *)s.to + (f * s.to_stride + q.root[r]) * s.width + w;
    if (!lane) *root = combine(s.op, *root, last);
  }
}

template <typename T>
__global__ void __launch_bounds__(BLOCK)
    receive_kernel(const __grid_constant__ gik_exchange_step s, bool waits, unsigned most, int rows, int narrow)
{
  const state now = state_of(s);
  const unsigned round = now.round;
  const int k = (int)blockIdx.y;
  const bool shared = k >= rows, wide = k >= rows + narrow;
  const int64_t n = wide     ? s.roots.wide * s.fields * LANES * UNROLL
                    : shared ? (s.roots.n - s.roots.wide) * s.fields
                             : row_of(s, k).mine.n;
  const unsigned blocks = row_blocks(n * s.width, most);
  const int64_t first = blockIdx.x * BLOCK + threadIdx.x, step = (int64_t)blocks * BLOCK;
  if (blockIdx.x >= blocks || !await_rows(s, waits ? MESSAGES : 0, now, shared ? 0 : k, shared ? s.n_rows : k + 1))
    return;
  if (wide) {
    combine_wide<T>(s, round, first, step);
  } else if (shared) {
    combine_shared<T>(s, round, false, first, step);
  } else {
    const gik_row &r = row_of(s, k);
    const side<T> to = {(T *)s.to, r.mine, s.to_stride}, from = {(T *)r.slot[round % 2], whole(n), n};
    move_items(s.op, to, from, n, s.fields, s.width, s.roots.shared, first, step);
  }
  if (!last_of_row(s, blockIdx.y, blocks) || threadIdx.x || !last_row(s, gridDim.y, round)) return;
  for (int j = 0; j < s.n_rows; j++)
    if (row_of(s, j).raise) store_emptied(row_of(s, j).raise, round + 1);
}

template <typename T>
__global__ void __launch_bounds__(BLOCK)
    fetch_kernel(const __grid_constant__ gik_exchange_step s, bool waits, unsigned most)
{
  const state now = state_of(s);
  const unsigned round = now.round;
  const unsigned blocks = row_blocks(s.roots.n * s.fields * s.width, most);
  if (blockIdx.x >= blocks || !await_rows(s, waits ? MESSAGES | REPLY_SLOTS : 0, now, 0, s.n_rows)) return;
  combine_shared<T>(s, round, true, blockIdx.x * BLOCK + threadIdx.x, (int64_t)blocks * BLOCK);
  if (!last_of_row(s, 0, blocks) || threadIdx.x) return;
  last_row(s, 1, round);
  for (int j = 0; j < s.n_rows; j++) {
    if (s.reply[j].raise) store_flag(s.reply[j].raise, round + 1);
    if (row_of(s, j).raise) store_emptied(row_of(s, j).raise, round + 1);
  }
}

typedef void (*send_function)(gik_exchange_step, bool, unsigned);
typedef void (*receive_function)(gik_exchange_step, bool, unsigned, int, int);

typedef struct kernels {
  send_function send;
  receive_function receive;
  send_function fetch;
} kernels;

template <typename T> kernels kernels_of()
{
  return {send_kernel<T>, receive_kernel<T>, fetch_kernel<T>};
}

kernels kernels_for(gable_unit_type unit)
{
  switch (unit) {
  case GABLE_UNIT_UCHAR: return kernels_of<unsigned char>();
  case GABLE_UNIT_I32: return kernels_of<int32_t>();
  case GABLE_UNIT_I64: return kernels_of<int64_t>();
  case GABLE_UNIT_S: return kernels_of<float>();
  case GABLE_UNIT_D: return kernels_of<double>();
  case GABLE_UNIT_C: return kernels_of<complex_of<float>>();
  case GABLE_UNIT_Z: return kernels_of<complex_of<double>>();
  case GABLE_UNIT_PAIR_I32: return kernels_of<pair<int32_t, int32_t>>();
  case GABLE_UNIT_PAIR_I64: return kernels_of<pair<int64_t, int64_t>>();
  case GABLE_UNIT_PAIR_S: return kernels_of<pair<float, int32_t>>();
  case GABLE_UNIT_PAIR_D: return kernels_of<pair<double, int64_t>>();
  default: return kernels_of<signed char>(); /* BYTES too, which are only copied */
  }
}

/* A grid of rows with numbers in the largest; small ones wait themselves, before others a kernel of one block does. */
template <typename... A, typename... B>
gable_status launch_rows(const char *name, const gik_exchange_step *s, void *stream, void (*kernel)(A...), int what,
                         int64_t numbers, unsigned rows, B... more)
{
  launches on(stream);
  const unsigned most = rows && MOST_BLOCKS / rows > 1 ? MOST_BLOCKS / rows : 1, x = row_blocks(numbers, most);
  const bool waits = s->windows && x * rows <= MOST_WAITING;
  if (!rows) return GABLE_OK;
  if (s->windows && s->n_rows && !waits) {
    on.dependent(await_kernel, 1, BLOCK, 0, false, *s, what);
    ++*s->launches;
  }
  ++*s->launches;
  on.dependent(kernel, dim3(x, rows), BLOCK, 0, false, *s, waits, most, more...);
  return on.status(name);
}

gable_status send(const gik_exchange_step *s, void *stream)
{
  const int64_t items = s->own > s->largest ? s->own : s->largest;
  return launch_rows("forest send", s, stream, kernels_for(s->unit).send, FREE_SLOTS, items * s->width,
                     (unsigned)s->n_rows + (s->own > 0));
}

gable_status receive(const gik_exchange_step *s, void *stream)
{
  const gik_shared_roots *q = &s->roots;
  const int rows = q->n && !q->shared ? 0 : s->n_rows, narrow = q->n > q->wide, wide = q->wide > 0;
  const int64_t items[] = {rows ? s->largest : 0, (q->n - q->wide) * s->fields, q->wide * s->fields * LANES * UNROLL};
  int64_t most = 0;
  for (int k = 0; k < 3; k++) most = items[k] > most ? items[k] : most;
  return launch_rows("forest receive", s, stream, kernels_for(s->unit).receive, MESSAGES, most * s->width,
                     (unsigned)(rows + narrow + wide), rows, narrow);
}

gable_status fetch(const gik_exchange_step *s, void *stream)
{
  return launch_rows("forest fetch", s, stream, kernels_for(s->unit).fetch, MESSAGES | REPLY_SLOTS,
                     s->roots.n * s->fields * s->width, s->roots.n > 0);
}

gable_status one_block(const char *name, void (*kernel)(gik_exchange_step), const gik_exchange_step *s, void *stream)
{
  launches on(stream);
  ++*s->launches;
  on.dependent(kernel, 1, BLOCK, 0, false, *s);
  return on.status(name);
}

gable_status empty(const gik_exchange_step *s, void *stream)
{
  return one_block("forest empty slots", empty_kernel, s, stream);
}

gable_status filled(const gik_exchange_step *s, void *stream)
{
  return one_block("forest filled slots", filled_kernel, s, stream);
}

gable_status copy(void *to, const void *from, size_t bytes, void *stream)
{
  return checked(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream), "forest copy");
}

gable_status load_one(const void *kernel)
{
  cudaFuncAttributes about;
  return checked(cudaFuncGetAttributes(&about, kernel), "loading of kernels");
}

/* A kernel is loaded when it is first asked for, which may have to wait for kernels that run, and these for it. */
gable_status load()
{
  gable_status status = GABLE_OK;
  GI_TRY(load_one((const void *)await_kernel));
  GI_TRY(load_one((const void *)empty_kernel));
  GI_TRY(load_one((const void *)filled_kernel));
  for (int unit = GABLE_UNIT_CHAR; unit <= GABLE_UNIT_PAIR_D; unit++) {
    const kernels k = kernels_for((gable_unit_type)unit);
    GI_TRY(load_one((const void *)k.send));
    GI_TRY(load_one((const void *)k.receive));
    GI_TRY(load_one((const void *)k.fetch));
  }
done:
  return status;
}

} /* namespace */

extern "C" const gik_exchange_steps gik_exchange_steps_cuda = {load, send, receive, fetch, empty, filled, copy};
