/* thread_switch.c: medians of a few solves each way. */
#include "trisolve/cpu/thread_switch.h"

enum { TRIAL = GI_TIMES_KEPT + 4, SHORTEST_PAUSE = 64, LONGEST_PAUSE = 4096 };
static const double trials_cost = 0.03; /* of all time */
static const double slow = 1.1;         /* times the other way's time: worth an early trial */
static const double team_gain = 0.97;   /* of the time alone, before a team is taken: two processors for one solve */

void gi_thread_switch_begin(gi_thread_switch *t)
{
  *t = (gi_thread_switch){.way = GI_TEAM, .trial = 1, .left = TRIAL};
}

static double median(const double *last)
{
  double sorted[GI_TIMES_KEPT];
  for (int k = 0; k < GI_TIMES_KEPT; k++) {
    int j = k;
    for (; j > 0 && sorted[j - 1] > last[k]; j--) sorted[j] = sorted[j - 1];
    sorted[j] = last[k];
  }
  return sorted[GI_TIMES_KEPT / 2];
}

/* For how many solves this way is taken before the other is tried. */
static int pause_after(const gi_thread_switch *t)
{
  const double pause = TRIAL / trials_cost * (t->seconds[!t->way] / t->seconds[t->way] - 1);
  const int least = t->agreed < 6 ? SHORTEST_PAUSE << t->agreed : LONGEST_PAUSE;
  return pause < least ? least : pause < LONGEST_PAUSE ? (int)pause : LONGEST_PAUSE;
}

void gi_thread_switch_learn(gi_thread_switch *t, double seconds)
{
  const double other = t->seconds[!t->way];
  t->last[t->left % GI_TIMES_KEPT] = seconds;
  if (!t->trial && seconds > slow * other && t->left > 2 * TRIAL) t->left -= t->left / 4;
  if (--t->left > 0) return;
  t->seconds[t->way] = median(t->last);
  if (!t->trial || other == 0) {
    t->way = !t->way;
    t->trial = 1;
    t->left = TRIAL;
    return;
  }
  const int better = t->seconds[GI_TEAM] <= team_gain * t->seconds[GI_ALONE] ? GI_TEAM : GI_ALONE;
  t->agreed = better != t->way ? t->agreed + 1 : 0; /* the way of the trial is not the one before it */
  t->way = better;
  t->trial = 0;
  t->left = pause_after(t);
}
