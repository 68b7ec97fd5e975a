/* order.cu: rows in the order of a key, dealt to tiles and records. */
#include "cuda/device_wait.cuh"
#include "trisolve/cuda/order.cuh"

using gik::NONE;

namespace gi
{

template <typename K>
gable_status place_rows(gi_arena *m, size_t n, K **key, int bits, unsigned **order, unsigned **position)
{
  gable_status status = GABLE_OK;
  unsigned *value = nullptr, *place = nullptr;
  GI_TRY(take(m, n, &value));
  GI_TRY(take(m, n, &place));
  GI_TRY(each(m->stream, n, [=] __device__(size_t k) { value[k] = (unsigned)k; }));
  GI_TRY(sort(m, key, &value, n, bits));
  GI_TRY(each(m->stream, n, [=] __device__(size_t p) { place[value[p]] = (unsigned)p; }));
  *order = value;
  *position = place;
done:
  return status;
}

/* The first place with the key of place p, in sorted keys: backwards by steps that double, then by halving the last. */
template <typename K> static __device__ __forceinline__ unsigned first_equal(const K *key, unsigned p)
{
  const K k = key[p];
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

/* Numbers the tiles (runs of equal key >> level_bits) in tile[p]; *count of them. */
template <typename K>
static gable_status number_tiles(gi_arena *m, size_t n, const K *key, int level_bits, unsigned *tile, unsigned *count)
{
  gable_status status = GABLE_OK;
  unsigned *flag = nullptr;
  GI_TRY(take(m, n + 1, &flag));
  GI_TRY(each(m->stream, n + 1,
              [=] __device__(size_t p) { flag[p] = p < n && p && key[p] >> level_bits != key[p - 1] >> level_bits; }));
  GI_TRY(offsets(m, flag, flag, n));
  GI_TRY(each(m->stream, n, [=] __device__(size_t p) { tile[p] = flag[p + 1]; }));
  GI_TRY(fetch(m, count, flag + n, 1));
  *count += n > 0;
done:
  return status;
}

/* Records of at most rows rows of one key; a tile's records are padded to a multiple of batch. */
template <typename K>
static gable_status number_records(gi_arena *m, size_t n, const K *key, const schedule *s, unsigned tiles,
                                   unsigned rows, unsigned batch, unsigned **first, unsigned *records)
{
  gable_status status = GABLE_OK;
  unsigned *flag = nullptr, *padded = nullptr;
  const unsigned *tile = s->tile;
  unsigned *record = s->record, *slot = s->slot;
  GI_TRY(take(m, n + 1, &flag));
  GI_TRY(take(m, (size_t)tiles + 1, &padded));
  GI_TRY(each(m->stream, n + 1, [=] __device__(size_t p) {
    unsigned within = 1;
    if (p < n) {
      within = ((unsigned)p - first_equal(key, (unsigned)p)) % rows;
      slot[p] = within;
    }
    flag[p] = within == 0;
  }));
  GI_TRY(offsets(m, flag, flag, n)); /* flag[p]: records that begin before place p */
  GI_TRY(each(m->stream, n, [=] __device__(size_t p) {
    const bool last = p + 1 == n || tile[p + 1] != tile[p];
    if (last) padded[tile[p]] = flag[p + 1]; /* records up to and with this tile's */
  }));
  GI_TRY(take(m, (size_t)tiles + 1, first));
  {
    unsigned *sizes = *first;
    GI_TRY(each(m->stream, (size_t)tiles + 1, [=] __device__(size_t t) {
      const unsigned c = t < tiles ? padded[t] - (t ? padded[t - 1] : 0) : 0;
      sizes[t] = (c + batch - 1) / batch * batch;
    }));
    GI_TRY(offsets(m, sizes, sizes, tiles));
    GI_TRY(fetch(m, records, sizes + tiles, 1));
    GI_TRY(each(m->stream, n, [=] __device__(size_t p) {
      const unsigned t = tile[p];
      record[p] = sizes[t] + flag[p + 1] - 1 - (t ? padded[t - 1] : 0);
    }));
  }
done:
  return status;
}

/* number_tiles and number_records by one block; totals: tiles, records. */
template <typename K>
static __global__ void __launch_bounds__(SMALL_THREADS)
    deal_rows_kernel(unsigned n, const K *key, int level_bits, unsigned rows, unsigned batch, schedule s,
                     unsigned *begin, unsigned *first, unsigned *totals)
{
  __shared__ small_scan scan;
  gik::next_launch();
  gik::after_last_launch();
  const auto other = [=](unsigned p, int bits) { return p && key[p] >> bits != key[p - 1] >> bits; };
  const unsigned further = scan.sum(
      n, [=](unsigned p) { return (unsigned)other(p, level_bits); },
      [=](unsigned p, unsigned before, unsigned own) { s.tile[p] = before + own; });
  const unsigned tiles = further + (n > 0);
  scan.largest(
      n, [=](unsigned p) { return other(p, 0) ? p : 0; },
      [=](unsigned p, unsigned from) { s.slot[p] = (p - from) % rows; });
  scan.sum(
      n, [=](unsigned p) { return (unsigned)!s.slot[p]; },
      [=](unsigned p, unsigned before, unsigned own) {
        s.record[p] = before + own - 1;
        if (!p || s.tile[p] != s.tile[p - 1]) begin[s.tile[p]] = before;
        if (p + 1 == n) begin[tiles] = before + own;
      });
  const unsigned records = scan.sum(
      tiles, [=](unsigned t) { return (begin[t + 1] - begin[t] + batch - 1) / batch * batch; },
      [=](unsigned t, unsigned before, unsigned) { first[t] = before; });
  for (unsigned p = threadIdx.x; p < n; p += SMALL_THREADS) s.record[p] += first[s.tile[p]] - begin[s.tile[p]];
  if (threadIdx.x) return;
  first[tiles] = records;
  totals[0] = tiles;
  totals[1] = records;
}

template <typename K>
gable_status deal_rows(gi_arena *m, size_t n, const K *key, int level_bits, const schedule *s, unsigned rows,
                       unsigned batch, unsigned *tiles, unsigned **first, unsigned *records)
{
  gable_status status = GABLE_OK;
  unsigned *begin = nullptr, *totals = nullptr, got[2] = {0, 0};
  if (n > SMALL_ROWS) {
    GI_TRY(number_tiles(m, n, key, level_bits, s->tile, tiles));
    GI_TRY(number_records(m, n, key, s, *tiles, rows, batch, first, records));
    goto done;
  }
  GI_TRY(take(m, n + 1, &begin));
  GI_TRY(take(m, n + 1, first));
  GI_TRY(take(m, 2, &totals));
  GI_TRY(gik::dependent_launch("tiles and records", m->stream, deal_rows_kernel<K>, 1, SMALL_THREADS, 0, (unsigned)n,
                               key, level_bits, rows, batch, *s, begin, *first, totals));
  GI_TRY(fetch(m, got, totals, 2));
  *tiles = got[0];
  *records = got[1];
done:
  return status;
}

#define FOR_KEYS(K)                                                                                                    \
  template gable_status place_rows(gi_arena *, size_t, K **, int, unsigned **, unsigned **);                           \
  template gable_status deal_rows(gi_arena *, size_t, const K *, int, const schedule *, unsigned, unsigned,            \
                                  unsigned *, unsigned **, unsigned *);
FOR_KEYS(unsigned)
FOR_KEYS(u64)
#undef FOR_KEYS

gable_status schedule_arrays(gi_arena *m, size_t n, schedule *s)
{
  gable_status status = GABLE_OK;
  GI_TRY(take(m, n, &s->tile));
  GI_TRY(take(m, n, &s->record));
  GI_TRY(take(m, n, &s->slot));
done:
  return status;
}

} /* namespace gi */

using namespace gi;

gable_status gi_cuda_order(gi_arena *keep, const gik_device_triangle *t, const unsigned long long *level, int levels,
                           unsigned **order, unsigned **starts)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  gi_arena scratch = gi_arena_of(keep->ctx);
  unsigned *key = nullptr, *sorted = nullptr, *position = nullptr, *kept = nullptr, *start = nullptr;
  GI_TRY(take(&scratch, n, &key));
  GI_TRY(each(keep->stream, n, [=] __device__(size_t i) { key[i] = (unsigned)(level[i] >> 32); }));
  GI_TRY(place_rows(&scratch, n, &key, bits_of((u64)levels), &sorted, &position));
  GI_TRY(take(keep, n, &kept));
  GI_TRY(take(keep, (size_t)levels + 1, &start));
  GI_TRY(each(keep->stream, n + 1, [=] __device__(size_t p) {
    const unsigned here = p < n ? key[p] : (unsigned)levels, before = p ? key[p - 1] : NONE;
    if (p < n) kept[p] = sorted[p];
    for (unsigned l = before + 1; l <= here; l++) start[l] = (unsigned)p;
  }));
  *order = kept;
  *starts = start;
done:
  gi_arena_release(&scratch);
  return status;
}
