/* border.cu: which values the tiles of a schedule need of one another. */
#include "cuda/device_wait.cuh"
#include "trisolve/cuda/border.cuh"

using gik::NONE;

namespace gi
{

/* Both prefix sums of rank_published by one block. */
static __global__ void __launch_bounds__(SMALL_THREADS)
    rank_kernel(unsigned n, const unsigned *flag, unsigned *rank, unsigned *external)
{
  __shared__ small_scan scan;
  gik::next_launch();
  gik::after_last_launch();
  const unsigned flags = scan.sum(
      n, [=](unsigned p) { return flag[p]; }, [=](unsigned p, unsigned before, unsigned) { rank[p] = before; });
  const unsigned entries = scan.sum(
      n, [=](unsigned k) { return external[k]; }, [=](unsigned k, unsigned before, unsigned) { external[k] = before; });
  if (threadIdx.x) return;
  rank[n] = flags;
  external[n] = entries;
}

/* external: [n+1] where the entries of row k that are not local begin, when they are written row by row; the last: how
 * many.  b->rank: by place, the number of a row that another tile or a later record needs. */
static gable_status rank_published(gi_arena *m, const gik_device_triangle *t, const schedule *s, const place_of_rows w,
                                   unsigned *external, border *b)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  const gik_device_triangle tri = *t;
  const unsigned *position = s->position;
  unsigned *flag = nullptr, *rank = nullptr;
  GI_TRY(take(m, n + 1, &flag));
  GI_TRY(take(m, n + 1, &rank));
  GI_TRY(fill(m->stream, flag, 0, n + 1));
  GI_TRY(each(m->stream, n, [=] __device__(size_t k) {
    const u64 here = w.at[k];
    unsigned count = 0;
    for (unsigned q = tri.ptr[k]; q < tri.ptr[k + 1]; q++) {
      const unsigned c = tri.col[q];
      if (w.local(here, c)) continue;
      flag[position[c]] = 1;
      count++;
    }
    external[k] = count;
  }));
  if (n <= SMALL_ROWS) {
    GI_TRY(gik::dependent_launch("border", m->stream, rank_kernel, 1, SMALL_THREADS, 0, (unsigned)n, flag, rank,
                                 external));
  } else {
    GI_TRY(offsets(m, flag, rank, n));
    GI_TRY(offsets(m, external, external, n));
  }
  b->flag = flag;
  b->rank = rank;
done:
  return status;
}

/* The bits of a key (tile of the row, level of the column, published place of the column); where they are more than 64
 * a level's lowest are dropped: the order of a border is a matter of speed. */
struct border_bits {
  int place, level, dropped, all;
};

static border_bits bits_for(unsigned published, int levels, unsigned tiles)
{
  border_bits b = {bits_of(published), bits_of((u64)levels)};
  b.all = b.place + b.level + bits_of(tiles);
  b.dropped = b.all > 64 ? b.all - 64 : 0;
  b.all -= b.dropped;
  return b;
}

/* Sorts the entries that are not local by that key. */
static gable_status sort_border(gi_arena *m, const gik_device_triangle *t, const schedule *s, const u64 *level,
                                const border *b, const unsigned *external, size_t entries, const border_bits bits,
                                u64 **key, unsigned **entry)
{
  gable_status status = GABLE_OK;
  const gik_device_triangle tri = *t;
  const place_of_rows w = b->rows;
  const unsigned *position = s->position, *rank = b->rank;
  u64 *k = nullptr;
  unsigned *e = nullptr;
  GI_TRY(take(m, entries, &k));
  GI_TRY(take(m, entries, &e));
  GI_TRY(each(m->stream, (size_t)t->n, [=] __device__(size_t row) {
    const u64 here = w.at[row];
    unsigned at = external[row];
    if (external[row + 1] == at) return;
    for (unsigned q = tri.ptr[row]; q < tri.ptr[row + 1]; q++) {
      const unsigned c = tri.col[q];
      if (w.local(here, c)) continue;
      const u64 l = level[c] >> 32 >> bits.dropped;
      k[at] = ((here >> 32) << (bits.level - bits.dropped) | l) << bits.place | rank[position[c]];
      e[at++] = q;
    }
  }));
  GI_TRY(sort(m, &k, &e, entries, bits.all));
  *key = k;
  *entry = e;
done:
  return status;
}

namespace
{

/* Entry i of the sorted ones, before which are `before` border values, itself one or not. */
struct border_writer {
  const u64 *key;
  const unsigned *entry;
  unsigned entries, tiles;
  int place_bits, tile_shift;
  unsigned *list, *first, *number;

  __device__ bool is_new(unsigned i) const { return i < entries && (!i || key[i] != key[i - 1]); }
  __device__ void put(unsigned i, unsigned before, unsigned own) const
  {
    const unsigned here = i < entries ? (unsigned)(key[i] >> tile_shift) : tiles;
    const unsigned last = i ? (unsigned)(key[i - 1] >> tile_shift) : NONE;
    for (unsigned t = last + 1; t <= here; t++) first[t] = before;
    if (i == entries) return;
    number[entry[i]] = before + own - 1;
    if (own) list[before] = (unsigned)(key[i] & (((u64)1 << place_bits) - 1));
  }
};

} /* namespace */

static __global__ void __launch_bounds__(SMALL_THREADS) number_border_kernel(const border_writer w, unsigned *count)
{
  __shared__ small_scan scan;
  gik::next_launch();
  gik::after_last_launch();
  const unsigned all = scan.sum(
      w.entries + 1, [=](unsigned i) { return (unsigned)w.is_new(i); },
      [=](unsigned i, unsigned before, unsigned own) { w.put(i, before, own); });
  if (!threadIdx.x) *count = all;
}

/* Entries with one key share one border value; the keys of a tile are one run. */
static gable_status number_border(gi_arena *keep, gi_arena *m, const u64 *key, const unsigned *entry, size_t entries,
                                  const border_bits bits, unsigned tiles, border *b)
{
  gable_status status = GABLE_OK;
  unsigned *f = nullptr, count = 0;
  border_writer w = {key,     entry,    (unsigned)entries, tiles, bits.place, bits.place + bits.level - bits.dropped,
                     nullptr, b->first, b->number};
  if (entries < SMALL_ENTRIES) {
    GI_TRY(take(keep, entries, &b->list));
    GI_TRY(take(m, 1, &f));
    w.list = b->list;
    GI_TRY(gik::dependent_launch("border", m->stream, number_border_kernel, 1, SMALL_THREADS, 0, w, f));
    b->total = f;
    goto done;
  }
  GI_TRY(take(m, entries + 1, &f));
  GI_TRY(each(keep->stream, entries + 1, [=] __device__(size_t i) { f[i] = w.is_new((unsigned)i); }));
  GI_TRY(offsets(m, f, f, entries));
  GI_TRY(fetch(m, &count, f + entries, 1));
  GI_TRY(take(keep, count, &b->list));
  w.list = b->list;
  GI_TRY(each(keep->stream, entries + 1,
              [=] __device__(size_t i) { w.put((unsigned)i, f[i], i < entries ? f[i + 1] - f[i] : 0); }));
  b->total = f + entries;
done:
  return status;
}

gable_status find_border(gi_arena *keep, gi_arena *m, const gik_device_triangle *t, const schedule *s, const u64 *level,
                         unsigned tiles, int levels, unsigned window, border *b)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  border_bits bits;
  unsigned *external = nullptr, *entry = nullptr, got[2] = {0, 0};
  u64 *key = nullptr, *at = nullptr;
  GI_TRY(take(m, n + 1, &external));
  GI_TRY(take(m, n, &at));
  GI_TRY(take(m, t->nnz, &b->number));
  GI_TRY(take(m, (size_t)tiles + 1, &b->first));
  {
    const unsigned *order = s->order, *tile = s->tile, *record = s->record;
    GI_TRY(each(keep->stream, n, [=] __device__(size_t p) { at[order[p]] = (u64)tile[p] << 32 | record[p]; }));
  }
  b->rows = {at, window};
  GI_TRY(rank_published(m, t, s, b->rows, external, b));
  GI_TRY(fetch_both(m, got, external + n, b->rank + n));
  b->published = got[1];
  bits = bits_for(b->published, levels, tiles);
  GI_TRY(sort_border(m, t, s, level, b, external, got[0], bits, &key, &entry));
  GI_TRY(number_border(keep, m, key, entry, got[0], bits, tiles, b));
done:
  return status;
}

} /* namespace gi */
