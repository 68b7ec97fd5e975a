/* A library's call that a rank has left to a thread, as an abort of NCCL: the rank goes on at once, what is later
 * waits until the call has come back, and a call that does not keeps the comm's end no longer than the deadline. */
#include <stdlib.h>

#include "comm/bounded_call.h"
#include "support/test.h"

static const double deadline_s = 0.5;

/* Comes back when it may. */
typedef struct call {
  gi_bounded_call bounded;
  atomic_int *may;
} call;

typedef struct kept {
  gi_later later; /* of the CPU, whose streams have always come to their end */
  int freed;
} kept;

static void run_call(gi_bounded_call *c)
{
  const call *own = (const call *)c;
  while (!atomic_load(own->may)) gi_sleep();
}

static void never_late(gi_bounded_call *c)
{
  CHECK(0, "the call %p is late, and nobody waited for it", (void *)c);
}

static void note_freed(gi_later *l)
{
  ((kept *)l)->freed = 1;
}

static void begin(gable_comm *comm, atomic_int *may)
{
  call *c = malloc(sizeof *c);
  CHECK(c, "memory");
  *c = (call){.bounded = {.run = run_call, .late = never_late}, .may = may};
  gi_call_aside(comm, &c->bounded);
}

/* Two calls; the second one returns first. */
static gable_status come_back(gable_comm *comm, void *user)
{
  kept *k = user;
  atomic_int first = 0, second = 0;
  CHECK_OK(gable_comm_set_deadline(comm, deadline_s));
  begin(comm, &first);
  begin(comm, &second);
  gi_comm_later(comm, &k->later);
  CHECK(!gi_calls_back(comm, 0.0), "two calls are out");
  atomic_store(&second, 1);
  const double from = gi_now();
  CHECK(!gi_calls_back(comm, 0.1), "one call is out");
  CHECK(gi_now() - from > 0.09 * deadline_s, "waited %g s", gi_now() - from);
  gi_comm_reap(comm);
  CHECK(!k->freed, "freed while a call is out");
  atomic_store(&first, 1);
  CHECK(gi_calls_back(comm, 100.0), "both are back");
  gi_comm_reap(comm);
  CHECK(k->freed, "kept when all calls are back");
  return GABLE_OK;
}

static atomic_int never;

static gable_status stay_away(gable_comm *comm, void *user)
{
  CHECK_OK(gable_comm_set_deadline(comm, deadline_s));
  begin(comm, &never);
  gi_comm_later(comm, (gi_later *)user);
  return GABLE_OK;
}

int main(void)
{
  kept back = {.later.free = note_freed}, away = {.later.free = note_freed};
  CHECK_OK(gable_comm_run("cpu", come_back, &back));
  const double from = gi_now();
  CHECK_OK(gable_comm_run("cpu", stay_away, &away));
  const double waited = gi_now() - from;
  CHECK(!away.freed, "freed at the comm's end, and a call is out");
  CHECK(waited > 0.9 * deadline_s && waited < 1.8 * deadline_s, "the comm's end waited %g s", waited);
  atomic_store(&never, 1); /* its thread gives back what it has */
  return 0;
}
