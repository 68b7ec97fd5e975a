#include "base/team_choice.h"

enum {
  MOST_FAILURES = 5, /* that make the time alone longer */
  FORGIVEN = 16      /* calls of the team without a failure that take one back */
};
static const double patience = 2;     /* times the work of a call that the team may lose */
static const double recompense = 2;   /* times what was lost that calls go alone, twice as much with each failure */
static const double longest_s = 0.25; /* of that, if it is enough: who had the processors may be gone */
static const double remembered = .9;  /* of the calls alone before the last one */

void gi_team_choice_begin(gi_team_choice *c)
{
  *c = (gi_team_choice){0};
}

static void learn_alone(gi_team_choice *c, double seconds, double worked)
{
  c->alone_s = remembered * c->alone_s + seconds;
  c->alone_worked_s = remembered * c->alone_worked_s + worked;
  c->rest -= seconds;
  if (c->rest > 0) return;
  c->alone = 0;
  c->lost = 0;
}

void gi_team_choice_learn(gi_team_choice *c, double seconds, double worked)
{
  if (c->alone) {
    learn_alone(c, seconds, worked);
    return;
  }
  const double slower = c->alone_worked_s > 0 && c->failures > 0 ? c->alone_s / c->alone_worked_s : 1;
  c->lost += seconds - (slower > 1 ? slower : 1) * worked;
  if (c->lost < 0) c->lost = 0;
  if (c->lost <= patience * worked) {
    if (++c->fine % FORGIVEN == 0 && c->failures > 0) c->failures--;
    return;
  }
  if (c->failures < MOST_FAILURES) c->failures++;
  c->alone = 1;
  c->fine = 0;
  const double rest = recompense * (double)(1 << (c->failures - 1)) * c->lost;
  const double most = recompense * c->lost > longest_s ? recompense * c->lost : longest_s;
  c->rest = rest < most ? rest : most;
}
