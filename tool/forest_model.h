/* forest_model.h: what an exchange takes at least, and what the model of the star forest's literature says. */
#ifndef TOOL_FOREST_MODEL_H
#define TOOL_FOREST_MODEL_H

#include "forest_bench.h"

/* Seconds of the places that the ranks are on.  On a CPU loops are timed in the same run; of a GPU they are measured
 * constants of its class. */
typedef struct forest_times {
  int on_gpu;
  double launch_s, node_s; /* from one launch to the next: of the host, and inside a graph */
  double hop_s;            /* a flag from rank 0 to rank 1 */
  double memory_bytes_s;   /* read and written, of one rank: of all that share the GPU, its part */
  double link_bytes_s;     /* between the GPUs of ranks 0 and 1; 0: they share one */
} forest_times;

/* Collective. */
gable_status forest_times_open(gable_comm *comm, forest_times *out);

/* The least time of one way with so many bytes: one copy of them by one rank, or for halo of the n x n cells that stay.
 * On a GPU also what this rank's launches take the host, or two nodes of a graph and a hop. */
double forest_floor(const forest_times *t, const char *test, const forest_row *row, int captured);

/* The least time to move so many bytes from one array to another of the same rank: on a GPU of moved bytes, read and
 * written with the indices, at the rate of its memory; else of a loop that copies or sums. */
double forest_move_floor(const forest_times *t, double bytes, double moved, int sums);

/* T = T(pack) + max(l, T(local edges)) + T(unpack).  Pack and unpack of one run of an array are part of l.  The halo is
 * the mean of its bcast, which replaces, and its reduce, which sums; its messages are two edges of the block, and its
 * local edges the block. */
double forest_model(const forest_times *t, const char *test, const forest_row *row, const forest_message_time *l);

/* A product of one rank, or with cg an iteration. */
typedef struct forest_work {
  int cg, captured, ranks;
  double n, inner, nnz, ghosts; /* of this rank; inner: rows without ghosts */
  double local_s;               /* measured: the product's sums alone */
} forest_work;

/* The least time: its launches, and its memory traffic once. */
double forest_work_floor(const forest_times *t, const forest_work *w);

/* T = max(l, T(inner rows)) + T(outer rows); of cg also two sums over ranks, the vectors at the rate of the rows, and
 * on a GPU the launches of its nine other steps. */
double forest_work_model(const forest_times *t, const forest_work *w, const forest_message_time *l);

#endif
