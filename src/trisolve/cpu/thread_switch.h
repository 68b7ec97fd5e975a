/* thread_switch.h: which of two ways solves go: alone, or with a team of threads.
 *
 * How long a cache line takes from one processor to another is not the same from minute to minute (the processors of a
 * virtual machine move about), and a thread may wait milliseconds for one that does not run.  So each way is tried, and
 * the faster one is taken until the other is tried again: more seldom the slower it was and the more often that has
 * been found, but soon when this one has become slow.  Each way has its own copy of the matrix, which pushes the
 * other's out of the caches: so a trial's first solves do not count. */
#ifndef GI_THREAD_SWITCH_H
#define GI_THREAD_SWITCH_H

enum { GI_ALONE, GI_TEAM, GI_TIMES_KEPT = 5 };

typedef struct gi_thread_switch {
  int way, trial;             /* the way now, and whether it is only tried */
  int left;                   /* solves until the other way is tried */
  int agreed;                 /* trials in a row that the way now has won */
  double last[GI_TIMES_KEPT]; /* seconds of the last solves this way */
  double seconds[2];          /* their median when each way was last left; 0: never yet */
} gi_thread_switch;

void gi_thread_switch_begin(gi_thread_switch *t);

/* A solve went t->way and took so long; t->way is then the next one's. */
void gi_thread_switch_learn(gi_thread_switch *t, double seconds);

#endif
