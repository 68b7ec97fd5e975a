/* rows.cu: the schedule and the records of method rows; nothing waits for the host but for the count of records.
 */
#include <algorithm>
#include <cub/block/block_scan.cuh>

#include "cuda/device_wait.cuh"
#include "trisolve/cuda/classes.cuh"

using gik::NONE;
using gik::PART;
using namespace gi;

namespace
{

/* Rows in the order of a key: the level, and where a level's rows are sorted by length their class below it. */
struct level_order {
  unsigned *order, *position; /* [n] row of a place, place of a row */
  unsigned *key;              /* [n] by place */
  unsigned *start;            /* [keys+1] place */
  unsigned *record;           /* [keys+1] first record; the last: how many there are */
  unsigned *row_at;           /* [bound * slots] row of a record's slot; ~0: none */
  size_t keys, bound;         /* records at most; variable: as many as there are */
};

} /* namespace */

static gable_status sort_rows(gi_arena *m, const gik_device_triangle *t, const unsigned long long *level, int levels,
                              const classes c, level_order *o)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  const unsigned *ptr = t->ptr;
  unsigned *key = nullptr, *order = nullptr;
  GI_TRY(take(m, n, &key));
  GI_TRY(take(m, n, &order));
  GI_TRY(each(m->stream, n, [=] __device__(size_t k) {
    order[k] = (unsigned)k;
    key[k] = c.key((unsigned)(level[k] >> 32), ptr[k + 1] - ptr[k]);
  }));
  o->keys = (size_t)levels * c.count;
  GI_TRY(sort(m, &key, &order, n, bits_of(o->keys ? o->keys - 1 : 0)));
  o->key = key;
  o->order = order;
done:
  return status;
}

namespace
{

enum { KEY_THREADS = 1024 };

/* first[l]: records of the keys before l, for l <= keys; one block, because keys are few. */
__global__ void __launch_bounds__(KEY_THREADS)
    count_records_kernel(unsigned keys, const unsigned *start, classes k, unsigned *first)
{
  typedef cub::BlockScan<unsigned, KEY_THREADS> scan;
  __shared__ scan::TempStorage space;
  gik::next_launch();
  gik::after_last_launch();
  unsigned before = 0;
  for (unsigned base = 0; base <= keys; base += KEY_THREADS) {
    const unsigned l = base + threadIdx.x;
    const unsigned rows = k.rows(l);
    unsigned c = l < keys ? (start[l + 1] - start[l] + rows - 1) / rows * k.records(l) : 0, all = 0;
    scan(space).ExclusiveSum(c, c, all);
    if (l <= keys) first[l] = before + c;
    before += all;
    __syncthreads();
  }
}

} /* namespace */

/* Records of rows of one key, `slots` places apart in row_at. */
static gable_status number_rows(gi_arena *keep, gi_arena *m, size_t n, unsigned slots, const classes c, level_order *o)
{
  gable_status status = GABLE_OK;
  const unsigned keys = (unsigned)o->keys, *key = o->key, *order = o->order;
  unsigned records = 0;
  unsigned *start = nullptr, *record = nullptr, *position = nullptr, *row_at = nullptr;
  GI_TRY(take(m, o->keys + 1, &start));
  GI_TRY(take(m, o->keys + 1, &record));
  GI_TRY(take(keep, n, &position));
  GI_TRY(each(keep->stream, n + 1, [=] __device__(size_t p) {
    const unsigned here = p < n ? key[p] : keys, before = p ? key[p - 1] : NONE;
    for (unsigned l = before + 1; l <= here; l++) start[l] = (unsigned)p;
  }));
  GI_TRY(gik::dependent_launch("analysis", m->stream, count_records_kernel, 1, KEY_THREADS, 0, keys, start, c, record));
  if (c.variable) GI_TRY(fetch(m, &records, record + keys, 1));       /* no good bound is known */
  o->bound = c.variable ? records : std::min(n, n / slots + o->keys); /* a record has a row */
  GI_TRY(take(keep, o->bound * slots, &row_at));
  GI_TRY(fill(keep->stream, row_at, NONE, o->bound * slots));
  GI_TRY(each(keep->stream, n, [=] __device__(size_t p) {
    const unsigned k = order[p], first = start[key[p]], i = (unsigned)p - first, rows = c.rows(key[p]);
    const unsigned records = c.records(key[p]), at = record[key[p]] + i / rows * records;
    for (unsigned q = 0; q < records; q++) row_at[(size_t)(at + q) * slots + i % rows] = k;
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

/* Fixed parts of the records, a lane at a time. */
struct rows_writer {
  gik_device_triangle t;
  level_order o;
  const unsigned *at; /* [n] where the value of a row will be */
  classes c;
  unsigned slots;
  gik_record_layout l;
  char *record;
  gik_head *variable; /* heads of variable records; NULL: they stand in the records */

  __device__ unsigned entries(unsigned k) const { return k == NONE ? 0 : t.ptr[k + 1] - t.ptr[k]; }

  /* k: the first row; before: records of it before this one. */
  __device__ void head(size_t i, unsigned k, unsigned before) const
  {
    const unsigned p = o.position[k], left = o.start[o.key[p] + 1] - p, rows = min(left, c.rows(o.key[p]));
    unsigned gate = k, up = 0;
    for (; up < GATE_STEPS && t.ptr[gate + 1] > t.ptr[gate]; up++) gate = t.col[t.ptr[gate + 1] - 1];
    gate = up == GATE_STEPS ? o.position[gate] : NONE;
    if (variable)
      variable[i] = gik_head{p,
                             before ? 0 : rows,
                             before ? NONE : gate,
                             (unsigned char)c.lane_bits_of(entries(k)),
                             (unsigned char)c.pairs_of(entries(k)),
                             (unsigned char)before,
                             (unsigned char)(c.records_of(entries(k)) - 1 - before)};
    else
      *(uint4 *)(record + i * l.bytes) = make_uint4(p, rows, gate, 0);
  }

  __device__ void operator()(size_t i) const
  {
    if (i / 32 >= o.record[o.keys]) return;
    const unsigned *row = o.row_at + i / 32 * slots, lane = (unsigned)(i % 32);
    const unsigned bits = c.lane_bits_of(entries(row[0])), lanes = 1u << bits, part = lane % lanes,
                   k = row[lane >> bits];
    const unsigned before = c.records_of(entries(row[0])) > 1 ? records_before(row, i / 32, slots) : 0;
    const unsigned first = k == NONE ? 0 : t.ptr[k], count = entries(k);
    char *r = record + i / 32 * l.bytes;
    for (unsigned m = 0, used = variable ? c.pairs_of(entries(row[0])) : c.pairs; m < used; m++) {
      const unsigned a = before * GIK_VARIABLE_ROOM + 2 * m * lanes + part, b = a + lanes;
      ((uint2 *)(r + l.places))[m * 32 + lane] =
          make_uint2(a < count ? at[t.col[first + a]] : NONE, b < count ? at[t.col[first + b]] : NONE);
    }
    const size_t size = (l.places - l.values) / (64 * c.pairs);
    if (k == NONE) clear_lane(r + l.values, c.pairs, 32, lane, size);
    if (part) return;
    if (k == NONE) ((double *)(r + l.inverse))[lane >> bits] = 0;
    ((unsigned *)(r + l.row))[lane >> bits] = k == NONE ? NONE : t.row[k] == NONE ? t.parent[k] | PART : t.row[k];
    if (!lane) head(i / 32, k, before);
  }
};

} /* namespace */

/* Where values are taken from: their place, or, where levels are taken step by step, their row of x; of parts of rows
 * the place, marked. */
static gable_status value_places(gi_arena *scratch, const gik_device_triangle *t, const level_order *o, int by_level,
                                 const unsigned **out)
{
  gable_status status = GABLE_OK;
  const unsigned *row = t->row, *position = o->position;
  unsigned *at = nullptr;
  *out = by_level ? t->row : o->position;
  if (!by_level || !t->whole) goto done;
  GI_TRY(take(scratch, (size_t)t->n, &at));
  GI_TRY(each(scratch->stream, (size_t)t->n,
              [=] __device__(size_t k) { at[k] = row[k] == NONE ? position[k] | PART : row[k]; }));
  *out = at;
done:
  return status;
}

/* The first record of each step, out of those of each key. */
static gable_status fetch_steps(const gi_arena *m, const level_order *o, const classes c, gik_rows_cuda *out)
{
  gable_status status = GABLE_OK;
  unsigned *first = nullptr;
  if (!out->steps) goto done;
  first = (unsigned *)gi_alloc(m->ctx, (gable_off)o->keys + 1, sizeof *first);
  GI_REQUIRE(first, GABLE_ERR_MEMORY, "out of memory: %.1f MB", (double)o->keys * sizeof *first / 1e6);
  GI_TRY(fetch(m, first, o->record, o->keys + 1));
  for (int l = 0; l <= out->steps; l++) out->step[l] = first[(size_t)l * c.count];
done:
  gi_free(m->ctx, first);
  return status;
}

gable_status gi_cuda_rows(gi_arena *keep, const gik_device_triangle *t, const unsigned long long *level,
                          const gi_profile *profile, gik_rows_cuda *out, unsigned **row_at)
{
  gable_status status = GABLE_OK;
  const size_t n = (size_t)t->n;
  const unsigned slots = 32 / (unsigned)out->lanes;
  gi_arena scratch = gi_arena_of(keep->ctx);
  const classes c = classes_of(out, profile->longest);
  const gik_record_layout l = gik_record_layout_of(out);
  level_order o = {};
  const unsigned *at = nullptr;
  GI_TRY(gi_arena_reserve(&scratch, 8 * n * sizeof(unsigned) + (64 << 10)));
  GI_TRY(sort_rows(&scratch, t, level, profile->levels, c, &o));
  GI_TRY(number_rows(keep, &scratch, n, slots, c, &o));
  GI_TRY(value_places(&scratch, t, &o, out->steps, &at));
  if (out->variable) GI_TRY(take(keep, o.bound, &out->head));
  GI_TRY(gi_arena_take(keep, l.bytes * o.bound, &out->record));
  GI_TRY(each(keep->stream, o.bound * 32, rows_writer{*t, o, at, c, slots, l, (char *)out->record, out->head}));
  GI_TRY(fetch(keep, &out->n_records, o.record + o.keys, 1));
  GI_TRY(fetch_steps(keep, &o, c, out));
  out->n_published = (unsigned)n;
  out->long_rows = out->variable && !t->whole && profile->longest > GIK_VARIABLE_ROOM;
  out->parts = t->whole != nullptr;
  out->position = o.position;
  out->row = t->row;
  *row_at = o.row_at;
done:
  gi_arena_release(&scratch);
  return status;
}
