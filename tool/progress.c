#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "stopwatch.h"

enum { BAR = 40, PHASE_WIDTH = 14 };

void progress_init(progress *p, int verbose)
{
  *p = (progress){.terminal = isatty(STDERR_FILENO), .verbose = verbose, .begun = stopwatch_now(), .at = -1};
}

void progress_forget(progress *p)
{
  p->phases = 0;
  p->at = -1;
}

/* How often the phase has begun: it begins where another one was, or where it is back at 0. */
static int times_begun(progress *p, const char *phase, double done)
{
  const size_t most = sizeof p->phase[0].name - 1;
  int k = 0;
  while (k < p->phases && strncmp(p->phase[k].name, phase, most)) k++;
  if (k == PROGRESS_PHASES) return 1;
  if (k == p->phases) {
    snprintf(p->phase[k].name, most + 1, "%s", phase);
    p->phase[k].times = 0;
    p->phases++;
  }
  if (k != p->at || (done <= 0 && p->done > 0)) {
    p->phase[k].times++;
    p->starts++;
  }
  p->at = k;
  p->done = done;
  return p->phase[k].times;
}

int progress_show(progress *p, const char *phase, double done)
{
  if (!p->terminal && !p->verbose) return 0;
  const double t = stopwatch_now();
  const int starts = p->starts, again = times_begun(p, phase, done) > 1;
  if (p->verbose) {
    if (p->starts > starts) fprintf(stderr, "gable: %.6f s: %s%s\n", t - p->begun, phase, again ? " again" : "");
    return 0;
  }
  if (t - p->begun < 1 || t - p->last < 0.05) return 0;
  char name[PHASE_WIDTH + 1], bar[BAR + 1];
  if (!(done >= 0)) done = 0;
  if (done > 1) done = 1;
  for (int k = 0; k < BAR; k++) bar[k] = k < (int)(done * BAR) ? '=' : ' ';
  bar[BAR] = 0;
  snprintf(name, sizeof name, "%.*s%s", again ? PHASE_WIDTH - 6 : PHASE_WIDTH, phase, again ? " again" : "");
  fprintf(stderr, "\r\033[K%-*s [%s] %3.0f%%  %.0f s", PHASE_WIDTH, name, bar, 100 * done, t - p->begun);
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
