#include "base/timer.h"

#include <time.h>

static double seconds(const struct timespec *t)
{
  return (double)t->tv_sec + 1e-9 * (double)t->tv_nsec;
}

double gi_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return seconds(&t);
}

double gi_processor_seconds(void)
{
  struct timespec t;
  return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) ? gi_now() : seconds(&t);
}
