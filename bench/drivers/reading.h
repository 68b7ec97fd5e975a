/* reading.h: the fastest way to read memory, and the tool's clock, for the drivers that measure it. */
#ifndef BENCH_READING_H
#define BENCH_READING_H

#include <stddef.h>

#include "../../tool/stopwatch.h"

enum { LANES = 64 };

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
