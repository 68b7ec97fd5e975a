/* wait.h: waiting for a value that another thread stores, written once.
 *
 * The writer stores with release, the reader polls with acquire: what was written before the store is seen after the
 * wait.  Polling backs off, and past a deadline it ends: gi_team.failed then names what was awaited and every other
 * wait of the team ends too.
 *
 * There are two ways to back off.  Who waits for a row or a barrier offers its processor after microseconds: all
 * threads must come, and the one waited for may be in the queue.  Who waits for work that others have claimed keeps its
 * processor for longer and then sleeps: on a busy machine what is offered goes to a stranger for time slices, and a
 * sleeper is back sooner. */
#ifndef GI_WAIT_H
#define GI_WAIT_H

#include <sched.h>
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
  atomic_uint late;                /* waits that outlasted the spin */
  atomic_int_least64_t worked;     /* ns of processor that threads say they used */
  double begun_s;                  /* gi_now at gi_team_begin */
  int threads;                     /* of gi_team_begin; 1: the team cannot lose */
  atomic_int_least64_t first_late; /* ns from then to the first wait that outlasted gi_patience_s; 0: none has */
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
  atomic_init(&t->late, 0);
  atomic_init(&t->worked, 0);
  t->begun_s = 0;
  t->threads = 1;
  atomic_init(&t->first_late, 0);
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

enum {
  GI_SPINS = 256,       /* looks before the processor is offered to others: a few microseconds */
  GI_SPINS_CROWDED = 8, /* the same where offering it has proved to be needed */
  GI_LATE = 16,         /* waits of a team beyond GI_SPINS after which it counts as crowded */
  GI_SLEEP_NS = 50000
};
static const double gi_sleep_after_s = 0.01; /* offers have not helped for so long: sleep between looks */
static const double gi_patience_s = 1e-3;    /* the same without offers: shares of work differ by less */
static const double gi_grace_s = 1e-3;       /* of waiting that loses no team */
static const double gi_least_gain = 1.25;    /* of a team over one thread */
static const double gi_loss = 0.1;

static inline void gi_sleep(void)
{
  nanosleep(&(struct timespec){.tv_nsec = GI_SLEEP_NS}, NULL);
}

/* One wait: how often it looked, and when the first looks were over. */
typedef struct gi_wait {
  unsigned looks;
  double since, counted; /* 0: not yet; up to when it stands in team.waited */
} gi_wait;

/* A wait that began at since and is late has gone on from counted to now.  The team has lost when, since its first late
 * wait, threads worked less than gi_least_gain at a time, and that has cost more than gi_loss of the time before. */
static inline void gi_team_waited(gi_team *t, double since, double counted, double now)
{
  const int_least64_t ns = (int_least64_t)(1e9 * (now - counted));
  const double waited = 1e-9 * (double)(ns + atomic_fetch_add_explicit(&t->waited, ns, memory_order_relaxed));
  int_least64_t late = 0, begun = 1 + (int_least64_t)(1e9 * (since - t->begun_s));
  if (atomic_compare_exchange_strong_explicit(&t->first_late, &late, begun, memory_order_relaxed, memory_order_relaxed))
    late = begun;
  const double before = 1e-9 * (double)late, during = now - t->begun_s - before;
  if (t->threads > 1 && waited - (t->threads - gi_least_gain) * during > gi_grace_s + gi_loss * before)
    atomic_store_explicit(&t->lost, 1, memory_order_relaxed);
}

/* After an unsuccessful look: a short pause, later a clock, from gi_patience_s on a sleep, which hands the processor to
 * the thread that is waited for if that has none.  It never yields: a yield gives a busy stranger a time slice. */
static inline void gi_pass_time(gi_team *t, gi_wait *w)
{
  gi_pause();
  if (++w->looks < GI_SPINS) return;
  const double now = gi_now();
  if (w->since == 0.0) w->since = w->counted = now;
  if (now - w->since <= gi_patience_s && !atomic_load_explicit(&t->lost, memory_order_relaxed)) return;
  gi_team_waited(t, w->since, w->counted, now);
  w->counted = now;
  gi_sleep();
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

/* One unsuccessful look: returns 1 when the wait for what must be given up.  A short spin, since a value that is on its
 * way takes less than a microsecond; then the processor goes to whoever wants it, perhaps the thread that is waited
 * for; after a while it sleeps.  A team that needed this often has fewer processors than threads, and spins no more. */
static inline int gi_back_off(gi_team *t, int64_t what, unsigned *looks, double *since)
{
  const int crowded = atomic_load_explicit(&t->late, memory_order_relaxed) >= GI_LATE;
  if (++*looks < (crowded ? GI_SPINS_CROWDED : GI_SPINS)) {
    gi_pause();
    return 0;
  }
  if (*looks == GI_SPINS && !crowded) atomic_fetch_add_explicit(&t->late, 1, memory_order_relaxed);
  sched_yield(); /* on a busy machine one offer takes tens of milliseconds: the clock is looked at after each */
  const double now = gi_now();
  if (*since == 0.0) *since = now;
  if (now - *since > gi_sleep_after_s) gi_sleep();
  return gi_give_up(t, what, now - *since);
}

/* Until *flag == value.  what: for the error, a row.  Returns 1 when given up. */
static inline int gi_wait_equal(gi_team *t, atomic_uint *flag, unsigned value, int64_t what)
{
  unsigned looks = 0;
  double since = 0.0;
  while (atomic_load_explicit(flag, memory_order_acquire) != value)
    if (gi_back_off(t, what, &looks, &since)) return 1;
  return 0;
}

/* Until *flag has come to value or beyond, modulo 2^32. */
static inline int gi_wait_reach(gi_team *t, atomic_uint *flag, unsigned value, int64_t what)
{
  unsigned looks = 0;
  double since = 0.0;
  while ((int)(atomic_load_explicit(flag, memory_order_acquire) - value) < 0)
    if (gi_back_off(t, what, &looks, &since)) return 1;
  return 0;
}

/* Until *count has come to value or beyond, modulo 2^32, by threads that are at work on it: polls, then sleeps, and
 * offers nothing.  Returns the seconds of processor that it took, but for the first looks. */
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
