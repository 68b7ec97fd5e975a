/* cuda_tiles.cu: the schedule and the records of method tiles. */
#include "kernels/device_wait.cuh"
#include "trisolve/cuda_border.cuh"

using gik::NONE;
using namespace gi;

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

namespace
{

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

} /* namespace */

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
