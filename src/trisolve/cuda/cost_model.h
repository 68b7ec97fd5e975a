/* cost_model.h: the times from which auto predicts tiles and rows, one row of a table for each class of GPUs. */
#ifndef GI_TRISOLVE_CUDA_COST_MODEL_H
#define GI_TRISOLVE_CUDA_COST_MODEL_H

#include "cuda/attributes.h"

namespace gi
{

/* Seconds, unless said otherwise.  "entry": for each entry of a mean row. */
struct cost_model {
  const char *gpu;
  int major;                            /* compute capability; 0: of no class in particular */
  double clock_hz, bytes_s, processors; /* of the GPU that it was measured on; bytes_s: what solves reach, bytes/s */

  /* One right-hand side. */
  double rows_start, tiles_start;     /* before the first and after the last level */
  double step, step_entry;            /* a level of tiles: chains of one chain level share a tile */
  double side_step;                   /* chains side by side in a third dimension */
  double narrow_step, narrow_entry;   /* narrow levels, a warp's own */
  double wide_row;                    /* wide levels of few chains: for each row and lane */
  double hop, hop_entry;              /* a level of rows */
  double far_hop, far_entry, far_log; /* where rows lie far apart; far_log: log2(1 + entries a level / 100) */
  double flood_rows, flood;           /* from so many rows a level on, each of them */
  double crossing;                    /* between the tiles of two processors */
  double further_launch;              /* rows level by level: each launch but the first */

  /* Several right-hand sides; rows and entries once for each. */
  double busy_row, busy_entry; /* tiles that keep the whole GPU busy */
  double multi_rhs_start, multi_rhs_hop, multi_rhs_row, multi_rhs_entry,
      alone_row;                                         /* rows: side by side; alone: one after the other */
  double multi_rhs_launch, by_level_row, by_level_entry; /* rows level by level */
};

/* The row of gpu's class; of no class: the last row's waits scaled by the clock, its transfers by the bandwidth. */
cost_model cost_model_of(const gik_gpu *gpu);

} /* namespace gi */

#endif
