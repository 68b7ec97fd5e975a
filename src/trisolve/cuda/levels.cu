/* levels.cu: row lengths, levels and chain levels by two passes over the rows; no pass waits for the host. */
#include <algorithm>
#include <cstddef>

#include "cuda/last_block.cuh"
#include "trisolve/cuda/counts.cuh"
#include "trisolve/cuda/passes.cuh"

using gik::NONE;
using namespace gi;

namespace
{

enum { SURVEY_THREADS = 256 };

/* Lengths of rows; child, see gi_reading; and no level is known. */
__global__ void __launch_bounds__(SURVEY_THREADS)
    survey_kernel(size_t n, const unsigned *ptr, const unsigned *col, unsigned *child, u64 *level, gi_findings *f)
{
  __shared__ unsigned most, below[GI_SHAPES];
  unsigned longest = 0, within[GI_SHAPES] = {0};
  gik::next_launch();
  gik::after_last_launch();
  if (f->bad) return;
  if (threadIdx.x < GI_SHAPES) below[threadIdx.x] = 0;
  if (!threadIdx.x) most = 0;
  __syncthreads();
  for (size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x; k < n; k += (size_t)gridDim.x * blockDim.x) {
    const unsigned end = ptr[k + 1], length = end - ptr[k];
    if (length) atomicMax(child + col[end - 1], (unsigned)(n - k));
    level[k] = GI_NO_LEVEL;
    longest = max(longest, length);
    for (int i = 0; i < GI_SHAPES; i++) within[i] += length <= gi_limit_of(i);
  }
  longest = __reduce_max_sync(gik::ALL, longest);
  for (int i = 0; i < GI_SHAPES; i++) within[i] = __reduce_add_sync(gik::ALL, within[i]);
  if (threadIdx.x % 32 == 0) {
    atomicMax(&most, longest);
    for (int i = 0; i < GI_SHAPES; i++) atomicAdd(below + i, within[i]);
  }
  __syncthreads();
  if (threadIdx.x < GI_SHAPES) atomicAdd(f->within + threadIdx.x, below[threadIdx.x]);
  if (threadIdx.x) return;
  atomicMax(&f->longest, most);
  if (!blockIdx.x) f->entries = ptr[n];
}

/* Where the rows are whose levels are wanted: an entry is known by p, first <= p < end; run: first, and how many. */
struct rows_of_triangle {
  const unsigned *ptr, *col;
  __device__ __forceinline__ uint2 run(size_t k) const { return make_uint2(ptr[k], ptr[k + 1] - ptr[k]); }
  __device__ __forceinline__ unsigned column(int p) const { return col[p]; }
};

struct rows_of_reading {
  gi_device_rows rows;
  __device__ __forceinline__ uint2 run(size_t k) const { return rows.run[k]; }
  __device__ __forceinline__ unsigned column(int p) const { return rows.column((unsigned)p); }
};

template <typename R> struct level_arguments {
  unsigned n;
  gi_level_search which;
  R rows;
  const unsigned *child;
  u64 *level;
  gi_findings *found;
  gi_tile_counts counts; /* of tiles; NULL: not wanted */
  unsigned *width;       /* [GI_WIDTHS] of all tiles */
  gi_findings *mailbox;  /* the host's copy; NULL: it fetches one */

  __device__ bool wanted() const
  {
    if (found->bad || which == GI_NO_LEVELS) return false;
    const unsigned limit = gi_limit_of(gi_limit_shape(found->within, found->longest, n, 1));
    return which == GI_LEVELS || found->longest <= limit ||
           (which != GI_LEVELS_UNLESS_SPLIT && found->longest <= GI_WHOLE_ROW) ||
           (which == GI_LEVELS_UNLESS_DENSE && gi_long_rows_are_few(found->longest, found->entries, n));
  }
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

  /* The same for a warp whose rows are one run and await nothing else: levels less steps have a plain maximum. */
  __device__ __forceinline__ void follow_all(bool chained)
  {
    const unsigned lane = threadIdx.x % 32, steps = __ballot_sync(gik::ALL, lane && !chained);
    const int up = (int)lane, across = __popc(steps & (2u << lane) - 1);
    int l = (int)level - up, c = (int)chain - across;
    for (int d = 1; d < 32; d *= 2) {
      l = max(l, __shfl_up_sync(gik::ALL, l, d));
      c = max(c, __shfl_up_sync(gik::ALL, c, d));
    }
    level = (unsigned)(l + up);
    chain = (unsigned)(c + across);
  }

  /* linked: some row of the warp follows its predecessor; run: all do. */
  __device__ __forceinline__ void follow_warp(bool run, bool linked, bool chained)
  {
    if (run && !__any_sync(gik::ALL, open))
      follow_all(chained);
    else if (linked)
      for (int d = 1; d < 32; d *= 2) follow(d);
  }
};

/* What a thread has seen. */
struct level_tally {
  unsigned levels, chain_levels, chains;

  __device__ __forceinline__ void add(unsigned level, unsigned chain, bool chained)
  {
    levels = max(levels, level + 1);
    chain_levels = max(chain_levels, chain + 1);
    chains += !chained;
  }
  /* By all threads of a block: once a block, since atomics on one word wait for one another. */
  __device__ __forceinline__ void write(gi_findings *f) const
  {
    __shared__ unsigned most[2], heads;
    const unsigned l = __reduce_max_sync(gik::ALL, levels), c = __reduce_max_sync(gik::ALL, chain_levels);
    const unsigned own = __reduce_add_sync(gik::ALL, chains);
    if (!threadIdx.x) most[0] = most[1] = heads = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
      atomicMax(most, l);
      atomicMax(most + 1, c);
      atomicAdd(&heads, own);
    }
    __syncthreads();
    if (threadIdx.x) return;
    atomicMax(&f->levels, (int)most[0]);
    atomicMax(&f->chain_levels, (int)most[1]);
    atomicAdd(&f->chains, (int)heads);
  }
};

/* How long a warp rests before it looks again; what was tried is in docs/algorithms/analysis-gpu.md. */
struct pause {
  unsigned rest; /* ns */

  /* For something of this block: the warps between there and what is finished say how long it may take. */
  __device__ __forceinline__ void inside(unsigned c, unsigned base, unsigned finished)
  {
    const unsigned warp = (c - base) / 32;
    rest = warp > finished ? min(64 * (warp - finished), 600u) : 20;
    __nanosleep(rest);
  }

  /* For something of an earlier block: longer and longer, the longer the more of L2 a look of all blocks costs. */
  __device__ __forceinline__ void outside(unsigned lines)
  {
    const bool apart = blockDim.x < GI_TILE_ROWS; /* rows that do not follow one another: more looks in vain */
    const unsigned threads = gridDim.x * (blockDim.x / 32);
    rest = min(2 * rest + 32, min(20 + threads / 128 + lines * threads / (apart ? 64 : 256), apart ? 2000u : 1000u));
    __nanosleep(rest);
  }
};

/* Rests once, or, when the first row of a run still waits, until what it awaits is there: no row of the run can be
 * known before. */
__device__ __forceinline__ void await_entries(const u64 *level, const volatile u64 *own,
                                              const volatile unsigned *finished, bool waits, unsigned c, unsigned base,
                                              bool run, pause *rest)
{
  const unsigned waiting = __ballot_sync(gik::ALL, waits);
  if (!waiting) return;
  const unsigned first = __shfl_sync(gik::ALL, c, __ffs((int)waiting) - 1), before = __shfl_up_sync(gik::ALL, c, 1);
  const unsigned lines = __popc(__ballot_sync(gik::ALL, waits && c < base && c != before + 1));
  if (!run || !(waiting & 1)) {
    if (lines)
      rest->outside(lines);
    else
      rest->inside(first, base, *finished);
    return;
  }
  do {
    if (first < base)
      rest->outside(2);
    else
      rest->inside(first, base, *finished);
  } while ((first < base ? *(const volatile u64 *)(level + first) : own[first - base]) == GI_NO_LEVEL);
}

/* A row is above an entry of packed level v, and of its chain level too unless it is chained to it. */
__device__ __forceinline__ void rise(unsigned *level, unsigned *chain, u64 v, bool chained)
{
  *level = max(*level, (unsigned)(v >> 32) + 1);
  *chain = max(*chain, (unsigned)v + !chained);
}

/* Tiles by ticket: a grid with a block for each takes one a block, a single block needs none. */
struct tile_tickets {
  unsigned *ticket, next; /* next: of thread 0 */
  bool once;

  template <typename R>
  __device__ __forceinline__ explicit tile_tickets(const level_arguments<R> &g)
      : ticket(&g.found->ticket), next(0), once((u64)gridDim.x * blockDim.x >= g.n)
  {
    if (!threadIdx.x && (gridDim.x > 1 || !once)) next = atomicAdd(ticket, 1u);
  }
};

/* The first row of the block's next tile, of which nothing is known yet. */
__device__ __forceinline__ unsigned next_tile(unsigned next, volatile u64 *own, volatile unsigned *finished,
                                              unsigned *ticket)
{
  __syncthreads();
  if (!threadIdx.x) *ticket = next, *finished = 0;
  own[threadIdx.x] = GI_NO_LEVEL;
  __syncthreads();
  return *ticket * blockDim.x;
}

/* A thread's row while it is looked at together with others. */
struct long_look {
  int p, limit; /* entries that are still awaited */
  unsigned level, chain;
  bool tied;  /* the row is chained to the last of them */
  bool fresh; /* nobody has looked at them */

  enum { FEW = 32 }; /* entries that a thread looks at by itself */
  __device__ __forceinline__ bool wanted(bool todo) const { return todo && fresh && limit - p > FEW; }
};

/* The rows with many entries to look at, one after another by the whole warp, as far as entries are known one after
 * another; whether this thread's row has moved. */
template <typename R>
__device__ __forceinline__ bool look_together(const level_arguments<R> &g, const volatile u64 *own, unsigned base,
                                              bool todo, long_look *r)
{
  const int lane = threadIdx.x % 32;
  bool any = false;
  for (unsigned rows; (rows = __ballot_sync(gik::ALL, r->wanted(todo)));) {
    const int source = __ffs((int)rows) - 1, place = __shfl_sync(gik::ALL, r->p, source) + lane;
    const int limit = __shfl_sync(gik::ALL, r->limit, source),
              tied = __shfl_sync(gik::ALL, r->tied ? r->limit : r->p, source);
    const unsigned c = place < limit ? g.rows.column(place) : 0;
    const u64 v = place >= limit ? GI_NO_LEVEL : c >= base ? own[c - base] : *(const volatile u64 *)(g.level + c);
    const unsigned missing = __ballot_sync(gik::ALL, v == GI_NO_LEVEL), known = missing ? __ffs((int)missing) - 1 : 32;
    const bool taken = lane < (int)known;
    const unsigned l = __reduce_max_sync(gik::ALL, taken ? (unsigned)(v >> 32) + 1 : 0);
    const unsigned h = __reduce_max_sync(gik::ALL, taken ? (unsigned)v + (place + 1 != tied) : 0);
    if (lane != source) continue;
    r->level = max(r->level, l);
    r->chain = max(r->chain, h);
    r->p += (int)known;
    r->fresh = known == 32;
    any |= known != 0;
  }
  return any;
}

/* A thread's own row, as far as entries are known one after another; *c: the column of the first one that is awaited.
 */
template <typename R>
__device__ __forceinline__ bool look_alone(const level_arguments<R> &g, const volatile u64 *own, unsigned base,
                                           bool together, long_look *r, unsigned *c)
{
  bool any = false;
  while (r->p < r->limit) {
    const bool more = r->p + 1 < r->limit; /* two at once: a look costs a trip to L2 */
    const unsigned next = more ? g.rows.column(r->p + 1) : *c;
    const u64 v = *c >= base ? own[*c - base] : *(volatile u64 *)(g.level + *c);
    const u64 w = next >= base ? own[next - base] : *(volatile u64 *)(g.level + next);
    if (v == GI_NO_LEVEL) break;
    rise(&r->level, &r->chain, v, !more && r->tied);
    any = r->fresh = true;
    *c = next;
    if (++r->p == r->limit || w == GI_NO_LEVEL) break;
    rise(&r->level, &r->chain, w, r->p + 1 == r->limit && r->tied);
    if (++r->p < r->limit) *c = g.rows.column(r->p);
    if (together && r->wanted(true)) break;
  }
  return any;
}

/* (level << 32 | chain level) of every row by waiting for its entries': a block takes as many consecutive rows as it
 * has threads and keeps their values in shared memory; those of earlier blocks are polled.  Runs of rows that follow
 * one another inside a warp are resolved by a prefix maximum; a warp that is one such run waits for its first row's
 * last entry before it looks for anything else.
 *
 *   for each tile of rows
 *     1  this thread's row: its entries, whether it follows the row before it or ends a chain
 *     2  look: levels of entries that are known raise the bound of this row; long rows by the whole warp
 *     3  bounds of rows that follow one another are joined; a row all of whose entries are known publishes its level
 *     4  wait until one more value is there, and look again
 *     5  tallies of levels, chains and tile */
template <int THREADS, typename R>
__device__ __forceinline__ void find_levels(const level_arguments<R> &g, tile_tickets tickets)
{
  __shared__ volatile u64 own[THREADS];
  __shared__ volatile unsigned finished; /* warps whose rows are all known */
  __shared__ unsigned ticket;
  __shared__ tile_tally tile;
  level_tally tally = {0, 0, 0};
  const int lane = threadIdx.x % 32;
  if (THREADS == GI_TILE_ROWS) tile.clear();
  for (;;) {
    const unsigned base = next_tile(tickets.next, own, &finished, &ticket), k = base + threadIdx.x;
    if (base >= g.n) break;
    bool todo = k < g.n, moved = true; /* 1 */
    const uint2 own_run = todo ? g.rows.run(k) : make_uint2(0, 0);
    const int first = (int)own_run.x, end = first + (int)own_run.y;
    const unsigned last = first < end ? g.rows.column(end - 1) : NONE;
    const bool chained = first < end && g.child[last] == g.n - k, follows = lane && last == k - 1 && first < end;
    const bool run = __all_sync(gik::ALL, follows || !lane || k >= g.n);
    const bool linked = __any_sync(gik::ALL, follows);
    long_look r = {first, end - follows, 0, 0, chained && !follows, true};
    const bool together = __any_sync(gik::ALL, r.wanted(todo));
    unsigned c = r.p < r.limit ? g.rows.column(r.p) : 0;
    pause rest = {0};
    for (;;) {
      if (together) { /* 2 */
        moved |= look_together(g, own, base, todo, &r);
        if (todo && r.p < r.limit) c = g.rows.column(r.p);
      }
      if (todo) moved |= look_alone(g, own, base, together, &r, &c);
      if (__any_sync(gik::ALL, moved)) { /* 3 */
        level_bound b = {r.level, r.chain, 1, !chained, todo && follows, todo && r.p < r.limit};
        b.follow_warp(run, linked, chained);
        const bool known = todo && !b.open;
        if (known) {
          r.level = b.level;
          r.chain = b.chain;
          const u64 v = (u64)b.level << 32 | b.chain;
          own[threadIdx.x] = v;
          *(volatile u64 *)(g.level + k) = v;
          todo = false;
        }
        if (!__any_sync(gik::ALL, todo)) break;
        moved = false;
        rest.rest = 0;
        if (__any_sync(gik::ALL, known)) continue;
      }
      await_entries(g.level, own, &finished, todo && r.p < r.limit, c, base, run, &rest); /* 4 */
    }
    if (!lane) atomicAdd((unsigned *)&finished, 1u);
    if (k < g.n) tally.add(r.level, r.chain, chained); /* 5 */
    if (THREADS == GI_TILE_ROWS && g.counts.rows) {
      tile.add(k < g.n, r.level, k < g.n ? g.rows.run(k).y : 0);
      tile.write(g.counts, ticket, g.width);
    }
    if (tickets.once) break;
    if (!threadIdx.x) tickets.next = atomicAdd(tickets.ticket, 1u);
  }
  tally.write(g.found);
}

/* The last block writes what was found to the host. */
__device__ __forceinline__ void post_levels(gi_findings *found, const unsigned *width, gi_findings *mailbox)
{
  constexpr unsigned words = offsetof(gi_findings, last_level) / sizeof(unsigned);
  static_assert(words < 32, "a lane a word, and one for the last level");
  const unsigned lane = threadIdx.x;
  if (!gik::is_last_block(&found->posted)) return;
  if (lane < words) ((volatile unsigned *)mailbox)[lane] = __ldcg((const unsigned *)found + lane);
  if (lane == words) {
    const int levels = __ldcg(&found->levels);
    *(volatile unsigned *)&mailbox->last_level =
        width && levels > 0 && levels <= GI_WIDTHS ? __ldcg(width + levels - 1) : 0;
  }
  post(&mailbox->posted);
}

template <int THREADS, typename R>
__global__ void __launch_bounds__(THREADS, 2048 / THREADS) level_kernel(const level_arguments<R> g)
{
  gik::after_last_launch();
  const tile_tickets tickets(g);
  if (g.wanted()) find_levels<THREADS>(g, tickets);
  if (g.mailbox) post_levels(g.found, g.counts.rows ? g.width : nullptr, g.mailbox);
}

} /* namespace */

template <int THREADS, typename R>
static void launch_tiles(const level_arguments<R> &g, int processors, gik::launches *on)
{
  const unsigned tasks = (g.n + THREADS - 1) / THREADS, room = 2048 / THREADS * (unsigned)processors;
  on->dependent(level_kernel<THREADS, R>, std::min(tasks, room), THREADS, 0, false, g);
}

/* Where rows do not follow one another there is little to gain from a large block, and a small one is sooner done and
 * makes room for rows that can begin. */
template <typename R>
static void launch_levels(const level_arguments<R> &g, int processors, int follow, gik::launches *on)
{
  if (follow || g.counts.rows)
    launch_tiles<GI_TILE_ROWS>(g, processors, on);
  else
    launch_tiles<256>(g, processors, on);
}

gable_status gi_cuda_survey(gi_arena *m, gi_arena *scratch, const gik_device_triangle *t, gi_level_search which,
                            unsigned long long **level, unsigned **child, int processors, gi_findings *f,
                            gi_findings *found)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  gik::launches on(m->stream);
  GI_TRY(take(m, n, level));
  GI_TRY(take(scratch, n, child));
  GI_TRY(fill(m->stream, *child, 0, n));
  GI_TRY(fill(m->stream, &f->entries, 0, (sizeof *f - offsetof(gi_findings, entries)) / sizeof(unsigned)));
  if (n) {
    const level_arguments<rows_of_triangle> g = {(unsigned)n, which, {t->ptr, t->col}, *child, *level, f, {}, nullptr};
    const unsigned passes = (unsigned)((n + SURVEY_THREADS - 1) / SURVEY_THREADS);
    on.dependent(survey_kernel, std::min(passes, 16 * (unsigned)processors), SURVEY_THREADS, 0, false, n, t->ptr,
                 t->col, *child, *level, f);
    launch_levels(g, processors, 1, &on);
  }
  GI_TRY(on.status("levels"));
  GI_TRY(fetch(m, found, f, 1));
done:
  return status;
}

template <typename R>
static gable_status survey_rows(gable_context *ctx, const gi_reading *reading, const R rows, gi_level_search which,
                                const gi_tile_counts *counts, int processors, gi_findings *found)
{
  gable_status status = GABLE_OK;
  level_arguments<R> g = {
      (unsigned)reading->rows.n, which, rows, reading->child, reading->level, reading->found, *counts, reading->width};
  gik::launches on(reading->stream);
  if (g.n && which != GI_NO_LEVELS) {
    g.mailbox = reading->mailbox;
    if (g.mailbox) g.mailbox->posted = 0;
    launch_levels(g, processors, reading->follow, &on);
    GI_TRY(on.status("levels"));
  }
  if (g.mailbox) {
    GI_TRY(gi_mailbox_await(reading->stream, &g.mailbox->posted, "levels"));
    *found = *g.mailbox;
  } else {
    GI_TRY(gi_mailbox_fetch(ctx, reading->stream, found, reading->found, sizeof *found));
  }
done:
  return status;
}

gable_status gi_cuda_survey_reading(gable_context *ctx, const gi_reading *reading, const gik_device_triangle *copy,
                                    gi_level_search which, const gi_tile_counts *counts, int processors,
                                    gi_findings *found)
{
  if (!copy) return survey_rows(ctx, reading, rows_of_reading{reading->rows}, which, counts, processors, found);
  return survey_rows(ctx, reading, rows_of_triangle{copy->ptr, copy->col}, which, counts, processors, found);
}
