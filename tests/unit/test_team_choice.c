/* test_team_choice.c: when calls of a team go alone, on machines that are made up. */
#include "support/test.h"

#include "base/team_choice.h"

/* Calls of 2 ms of work: the team takes so many seconds, one alone others; returns those of all calls. */
static double calls(gi_team_choice *c, int count, double team, double alone)
{
  double sum = 0;
  for (int k = 0; k < count; k++) {
    const double seconds = c->alone ? alone : team;
    gi_team_choice_learn(c, seconds, 2e-3);
    sum += seconds;
  }
  return sum;
}

int main(void)
{
  gi_team_choice c;
  gi_team_choice_begin(&c);
  for (int k = 0; k < 10000; k++) {
    gi_team_choice_learn(&c, k % 50 ? 1.1e-3 : 5e-3, 2e-3); /* now and then somebody takes a time slice */
    CHECK(!c.alone, "call %d", k);
  }
  calls(&c, 1, 20e-3, 4e-3);
  CHECK(c.alone, "a team that takes 10 times its work is left at once");

  gi_team_choice_begin(&c);
  const double crowded = calls(&c, 2000, 12e-3, 4e-3);
  CHECK(crowded < 1.1 * 2000 * 4e-3, "%g s for 2000 calls of 4 ms alone", crowded);
  calls(&c, 250, 1.1e-3, 2e-3);
  CHECK(!c.alone, "processors are there again, and half a second has passed");
  const double quiet = calls(&c, 1000, 1.1e-3, 2e-3);
  CHECK(quiet < 1000 * 1.11e-3, "%g s", quiet);

  gi_team_choice_begin(&c);
  const double slow = calls(&c, 2000, 3e-3, 4e-3);
  CHECK(slow < 1.2 * 2000 * 3e-3, "a team slower than its work, but faster than one alone is now: %g s", slow);
  return 0;
}
