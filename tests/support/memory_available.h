/* memory_available.h: what tests with very long messages may take. */
#ifndef MEMORY_AVAILABLE_H
#define MEMORY_AVAILABLE_H

#include <stdio.h>

/* MemAvailable of Linux, in bytes; 0: unknown. */
static inline double memory_available(void)
{
  char line[200];
  double kb = 0;
  FILE *f = fopen("/proc/meminfo", "r");
  while (f && fgets(line, sizeof line, f) && sscanf(line, "MemAvailable: %lf kB", &kb) != 1) continue;
  if (f) fclose(f);
  return 1024 * kb;
}

#endif
