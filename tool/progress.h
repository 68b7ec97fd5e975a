/* progress.h: one line on standard error, only on a terminal, only for work that has lasted a second; verbose: a line
 * for each phase that begins. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

enum { PROGRESS_PHASES = 16 };

typedef struct progress {
  int terminal, verbose, shown;
  double begun, last; /* seconds: of the first call, of the last line */
  int phases, at;     /* phases seen; which one it is in, -1: none */
  int starts;         /* times that a phase has begun */
  double done;        /* of that one */
  struct {
    char name[24];
    int times; /* that it has begun */
  } phase[PROGRESS_PHASES];
} progress;

void progress_init(progress *p, int verbose);
/* 0: go on.  A phase that begins a second time (a matrix that is analysed anew) is shown as "PHASE again". */
int progress_show(progress *p, const char *phase, double done);
/* Before other work, another file say: its phases are no repetitions. */
void progress_forget(progress *p);
void progress_erase(progress *p);

#endif
