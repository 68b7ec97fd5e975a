/* nccl.c: the transport nccl: threads with a GPU each, whose device arrays NCCL carries; and the same messages between
 * processes (path nccl of the transport mpi).  What is set up, and arrays in host memory, go as between threads.
 *
 * NCCL waits for other ranks without a deadline where it makes a communicator and where it connects two ranks: these
 * calls are bounded (bounded_call.h).  Its kernels wait for other ranks, which a kernel that is loaded behind them may
 * wait for too: all that an exchange launches are loaded before the first message.
 *
 * The library is opened when it is first needed, so that Gable is bound to none.  NCCL matches sends and receives of
 * two ranks by the order in which they are asked for on one communicator; exchanges may be under way in different
 * orders, so each link has a communicator of its own while it lives, and one that every rank is done with serves again.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/opened_library.h"
#include "comm/bounded_call.h"
#include "comm/device_memory.h"
#include "comm/ranks.h"
#include "comm/stream_link.h"
#include "device/device.h"

/* As nccl.h has them; tests/forest/test_nccl.sh compares them with one that it finds. */
typedef struct gi_nccl_id {
  char internal[128];
} gi_nccl_id;
enum { NCCL_INT8 = 0 };

typedef struct library {
  int (*get_id)(gi_nccl_id *id);
  int (*init)(void **comm, int ranks, gi_nccl_id id, int rank);
  int (*destroy)(void *comm);
  int (*abort)(void *comm);
  const char *(*text)(int result);
  const char *(*last_error)(void *comm);
  int (*group_start)(void);
  int (*group_end)(void);
  int (*send)(const void *p, size_t count, int type, int peer, void *comm, void *stream);
  int (*receive)(void *p, size_t count, int type, int peer, void *comm, void *stream);
} library;

static library nccl;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char missing[256];

static void open_library(void)
{
  const gi_library_symbol all[] = {{"ncclGetUniqueId", &nccl.get_id},
                                   {"ncclCommInitRank", &nccl.init},
                                   {"ncclCommDestroy", &nccl.destroy},
                                   {"ncclCommAbort", &nccl.abort},
                                   {"ncclGetErrorString", &nccl.text},
                                   {"ncclGetLastError", &nccl.last_error},
                                   {"ncclGroupStart", &nccl.group_start},
                                   {"ncclGroupEnd", &nccl.group_end},
                                   {"ncclSend", &nccl.send},
                                   {"ncclRecv", &nccl.receive}};
  gi_library_open("libnccl.so.2", all, sizeof all / sizeof *all, missing, sizeof missing);
}

static gable_status need_library(void)
{
  gable_status status = GABLE_OK;
  pthread_once(&once, open_library);
  GI_REQUIRE(!missing[0], GABLE_ERR_UNAVAILABLE, "nccl: %s", missing);
done:
  return status;
}

/* NCCL says what was wrong for the calling thread, with its own name and lines before it. */
static gable_status checked(int result, gable_status as, const char *what)
{
  gable_status status = GABLE_OK;
  const char *text = result && nccl.last_error ? nccl.last_error(NULL) : "";
  GI_REQUIRE(!result, as, "%s: %s%s%.200s", what, nccl.text(result), text && *text ? ": " : "", text ? text : "");
done:
  return status;
}

/* One of NCCL's communicators. */
typedef struct gi_nccl_channel {
  struct gi_nccl_channel *next; /* made before this one: the same list on every rank */
  void *comm;
  int used; /* by this rank */
} channel;

/* A message of a round; n_out of them go out, then others come in. */
typedef struct message {
  char *at;
  size_t bytes;
  int rank;
} message;

typedef struct link {
  gi_stream_link base;
  channel *channel;
  int n, n_out;
  message *messages; /* [n] */
} link;

static void close_all(gable_comm *comm);
static void nccl_abort(gable_comm *comm);

static void drop_link(gable_comm *comm, link *l)
{
  GI_FREE(comm->ctx, l->messages, l);
}

static gable_status make_link(gable_comm *comm, const gi_link_shape *shape, gi_stream_room out, gi_stream_room in,
                              link **made, channel **fresh, gi_nccl_id **ids)
{
  gable_status status = GABLE_OK;
  link *l = NULL;
  GI_TRY(need_library());
  if (!comm->channels) GI_TRY(gi_load_waiting_kernels(comm->ctx, "nccl"));
  GI_ALLOC_ZERO(comm->ctx, l, 1);
  *made = l;
  l->base.by = &gi_nccl_messages;
  l->base.comm = comm;
  GI_ALLOC(comm->ctx, l->messages, shape->n_out + shape->n_in);
  GI_ALLOC_ZERO(comm->ctx, *fresh, 1);
  GI_ALLOC_ZERO(comm->ctx, *ids, comm->size);
  l->n_out = shape->n_out;
  l->n = shape->n_out + shape->n_in;
  for (int k = 0; k < shape->n_out; k++)
    l->messages[k] = (message){out.bytes + out.at[k], (size_t)shape->out_bytes[k], shape->out_rank[k]};
  for (int k = 0; k < shape->n_in; k++)
    l->messages[l->n_out + k] = (message){in.bytes + in.at[k], (size_t)shape->in_bytes[k], shape->in_rank[k]};
done:
  return status;
}

/* Collective.  The first of the last 64 channels that no rank uses, or NULL. */
static gable_status find_unused(gable_comm *comm, channel **out)
{
  uint64_t here = 0;
  int k = 0;
  for (const channel *c = comm->channels; c && k < 64; c = c->next, k++)
    if (!c->used && c->comm) here |= UINT64_C(1) << k;
  const gable_status status = gi_comm_first_common(comm, here, &k);
  *out = NULL;
  for (channel *c = k < 0 ? NULL : comm->channels; c && !*out; c = c->next)
    if (k-- == 0) *out = c;
  return status;
}

/* What a bounded call of NCCL needs: to make a communicator, to enqueue a first round, or to abort. */
typedef struct job {
  gi_bounded_call call;
  gable_context *ctx; /* read before NCCL is called */
  void *comm, *stream;
  gi_nccl_id id;
  int rank, ranks, result, n, n_out, aborts;
  message messages[];
} job;

static int enqueue(const message *m, int n, int n_out, void *comm, void *stream)
{
  int wrong = nccl.group_start();
  for (int k = 0; k < n && !wrong; k++)
    wrong = k < n_out ? nccl.send(m[k].at, m[k].bytes, NCCL_INT8, m[k].rank, comm, stream)
                      : nccl.receive(m[k].at, m[k].bytes, NCCL_INT8, m[k].rank, comm, stream);
  const int ended = nccl.group_end();
  return wrong ? wrong : ended;
}

/* The thread is NCCL's alone and ends after the call: it does not leave the device. */
static void run_job(gi_bounded_call *c)
{
  job *j = (job *)c; /* its first member */
  int before = GI_NOT_ENTERED;
  if (j->ctx->device->enter(j->ctx, &before))
    j->result = -1;
  else if (j->aborts)
    nccl.abort(j->comm);
  else if (j->comm)
    j->result = enqueue(j->messages, j->n, j->n_out, j->comm, j->stream);
  else
    j->result = nccl.init(&j->comm, j->ranks, j->id, j->rank);
}

static void late_job(gi_bounded_call *c)
{
  const job *j = (const job *)c;
  if (!j->n && !j->result) nccl.abort(j->comm);
}

static gable_status make_job(gable_comm *comm, int n, job **out)
{
  gable_status status = GABLE_OK;
  job *j = calloc(1, sizeof *j + (size_t)n * sizeof *j->messages);
  GI_REQUIRE_MEMORY(j, sizeof *j, "a call of NCCL");
  j->call.run = run_job;
  j->call.late = late_job;
  j->ctx = comm->ctx;
  j->rank = comm->rank;
  j->ranks = comm->size;
  *out = j;
done:
  return status;
}

/* For good: NCCL ends what is under way on it.  Its abort waits for its own threads and frees memory, and this rank,
 * which the others may wait for, goes on meanwhile. */
static void give_up(gable_comm *comm, channel *c)
{
  job *j = NULL;
  gi_error last;
  gi_keep_error(&last);
  if (!c->comm) return;
  if (make_job(comm, 0, &j)) {
    gi_adopt_error(&last);
    nccl.abort(c->comm);
  } else {
    j->comm = c->comm;
    j->aborts = 1;
    gi_call_aside(comm, &j->call);
  }
  c->comm = NULL;
}

static gable_status make_communicator(gable_comm *comm, const gi_nccl_id *id, channel *fresh)
{
  gable_status status = GABLE_OK;
  job *j = NULL;
  GI_TRY(make_job(comm, 0, &j));
  j->id = *id;
  status = gi_call_bounded(comm, &j->call, (comm->rank + 1) % comm->size, "ncclCommInitRank (ranks that share a GPU?)");
  if (!status) status = checked(j->result, GABLE_ERR_UNAVAILABLE, "nccl refuses these ranks");
  if (!status) fresh->comm = j->comm;
  gi_call_release(&j->call);
done:
  return status;
}

/* Collective.  Rank 0's id makes the communicator. */
static gable_status open_channel(gable_comm *comm, gi_nccl_id *ids, channel *fresh)
{
  gable_status status = GABLE_OK;
  gi_nccl_id own;
  memset(&own, 0, sizeof own);
  GI_AGREE(comm, comm->rank ? GABLE_OK : checked(nccl.get_id(&own), GABLE_ERR_UNAVAILABLE, "nccl's id"));
  GI_TRY(gi_comm_allgather(comm, &own, sizeof own, ids));
  GI_AGREE(comm, make_communicator(comm, &ids[0], fresh));
done:
  return status;
}

static gable_status nccl_round(gi_stream_link *base, void *stream)
{
  gable_status status = GABLE_OK;
  const link *l = (const link *)base;
  gable_comm *comm = base->comm;
  int before = GI_NOT_ENTERED;
  if (!l->n) goto done;
  GI_REQUIRE(l->channel->comm, GABLE_ERR_STATE, "the messages by nccl were given up");
  GI_TRY(comm->ctx->device->enter(comm->ctx, &before));
  GI_TRY(
      checked(enqueue(l->messages, l->n, l->n_out, l->channel->comm, stream), GABLE_ERR_BACKEND, "messages by nccl"));
done:
  comm->ctx->device->leave(comm->ctx, before);
  return status;
}

static const char first_messages[] = "NCCL's first messages (ranks that share a GPU?)";

/* NCCL connects two ranks at their first message, and allocates for it. */
static gable_status first_round(link *l, int awaited, void *stream)
{
  gable_status status = GABLE_OK;
  gable_comm *comm = l->base.comm;
  job *j = NULL;
  if (!l->n) goto done;
  GI_TRY(make_job(comm, l->n, &j));
  j->comm = l->channel->comm;
  j->stream = stream;
  j->n = l->n;
  j->n_out = l->n_out;
  memcpy(j->messages, l->messages, (size_t)l->n * sizeof *l->messages);
  status = gi_call_bounded(comm, &j->call, awaited, first_messages);
  if (status) {
    /* An abort brings the call back; until then it reads and writes the messages. */
    give_up(comm, l->channel);
    comm->call_left |= !gi_call_comes_back(comm, &j->call);
  } else {
    status = checked(j->result, GABLE_ERR_BACKEND, "messages by nccl");
  }
  gi_call_release(&j->call);
done:
  return status;
}

/* A moment in a stream. */
typedef struct moment {
  gable_context *ctx;
  void *event;
} moment;

static int is_past(void *user)
{
  const moment *m = user;
  return m->ctx->device->event_done(m->ctx, m->event, 0);
}

/* The first round is here.  Where it does not come to its end in time, the channel is given up. */
static gable_status connect(link *l, void *stream)
{
  gable_status status = GABLE_OK;
  gable_comm *comm = l->base.comm;
  const gi_device *device = comm->ctx->device;
  const int awaited = l->n ? l->messages[l->n - 1].rank : comm->rank;
  moment end = {comm->ctx, NULL};
  GI_TRY(device->event_create(comm->ctx, &end.event));
  GI_TRY(first_round(l, awaited, stream));
  GI_TRY(device->event_record(comm->ctx, end.event, stream));
  GI_TRY(gi_wait_bounded(comm, is_past, &end, awaited, first_messages));
done:
  if (status) give_up(comm, l->channel);
  if (end.event) device->event_destroy(comm->ctx, end.event);
  return status;
}

static gable_status nccl_create(gable_comm *comm, const gi_link_shape *shape, gi_stream_room out, gi_stream_room in,
                                void *stream, gi_stream_link **made)
{
  gable_status status = GABLE_OK;
  link *l = NULL;
  channel *fresh = NULL;
  gi_nccl_id *ids = NULL;
  GI_AGREE(comm, make_link(comm, shape, out, in, &l, &fresh, &ids));
  GI_TRY(find_unused(comm, &l->channel));
  if (!l->channel) {
    GI_TRY(open_channel(comm, ids, fresh));
    fresh->next = comm->channels;
    comm->channels = l->channel = fresh;
    comm->close_channels = close_all;
    comm->abort_channels = nccl_abort;
    fresh = NULL;
  }
  l->channel->used = 1;
  GI_AGREE(comm, connect(l, stream));
  *made = &l->base;
  l = NULL;
done:
  if (l && l->channel) l->channel->used = 0;
  if (l) drop_link(comm, l);
  GI_FREE(comm->ctx, fresh, ids);
  return status;
}

static void nccl_destroy(gi_stream_link *base)
{
  link *l = (link *)base;
  l->channel->used = 0;
  drop_link(base->comm, l);
}

static void nccl_give_up(gi_stream_link *base)
{
  give_up(base->comm, ((link *)base)->channel);
}

static void nccl_abort(gable_comm *comm)
{
  for (channel *c = comm->channels; c; c = c->next) give_up(comm, c);
}

/* Where all ranks have come to their end, and none has given up a channel, NCCL takes leave in order; else each rank
 * for itself.  The caller's last error stays. */
static void close_all(gable_comm *comm)
{
  int given_up = 0;
  gi_error last;
  gi_keep_error(&last);
  for (const channel *c = comm->channels; c; c = c->next) given_up |= !c->comm;
  if (gi_comm_agree(comm, given_up ? GABLE_ERR_BACKEND : GABLE_OK)) {
    nccl_abort(comm);
    gi_adopt_error(&last);
  }
  while (comm->channels) {
    channel *c = comm->channels;
    comm->channels = c->next;
    if (c->comm) nccl.destroy(c->comm);
    gi_free(comm->ctx, c);
  }
}

const gi_stream_messages gi_nccl_messages = {nccl_create, nccl_destroy, nccl_round, nccl_give_up, nccl_abort};

static gable_status nccl_run(gable_context *const *ctx, int size, const char *where, gable_rank_function f, void *user)
{
  gable_status status = GABLE_OK;
  for (int r = 0; r < size; r++)
    GI_REQUIRE(gi_has_device_memory(ctx[r]), GABLE_ERR_ARGUMENT, "%s has no device memory for the transport nccl",
               ctx[r]->where);
  GI_TRY(need_library());
  GI_TRY(gi_ranks_run(&gi_transport_nccl, ctx, size, where, NULL, f, user));
done:
  return status;
}

const gi_transport gi_transport_nccl = {
    .name = "nccl",
    .run = nccl_run,
    .alltoall = gi_ranks_alltoall,
    .allgather = gi_ranks_allgather,
    .paths = 1u << GABLE_PATH_AUTO | 1u << GABLE_PATH_DIRECT | 1u << GABLE_PATH_BUFFER | 1u << GABLE_PATH_NCCL,
    .link_create = gi_ranks_link_create,
    .shared_create = gi_ranks_shared_create,
    .messages = &gi_nccl_messages,
    .gone = gi_ranks_gone,
};
