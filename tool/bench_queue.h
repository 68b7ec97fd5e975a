/* bench_queue.h: the matrices of a benchmark one after another, the next ones made ready by threads beside. */
#ifndef TOOL_BENCH_QUEUE_H
#define TOOL_BENCH_QUEUE_H

#include "bench.h"

typedef struct bench_job bench_job;

typedef struct bench_queue {
  bench_source *sources; /* [count] */
  size_t count, room, next;
  bench_job *jobs; /* [ahead + 1], a ring: source k in jobs[k % (ahead + 1)] */
  int ahead;
  bench_reading how;
} bench_queue;

/* ahead: how many matrices are made ready while one is measured; 0 where that would disturb.  An exit status. */
int bench_queue_open(const bench_request *q, int ahead, bench_queue *queue);

/* The name of the next one, NULL: no more. */
const char *bench_queue_name(const bench_queue *queue);

/* Takes the next one: m is the caller's then, or a status with the reason in why. */
gable_status bench_queue_take(bench_queue *queue, bench_matrix *m, char *why, size_t why_bytes);

/* Waits for nobody: what is not ready is left to the end of the process. */
void bench_queue_close(bench_queue *queue);

#endif
