/* cuda_border.cuh: which values the tiles of a schedule need of one another. */
#ifndef GI_TRISOLVE_CUDA_BORDER_CUH
#define GI_TRISOLVE_CUDA_BORDER_CUH

#include "trisolve/cuda_order.cuh"

namespace gi
{

/* An entry inside its tile whose result is still in the window. */
struct locality {
  const unsigned *position, *tile, *record;
  unsigned window;
  __device__ bool operator()(unsigned row_place, unsigned column_place) const
  {
    return tile[row_place] == tile[column_place] && record[row_place] - record[column_place] < window;
  }
};

/* The border of every tile: which published values it needs, once each, in the order of their levels.
 * number[q]: for the entry q that is not local, its place within its tile's border. */
struct border {
  unsigned *list, *number; /* [n_borders] published places; [nnz] */
  unsigned *first;         /* [tiles+1] */
  unsigned count, published;
  unsigned *rank; /* [n] by place: published place, NONE */
};

/* b.list is kept, the rest is scratch. */
gable_status find_border(gi_device_memory *keep, gi_device_memory *m, const gik_device_triangle *t, const schedule *s,
                         unsigned tiles, int levels, unsigned window, border *b);

} /* namespace gi */

#endif
