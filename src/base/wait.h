/* wait.h: waiting for a value that another thread stores, written once.
 *
 * The writer stores with release, the reader polls with acquire: what was written before the store is seen after the
 * wait.  A wait polls for gi_patience_s, then sleeps between looks.  It never yields: on a busy machine a yield gives
 * time slices to another process, and a sleeping thread is back sooner.
 *
 * A wait ends without its value in two cases, and then every other wait of the team ends too.  Past the deadline,
 * gi_team.failed names what was awaited.  Before it, gi_team.lost says that the team is no faster than one thread; the
 * thread that forked it finishes the work. */
#ifndef GI_WAIT_H
#define GI_WAIT_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "base/portable.h"
#include "base/timer.h"

/* Threads that wait for each other in one parallel region.  gi_team_enter and gi_team_leave carry the order of memory
 * between the thread that forks and the others, which race detectors cannot see inside an OpenMP runtime. */
typedef struct gi_team {
  double deadline_s;
  atomic_int size;                 /* threads that really run */
  atomic_int_least64_t failed;     /* 1 + what was awaited when the deadline passed; 0: nothing */
  atomic_uint arrived, generation; /* of gi_team_barrier */
  atomic_uint left;
  atomic_int_least64_t worked;     /* ns of processor that threads say they used */
  double begun_s;                  /* gi_now at gi_team_begin */
  int threads;                     /* of gi_team_begin; 1: the team cannot lose */
  atomic_int_least64_t first_wait; /* ns from then to the first wait of gi_account_s; 0: none */
  atomic_int_least64_t waited;     /* ns in all such waits */
  atomic_int lost;                 /* 1: one thread alone would be as fast */
} gi_team;

static inline void gi_team_init(gi_team *t, double deadline_s)
{
  t->deadline_s = deadline_s;
  atomic_init(&t->size, 0);
  atomic_init(&t->failed, 0);
  atomic_init(&t->arrived, 0);
  atomic_init(&t->generation, 0);
  atomic_init(&t->left, 0);
  atomic_init(&t->worked, 0);
  t->begun_s = 0;
  t->threads = 1;
  atomic_init(&t->first_wait, 0);
  atomic_init(&t->waited, 0);
  atomic_init(&t->lost, 0);
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&t->size, 1, memory_order_release);
}

/* gi_team_init for a team of threads that can lose: see gi_pass_time. */
static inline void gi_team_begin(gi_team *t, double deadline_s, int threads)
{
  gi_team_init(t, deadline_s);
  t->begun_s = gi_now();
  t->threads = threads;
}

static inline void gi_team_enter(gi_team *t)
{
  (void)atomic_load_explicit(&t->size, memory_order_acquire);
}

static inline void gi_team_leave(gi_team *t)
{
  atomic_fetch_add_explicit(&t->left, 1, memory_order_release);
}

/* After the region, by the thread that forked. */
static inline void gi_team_join(gi_team *t)
{
  (void)atomic_load_explicit(&t->left, memory_order_acquire);
}

/* After gi_team_join: whether threads left work because the team had lost. */
static inline int gi_team_unfinished(const gi_team *t)
{
  return atomic_load_explicit(&t->lost, memory_order_relaxed) &&
         !atomic_load_explicit(&t->failed, memory_order_relaxed);
}

enum {
  GI_SPINS = 256, /* looks before the clock is read: a few microseconds, values on their way take less than one */
  GI_SLEEP_NS = 50000
};
static const double gi_patience_s = 1e-3; /* of polling before the first sleep: shares of work differ by less */
static const double gi_account_s = 2e-5;  /* between two entries of one wait in team.waited */
static const double gi_grace_s = 2.5e-4;  /* of waiting that loses no team */
static const double gi_least_gain = 1.25; /* of a team over one thread */
static const double gi_loss = 0.1;

static inline void gi_sleep(void)
{
  nanosleep(&(struct timespec){.tv_nsec = GI_SLEEP_NS}, NULL);
}

/* The thread that forked, before it leaves: until size - 1 others have left.  OpenMP's own barrier polls for
 * milliseconds, on a processor that one of them may need. */
static inline void gi_team_gather(gi_team *t, int size)
{
  double since = 0.0;
  for (unsigned looks = 0; atomic_load_explicit(&t->left, memory_order_relaxed) + 1 < (unsigned)size; looks++) {
    gi_pause();
    if (looks < GI_SPINS) continue;
    if (since == 0.0) since = gi_now();
    if (gi_now() - since > gi_patience_s) gi_sleep();
  }
}

/* This thread used so many seconds of gi_processor_seconds in the region. */
static inline void gi_team_used(gi_team *t, double seconds)
{
  atomic_fetch_add_explicit(&t->worked, (int_least64_t)(1e9 * seconds), memory_order_relaxed);
}

/* After gi_team_join: what gi_team_used was told by all threads. */
static inline double gi_team_work(const gi_team *t)
{
  return 1e-9 * (double)atomic_load_explicit(&t->worked, memory_order_relaxed);
}

/* One wait: how often it looked, and when the first looks were over. */
typedef struct gi_wait {
  unsigned looks;
  double since, counted; /* 0: not yet; up to when it stands in team.waited */
} gi_wait;

/* A wait that began at since has gone on from counted to now.  The team has lost when, since its first such wait,
 * threads worked less than gi_least_gain at a time, and that has cost more than gi_loss of the time before. */
static inline void gi_team_waited(gi_team *t, double since, double counted, double now)
{
  const int_least64_t ns = (int_least64_t)(1e9 * (now - counted));
  const double waited = 1e-9 * (double)(ns + atomic_fetch_add_explicit(&t->waited, ns, memory_order_relaxed));
  int_least64_t first = 0, begun = 1 + (int_least64_t)(1e9 * (since - t->begun_s));
  if (atomic_compare_exchange_strong_explicit(&t->first_wait, &first, begun, memory_order_relaxed,
                                              memory_order_relaxed))
    first = begun;
  const double before = 1e-9 * (double)first, during = now - t->begun_s - before;
  if (t->threads > 1 && waited - (t->threads - gi_least_gain) * during > gi_grace_s + gi_loss * before)
    atomic_store_explicit(&t->lost, 1, memory_order_relaxed);
}

/* After an unsuccessful look: a short pause, later a clock, from gi_patience_s on a sleep, which hands the processor to
 * the thread that is waited for if that has none.  It never yields: a yield gives time slices to other processes. */
static inline void gi_pass_time(gi_team *t, gi_wait *w)
{
  gi_pause();
  if (++w->looks < GI_SPINS) return;
  const double now = gi_now();
  if (w->since == 0.0) w->since = w->counted = now;
  if (now - w->counted < gi_account_s) return;
  gi_team_waited(t, w->since, w->counted, now);
  w->counted = now;
  if (now - w->since > gi_patience_s || atomic_load_explicit(&t->lost, memory_order_relaxed)) gi_sleep();
}

/* The wait is over: what its last sleep took counts too. */
static inline void gi_wait_end(gi_team *t, const gi_wait *w)
{
  if (w->since != 0.0) gi_team_waited(t, w->since, w->counted, gi_now());
}

/* Whether a wait for what that has taken so many seconds must be given up. */
static inline int gi_give_up(gi_team *t, int64_t what, double waited)
{
  if (atomic_load_explicit(&t->failed, memory_order_relaxed)) return 1;
  if (waited <= t->deadline_s) return 0;
  int64_t nothing = 0;
  atomic_compare_exchange_strong_explicit(&t->failed, &nothing, what + 1, memory_order_relaxed, memory_order_relaxed);
  return 1;
}

/* One unsuccessful look: returns 1 when the wait for what must be given up. */
static inline int gi_back_off(gi_team *t, int64_t what, gi_wait *w)
{
  gi_pass_time(t, w);
  if (w->looks < GI_SPINS) return 0;
  if (atomic_load_explicit(&t->lost, memory_order_relaxed)) return 1;
  return gi_give_up(t, what, w->counted - w->since);
}

/* Until *flag == value.  what: for the error, a row.  Returns 1 when given up. */
static inline int gi_wait_equal(gi_team *t, atomic_uint *flag, unsigned value, int64_t what)
{
  gi_wait wait = {0};
  while (atomic_load_explicit(flag, memory_order_acquire) != value)
    if (gi_back_off(t, what, &wait)) return 1;
  gi_wait_end(t, &wait);
  return 0;
}

/* Until *flag has come to value or beyond, modulo 2^32. */
static inline int gi_wait_reach(gi_team *t, atomic_uint *flag, unsigned value, int64_t what)
{
  gi_wait wait = {0};
  while ((int)(atomic_load_explicit(flag, memory_order_acquire) - value) < 0)
    if (gi_back_off(t, what, &wait)) return 1;
  gi_wait_end(t, &wait);
  return 0;
}

/* Until *count has come to value or beyond, modulo 2^32, by threads that are at work on it.  Returns the seconds of
 * processor that it took, but for the first looks. */
static inline double gi_wait_patiently(gi_team *t, atomic_uint *count, unsigned value)
{
  double since = 0.0, processor = 0.0;
  for (unsigned looks = 0; (int)(atomic_load_explicit(count, memory_order_acquire) - value) < 0; looks++) {
    gi_pause();
    if (looks < GI_SPINS) continue;
    const double now = gi_now();
    if (since == 0.0) {
      since = now;
      processor = gi_processor_seconds();
    }
    if (now - since > gi_patience_s) gi_sleep();
    if (gi_give_up(t, 0, now - since)) break;
  }
  return since == 0.0 ? 0 : gi_processor_seconds() - processor;
}

static inline void gi_publish(atomic_uint *flag, unsigned value)
{
  atomic_store_explicit(flag, value, memory_order_release);
}

/* All size threads; returns 1 when given up. */
static inline int gi_team_barrier(gi_team *t, int size, int64_t what)
{
  unsigned generation = atomic_load_explicit(&t->generation, memory_order_relaxed);
  if (size == 1) return 0;
  if (atomic_fetch_add_explicit(&t->arrived, 1, memory_order_acq_rel) == (unsigned)size - 1) {
    atomic_store_explicit(&t->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&t->generation, generation + 1, memory_order_release);
    return 0;
  }
  return gi_wait_equal(t, &t->generation, generation + 1, what);
}

/* *p += v, in no order with other memory. */
static inline void gi_atomic_add_double(double *p, double v)
{
  double old, sum;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do sum = old + v;
  while (!__atomic_compare_exchange(p, &old, &sum, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static inline void gi_atomic_add_float(float *p, float v)
{
  float old, sum;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do sum = old + v;
  while (!__atomic_compare_exchange(p, &old, &sum, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

#endif
