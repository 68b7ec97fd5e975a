/* exchange_rows.cuh: what the blocks of a row of a step do, which exchange_steps.cu launches for one exchange and
 * exchange_together.cu for several. */
#ifndef GIK_FOREST_EXCHANGE_ROWS_CUH
#define GIK_FOREST_EXCHANGE_ROWS_CUH

#include "kernels/forest/exchange_atomics.cuh"
#include "kernels/forest/exchange_flags.cuh"
#include "kernels/forest/exchange_tree.cuh"
#include "kernels/forest/exchange_values.cuh"

namespace gik
{

enum { UNROLL = 4, MOST_BLOCKS = 1056 };
static_assert(int(GIK_WAITING) == int(GIK_FLAGGED_BLOCKS),
              "a flagged message alone waits itself, where all these blocks may");

/* A launch that can do its work with GIK_WAITING blocks in so many passes has no more blocks, and waits itself.  With
 * 32 blocks of 256 threads and 4 numbers a thread a pass moves 256 KiB of doubles, side by side 512 KiB; it lasts as
 * long as a load, about 1 us.  A kernel that waits beforehand costs a launch: 2.3 us for the two steps of a message. */
enum { WAITING_PASSES = 2 };
enum { LONG_RESIDENT = 4 };
static_assert(GIK_BLOCK_NUMBERS == BLOCK * UNROLL, "what a block moves at a time");

/* One side of a move: item i of field f is number ((f * stride + p(i)) * width) of at.  The map is a copy, which stays
 * in registers. */
template <typename T> struct side {
  T *at;
  gik_indices map;
  int64_t stride;

  __device__ __forceinline__ int64_t item(int64_t i) const { return gik_index_at(&map, i); }
};

/* p(i) = i - begin, of a message whose first item is begin. */
static __device__ __forceinline__ gik_indices from_first(int64_t begin)
{
  gik_indices m = {};
  m.start = -begin;
  m.kind = GIK_MAP_CONTIGUOUS;
  return m;
}

/* What a block moves: items begin .. end - 1, of their numbers every step-th from number first on. */
struct share {
  int64_t begin, end;
  unsigned first, step;

  __device__ __forceinline__ int64_t n() const { return end - begin; }
};

/* Of n items, beside the other blocks of a row. */
static __device__ __forceinline__ share share_of(int64_t n, unsigned blocks)
{
  return {0, n, blockIdx.x * BLOCK + threadIdx.x, blocks * BLOCK};
}

/* A part of flagged words. */
static __device__ __forceinline__ share share_of(const gik_flagged_part &p)
{
  return {p.first, p.first + p.items, threadIdx.x, BLOCK};
}

/* Where send packs the row's message; array: its target's or NULL. */
static __device__ __forceinline__ char *message_at(const gik_exchange_step &s, int k, unsigned round, char *array)
{
  if (row_of(s, k).flagged) return (char *)flagged_copy();
  return array ? array : row_of(s, k).slot[round % 2];
}

static __device__ __forceinline__ bool is_shared(const uint32_t *shared, int64_t root)
{
  return shared && shared[root / 32] >> (root % 32) & 1;
}

/* Bytes that lie side by side on both ends, all threads of a row of blocks; each has AHEAD loads under way. */
template <typename T, int AHEAD = UNROLL>
static __device__ void copy_plain(T *to, const T *from, int64_t n, int64_t first, int64_t step)
{
  if (((uintptr_t)to | (uintptr_t)from) % sizeof(uint4) == 0 && n * sizeof(T) >= sizeof(uint4) * BLOCK) {
    const int64_t words = n * (int64_t)sizeof(T) / (int64_t)sizeof(uint4);
    const uint4 *f = (const uint4 *)from;
    uint4 *t = (uint4 *)to;
    for (int64_t i = first; i < words; i += AHEAD * step) {
      uint4 v[AHEAD];
#pragma unroll
      for (int u = 0; u < AHEAD; u++)
        if (i + u * step < words) v[u] = f[i + u * step];
#pragma unroll
      for (int u = 0; u < AHEAD; u++)
        if (i + u * step < words) t[i + u * step] = v[u];
    }
    const int64_t done = words * (int64_t)(sizeof(uint4) / sizeof(T));
    to += done;
    from += done;
    n -= done;
  }
  for (int64_t i = first; i < n; i += step) to[i] = from[i];
}

/* By a block, in little code: loads of UNROLL words before their stores. */
template <typename W> static __device__ __forceinline__ void copy_words(char *to, const char *from, unsigned bytes)
{
  const unsigned n = bytes / (unsigned)sizeof(W);
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < n; i += UNROLL * BLOCK) {
    W v[UNROLL];
#pragma unroll
    for (unsigned u = 0; u < UNROLL; u++)
      if (i + u * BLOCK < n) v[u] = ((const W *)from)[i + u * BLOCK];
#pragma unroll
    for (unsigned u = 0; u < UNROLL; u++)
      if (i + u * BLOCK < n) ((W *)to)[i + u * BLOCK] = v[u];
  }
}

/* A short run, in the longest words that both ends and the length are multiples of. */
static __device__ __forceinline__ void copy_run(char *to, const char *from, int64_t bytes)
{
  const uintptr_t ends = (uintptr_t)to | (uintptr_t)from | (uintptr_t)bytes;
  if (ends % sizeof(uint2) == 0)
    copy_words<uint2>(to, from, (unsigned)bytes);
  else if (ends % sizeof(unsigned) == 0)
    copy_words<unsigned>(to, from, (unsigned)bytes);
  else
    copy_words<char>(to, from, (unsigned)bytes);
}

/* to = op(to, from) for the items of each field but those of shared roots; loads of UNROLL items before their stores.
 */
template <typename T>
static __device__ void move_items(int op, const side<T> &to, const side<T> &from, const share &of, int64_t fields,
                                  int64_t width, const uint32_t *shared)
{
  const int64_t end = of.end * width, step = of.step;
  const bool plain = op == GABLE_FOREST_OP_REPLACE && !shared && to.map.kind == GIK_MAP_CONTIGUOUS &&
                     from.map.kind == GIK_MAP_CONTIGUOUS;
  for (int64_t f = 0; f < fields; f++) {
    T *t = to.at + f * to.stride * width;
    const T *p = from.at + f * from.stride * width;
    if (plain) {
      copy_plain(t + to.item(of.begin) * width, p + from.item(of.begin) * width, of.n() * width, of.first, step);
      continue;
    }
    for (int64_t e = of.begin * width + of.first; e < end; e += UNROLL * step) {
      T value[UNROLL], before[UNROLL];
      int64_t place[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; u++) {
        const int64_t number = e + u * step, i = width == 1 ? number : number / width, w = number - i * width;
        place[u] = -1;
        if (number >= end) continue;
        const int64_t item = to.item(i);
        if (is_shared(shared, item)) continue;
        place[u] = item * width + w;
        value[u] = p[from.item(i) * width + w];
        if (op != GABLE_FOREST_OP_REPLACE) before[u] = t[place[u]];
      }
#pragma unroll
      for (int u = 0; u < UNROLL; u++)
        if (place[u] >= 0) t[place[u]] = op == GABLE_FOREST_OP_REPLACE ? value[u] : combine(op, before[u], value[u]);
    }
  }
}

/* The places of a lane's items first + 32 u; of those from n on the place of another, so that no load needs a branch.
 */
template <int N>
static __device__ __forceinline__ void find_places(const gik_indices &m, uint32_t first, uint32_t n,
                                                   int64_t (&place)[N])
{
  const uint32_t length = (uint32_t)m.extent[0].by;
  uint32_t i[N], x = length;
  int64_t line = 0;
#pragma unroll
  for (int u = 0; u < N; u++) i[u] = first + u * LANES < n ? first + u * LANES : first;
  if (m.kind == GIK_MAP_CONTIGUOUS) {
#pragma unroll
    for (int u = 0; u < N; u++) place[u] = m.start + i[u];
  } else if (m.kind == GIK_MAP_LIST && m.list) {
#pragma unroll
    for (int u = 0; u < N; u++) place[u] = m.list[i[u]];
  } else if (m.kind == GIK_MAP_LIST) {
#pragma unroll
    for (int u = 0; u < N; u++) place[u] = m.list_64[i[u]];
  } else {
#pragma unroll
    for (int u = 0; u < N; u++) {
      x += LANES;
      if (u == 0 || x >= length) { /* past the end of the box's line */
        const int64_t row = gik_divide(&m.extent[0], i[u], 1), plane = gik_divide(&m.extent[1], row, 1);
        x = i[u] - (uint32_t)row * length;
        line = m.start + (row - plane * m.extent[1].by) * m.stride[1] + plane * m.stride[2];
      }
      place[u] = line + x * m.stride[0];
    }
  }
}

/* One side of move_long.  map: NULL: from_first(begin). */
template <typename T> struct long_side {
  T *at;
  const gik_indices *map;
  int64_t stride;

  __device__ __forceinline__ bool contiguous() const { return !map || map->kind == GIK_MAP_CONTIGUOUS; }
  __device__ __forceinline__ int64_t start(int64_t begin) const { return map ? map->start + begin : 0; }
};

/* One field: a warp takes N * 32 items in a row.  It is called, so that its registers count once. */
template <typename T>
static __device__ __noinline__ void move_field(int op, T *to, const gik_indices *to_map, const T *from,
                                               const gik_indices *from_map, uint32_t begin, uint32_t end,
                                               const uint32_t *shared, uint32_t first, uint32_t step)
{
  constexpr int N = sizeof(T) > 8 ? 2 : 4;
  __shared__ gik_indices p, q;
  __syncthreads();
  if (!threadIdx.x) {
    p = to_map ? *to_map : from_first(begin);
    q = from_map ? *from_map : from_first(begin);
  }
  __syncthreads();
#pragma unroll 1
  for (uint32_t i = begin + first / LANES * (N * LANES) + first % LANES; i < end; i += N * step) {
    int64_t place[N];
    T value[N], before[N];
    find_places(q, i, end, place);
#pragma unroll
    for (int u = 0; u < N; u++) value[u] = from[place[u]];
    find_places(p, i, end, place);
    if (op != GABLE_FOREST_OP_REPLACE) {
#pragma unroll
      for (int u = 0; u < N; u++) before[u] = to[place[u]];
    }
    if (shared) {
      uint32_t word[N];
#pragma unroll
      for (int u = 0; u < N; u++) word[u] = shared[place[u] / 32];
#pragma unroll
      for (int u = 0; u < N; u++)
        if (word[u] >> (place[u] % 32) & 1) place[u] = -1;
    }
#pragma unroll
    for (int u = 0; u < N; u++)
      if (i + u * LANES < end && place[u] >= 0)
        to[place[u]] = op == GABLE_FOREST_OP_REPLACE ? value[u] : combine(op, before[u], value[u]);
  }
}

/* As move_items, of items of one number, for long rows: maps are in shared memory, so that a thread has 64 registers
 * and LONG_RESIDENT blocks stay on a multiprocessor. */
template <typename T>
static __device__ __forceinline__ void move_long(int op, const long_side<T> &to, const long_side<T> &from,
                                                 const share &of, int64_t fields, const uint32_t *shared)
{
  const bool plain = op == GABLE_FOREST_OP_REPLACE && !shared && to.contiguous() && from.contiguous();
#pragma unroll 1
  for (int64_t f = 0; f < fields; f++) {
    T *t = to.at + f * to.stride;
    const T *v = from.at + f * from.stride;
    if (plain)
      copy_plain<T, UNROLL / 2>(t + to.start(of.begin), v + from.start(of.begin), of.n(), of.first, of.step);
    else
      move_field(op, t, to.map, v, from.map, (uint32_t)of.begin, (uint32_t)of.end, shared, of.first, of.step);
  }
}

/* The same by atomic operations on to, each item when its turn comes; roots may have several. */
template <typename T>
static __device__ void move_atomically(int op, const side<T> &to, const side<T> &from, const share &of, int64_t fields,
                                       int64_t width)
{
  for (int64_t f = 0; f < fields; f++) {
    T *t = to.at + f * to.stride * width;
    const T *p = from.at + f * from.stride * width;
    for (int64_t e = of.begin * width + of.first; e < of.end * width; e += of.step) {
      const int64_t i = width == 1 ? e : e / width, w = e - i * width;
      combine_atomically(op, &t[to.item(i) * width + w], p[from.item(i) * width + w]);
    }
  }
}

/* Rows of blocks of a launch, own edges among them; of a receive those of messages, of shared roots and of wide ones.
 */
static inline unsigned send_rows(const gik_exchange_step &s)
{
  return (unsigned)s.n_rows + (s.own > 0);
}

struct receive_rows {
  int messages, narrow, wide;

  __host__ __device__ __forceinline__ unsigned all() const { return (unsigned)(messages + narrow + wide); }
};

GI_HD receive_rows receive_rows_of(const gik_exchange_step &s)
{
  const gik_shared_roots &q = s.roots;
  return {q.n && !q.shared ? 0 : s.n_rows, q.n > q.wide, q.wide > 0};
}

/* The numbers of a field of the largest row, on the host. */
static inline int64_t send_numbers(const gik_exchange_step &s)
{
  return s.own * s.width > s.largest ? s.own * s.width : s.largest;
}

/* Of shared roots, as row_blocks counts: a thread has one number, of wide ones a warp. */
GI_HD int64_t narrow_numbers(const gik_exchange_step &s)
{
  return (s.roots.n - s.roots.wide) * s.fields * s.width * UNROLL;
}

GI_HD int64_t wide_numbers(const gik_exchange_step &s)
{
  return s.roots.wide * s.fields * s.width * LANES * UNROLL;
}

static inline int64_t receive_numbers(const gik_exchange_step &s)
{
  const int64_t numbers[] = {receive_rows_of(s).messages ? s.largest : 0, narrow_numbers(s), wide_numbers(s)};
  int64_t most = 0;
  for (int k = 0; k < 3; k++) most = numbers[k] > most ? numbers[k] : most;
  return most;
}

/* What decides whether a launch may do with few blocks: the numbers of its largest row in all fields.  Rows of shared
 * roots, whose numbers take up to 64 values each and of wide ones any, never do; nor does what waits for nobody. */
static inline int64_t row_work(const gik_exchange_step &s, bool receives, int64_t numbers)
{
  return s.windows && !(receives && s.roots.n) ? numbers * s.fields : INT64_MAX;
}

/* Blocks of a row at most; waiting: of the launch, where it waits. */
static inline unsigned most_blocks(int64_t work, unsigned rows, unsigned waiting)
{
  const unsigned few = waiting / rows;
  if (few && work <= (int64_t)few * WAITING_PASSES * BLOCK * UNROLL) return few;
  return MOST_BLOCKS / rows > 1 ? MOST_BLOCKS / rows : 1;
}

/* Blocks of a row that have work: the same on host and device. */
GI_HD unsigned row_blocks(int64_t numbers, unsigned most)
{
  const int64_t wanted = (numbers + BLOCK * UNROLL - 1) / (BLOCK * UNROLL);
  return wanted < 1 ? 1 : wanted < most ? (unsigned)wanted : most;
}

/* Counts *p; what this block and those that counted before have stored then comes before what the caller stores with
 * release.  GPU scope is enough: order is transitive over the scopes of PTX, so a flag that is then stored with release
 * at system scope follows the other blocks' stores to another GPU, too. */
static __device__ __forceinline__ unsigned count_in_order(unsigned *p)
{
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(p) : "memory");
  return before;
}

/* After a block's share of a row; true for all threads of the block that is the last one of the row.  stores: what the
 * others have stored then comes before what this block's thread 0 stores with release.  Without it the others have read
 * their values: a block's barrier comes after the instructions that use what it has read, hence after the loads. */
static __device__ __forceinline__ bool last_of_row(const gik_exchange_step &s, unsigned row, unsigned blocks,
                                                   bool stores)
{
  __shared__ bool last;
  __syncthreads();
  if (blocks == 1) return true;
  if (!threadIdx.x) {
    last = (stores ? count_in_order(&s.row_done[row]) : atomicAdd(&s.row_done[row], 1u)) == blocks - 1;
    if (last) s.row_done[row] = 0; /* for the next launch */
  }
  __syncthreads();
  return last;
}

/* By thread 0 of the last block of each row; true for the last of count rows, which counts the round. */
static __device__ bool last_row(const gik_exchange_step &s, unsigned count, unsigned round)
{
  const bool last = count == 1 || atomicAdd(&s.control->done, 1u) == count - 1;
  if (last && count > 1) s.control->done = 0;
  if (last) s.control->round = round + 1;
  return last;
}

/* The block's share of message k of a send.  LONG, here and below: of a step with long_blocks. */
template <typename T, bool LONG>
static __device__ __forceinline__ void pack_share(const gik_exchange_step &s, int k, unsigned round, char *array,
                                                  const share &of)
{
  if (LONG) {
    const long_side<T> to = {(T *)message_at(s, k, round, array), nullptr, of.n()};
    const long_side<T> from = {(T *)s.from, &row_of(s, k).mine, s.from_stride};
    move_long(GABLE_FOREST_OP_REPLACE, to, from, of, s.fields, nullptr);
  } else {
    const side<T> to = {(T *)message_at(s, k, round, array), from_first(of.begin), of.n()};
    const side<T> from = {(T *)s.from, row_of(s, k).mine, s.from_stride};
    move_items(GABLE_FOREST_OP_REPLACE, to, from, of, s.fields, s.width, nullptr);
  }
}

/* Which messages of a step are of flagged words.  FLAGGED_SHARED: all, of a receive with shared roots. */
enum { NO_FLAGGED, ALL_FLAGGED, EITHER, FLAGGED_SHARED };

/* Whether row k, a message, is. */
template <int FLAGGED> static __device__ __forceinline__ bool is_flagged(const gik_exchange_step &s, int k)
{
  return FLAGGED == ALL_FLAGGED || (FLAGGED == EITHER && row_of(s, k).flagged);
}

/* The block's share of the own edges, which nobody waits for, so that no round is asked for or counted. */
template <typename T> static __device__ __forceinline__ void move_own(const gik_exchange_step &s, unsigned most)
{
  const side<T> to = {(T *)s.to, s.own_to, s.to_stride}, from = {(T *)s.from, s.own_from, s.from_stride};
  const unsigned blocks = row_blocks(s.own * s.width, most);
  after_last_launch();
  next_launch();
  if (blockIdx.x >= blocks) return;
  if (s.atomics)
    move_atomically(s.op, to, from, share_of(s.own, blocks), s.fields, s.width);
  else
    move_items(s.op, to, from, share_of(s.own, blocks), s.fields, s.width, s.roots.shared);
}

/* Row k of a send: a message, or behind them the own edges. */
template <typename T, int FLAGGED, bool LONG = false>
static __device__ __forceinline__ void send_row(const gik_exchange_step &s, int k, bool waits, unsigned most)
{
  if (!LONG && k == s.n_rows) return move_own<T>(s, most);
  const gik_row_target target = row_target_of(s, k);
  const state now = state_of(s);
  const unsigned round = now.round;
  const bool flagged = is_flagged<FLAGGED>(s, k);
  const unsigned blocks = row_blocks(gik_row_numbers(&row_of(s, k), s.width), most);
  const unsigned parts = flagged ? (unsigned)row_of(s, k).parts : 1;
  if (blockIdx.x >= blocks) return;
  if (!flagged && !await_rows(s, waits ? FREE_SLOTS : 0, now, k, k + 1)) return;
  char *const array = target.at ? target.at->to : nullptr;
#pragma unroll 1
  for (unsigned j = flagged ? blockIdx.x : 0; j < parts; j += blocks) {
    const gik_flagged_part p = flagged ? gik_flagged_part_of(&row_of(s, k), j, s.fields * s.item) : gik_flagged_part{};
    pack_share<T, LONG>(s, k, round, array, flagged ? share_of(p) : share_of(row_of(s, k).mine.n, blocks));
    if (!flagged) break;
    if (!store_flagged(s, row_of(s, k), p, now)) return;
    if (j + blocks < parts) __syncthreads(); /* flagged_copy() has been read */
  }
  if (!last_of_row(s, (unsigned)k, blocks, !flagged) || threadIdx.x) return;
  if (array) *(volatile unsigned *)target.stored = round + 1;
  if (!flagged && row_of(s, k).raise) store_flag(row_of(s, k).raise, round + 1);
  last_row(s, (unsigned)s.n_rows, round);
}

/* An edge of a shared root: gik_shared_roots.row and .item. */
struct edge {
  int row;
  int64_t item;
};

static __device__ __forceinline__ edge edge_of(const gik_exchange_step &s, int64_t e)
{
  return {s.roots.row[e], s.roots.item[e]};
}

/* Its value in field f: its first number. */
template <typename T>
static __device__ __forceinline__ const T *value_of(const gik_exchange_step &s, unsigned round, int64_t f,
                                                    const edge &e)
{
  if (e.row == s.n_rows) return (const T *)s.from + (f * s.from_stride + e.item) * s.width;
  const gik_row &r = row_of(s, e.row);
  return (const T *)r.slot[round % 2] + (f * r.mine.n + e.item) * s.width;
}

template <typename T>
static __device__ __forceinline__ T *reply_to(const gik_exchange_step &s, unsigned round, int64_t f, const edge &e)
{
  if (e.row == s.n_rows) return (T *)s.update + (f * s.from_stride + e.item) * s.width;
  return (T *)s.reply[e.row].slot[round % 2] + (f * row_of(s, e.row).mine.n + e.item) * s.width;
}

/* Edges of a root whose values are loaded at once. */
enum { EDGES = 4 };

/* Number w of the values in field f. */
template <typename T>
static __device__ __forceinline__ void load_values(const gik_exchange_step &s, unsigned round, int64_t f, int64_t w,
                                                   const edge (&e)[EDGES], T (&value)[EDGES])
{
  const T *at[EDGES];
#pragma unroll
  for (int u = 0; u < EDGES; u++) at[u] = value_of<T>(s, round, f, e[u]) + w;
#pragma unroll
  for (int u = 0; u < EDGES; u++) value[u] = *at[u];
}

/* The same where messages are of flagged words: once all are of this round; false: it has waited in vain.  An own edge
 * loads some message's words, too, and another one twice, so that no load needs a branch. */
template <typename T>
static __device__ __forceinline__ bool take_values(const gik_exchange_step &s, state now, int64_t f, int64_t w,
                                                   const edge (&e)[EDGES], T (&value)[EDGES])
{
  const char *words[EDGES];
  unsigned byte[EDGES];
  const T *own[EDGES];
#pragma unroll
  for (int u = 0; u < EDGES; u++) {
    const bool here = e[u].row == s.n_rows;
    const gik_row &r = row_of(s, here ? 0 : e[u].row);
    const unsigned item = here ? 0 : (unsigned)e[u].item;
    const gik_flagged_part p = gik_flagged_part_of(&r, item / (unsigned)r.flagged, s.fields * s.item);
    byte[u] = (unsigned)((f * p.items + (item - p.first)) * s.width + w) * (unsigned)sizeof(T);
    words[u] = words_of(r, p, now.round) + byte[u] / 4 * 8;
    own[u] = here ? value_of<T>(s, now.round, f, e[u]) + w : (const T *)words[u];
  }
  unsigned long long until = 0;
  for (unsigned polls = 1;; polls++) {
    int missing = -1;
#pragma unroll
    for (int u = 0; u < EDGES; u++) {
      flagged_number<T> v;
      const bool all = v.load(words[u], now.round + 1);
      const T mine = *own[u];
      const bool here = e[u].row == s.n_rows;
      value[u] = here ? mine : v.number(byte[u]);
      if (!here && !all) missing = e[u].row;
    }
    if (missing < 0) return true;
    if (!goes_on(s, polls, &until, row_of(s, missing).rank)) return false;
  }
}

/* Each number of each shared root has a thread; false: one of its values was awaited in vain.  fetch: replies go out
 * too. */
template <typename T, bool FLAGGED>
static __device__ __forceinline__ bool combine_shared(const gik_exchange_step &s, state now, bool fetch, int64_t first,
                                                      int64_t step)
{
  const gik_shared_roots &q = s.roots;
  const int64_t n = q.n - q.wide;
  for (int64_t e = first; e < n * s.fields * s.width; e += step) {
    const int64_t w = e % s.width, r = e / s.width % n, f = e / s.width / n, end = q.ptr[r + 1];
    T *root = (T *)s.to + (f * s.to_stride + q.root[r]) * s.width + w;
    T sum = *root;
    for (int64_t k = q.ptr[r]; k < end; k += EDGES) {
      edge edges[EDGES];
      T value[EDGES];
#pragma unroll
      for (int u = 0; u < EDGES; u++) edges[u] = edge_of(s, k + u < end ? k + u : end - 1);
      if (FLAGGED && !take_values(s, now, f, w, edges, value)) return false;
      if (!FLAGGED) load_values(s, now.round, f, w, edges, value);
#pragma unroll
      for (int u = 0; u < EDGES; u++) {
        if (k + u >= end) break;
        if (fetch) reply_to<T>(s, now.round, f, edges[u])[w] = sum;
        sum = combine(s.op, sum, value[u]);
      }
    }
    *root = sum;
  }
  return true;
}

/* Each number of each wide root has a warp.  O: int or called_op. */
template <typename T, typename O>
static __device__ void combine_wide(const gik_exchange_step &s, O op, unsigned round, int64_t first, int64_t step)
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
        if (lane + u * LANES < n) v[u] = value_of<T>(s, round, f, edge_of(s, from + at + lane + u * LANES))[w];
#pragma unroll
      for (int u = 1; u < TREE_BLOCK / LANES; u++)
        if (lane + u * LANES < n) v[0] = combine(op, v[0], v[u]);
      feed_tree(op, lanes, 1, of_first_lane(close_block(op, v[0], n)), at / TREE_BLOCK);
    }
    /* What is left on each level, from the first on. */
    int64_t n = (values + TREE_BLOCK - 1) / TREE_BLOCK;
    T last = lanes[1];
#pragma unroll
    for (int level = 1; level < LEVELS - 1; level++) {
      if (n == 1) break;
      if (n % TREE_BLOCK)
        feed_tree(op, lanes, level + 1, of_first_lane(close_block(op, lanes[level], n % TREE_BLOCK)), n / TREE_BLOCK);
      n = (n + TREE_BLOCK - 1) / TREE_BLOCK;
      last = lanes[level + 1];
    }
    T *root = (T *)s.to + (f * s.to_stride + q.root[r]) * s.width + w;
    if (!lane) *root = combine(op, *root, last);
  }
}

/* The block's share of message k of a receive, at message. */
template <typename T, bool LONG>
static __device__ __forceinline__ void unpack_share(const gik_exchange_step &s, int k, const T *message,
                                                    const share &of)
{
  const gik_row &r = row_of(s, k);
  if (LONG) {
    const long_side<T> to = {(T *)s.to, &r.mine, s.to_stride}, from = {(T *)message, nullptr, of.n()};
    move_long(s.op, to, from, of, s.fields, s.roots.shared);
  } else {
    const side<T> to = {(T *)s.to, r.mine, s.to_stride}, from = {(T *)message, from_first(of.begin), of.n()};
    if (s.atomics)
      move_atomically(s.op, to, from, of, s.fields, s.width);
    else
      move_items(s.op, to, from, of, s.fields, s.width, s.roots.shared);
  }
}

/* Row k of a receive.  O: int or called_op, of wide roots. */
template <typename T, typename O, int FLAGGED, bool LONG = false>
static __device__ __forceinline__ void receive_row(const gik_exchange_step &s, const receive_rows &rows, int k,
                                                   bool waits, unsigned most)
{
  const gik_row_target target = k < rows.messages ? row_target_of(s, k) : gik_row_target{};
  const state now = state_of(s);
  const unsigned round = now.round;
  constexpr bool NARROW = FLAGGED != ALL_FLAGGED, WIDE = FLAGGED == NO_FLAGGED || FLAGGED == EITHER;
  const bool shared = NARROW && k >= rows.messages, wide = WIDE && k >= rows.messages + rows.narrow;
  const bool flagged = !WIDE || (FLAGGED == EITHER && s.flagged);
  const int64_t numbers = wide ? wide_numbers(s) : shared ? narrow_numbers(s) : gik_row_numbers(&row_of(s, k), s.width);
  const unsigned blocks = row_blocks(numbers, most);
  const int64_t first = blockIdx.x * BLOCK + threadIdx.x, step = (int64_t)blocks * BLOCK;
  const unsigned parts = flagged && !shared ? (unsigned)row_of(s, k).parts : 1;
  if (blockIdx.x >= blocks) return;
  if (!flagged && !await_rows(s, waits ? MESSAGES : 0, now, shared ? 0 : k, shared ? s.n_rows : k + 1)) return;
  const bool stored = is_stored(target, round); /* the sender has moved it */
  if (WIDE && !LONG && wide) {
    combine_wide<T>(s, O{s.op}, round, first, step);
  } else if (FLAGGED != NO_FLAGGED && shared && flagged) {
    if (!rows.messages && first == 0)
      for (int j = 0; j < s.n_rows; j++) store_emptied(row_of(s, j).raise, round);
    if (!__syncthreads_and(!now.aborted && combine_shared<T, true>(s, now, false, first, step))) return;
  } else if (WIDE && shared) {
    combine_shared<T, false>(s, now, false, first, step);
  } else if (!stored) {
#pragma unroll 1
    for (unsigned j = flagged ? blockIdx.x : 0; j < parts; j += blocks) {
      const gik_row &r = row_of(s, k);
      const gik_flagged_part p = flagged ? gik_flagged_part_of(&r, j, s.fields * s.item) : gik_flagged_part{};
      if (flagged && !take_flagged(s, r, p, now)) return;
      unpack_share<T, LONG>(s, k, flagged ? (const T *)flagged_copy() : (const T *)r.slot[round % 2],
                            flagged ? share_of(p) : share_of(r.mine.n, blocks));
      if (!flagged) break;
      if (j + blocks < parts) __syncthreads(); /* flagged_copy() has been read */
    }
  }
  if (!last_of_row(s, (unsigned)k, blocks, false) || threadIdx.x || !last_row(s, rows.all(), round)) return;
  const bool emptied = WIDE && all_hold(s, round + 1); /* slots of flagged words are a round later */
  for (int j = 0; emptied && j < s.n_rows; j++)
    if (row_of(s, j).raise && !row_of(s, j).flagged) store_emptied(row_of(s, j).raise, round + 1);
}

/* The units, BYTES as chars, which are only copied: X(unit, type). */
#define GIK_EXCHANGE_UNITS(X)                                                                                          \
  X(GABLE_UNIT_CHAR, signed char)                                                                                      \
  X(GABLE_UNIT_UCHAR, unsigned char)                                                                                   \
  X(GABLE_UNIT_I32, int32_t)                                                                                           \
  X(GABLE_UNIT_I64, int64_t)                                                                                           \
  X(GABLE_UNIT_S, float)                                                                                               \
  X(GABLE_UNIT_D, double)                                                                                              \
  X(GABLE_UNIT_C, gik::complex_of<float>)                                                                              \
  X(GABLE_UNIT_Z, gik::complex_of<double>)                                                                             \
  X(GABLE_UNIT_PAIR_I32, gik::pair<int32_t, int32_t>)                                                                  \
  X(GABLE_UNIT_PAIR_I64, gik::pair<int64_t, int64_t>)                                                                  \
  X(GABLE_UNIT_PAIR_S, gik::pair<float, int32_t>)                                                                      \
  X(GABLE_UNIT_PAIR_D, gik::pair<double, int64_t>)

} /* namespace gik */

#endif
