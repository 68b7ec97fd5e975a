/* bounded_call.h: a library's call that may wait for other ranks without a deadline of its own, in a thread of its own:
 * the rank waits for it until the comm's deadline, and leaves it behind then; or it goes on at once, the call aside. */
#ifndef GI_BOUNDED_CALL_H
#define GI_BOUNDED_CALL_H

#include <stdatomic.h>

#include "comm/comm.h"

/* The first member of what run needs: from malloc, since a call that is left behind may outlive every context.  Whoever
 * lets go of it last, the rank or the thread, frees it. */
typedef struct gi_bounded_call {
  struct gi_bounded_call *next;            /* of the comm's calls aside */
  double begun_s;                          /* likewise, by gi_now */
  void (*run)(struct gi_bounded_call *c);  /* in the thread */
  void (*late)(struct gi_bounded_call *c); /* there, where the call has come back after it was left behind */
  atomic_int holders, state;
} gi_bounded_call;

/* Local.  Runs c->run and waits for it.  GABLE_ERR_DEADLINE: rank is named as the one that was awaited, what as the
 * call; the caller must not look into c but release it. */
gable_status gi_call_bounded(gable_comm *comm, gi_bounded_call *c, int rank, const char *what);
void gi_call_release(gi_bounded_call *c);

/* A share of the comm's deadline for what a rank does when it has waited in vain: the others still wait for it. */
static const double gi_share_after_wait = 0.05;

/* Local.  Whether a call that gi_call_bounded has left behind comes back within this share, and its thread uses nothing
 * any more. */
int gi_call_comes_back(gable_comm *comm, const gi_bounded_call *c);

/* Local.  Begins c->run, for which nobody waits here, and takes c over.  Where the system gives no thread it runs at
 * once. */
void gi_call_aside(gable_comm *comm, gi_bounded_call *c);

/* Local.  Whether all calls aside have come back, for which each has this share of the comm's deadline since it began:
 * who asks twice does not wait twice.  end: at the comm's end; those that have not are left to their threads. */
int gi_calls_back(gable_comm *comm, double share);
void gi_calls_end(gable_comm *comm);

/* Local.  Until done says so; GABLE_ERR_DEADLINE as above. */
gable_status gi_wait_bounded(gable_comm *comm, int (*done)(void *user), void *user, int rank, const char *what);

#endif
