/* What goes wrong on one rank is an error on every rank, which names it; and no wait outlasts its deadline. */
#include <stdatomic.h>
#include <time.h>

#include "base/timer.h"
#include "comm/comm.h"
#include "forest/plan.h"
#include "support/failing_allocator.h"
#include "support/forest_cases.h"
#include "support/test.h"

enum { RANKS = 3 };

static void sleep_s(double s)
{
  nanosleep(&(struct timespec){.tv_sec = (time_t)s, .tv_nsec = (long)(1e9 * (s - (double)(time_t)s))}, NULL);
}

static void expect(gable_status found, gable_status right, const char *text)
{
  CHECK(found == right, "%d (%s), not %d", (int)found, gable_last_error(), (int)right);
  CHECK(strstr(gable_last_error(), text), "'%s' is not in '%s'", text, gable_last_error());
}

/* Each rank has two roots and two leaves, of the next rank's roots. */
static gable_status ring(gable_comm *comm, gable_forest **out)
{
  const int next = (gable_comm_rank(comm) + 1) % gable_comm_size(comm);
  const gable_root root[] = {{next, 0}, {next, 1}};
  return gable_forest_create(comm, 2, 2, NULL, root, out);
}

static gable_status bad_graphs(gable_comm *comm, void *user)
{
  const int bad = gable_comm_rank(comm) == 1;
  gable_forest *f = NULL;
  (void)user;
  const gable_root roots[] = {{0, 0}, {bad ? 7 : 0, 1}, {0, bad ? 9 : 1}};
  expect(gable_forest_create(comm, 2, 2, NULL, roots, &f), GABLE_ERR_ARGUMENT,
         "rank 1: leaf 1 has its root on rank 7 of 3");
  const gable_root beyond[] = {{0, 0}, {0, bad ? 2 : 1}};
  expect(gable_forest_create(comm, 2, 2, NULL, beyond, &f), GABLE_ERR_ARGUMENT,
         "rank 1: leaf 1 at position 1: rank 0 has 2 roots, and no root 2");
  const gable_off twice[] = {5, bad ? 5 : 6}, negative[] = {0, bad ? -1 : 1};
  const gable_root good[] = {{0, 0}, {0, 1}};
  expect(gable_forest_create(comm, 2, 2, twice, good, &f), GABLE_ERR_ARGUMENT,
         "rank 1: leaves 0 and 1 have the same position 5");
  expect(gable_forest_create(comm, 2, 2, negative, good, &f), GABLE_ERR_ARGUMENT, "rank 1: leaf 1 has position -1");
  /* A key on two ranks is no error; a key twice on one rank is, and so is a key that no root has. */
  const gable_off key[] = {10 * gable_comm_rank(comm), bad ? 20 : 10 * gable_comm_rank(comm) + 1},
                  none[] = {bad ? 3 : 0}, claimed[] = {20}, repeated[] = {bad ? 20 : key[0], key[1]};
  gable_root owner = {-1, -1};
  CHECK_OK(gable_forest_create_matching(comm, 2, key, 1, NULL, claimed, &f));
  CHECK_OK(gable_forest_get_leaves(f, NULL, &owner));
  CHECK(owner.rank == 2 && owner.index == 0, "key 20 leads to root %lld of rank %d", (long long)owner.index,
        (int)owner.rank);
  gable_forest_destroy(&f);
  expect(gable_forest_create_matching(comm, 2, repeated, 0, NULL, NULL, &f), GABLE_ERR_ARGUMENT,
         "rank 2: root 0 of rank 1 and root 1 of rank 1 have one key, 20");
  expect(gable_forest_create_matching(comm, 1, key, 1, NULL, none, &f), GABLE_ERR_ARGUMENT,
         "leaf 0 of rank 1: no root has its key 3");
  CHECK(!f, "a forest of a failed call");
  return ring(comm, &f) || (gable_forest_destroy(&f), 0) ? GABLE_ERR_STATE : GABLE_OK;
}

/* Arguments that one rank alone has wrong, or other than the rest, before any message is sent. */
static gable_status bad_arguments(gable_comm *comm, void *user)
{
  const int odd = gable_comm_rank(comm) == 1;
  const gable_off none[] = {0, 0}, counts[] = {1, 1}, places[] = {0, 1};
  gable_grid g = GABLE_GRID_INIT;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL, *out = NULL;
  gable_plan *plan = NULL;
  (void)user;
  expect(gable_forest_create_pattern(comm, odd ? (gable_pattern)7 : GABLE_PATTERN_GATHER, 1, &out), GABLE_ERR_ARGUMENT,
         "rank 1: no pattern 7");
  expect(gable_forest_create_pattern(comm, odd ? GABLE_PATTERN_GATHER : GABLE_PATTERN_ALLGATHER, 1, &out),
         GABLE_ERR_ARGUMENT, "rank 1: forests differ: the pattern is 2 on rank 1 and 1 on rank 0");
  g.cells[0] = 12;
  g.ranks[0] = 3;
  g.width = odd ? 2 : 1;
  expect(gable_forest_create_grid(comm, &g, &out), GABLE_ERR_ARGUMENT,
         "rank 1: grids differ: width is 2 on rank 1 and 1 on rank 0");
  g.width = 1;
  if (odd) g.size = 1;
  expect(gable_forest_create_grid(comm, &g, &out), GABLE_ERR_ARGUMENT, "rank 1: ");
  CHECK_OK(ring(comm, &f));
  expect(gable_forest_create_section(f, 2, odd ? NULL : counts, places, places, &out), GABLE_ERR_ARGUMENT,
         "rank 1: counts or offsets are NULL");
  const gable_off many = (gable_off)1 << 62, all[] = {many, many};
  expect(gable_forest_create_section(f, odd ? many : 2, odd ? all : counts, odd ? none : places, places, &out),
         GABLE_ERR_LIMIT, "rank 0: the points have more than 2^63 leaves");
  expect(gable_forest_create_section(f, 2, odd ? all : counts, places, places, &out), GABLE_ERR_ARGUMENT,
         "rank 1: point 0 has 4611686018427387904 roots from 0 on, of 2");
  const gable_off both[] = {2, 0}, far[] = {odd ? INT64_MAX : 0, 2};
  expect(gable_forest_create_section(f, 2, both, none, far, &out), GABLE_ERR_ARGUMENT,
         "rank 1: the point at position 0 has 2 leaves from 9223372036854775807 on");
  const gable_forest *two[] = {f, odd ? NULL : f};
  expect(gable_forest_concatenate(2, two, GABLE_ROOTS_SHARED, none, &out), GABLE_ERR_ARGUMENT, "rank 1: f[1] is NULL");
  two[1] = f;
  expect(gable_forest_concatenate(2, two, odd ? GABLE_ROOTS_LOCAL : GABLE_ROOTS_SHARED, none, &out), GABLE_ERR_ARGUMENT,
         "rank 1: concatenations differ: roots is 2 on rank 1 and 1 on rank 0");
  expect(gable_forest_concatenate(odd ? 1 : 2, two, GABLE_ROOTS_LOCAL, none, &out), GABLE_ERR_ARGUMENT,
         "rank 1: concatenations differ: n is 1 on rank 1 and 2 on rank 0");
  if (odd) o.size = 1;
  expect(gable_plan_create(f, &o, &plan), GABLE_ERR_ARGUMENT, "rank 1: ");
  CHECK(!out && !plan, "something of a failed call");
  gable_forest_destroy(&f);
  return GABLE_OK;
}

/* Every collective function that gives something; out is NULL on one rank alone, and then a forest of two. */
static gable_status no_out(gable_comm *comm, void *user)
{
  static const char text[] = "rank 1: out is NULL";
  const int odd = gable_comm_rank(comm) == 1;
  const gable_off none[] = {0, 0}, counts[] = {1, 1}, places[] = {0, 1};
  const gable_root root[] = {{0, 0}, {0, 1}};
  gable_grid g = GABLE_GRID_INIT;
  const gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL, *made = NULL, **out = odd ? NULL : &made;
  gable_plan *plan = NULL, *made_plan = NULL;
  gable_exchange *x = NULL;
  (void)user;
  g.cells[0] = 12;
  g.ranks[0] = 3;
  CHECK_OK(ring(comm, &f));
  CHECK_OK(gable_plan_create(f, &o, &plan));
  const gable_forest *two[] = {f, f}, *half[] = {odd ? NULL : f, f};
  gable_forest *lost = odd ? NULL : f;
  expect(gable_forest_create(comm, 2, 2, NULL, root, out), GABLE_ERR_ARGUMENT, text);
  expect(gable_forest_create_global(comm, 2, 2, NULL, places, out), GABLE_ERR_ARGUMENT, text);
  expect(gable_forest_create_matching(comm, 0, NULL, 0, NULL, NULL, out), GABLE_ERR_ARGUMENT, text);
  expect(gable_forest_create_pattern(comm, GABLE_PATTERN_GATHER, 1, out), GABLE_ERR_ARGUMENT, text);
  expect(gable_forest_create_grid(comm, &g, out), GABLE_ERR_ARGUMENT, text);
  expect(gable_forest_create_section(f, 2, counts, places, places, out), GABLE_ERR_ARGUMENT, text);
  expect(gable_forest_multi(f, out), GABLE_ERR_ARGUMENT, text);
  expect(gable_forest_inverse(f, out), GABLE_ERR_ARGUMENT, text);
  expect(gable_forest_ranks(f, out), GABLE_ERR_ARGUMENT, text);
  expect(gable_forest_embed_roots(f, 2, places, out), GABLE_ERR_ARGUMENT, text);
  expect(gable_forest_embed_leaves(f, 2, places, out), GABLE_ERR_ARGUMENT, text);
  expect(gable_forest_embed_leaves(f, 2, odd ? NULL : places, &made), GABLE_ERR_ARGUMENT,
         "rank 1: keep has 2 entries, and is NULL");
  expect(gable_forest_compose(f, f, out), GABLE_ERR_ARGUMENT, text);
  expect(gable_forest_compose(lost, f, &made), GABLE_ERR_ARGUMENT, "rank 1: a is NULL");
  expect(gable_forest_compose_inverse(f, lost, &made), GABLE_ERR_ARGUMENT, "rank 1: b is NULL");
  expect(gable_forest_merge(f, f, out), GABLE_ERR_ARGUMENT, text);
  expect(gable_forest_merge(f, lost, &made), GABLE_ERR_ARGUMENT, "rank 1: b is NULL");
  expect(gable_forest_concatenate(2, two, GABLE_ROOTS_SHARED, none, out), GABLE_ERR_ARGUMENT, text);
  expect(gable_forest_concatenate(2, half, GABLE_ROOTS_SHARED, none, &made), GABLE_ERR_ARGUMENT,
         "rank 1: f[0] is NULL");
  expect(gable_forest_concatenate(2, two, GABLE_ROOTS_SHARED, odd ? NULL : none, &made), GABLE_ERR_ARGUMENT,
         "rank 1: offset is NULL");
  expect(gable_plan_create(f, &o, odd ? NULL : &made_plan), GABLE_ERR_ARGUMENT, text);
  expect(gable_exchange_create(plan, NULL, odd ? NULL : &x), GABLE_ERR_ARGUMENT, text);
  CHECK(!made && !made_plan && !x, "something of a failed call");
  CHECK_OK(gable_comm_barrier(comm));
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  return GABLE_OK;
}

/* Roots are numbers, so a rank may say that it has 2^62. */
static gable_status many_roots(gable_comm *comm, void *user)
{
  const gable_off many = gable_comm_rank(comm) == 1 ? (gable_off)1 << 62 : 1, none[5] = {0};
  gable_forest *f = NULL, *out = NULL;
  (void)user;
  CHECK_OK(gable_forest_create(comm, many, 0, NULL, NULL, &f));
  const gable_forest *five[] = {f, f, f, f, f};
  expect(gable_forest_concatenate(5, five, GABLE_ROOTS_LOCAL, none, &out), GABLE_ERR_LIMIT,
         "forests 0 to 1 have more than 2^63 roots on rank 1");
  gable_forest_destroy(&f);
  CHECK_OK(gable_forest_create(comm, (gable_off)1 << 62, 0, NULL, NULL, &f));
  five[0] = f;
  expect(gable_forest_concatenate(1, five, GABLE_ROOTS_GLOBAL, none, &out), GABLE_ERR_LIMIT,
         "the forests have more than 2^63 roots");
  gable_forest_destroy(&f);
  return GABLE_OK;
}

static gable_status bad_plans(gable_comm *comm, void *user)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL, *hub = NULL;
  gable_plan *plan = NULL;
  (void)user;
  const gable_root to_hub[] = {{0, 0}};
  CHECK_OK(ring(comm, &f));
  o.count = gable_comm_rank(comm) == 2 ? 3 : 1;
  expect(gable_plan_create(f, &o, &plan), GABLE_ERR_ARGUMENT,
         "rank 2: plans differ: count is 3 on rank 2 and 1 on rank 0");
  o.count = 0;
  expect(gable_plan_create(f, &o, &plan), GABLE_ERR_ARGUMENT,
         "rank 0: count is 0 and fields 1: say 1 to 2^30, and 1 or more");
  o.count = 1;
  o.unit = GABLE_UNIT_D;
  o.op = GABLE_FOREST_OP_BXOR;
  expect(gable_plan_create(f, &o, &plan), GABLE_ERR_ARGUMENT, "rank 0: unit d has no op bxor");
  o.op = GABLE_FOREST_OP_REPLACE;
  o.leaf_space = GABLE_SPACE_DEVICE;
  expect(gable_plan_create(f, &o, &plan), GABLE_ERR_UNAVAILABLE, "arrays in device memory, and cpu has none");
  o.leaf_space = GABLE_SPACE_HOST;
  gable_forest *empty = NULL;
  CHECK_OK(gable_forest_create(comm, 0, 0, NULL, NULL, &empty));
  o.fields = (gable_off)1 << 61; /* times 8 bytes: 0 in 64 bits */
  expect(gable_plan_create(empty, &o, &plan), GABLE_ERR_LIMIT, "an edge has more than 2^59 bytes");
  gable_forest_destroy(&empty);
  CHECK_OK(gable_forest_create(comm, 1, 1, NULL, to_hub, &hub));
  gable_forest *inverse = NULL;
  expect(gable_forest_inverse(hub, &inverse), GABLE_ERR_ARGUMENT, "rank 0: a root has 3 leaves");
  gable_forest_destroy(&hub);
  gable_forest_destroy(&f);
  return GABLE_OK;
}

static gable_status states(gable_comm *comm, void *user)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  double root[2] = {1, 2}, leaf[2] = {0, 0};
  (void)user;
  CHECK_OK(ring(comm, &f));
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &x));
  expect(gable_exchange_end(x), GABLE_ERR_STATE, "has not begun");
  expect(gable_reduce_begin(x, leaf, root), GABLE_ERR_STATE, "a reduce of a plan for bcast");
  expect(gable_bcast_begin(x, root, NULL), GABLE_ERR_ARGUMENT, "is NULL");
  CHECK_OK(gable_bcast_begin(x, root, leaf));
  expect(gable_bcast_begin(x, root, leaf), GABLE_ERR_STATE, "has not ended");
  CHECK_OK(gable_exchange_end(x));
  CHECK(leaf[0] == 1 && leaf[1] == 2, "%g %g", leaf[0], leaf[1]);
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  return GABLE_OK;
}

/* An exchange of so many roots and leaves of this rank; all leaves have rank 0's root. */
static gable_exchange *to_rank_0(gable_comm *comm, int roots, int leaves, const gable_plan_options *o)
{
  const gable_root to = {0, 0};
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  CHECK_OK(gable_forest_create(comm, roots, leaves, NULL, &to, &f));
  CHECK_OK(gable_plan_create(f, o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &x));
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  return x;
}

/* Fetched values go to an array of their own: of own edges they would be written before the leaves are read. */
static gable_status fetch_in_place(gable_comm *comm, void *user)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  double root = 10, leaf = 5, update = 0;
  (void)user;
  o.direction = GABLE_DIRECTION_FETCH;
  o.op = GABLE_FOREST_OP_SUM;
  gable_exchange *x = to_rank_0(comm, 1, 1, &o);
  expect(gable_fetch_begin(x, &root, &leaf, &leaf), GABLE_ERR_ARGUMENT, "update is the array of the leaves");
  CHECK_OK(gable_fetch_begin(x, &root, &leaf, &update));
  CHECK_OK(gable_exchange_end(x));
  CHECK(leaf == 5 && update == 10 + 5 * gable_comm_rank(comm), "leaf %g, update %g", leaf, update);
  gable_exchange_destroy(&x);
  return GABLE_OK;
}

/* Rank 1 returns, stays away until rank 0 has waited in vain, or is late within the deadline, while the others wait for
 * it.  The deadline holds once all have what they need. */
typedef struct absence {
  int returns, stays;
  double sleeps, deadline;
  atomic_int named; /* errors that name rank 1 */
  atomic_int given_up;
} absence;

static gable_status leave_alone(gable_comm *comm, void *user)
{
  absence *a = user;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  double root[2] = {1, 2}, leaf[2] = {0, 0};
  CHECK_OK(ring(comm, &f));
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &x));
  CHECK_OK(gable_comm_barrier(comm));
  CHECK_OK(gable_comm_set_deadline(comm, a->deadline));
  gable_status status = GABLE_OK;
  if (gable_comm_rank(comm) == 1) sleep_s(a->sleeps);
  while (gable_comm_rank(comm) == 1 && a->stays && !atomic_load(&a->given_up)) sleep_s(0.01);
  if (gable_comm_rank(comm) != 1 || !a->returns) {
    status = gable_bcast_begin(x, root, leaf);
    if (!status) status = gable_exchange_end(x);
    if (!status && a->returns) status = gable_comm_barrier(comm);
  }
  if (!gable_comm_rank(comm)) atomic_store(&a->given_up, 1);
  if (status && strstr(gable_last_error(), "for rank 1, which")) atomic_fetch_add(&a->named, 1);
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  return status;
}

static void test_absence(void)
{
  absence gone = {.returns = 1, .deadline = 60}, stuck = {.stays = 1, .deadline = 0.1},
          late = {.sleeps = 0.3, .deadline = 60};
  double from = gi_now();
  expect(gable_comm_run("cpu/ranks:3", leave_alone, &gone), GABLE_ERR_BACKEND, "waits for rank 1, which has returned");
  CHECK(gi_now() - from < 10, "%g s", gi_now() - from);
  CHECK(gone.named == 2 || gone.named == 1, "%d ranks name rank 1", gone.named); /* one may wait for the other */
  from = gi_now();
  expect(gable_comm_run("cpu/ranks:3", leave_alone, &stuck), GABLE_ERR_DEADLINE,
         "rank 0 waited 0.1 s for rank 1, which did not come");
  CHECK(gi_now() - from < 10, "%g s", gi_now() - from);
  CHECK_OK(gable_comm_run("cpu/ranks:3", leave_alone, &late));
}

/* Rank 0's root goes to ranks 1 and 2, offered where it lies.  Rank 1 reads it beyond rank 0's deadline; rank 2 comes
 * when rank 0 has changed it, and must still get what rank 0 sent. */
static gable_status offers_to_two(gable_comm *comm, void *user)
{
  atomic_int *step = user;
  const int rank = gable_comm_rank(comm);
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  double root = 1, leaf = 1;
  o.op = GABLE_FOREST_OP_SUM;
  o.path = GABLE_PATH_DIRECT;
  gable_exchange *x = to_rank_0(comm, !rank, !!rank, &o);
  CHECK_OK(gable_comm_barrier(comm));
  if (rank == 0) CHECK_OK(gable_comm_set_deadline(comm, 0.05));
  while (rank == 2 && atomic_load(step) < 2) sleep_s(0.001);
  CHECK_OK(gable_bcast_begin(x, &root, &leaf));
  if (rank == 1) {
    const void *message = NULL;
    CHECK_OK(x->link->transport->in(x->link, 0, &message));
    atomic_store(step, 1);
    while (atomic_load(step) < 2) sleep_s(0.001);
  } else if (rank == 2) {
    CHECK_OK(gable_exchange_end(x));
    CHECK(leaf == 2, "%g, not 2: the message is read after the sender's end has failed", leaf);
    atomic_store(step, 3);
  } else {
    while (atomic_load(step) < 1) sleep_s(0.001);
    expect(gable_exchange_end(x), GABLE_ERR_DEADLINE, "for rank 1, which did not come");
    root = -777;
    atomic_store(step, 2);
    while (atomic_load(step) < 3) sleep_s(0.001);
  }
  gable_exchange_destroy(&x);
  return GABLE_OK;
}

static atomic_int no_reply;

static gable_status fail_out(gi_link *link, int k, void **message)
{
  (void)link, (void)k, (void)message;
  atomic_store(&no_reply, 1);
  return gable_set_error(GABLE_ERR_BACKEND, "no room for a reply");
}

/* A fetch that fails on rank 0 while it waits in a barrier: the barrier is right, and the fetch's end says why. */
static gable_status fetch_fails_beside(gable_comm *comm, void *user)
{
  const int rank = gable_comm_rank(comm);
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  double root = 10, leaf = 5, update = 0;
  gi_transport failing = gi_transport_ranks;
  (void)user;
  failing.out = fail_out;
  o.direction = GABLE_DIRECTION_FETCH;
  o.op = GABLE_FOREST_OP_SUM;
  gable_exchange *x = to_rank_0(comm, !rank, rank, &o);
  CHECK_OK(gable_fetch_begin(x, &root, &leaf, &update));
  if (!rank) x->link->transport = &failing;
  while (rank && !atomic_load(&no_reply)) sleep_s(0.001);
  CHECK_OK(gable_comm_barrier(comm));
  expect(gable_exchange_end(x), GABLE_ERR_BACKEND, rank ? "rank 0, which has returned" : "no room for a reply");
  if (!rank) x->link->transport = &gi_transport_ranks;
  gable_exchange_destroy(&x);
  return GABLE_OK;
}

static gable_status deadlines(gable_comm *comm, void *user)
{
  (void)user;
  CHECK_OK(gable_comm_set_deadline(comm, INFINITY));
  CHECK(comm->waits.deadline_s == 1e9, "an infinite deadline is %g s", comm->waits.deadline_s);
  CHECK_OK(gable_comm_set_deadline(comm, 2.5));
  CHECK(comm->waits.deadline_s == 2.5, "a deadline of 2.5 s is %g s", comm->waits.deadline_s);
  expect(gable_comm_set_deadline(comm, NAN), GABLE_ERR_ARGUMENT, "more than 0 s");
  return GABLE_OK;
}

static gable_status fails_itself(gable_comm *comm, void *user)
{
  (void)user;
  return gable_comm_rank(comm) == 1 ? GABLE_ERR_IO : gable_comm_barrier(comm);
}

static gable_status agrees(gable_comm *comm, void *user)
{
  gable_forest *f = NULL;
  (void)user;
  if (gable_comm_rank(comm) == 2) (void)gable_forest_create(NULL, 0, 0, NULL, NULL, &f);
  expect(gable_comm_agree(comm, gable_comm_rank(comm) == 2 ? GABLE_ERR_ARGUMENT : GABLE_OK), GABLE_ERR_ARGUMENT,
         "rank 2: comm is NULL");
  CHECK_OK(ring(comm, &f)); /* the comm works after an agreed error */
  gable_forest_destroy(&f);
  return GABLE_OK;
}

/* The allocation number k of rank 1 fails, with all later ones or alone: then none covers that nobody was told. */
typedef struct scarce {
  failing_allocator memory;
  failing_mode mode;
  long k;
  atomic_int ranks_failed;
  int in_exchange; /* allocations between begin and end */
} scarce;

/* One root with 40 leaves on each rank, which is a wide one. */
static gable_status reduce_hub(gable_comm *comm)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_root root[40];
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  for (int i = 0; i < 40; i++) root[i] = (gable_root){1, 0};
  o.direction = GABLE_DIRECTION_REDUCE;
  o.op = GABLE_FOREST_OP_SUM;
  gable_status status = gable_forest_create(comm, 1, 40, NULL, root, &f);
  if (!status) status = gable_plan_create(f, &o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, &x);
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  return status;
}

/* Each way to a forest from the ring. */
static gable_status algebra_of(gable_forest *f)
{
  const gable_off keep[] = {1}, count[] = {1, 2}, offset[] = {0, 1};
  gable_forest *g[6] = {NULL};
  gable_status status = gable_forest_inverse(f, &g[0]);
  if (!status) status = gable_forest_multi(f, &g[1]);
  if (!status) status = gable_forest_embed_roots(f, 1, keep, &g[2]);
  if (!status) status = gable_forest_embed_leaves(f, 1, keep, &g[3]);
  if (!status) status = gable_forest_merge(f, f, &g[4]);
  if (!status) status = gable_forest_create_section(f, 3, count, offset, offset, &g[5]);
  for (int k = 0; k < 6; k++) gable_forest_destroy(&g[k]);
  return status;
}

static gable_status work(gable_comm *comm, scarce *s)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL, *composed = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  double root[2] = {1, 2}, leaf[2] = {0, 0}, update[2] = {0, 0};
  gable_status status = reduce_hub(comm);
  o.direction = GABLE_DIRECTION_FETCH;
  o.op = GABLE_FOREST_OP_SUM;
  if (!status) status = ring(comm, &f);
  if (!status) status = algebra_of(f);
  if (!status) status = gable_forest_compose(f, f, &composed);
  if (!status) status = gable_plan_create(composed, &o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, &x);
  const long before = s->memory.count;
  for (int k = 0; k < 5 && !status; k++) {
    status = gable_fetch_begin(x, root, leaf, update);
    if (!status) status = gable_exchange_end(x);
  }
  if (gable_comm_rank(comm) == 1) s->in_exchange += s->memory.count != before;
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&composed);
  gable_forest_destroy(&f);
  return status;
}

static gable_status starve(gable_comm *comm, void *user)
{
  scarce *s = user;
  CHECK_OK(gable_comm_barrier(comm));
  if (gable_comm_rank(comm) == 1) failing_allocator_arm_mode(&s->memory, s->mode, s->k);
  const gable_status status = work(comm, s);
  if (gable_comm_rank(comm) == 1) failing_allocator_disarm(&s->memory);
  if (status) {
    CHECK(status == GABLE_ERR_MEMORY && strstr(gable_last_error(), "rank 1: out of memory"), "%d, %s", (int)status,
          gable_last_error());
    atomic_fetch_add(&s->ranks_failed, 1);
  }
  CHECK_OK(gable_comm_barrier(comm));
  return GABLE_OK;
}

static gable_status quiet(gable_comm *comm, void *user)
{
  const scarce *s = user;
  failing_allocator other = failing_allocator_init();
  forest_quiet_rounds(comm, GABLE_PATH_AUTO, gable_comm_rank(comm) == 1 ? &s->memory : &other);
  forest_quiet_rounds(comm, GABLE_PATH_BUFFER, gable_comm_rank(comm) == 1 ? &s->memory : &other);
  return GABLE_OK;
}

static void test_memory(failing_mode mode)
{
  scarce s = {.memory = failing_allocator_init(), .mode = mode};
  gable_context *ctx[RANKS];
  const gable_context_options scarce_options = failing_allocator_options(&s.memory);
  for (int r = 0; r < RANKS; r++) CHECK_OK(gable_context_create("cpu", r == 1 ? &scarce_options : NULL, &ctx[r]));
  const long before = s.memory.live;
  for (s.k = 0;; s.k += FAIL_STEP) {
    atomic_store(&s.ranks_failed, 0);
    CHECK_OK(gi_transport_ranks.run(ctx, RANKS, "cpu/ranks:3", starve, &s));
    CHECK(s.ranks_failed == 0 || s.ranks_failed == RANKS, "allocation %ld: %d ranks failed", s.k, s.ranks_failed);
    CHECK(s.memory.live == before, "allocation %ld: %ld blocks left", s.k, s.memory.live - before);
    if (!s.ranks_failed) break;
  }
  CHECK_OK(gi_transport_ranks.run(ctx, RANKS, "cpu/ranks:3", quiet, &s));
  CHECK(s.k > 20, "only %ld allocations were tried", s.k);
  CHECK(!s.in_exchange, "begin and end took memory");
  for (int r = 0; r < RANKS; r++) gable_context_destroy(&ctx[r]);
}

static gable_status agrees_twice(gable_comm *comm, void *user)
{
  const gable_status own = gable_comm_rank(comm) == 2 ? gable_set_error(GABLE_ERR_IO, user) : GABLE_OK;
  return gable_comm_agree(comm, gable_comm_agree(comm, own));
}

/* Ranks that call different functions: a short collective and a long one, or two short ones. */
typedef struct calls {
  size_t bytes[3]; /* of an allgather by each rank; 0: a barrier, which is one of 4 bytes */
  atomic_int told;
} calls;

static gable_status call_another(gable_comm *comm, void *user)
{
  calls *c = user;
  char in[4000] = {0}, out[3 * sizeof in];
  for (int k = 0; k < 3; k++) CHECK_OK(gable_comm_barrier(comm)); /* what an earlier one left is not taken for it */
  const size_t bytes = c->bytes[gable_comm_rank(comm)];
  const gable_status status = bytes ? gable_comm_allgather(comm, in, bytes, out) : gable_comm_barrier(comm);
  CHECK(status == GABLE_ERR_BACKEND, "%d: %s", (int)status, gable_last_error());
  if (strstr(gable_last_error(), "different functions")) atomic_fetch_add(&c->told, 1);
  return status;
}

static void test_different_calls(void)
{
  static const size_t each[][3] = {{0, 0, 20}, {4000, 0, 0}, {0, 4000, 4000}, {8, 4000, 0}, {4000, 3000, 4000}};
  for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
    calls c = {.told = 0};
    const double from = gi_now();
    memcpy(c.bytes, each[k], sizeof c.bytes);
    CHECK(gable_comm_run("cpu/ranks:3", call_another, &c) == GABLE_ERR_BACKEND, "%s", gable_last_error());
    CHECK(c.told > 0, "none of three ranks says that they call different functions");
    CHECK(gi_now() - from < 10, "%g s", gi_now() - from);
  }
}

int main(void)
{
  char plain[] = "no such file", with_rank[] = "rank 7: is no file"; /* the second text is the caller's, too */
  expect(gable_comm_run("cpu/ranks:3", agrees_twice, plain), GABLE_ERR_IO, "rank 2: no such file");
  CHECK(!strcmp(gable_last_error(), "rank 2: no such file"), "'%s' names ranks twice", gable_last_error());
  expect(gable_comm_run("cpu/ranks:3", agrees_twice, with_rank), GABLE_ERR_IO, "rank 2: rank 7: is no file");
  CHECK_OK(gable_comm_run("cpu/ranks:3", bad_graphs, NULL));
  CHECK_OK(gable_comm_run("cpu/ranks:3", bad_arguments, NULL));
  CHECK_OK(gable_comm_run("cpu/ranks:3", no_out, NULL));
  CHECK_OK(gable_comm_run("cpu/ranks:3", many_roots, NULL));
  CHECK_OK(gable_comm_run("cpu/ranks:3", bad_plans, NULL));
  CHECK_OK(gable_comm_run("cpu/ranks:3", states, NULL));
  CHECK_OK(gable_comm_run("cpu/ranks:3", fetch_in_place, NULL));
  CHECK_OK(gable_comm_run("cpu/ranks:3", agrees, NULL));
  for (int k = 0; k < 2; k++) /* the second time with an older error of this thread */
    expect(gable_comm_run("cpu/ranks:3", fails_itself, NULL), GABLE_ERR_IO,
           "rank 1: its function returned 4: file cannot be read or written");
  CHECK_OK(gable_comm_run("cpu", deadlines, NULL));
  CHECK_OK(gable_comm_run("cpu/ranks:2", fetch_fails_beside, NULL));
  atomic_int step = 0;
  CHECK_OK(gable_comm_run("cpu/ranks:3", offers_to_two, &step));
  test_absence();
  test_different_calls();
  for (int mode = 0; mode < FAIL_MODES; mode++) test_memory((failing_mode)mode);
  return 0;
}
