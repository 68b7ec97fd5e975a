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
  int cuts_shared;                 /* bytes of shared memory of a block for which tiles are cut */
} gik_trisolve_costs;

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
} gik_launch_costs;

/* Tasks of the solve over clusters; us, not seconds: a list schedule breaks ties by sums of these. */
typedef struct gik_task_costs {
  double task_us, byte_us; /* a task; a byte of its record and values */
  double hop_us;           /* from a store to the reader's load */
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
  gik_sweep_costs sweep;
  gik_launch_costs by_level;
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
