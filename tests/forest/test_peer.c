/* Exchanges between arrays in device memory: the same bits as between arrays in host memory, roots with 10^5 leaves
 * too; what a rank that does not come, comes late or has no memory means for the others.
 *
 * usage: test_peer [device], as "cuda:0": its ranks share the device; else the mirror. */
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/timer.h"
#include "comm/comm.h"
#include "device/device.h"
#include "forest/device_exchange.h"
#include "support/failing_allocator.h"
#include "support/test.h"

enum { RANKS = 3 };

static const char *device = "mirror";
static gable_path path = GABLE_PATH_AUTO; /* of exchanges between device arrays */

static const char *place(const char *transport)
{
  static char where[64];
  snprintf(where, sizeof where, "%s/%s", device, transport);
  return where;
}

static void sleep_s(double s)
{
  nanosleep(&(struct timespec){.tv_sec = (time_t)s, .tv_nsec = (long)(1e9 * (s - (double)(time_t)s))}, NULL);
}

/* Edges that all go to one root of rank 0, but for every third, which goes to one of 7 roots of the next rank. */
static gable_status hub(gable_comm *comm, gable_off leaves, gable_forest **out)
{
  const int next = (gable_comm_rank(comm) + 1) % gable_comm_size(comm);
  gable_root *root = malloc((size_t)leaves * sizeof *root);
  for (gable_off i = 0; i < leaves; i++) root[i] = i % 3 ? (gable_root){0, 3} : (gable_root){next, i / 3 % 7};
  const gable_status status = gable_forest_create(comm, 7, leaves, NULL, root, out);
  free(root);
  return status;
}

typedef struct arrays {
  void *host, *device;
  size_t bytes;
} arrays;

static void take(gable_comm *comm, arrays *a, size_t bytes)
{
  a->bytes = bytes;
  a->host = calloc(bytes, 1);
  CHECK_OK(gable_device_alloc(gable_comm_context(comm), bytes, &a->device));
}

static void drop(gable_comm *comm, arrays *a)
{
  free(a->host);
  gable_device_free(gable_comm_context(comm), &a->device);
}

static gable_exchange *exchange(gable_forest *f, gable_direction direction, gable_forest_op op, gable_unit_type unit,
                                gable_space space)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  o.direction = direction;
  o.op = op;
  o.unit = unit;
  o.root_space = o.leaf_space = space;
  if (space == GABLE_SPACE_DEVICE) o.path = path;
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &x));
  gable_plan_destroy(&plan);
  return x;
}

/* One exchange with host arrays, and one with copies of them in device memory: equal bytes. */
static void same(gable_comm *comm, gable_forest *f, gable_direction direction, gable_forest_op op, gable_unit_type unit,
                 size_t number, gable_off leaves)
{
  gable_context *ctx = gable_comm_context(comm);
  gable_exchange *const x[2] = {exchange(f, direction, op, unit, GABLE_SPACE_HOST),
                                exchange(f, direction, op, unit, GABLE_SPACE_DEVICE)};
  arrays all[3]; /* root, leaf, update */
  for (int k = 0; k < 3; k++) take(comm, &all[k], number * (size_t)(k ? leaves : 7));
  for (int round = 0; round < 3; round++) {
    for (int k = 0; k < 3; k++) {
      for (size_t i = 0; i < all[k].bytes / number; i++) {
        const size_t v = (i * 7 + (size_t)round * 31 + (size_t)gable_comm_rank(comm) * 13) % 23;
        if (unit == GABLE_UNIT_D)
          ((double *)all[k].host)[i] = 1.0 + (double)v / 3;
        else if (unit == GABLE_UNIT_S)
          ((float *)all[k].host)[i] = 1.0f + (float)v / 7;
        else
          memset((char *)all[k].host + i * number, (int)v, number);
      }
      CHECK_OK(gable_device_copy_in(ctx, all[k].device, all[k].host, all[k].bytes, NULL));
    }
    for (int d = 0; d < 2; d++) {
      void *root = d ? all[0].device : all[0].host, *leaf = d ? all[1].device : all[1].host;
      if (direction == GABLE_DIRECTION_REDUCE)
        CHECK_OK(gable_reduce_begin(x[d], leaf, root));
      else if (direction == GABLE_DIRECTION_FETCH)
        CHECK_OK(gable_fetch_begin(x[d], root, leaf, d ? all[2].device : all[2].host));
      else
        CHECK_OK(gable_bcast_begin(x[d], root, leaf));
      CHECK_OK(gable_exchange_end(x[d]));
      CHECK_OK(gable_exchange_wait(x[d]));
    }
    for (int k = 0; k < 3; k++) {
      char *found = malloc(all[k].bytes);
      CHECK_OK(gable_device_copy_out(ctx, found, all[k].device, all[k].bytes, NULL));
      CHECK_OK(gable_device_synchronise(ctx, NULL));
      CHECK(!memcmp(found, all[k].host, all[k].bytes), "direction %d op %d unit %d round %d array %d: other bits",
            (int)direction, (int)op, (int)unit, round, k);
      free(found);
    }
  }
  gable_exchange *gone[2] = {x[0], x[1]};
  for (int d = 0; d < 2; d++) gable_exchange_destroy(&gone[d]);
  for (int k = 0; k < 3; k++) drop(comm, &all[k]);
}

static gable_status hubs(gable_comm *comm, void *user)
{
  const gable_off *leaves = user;
  for (; *leaves; leaves++) {
    gable_forest *f = NULL;
    CHECK_OK(hub(comm, *leaves, &f));
    same(comm, f, GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_SUM, GABLE_UNIT_D, 8, *leaves);
    same(comm, f, GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_PROD, GABLE_UNIT_S, 4, *leaves);
    same(comm, f, GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_REPLACE, GABLE_UNIT_D, 8, *leaves);
    same(comm, f, GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_BXOR, GABLE_UNIT_CHAR, 1, *leaves);
    same(comm, f, GABLE_DIRECTION_REDUCE, GABLE_FOREST_OP_MINLOC, GABLE_UNIT_PAIR_I64, 16, *leaves);
    same(comm, f, GABLE_DIRECTION_BCAST, GABLE_FOREST_OP_SUM, GABLE_UNIT_D, 8, *leaves);
    same(comm, f, GABLE_DIRECTION_FETCH, GABLE_FOREST_OP_SUM, GABLE_UNIT_D, 8, *leaves);
    gable_forest_destroy(&f);
  }
  return GABLE_OK;
}

/* Each rank has two roots and two leaves, of the next rank's roots. */
static gable_status ring(gable_comm *comm, gable_forest **out)
{
  const int next = (gable_comm_rank(comm) + 1) % gable_comm_size(comm);
  const gable_root root[] = {{next, 0}, {next, 1}};
  return gable_forest_create(comm, 2, 2, NULL, root, out);
}

/* Rank 1 does not begin, or once rank 0 has waited in vain, or late, while the others wait for it in a kernel.  The
 * deadline holds once all have what they need. */
typedef struct absence {
  int returns, stays;
  double sleeps, deadline;
  atomic_int named; /* errors that name rank 1 */
  atomic_int given_up;
} absence;

static gable_status stay_away(gable_comm *comm, void *user)
{
  absence *a = user;
  gable_forest *f = NULL;
  arrays root, leaf;
  gable_status status = GABLE_OK;
  CHECK_OK(ring(comm, &f));
  take(comm, &root, 16);
  take(comm, &leaf, 16);
  CHECK_OK(gable_device_fill(gable_comm_context(comm), root.device, 0, 16, NULL));
  gable_exchange *x = exchange(f, GABLE_DIRECTION_BCAST, GABLE_FOREST_OP_REPLACE, GABLE_UNIT_D, GABLE_SPACE_DEVICE);
  CHECK_OK(gable_comm_barrier(comm));
  CHECK_OK(gable_comm_set_deadline(comm, a->deadline));
  if (gable_comm_rank(comm) == 1) sleep_s(a->sleeps);
  while (gable_comm_rank(comm) == 1 && a->stays && !atomic_load(&a->given_up)) sleep_s(0.01);
  if (gable_comm_rank(comm) != 1 || !a->returns) {
    status = gable_bcast_begin(x, root.device, leaf.device);
    if (!status) status = gable_exchange_end(x);
    if (!status) status = gable_exchange_wait(x);
  }
  if (!gable_comm_rank(comm)) atomic_store(&a->given_up, 1);
  if (status && strstr(gable_last_error(), "for rank 1, which")) atomic_fetch_add(&a->named, 1);
  if (status) CHECK(gable_bcast_begin(x, root.device, leaf.device) != GABLE_OK, "an exchange goes on after an error");
  gable_exchange_destroy(&x);
  gable_forest_destroy(&f);
  drop(comm, &root);
  drop(comm, &leaf);
  return status;
}

static void test_absence(void)
{
  absence gone = {.returns = 1, .deadline = 0.3}, stuck = {.stays = 1, .deadline = 0.3},
          late = {.sleeps = 0.3, .deadline = 60};
  double from = gi_now();
  CHECK(gable_comm_run(place("peer:3"), stay_away, &gone) == GABLE_ERR_DEADLINE, "%s", gable_last_error());
  CHECK(gone.named == 1, "%d ranks name rank 1: %s", gone.named, gable_last_error());
  CHECK(gi_now() - from < 20, "%g s", gi_now() - from);
  from = gi_now();
  CHECK(gable_comm_run(place("peer:3"), stay_away, &stuck) == GABLE_ERR_DEADLINE, "%s", gable_last_error());
  CHECK(gi_now() - from < 20, "%g s", gi_now() - from);
  CHECK_OK(gable_comm_run(place("peer:3"), stay_away, &late));
}

/* Path copy: rank 0 waits in vain for rank 1 to read the first message, and the second is written over it: rank 1 then
 * has an error, not the second one's values. */
typedef struct overrun {
  atomic_int given_up; /* by rank 0 */
  gable_status of[2];
} overrun;

static gable_status begin_and_end(gable_exchange *x, const arrays *root, const arrays *leaf)
{
  gable_status status = gable_bcast_begin(x, root->device, leaf->device);
  if (!status) status = gable_exchange_end(x);
  return status ? status : gable_exchange_wait(x);
}

static gable_status write_over(gable_comm *comm, void *user)
{
  overrun *o = user;
  const int rank = gable_comm_rank(comm);
  const gable_root at = {0, 0};
  gable_forest *f = NULL;
  arrays root, leaf;
  CHECK_OK(gable_forest_create(comm, !rank, rank, NULL, &at, &f));
  take(comm, &root, 8);
  take(comm, &leaf, 8);
  CHECK_OK(gable_device_fill(gable_comm_context(comm), root.device, 0, 8, NULL));
  gable_exchange *x = exchange(f, GABLE_DIRECTION_BCAST, GABLE_FOREST_OP_REPLACE, GABLE_UNIT_D, GABLE_SPACE_DEVICE);
  CHECK_OK(gable_comm_barrier(comm));
  CHECK_OK(gable_comm_set_deadline(comm, 0.5));
  if (!rank) CHECK_OK(begin_and_end(x, &root, &leaf));
  if (rank)
    while (!atomic_load(&o->given_up)) sleep_s(0.01);
  o->of[rank] = begin_and_end(x, &root, &leaf);
  if (!rank) atomic_store(&o->given_up, 1);
  gable_exchange_destroy(&x);
  gable_forest_destroy(&f);
  drop(comm, &root);
  drop(comm, &leaf);
  return GABLE_OK;
}

/* Messages of 64 MiB that are runs of an array are copied without being asked for; smaller ones, lists, and messages
 * that senders may store in the receiver's array are not. */
static gable_status copy_large(gable_comm *comm, void *user)
{
  static const struct {
    gable_off n, step;
    gable_forest_op op;
    gable_path path;
  } cases[] = {{8, 1, GABLE_FOREST_OP_SUM, GABLE_PATH_AUTO},
               {1 << 23, 1, GABLE_FOREST_OP_SUM, GABLE_PATH_COPY},
               {1 << 23, 1, GABLE_FOREST_OP_REPLACE, GABLE_PATH_AUTO},
               {1 << 20, 2, GABLE_FOREST_OP_SUM, GABLE_PATH_AUTO}};
  const int rank = gable_comm_rank(comm);
  (void)user;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const gable_off n = cases[k].n, roots = n * cases[k].step;
    gable_forest *f = NULL;
    gable_root *at = malloc((size_t)n * sizeof *at);
    double *values = malloc((size_t)n * sizeof *values), wrong = 0;
    arrays root, leaf;
    for (gable_off i = 0; i < n; i++) at[i] = (gable_root){!rank, i * cases[k].step};
    CHECK_OK(gable_forest_create(comm, roots, n, NULL, at, &f));
    take(comm, &root, (size_t)roots * 8);
    take(comm, &leaf, (size_t)n * 8);
    for (gable_off i = 0; i < roots; i++) ((double *)root.host)[i] = (double)(i + rank);
    CHECK_OK(gable_device_copy_in(gable_comm_context(comm), root.device, root.host, root.bytes, NULL));
    CHECK_OK(gable_device_fill(gable_comm_context(comm), leaf.device, 0, leaf.bytes, NULL));
    gable_exchange *x = exchange(f, GABLE_DIRECTION_BCAST, cases[k].op, GABLE_UNIT_D, GABLE_SPACE_DEVICE);
    CHECK(x->device->window->path == cases[k].path, "%d numbers go by path %d", (int)n, (int)x->device->window->path);
    CHECK_OK(begin_and_end(x, &root, &leaf));
    CHECK_OK(gable_device_copy_out(gable_comm_context(comm), values, leaf.device, leaf.bytes, NULL));
    for (gable_off i = 0; i < n; i++) wrong += values[i] != (double)(i * cases[k].step + !rank);
    CHECK(wrong == 0, "%g of %d numbers are wrong", wrong, (int)n);
    gable_exchange_destroy(&x);
    gable_forest_destroy(&f);
    drop(comm, &root);
    drop(comm, &leaf);
    free(at);
    free(values);
  }
  return GABLE_OK;
}

static void test_overrun(void)
{
  overrun o = {0};
  CHECK_OK(gable_comm_run(place("peer:2"), write_over, &o));
  CHECK(o.of[0] == GABLE_ERR_DEADLINE && o.of[1] == GABLE_ERR_DEADLINE, "%d and %d", (int)o.of[0], (int)o.of[1]);
}

/* Allocation number k of rank 1 fails. */
typedef struct scarce {
  failing_allocator memory;
  failing_mode mode;
  long k;
  atomic_int ranks_failed;
  long in_exchange; /* allocations between begin and end */
} scarce;

static gable_status work(gable_comm *comm, scarce *s, gable_direction direction, arrays *a)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  o.direction = direction;
  o.op = GABLE_FOREST_OP_SUM;
  o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  gable_status status = hub(comm, 300, &f);
  if (!status) status = gable_plan_create(f, &o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, &x);
  const long before = s->memory.count;
  for (int k = 0; k < 3 && !status; k++) {
    status = direction == GABLE_DIRECTION_FETCH ? gable_fetch_begin(x, a[0].device, a[1].device, a[2].device)
                                                : gable_reduce_begin(x, a[1].device, a[0].device);
    if (!status) status = gable_exchange_end(x);
  }
  if (gable_comm_rank(comm) == 1) s->in_exchange += s->memory.count - before;
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  return status;
}

static gable_status starve(gable_comm *comm, void *user)
{
  scarce *s = user;
  arrays a[3];
  for (int k = 0; k < 3; k++) {
    take(comm, &a[k], 8 * (k ? 300 : 7));
    CHECK_OK(gable_device_fill(gable_comm_context(comm), a[k].device, 0, a[k].bytes, NULL));
  }
  CHECK_OK(gable_comm_barrier(comm));
  if (gable_comm_rank(comm) == 1) failing_allocator_arm_mode(&s->memory, s->mode, s->k);
  gable_status status = work(comm, s, GABLE_DIRECTION_REDUCE, a);
  if (!status) status = work(comm, s, GABLE_DIRECTION_FETCH, a);
  if (gable_comm_rank(comm) == 1) failing_allocator_disarm(&s->memory);
  if (status) {
    CHECK(status == GABLE_ERR_MEMORY && strstr(gable_last_error(), "rank 1: out of memory"), "%d, %s", (int)status,
          gable_last_error());
    atomic_fetch_add(&s->ranks_failed, 1);
  }
  CHECK_OK(gable_comm_barrier(comm));
  for (int k = 0; k < 3; k++) drop(comm, &a[k]);
  return GABLE_OK;
}

static void test_memory(const gi_transport *t, failing_mode mode)
{
  scarce s = {.memory = failing_allocator_init(), .mode = mode};
  gable_context *ctx[RANKS];
  const gable_context_options options = failing_allocator_options(&s.memory);
  for (int r = 0; r < RANKS; r++) CHECK_OK(gable_context_create("mirror", r == 1 ? &options : NULL, &ctx[r]));
  const long before = s.memory.live;
  for (s.k = 0;; s.k += FAIL_STEP) {
    atomic_store(&s.ranks_failed, 0);
    CHECK_OK(t->run(ctx, RANKS, "mirror/test:3", starve, &s));
    CHECK(s.ranks_failed == 0 || s.ranks_failed == RANKS, "allocation %ld: %d ranks failed", s.k, s.ranks_failed);
    CHECK(s.memory.live == before, "allocation %ld: %ld blocks left", s.k, s.memory.live - before);
    if (!s.ranks_failed) break;
  }
  CHECK(s.k > 40, "only %ld allocations were tried", s.k);
  CHECK(!s.in_exchange, "begin and end took memory %ld times", s.in_exchange);
  for (int r = 0; r < RANKS; r++) gable_context_destroy(&ctx[r]);
}

/* Roots in device memory, leaves in host memory at positions 1 and 3 of 5: the others are the caller's while the
 * exchange is under way. */
static gable_status mixed(gable_comm *comm, void *user)
{
  gable_context *ctx = gable_comm_context(comm);
  const int rank = gable_comm_rank(comm), next = (rank + 1) % gable_comm_size(comm);
  const gable_off position[] = {1, 3};
  const gable_root root_of[] = {{next, 1}, {next, 0}};
  double root[2] = {10.0 * rank + 1, 10.0 * rank + 2}, leaf[5] = {-1, -1, -1, -1, -1};
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  void *on_device = NULL;
  (void)user;
  o.root_space = GABLE_SPACE_DEVICE;
  CHECK_OK(gable_device_alloc(ctx, sizeof root, &on_device));
  CHECK_OK(gable_device_copy_in(ctx, on_device, root, sizeof root, NULL));
  CHECK_OK(gable_forest_create(comm, 2, 2, position, root_of, &f));
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, NULL, &x));
  for (int round = 0; round < 3; round++) {
    CHECK_OK(gable_bcast_begin(x, on_device, leaf));
    leaf[0] = leaf[2] = leaf[4] = 7.0 + round;
    CHECK_OK(gable_exchange_end(x));
    CHECK(leaf[1] == 10.0 * next + 2 && leaf[3] == 10.0 * next + 1, "%g and %g", leaf[1], leaf[3]);
    for (int k = 0; k < 5; k += 2) CHECK(leaf[k] == 7.0 + round, "position %d has no edge and became %g", k, leaf[k]);
  }
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  gable_device_free(ctx, &on_device);
  return GABLE_OK;
}

/* A root of many is joined, on rank 0: arrays reach as far as it, in host memory and on the device, and on other ranks
 * are not looked at. */
static gable_status short_arrays(gable_comm *comm, void *user)
{
  const gable_off many = (gable_off)1 << 40;
  const gable_root to = {0, 1};
  gable_context *ctx = gable_comm_context(comm);
  gable_forest *f = NULL;
  arrays root, leaf;
  (void)user;
  take(comm, &root, 2 * sizeof(double));
  take(comm, &leaf, sizeof(double));
  CHECK_OK(gable_forest_create(comm, many, 1, NULL, &to, &f));
  for (int device_root = 0; device_root < 2; device_root++) {
    gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
    gable_plan *plan = NULL;
    gable_exchange *x = NULL;
    double *value = root.host, found = 0;
    o.leaf_space = GABLE_SPACE_DEVICE;
    o.root_space = device_root ? GABLE_SPACE_DEVICE : GABLE_SPACE_HOST;
    value[1] = 7 + device_root;
    CHECK_OK(gable_device_copy_in(ctx, root.device, root.host, root.bytes, NULL));
    CHECK_OK(gable_plan_create(f, &o, &plan));
    CHECK_OK(gable_exchange_create(plan, NULL, &x));
    CHECK_OK(gable_bcast_begin(x, device_root ? root.device : root.host, leaf.device));
    CHECK_OK(gable_exchange_end(x));
    CHECK_OK(gable_exchange_wait(x));
    CHECK_OK(gable_device_copy_out(ctx, &found, leaf.device, sizeof found, NULL));
    CHECK_OK(gable_device_synchronise(ctx, NULL));
    CHECK(found == 7 + device_root, "%g, not %d", found, 7 + device_root);
    gable_exchange_destroy(&x);
    gable_plan_destroy(&plan);
  }
  gable_forest_destroy(&f);
  drop(comm, &root);
  drop(comm, &leaf);
  return GABLE_OK;
}

int main(int argc, char **argv)
{
  const gable_off small[] = {3, 190, 1000, 0}, large[] = {3, 190, 1000, 100000, 0};
  if (argc > 1) device = argv[1];
  CHECK_OK(gable_comm_run(place("peer:3"), hubs, argc > 1 ? (void *)large : (void *)small));
  CHECK_OK(gable_comm_run(place("ranks:2"), hubs, (void *)small));
  CHECK_OK(gable_comm_run(place("peer:1"), hubs, (void *)small));
  CHECK_OK(gable_comm_run(place("peer:2"), mixed, NULL));
  CHECK_OK(gable_comm_run(place("ranks:3"), mixed, NULL));
  CHECK_OK(gable_comm_run(place("peer:2"), short_arrays, NULL));
  CHECK_OK(gable_comm_run(place("ranks:2"), short_arrays, NULL));
  test_absence();
  CHECK_OK(gable_comm_run(place("peer:2"), copy_large, NULL));
  gi_device_target_least = 1; /* messages of any length may be stored in the receiver's array */
  gi_device_flagged_most = 0;
  CHECK_OK(gable_comm_run(place("peer:2"), mixed, NULL));
  test_absence();
  path = GABLE_PATH_COPY;
  CHECK_OK(gable_comm_run(place("peer:3"), hubs, (void *)small));
  test_absence();
  test_overrun();
  path = GABLE_PATH_AUTO;
  CHECK(gable_comm_run("cpu/peer:2", hubs, (void *)small) == GABLE_ERR_ARGUMENT, "%s", gable_last_error());
  if (argc > 1) return 0;
  for (int mode = 0; mode < FAIL_MODES; mode++) test_memory(&gi_transport_peer, (failing_mode)mode);
  for (int mode = 0; mode < FAIL_MODES; mode++) test_memory(&gi_transport_ranks, (failing_mode)mode);
  path = GABLE_PATH_COPY;
  for (int mode = 0; mode < FAIL_MODES; mode++) test_memory(&gi_transport_peer, (failing_mode)mode);
  return 0;
}
