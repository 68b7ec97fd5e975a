/* mpi_node.c: links between processes of one node: channels in windows that they share, and messages that are read in
 * the sender's memory.
 *
 * Each rank places the channels of what it receives in its own part of a window.  A window is symmetric memory of the
 * comm: the first has WINDOW_LEAST bytes a rank; where some rank finds no room, all make another, at least twice as
 * large.  The owner takes a link's room back when both ends of every channel have let go. */
#define _GNU_SOURCE /* process_vm_readv */
#include "comm/channel.h"
#include "comm/mpi.h"
#include "comm/shared.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WINDOW_LEAST = 1 << 20, WINDOWS = 40 };
static const int offset_bits = 48; /* of what a channel's place is told by: number of the window, offset */

/* Room of this rank for the channels of one link. */
typedef struct room {
  struct room *next; /* by increasing (window, offset) */
  int window;
  int64_t offset, bytes;
} room;

/* What a rank must know to read another's memory. */
typedef struct reader {
  int64_t pid, address, value;
} reader;

typedef struct gi_node {
  int several; /* nodes: there are no windows */
  int reads;   /* each rank reads the memory of every other */
  int windows;
  gi_shared *window[WINDOWS];
  room *rooms;
  int64_t *pid;  /* [size] */
  int64_t value; /* which others read to see whether they can */
} gi_node;

static gi_node *node_of(const gable_comm *comm)
{
  return ((gi_mpi *)comm->state)->node;
}

static gable_status read_memory(gable_comm *comm, int rank, const void *from, void *to, int64_t bytes)
{
  gable_status status = GABLE_OK;
  union {
    const void *in;
    char *out;
  } source = {from}; /* iovec has one type for both */
  char *into = to;
  while (bytes > 0) {
    const struct iovec here = {into, (size_t)bytes}, there = {source.out, (size_t)bytes};
    const ssize_t n = process_vm_readv((pid_t)node_of(comm)->pid[rank], &here, 1, &there, 1, 0);
    GI_REQUIRE(n > 0, GABLE_ERR_BACKEND, "rank %d cannot read the memory of rank %d", comm->rank, rank);
    into += n;
    source.out += n;
    bytes -= n;
  }
done:
  return status;
}

static gable_status make_node(gable_comm *comm, reader **all)
{
  gable_status status = GABLE_OK;
  gi_node *n = NULL;
  GI_ALLOC_ZERO(comm->ctx, n, 1);
  ((gi_mpi *)comm->state)->node = n;
  GI_ALLOC(comm->ctx, n->pid, comm->size);
  GI_ALLOC(comm->ctx, *all, comm->size);
done:
  return status;
}

/* Collective.  Whether every rank reads a value in every other's memory. */
static gable_status try_reading(gable_comm *comm, reader *all)
{
  gable_status status = GABLE_OK;
  gi_node *n = node_of(comm);
  n->value = (int64_t)getpid() << 20 ^ comm->rank;
  const reader own = {getpid(), (int64_t)(intptr_t)&n->value, n->value};
  GI_TRY(gi_comm_allgather(comm, &own, sizeof own, all));
  int64_t reads = 1;
  for (int r = 0; r < comm->size; r++) n->pid[r] = all[r].pid;
  for (int r = 0; r < comm->size; r++) {
    int64_t found = 0;
    const struct iovec here = {&found, sizeof found}, there = {(void *)(intptr_t)all[r].address, sizeof found};
    reads &= r == comm->rank ||
             (process_vm_readv((pid_t)all[r].pid, &here, 1, &there, 1, 0) == sizeof found && found == all[r].value);
  }
  int64_t fail = 0;
  GI_TRY(gi_comm_largest(comm, !reads, &fail));
  n->reads = !fail;
done:
  return status;
}

/* Collective. */
static gable_status add_window(gable_comm *comm, int64_t bytes)
{
  gable_status status = GABLE_OK;
  gi_node *n = node_of(comm);
  GI_REQUIRE(n->windows < WINDOWS && bytes < (int64_t)1 << offset_bits, GABLE_ERR_LIMIT,
             "%.1f MB of messages do not fit in the node's windows", (double)bytes / 1e6);
  GI_TRY(gi_mpi_shared_create(comm, bytes, &n->window[n->windows]));
  n->windows++;
done:
  return status;
}

static gable_status find_node(gable_comm *comm)
{
  gable_status status = GABLE_OK;
  reader *all = NULL;
  GI_AGREE(comm, make_node(comm, &all));
  GI_TRY(add_window(comm, WINDOW_LEAST));
  GI_TRY(try_reading(comm, all));
done:
  gi_free(comm->ctx, all);
  return status;
}

gable_status gi_node_open(gable_comm *comm, int direct)
{
  gable_status status = GABLE_OK;
  if (!node_of(comm)) {
    status = find_node(comm);
    if (status && status != GABLE_ERR_UNAVAILABLE) {
      gi_node_close(comm);
      return status;
    }
    node_of(comm)->several = status == GABLE_ERR_UNAVAILABLE;
  }
  status = GABLE_OK;
  GI_REQUIRE(!node_of(comm)->several, GABLE_ERR_UNAVAILABLE, "the ranks are on several nodes: path window is of one");
  GI_REQUIRE(!direct || node_of(comm)->reads, GABLE_ERR_UNAVAILABLE,
             "path direct: the system lets no process read the memory of another");
done:
  return status;
}

void gi_node_close(gable_comm *comm)
{
  gi_node *n = node_of(comm);
  if (!n) return;
  for (room *r = n->rooms, *next; r; r = next) {
    next = r->next;
    gi_free(comm->ctx, r);
  }
  for (int k = 0; k < n->windows; k++) gi_shared_destroy(n->window[k]);
  GI_FREE(comm->ctx, n->pid, n);
  ((gi_mpi *)comm->state)->node = NULL;
}

static char *place_of(const gable_comm *comm, const room *r)
{
  return node_of(comm)->window[r->window]->at[comm->rank] + r->offset;
}

/* Whether both ends of every channel there have let go. */
static int is_left(const gable_comm *comm, const room *r)
{
  int64_t holders = 0;
  for (int64_t at = 0; at < r->bytes;) {
    gi_channel *c = (gi_channel *)(void *)(place_of(comm, r) + at);
    holders += atomic_load_explicit(&c->holders, memory_order_acquire);
    at += gi_channel_bytes(c->bytes);
  }
  return !holders;
}

static void collect_rooms(gable_comm *comm)
{
  for (room **at = &node_of(comm)->rooms; *at;) {
    room *r = *at;
    if (!is_left(comm, r)) {
      at = &r->next;
      continue;
    }
    *at = r->next;
    gi_free(comm->ctx, r);
  }
}

/* The first gap that is large enough takes r; 0: there is none. */
static int place_room(const gable_comm *comm, room *r)
{
  gi_node *n = node_of(comm);
  room **at = &n->rooms;
  for (int w = 0; w < n->windows; w++) {
    int64_t from = 0;
    for (;; at = &(*at)->next) {
      const int inside = *at && (*at)->window == w;
      const int64_t to = inside ? (*at)->offset : n->window[w]->bytes;
      if (to - from >= r->bytes) {
        *r = (room){*at, w, from, r->bytes};
        *at = r;
        return 1;
      }
      if (!inside) break;
      from = (*at)->offset + (*at)->bytes;
    }
  }
  return 0;
}

/* From the list, where it has a place. */
static void remove_room(gable_comm *comm, room *r)
{
  room **at = &node_of(comm)->rooms;
  while (*at && *at != r) at = &(*at)->next;
  if (*at) *at = r->next;
  gi_free(comm->ctx, r);
}

static gable_status make_room(gable_comm *comm, int64_t bytes, room **out)
{
  gable_status status = GABLE_OK;
  if (bytes) GI_ALLOC_ZERO(comm->ctx, *out, 1);
  if (*out) (*out)->bytes = bytes;
done:
  return status;
}

static gable_status make_channels(gable_comm *comm, gable_status own, int n, gi_channel_end *in, const int64_t *bytes)
{
  gable_status status = GABLE_OK;
  gi_node *node = node_of(comm);
  room *r = NULL;
  int64_t all = 0;
  for (int k = 0; k < n; k++) all += gi_channel_bytes(bytes[k]);
  if (!own) own = make_room(comm, all, &r);
  collect_rooms(comm);
  int placed = !r || place_room(comm, r);
  const int64_t lacks = placed ? 0 : all;
  GI_TRY(gi_comm_agree_on(comm, own, 1, &lacks));
  const int64_t missing = gi_comm_most(comm, 1, 0);
  if (missing) {
    const int64_t twice = 2 * node->window[node->windows - 1]->bytes;
    GI_TRY(add_window(comm, missing > twice ? missing : twice));
    placed = placed || place_room(comm, r);
  }
  for (int64_t k = 0, at = 0; k < n; at += gi_channel_bytes(bytes[k++])) {
    in[k].channel = (gi_channel *)(void *)(place_of(comm, r) + at);
    gi_channel_init(in[k].channel, bytes[k]);
  }
  r = NULL;
done:
  if (r) remove_room(comm, r);
  return status;
}

static int64_t tell_channel(gable_comm *comm, const gi_channel *c)
{
  const gi_node *n = node_of(comm);
  const char *at = (const char *)c;
  int w = 0;
  while (at < n->window[w]->at[comm->rank] || at >= n->window[w]->at[comm->rank] + n->window[w]->bytes) w++;
  return (int64_t)w << offset_bits | (at - n->window[w]->at[comm->rank]);
}

static gi_channel *find_channel(gable_comm *comm, int rank, int64_t told)
{
  const int64_t offset = told & (((int64_t)1 << offset_bits) - 1);
  return (gi_channel *)(void *)(node_of(comm)->window[told >> offset_bits]->at[rank] + offset);
}

/* collect_rooms finds it. */
static void drop_channel(gable_comm *comm, gi_channel *c)
{
  (void)comm;
  (void)c;
}

static gable_status wait_flag(gable_comm *comm, atomic_uint *flag, unsigned value, int rank)
{
  gable_status status = GABLE_OK;
  unsigned looks = 0;
  double since = 0.0;
  while (!gi_reached(flag, value)) {
    GI_TRY(gi_comm_wait(comm, rank, &looks, &since));
    if (since != 0.0) gi_mpi_progress(comm);
  }
done:
  return status;
}

static const gi_channel_memory copies = {make_channels, tell_channel, find_channel, drop_channel, wait_flag, NULL};
static const gi_channel_memory reads = {make_channels, tell_channel, find_channel,
                                        drop_channel,  wait_flag,    read_memory};

#define NODE_LINKS                                                                                                     \
  .link_destroy = gi_channel_link_destroy, .start = gi_channel_start, .out = gi_channel_out, .post = gi_channel_post,  \
  .in = gi_channel_in, .take = gi_channel_take, .here = gi_channel_here, .done = gi_channel_done

static const gi_transport transport_direct = {.name = "mpi",
                                              NODE_LINKS,
                                              .offer = gi_channel_offer,
                                              .settle = gi_channel_settle,
                                              .offer_least = 8192,
                                              .offer_replaces = 1};
static const gi_transport transport_window = {.name = "mpi", NODE_LINKS};

gable_status gi_node_link_create(gable_comm *comm, const gi_link_shape *shape, gable_path path, gi_link **out)
{
  const int direct = node_of(comm)->reads && path != GABLE_PATH_WINDOW;
  return gi_channel_link_create(comm, direct ? &reads : &copies, direct ? &transport_direct : &transport_window, shape,
                                out);
}
