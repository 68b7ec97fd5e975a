/* cuda_classes.cuh: how the rows of a level are dealt to records: all alike; sorted by the pairs of entries a lane that
 * they use; mixed: sorted by the lanes that they need, fewest that keep them within GIK_MIXED_PAIRS a lane, and by the
 * pairs that they then use.  Within a level the class of long rows comes first. */
#ifndef GI_TRISOLVE_CUDA_CLASSES_CUH
#define GI_TRISOLVE_CUDA_CLASSES_CUH

#include "trisolve/cuda_passes.cuh"

namespace gi
{

struct classes {
  unsigned lane_bits, pairs, count; /* count: of a level */
  bool mixed;

  __host__ __device__ unsigned lanes_of(unsigned entries) const
  {
    unsigned b = mixed ? 0 : lane_bits;
    while (mixed && entries > 2 * pairs << b) b++;
    return b;
  }
  __host__ __device__ unsigned pairs_of(unsigned entries) const
  {
    const unsigned b = lanes_of(entries);
    return (entries + (2u << b) - 1) >> (b + 1);
  }
  /* By length: pairs in use; mixed rows of several lanes use more than half of them. */
  __host__ __device__ unsigned rank(unsigned entries) const
  {
    const unsigned b = lanes_of(entries), half = pairs / 2;
    return pairs_of(entries) + (mixed ? b * half : 0);
  }
  __device__ unsigned key(unsigned level, unsigned entries) const
  {
    return count == 1 ? level : level * count + (count - 1 - rank(entries));
  }
  /* Rows of a record of this key. */
  __device__ unsigned rows(unsigned key) const
  {
    const unsigned r = count - 1 - key % count, half = pairs / 2;
    return 32 >> (!mixed ? lane_bits : r > pairs ? (r - pairs + half - 1) / half : 0);
  }
};

/* longest: entries of the longest row. */
inline classes classes_of(const gik_packed *p, unsigned longest)
{
  const unsigned most = 64u * GIK_MIXED_PAIRS; /* of 32 lanes; longer rows were split */
  classes c = {(unsigned)bits_of((u64)p->lanes) - 1, (unsigned)p->pairs, 1, p->mixed != 0};
  if (p->mixed || p->classed)
    c.count = c.rank(p->mixed ? (longest < most ? longest : most) : 2u * c.pairs << c.lane_bits) + 1;
  return c;
}

} /* namespace gi */

#endif
