/* forest_bench.h: the tests of the star forest's literature, timed on any comm. */
#ifndef TOOL_FOREST_BENCH_H
#define TOOL_FOREST_BENCH_H

#include <gable/gable.h>

typedef struct forest_row {
  int plans;
  gable_off n, bytes;           /* items of a message, and their bytes */
  double one_way_s, q1_s, q3_s; /* median and quartiles over batches */
  double gbytes_s;
  double model_s;               /* forest_model; 0: there is one rank */
  double floor_s;               /* forest_floor */
  double setup_s;               /* the forest, its plans and exchanges, and the first exchange in both directions */
  int messages;                 /* of this rank in one exchange, of all plans */
  double puts, launches, syncs; /* of this rank and all plans, in the mean of one way: gable_exchange_info */
  char codec[16];
  double checksum; /* sum of all ranks' leaves after the first exchange */
  int checked;     /* which was right */
} forest_row;

enum { FOREST_ROWS = 40, FOREST_PLANS = 64, FOREST_LEAST_HALO = 8 * 4 * 4 /* bytes of a block */ };

typedef struct forest_bench_options {
  gable_off most; /* bytes */
  gable_path path;
  int captured;
  int plans;   /* so many exchanges each way, in flight at once, 1 <= plans <= FOREST_PLANS */
  int apart;   /* 1: several begin and end one by one; 0: together */
  int atomics; /* the reduce by atomic operations: of unpack, scatter and halo in device memory */
  int model_a; /* the GPU is synchronised before each begin, the stream after each end: nobody knows the streams */
} forest_bench_options;

/* Collective.  test: "pingpong", "newpingpong", "unpack", "scatter" (ranks 0 and 1, 8 bytes to o->most), "halo" (a
 * periodic grid of n x n cells a rank, n = 4 to most^(1/2)/8).  Rows are rank 0's. */
gable_status forest_bench(gable_comm *comm, const char *test, const forest_bench_options *o, forest_row *rows,
                          int *count);

/* A message between ranks 0 and 1: l = alpha + beta*bytes. */
typedef struct forest_message_time {
  double alpha, beta;
} forest_message_time;

/* Collective, two ranks or more.  By the shortest and the longest pingpong up to o->most. */
gable_status forest_bench_messages(gable_comm *comm, const forest_bench_options *o, forest_message_time *l);

/* Collective.  The forest of "halo" with n x n cells a rank. */
gable_status forest_bench_grid(gable_comm *comm, gable_off n, gable_forest **out);

#endif
