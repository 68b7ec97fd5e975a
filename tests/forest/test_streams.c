/* An exchange is ordered with the caller's work on the stream that it names.  The mirror runs under a device table that
 * keeps a vector clock of each stream: an operation takes the clock of its stream, of what the host has waited for and
 * of awaited events.  Every step between begin and end must have the caller's work before begin in its clock, and the
 * caller's work after end must have every step.
 *
 * After PETSc's 646b835dd74 (a rank that only receives was not ordered) and a fault of links that kept the stream of
 * their first user. */
#include "comm/comm.h"
#include "device/device.h"
#include "device/mirror.h"
#include "forest/device_exchange.h"
#include "support/test.h"

enum { STREAMS = 128, EVENTS = 256, STEPS = 64, RANKS = 2, N = 5 };

typedef struct clocks {
  int at[STREAMS]; /* operations of each stream that come before */
} clocks;

/* Of a rank, whose thread it is. */
typedef struct recorder {
  const void *stream[STREAMS], *event[EVENTS];
  clocks of_stream[STREAMS], of_event[EVENTS], host;
  int streams, events, steps;
  clocks step[STEPS]; /* since it was cleared */
  int step_stream[STEPS];
  clocks recorded; /* of the last event */
} recorder;

static _Thread_local recorder r;
static gi_device device;
static gik_kernels kernels;
static gik_exchange_steps steps;
static const gik_exchange_steps *plain;

static void take(clocks *c, const clocks *other)
{
  for (int k = 0; k < STREAMS; k++)
    if (other->at[k] > c->at[k]) c->at[k] = other->at[k];
}

static int number_of(const void *p, const void **list, int *n, int most)
{
  for (int k = 0; k < *n; k++)
    if (list[k] == p) return k;
  CHECK(*n < most, "more than %d streams or events", most);
  list[*n] = p;
  return (*n)++;
}

static int stream_number(const void *stream)
{
  return number_of(stream, r.stream, &r.streams, STREAMS);
}

static clocks *clock_of_event(const void *event)
{
  return &r.of_event[number_of(event, r.event, &r.events, EVENTS)];
}

/* An operation on the stream. */
static clocks operate(const void *stream)
{
  const int k = stream_number(stream);
  clocks *c = &r.of_stream[k];
  take(c, &r.host);
  c->at[k]++;
  return *c;
}

static void record_step(const void *stream)
{
  CHECK(r.steps < STEPS, "more than %d steps", STEPS);
  r.step_stream[r.steps] = stream_number(stream);
  r.step[r.steps++] = operate(stream);
}

/* clang-format off */
static gable_status send(const gik_exchange_step *s, void *stream) { record_step(stream); return plain->send(s, stream); }
static gable_status receive(const gik_exchange_step *s, void *stream) { record_step(stream); return plain->receive(s, stream); }
static gable_status fetch(const gik_exchange_step *s, void *stream) { record_step(stream); return plain->fetch(s, stream); }
static gable_status empty(const gik_exchange_step *s, void *stream) { record_step(stream); return plain->empty(s, stream); }
static gable_status filled(const gik_exchange_step *s, void *stream) { record_step(stream); return plain->filled(s, stream); }
static gable_status copy(void *to, const void *from, size_t n, void *stream) { record_step(stream); return plain->copy(to, from, n, stream); }
static gable_status send_all(const gik_exchange_step *const *s, int n, void *stream) { record_step(stream); return plain->send_all(s, n, stream); }
static gable_status receive_all(const gik_exchange_step *const *s, int n, void *stream) { record_step(stream); return plain->receive_all(s, n, stream); }
/* clang-format on */

static gable_status event_record(gable_context *ctx, void *event, void *stream)
{
  clocks *c = clock_of_event(event);
  *c = r.of_stream[stream_number(stream)];
  take(c, &r.host);
  r.recorded = *c;
  return gi_device_mirror.event_record(ctx, event, stream);
}

static gable_status await_event(gable_context *ctx, void *stream, void *event)
{
  take(&r.of_stream[stream_number(stream)], clock_of_event(event));
  return gi_device_mirror.await_event(ctx, stream, event);
}

static int stuck; /* a library waits on the stream for a rank that does not come */

static int event_done(gable_context *ctx, void *event, int wait)
{
  if (stuck && !wait) return 0;
  take(&r.host, clock_of_event(event));
  return gi_device_mirror.event_done(ctx, event, wait);
}

static gable_status synchronise(gable_context *ctx, void *stream)
{
  take(&r.host, &r.of_stream[stream_number(stream)]);
  return gi_device_mirror.synchronise(ctx, stream);
}

static void make_device(void)
{
  device = gi_device_mirror;
  kernels = *device.kernels;
  plain = kernels.exchange_steps;
  steps = *plain;
  steps.send = send;
  steps.receive = receive;
  steps.fetch = fetch;
  steps.empty = empty;
  steps.filled = filled;
  steps.copy = copy;
  steps.send_all = send_all;
  steps.receive_all = receive_all;
  kernels.exchange_steps = &steps;
  device.kernels = &kernels;
  device.event_record = event_record;
  device.await_event = await_event;
  device.event_done = event_done;
  device.synchronise = synchronise;
  device.in_host = 0; /* a fetch takes windows, as on a GPU: here every rank begins it before any ends it */
}

/* A library that carries no message, for one rank. */
static gable_status no_link(gable_comm *comm, const gi_link_shape *shape, gi_stream_room out, gi_stream_room in,
                            void *stream, gi_stream_link **link);
static void drop_link(gi_stream_link *link)
{
  free(link);
}
static gable_status record_round(gi_stream_link *link, void *stream)
{
  (void)link;
  record_step(stream);
  return GABLE_OK;
}
static _Thread_local int given_up; /* links, by this rank */
static void give_up(gi_stream_link *link)
{
  (void)link;
  given_up++;
}
static void abort_links(gable_comm *comm)
{
  (void)comm;
  stuck = 0;
}
static const gi_stream_messages carries = {no_link, drop_link, record_round, give_up, abort_links};

static gable_status no_link(gable_comm *comm, const gi_link_shape *shape, gi_stream_room out, gi_stream_room in,
                            void *stream, gi_stream_link **link)
{
  (void)shape;
  (void)out;
  (void)in;
  (void)stream;
  *link = malloc(sizeof **link);
  **link = (gi_stream_link){&carries, comm};
  return GABLE_OK;
}

/* The exchange of one direction with its arrays, on a stream. */
typedef struct subject {
  gable_direction direction;
  void *stream, *root, *leaf, *update;
  gable_exchange *x;
  clocks before; /* with the caller's work before begin */
  int first;     /* step of the round */
} subject;

static gable_exchange_arrays arrays_of(const subject *s)
{
  const int down = s->direction == GABLE_DIRECTION_BCAST;
  return (gable_exchange_arrays){s->x, down ? s->root : s->leaf, down ? s->leaf : s->root, s->update};
}

static void open_subject(gable_comm *comm, gable_path path, gable_direction direction, int one_way, void *stream,
                         subject *s)
{
  gable_context *ctx = gable_comm_context(comm);
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_root root[N];
  const int me = gable_comm_rank(comm), next = one_way ? 0 : (me + 1) % gable_comm_size(comm);
  const gable_off leaves = one_way && !me ? 0 : N;
  for (int i = 0; i < N; i++) root[i] = (gable_root){next, N - 1 - i};
  *s = (subject){.direction = direction, .stream = stream};
  void **const at[] = {&s->root, &s->leaf, &s->update};
  for (int k = 0; k < 3; k++) {
    CHECK_OK(gable_device_alloc(ctx, N * sizeof(double), at[k]));
    CHECK_OK(gable_device_fill(ctx, *at[k], 0, N * sizeof(double), NULL));
  }
  CHECK_OK(gable_forest_create(comm, N, leaves, NULL, root, &f));
  o.direction = direction;
  o.op = direction == GABLE_DIRECTION_BCAST ? GABLE_FOREST_OP_REPLACE : GABLE_FOREST_OP_SUM;
  o.path = path;
  o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  CHECK_OK(gable_plan_create(f, &o, &plan));
  CHECK_OK(gable_exchange_create(plan, stream, &s->x));
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
}

static void close_subject(gable_comm *comm, subject *s)
{
  void **const at[] = {&s->root, &s->leaf, &s->update};
  gable_exchange_destroy(&s->x);
  for (int k = 0; k < 3; k++) gable_device_free(gable_comm_context(comm), at[k]);
}

/* The caller works on the stream, then begins. */
static void work(subject *s)
{
  s->first = r.steps;
  s->before = operate(s->stream);
}

/* From first on every step comes after what was before, and before what the caller does on the stream now. */
static void check_order(const subject *s, int last, const char *what)
{
  const int own = stream_number(s->stream);
  for (int k = s->first; k < last; k++)
    CHECK(r.step[k].at[own] >= s->before.at[own], "%s: step %d is not ordered after the caller's work", what, k);
  const clocks now = operate(s->stream);
  for (int k = s->first; k < last; k++) {
    const int on = r.step_stream[k];
    CHECK(now.at[on] >= r.step[k].at[on], "%s: the caller's work is not ordered after step %d", what, k);
  }
}

/* The host may write again where messages are staged: it has waited for every step so far. */
static void check_read(const gable_exchange *x, const char *what)
{
  for (int k = 0; k < r.steps && !x->device->window && !x->device->carried; k++)
    CHECK(r.host.at[r.step_stream[k]] >= r.step[k].at[r.step_stream[k]], "%s: begin has not waited for step %d", what,
          k);
}

static void one_by_one(subject *s, const char *what)
{
  const gable_exchange_arrays a = arrays_of(s);
  work(s);
  CHECK_OK(gable_exchange_begin_all(1, &a));
  check_read(s->x, what);
  CHECK_OK(gable_exchange_end(s->x));
  CHECK(r.steps - s->first >= 2, "%s: %d steps", what, r.steps - s->first);
  check_order(s, r.steps, what);
}

static const gable_direction directions[] = {GABLE_DIRECTION_BCAST, GABLE_DIRECTION_REDUCE, GABLE_DIRECTION_FETCH};

/* Every direction on the context's own stream and on two others, one after another: a later exchange has the memory of
 * an earlier one, and its own stream. */
static void each_direction(gable_comm *comm, gable_path path, void *const *stream)
{
  for (int one_way = 0; one_way < 2; one_way++)
    for (int k = 0; k < 3; k++)
      for (int d = 0; d < 3; d++) {
        subject s;
        char what[80];
        snprintf(what, sizeof what, "rank %d, path %d, direction %d, stream %d", gable_comm_rank(comm), (int)path,
                 (int)directions[d], k);
        open_subject(comm, path, directions[d], one_way && gable_comm_size(comm) > 1, stream[k], &s);
        r.steps = 0;
        for (int round = 0; round < 3; round++) one_by_one(&s, what);
        close_subject(comm, &s);
      }
}

/* Two under way on two streams, ended against their order; then two on one stream together. */
static void two_streams(gable_comm *comm, gable_path path, void *const *stream)
{
  subject s[2];
  for (int together = 0; together < 2; together++) {
    for (int k = 0; k < 2; k++) open_subject(comm, path, directions[k], 0, stream[together ? 1 : 1 + k], &s[k]);
    const gable_exchange_arrays a[] = {arrays_of(&s[0]), arrays_of(&s[1])};
    for (int round = 0; round < 3; round++) {
      int last[3];
      r.steps = 0;
      for (int k = 0; k < 2 && !together; k++) {
        work(&s[k]);
        CHECK_OK(gable_exchange_begin_all(1, &a[k]));
        last[k] = r.steps;
      }
      for (int k = 0; k < 2 && together; k++) work(&s[k]);
      if (together) CHECK_OK(gable_exchange_begin_all(2, a));
      for (int k = 0; k < 2 && together; k++) check_read(s[k].x, "together");
      if (together) CHECK_OK(gable_exchange_end_all(2, a));
      for (int k = 1; k >= 0 && !together; k--) {
        const int from = r.steps;
        CHECK_OK(gable_exchange_end(s[k].x));
        check_order(&s[k], last[k], "two streams, begin");
        s[k].first = from;
        check_order(&s[k], r.steps, "two streams, end");
      }
      for (int k = 0; k < 2 && together; k++) check_order(&s[k], r.steps, "together");
    }
    for (int k = 0; k < 2; k++) close_subject(comm, &s[k]);
  }
}

/* An exchange that fails in its end, since a kernel of its comm has waited in vain, gives its memory back after every
 * step of its begin. */
static void fail_between(gable_comm *comm, gable_path path, void *stream)
{
  for (int d = 0; d < 3 && comm->fault; d++) {
    subject s;
    open_subject(comm, path, directions[d], 0, stream, &s);
    const gable_exchange_arrays a = arrays_of(&s);
    r.steps = 0;
    CHECK_OK(gable_exchange_begin_all(1, &a));
    CHECK_OK(gable_comm_barrier(comm));
    *comm->fault = 1;
    CHECK(gable_exchange_end(s.x) == GABLE_ERR_DEADLINE && r.steps, "after %d steps: %s", r.steps, gable_last_error());
    const clocks after = operate(s.stream);
    for (int k = 0; k < r.steps && !comm->transport->messages; k++)
      CHECK(after.at[r.step_stream[k]] >= r.step[k].at[r.step_stream[k]],
            "path %d, direction %d: the caller has its arrays back before step %d is done", (int)path,
            (int)directions[d], k);
    const int links = !comm->transport->messages ? 0 : directions[d] == GABLE_DIRECTION_FETCH ? 2 : 1;
    given_up = 0;
    gable_exchange_destroy(&s.x);
    CHECK(given_up == links, "%d of %d links of a library are given up", given_up, links);
    *comm->fault = 0;
    for (int k = 0; k < r.steps; k++)
      CHECK(r.recorded.at[r.step_stream[k]] >= r.step[k].at[r.step_stream[k]],
            "path %d, direction %d: memory goes before step %d is done", (int)path, (int)directions[d], k);
    close_subject(comm, &s);
  }
}

static gable_status run(gable_comm *comm, void *user)
{
  gable_context *ctx = gable_comm_context(comm);
  void *stream[3] = {NULL, NULL, NULL};
  memset(&r, 0, sizeof r);
  for (int k = 1; k < 3; k++) CHECK_OK(ctx->device->stream_create(ctx, &stream[k]));
  each_direction(comm, *(gable_path *)user, stream);
  two_streams(comm, *(gable_path *)user, stream);
  for (int k = 0; k < 2; k++) fail_between(comm, *(gable_path *)user, stream[k]);
  for (int k = 1; k < 3; k++) ctx->device->stream_destroy(ctx, stream[k]);
  return GABLE_OK;
}

static void run_on(const gi_transport *t, int ranks, gable_path path)
{
  gable_context *ctx[RANKS] = {NULL, NULL};
  for (int k = 0; k < ranks; k++) {
    CHECK_OK(gable_context_create("mirror", NULL, &ctx[k]));
    ctx[k]->device = &device;
  }
  CHECK_OK(t->run(ctx, ranks, "mirror/recorded", run, &path));
  for (int k = 0; k < ranks; k++) gable_context_destroy(&ctx[k]);
}

/* What a library carries has no deadline: gable_exchange_wait has, aborts the library's work, and names the rank. */
static void wait_in_vain(gable_comm *comm)
{
  subject s;
  open_subject(comm, GABLE_PATH_AUTO, GABLE_DIRECTION_BCAST, 0, NULL, &s);
  r.steps = 0;
  one_by_one(&s, "before the library waits in vain");
  CHECK_OK(gable_comm_set_deadline(comm, 0.1));
  stuck = 1;
  CHECK(gable_exchange_wait(s.x) == GABLE_ERR_DEADLINE && strstr(gable_last_error(), "waited 0.1 s for rank 0, which"),
        "%s", gable_last_error());
  CHECK(!stuck, "the library's work goes on after the deadline");
  close_subject(comm, &s);
}

/* As run, where a library carries the messages of the one rank. */
static gable_status run_carried(gable_comm *comm, void *user)
{
  gi_transport t = *comm->transport;
  const gi_transport *own = comm->transport;
  int fault = 0;
  t.messages = &carries;
  t.device_create = NULL;
  comm->transport = &t;
  comm->fault = &fault;
  const gable_status status = run(comm, user);
  wait_in_vain(comm);
  comm->transport = own;
  comm->fault = NULL;
  return status;
}

int main(void)
{
  gable_path path = GABLE_PATH_AUTO;
  gable_context *ctx = NULL;
  make_device();
  run_on(&gi_transport_peer, 1, GABLE_PATH_AUTO);
  run_on(&gi_transport_peer, RANKS, GABLE_PATH_AUTO);
  run_on(&gi_transport_peer, RANKS, GABLE_PATH_COPY);
  run_on(&gi_transport_ranks, RANKS, GABLE_PATH_AUTO);
  CHECK_OK(gable_context_create("mirror", NULL, &ctx));
  ctx->device = &device;
  CHECK_OK(gi_transport_ranks.run(&ctx, 1, "mirror/carried", run_carried, &path));
  gable_context_destroy(&ctx);
  return 0;
}
