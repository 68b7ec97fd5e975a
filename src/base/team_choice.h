/* team_choice.h: whether the next call goes alone though a team could share it.
 *
 * On a machine whose processors others want, a team waits for its threads to be given one: for time slices, which are
 * milliseconds, where a call may take one.  So each call of the team is held against the processor time that its
 * threads used, which is what one thread would have taken, or as many times that as calls alone take meanwhile.  Once
 * the team has lost too much calls go alone, for a while, then the team is tried again.  A team that loses nothing is
 * never left. */
#ifndef GI_TEAM_CHOICE_H
#define GI_TEAM_CHOICE_H

typedef struct gi_team_choice {
  int alone;                      /* of the next call */
  int failures;                   /* of the team, lately */
  int fine;                       /* calls of the team since the last failure */
  double lost;                    /* s that the team has taken beyond one thread, gains taken off */
  double rest;                    /* s for which calls still go alone */
  double alone_s, alone_worked_s; /* of the last calls alone, older ones weighing less; 0: none */
} gi_team_choice;

void gi_team_choice_begin(gi_team_choice *c);

/* A call that went c->alone took seconds, and its threads used so many seconds of processor. */
void gi_team_choice_learn(gi_team_choice *c, double seconds, double worked);

#endif
