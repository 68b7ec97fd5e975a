/* progress.h: one line on standard error, only on a terminal, only for work that has lasted a second. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

typedef struct progress {
  int terminal, shown;
  double begun, last; /* seconds: of the first call, of the last line */
} progress;

void progress_init(progress *p);
int progress_show(progress *p, const char *phase, double done); /* 0: go on */
void progress_erase(progress *p);

#endif
