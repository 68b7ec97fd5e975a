/* pin.c: see pin.h. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "pin.h"

#include <errno.h>
#include <sched.h>

void pin_list(int *cpu, int *n)
{
  cpu_set_t set;
  *n = 0;
  if (sched_getaffinity(0, sizeof set, &set)) return;
  for (size_t k = 0; k < PIN_CPUS; k++)
    if (CPU_ISSET(k, &set)) cpu[(*n)++] = (int)k;
}

int pin_thread(int cpu)
{
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) ? errno : 0;
}
