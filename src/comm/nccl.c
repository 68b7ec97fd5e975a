/* nccl.c: the transport nccl: threads with a GPU each, whose device arrays NCCL carries; and the same messages between
 * processes (path nccl of the transport mpi).  What is set up, and arrays in host memory, go as between threads.
 *
 * The library is opened when it is first needed, so that Gable is bound to none.  NCCL matches sends and receives of
 * two ranks by the order in which they are asked for on one communicator; exchanges may be under way in different
 * orders, so each link has a communicator of its own while it lives, and one that every rank is done with serves again.
 */
#include <pthread.h>
#include <string.h>

#include "base/opened_library.h"
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

typedef struct link {
  gi_stream_link base;
  channel *channel;
  int n_out, n_in;
  int *out_rank, *in_rank;
  int64_t *out_bytes, *in_bytes;
  char **out, **in; /* [n_out], [n_in] */
} link;

static void close_all(gable_comm *comm);

/* For good: NCCL ends what is under way on it. */
static void give_up(channel *c)
{
  if (c->comm) nccl.abort(c->comm);
  c->comm = NULL;
}

static void drop_link(gable_comm *comm, link *l)
{
  void *const all[] = {l->out_rank, l->in_rank, l->out_bytes, l->in_bytes, l->out, l->in};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) gi_free(comm->ctx, all[k]);
  gi_free(comm->ctx, l);
}

static gable_status make_link(gable_comm *comm, const gi_link_shape *shape, gi_stream_room out, gi_stream_room in,
                              link **made, channel **fresh, uint64_t **masks, gi_nccl_id **ids)
{
  gable_status status = GABLE_OK;
  link *l = NULL;
  GI_TRY(need_library());
  GI_ALLOC_ZERO(comm->ctx, l, 1);
  *made = l;
  l->base.by = &gi_nccl_messages;
  l->base.comm = comm;
  GI_ALLOC(comm->ctx, l->out_rank, shape->n_out);
  GI_ALLOC(comm->ctx, l->out_bytes, shape->n_out);
  GI_ALLOC(comm->ctx, l->out, shape->n_out);
  GI_ALLOC(comm->ctx, l->in_rank, shape->n_in);
  GI_ALLOC(comm->ctx, l->in_bytes, shape->n_in);
  GI_ALLOC(comm->ctx, l->in, shape->n_in);
  GI_ALLOC_ZERO(comm->ctx, *fresh, 1);
  GI_ALLOC_ZERO(comm->ctx, *masks, comm->size);
  GI_ALLOC_ZERO(comm->ctx, *ids, comm->size);
  l->n_out = shape->n_out;
  l->n_in = shape->n_in;
  for (int k = 0; k < l->n_out; k++) {
    l->out_rank[k] = shape->out_rank[k];
    l->out_bytes[k] = shape->out_bytes[k];
    l->out[k] = out.bytes + out.at[k];
  }
  for (int k = 0; k < l->n_in; k++) {
    l->in_rank[k] = shape->in_rank[k];
    l->in_bytes[k] = shape->in_bytes[k];
    l->in[k] = in.bytes + in.at[k];
  }
done:
  return status;
}

/* Collective.  The first of the last 64 channels that no rank uses, or NULL. */
static gable_status find_unused(gable_comm *comm, uint64_t *masks, channel **out)
{
  uint64_t here = 0;
  int k = 0;
  for (const channel *c = comm->channels; c && k < 64; c = c->next, k++)
    if (!c->used && c->comm) here |= UINT64_C(1) << k;
  const gable_status status = gi_comm_first_common(comm, here, masks, &k);
  *out = NULL;
  for (channel *c = k < 0 ? NULL : comm->channels; c && !*out; c = c->next)
    if (k-- == 0) *out = c;
  return status;
}

/* Collective.  Rank 0's id makes the communicator. */
static gable_status open_channel(gable_comm *comm, gi_nccl_id *ids, channel *fresh)
{
  gable_status status = GABLE_OK;
  gi_nccl_id own;
  int before = GI_NOT_ENTERED;
  memset(&own, 0, sizeof own);
  GI_AGREE(comm, comm->rank ? GABLE_OK : checked(nccl.get_id(&own), GABLE_ERR_UNAVAILABLE, "nccl's id"));
  GI_TRY(gi_comm_allgather(comm, &own, sizeof own, ids));
  GI_AGREE(comm, comm->ctx->device->enter(comm->ctx, &before));
  GI_AGREE(comm, checked(nccl.init(&fresh->comm, comm->size, ids[0], comm->rank), GABLE_ERR_UNAVAILABLE,
                         "nccl refuses these ranks"));
done:
  comm->ctx->device->leave(comm->ctx, before);
  return status;
}

static gable_status enqueue(const link *l, void *stream)
{
  gable_status status = GABLE_OK;
  gable_comm *comm = l->base.comm;
  int wrong = 0, before = GI_NOT_ENTERED;
  if (!l->n_out && !l->n_in) goto done;
  GI_REQUIRE(l->channel->comm, GABLE_ERR_STATE, "the messages by nccl were given up");
  GI_TRY(comm->ctx->device->enter(comm->ctx, &before));
  wrong = nccl.group_start();
  for (int k = 0; k < l->n_out && !wrong; k++)
    wrong = nccl.send(l->out[k], (size_t)l->out_bytes[k], NCCL_INT8, l->out_rank[k], l->channel->comm, stream);
  for (int k = 0; k < l->n_in && !wrong; k++)
    wrong = nccl.receive(l->in[k], (size_t)l->in_bytes[k], NCCL_INT8, l->in_rank[k], l->channel->comm, stream);
  const int ended = nccl.group_end();
  GI_TRY(checked(wrong ? wrong : ended, GABLE_ERR_BACKEND, "messages by nccl"));
done:
  comm->ctx->device->leave(comm->ctx, before);
  return status;
}

static gable_status nccl_round(gi_stream_link *base, void *stream)
{
  return enqueue((const link *)base, stream);
}

/* NCCL connects two ranks at their first message, and allocates for it: the first round is here.  Where it does not
 * come to its end by the deadline, the channel is given up. */
static gable_status connect(const link *l, void *stream)
{
  gable_status status = GABLE_OK;
  gable_comm *comm = l->base.comm;
  const gi_device *device = comm->ctx->device;
  const int awaited = l->n_in ? l->in_rank[0] : l->n_out ? l->out_rank[0] : comm->rank;
  void *event = NULL;
  unsigned looks = 0;
  double since = 0.0;
  GI_TRY(device->event_create(comm->ctx, &event));
  GI_TRY(enqueue(l, stream));
  GI_TRY(device->event_record(comm->ctx, event, stream));
  while (!device->event_done(comm->ctx, event, 0)) GI_TRY(gi_comm_wait(comm, awaited, &looks, &since));
done:
  if (status) give_up(l->channel);
  if (event) device->event_destroy(comm->ctx, event);
  return status;
}

static gable_status nccl_create(gable_comm *comm, const gi_link_shape *shape, gi_stream_room out, gi_stream_room in,
                                void *stream, gi_stream_link **made)
{
  gable_status status = GABLE_OK;
  link *l = NULL;
  channel *fresh = NULL;
  uint64_t *masks = NULL;
  gi_nccl_id *ids = NULL;
  GI_AGREE(comm, make_link(comm, shape, out, in, &l, &fresh, &masks, &ids));
  GI_TRY(find_unused(comm, masks, &l->channel));
  if (!l->channel) {
    GI_TRY(open_channel(comm, ids, fresh));
    fresh->next = comm->channels;
    comm->channels = l->channel = fresh;
    comm->close_channels = close_all;
    fresh = NULL;
  }
  l->channel->used = 1;
  GI_AGREE(comm, connect(l, stream));
  *made = &l->base;
  l = NULL;
done:
  if (l && l->channel) l->channel->used = 0;
  if (l) drop_link(comm, l);
  gi_free(comm->ctx, fresh);
  gi_free(comm->ctx, masks);
  gi_free(comm->ctx, ids);
  return status;
}

static void nccl_destroy(gi_stream_link *base)
{
  link *l = (link *)base;
  l->channel->used = 0;
  drop_link(base->comm, l);
}

static void nccl_abort(gable_comm *comm)
{
  for (channel *c = comm->channels; c; c = c->next) give_up(c);
}

/* Where all ranks have come to their end without an error, NCCL takes leave in order; else each rank for itself. */
static void close_all(gable_comm *comm)
{
  if (gi_comm_agree(comm, GABLE_OK)) nccl_abort(comm);
  while (comm->channels) {
    channel *c = comm->channels;
    comm->channels = c->next;
    if (c->comm) nccl.destroy(c->comm);
    gi_free(comm->ctx, c);
  }
}

const gi_stream_messages gi_nccl_messages = {nccl_create, nccl_destroy, nccl_round, nccl_abort};

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
    .paths = 1u << GABLE_PATH_AUTO | 1u << GABLE_PATH_DIRECT | 1u << GABLE_PATH_BUFFER | 1u << GABLE_PATH_NCCL,
    .link_create = gi_ranks_link_create,
    .shared_create = gi_ranks_shared_create,
    .messages = &gi_nccl_messages,
    .gone = gi_ranks_gone,
};
