/* Begin and end captured once and replayed, on the mirror: what a CUDA graph does to an exchange.  Under a device table
 * that records the steps of a round instead of running them, with their arguments as they are then, any other call that
 * a capture forbids fails.  A replay runs the recorded steps; new data go in between, and eager rounds of the same
 * exchange.  So what a round needs of the host that changes from round to round shows, without a GPU. */
#include <stdlib.h>

#include "comm/comm.h"
#include "device/device.h"
#include "device/mirror.h"
#include "forest/device_exchange.h"
#include "support/test.h"

enum { RANKS = 3, N = 40, LEAVES = 2 * N, CALLS = 32, REPLAYS = 100, EXCHANGES = 2 };

typedef gable_status one_step(const gik_exchange_step *s, void *stream);
typedef gable_status many_steps(const gik_exchange_step *const *s, int n, void *stream);

/* One call of the steps' table. */
typedef struct call {
  one_step *one;
  many_steps *many;
  gik_exchange_step *step; /* [n] copies */
  int n;
  void *to; /* of a copy, where there is no step */
  const void *from;
  size_t bytes;
} call;

/* Of a rank, whose thread it is. */
static _Thread_local struct {
  int capturing, n;
  call calls[CALLS];
} tape;

static gi_device device;
static gik_kernels kernels;
static gik_exchange_steps steps;
static const gik_exchange_steps *plain;
static gable_context *ctx[RANKS];

static call *add(int n)
{
  CHECK(tape.n < CALLS, "more than %d calls in a capture", CALLS);
  call *c = &tape.calls[tape.n++];
  *c = (call){.n = n};
  if (n) c->step = malloc((size_t)n * sizeof *c->step);
  CHECK(c->step || !n, "no memory");
  return c;
}

static gable_status take(one_step *f, const gik_exchange_step *s, void *stream)
{
  if (!tape.capturing) return f(s, stream);
  call *c = add(1);
  c->one = f;
  c->step[0] = *s;
  return GABLE_OK;
}

static gable_status take_all(many_steps *f, const gik_exchange_step *const *s, int n, void *stream)
{
  if (!tape.capturing) return f(s, n, stream);
  call *c = add(n);
  c->many = f;
  for (int k = 0; k < n; k++) c->step[k] = *s[k];
  return GABLE_OK;
}

static gable_status copy(void *to, const void *from, size_t bytes, void *stream)
{
  if (!tape.capturing) return plain->copy(to, from, bytes, stream);
  call *c = add(0);
  c->to = to;
  c->from = from;
  c->bytes = bytes;
  return GABLE_OK;
}

/* clang-format off */
static gable_status send(const gik_exchange_step *s, void *stream) { return take(plain->send, s, stream); }
static gable_status receive(const gik_exchange_step *s, void *stream) { return take(plain->receive, s, stream); }
static gable_status fetch(const gik_exchange_step *s, void *stream) { return take(plain->fetch, s, stream); }
static gable_status empty(const gik_exchange_step *s, void *stream) { return take(plain->empty, s, stream); }
static gable_status filled(const gik_exchange_step *s, void *stream) { return take(plain->filled, s, stream); }
static gable_status publish(const gik_exchange_step *s, void *stream) { return take(plain->publish, s, stream); }
static gable_status send_all(const gik_exchange_step *const *s, int n, void *stream) { return take_all(plain->send_all, s, n, stream); }
static gable_status receive_all(const gik_exchange_step *const *s, int n, void *stream) { return take_all(plain->receive_all, s, n, stream); }
/* clang-format on */

static void forbid(const char *what)
{
  CHECK(!tape.capturing, "%s while a stream is captured", what);
}

static gable_status alloc(gable_context *c, size_t bytes, void **out)
{
  forbid("memory is taken");
  return gi_device_mirror.alloc(c, bytes, out);
}

static gable_status synchronise(gable_context *c, void *stream)
{
  forbid("a stream is awaited");
  return gi_device_mirror.synchronise(c, stream);
}

static int event_done(gable_context *c, void *event, int wait)
{
  forbid("an event is looked at");
  return gi_device_mirror.event_done(c, event, wait);
}

static gable_status copy_in(gable_context *c, void *to, const void *host, size_t bytes, void *stream)
{
  forbid("host memory is copied");
  return gi_device_mirror.copy_in(c, to, host, bytes, stream);
}

static gable_status copy_out(gable_context *c, void *host, const void *from, size_t bytes, void *stream)
{
  forbid("host memory is copied");
  return gi_device_mirror.copy_out(c, host, from, bytes, stream);
}

static void make_device(void)
{
  device = gi_device_mirror;
  kernels = *device.kernels;
  plain = kernels.exchange_steps;
  steps = (gik_exchange_steps){plain->load, send, receive, fetch, send_all, receive_all, empty, filled, copy, publish};
  kernels.exchange_steps = &steps;
  device.kernels = &kernels;
  device.alloc = alloc;
  device.synchronise = synchronise;
  device.event_done = event_done;
  device.copy_in = copy_in;
  device.copy_out = copy_out;
  device.in_host = 0; /* a fetch takes windows, as on a GPU: here every rank begins it before any ends it */
}

static void replay(void)
{
  for (int r = 0; r < RANKS; r++) gi_kernels_begin(ctx[r]);
  for (int k = 0; k < tape.n; k++) {
    const call *c = &tape.calls[k];
    const gik_exchange_step *each[GIK_TOGETHER];
    for (int e = 0; e < c->n; e++) each[e] = &c->step[e];
    CHECK_OK(c->one    ? c->one(c->step, NULL)
             : c->many ? c->many(each, c->n, NULL)
                       : plain->copy(c->to, c->from, c->bytes, NULL));
  }
  for (int r = 0; r < RANKS; r++) gi_kernels_end(ctx[r]);
}

static void clear_tape(void)
{
  for (int k = 0; k < tape.n; k++) free(tape.calls[k].step);
  tape.n = 0;
}

/* What ranks have in their arrays, before a round and as the serial program leaves it; of each exchange. */
typedef struct world {
  double root[EXCHANGES][RANKS][N], leaf[EXCHANGES][RANKS][LEAVES], update[EXCHANGES][RANKS][LEAVES];
} world;
static world now;

static int dense; /* 1: each rank's leaves are runs of roots, which have targets */

static gable_root root_of(int rank, int k)
{
  if (dense) return (gable_root){k < N ? rank : (rank + 1) % RANKS, k % N};
  return (gable_root){k % 2 ? rank : (rank + 1) % RANKS, k * 5 % N};
}

static void serial_round(gable_direction d, int e)
{
  for (int r = 0; r < RANKS; r++)
    for (int k = 0; k < LEAVES; k++) {
      const gable_root at = root_of(r, k);
      double *root = &now.root[e][at.rank][at.index], *leaf = &now.leaf[e][r][k];
      if (d == GABLE_DIRECTION_BCAST) *leaf = *root;
      if (d == GABLE_DIRECTION_FETCH) now.update[e][r][k] = *root;
      if (d != GABLE_DIRECTION_BCAST) *root += *leaf;
    }
}

typedef struct subject {
  gable_exchange *x[EXCHANGES];
  gable_exchange_arrays each[EXCHANGES];
  void *root[EXCHANGES], *leaf[EXCHANGES], *update[EXCHANGES];
} subject;

static void open_subject(gable_comm *comm, gable_path path, gable_direction d, int n, subject *s)
{
  gable_context *c = gable_comm_context(comm);
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_root root[LEAVES];
  for (int k = 0; k < LEAVES; k++) root[k] = root_of(gable_comm_rank(comm), k);
  CHECK_OK(gable_forest_create(comm, N, LEAVES, NULL, root, &f));
  o.direction = d;
  o.op = d == GABLE_DIRECTION_BCAST ? GABLE_FOREST_OP_REPLACE : GABLE_FOREST_OP_SUM;
  o.path = path;
  o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  CHECK_OK(gable_plan_create(f, &o, &plan));
  for (int e = 0; e < n; e++) {
    CHECK_OK(gable_exchange_create(plan, NULL, &s->x[e]));
    CHECK_OK(gable_device_alloc(c, sizeof now.root[e][0], &s->root[e]));
    CHECK_OK(gable_device_alloc(c, sizeof now.leaf[e][0], &s->leaf[e]));
    CHECK_OK(gable_device_alloc(c, sizeof now.update[e][0], &s->update[e]));
    const int down = d == GABLE_DIRECTION_BCAST;
    s->each[e] =
        (gable_exchange_arrays){s->x[e], down ? s->root[e] : s->leaf[e], down ? s->leaf[e] : s->root[e], s->update[e]};
  }
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
}

static void close_subject(gable_comm *comm, int n, subject *s)
{
  for (int e = 0; e < n; e++) {
    gable_exchange_destroy(&s->x[e]);
    gable_device_free(gable_comm_context(comm), &s->root[e]);
    gable_device_free(gable_comm_context(comm), &s->leaf[e]);
    gable_device_free(gable_comm_context(comm), &s->update[e]);
  }
}

static void begin_and_end(int n, const subject *s)
{
  CHECK_OK(gable_exchange_begin_all(n, s->each));
  CHECK_OK(gable_exchange_end_all(n, s->each));
}

/* New data of round number, from rank 0, in every rank's arrays; then the serial program's. */
static void new_data(gable_comm *comm, gable_direction d, int n, int number, const subject *s)
{
  gable_context *c = gable_comm_context(comm);
  const int me = gable_comm_rank(comm);
  CHECK_OK(gable_comm_barrier(comm));
  for (int e = 0; e < n; e++) {
    for (int k = 0; k < N; k++) now.root[e][me][k] = 1000 * number + 100 * me + k + e;
    for (int k = 0; k < LEAVES; k++) now.leaf[e][me][k] = number % 7 + 3 * me + k % 11 + e;
    CHECK_OK(gable_device_copy_in(c, s->root[e], now.root[e][me], sizeof now.root[e][me], NULL));
    CHECK_OK(gable_device_copy_in(c, s->leaf[e], now.leaf[e][me], sizeof now.leaf[e][me], NULL));
  }
  CHECK_OK(gable_comm_barrier(comm));
  for (int e = 0; e < n && !me; e++) serial_round(d, e);
  CHECK_OK(gable_comm_barrier(comm));
}

static void compare(gable_comm *comm, int number, int count, const double *right, const void *array, const char *what)
{
  double found[LEAVES];
  CHECK_OK(gable_device_copy_out(gable_comm_context(comm), found, array, (size_t)count * sizeof *found, NULL));
  for (int k = 0; k < count; k++)
    CHECK(found[k] == right[k], "round %d, rank %d: %s %d is %g, not %g", number, gable_comm_rank(comm), what, k,
          found[k], right[k]);
}

static void check_round(gable_comm *comm, gable_direction d, int n, int number, const subject *s)
{
  const int me = gable_comm_rank(comm);
  for (int e = 0; e < n; e++) {
    compare(comm, number, N, now.root[e][me], s->root[e], "root");
    compare(comm, number, LEAVES, now.leaf[e][me], s->leaf[e], "leaf");
    if (d == GABLE_DIRECTION_FETCH) compare(comm, number, LEAVES, now.update[e][me], s->update[e], "update");
  }
}

static gable_status run(gable_comm *comm, void *user)
{
  static const gable_direction directions[] = {GABLE_DIRECTION_BCAST, GABLE_DIRECTION_REDUCE, GABLE_DIRECTION_FETCH};
  for (int d = 0; d < 3; d++)
    for (int n = 1; n <= EXCHANGES; n++) {
      subject s;
      open_subject(comm, *(gable_path *)user, directions[d], n, &s);
      for (int number = 0; number < n - 1; number++) { /* a capture is not always the first round */
        new_data(comm, directions[d], n, number, &s);
        begin_and_end(n, &s);
        check_round(comm, directions[d], n, number, &s);
      }
      tape.capturing = 1;
      begin_and_end(n, &s);
      tape.capturing = 0;
      CHECK((s.x[0]->device->receive.targets != NULL) ==
                (dense && directions[d] == GABLE_DIRECTION_BCAST && *(gable_path *)user == GABLE_PATH_DIRECT),
            "direction %d, dense %d", (int)directions[d], dense);
      CHECK(tape.n >= 2, "%d calls are captured", tape.n);
      for (int number = 0; number < REPLAYS; number++) {
        new_data(comm, directions[d], n, number, &s);
        if (number % 3 == 2)
          begin_and_end(n, &s);
        else
          replay();
        check_round(comm, directions[d], n, number, &s);
      }
      clear_tape();
      close_subject(comm, n, &s);
    }
  return GABLE_OK;
}

int main(void)
{
  static const gable_path paths[] = {GABLE_PATH_DIRECT, GABLE_PATH_COPY};
  make_device();
  const int64_t flagged = gi_device_flagged_most;
  gi_device_target_least = 1;
  for (int p = 0; p < 4; p++) {
    gable_path path = paths[p % 2];
    dense = p / 2;
    gi_device_flagged_most = dense ? 0 : flagged; /* messages with targets */
    for (int r = 0; r < RANKS; r++) {
      CHECK_OK(gable_context_create("mirror", NULL, &ctx[r]));
      ctx[r]->device = &device;
    }
    CHECK_OK(gi_transport_peer.run(ctx, RANKS, "mirror/replayed", run, &path));
    for (int r = 0; r < RANKS; r++) gable_context_destroy(&ctx[r]);
  }
  return 0;
}
