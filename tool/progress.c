#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 40 };

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_init(progress *p)
{
  *p = (progress){.terminal = isatty(STDERR_FILENO), .begun = now()};
}

int progress_show(progress *p, const char *phase, double done)
{
  double t = now();
  if (!p->terminal || t - p->begun < 1 || t - p->last < 0.05) return 0;
  char bar[BAR + 1];
  if (!(done >= 0)) done = 0;
  if (done > 1) done = 1;
  for (int k = 0; k < BAR; k++) bar[k] = k < (int)(done * BAR) ? '=' : ' ';
  bar[BAR] = 0;
  fprintf(stderr, "\r\033[K%-14.14s [%s] %3.0f%%  %.0f s", phase, bar, 100 * done, t - p->begun);
  fflush(stderr);
  p->shown = 1;
  p->last = t;
  return 0;
}

void progress_erase(progress *p)
{
  if (!p->shown) return;
  fprintf(stderr, "\r\033[K");
  fflush(stderr);
  p->shown = 0;
}
