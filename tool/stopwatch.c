/* stopwatch.c: see stopwatch.h. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "stopwatch.h"

double stopwatch_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *p, const void *q)
{
  double a = *(const double *)p, b = *(const double *)q;
  return (a > b) - (a < b);
}

quartiles stopwatch_quartiles(double *times, long count)
{
  qsort(times, (size_t)count, sizeof *times, by_value);
  return (quartiles){times[(count - 1) / 4], times[(count - 1) / 2], times[3 * (count - 1) / 4]};
}

double stopwatch_read(double bytes)
{
  enum { PASSES = 9 };
  size_t words = (size_t)(bytes / 8) + 8;
  uint64_t *buffer = malloc(words * sizeof *buffer);
  volatile uint64_t sink = 0;
  double times[PASSES];
  if (!buffer) return 0;
  for (size_t k = 0; k < words; k++) buffer[k] = k;
  for (int pass = 0; pass < PASSES; pass++) {
    double start = stopwatch_now();
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (size_t k = 0; k + 4 <= words; k += 4) {
      a += buffer[k];
      b += buffer[k + 1];
      c += buffer[k + 2];
      d += buffer[k + 3];
    }
    sink = sink + a + b + c + d;
    times[pass] = stopwatch_now() - start;
  }
  free(buffer);
  (void)sink;
  return stopwatch_quartiles(times, PASSES).median;
}
