/* Messages between threads that kernels pack in the receiver's pinned slots and read there: no copy by the host; a
 * sender is at most as far ahead as the two slots let it, and one is free only once the receiver's stream is done with
 * it, which its next begin knows.
 *
 * usage: test_staged [place...], as "cuda:0,1/ranks"; else the mirror. */
#include <stdatomic.h>
#include <time.h>

#include "forest/device_exchange.h"
#include "support/forest_cases.h"
#include "support/test.h"

enum { N = 3001, ROUNDS = 40 };

typedef struct shared {
  const char *slot[2]; /* of rank 1 */
  atomic_int begun;    /* rounds by rank 1 */
} shared;

/* Leaf i of rank 1 is root N - 1 - i of rank 0. */
static gable_exchange *exchange(gable_comm *comm)
{
  const int rank = gable_comm_rank(comm);
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_root root[N];
  for (int i = 0; i < N; i++) root[i] = (gable_root){0, N - 1 - i};
  o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  return forest_exchange(comm, rank ? 0 : N, rank == 1 ? N : 0, NULL, root, &o);
}

/* What rank 0 packs is where rank 1 reads. */
static void check_slots(gable_comm *comm, const gable_exchange *x, shared *s)
{
  const gi_device_exchange *d = x->device;
  CHECK(d->linked && !d->out.bytes && !d->in.bytes, "messages are copied by the host");
  for (int k = 0; k < 2 && gable_comm_rank(comm) == 1; k++) s->slot[k] = d->receive.few[0].slot[k];
  CHECK_OK(gable_comm_barrier(comm));
  for (int k = 0; k < 2 && !gable_comm_rank(comm); k++)
    CHECK(d->send.few[0].slot[k] == s->slot[k], "slot %d is not the receiver's", k);
  CHECK(s->slot[0] != s->slot[1], "one slot");
}

static double value_of(int round, int i)
{
  return 10000.0 * round + i;
}

static void begin(gable_comm *comm, gable_exchange *x, double *array, int round)
{
  double host[N];
  for (int i = 0; i < N; i++) host[i] = gable_comm_rank(comm) ? -1 : value_of(round, i);
  CHECK_OK(gable_device_copy_in(gable_comm_context(comm), array, host, sizeof host, NULL));
  CHECK_OK(gable_bcast_begin(x, array, array));
}

static void end(gable_comm *comm, gable_exchange *x, double *array, int round)
{
  double host[N];
  CHECK_OK(gable_exchange_end(x));
  if (gable_comm_rank(comm) != 1) return;
  CHECK_OK(gable_device_copy_out(gable_comm_context(comm), host, array, sizeof host, NULL));
  CHECK_OK(gable_device_synchronise(gable_comm_context(comm), NULL));
  for (int i = 0; i < N; i++) CHECK(host[i] == value_of(round, N - 1 - i), "round %d, leaf %d: %g", round, i, host[i]);
}

static void sleep_ms(int ms)
{
  nanosleep(&(struct timespec){.tv_nsec = 1000000L * ms}, NULL);
}

/* The sender runs free; before a round the receiver sleeps, long before its second one. */
static gable_status rounds(gable_comm *comm, void *user)
{
  const int rank = gable_comm_rank(comm);
  shared *s = user;
  gable_exchange *x = exchange(comm);
  void *array = NULL;
  check_slots(comm, x, s);
  CHECK_OK(gable_device_alloc(gable_comm_context(comm), N * sizeof(double), &array));
  CHECK_OK(gable_comm_barrier(comm));
  for (int round = 0; round < ROUNDS; round++) {
    if (rank == 1) sleep_ms(round == 1 ? 200 : round % 3);
    if (rank == 1) atomic_store(&s->begun, round + 1);
    begin(comm, x, array, round);
    CHECK(rank || round < 2 || atomic_load(&s->begun) >= round, "round %d takes a slot that may still be read", round);
    end(comm, x, array, round);
  }
  gable_exchange_destroy(&x);
  gable_device_free(gable_comm_context(comm), &array);
  return GABLE_OK;
}

int main(int argc, char **argv)
{
  const char *mirror[] = {"", "mirror/ranks:2", "mirror/ranks:3"};
  const char *const *place = argc > 1 ? (const char *const *)argv : mirror;
  for (int k = 1; k < (argc > 1 ? argc : 3); k++) {
    shared s = {{NULL, NULL}, 0};
    CHECK_OK(gable_comm_run(place[k], rounds, &s));
  }
  return 0;
}
