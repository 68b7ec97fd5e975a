/* bound.cu: bytes that a plan of the GPU backend keeps at most, by the sizes of the triangle alone.
 *
 * Which shape records have, how many rows share one, and into how many parts long rows are split follows from a
 * pattern that nobody has seen.  So each shape that so many entries allow is tried with one row a record, as in a
 * chain, and with the most parts; the largest counts.  plan.cu and what it calls take what is added up here. */
#include <algorithm>

#include "trisolve/cuda/state.h"

namespace gi
{

namespace
{

/* What an arena takes for arrays of these bytes; see arena.c. */
struct arrays {
  size_t bytes, lost; /* lost: ends of blocks into which the next array did not fit */

  void add(double count, size_t size)
  {
    const size_t padded = ((size_t)(count + 1) * size + 255) / 256 * 256;
    bytes += padded;
    lost += std::min(padded, (size_t)GI_ARENA_MOST);
  }
  size_t all() const
  {
    return bytes + lost + std::max((size_t)GI_ARENA_LEAST, std::min(bytes + lost, (size_t)GI_ARENA_MOST));
  }
};

/* Rows and entries of a triangle whose rows beyond a limit are split: m entries in one row are less than 2m/(limit-1)
 * parts in all rounds, by two 1.2m. */
struct split_size {
  double n, m;
  split_size(double rows, double entries, unsigned limit)
  {
    const double parts = (limit == 2 ? 1.2 : 2.0 / (limit - 1)) * entries;
    n = rows + parts;
    m = entries + parts;
  }
};

/* Bytes of a record, and of what is kept for each of its slots beside it. */
struct record_bytes {
  gable_type stored;

  double tile(int lanes, int pairs, int warps) const
  {
    const double slots = 32.0 * warps / lanes;
    return sizeof(gik_tile) + slots * (2 * sizeof(unsigned) + sizeof(uint2)) +
           gik_tiles_record_bytes(lanes, pairs, warps, stored);
  }
  double row(int lanes, int pairs, int variable) const
  {
    gik_rows_cuda p = {lanes, pairs};
    p.variable = variable;
    p.stored = stored;
    return (variable ? sizeof(gik_head) : 0) + 32.0 / lanes * (sizeof(unsigned) + sizeof(uint2)) +
           gik_record_layout_of(&p).bytes;
  }
  /* Of either method, of this shape; see rows_shape. */
  double largest(int shape) const
  {
    const unsigned limit = gi_limit_of(shape);
    const double same = row(lanes_of[shape], pairs_of[shape], 0);
    const double four = limit % 8 ? 0 : row((int)limit / 8, 4, 0);
    return std::max(std::max(same, four), tile(lanes_of[shape], pairs_of[shape], 1));
  }
};

/* Whether gi_limit_shape may say so: more than one row in 50 is longer than the limit before; of 14, half of them are
 * longer than 8. */
bool possible(int shape, double n, double m)
{
  const unsigned limit = gi_limit_of(shape);
  if (limit == 14) return 2 * m > 9 * n;
  return !shape || 50 * m > n * (gi_limit_of(limit == 16 ? shape - 2 : shape - 1) + 1);
}

/* Records of one op.  Rows are as they are, in records of any shape, or split at the limit of their shape. */
double most_record_bytes(gi_method method, double n, double m, const record_bytes &r)
{
  const double two_warps = std::max(r.tile(1, 2, 2), r.tile(2, 4, 2)); /* see choose_cuts */
  double most = (n + m / GIK_VARIABLE_ROOM + 1) * r.row(1, GIK_VARIABLE_PAIRS, 1);
  for (int shape = 0; shape < GI_SHAPES; shape++) {
    const split_size split(n, m, gi_limit_of(shape));
    most = std::max(most, n * r.largest(shape));
    if (!possible(shape, n, m)) continue;
    most = std::max(most, split.n * r.largest(shape));
    if (method == GI_ROWS) continue;
    most = std::max(most, most_tile_records(split.n, 1) * r.tile(lanes_of[shape], pairs_of[shape], 1));
    most = std::max(most, most_tile_records(split.n, 2) * two_warps);
    if (method == GI_TILES) most = std::max(most, GIK_TILE_BATCH * split.n * std::max(two_warps, r.largest(shape)));
  }
  return most;
}

void add_triangle(arrays *a, double n, double m)
{
  a->add(n + 1, sizeof(unsigned)); /* ptr, row, col, from */
  a->add(n, sizeof(unsigned));
  a->add(m, sizeof(unsigned));
  a->add(m, sizeof(unsigned));
}

/* An op with records: split at most twice, for auto and for tiles, with levels lifted or found anew. */
void add_records(arrays *a, gi_method method, double n, double m, gable_type stored)
{
  const record_bytes r = {stored};
  const split_size split(n, m, gi_limit_of(0));
  for (int times = 0; times < (method == GI_AUTO ? 2 : 1); times++) {
    add_triangle(a, split.n, split.m);
    a->add(split.n, sizeof(unsigned)); /* parent, whole */
    a->add(split.m, sizeof(unsigned));
    a->add(split.n, sizeof(unsigned long long));
    a->add(split.n, sizeof(unsigned long long));
  }
  a->add(most_record_bytes(method, n, m, r), 1);
  for (int small = 0; small < 8; small++) a->add(0, 1); /* the arrays that this is */
  a->add(split.n, sizeof(unsigned));                    /* rows: position; tiles: borders */
  a->add(split.m, sizeof(unsigned));
}

void add_seed(arrays *a, double n, double m, size_t size)
{
  add_triangle(a, n, m);
  for (int k = 0; k < 3; k++) a->add(n + 1, sizeof(unsigned)); /* order, its levels, parents */
  a->add(m + 1, size);
  a->add(n + 1, size);
}

} /* namespace */

double most_tile_records(double n, int warps)
{
  const double tiles = std::min(n, std::max(n / 8, 3072.0) + 1);
  return (n + (GIK_TILE_BATCH - 1) * tiles) / warps;
}

gable_status cuda_plan_bound(const gable_trisolve *t, gable_idx rows, gable_off nnz, gable_type value_type,
                             size_t *host, size_t *device)
{
  const double n = rows, m = (double)nnz;
  const int own = own_method(t->method);
  const size_t size = gi_type_size(value_type);
  arrays a = {};
  a.add(sizeof(gi_findings) + 2 * GI_WIDTHS * sizeof(unsigned) + 16, 1);
  for (int k = 0; k < 4; k++) a.add(n + 1, sizeof(unsigned)); /* see gi_reading: child, diagonal_from, row, count */
  a.add(n, sizeof(uint2));
  a.add(n, sizeof(unsigned long long));
  add_triangle(&a, n, m);
  *host = sizeof(state);
  for (int op = 0; op < 2; op++) {
    if (!(t->options.ops >> op & 1)) { /* traversed; counted_arrays reserves room for that */
      add_seed(&a, n, m, size);
      a.lost += (size_t)(n + m) * sizeof(double) + 8192;
      continue;
    }
    add_triangle(&a, n, m); /* of the transpose, and its levels */
    a.add(n, sizeof(unsigned long long));
    if (own)
      add_records(&a, t->method, n, m, value_type);
    else
      add_seed(&a, n, m, size);
    if (!own) *host += ((size_t)n + 1) * sizeof(unsigned); /* starts */
  }
  a.add(m + 1, size); /* values and diagonal of a matrix in host memory */
  a.add(n + 1, size);
  *device = a.all();
  return GABLE_OK;
}

} /* namespace gi */
