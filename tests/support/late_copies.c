#include "support/late_copies.h"

#include <string.h>
#include <time.h>

#include "comm/comm.h"
#include "device/device.h"
#include "support/test.h"

enum { ITEMS = 2, ROUNDS = 2 };

/* A rank's exchange and arrays. */
typedef struct subject {
  gable_exchange *x;
  void *root[ROUNDS], *leaf; /* [ITEMS], [2 * ITEMS] doubles on the device; root: of each round */
} subject;

static void nap(double s)
{
  nanosleep(&(struct timespec){.tv_sec = (time_t)s, .tv_nsec = (long)(1e9 * (s - (double)(time_t)s))}, NULL);
}

static double value(int rank, int round, int item)
{
  return 1000 * (round + 1) + 10 * rank + item;
}

/* Which item of the root's rank leaf i has. */
static int item_of(int packed, int i)
{
  return packed ? ITEMS - 1 - i % ITEMS : i % ITEMS;
}

/* from [n]: the ranks whose items this rank's leaves have. */
static void open_subject(gable_comm *comm, gable_path path, int packed, int n, const int *from, subject *s)
{
  gable_context *ctx = gable_comm_context(comm);
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_root of[2 * ITEMS];
  double a[2 * ITEMS] = {0};
  gable_forest *f = NULL;
  gable_plan *p = NULL;
  memset(s, 0, sizeof *s);
  for (int i = 0; i < n * ITEMS; i++) of[i] = (gable_root){from[i / ITEMS], item_of(packed, i)};
  CHECK_OK(gable_forest_create(comm, ITEMS, n * ITEMS, NULL, of, &f));
  o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  o.path = path;
  CHECK_OK(gable_plan_create(f, &o, &p));
  CHECK_OK(gable_exchange_create(p, NULL, &s->x));
  CHECK_OK(gable_device_alloc(ctx, sizeof a, &s->leaf));
  CHECK_OK(gable_device_copy_in(ctx, s->leaf, a, sizeof a, NULL));
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < ITEMS; i++) a[i] = value(gable_comm_rank(comm), round, i);
    CHECK_OK(gable_device_alloc(ctx, ITEMS * sizeof *a, &s->root[round]));
    CHECK_OK(gable_device_copy_in(ctx, s->root[round], a, ITEMS * sizeof *a, NULL));
    CHECK_OK(gable_device_synchronise(ctx, NULL));
  }
  gable_plan_destroy(&p);
  gable_forest_destroy(&f);
}

static void close_subject(gable_comm *comm, subject *s)
{
  gable_exchange_destroy(&s->x);
  for (int round = 0; round < ROUNDS; round++) gable_device_free(gable_comm_context(comm), &s->root[round]);
  gable_device_free(gable_comm_context(comm), &s->leaf);
}

static gable_status begin_and_end(const subject *s, int round)
{
  const gable_status status = gable_bcast_begin(s->x, s->root[round], s->leaf);
  return status ? status : gable_exchange_end(s->x);
}

static gable_status one_round(const subject *s, int round)
{
  const gable_status status = begin_and_end(s, round);
  return status ? status : gable_exchange_wait(s->x);
}

/* What the leaves of n ranks have after a round that has ended well. */
static void check_leaves(gable_comm *comm, const subject *s, int packed, int n, const int *from, int round)
{
  double a[2 * ITEMS] = {0};
  CHECK_OK(gable_device_copy_out(gable_comm_context(comm), a, s->leaf, sizeof a, NULL));
  CHECK_OK(gable_device_synchronise(gable_comm_context(comm), NULL));
  for (int i = 0; i < n * ITEMS; i++) {
    const double right = value(from[i / ITEMS], round, item_of(packed, i));
    CHECK(a[i] == right, "round %d, leaf %d: %g, not %g", round, i, a[i], right);
  }
}

static void expect_lost(gable_status status, const char *rank)
{
  CHECK(status == GABLE_ERR_DEADLINE && strstr(gable_last_error(), rank), "%d: %s", (int)status, gable_last_error());
}

/* By puts the message that rank 1 puts again is the one that was there. */
static void written_over(gable_comm *comm, gable_path path, int packed)
{
  static const int from[] = {1, 2};
  const int rank = gable_comm_rank(comm), n = rank == 0 ? 2 : 0;
  subject s;
  open_subject(comm, path, packed, n, from, &s);
  CHECK_OK(gable_comm_barrier(comm));
  CHECK_OK(gable_comm_set_deadline(comm, rank == 1 ? 0.5 : 30));
  if (rank == 2) nap(2);
  gable_status status = one_round(&s, 0);
  if (rank == 1) {
    CHECK(!status, "%s", gable_last_error());
    status = one_round(&s, 1);
    expect_lost(status, "for rank 0, which");
  } else if (rank == 0 && path == GABLE_PATH_COPY) {
    expect_lost(status, "of rank 1, which has given up");
  } else {
    CHECK(!status, "rank %d: %s", rank, gable_last_error());
    if (!rank) check_leaves(comm, &s, packed, n, from, 0);
  }
  nap(0.5);
  close_subject(comm, &s);
}

/* Rank 2 never begins.  Rank 0's receive has given up before the copies of its next round run.  On a GPU begin has
 * enqueued that round before; on the mirror begin would return the error, so the fault is cleared first. */
static void begun_in_vain(gable_comm *comm, gable_path path, int packed)
{
  static const int from_two[] = {2}, from_none[] = {0};
  const int rank = gable_comm_rank(comm), n = rank == 2 ? 0 : 1, *from = rank == 0 ? from_two : from_none;
  subject s;
  open_subject(comm, path, packed, n, from, &s);
  CHECK_OK(gable_comm_barrier(comm));
  CHECK_OK(gable_comm_set_deadline(comm, rank == 0 ? 2 : 30));
  if (rank == 0) {
    CHECK_OK(begin_and_end(&s, 0));
    if (gable_comm_context(comm)->device->in_host) *comm->fault = 0;
    CHECK_OK(begin_and_end(&s, 1));
    nap(2.2);
    if (!gable_comm_context(comm)->device->in_host) expect_lost(gable_exchange_wait(s.x), "for rank 2, which");
  } else if (rank == 1) {
    CHECK_OK(one_round(&s, 0));
    check_leaves(comm, &s, packed, n, from, 0);
    nap(2.5);
    expect_lost(one_round(&s, 1), "of rank 0, which has given up");
  } else {
    nap(3);
  }
  nap(0.5);
  close_subject(comm, &s);
}

void late_copies(gable_comm *comm, gable_path path, int k)
{
  if (k < 2)
    written_over(comm, path, k % 2);
  else
    begun_in_vain(comm, path, k % 2);
}
