/* gpu_class.c: the table of gpu_class.h.  docs/algorithms/auto.md and decisions.md say how well the rows fit. */
#include "cuda/gpu_class.h"

/* The last row is the generic one. */
static const gik_gpu_class measured[] = {
    {
        .name = "H200",
        .major = 9,
        .clock_hz = 1.98e9,
        .peak_bytes_s = 4.8e12,
        .processors = 132,
        .shared = 226 << 10,

        /* Solves of 54 real triangles and grids, one right-hand side: s.  Their times of today are in
         * bench/results/matrices-methods-h200.json and laplacian-methods-h200.json. */
        .trisolve =
            {.bytes_s = 3e12,
             .rows_start = 6e-6,
             .tiles_start = 12e-6,
             .step = 0.10e-6,
             .step_entry = 5e-9,
             .side_step = 0.30e-6,
             .narrow_step = 0.12e-6, /* 17 real triangles of 10 to 29 entries a row */
             .narrow_entry = 8e-9,
             .wide_row = 0.2e-9,
             .hop = 0.40e-6,
             .hop_entry = 4e-9,
             .far_hop = 0.343e-6, /* far: 55 scattered triangles of bench/lists/gpu-matrices.txt */
             .far_entry = 2.6e-9,
             .far_log = 48.6e-9,
             .flood_rows = 5000,
             .flood = 2.2e-11,
             .crossing = 1.5e-6, /* ff_heat3d */
             .further_launch = 4.2e-6,

             /* 16 right-hand sides (docs/algorithms/multi-rhs-gpu.md) */
             .busy_row = 2e-11,
             .busy_entry = 3e-12,
             .multi_rhs_start = 15e-6,
             .multi_rhs_hop = 0.62e-6,
             .multi_rhs_row = 2.4e-11,
             .multi_rhs_entry = 0.5e-12,
             .alone_row = 2e-11,
             .multi_rhs_launch = 6e-6,
             .by_level_row = 4e-12,
             .by_level_entry = 0.9e-12,
             .beside_factor = 2.3,
             .tiles_factor = 2.0,
             .busy_factor = 0.7,
             .alone_factor = 1.15,
             .busy_bar = 2,

             /* replays of the choice on the same matrices; tiles_bar: apache2, upper (docs/algorithms/auto.md) */
             .tiles_bar = 0.95,
             .by_level_bar = 0.9,
             .quick_levels = 100, /* an analysis of tiles takes 0.3 ms or more */
             .quick_rows = 20000,
             .survey_rows = 10000,
             .hollow_rows = 64,
             .uneven_rows = 1024,
             .streamed_rows = 8192,
             .most_launches = 8,
             .counted_rows = 1 << 19,
             .cuts_shared = 226 << 10},

        /* Grids of 5, 7 and 27 points (docs/notebook/tiles-gpu.md). */
        .tiles = {.grid_rows = 240,
                  .grid_chains = 8,
                  .grid_spans = 8,
                  .busy_spans = 4,
                  .lone_chains = 32,
                  .intervals = 16,
                  .chain_levels = 32},

        /* docs/notebook/rows-gpu.md and multi-rhs-gpu.md.  A ticket takes 0.76 ns, L2 has 50 MB. */
        .rows = {.blocks = {2, 3},
                 .packed_rows = 3000,
                 .variable_rows = 5000,
                 .most_blocks = 4,
                 .uneven_blocks = 6,
                 .streamed_blocks = 8,
                 .large_entries = 3e6,
                 .large_rows = 300,
                 .ticket_warps = 4,
                 .level_warps = 24,
                 .multi_rhs_blocks = {2, 3, 5},
                 .few_pieces = 70,
                 .many_pieces = 1000,
                 .two_a_ticket = 6e3,
                 .four_a_ticket = 16e3,
                 .transposed_bytes = 30e6,
                 .transposed_levels = 16,
                 .together_numbers = 400e3,
                 .together_rows = 600,
                 .three_entries_rows = 200,
                 .four_entries_rows = 70,
                 .kept_numbers = 4e6},

        /* Every second matrix of bench/results/supernodal-auto-h200.json (one, sixteen) and supernodal-where-h200.json
         * (preparation): s.  bench/device_cost.py --write puts these three and the host's here. */
        .sweep = {.one = {.fixed = 1.3e-05, .row = 5.1e-10, .height = 2.18e-08, .entry = 8.93e-13},
                  .sixteen = {.fixed = 4.76e-05, .row = 1.57e-09, .height = 4.13e-08, .entry = 5.62e-12},
                  .preparation = {.fixed = 0.0118, .row = 2.69e-07, .root = 2.13e-07}},

        /* Least squares over twelve solves by `partitioned` in bench/results/supernodal-methods-h200.json and
         * supernodal-elasticity-h200.json, off by at most 1.16; the three others by at most 1.3 (lhr07); byte_sixteen:
         * sierra-sd in supernodal-16rhs-h200.json.
         */
        .by_level = {.launch = 1.8e-6, .byte = 4.8e-13, .byte_sixteen = 6.2e-12, .blocks = 2},

        /* docs/notebook/clusters-gpu.md */
        .merge = {.max_width = 1024, .growth = 0.25, .small = 64, .level = 200000, .factor = 8, .all_values = 1 << 25},

        /* One H200, tasks of the solve over clusters (docs/notebook/clusters-gpu.md): us; 32 GB/s of a thread block. */
        .task = {.task_us = 0.6, .byte_us = 1 / 32e3, .hop_us = 1, .least_bytes = 16384},

        /* An idle GPU between two looks costs 10 us, an iteration too many its products and solves
         * (docs/algorithms/krylov.md): rows. */
        .look = {.each = 1e6, .fourth = 1e5},

        /* One H200 that two ranks share, one way: pingpong of 34 MB takes 64 us by copies and 60 by stores, of 67 MB 97
         * both, of 268 MB 291 and 303; in a captured graph copies win from 131 kB on.  Two GPUs were not there. */
        .copy_least = 1 << 26,
    },
};

/* 16 cores of the H200's host, 14 matrices (one); an AMD EPYC, 63 matrices on one thread (sixteen), 13 on two: s. */
const gik_host_costs gik_host_costs_measured = {
    .one = {.supernode = 7.52e-09, .byte = 5.94e-11},
    .sixteen = {.supernode = 1.94e-08, .byte = 8.6e-11},
    .hosts_sixteen = {.fixed = 0.000135, .supernode = 1.26e-07, .byte = 7.22e-11},
};

enum { ROWS = sizeof measured / sizeof *measured };

static void scale(double *const *each, size_t count, double factor)
{
  for (size_t k = 0; k < count; k++) *each[k] *= factor;
}

/* Waiting takes cycles; launches are the host's and stay. */
static void scale_waits(gik_gpu_class *c, double factor)
{
  gik_trisolve_costs *t = &c->trisolve;
  double *const waits[] = {
      &t->step,         &t->step_entry, &t->side_step,     &t->narrow_step,      &t->narrow_entry,
      &t->wide_row,     &t->hop,        &t->hop_entry,     &t->far_hop,          &t->far_entry,
      &t->far_log,      &t->crossing,   &t->multi_rhs_hop, &c->sweep.one.height, &c->sweep.sixteen.height,
      &c->task.task_us, &c->task.hop_us};
  scale(waits, sizeof waits / sizeof *waits, factor);
}

/* A preparation is mostly the host's and its bus's, and stays, as does copy_least: its two rates share a memory. */
static void scale_transfers(gik_gpu_class *c, double factor)
{
  gik_trisolve_costs *t = &c->trisolve;
  double *const transfers[] = {&t->flood,
                               &t->busy_row,
                               &t->busy_entry,
                               &t->multi_rhs_row,
                               &t->multi_rhs_entry,
                               &t->alone_row,
                               &t->by_level_row,
                               &t->by_level_entry,
                               &c->sweep.one.row,
                               &c->sweep.one.entry,
                               &c->sweep.sixteen.row,
                               &c->sweep.sixteen.entry,
                               &c->by_level.byte,
                               &c->by_level.byte_sixteen};
  scale(transfers, sizeof transfers / sizeof *transfers, factor);
  t->bytes_s /= factor;
  c->look.each /= factor; /* rows that pass in the same time */
  c->look.fourth /= factor;
}

/* Rows of a level share the processors; a thread block has its processor's part of the bandwidth. */
static void scale_processors(gik_gpu_class *c, double factor)
{
  gik_trisolve_costs *t = &c->trisolve;
  double *const rows[] = {&t->flood_rows, &t->survey_rows, &t->uneven_rows, &t->streamed_rows};
  scale(rows, sizeof rows / sizeof *rows, factor);
}

gik_gpu_class gik_gpu_class_of(const gik_gpu *gpu)
{
  gik_gpu_class c = measured[ROWS - 1];
  int known = 0;
  for (int k = 0; k < ROWS && !known; k++)
    if ((known = measured[k].major == gpu->major)) c = measured[k];
  if (!known) {
    const double transfers = gpu->bytes_s > 0 ? c.peak_bytes_s / gpu->bytes_s : 1;
    const double processors = gpu->processors > 0 ? (double)gpu->processors / c.processors : 1;
    c.name = "of no measured class";
    c.major = 0;
    if (gpu->clock_hz > 0) scale_waits(&c, c.clock_hz / gpu->clock_hz);
    scale_transfers(&c, transfers);
    scale_processors(&c, processors);
    c.task.byte_us *= transfers * processors;
    c.clock_hz = gpu->clock_hz > 0 ? gpu->clock_hz : c.clock_hz;
    c.peak_bytes_s /= transfers;
  }
  c.processors = gpu->processors;
  c.shared = gpu->shared;
  return c;
}

const gik_gpu_class *gik_gpu_class_generic(void)
{
  return &measured[ROWS - 1];
}
