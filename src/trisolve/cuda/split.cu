/* split.cu: long rows become rows over parts, each part a row of its own. */
#include "cuda/device_wait.cuh"
#include "trisolve/cuda/passes.cuh"

using gik::NONE;
using namespace gi;

/* Levels that make room for a level of parts below them: [levels+1] how many there are before each. */
static gable_status levels_with_parts(gi_arena *scratch, size_t n, const unsigned *parts, const u64 *level,
                                      size_t levels, unsigned **out)
{
  gable_status status = GABLE_OK;
  unsigned *wider = nullptr;
  GI_TRY(take(scratch, levels + 1, &wider));
  GI_TRY(fill(scratch->stream, wider, 0, levels + 1));
  GI_TRY(each(scratch->stream, n, [=] __device__(size_t k) {
    if (parts[k + 1] > parts[k]) wider[level[k] >> 32] = 1;
  }));
  GI_TRY(offsets(scratch, wider, wider, levels));
  *out = wider;
done:
  return status;
}

/* The levels of o's rows from those of the whole ones: parts are one below their row, of its chain level. */
static gable_status spread_levels(gi_arena *m, size_t n, unsigned added, const unsigned *parts, const unsigned *wider,
                                  gi_split_levels *l)
{
  gable_status status = GABLE_OK;
  const u64 *from = l->level;
  u64 *to = nullptr;
  GI_TRY(take(m, n + added, &to));
  GI_TRY(each(m->stream, n, [=] __device__(size_t k) {
    const u64 v = from[k], here = v >> 32, chain = (unsigned)v;
    const unsigned last = parts[k + 1];
    for (unsigned q = parts[k]; q < last; q++) to[k + q] = (here + wider[here]) << 32 | chain;
    to[k + last] = (here + wider[here + 1]) << 32 | chain;
  }));
  l->level = to;
done:
  return status;
}

/* One round: every row longer than limit becomes parts of at most limit entries and a row over the parts.
 *
 *   1  parts of each row, and where they begin; with levels, how many levels that adds
 *   2  lengths, rows and parents of parts and of rows over them
 *   3  a row over parts has them as its entries
 *   4  all other entries move to where their part or row has them; columns are renumbered */
static gable_status split_round(gi_arena *m, gik_device_triangle *t, unsigned limit, gi_split_levels *l)
{
  gable_status status = GABLE_OK;
  const unsigned n = (unsigned)t->n;
  const gik_device_triangle s = *t;
  gi_arena scratch = gi_arena_of(m->ctx);
  gik_device_triangle o = {};
  unsigned *parts = nullptr, *length = nullptr, *wider = nullptr, added = 0, got[2] = {0, 0};
  GI_TRY(take(&scratch, (size_t)n + 1, &parts)); /* 1 */
  GI_TRY(each(m->stream, (size_t)n + 1, [=] __device__(size_t k) {
    const unsigned c = k < n ? s.ptr[k + 1] - s.ptr[k] : 0;
    parts[k] = c > limit ? (c + limit - 1) / limit : 0;
  }));
  GI_TRY(offsets(&scratch, parts, parts, n));
  if (l) GI_TRY(levels_with_parts(&scratch, n, parts, l->level, (size_t)l->levels, &wider));
  GI_TRY(fetch_both(m, got, parts + n, wider ? wider + l->levels : parts + n));
  added = got[0];
  if (l) GI_TRY(spread_levels(m, n, added, parts, wider, l));
  if (l) l->levels += (int)got[1];
  GI_TRY(gi_cuda_triangle_arrays(m, (int)(n + added), s.nnz + added, &o));
  GI_TRY(take(m, (size_t)n + added, &o.parent));
  GI_TRY(take(m, (size_t)s.nnz + added, &o.whole));
  length = o.ptr; /* 2 */
  GI_TRY(each(m->stream, n, [=] __device__(size_t k) {
    const unsigned c = s.ptr[k + 1] - s.ptr[k], own = parts[k + 1] - parts[k], at = (unsigned)k + parts[k];
    for (unsigned q = 0; q < own; q++) {
      length[at + q] = min(limit, c - q * limit);
      o.row[at + q] = NONE;
      o.parent[at + q] = s.parent[k];
    }
    length[at + own] = own ? own : c;
    o.row[at + own] = s.row[k];
    o.parent[at + own] = s.parent[k];
  }));
  GI_TRY(offsets(&scratch, o.ptr, o.ptr, (size_t)n + added)); /* 3 */
  GI_TRY(each(m->stream, n, [=] __device__(size_t k) {
    const unsigned own = parts[k + 1] - parts[k], at = (unsigned)k + parts[k];
    for (unsigned r = 0, q = own ? o.ptr[at + own] : 0; r < own; r++, q++) {
      o.col[q] = at + r;
      o.from[q] = NONE;
    }
  }));
  /* 4 */
  GI_TRY(each_entry(m->stream, n, s.ptr, [=] __device__(size_t k, unsigned p) {
    const unsigned q = o.ptr[k + parts[k]] + (p - s.ptr[k]), c = s.col[p];
    o.col[q] = c + parts[c + 1];
    o.from[q] = s.from[p];
    o.whole[q] = s.whole ? s.whole[p] : p;
  }));
  *t = o;
done:
  gi_arena_release(&scratch);
  return status;
}

gable_status gi_cuda_split(gi_arena *m, gi_arena *scratch, gik_device_triangle *t, unsigned longest, unsigned limit,
                           gi_split_levels *levels)
{
  gable_status status = GABLE_OK;
  while (longest > limit) {
    longest = (longest + limit - 1) / limit;
    GI_TRY(split_round(longest > limit ? scratch : m, t, limit, levels));
  }
done:
  return status;
}
