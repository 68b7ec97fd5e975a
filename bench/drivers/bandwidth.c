/* bandwidth.c: the read bandwidth of this machine's memory, the yardstick of the solve phase.
 *
 *   bandwidth [THREADS]   one line of JSON: bytes per second, the median and the best of 11 passes over 1 GiB, each
 * thread its own share, 64 independent sums a thread so that adding never waits. */
#include <stdio.h>
#include <stdlib.h>

#include <pthread.h>

#include "reading.h"

enum { PASSES = 11 };
static const size_t WORDS = (size_t)1 << 27;

typedef struct share {
  const double *from;
  size_t count;
  double sum;
} share;

static void *read_share(void *data)
{
  share *s = data;
  s->sum = add_up(s->from, s->count);
  return NULL;
}

int main(int argc, char **argv)
{
  int threads = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
  if (threads < 1 || threads > 256) return 2;
  double *x = malloc(WORDS * sizeof *x), took[PASSES], sum = 0;
  share part[256];
  pthread_t id[256];
  if (!x) return 1;
  for (size_t i = 0; i < WORDS; i++) x[i] = 1;
  for (int pass = 0; pass < PASSES; pass++) {
    double start = stopwatch_now();
    for (int t = 0; t < threads; t++) {
      part[t] = (share){x + WORDS / (size_t)threads * (size_t)t, WORDS / (size_t)threads, 0};
      if (t && pthread_create(&id[t], NULL, read_share, &part[t])) return 1;
    }
    read_share(&part[0]);
    for (int t = 1; t < threads; t++) pthread_join(id[t], NULL);
    took[pass] = stopwatch_now() - start;
    for (int t = 0; t < threads; t++) sum += part[t].sum;
  }
  const double median = stopwatch_quartiles(took, PASSES).median, best = took[0];
  double bytes = (double)(WORDS / (size_t)threads * (size_t)threads) * sizeof *x;
  printf("{\"threads\":%d,\"read_bytes_per_s\":%.6g,\"best_bytes_per_s\":%.6g,\"sum\":%.17g}\n", threads,
         bytes / median, bytes / best, sum);
  free(x);
  return 0;
}
