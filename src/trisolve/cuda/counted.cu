/* counted.cu: the schedule and records of method rows where levels are few: two passes, places by counting,
 * straight from the caller's matrix. */
#include <algorithm>
#include <cstring>
#include <cub/block/block_scan.cuh>

#include "cuda/last_block.cuh"
#include "cuda/undisturbed.cuh"
#include "trisolve/cuda/classes.cuh"
#include "trisolve/cuda/counts.cuh"
#include "trisolve/cuda/passes.cuh"

using gik::NONE;
using namespace gi;

namespace
{

struct row_key {
  const u64 *level;
  const uint2 *run;
  classes c;

  __device__ __forceinline__ unsigned at(size_t k) const
  {
    return c.key((unsigned)(level[k] >> 32), c.count == 1 ? 0 : run[k].y);
  }
};

__global__ void __launch_bounds__(GI_TILE_ROWS)
    count_keys_kernel(size_t n, const row_key key, const gi_tile_counts counts, unsigned *sum)
{
  __shared__ tile_tally tile;
  const size_t k = blockIdx.x * (size_t)GI_TILE_ROWS + threadIdx.x;
  gik::next_launch();
  tile.clear();
  __syncthreads();
  tile.add(k < n, k < n ? key.at(k) : NONE, k < n ? key.run[k].y : 0);
  tile.write(counts, blockIdx.x, sum);
}

struct placing {
  unsigned n;
  row_key key;
  gi_tile_counts counts;
  const unsigned *width; /* [keys] rows of each key */
  unsigned keys, slots;  /* slots: of a record, at least as many as its rows */
  unsigned *position, *row_at, *order, *parents, *ptr;
  gi_findings *found;
  unsigned steps; /* whose first records are wanted */

  /* Row k, the i'th of its key, whose records begin at first, into its slot; and no row into the slots behind those of
   * its record's rows, of which each row sees to its share, the last one of a key to that of rows which are not there.
   */
  __device__ __forceinline__ void enter(unsigned k, unsigned at_key, unsigned i, unsigned first) const
  {
    const unsigned rows = key.c.rows(at_key), records = key.c.records(at_key), own = i % rows;
    const unsigned end = i + 1 == width[at_key] ? rows : own + 1;
    unsigned *record = row_at + (size_t)(first + i / rows * records) * slots;
    for (unsigned q = 0; q < records; q++, record += slots)
      for (unsigned r = own; r < end; r++)
        for (unsigned s = r; s < slots; s += rows) record[s] = s == own ? k : NONE;
  }
};

typedef cub::BlockScan<unsigned, GI_TILE_ROWS, cub::BLOCK_SCAN_WARP_SCANS> tile_scan;

enum { MOST_ROOM = GI_TILE_ROWS / 32 * GI_WIDTHS * sizeof(unsigned short) }; /* of counts by warp and key */

/* A block places a tile.  Of each key: its first place, its first record, its rows in earlier tiles. */
struct key_table {
  unsigned place[GI_WIDTHS], record[GI_WIDTHS], before[GI_WIDTHS], entries;
  tile_scan::TempStorage space;

  /* How many records there are, and where those of each step begin; first: of key threadIdx.x. */
  static __device__ __forceinline__ void note(const placing &g, unsigned first, unsigned all)
  {
    const unsigned classes = g.key.c.count, s = threadIdx.x / classes;
    if (!threadIdx.x) g.found->records = all;
    if (s < g.steps && threadIdx.x % classes == 0) g.found->step[s] = first;
  }

  __device__ __forceinline__ void fill(const placing &g)
  {
    const unsigned bits = 32 - (unsigned)__clz((int)g.keys - 1 | 15); /* keys <= 2^bits */
    const unsigned groups = GI_TILE_ROWS >> bits;
    const unsigned d = threadIdx.x & ((1u << bits) - 1), width = threadIdx.x < g.keys ? g.width[threadIdx.x] : 0;
    const unsigned own_rows = g.key.c.rows(threadIdx.x);
    unsigned rows = 0, sum = 0, first = 0, all = 0;
    if (threadIdx.x < GI_WIDTHS) before[threadIdx.x] = 0;
    if (!threadIdx.x) entries = 0;
    __syncthreads();
    if (d < g.keys)
#pragma unroll 8
      for (unsigned t = threadIdx.x >> bits; t < blockIdx.x; t += groups)
        rows += g.counts.rows[(size_t)t * GI_WIDTHS + d];
    for (unsigned t = threadIdx.x; t < blockIdx.x; t += GI_TILE_ROWS) sum += g.counts.entries[t];
    if (rows) atomicAdd(before + d, rows);
    sum = __reduce_add_sync(gik::ALL, sum);
    if (threadIdx.x % 32 == 0 && sum) atomicAdd(&entries, sum);
    tile_scan(space).ExclusiveSum(width, first);
    if (threadIdx.x < GI_WIDTHS) place[threadIdx.x] = first;
    __syncthreads();
    tile_scan(space).ExclusiveSum((width + own_rows - 1) / own_rows * g.key.c.records(threadIdx.x), first, all);
    if (threadIdx.x < GI_WIDTHS) record[threadIdx.x] = first;
    if (!blockIdx.x) note(g, first, all);
    __syncthreads();
  }
};

/* Place, record and slot of every row, stable within a key; offsets of the rows; the order of a traversal from the
 * last row to the first. */
__global__ void __launch_bounds__(GI_TILE_ROWS) place_rows_kernel(const placing g)
{
  __shared__ key_table table;
  extern __shared__ unsigned short count[]; /* [GI_TILE_ROWS/32][keys] */
  const unsigned k = blockIdx.x * GI_TILE_ROWS + threadIdx.x, warp = threadIdx.x / 32,
                 below = (1u << threadIdx.x % 32) - 1;
  const bool there = k < g.n;
  gik::next_launch();
  for (unsigned i = threadIdx.x; i < GI_TILE_ROWS / 32 * g.keys; i += GI_TILE_ROWS) count[i] = 0;
  gik::after_last_launch();
  const unsigned key = there ? g.key.at(k) : NONE, length = there ? g.key.run[k].y : 0;
  table.fill(g);
  const unsigned alike = __match_any_sync(gik::ALL, key), rank = (unsigned)__popc(alike & below);
  if (there && !rank) count[warp * g.keys + key] = (unsigned short)__popc(alike);
  unsigned offset = 0;
  tile_scan(table.space).ExclusiveSum(length, offset);
  __syncthreads();
  if (threadIdx.x < g.keys) {
    unsigned short sum = 0;
    for (unsigned i = threadIdx.x; i < GI_TILE_ROWS / 32 * g.keys; i += g.keys) {
      const unsigned short c = count[i];
      count[i] = sum;
      sum += c;
    }
  }
  __syncthreads();
  if (!there) return;
  const unsigned i = table.before[key] + count[warp * g.keys + key] + rank;
  g.position[k] = table.place[key] + i;
  g.enter(k, key, i, table.record[key]);
  g.order[k] = g.n - 1 - k;
  g.parents[k] = 0;
  g.ptr[k] = table.entries + offset;
  if (k == g.n - 1) g.ptr[g.n] = table.entries + offset + length;
}

/* Fixed parts of the records, a lane at a time; where the numbers come from; the columns by rows and how many entries
 * each has. */
struct counted_writer {
  gi_device_rows rows;
  classes c;
  const unsigned *position, *row_at, *row, *ptr, *records;
  const unsigned *at; /* [n] where the value of a row will be */
  unsigned slots;
  gik_record_layout l;
  char *record;
  gik_head *variable; /* heads of variable records; NULL: they stand in the records */
  unsigned gates;     /* warps wait at gates */
  uint2 *run_at;
  unsigned *col, *parents;

  __device__ unsigned place_of(unsigned k, uint2 own, unsigned j) const
  {
    if (j >= own.y) return NONE;
    const unsigned column = rows.column(own.x + j);
    col[ptr[k] + j] = column;
    atomicAdd(parents + column, 1u);
    return at[column];
  }

  __device__ unsigned gate_of(unsigned k) const
  {
    for (unsigned up = 0; up < GATE_STEPS; up++) {
      const uint2 own = rows.run[k];
      if (!own.y) return NONE;
      k = rows.column(own.x + own.y - 1);
    }
    return position[k];
  }

  /* Of the i'th record; by threads of their own, since it is as long a way through memory as all the rest. */
  __device__ void write_gate(size_t i) const
  {
    if (i >= *records) return;
    const unsigned *list = row_at + i * slots, first = list[0];
    const bool goes_on = c.records_of(rows.run[first].y) > 1 && records_before(list, i, slots);
    unsigned *gate = variable ? &variable[i].gate : (unsigned *)(record + i * l.bytes) + 2;
    *gate = goes_on ? NONE : gate_of(first);
  }

  __device__ void write_lane(size_t i) const
  {
    if (i / 32 >= *records) return;
    const unsigned *list = row_at + i / 32 * slots, first = list[0], lane = (unsigned)(i % 32);
    const unsigned longest = rows.run[first].y, bits = c.lane_bits_of(longest), lanes = 1u << bits;
    const unsigned slot = lane >> bits, part = lane & (lanes - 1), k = list[slot];
    const unsigned pairs = variable ? c.pairs_of(longest) : c.pairs, records = c.records_of(longest);
    const unsigned before = records > 1 ? records_before(list, i / 32, slots) : 0;
    const uint2 own = k == NONE ? make_uint2(0, 0) : rows.run[k];
    const unsigned filled = (unsigned)__popc(__ballot_sync(gik::ALL, !part && k != NONE));
    char *r = record + i / 32 * l.bytes;
    for (unsigned m = 0; m < pairs; m++) {
      const unsigned j = before * GIK_VARIABLE_ROOM + 2 * m * lanes + part, a = place_of(k, own, j),
                     b = place_of(k, own, j + lanes);
      ((uint2 *)(r + l.places))[m * 32 + lane] = make_uint2(a, b);
    }
    if (lane < slots) run_at[i / 32 * slots + lane] = list[lane] == NONE ? make_uint2(0, NONE) : rows.run[list[lane]];
    const size_t size = (l.places - l.values) / (64 * c.pairs);
    if (k == NONE) clear_lane(r + l.values, c.pairs, 32, lane, size);
    if (part) return;
    if (k == NONE) ((double *)(r + l.inverse))[slot] = 0;
    ((unsigned *)(r + l.row))[slot] = k == NONE ? NONE : row[k];
    if (lane) return;
    if (variable) {
      gik_head *h = variable + i / 32;
      h->first = position[k];
      h->rows = before ? 0 : filled;
      if (!gates) h->gate = NONE;
      h->lane_bits = (unsigned char)bits;
      h->pairs = (unsigned char)pairs;
      h->before = (unsigned char)before;
      h->after = (unsigned char)(records - 1 - before);
    } else {
      uint4 *h = (uint4 *)r;
      h->x = position[k];
      h->y = filled;
      if (!gates) h->z = NONE;
      h->w = 0;
    }
  }
};

enum { WRITER_THREADS = 256, MOST_WRITERS = 8192 };

/* Lanes of at most bound records, and their gates; mailbox: where the last block says how many there are, and the first
 * of each of so many steps, when all are written; or NULL. */
__global__ void __launch_bounds__(WRITER_THREADS)
    write_records_kernel(size_t bound, const counted_writer w, gi_findings *found, unsigned steps, gi_findings *mailbox)
{
  const size_t lanes = 32 * bound, all = lanes + (w.gates ? bound : 0);
  gik::next_launch();
  gik::after_last_launch();
  for (size_t i = blockIdx.x * (size_t)WRITER_THREADS + threadIdx.x; i < all; i += (size_t)gridDim.x * WRITER_THREADS)
    if (i < lanes)
      w.write_lane(i);
    else
      w.write_gate(i - lanes);
  if (!mailbox || !gik::is_last_block(&found->written)) return;
  if (!threadIdx.x) *(volatile unsigned *)&mailbox->records = __ldcg(&found->records);
  for (unsigned s = threadIdx.x; s < steps; s += 32) *(volatile unsigned *)&mailbox->step[s] = __ldcg(found->step + s);
  post(&mailbox->posted);
}

} /* namespace */

unsigned gi_cuda_keys(const gik_rows_cuda *rows, const gi_findings *found)
{
  return found->levels > GI_WIDTHS ? ~0u : (unsigned)found->levels * classes_of(rows, found->longest).count;
}

static_assert(sizeof(key_table) <= 16 << 10, "a block has 48 KB of shared memory unless it asks for more");

/* Places and records of all rows. */
static gable_status place_all(const gi_reading *reading, const gi_tile_counts *counts, const classes c, unsigned keys,
                              unsigned slots, int steps, const gi_counted *counted, unsigned *position)
{
  gable_status status = GABLE_OK;
  const unsigned n = (unsigned)reading->rows.n, tiles = (n + GI_TILE_ROWS - 1) / GI_TILE_ROWS;
  placing g = {n, {reading->level, reading->rows.run, c}, *counts, reading->width, keys, slots};
  gik::launches on(reading->stream);
  const size_t room = MOST_ROOM / GI_WIDTHS * keys, always = 32 << 10; /* that a block may have */
  if (c.count > 1) {
    g.width = reading->width + GI_WIDTHS;
    if (n) on.launch(count_keys_kernel, tiles, GI_TILE_ROWS, 0, n, g.key, *counts, reading->width + GI_WIDTHS);
  }
  g.position = position;
  g.row_at = counted->row_at;
  g.order = counted->order;
  g.parents = reading->child;
  g.ptr = reading->count;
  g.found = reading->found;
  g.steps = (unsigned)steps;
  if (room > always)
    GI_TRY(checked(gik::undisturbed([] {
                     return cudaFuncSetAttribute(place_rows_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 MOST_ROOM);
                   }),
                   "places"));
  if (n) on.dependent(place_rows_kernel, tiles, GI_TILE_ROWS, room, c.count == 1, g);
  GI_TRY(on.status("places"));
done:
  return status;
}

/* All that is kept, from one block. */
static gable_status counted_arrays(gi_arena *keep, const gi_reading *reading, const gi_findings *found, size_t bound,
                                   gik_rows_cuda *out, gi_counted *c)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)reading->rows.n, slots = bound * (32 / (size_t)out->lanes), entries = found->entries;
  const size_t records = bound * gik_record_layout_of(out).bytes;
  size_t all = records + slots * (sizeof *c->row_at + sizeof *c->run) + bound * sizeof *out->head;
  all += (2 * n + entries) * sizeof(unsigned) + 8192; /* and what is lost between arrays */
  all += (n + entries) * sizeof(double);              /* the other op's values */
  GI_TRY(gi_arena_reserve(keep, all));
  GI_TRY(take(keep, slots, &c->row_at));
  GI_TRY(take(keep, slots, &c->run));
  GI_TRY(take(keep, entries, &c->plain.col));
  GI_TRY(take(keep, n, &c->order));
  GI_TRY(take(keep, n, &out->position));
  if (out->variable) GI_TRY(take(keep, bound, &out->head));
  GI_TRY(gi_arena_take(keep, records, &out->record));
  c->plain.n = (int)n;
  c->plain.nnz = found->entries;
  c->plain.ptr = reading->count;
  c->plain.row = c->plain.parent = reading->row;
  c->parents = reading->child;
  out->row = reading->row;
done:
  return status;
}

/* Full records of n rows at most; found: their lengths where records are variable. */
static size_t most_records(size_t n, unsigned slots, const gi_findings *found)
{
  size_t records = n / slots;
  if (!found) return records;
  for (int i = 0; i < GI_SHAPES; i++) { /* rows of more than this take so many times the lanes, beyond 64 up to all */
    const unsigned limit = gi_limit_of(i);
    const size_t longer = n - found->within[i];
    if (limit >= 8 && limit <= 64 && limit != 14) records += longer * (limit == 64 ? 32 : limit / 4) / 32;
  }
  return records + found->entries / GIK_VARIABLE_ROOM + GI_SHAPES; /* what the divisions have dropped */
}

/* How many records there are, and the first of each step; waits, where the last kernel writes to the mailbox for that.
 */
static gable_status fetch_records(const gi_arena *m, const gi_reading *reading, gi_findings *mailbox,
                                  gik_rows_cuda *out)
{
  gable_status status = GABLE_OK;
  if (mailbox) {
    GI_TRY(gi_mailbox_await(m->stream, &mailbox->posted, "records"));
    out->n_records = mailbox->records;
    memcpy(out->step, mailbox->step, (size_t)out->steps * sizeof *out->step);
  } else {
    GI_TRY(fetch(m, &out->n_records, &reading->found->records, 1));
    GI_TRY(fetch(m, out->step, reading->found->step, (size_t)out->steps));
  }
  if (out->steps) out->step[out->steps] = out->n_records;
done:
  return status;
}

static counted_writer writer_of(const gi_reading *reading, const classes k, const gik_rows_cuda *p, const gi_counted *c)
{
  counted_writer w = {};
  w.rows = reading->rows;
  w.c = k;
  w.position = p->position;
  w.row_at = c->row_at;
  w.row = reading->row;
  w.ptr = reading->count;
  w.records = &reading->found->records;
  w.at = p->steps ? reading->row : p->position;
  w.slots = 32 / (unsigned)p->lanes;
  w.l = gik_record_layout_of(p);
  w.record = (char *)p->record;
  w.run_at = c->run;
  w.col = c->plain.col;
  w.parents = c->parents;
  w.variable = p->head;
  w.gates = p->gated && !p->steps;
  return w;
}

/* 32 lanes of at most bound records, and a gate of each. */
static void launch_writers(const counted_writer &w, size_t bound, gi_findings *found, int steps, gi_findings *mailbox,
                           gik::launches *on)
{
  const size_t threads = bound * (w.gates ? 33 : 32), blocks = (threads + WRITER_THREADS - 1) / WRITER_THREADS;
  const unsigned grid = (unsigned)(blocks < MOST_WRITERS ? blocks : (size_t)MOST_WRITERS);
  if (grid)
    on->dependent(write_records_kernel, grid, WRITER_THREADS, 0, false, bound, w, found, (unsigned)steps, mailbox);
}

gable_status gi_cuda_counted(gi_arena *keep, const gi_reading *reading, const gi_tile_counts *counts,
                             const gi_findings *found, gik_rows_cuda *out, gi_counted *counted)
{
  gable_status status = GABLE_OK;
  const classes k = classes_of(out, found->longest);
  const size_t n = (size_t)reading->rows.n;
  const unsigned keys = gi_cuda_keys(out, found), slots = 32 / (unsigned)out->lanes;
  const size_t bound = std::min(most_records(n, slots, out->variable ? found : nullptr) + keys,
                                n + (out->variable ? found->entries / GIK_VARIABLE_ROOM : 0));
  gi_findings *mailbox = n ? reading->mailbox : nullptr;
  gi_counted c = {};
  gik::launches on(keep->stream);
  GI_TRY(counted_arrays(keep, reading, found, bound, out, &c));
  GI_TRY(place_all(reading, counts, k, keys, slots, out->steps, &c, out->position));
  if (mailbox) mailbox->posted = 0;
  launch_writers(writer_of(reading, k, out, &c), bound, reading->found, out->steps, mailbox, &on);
  GI_TRY(on.status("records"));
  GI_TRY(fetch_records(keep, reading, mailbox, out));
  out->n_published = (unsigned)n;
  out->long_rows = out->variable && found->longest > GIK_VARIABLE_ROOM;
  *counted = c;
done:
  return status;
}
