/* bounded_call.c: see bounded_call.h. */
#include "comm/bounded_call.h"

#include <pthread.h>
#include <stdlib.h>

enum { RUNS, BACK, LEFT_BEHIND };

/* Whether the call becomes next before it became something else. */
static int becomes(gi_bounded_call *c, int next)
{
  int before = RUNS;
  return atomic_compare_exchange_strong(&c->state, &before, next);
}

static void *run_thread(void *argument)
{
  gi_bounded_call *c = argument;
  c->run(c);
  if (!becomes(c, BACK)) c->late(c);
  gi_call_release(c);
  return NULL;
}

void gi_call_release(gi_bounded_call *c)
{
  if (atomic_fetch_sub_explicit(&c->holders, 1, memory_order_acq_rel) == 1) free(c);
}

static gable_status start(gi_bounded_call *c, const char *what)
{
  gable_status status = GABLE_OK;
  pthread_t thread;
  atomic_init(&c->state, RUNS);
  atomic_init(&c->holders, 2);
  const int wrong = pthread_create(&thread, NULL, run_thread, c);
  if (wrong) atomic_store(&c->holders, 1);
  GI_REQUIRE(!wrong, GABLE_ERR_MEMORY, "no thread for %s", what);
  pthread_detach(thread);
done:
  return status;
}

/* The others wait for this rank no longer than it waits itself: it ends earlier, to tell them why. */
static const double share_of_deadline = 0.9;

gable_status gi_wait_bounded(gable_comm *comm, int (*done)(void *user), void *user, int rank, const char *what)
{
  gable_status status = GABLE_OK;
  unsigned looks = 0;
  double since = 0.0;
  while (!done(user)) {
    GI_TRY(gi_comm_wait(comm, rank, &looks, &since));
    GI_REQUIRE(since == 0.0 || gi_now() - since < share_of_deadline * comm->waits.deadline_s, GABLE_ERR_DEADLINE,
               "rank %d waited %.3g s for rank %d in %s", comm->rank, gi_now() - since, rank, what);
  }
done:
  return status;
}

static int is_back(void *user)
{
  return atomic_load(&((gi_bounded_call *)user)->state) != RUNS;
}

/* Whether the call's thread ends within so many seconds. */
static int ends_within(const gi_bounded_call *c, double seconds)
{
  const double from = gi_now();
  while (atomic_load_explicit(&c->holders, memory_order_acquire) > 1) {
    if (gi_now() - from > seconds) return 0;
    gi_sleep();
  }
  return 1;
}

int gi_call_comes_back(gable_comm *comm, const gi_bounded_call *c)
{
  return ends_within(c, gi_share_after_wait * comm->waits.deadline_s);
}

void gi_call_aside(gable_comm *comm, gi_bounded_call *c)
{
  gi_error last;
  gi_keep_error(&last);
  c->begun_s = gi_now();
  if (start(c, "a library's call")) {
    gi_adopt_error(&last);
    c->run(c);
  }
  c->next = comm->calls;
  comm->calls = c;
}

/* Of the first call aside. */
static void let_go(gable_comm *comm)
{
  gi_bounded_call *c = comm->calls;
  comm->calls = c->next;
  gi_call_release(c);
}

int gi_calls_back(gable_comm *comm, double share)
{
  const double most_s = share * comm->waits.deadline_s;
  while (comm->calls && ends_within(comm->calls, comm->calls->begun_s + most_s - gi_now())) let_go(comm);
  return !comm->calls;
}

void gi_calls_end(gable_comm *comm)
{
  gi_calls_back(comm, 1.0);
  while (comm->calls) let_go(comm);
}

gable_status gi_call_bounded(gable_comm *comm, gi_bounded_call *c, int rank, const char *what)
{
  gable_status status = GABLE_OK;
  GI_TRY(start(c, what));
  status = gi_wait_bounded(comm, is_back, c, rank, what);
  if (status && !becomes(c, LEFT_BEHIND)) status = GABLE_OK;
done:
  return status;
}
