/* classes.cuh: how the rows of a level are dealt to records: all alike; variable: sorted by the lanes that they need,
 * fewest that keep them within GIK_VARIABLE_PAIRS a lane, and by the pairs that they then use, or, beyond
 * GIK_VARIABLE_ROOM entries, by the records.  Within a level the class of long rows comes first. */
#ifndef GI_TRISOLVE_CUDA_CLASSES_CUH
#define GI_TRISOLVE_CUDA_CLASSES_CUH

#include "trisolve/cuda/passes.cuh"

namespace gi
{

struct classes {
  enum { MOST_BITS = 5 };           /* of 32 lanes */
  unsigned lane_bits, pairs, count; /* count: of a level */
  bool variable;

  __host__ __device__ unsigned lane_bits_of(unsigned entries) const
  {
    unsigned b = variable ? 0 : lane_bits;
    while (variable && entries > 2 * pairs << b && b < MOST_BITS) b++;
    return b;
  }
  /* Of one row. */
  __host__ __device__ unsigned records_of(unsigned entries) const
  {
    return variable && entries > GIK_VARIABLE_ROOM ? (entries + GIK_VARIABLE_ROOM - 1) / GIK_VARIABLE_ROOM : 1;
  }
  __host__ __device__ unsigned pairs_of(unsigned entries) const
  {
    const unsigned b = lane_bits_of(entries);
    return records_of(entries) > 1 ? pairs : (entries + (2u << b) - 1) >> (b + 1);
  }
  /* Of a variable row, by length, without gaps: pairs in use (rows of several lanes use more than half), then records.
   */
  __host__ __device__ unsigned rank(unsigned entries) const
  {
    const unsigned b = lane_bits_of(entries), half = pairs / 2;
    return pairs_of(entries) + b * half + records_of(entries) - 1;
  }
  __device__ unsigned key(unsigned level, unsigned entries) const
  {
    return !variable ? level : level * count + (count - 1 - rank(entries));
  }
  /* Rows of a record of this key, whose lanes follow from the rank. */
  __device__ unsigned rows(unsigned key) const
  {
    const unsigned r = count - 1 - key % count, half = pairs / 2, b = r > pairs ? (r - pairs + half - 1) / half : 0;
    return 32 >> (variable ? min(b, (unsigned)MOST_BITS) : lane_bits);
  }
  /* Records of a row of this key. */
  __device__ unsigned records(unsigned key) const
  {
    const unsigned r = count - 1 - key % count, full = pairs + MOST_BITS * (pairs / 2); /* ranks of one record */
    return variable && r > full ? r - full + 1 : 1;
  }
};

/* longest: entries of the longest row. */
inline classes classes_of(const gik_rows_cuda *p, unsigned longest)
{
  const unsigned most = GIK_VARIABLE_LONGEST; /* longer rows were split */
  classes c = {(unsigned)bits_of((u64)p->lanes) - 1, (unsigned)p->pairs, 1, p->variable != 0};
  if (p->variable) c.count = c.rank(longest < most ? longest : most) + 1;
  return c;
}

/* A gate is so many last entries up. */
enum { GATE_STEPS = 3 };

/* Records of the same row before the one whose rows are row[0 ... slots-1], the at'th of all. */
__device__ __forceinline__ unsigned records_before(const unsigned *row, size_t at, unsigned slots)
{
  unsigned before = 0;
  while (before < at && *(row - (before + 1) * (size_t)slots) == *row) before++;
  return before;
}

} /* namespace gi */

#endif
