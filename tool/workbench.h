/* workbench.h: the vectors of timed solves, where the solves run: b in two versions, since b changes from solve to
 * solve, x poisoned before each, and a clock.  On the CPU the memory is the host's; on a GPU the vectors lie in its
 * memory and times are taken between two events of a stream. */
#ifndef TOOL_WORKBENCH_H
#define TOOL_WORKBENCH_H

#include <gable/gable.h>

typedef struct workbench {
  gable_context *ctx;
  void *stream;
  gable_event *begin, *end;
  gable_vectors_view b[2], x;             /* on the host */
  gable_vectors_view there_b[2], there_x; /* where solves run: on the CPU the same memory */
  size_t bytes;                           /* of each */
} workbench;

/* shape: type, n, count, ld and major of the vectors; its data is not looked at.  Fills both b. */
gable_status workbench_open(gable_context *ctx, const gable_vectors_view *shape, workbench *w);
void workbench_close(workbench *w);

/* Fills x where the solve runs with a byte (0xff: poison), then starts the clock; stops it and waits. */
gable_status workbench_start(workbench *w, int byte);
gable_status workbench_stop(workbench *w, double *seconds);

/* x of the host becomes what the solve wrote. */
gable_status workbench_fetch(workbench *w);

/* Seconds below which no solve at this place (gable_context_where) comes: reading bytes once, and one hop a level.  On
 * a GPU the rate of gpu_properties.h and an H200's hop (docs/benchmarks.md), 0 where CUDA does not answer; on the CPU
 * the bytes are read for it by one thread, whose time is divided by threads, and a hop costs nothing. */
typedef struct solve_floor {
  double bytes_s, hops_s, s; /* s: the larger of both */
} solve_floor;
solve_floor workbench_floor(const char *where, double bytes, double levels, int threads);
/* Seconds of so many operations by the FP64 tensor cores of an H200; on the CPU 0: its cores' speed is not known. */
double workbench_flops_floor(const char *where, double flops);

/* What a solve has to move at least: a triangle of nnz entries with its indices, row pointers, b and x. */
double workbench_bytes(const gable_vectors_view *x, double nnz, gable_type values);

#endif
