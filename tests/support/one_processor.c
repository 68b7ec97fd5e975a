#define _GNU_SOURCE /* sched_setaffinity */
#include "support/one_processor.h"

#include <pthread.h>
#include <sched.h>

#include "support/test.h"

typedef struct call {
  void (*run)(void *user);
  void *user;
} call;

static void *run_on_one(void *of)
{
  const call *c = of;
#ifdef __linux__
  cpu_set_t all, one;
  CHECK(!sched_getaffinity(0, sizeof all, &all));
  CPU_ZERO(&one);
  for (size_t cpu = 0; !CPU_COUNT(&one); cpu++)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  CHECK(!sched_setaffinity(0, sizeof one, &one));
#endif
  c->run(c->user);
  return NULL;
}

void test_on_one_processor(void (*run)(void *user), void *user)
{
  pthread_t thread;
  call c = {run, user}; /* outlives the block of CHECK */
  CHECK(!pthread_create(&thread, NULL, run_on_one, &c));
  CHECK(!pthread_join(thread, NULL));
}
