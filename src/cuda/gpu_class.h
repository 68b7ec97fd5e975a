/* gpu_class.h: what was measured of a class of GPUs and decides choices: times, rates and thresholds, in one table.
 *
 * gpu_class.c holds the table and says what each number was fitted to.  Seconds and bytes, unless said otherwise. */
#ifndef GIK_CUDA_GPU_CLASS_H
#define GIK_CUDA_GPU_CLASS_H

#include <stdint.h>

#include "cuda/attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element-wise triangular solves: the times by which auto predicts tiles and rows.  "entry": for each entry of a mean
 * row. */
typedef struct gik_trisolve_costs {
  double bytes_s; /* that solves reach, bytes/s */

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

  /* Factors of a time for one right-hand side: tiles that do not keep the GPU busy, of chains side by side and others;
   * tiles that do, of the time of their accesses; rows that are solved one right-hand side after the other. */
  double beside_factor, tiles_factor, busy_factor, alone_factor;
  double busy_bar;     /* tiles keep the GPU busy: accesses take so many times the time for one right-hand side */
  double tiles_bar;    /* tiles are taken below this part of the time of rows */
  double by_level_bar; /* and launches level by level */

  /* Thresholds. */
  double quick_levels, quick_rows; /* a triangle of fewer of both is solved before tiles are analysed */
  double survey_rows;              /* a level, in the mean, from which launches level by level are considered early */
  double hollow_rows, uneven_rows; /* a level: records of varied length where most, or a quarter, would be holes */
  double streamed_rows;            /* a level: bytes count more than latency */
  int most_launches;               /* of rows level by level */
  int counted_rows;                /* a reading of at most so many counts them by tiles */
  int cuts_shared;                 /* bytes of shared memory of a block for which tiles are cut */
} gik_trisolve_costs;

/* How tiles are cut.  A tile is an interval of chain levels and one of index. */
typedef struct gik_tile_cuts {
  int grid_rows;    /* rows of a level, in the mean, from which chains side by side are cut as a grid's: */
  int grid_chains;  /* chain levels of such a tile; its index is a multiple of the distance of two chains: */
  int grid_spans;   /* so many times that, */
  int busy_spans;   /* or so many, of long rows and where tiles keep the GPU busy */
  int lone_chains;  /* chain levels of a tile where few chains are side by side */
  int intervals;    /* elsewhere: intervals of index */
  int chain_levels; /* and intervals of chain levels */
} gik_tile_cuts;

/* Launches of method rows.  Blocks are those of a multiprocessor; rows and pieces those of a level, in the mean. */
typedef struct gik_rows_launches {
  int blocks[2];        /* at least: with one right-hand side, with several one after the other */
  double packed_rows;   /* so many more rows are one more block, where records are all alike, */
  double variable_rows; /* or variable */
  int most_blocks;      /* at most, */
  int uneven_blocks;    /* or of variable records from uneven_rows of gik_trisolve_costs on, */
  int streamed_blocks;  /* or from streamed_rows on */
  double large_entries; /* of records that L2 does not keep: they get most_blocks */
  double large_rows;    /* from so many rows on */
  int ticket_warps;     /* a multiprocessor's, that a level is spread over before tickets are of several records */
  int level_warps;      /* a multiprocessor's, that are enough where rows are solved level by level */

  /* Several right-hand sides at a time; a piece: some rows of a record for some of them. */
  int multi_rhs_blocks[3];   /* of fewer than few_pieces, of more, of many_pieces */
  double few_pieces;         /* see multi_rhs_blocks */
  double many_pieces;        /* see multi_rhs_blocks */
  double two_a_ticket;       /* pieces from which a ticket is of two */
  double four_a_ticket;      /* and of four */
  double transposed_bytes;   /* of a vector from which on vectors are transposed before and after, where there are */
  double transposed_levels;  /* so many levels */
  double together_numbers;   /* of b, from which two or three right-hand sides are solved together */
  double together_rows;      /* from which right-hand sides are solved together */
  double three_entries_rows; /* the same of rows of three entries and more: four of eight */
  double four_entries_rows;  /* and of rows of four and more: four */
  double kept_numbers;       /* of b, that L2 keeps: the last two for fewer alone */
} gik_rows_launches;

/* seconds = fixed + row * rows + supernode * supernodes + height * height + entry * entries + root * sqrt(flops)
 *           + byte * bytes / sqrt(threads) */
typedef struct gik_sweep_cost {
  double fixed, row, supernode, height, entry, root, byte;
} gik_sweep_cost;

/* Sweeps over a factor: one right-hand side, 16 of them, and what comes before the first: merging, inverses, upload. */
typedef struct gik_sweep_costs {
  gik_sweep_cost one, sixteen, preparation;
} gik_sweep_costs;

/* Solves level by level: each launch, each byte that they read with one right-hand side and with 16. */
typedef struct gik_launch_costs {
  double launch, byte, byte_sixteen;
  int blocks; /* thread blocks a multiprocessor: levels with fewer are cut finer */
} gik_launch_costs;

/* Which supernodes become a cluster; values: of the dense operators (supernodal/clusters/cluster_merge.h). */
typedef struct gik_merge_limits {
  int max_width;             /* columns */
  double growth;             /* a merge may multiply the values of its parts by 1 + growth, and */
  int64_t small;             /* add so many, */
  int64_t level;             /* or so many over the number of supernodes of equal height */
  double factor, all_values; /* all operators: so many times the values of the supernodes, and so many more */
} gik_merge_limits;

/* Tasks of the solve over clusters; us, not seconds: a list schedule breaks ties by sums of these. */
typedef struct gik_task_costs {
  double task_us, byte_us; /* a task; a byte of its record and values */
  double hop_us;           /* from a store to the reader's load */
  int least_bytes;         /* of the values of a task, where a level has so many */
} gik_task_costs;

/* Loops that the host ends: vectors of so many rows from which it looks after each iteration, or after every fourth
 * and not every eighth. */
typedef struct gik_look_rows {
  double each, fourth;
} gik_look_rows;

typedef struct gik_gpu_class {
  const char *name;
  int major;              /* compute capability; 0: of no class in particular */
  double clock_hz;        /* of the GPU that the row was measured on, as its attributes are here and below */
  double peak_bytes_s;    /* bandwidth of memory, bytes/s */
  int processors, shared; /* multiprocessors; bytes of shared memory of a block */
  gik_trisolve_costs trisolve;
  gik_tile_cuts tiles;
  gik_rows_launches rows;
  gik_sweep_costs sweep;
  gik_launch_costs by_level;
  gik_merge_limits merge;
  gik_task_costs task;
  gik_look_rows look;
  int64_t copy_least; /* bytes of a message of an exchange from which the copy engine beats stores by kernels */
} gik_gpu_class;

/* The CPU, beside which a GPU's sweeps are predicted: hosts_sixteen is of several threads. */
typedef struct gik_host_costs {
  gik_sweep_cost one, sixteen, hosts_sixteen;
} gik_host_costs;

extern const gik_host_costs gik_host_costs_measured;

/* The row of gpu's class, with its processors and shared memory.  Of no class: the generic row, of which waits are
 * scaled by the clock, transfers by the bandwidth and rows a level by the number of processors. */
gik_gpu_class gik_gpu_class_of(const gik_gpu *gpu);

/* The generic row as measured, which serves CPU and mirror. */
const gik_gpu_class *gik_gpu_class_generic(void);

#ifdef __cplusplus
}
#endif

#endif
