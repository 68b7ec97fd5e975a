/* Messages that a sender stores in the receiver's array (exchange_steps.h, targets): the way that each takes by who
 * begins first, arrays that may not be stored to, receivers that give up; and, with targets for messages of any length,
 * the bits of random exchanges, of several under way in orders that differ between ranks, and of several in one launch.
 *
 * usage: test_targets [small] [place...], as "cuda:0/peer:2": the second part there; else the mirror.  small: fewer
 * exchanges in the second part. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/portable.h"
#include "base/timer.h"
#include "comm/comm.h"
#include "device/device.h"
#include "device/mirror.h"
#include "forest/device_exchange.h"
#include "support/forest_bits.h"
#include "support/test.h"

enum { RANKS = 2, N = 500, ROUNDS = 24, OLD = -1 };

static gi_device device;
static gable_context *ctx[RANKS];
static atomic_int reachable, looks;

static int reached_by(gable_context *c, const void *p, const gable_context *other)
{
  atomic_fetch_add(&looks, 1);
  CHECK(c != other && p, "a rank asks for its own kernels");
  return atomic_load(&reachable);
}

static void run(gable_rank_function f)
{
  device = gi_device_mirror;
  device.reached_by = reached_by;
  atomic_store(&reachable, 1);
  for (int r = 0; r < RANKS; r++) {
    CHECK_OK(gable_context_create("mirror", NULL, &ctx[r]));
    ctx[r]->device = &device;
  }
  CHECK_OK(gi_transport_peer.run(ctx, RANKS, "mirror/targets", f, NULL));
  for (int r = 0; r < RANKS; r++) gable_context_destroy(&ctx[r]);
}

/* Leaf i of rank 1, or of each rank, is root i of the other one. */
static gable_exchange *exchange(gable_comm *comm, int both)
{
  const int rank = gable_comm_rank(comm);
  gable_root root[N];
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  for (int i = 0; i < N; i++) root[i] = (gable_root){!rank, i};
  o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  gable_exchange *x = forest_exchange(comm, both || !rank ? N : 0, both || rank ? N : 0, NULL, root, &o);
  CHECK(!x->device->receive.targets == !(both || rank), "rank %d: %d", rank, both);
  CHECK(!x->device->send.targets == !(both || !rank), "rank %d: %d", rank, both);
  return x;
}

static double *array(gable_comm *comm, int n)
{
  void *p = NULL;
  CHECK_OK(gable_device_alloc(gable_comm_context(comm), (size_t)n * sizeof(double), &p));
  return p;
}

static void set(gable_comm *comm, double *a, double first, double step)
{
  double host[N];
  for (int i = 0; i < N; i++) host[i] = first + step * i;
  CHECK_OK(gable_device_copy_in(gable_comm_context(comm), a, host, sizeof host, NULL));
}

static void expect(gable_comm *comm, const double *a, double first, double step, const char *what, int round)
{
  double host[N];
  CHECK_OK(gable_device_copy_out(gable_comm_context(comm), host, a, sizeof host, NULL));
  for (int i = 0; i < N; i++)
    CHECK(host[i] == first + step * i, "round %d, %s: %g at %d, not %g", round, what, host[i], i, first + step * i);
}

/* Ways of a round: stored in the array, or in the slot since the receiver came late, or since the array is out of
 * reach. */
enum { STORED, LATE, OUT_OF_REACH, WAYS };

static gable_status ways(gable_comm *comm, void *user)
{
  const int rank = gable_comm_rank(comm);
  gable_exchange *x = exchange(comm, 0);
  double *root = array(comm, N), *leaf = array(comm, N);
  (void)user;
  for (int round = 0; round < ROUNDS; round++) {
    const int way = round * 5 / 2 % WAYS;
    const int first = way == LATE ? 0 : 1;
    set(comm, root, 1000 * round, 1);
    set(comm, leaf, OLD, 0);
    if (rank) atomic_store(&reachable, way != OUT_OF_REACH);
    CHECK_OK(gable_comm_barrier(comm));
    if (rank == first) CHECK_OK(gable_bcast_begin(x, root, leaf));
    CHECK_OK(gable_comm_barrier(comm));
    if (rank != first) CHECK_OK(gable_bcast_begin(x, root, leaf));
    CHECK_OK(gable_comm_barrier(comm));
    if (rank && way == STORED) expect(comm, leaf, 1000 * round, 1, "before end", round);
    if (rank && way != STORED) expect(comm, leaf, OLD, 0, "before end", round);
    CHECK_OK(gable_exchange_end(x));
    if (rank) expect(comm, leaf, 1000 * round, 1, "after end", round);
  }
  CHECK(atomic_load(&looks) >= ROUNDS, "%d looks", atomic_load(&looks));

  /* The sender is a round ahead: the first message lies in the array, the second one in a slot. */
  for (int round = 0; round < 5; round++) {
    set(comm, root, round, 2);
    if (rank) CHECK_OK(gable_bcast_begin(x, root, leaf));
    CHECK_OK(gable_comm_barrier(comm));
    for (int k = 0; k < 2 && !rank; k++) {
      set(comm, root, round + 10 * k, 2);
      CHECK_OK(gable_bcast_begin(x, root, leaf));
      CHECK_OK(gable_exchange_end(x));
    }
    CHECK_OK(gable_comm_barrier(comm));
    if (rank) CHECK_OK(gable_exchange_end(x));
    if (rank) expect(comm, leaf, round, 2, "first", round);
    if (rank) CHECK_OK(gable_bcast_begin(x, root, leaf));
    if (rank) expect(comm, leaf, round, 2, "first, while the second one is under way", round);
    if (rank) CHECK_OK(gable_exchange_end(x));
    if (rank) expect(comm, leaf, round + 10, 2, "second", round);
  }
  gable_exchange_destroy(&x);
  gable_device_free(gable_comm_context(comm), (void **)&root);
  gable_device_free(gable_comm_context(comm), (void **)&leaf);
  return GABLE_OK;
}

/* Both send and receive in one array: entries beside what is sent may be stored to, those that are sent may not. */
static gable_status one_array(gable_comm *comm, void *user)
{
  const int rank = gable_comm_rank(comm);
  gable_exchange *x = exchange(comm, 1);
  double *a = array(comm, 2 * N);
  (void)user;
  for (int round = 0; round < 6; round++) {
    double *leaf = a + round % 2 * N;
    set(comm, leaf, OLD, 0);
    set(comm, a, 100 * rank, 1);
    CHECK_OK(gable_comm_barrier(comm));
    if (!rank) CHECK_OK(gable_bcast_begin(x, a, leaf));
    CHECK_OK(gable_comm_barrier(comm));
    if (rank) CHECK_OK(gable_bcast_begin(x, a, leaf));
    CHECK_OK(gable_comm_barrier(comm));
    expect(comm, a, 100 * rank, 1, "what is sent", round);
    if (!rank && leaf != a) expect(comm, leaf, 100, 1, "before end", round);
    CHECK_OK(gable_exchange_end(x));
    expect(comm, leaf, 100 * !rank, 1, "after end", round);
    CHECK_OK(gable_comm_barrier(comm));
  }
  gable_exchange_destroy(&x);
  gable_device_free(gable_comm_context(comm), (void **)&a);
  return GABLE_OK;
}

/* The receiver gives the array up: at the deadline of end, by an end that fails since another exchange has failed, or
 * by destroying the exchange: a sender that comes later does not store there.  A message that is being stored then is
 * awaited. */
enum { PAST_DEADLINE, DESTROYED, BEING_STORED, ENDS };
static atomic_int turn, filled;

static void await_turn(int t)
{
  for (const double since = gi_now(); atomic_load(&turn) != t;) CHECK(gi_now() - since < 60, "turn %d never came", t);
}

/* The array is the caller's; then the sender comes. */
static void late(gable_comm *comm, double *leaf)
{
  set(comm, leaf, OLD, 0);
  set(comm, leaf + N, OLD, 0);
  atomic_store(&turn, 1);
  await_turn(2);
  expect(comm, leaf, OLD, 0, "after the exchange was given up", 0);
  expect(comm, leaf + N, OLD, 0, "after the other one was given up", 0);
}

static void give_up(gable_comm *comm, int how, double *root, double *leaf)
{
  gable_exchange *x = exchange(comm, 0), *other = exchange(comm, 0);
  CHECK_OK(gable_bcast_begin(x, root, leaf));
  CHECK_OK(gable_bcast_begin(other, root, leaf + N));
  if (how == PAST_DEADLINE) {
    gable_status status = gable_comm_set_deadline(comm, 0.1);
    if (!status) status = gable_exchange_end(x);
    if (!status) status = gable_exchange_wait(x);
    CHECK(status == GABLE_ERR_DEADLINE && strstr(gable_last_error(), "for rank 0, which"), "%s", gable_last_error());
    CHECK(gable_exchange_end(other) == GABLE_ERR_DEADLINE, "%s", gable_last_error());
    late(comm, leaf);
  }
  if (how == BEING_STORED) {
    gi_device_each_memory(x->device, gi_kernels_begin);
    atomic_store((atomic_uint *)(void *)&x->device->receive.targets[0].at->claimed, 1);
    gi_device_each_memory(x->device, gi_kernels_end);
    atomic_store(&turn, 1);
  }
  gable_exchange_destroy(&x);
  CHECK(how != BEING_STORED || atomic_load(&filled), "a message that is being stored is not awaited");
  gable_exchange_destroy(&other);
  if (how == DESTROYED) late(comm, leaf);
}

static void come_late(gable_comm *comm, int how, double *root, double *leaf)
{
  gable_exchange *x = exchange(comm, 0), *other = exchange(comm, 0);
  await_turn(1);
  if (how == BEING_STORED) {
    for (const double since = gi_now(); gi_now() - since < 0.05;) continue;
    atomic_store(&filled, 1);
    gi_kernels_begin(ctx[1]);
    atomic_store((atomic_uint *)(void *)x->device->send.few[0].raise, 1);
    gi_kernels_end(ctx[1]);
  } else {
    CHECK_OK(gable_bcast_begin(x, root, leaf));
    CHECK_OK(gable_bcast_begin(other, root, leaf));
  }
  gable_exchange_destroy(&x);
  gable_exchange_destroy(&other);
  atomic_store(&turn, 2);
}

static gable_status ends(gable_comm *comm, void *user)
{
  double *root = array(comm, N), *leaf = array(comm, 2 * N);
  (void)user;
  for (int how = ENDS - 1; how >= 0; how--) { /* after PAST_DEADLINE the comm has failed */
    set(comm, root, 5, 1);
    atomic_store(&turn, 0);
    CHECK_OK(gable_comm_barrier(comm));
    if (gable_comm_rank(comm))
      give_up(comm, how, root, leaf);
    else
      come_late(comm, how, root, leaf);
    if (how) CHECK_OK(gable_comm_barrier(comm));
  }
  gable_device_free(gable_comm_context(comm), (void **)&root);
  gable_device_free(gable_comm_context(comm), (void **)&leaf);
  return GABLE_OK;
}

int main(int argc, char **argv)
{
  const int small = argc > 1 && !strcmp(argv[1], "small");
  forest_bits_size size = {small ? 3 : 11, small}; /* memcheck lets ranks of some cases of 11 wait for each other */
  static const char *const mirrors[] = {"mirror/peer:2", "mirror/peer:3", "mirror/peer:4"};
  gi_device_target_least = 1;
  gi_device_flagged_most = 0;
  for (int k = 1 + size.small; k < argc; k++) CHECK_OK(gable_comm_run(argv[k], forest_bits, &size));
  if (argc > 1 + size.small) return 0;
  run(ways);
  run(one_array);
  run(ends);
  for (size_t k = 0; k < sizeof mirrors / sizeof *mirrors; k++)
    CHECK_OK(gable_comm_run(mirrors[k], forest_bits, &size));
  return 0;
}
