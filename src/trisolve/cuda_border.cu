/* cuda_border.cu: which values the tiles of a schedule need of one another. */
#include "kernels/device_wait.cuh"
#include "trisolve/cuda_border.cuh"

using gik::NONE;

namespace gi
{

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

gable_status find_border(gi_device_memory *keep, gi_device_memory *m, const gik_device_triangle *t, const schedule *s,
                         unsigned tiles, int levels, unsigned window, border *b)
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
    GI_TRY(gi_cuda_rows_of(m, t, &row));
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

} /* namespace gi */
