/* cuda_rows.cu: the schedule and the records of method rows; nothing waits for the host but for the count of records.
 */
#include <cub/block/block_scan.cuh>

#include "kernels/device_wait.cuh"
#include "trisolve/cuda_passes.cuh"

using gik::NONE;
using namespace gi;

namespace
{

/* Pairs of entries a lane that row k fills. */
__device__ __forceinline__ unsigned pairs_in_use(const gik_device_triangle &t, unsigned k, unsigned lanes)
{
  return (t.ptr[k + 1] - t.ptr[k] + 2 * lanes - 1) / (2 * lanes);
}

/* Rows in the order of a key: the level, and where a level's rows are sorted by length the length below it. */
struct level_order {
  unsigned *order, *position; /* [n] row of a place, place of a row */
  unsigned *key;              /* [n] by place */
  unsigned *start;            /* [keys+1] place */
  unsigned *record;           /* [keys+1] first record; the last: how many there are */
  unsigned *row_at;           /* [bound * rows] row of a record's slot; ~0: none */
  size_t keys, bound;         /* records at most */
};

} /* namespace */

static gable_status sort_rows(gi_device_memory *m, const gik_device_triangle *t, const unsigned long long *level,
                              int levels, const gik_packed *out, level_order *o)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  const unsigned lanes = (unsigned)out->lanes, most = (unsigned)out->pairs;
  const int class_bits = out->classed ? bits_of(most) : 0;
  const gik_device_triangle tri = *t;
  unsigned *key = nullptr, *order = nullptr;
  GI_TRY(take(m, n, &key));
  GI_TRY(take(m, n, &order));
  GI_TRY(each(n, [=] __device__(size_t k) {
    order[k] = (unsigned)k;
    key[k] = (unsigned)(level[k] >> 32) << class_bits;
    if (class_bits) key[k] |= most - pairs_in_use(tri, (unsigned)k, lanes); /* long rows first */
  }));
  o->keys = (size_t)levels << class_bits;
  GI_TRY(sort(m, &key, &order, n, bits_of(o->keys ? o->keys - 1 : 0)));
  o->key = key;
  o->order = order;
done:
  return status;
}

namespace
{

/* first[l]: records of the keys before l, for l <= keys; one block, because keys are few. */
__global__ void __launch_bounds__(1024)
    count_records_kernel(unsigned keys, const unsigned *start, unsigned rows, unsigned *first)
{
  typedef cub::BlockScan<unsigned, 1024> scan;
  __shared__ scan::TempStorage space;
  unsigned before = 0;
  for (unsigned base = 0; base <= keys; base += 1024) {
    const unsigned l = base + threadIdx.x;
    unsigned c = l < keys ? (start[l + 1] - start[l] + rows - 1) / rows : 0, all = 0;
    scan(space).ExclusiveSum(c, c, all);
    if (l <= keys) first[l] = before + c;
    before += all;
    __syncthreads();
  }
}

} /* namespace */

/* Records of at most rows rows of one key. */
static gable_status number_rows(gi_device_memory *keep, gi_device_memory *m, size_t n, unsigned rows, level_order *o)
{
  gable_status status = GABLE_OK;
  const unsigned keys = (unsigned)o->keys, *key = o->key, *order = o->order;
  unsigned *start = nullptr, *record = nullptr, *position = nullptr, *row_at = nullptr;
  o->bound = n / rows + (o->keys < n ? o->keys : n);
  GI_TRY(take(m, o->keys + 1, &start));
  GI_TRY(take(m, o->keys + 1, &record));
  GI_TRY(take(m, n, &position));
  GI_TRY(take(keep, o->bound * rows, &row_at));
  GI_TRY(checked(cudaMemsetAsync(row_at, 0xff, o->bound * rows * sizeof *row_at), "clear"));
  GI_TRY(each(n + 1, [=] __device__(size_t p) {
    const unsigned here = p < n ? key[p] : keys, before = p ? key[p - 1] : NONE;
    for (unsigned l = before + 1; l <= here; l++) start[l] = (unsigned)p;
  }));
  count_records_kernel<<<1, 1024>>>(keys, start, rows, record);
  GI_TRY(checked(cudaGetLastError(), "analysis"));
  GI_TRY(each(n, [=] __device__(size_t p) {
    const unsigned k = order[p], first = start[key[p]], i = (unsigned)p - first;
    row_at[(size_t)(record[key[p]] + i / rows) * rows + i % rows] = k;
    position[k] = (unsigned)p;
  }));
  o->start = start;
  o->record = record;
  o->position = position;
  o->row_at = row_at;
done:
  return status;
}

namespace
{

/* Fixed parts of the records, a lane at a time; see packed_layout. */
struct packed_writer {
  gik_device_triangle t;
  level_order o;
  unsigned lanes, pairs, rows;
  size_t bytes, places;
  char *record;

  __device__ void head(char *r, unsigned k) const
  {
    const unsigned p = o.position[k], left = o.start[o.key[p] + 1] - p;
    unsigned gate = k, up = 0; /* three steps up by last entries */
    for (; up < 3 && t.ptr[gate + 1] > t.ptr[gate]; up++) gate = t.col[t.ptr[gate + 1] - 1];
    *(uint4 *)r = make_uint4(p, min(left, rows), up == 3 ? o.position[gate] : NONE, pairs_in_use(t, k, lanes));
  }

  __device__ void operator()(size_t i) const
  {
    const unsigned lane = (unsigned)(i % 32), slot = lane / lanes, part = lane % lanes;
    if (i / 32 >= o.record[o.keys]) return;
    char *r = record + i / 32 * bytes;
    const unsigned k = o.row_at[i / 32 * rows + slot];
    const unsigned first = k == NONE ? 0 : t.ptr[k], count = k == NONE ? 0 : t.ptr[k + 1] - first;
    for (unsigned m = 0; m < pairs; m++) {
      const unsigned j = 2 * m * lanes + part, l = j + lanes;
      ((uint2 *)(r + places))[m * 32 + lane] =
          make_uint2(j < count ? o.position[t.col[first + j]] : NONE, l < count ? o.position[t.col[first + l]] : NONE);
    }
    if (part) return;
    ((unsigned *)(r + 16))[slot] = k == NONE ? NONE : t.row[k] == NONE ? t.parent[k] | 0x80000000u : t.row[k];
    if (!lane) head(r, k);
  }
};

} /* namespace */

gable_status gi_cuda_packed(gi_device_memory *keep, const gik_device_triangle *t, const unsigned long long *level,
                            const gi_profile *profile, int types, gik_packed *out, unsigned **row_at)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  const unsigned rows = 32 / (unsigned)out->lanes;
  gi_device_memory scratch = {keep->ctx};
  level_order o = {};
  GI_TRY(gi_device_reserve(&scratch, 7 * n * sizeof(unsigned) + (64 << 10)));
  GI_TRY(sort_rows(&scratch, t, level, profile->levels, out, &o));
  GI_TRY(number_rows(keep, &scratch, n, rows, &o));
  for (int type = 0; type < 2; type++) {
    if (!(types >> type & 1)) continue;
    const size_t bytes = gik_packed_record_bytes(out->lanes, out->pairs, type ? GABLE_D : GABLE_S);
    GI_TRY(gi_device_take(keep, bytes * o.bound, &out->record[type]));
    const packed_writer w = {*t,
                             o,
                             (unsigned)out->lanes,
                             (unsigned)out->pairs,
                             rows,
                             bytes,
                             bytes - (size_t)out->pairs * 256,
                             (char *)out->record[type]};
    GI_TRY(each(o.bound * 32, w));
  }
  GI_TRY(fetch(&out->n_records, o.record + o.keys, 1));
  out->n_published = (unsigned)n;
  *row_at = o.row_at;
done:
  gi_device_give_back(&scratch);
  return status;
}
