/* tiles.cu: the schedule and the records of method tiles. */
#include "cuda/device_wait.cuh"
#include "trisolve/cuda/border.cuh"

using gik::NONE;
using gik::PART;
using namespace gi;

/* How rows are cut into tiles: by chain block, then by index block; and the bits of (tile key, level). */
struct tile_cut {
  unsigned index_cut, chain_cut, last_chain; /* last_chain: the last chain block */
  int level_bits, chain_bits, bits;
};

static tile_cut cut_of(size_t n, const gi_profile *profile, const gi_tile_shape *shape)
{
  tile_cut c = {shape->index_cut, shape->chain_cut, 0, bits_of((u64)profile->levels)};
  c.last_chain = c.chain_cut ? (unsigned)profile->chain_levels / c.chain_cut : 0;
  c.chain_bits = bits_of(c.last_chain);
  c.bits = c.level_bits + c.chain_bits + bits_of((c.index_cut ? n / c.index_cut : 0) + c.last_chain);
  return c;
}

/* Sorts the rows by (chain block + index block, chain block from the last on, level) and deals them to tiles and
 * records. */
template <typename K>
static gable_status tile_order(gi_arena *m, size_t n, const u64 *level, const tile_cut c, unsigned rows, schedule *s,
                               unsigned *tiles, unsigned **first, unsigned *records)
{
  gable_status status = GABLE_OK;
  K *key = nullptr;
  GI_TRY(take(m, n, &key));
  GI_TRY(each(m->stream, n, [=] __device__(size_t k) {
    const u64 l = level[k], i = c.index_cut ? (unsigned)k / c.index_cut : 0;
    const u64 b = c.chain_cut ? (unsigned)l / c.chain_cut : 0;
    key[k] = (K)(((i + b) << c.chain_bits | (c.last_chain - b)) << c.level_bits | l >> 32);
  }));
  GI_TRY(place_rows(m, n, &key, c.bits, &s->order, &s->position));
  GI_TRY(deal_rows(m, n, key, c.level_bits, s, rows, GIK_TILE_BATCH, tiles, first, records));
done:
  return status;
}

namespace
{

/* Fixed parts of the records, a lane at a time: slots, published places, rows. */
struct tile_writer {
  gik_device_triangle t;
  schedule s;
  border b;
  const unsigned *first, *row_at;     /* records of tiles; [n_records][rows] */
  unsigned lanes, pairs, width, rows; /* width: lanes of a record */
  size_t bytes, slots, meta;
  char *record;

  /* The slot of shared memory where entry q of row k is found. */
  __device__ unsigned slot_of(unsigned k, unsigned q) const
  {
    const u64 here = b.rows.at[k];
    const unsigned c = t.col[q], tile = (unsigned)(here >> 32), window = b.rows.window;
    if (!b.rows.local(here, c)) return 1 + window * rows + b.number[q] - b.first[tile];
    return 1 + ((unsigned)b.rows.at[c] - first[tile]) % window * rows + s.slot[s.position[c]];
  }

  __device__ void operator()(size_t i) const
  {
    const unsigned lane = (unsigned)(i % width), slot = lane / lanes, part = lane % lanes;
    const unsigned k = row_at[i / width * rows + slot];
    const unsigned begin = k == NONE ? 0 : t.ptr[k], count = k == NONE ? 0 : t.ptr[k + 1] - begin;
    char *r = record + i / width * bytes;
    for (unsigned m = 0; m < pairs; m++) {
      const unsigned j = 2 * m * lanes + part, l = j + lanes;
      const unsigned a = j < count ? slot_of(k, begin + j) : 0, b = l < count ? slot_of(k, begin + l) : 0;
      ((unsigned *)(r + slots))[m * width + lane] = a | b << 16;
    }
    const size_t size = slots / (2 * pairs * width);
    if (k == NONE) clear_lane(r, pairs, width, lane, size);
    if (part) return;
    if (k == NONE) ((double *)(r + meta + rows * sizeof(uint2)))[slot] = 0;
    const unsigned p = k == NONE ? 0 : s.position[k];
    ((uint2 *)(r + meta))[slot] =
        k == NONE ? make_uint2(NONE, NONE)
                  : make_uint2(b.flag[p] ? b.rank[p] : NONE, t.row[k] == NONE ? t.parent[k] | PART : t.row[k]);
  }
};

} /* namespace */

static gable_status write_tiles(gi_arena *keep, const gik_device_triangle *t, const schedule *s, const border *b,
                                const unsigned *first, const unsigned *row_at, gik_tiles *out)
{
  gable_status status = GABLE_OK;
  const size_t bytes = gik_tiles_record_bytes(out->lanes, out->pairs, out->warps, out->stored);
  const size_t size = gi_type_size(out->stored);
  tile_writer w = {};
  GI_TRY(gi_arena_take(keep, bytes * out->n_records, &out->record));
  w.t = *t;
  w.s = *s;
  w.b = *b;
  w.first = first;
  w.row_at = row_at;
  w.lanes = (unsigned)out->lanes;
  w.pairs = (unsigned)out->pairs;
  w.width = 32 * (unsigned)out->warps;
  w.rows = w.width / w.lanes;
  w.bytes = bytes;
  w.slots = (size_t)out->pairs * 2 * w.width * size;
  w.meta = w.slots + (size_t)out->pairs * 4 * w.width;
  w.record = (char *)out->record;
  GI_TRY(each(keep->stream, (size_t)out->n_records * w.width, w));
done:
  return status;
}

/* found: slots of the largest tile, border values of all. */
static __global__ void list_tiles_kernel(unsigned tiles, const unsigned *border, const unsigned *first,
                                         unsigned window_slots, const unsigned *total, gik_tile *tile, unsigned *found)
{
  unsigned most = 0;
  gik::next_launch();
  gik::after_last_launch();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < tiles; i += gridDim.x * blockDim.x) {
    const unsigned borders = border[i + 1] - border[i];
    tile[i] = {first[i], first[i + 1], border[i], borders};
    most = max(most, 1 + window_slots + borders);
  }
  most = __reduce_max_sync(gik::ALL, most);
  if (threadIdx.x % 32 == 0) atomicMax(found, most);
  if (!blockIdx.x && !threadIdx.x) found[1] = *total;
}

/* Where each tile's records and border begin, and the slots of the largest. */
static gable_status list_tiles(gi_arena *keep, gi_arena *m, unsigned tiles, const border *b, const unsigned *first,
                               unsigned window_slots, gik_tiles *o)
{
  gable_status status = GABLE_OK;
  unsigned *found = nullptr, got[2] = {0, 0};
  GI_TRY(take(m, 2, &found));
  GI_TRY(fill(keep->stream, found, 0, 2));
  GI_TRY(take(keep, tiles, &o->tile));
  GI_TRY(gik::dependent_launch("tiles", m->stream, list_tiles_kernel, tiles / 256 + 1, 256, 0, tiles, b->first, first,
                               window_slots, b->total, o->tile, found));
  GI_TRY(fetch(m, got, found, 2));
  o->count = (int)tiles;
  o->slots = (int)got[0];
  o->n_borders = got[1];
done:
  return status;
}

/* The row in each slot of each record, NONE where there is none; and the row of the matrix whose b it begins with. */
static gable_status fill_slots(gi_arena *keep, const gik_device_triangle *t, const schedule *s, unsigned rows,
                               unsigned records, unsigned **row_at, unsigned **row)
{
  gable_status status = GABLE_OK;
  const size_t slots = (size_t)records * rows;
  const unsigned *order = s->order, *record = s->record, *slot = s->slot, *row_of = t->row;
  unsigned *at = nullptr, *b_row = nullptr;
  GI_TRY(take(keep, slots, &at));
  GI_TRY(take(keep, slots, &b_row));
  GI_TRY(fill(keep->stream, at, NONE, slots));
  GI_TRY(each(keep->stream, (size_t)t->n,
              [=] __device__(size_t p) { at[(size_t)record[p] * rows + slot[p]] = order[p]; }));
  GI_TRY(each(keep->stream, slots, [=] __device__(size_t i) {
    const unsigned r = at[i] == NONE ? NONE : row_of[at[i]];
    b_row[i] = r == NONE ? 0 : r;
  }));
  *row_at = at;
  *row = b_row;
done:
  return status;
}

gable_status gi_cuda_tiles(gi_arena *keep, const gik_device_triangle *t, const unsigned long long *level,
                           const gi_profile *profile, const gi_tile_shape *shape, gable_type stored, gik_tiles *out,
                           unsigned **row_at)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  const unsigned rows = 32 * (unsigned)shape->warps / (unsigned)shape->lanes, window = (unsigned)shape->window;
  gi_arena scratch = gi_arena_of(keep->ctx);
  schedule s = {};
  border b = {};
  const tile_cut cut = cut_of(n, profile, shape);
  unsigned tiles = 0, *first = nullptr, records = 0, *at = nullptr;
  gik_tiles o = {shape->lanes, shape->pairs, shape->warps, shape->pollers, shape->window};
  GI_TRY(gi_arena_reserve(&scratch, 24 * n * sizeof(unsigned) + t->nnz * sizeof(unsigned)));
  GI_TRY(schedule_arrays(&scratch, n, &s));
  GI_REQUIRE(cut.bits <= 64, GABLE_ERR_LIMIT, "tiles: the order of %zu rows takes keys of %d bits: use method rows", n,
             cut.bits);
  if (cut.bits <= 32)
    GI_TRY(tile_order<unsigned>(&scratch, n, level, cut, rows, &s, &tiles, &first, &records));
  else
    GI_TRY(tile_order<u64>(&scratch, n, level, cut, rows, &s, &tiles, &first, &records));
  GI_TRY(find_border(keep, &scratch, t, &s, level, tiles, profile->levels, window, &b));
  GI_TRY(list_tiles(keep, &scratch, tiles, &b, first, window * rows, &o));
  GI_TRY(fill_slots(keep, t, &s, rows, records, &at, &o.row));
  o.n_records = records;
  o.n_published = b.published;
  o.border = b.list;
  o.stored = stored;
  if (o.slots <= 0xffff) GI_TRY(write_tiles(keep, t, &s, &b, first, at, &o));
  *row_at = at;
  *out = o;
done:
  gi_arena_release(&scratch);
  return status;
}
