/* border.cuh: which values the tiles of a schedule need of one another. */
#ifndef GI_TRISOLVE_CUDA_BORDER_CUH
#define GI_TRISOLVE_CUDA_BORDER_CUH

#include "trisolve/cuda/order.cuh"

namespace gi
{

/* An entry inside its tile whose result is still in the window, by rows. */
struct place_of_rows {
  const u64 *at; /* [n] tile << 32 | record */
  unsigned window;
  __device__ bool local(u64 row, unsigned column) const
  {
    const u64 c = at[column];
    return row >> 32 == c >> 32 && (unsigned)row - (unsigned)c < window;
  }
};

/* The border of every tile: which published values it needs, once each, in the order of their levels. */
struct border {
  place_of_rows rows;
  unsigned *list;   /* [n_borders] published places */
  unsigned *number; /* [nnz] of an entry that is not local: its place in list */
  unsigned *first;  /* [tiles+1] into list */
  unsigned *total;  /* how many, on the device */
  unsigned published;
  unsigned *flag, *rank; /* [n+1] by place: 1 where others need the row, and its published place then */
};

/* b.list is kept, the rest is scratch. */
gable_status find_border(gi_arena *keep, gi_arena *m, const gik_device_triangle *t, const schedule *s, const u64 *level,
                         unsigned tiles, int levels, unsigned window, border *b);

} /* namespace gi */

#endif
