/* reading.h: the clock and the fastest way to read memory, for the drivers that measure it. */
#ifndef BENCH_READING_H
#define BENCH_READING_H

#include <stddef.h>
#include <time.h>

enum { LANES = 64 };

/* Seconds from some moment on. */
static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* For qsort of doubles, the least first. */
static int by_value(const void *p, const void *q)
{
  double a = *(const double *)p, b = *(const double *)q;
  return (a > b) - (a < b);
}

/* The sum of x, as fast as it can be read. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#endif
static double
add_up(const double *x, size_t count)
{
  double lane[LANES] = {0}, sum = 0;
  for (size_t i = 0; i + LANES <= count; i += LANES)
    for (int k = 0; k < LANES; k++) lane[k] += x[i + (size_t)k];
  for (int k = 0; k < LANES; k++) sum += lane[k];
  return sum;
}

#endif
