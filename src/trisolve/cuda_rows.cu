/* cuda_rows.cu: the schedule and the records of method rows. */
#include "kernels/device_wait.cuh"
#include "trisolve/cuda_order.cuh"

using gik::NONE;
using namespace gi;

/* Pairs of entries a lane that row k fills. */
static __device__ __forceinline__ unsigned pairs_in_use(const gik_device_triangle &t, unsigned k, unsigned lanes)
{
  return (t.ptr[k + 1] - t.ptr[k] + 2 * lanes - 1) / (2 * lanes);
}

/* Packed records: everything is published, at the row's place in level order. */
static gable_status write_packed(gi_device_memory *keep, const gik_device_triangle *t, const schedule *s, int type,
                                 gik_packed *out)
{
  gable_status status = GABLE_OK;
  const gable_type vectors = type ? GABLE_D : GABLE_S;
  const size_t bytes = gik_packed_record_bytes(out->lanes, out->pairs, vectors), size = type ? 8 : 4;
  const size_t total = bytes * out->n_records, places = bytes - (size_t)out->pairs * 256;
  const unsigned lanes = (unsigned)out->lanes, rows = 32 / lanes, pairs = (unsigned)out->pairs;
  const gik_device_triangle tri = *t;
  const schedule c = *s;
  char *record = nullptr;
  (void)size;
  GI_TRY(gi_device_take(keep, total, &out->record[type]));
  record = (char *)out->record[type];
  GI_TRY(checked(cudaMemsetAsync(record, 0, total), "clear"));
  GI_TRY(each((size_t)out->n_records * 32, [=] __device__(size_t i) {
    char *r = record + i / 32 * bytes;
    const unsigned lane = (unsigned)(i % 32);
    for (unsigned k = 0; k < pairs; k++) ((uint2 *)(r + places))[k * 32 + lane] = make_uint2(NONE, NONE);
    if (lane < rows) ((unsigned *)(r + 16))[lane] = NONE;
  }));
  GI_TRY(each((size_t)t->n, [=] __device__(size_t p) {
    const unsigned k = c.order[p], slot = c.slot[p];
    char *r = record + c.record[p] * bytes;
    unsigned *head = (unsigned *)r, j = 0;
    ((unsigned *)(r + 16))[slot] = tri.row[k] == NONE ? tri.parent[k] | 0x80000000u : tri.row[k];
    atomicAdd(head + 1, 1u);
    for (unsigned q = tri.ptr[k]; q < tri.ptr[k + 1]; q++, j++) {
      const unsigned lane = slot * lanes + j % lanes, entry = j / lanes;
      ((unsigned *)(r + places))[(entry / 2 * 32 + lane) * 2 + entry % 2] = c.position[tri.col[q]];
    }
    if (slot) return;
    unsigned gate = k, up = 0; /* three steps up by last entries */
    for (; up < 3 && tri.ptr[gate + 1] > tri.ptr[gate]; up++) gate = tri.col[tri.ptr[gate + 1] - 1];
    head[0] = (unsigned)p;
    head[3] = pairs_in_use(tri, k, lanes);
    head[2] = up == 3 ? c.position[gate] : NONE;
  }));
done:
  return status;
}

gable_status gi_cuda_packed(gi_device_memory *keep, const gik_device_triangle *t, const unsigned long long *level,
                            const gi_profile *profile, int types, gik_packed *out, unsigned **place)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  const unsigned rows = 32 / (unsigned)out->lanes, most = (unsigned)out->pairs;
  const int class_bits = out->classed ? bits_of(most) : 0;
  gi_device_memory scratch = {keep->ctx};
  schedule s = {};
  unsigned *first = nullptr, *kept = nullptr;
  GI_TRY(schedule_arrays(&scratch, n, &s));
  {
    u64 *key = s.key;
    const gik_device_triangle tri = *t;
    const unsigned lanes = (unsigned)out->lanes;
    GI_TRY(each(n, [=] __device__(size_t k) {
      key[k] = level[k] >> 32 << class_bits;
      if (class_bits) key[k] |= most - pairs_in_use(tri, (unsigned)k, lanes); /* long rows first */
    }));
  }
  GI_TRY(place_rows(&scratch, n, &s.key, bits_of((u64)profile->levels) + class_bits, &s.order, &s.position));
  GI_TRY(checked(cudaMemsetAsync(s.tile, 0, n * sizeof *s.tile), "clear"));
  GI_TRY(number_records(&scratch, n, &s, n ? 1 : 0, rows, 1, &first, &out->n_records));
  out->n_published = (unsigned)n;
  GI_TRY(take(keep, n, &kept));
  {
    const unsigned *order = s.order, *record = s.record, *slot = s.slot;
    GI_TRY(each(n, [=] __device__(size_t p) { kept[order[p]] = record[p] * rows + slot[p]; }));
  }
  *place = kept;
  for (int type = 0; type < 2; type++)
    if (types >> type & 1) GI_TRY(write_packed(keep, t, &s, type, out));
done:
  gi_device_give_back(&scratch);
  return status;
}
