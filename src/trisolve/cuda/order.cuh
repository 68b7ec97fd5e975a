/* order.cuh: the order in which a method stores its rows, and how rows are dealt to tiles and records. */
#ifndef GI_TRISOLVE_CUDA_ORDER_CUH
#define GI_TRISOLVE_CUDA_ORDER_CUH

#include "cuda/small_scan.cuh"
#include "trisolve/cuda/passes.cuh"

namespace gi
{

using gik::small_scan;
using gik::SMALL_THREADS;

enum { SMALL_ROWS = 1 << 15, SMALL_ENTRIES = 1 << 13 }; /* up to which one block does it all */

/* A schedule while it is built.  Places are the rows sorted by a key (tile key, level) of type K, unsigned where its
 * bits suffice or u64; records are numbered tile by tile. */
struct schedule {
  unsigned *order, *position; /* [n] */
  unsigned *tile;             /* [n] by place */
  unsigned *record;           /* [n] by place */
  unsigned *slot;             /* [n] by place: row within its record */
};

gable_status schedule_arrays(gi_arena *m, size_t n, schedule *s);

/* Rows sorted by key, in index order where keys are equal; position[row] is a row's place. */
template <typename K>
gable_status place_rows(gi_arena *m, size_t n, K **key, int bits, unsigned **order, unsigned **position);

/* Numbers the tiles (runs of equal key >> level_bits) in s->tile, *tiles of them, and deals their rows to *records
 * records of at most rows rows of one key; a tile's records are padded to a multiple of batch.  first: [tiles+1]. */
template <typename K>
gable_status deal_rows(gi_arena *m, size_t n, const K *key, int level_bits, const schedule *s, unsigned rows,
                       unsigned batch, unsigned *tiles, unsigned **first, unsigned *records);

} /* namespace gi */

#endif
