/* comm.h: the table of a transport, and a rank's end of it.
 *
 * A transport moves bytes: alltoall for set-up, links for what is repeated.  A link joins a rank with fixed neighbours
 * by messages of fixed lengths, one in each round and direction.  A round of a link:
 *
 *   start                  messages may come in from now on
 *   out(k), fill, post(k)  for each outgoing message; or offer(k), and at the end of the round settle(k)
 *   in(k), read, done(k)   for each incoming one
 *
 * out(k) of a round waits at most until the neighbour has started the round before.  So exchanges that begin and end in
 * different orders on different ranks do not wait in a circle, as long as no order needs a sender to be more than one
 * round ahead of its receiver (forest.h). */
#ifndef GI_COMM_H
#define GI_COMM_H

#include <gable/forest.h>

#include "base/context.h"
#include "base/wait.h"

/* transport: the comm's, or another table of the same transport for links of another kind. */
typedef struct gi_link {
  gable_comm *comm;
  const struct gi_transport *transport;
} gi_link;

/* Neighbours by increasing rank, never the own one; bytes > 0. */
typedef struct gi_link_shape {
  int n_out, n_in;
  const int *out_rank, *in_rank;
  const int64_t *out_bytes, *in_bytes;
} gi_link_shape;

/* Where messages of one side of a link lie: message k, bytes + at[k] to bytes + at[k + 1]. */
typedef struct gi_link_room {
  char *bytes;
  const int64_t *at;
} gi_link_room;

/* A block for each rank: bytes[r] (NULL: none) at base + at[r] (NULL: all at base). */
typedef struct gi_blocks {
  char *base;
  const int64_t *at, *bytes;
} gi_blocks;

static inline char *gi_block(const gi_blocks *b, int rank)
{
  return b->at ? b->base + b->at[rank] : b->base;
}
static inline int64_t gi_block_bytes(const gi_blocks *b, int rank)
{
  return b->bytes ? b->bytes[rank] : 0;
}

enum { GI_WORDS = 8, GI_SHORT_BYTES = (1 + GI_WORDS) * 8 }; /* a status, and words that go with it */

/* shared.h */
typedef struct gi_shared gi_shared;

/* Entries are NULL where a transport is not in this build, or has no such thing. */
typedef struct gi_transport {
  const char *name; /* as in a place: "ranks", "mpi", "peer", "nccl" */

  /* Runs f on each of size ranks of this process, rank r on ctx[r]. */
  gable_status (*run)(gable_context *const *ctx, int size, const char *where, gable_rank_function f, void *user);

  /* Collective; allocates nothing.  in->bytes[q] on rank r equals out->bytes[r] on rank q. */
  gable_status (*alltoall)(gable_comm *comm, const gi_blocks *out, const gi_blocks *in);

  /* Collective; allocates nothing.  The same for one block of at most GI_SHORT_BYTES that goes to every rank: out[r *
   * bytes] of rank r.  NULL: alltoall does it. */
  gable_status (*allgather)(gable_comm *comm, const void *in, size_t bytes, void *out);

  unsigned paths;      /* bit 1 << gable_path: those that link_create knows */
  int64_t offer_least; /* bytes from which a message is better offered than copied */
  int offer_replaces;  /* 1: only where it replaces: receivers copy it before they combine it with what is there */

  /* Collective.  create returns the same status on every rank, and takes a path that paths has;
   * GABLE_ERR_UNAVAILABLE: these ranks have no such path between them. */
  gable_status (*link_create)(gable_comm *comm, const gi_link_shape *shape, gable_path path, gi_link **out);
  void (*link_destroy)(gi_link *link); /* local; awaits nobody */

  /* As link_create, but messages lie where kernels of both ranks reach them, until the receiver's next start: in rooms
   * of the link's, whose bytes are set here, so that out(k) and in(k) give the same address in every round; or, where
   * these stay NULL, in slots.  link_destroy: when no stream uses them any more.  path: GABLE_PATH_AUTO: only where it
   * is no detour. */
  gable_status (*device_link_create)(gable_comm *comm, const gi_link_shape *shape, gable_path path, gi_link_room *out,
                                     gi_link_room *in, gi_link **link);

  /* Of such a link: where an outgoing or incoming message k lies in even and in odd rounds. */
  void (*slots)(gi_link *link, int k, int incoming, char *at[2]);

  gable_status (*start)(gi_link *link);
  gable_status (*out)(gi_link *link, int k, void **message); /* where to write it, aligned to 16 */
  gable_status (*post)(gi_link *link, int k);

  /* Instead of out and post: the receiver may read the message where it lies, until settle returns.  settle does not
   * wait for a receiver that has not come: it copies.  NULL: the transport cannot. */
  gable_status (*offer)(gi_link *link, int k, const void *message);
  gable_status (*settle)(gi_link *link, int k);

  gable_status (*in)(gi_link *link, int k, const void **message); /* waits for it */
  gable_status (*take)(gi_link *link, int k, void *to);           /* instead of in: copies it there; NULL: cannot */
  int (*here)(gi_link *link, int k);                              /* whether in would not wait */
  void (*done)(gi_link *link, int k);

  /* Symmetric memory (shared.h), bytes [multiple of 64] of zeros.  Collective, the same status on every rank.
   * device_create: device memory, which kernels of every rank reach.  path: GABLE_PATH_AUTO; _DIRECT and _COPY:
   * also where the ranks share a device in such a way that kernels that wait for each other are slow; _NVSHMEM: from
   * its heap; _PUT: from its heap, where no rank reaches another one's but by its calls.
   * GABLE_ERR_UNAVAILABLE: these ranks have none. */
  gable_status (*shared_create)(gable_comm *comm, int64_t bytes, gi_shared **out);
  gable_status (*device_create)(gable_comm *comm, int64_t bytes, gable_path path, gi_shared **out);

  int copies; /* 1: AUTO may take the path copy for runs of an array, from copy_least bytes of the device's class on */

  /* Device arrays by a library's calls on a stream (stream_link.h).  NULL: by windows, or staged. */
  const struct gi_stream_messages *messages;

  /* Whether the rank has ended, so that waiting for it is in vain.  NULL: the transport cannot know. */
  int (*gone)(gable_comm *comm, int rank);

  /* The comm's end; not of one that run made. */
  void (*destroy)(gable_comm *comm);
} gi_transport;

extern const gi_transport gi_transport_ranks;
extern const gi_transport gi_transport_mpi;
extern const gi_transport gi_transport_peer;
extern const gi_transport gi_transport_nccl;

/* Work that another rank may be waiting for while this one waits: polled by every wait of the comm. */
typedef struct gi_poll {
  struct gi_poll *next;
  void (*poll)(struct gi_poll *p);
} gi_poll;

/* What can be given back once a stream has come to an event: freed then, at a later set-up or at the comm's end. */
typedef struct gi_later {
  struct gi_later *next;
  void *event; /* of the comm's context, recorded */
  void (*free)(struct gi_later *l);
} gi_later;

struct gable_comm {
  const gi_transport *transport;
  gable_context *ctx;
  int rank, size;
  int owned; /* by the caller, who destroys it */
  char where[64];
  gi_team waits;     /* of this rank: its deadline */
  double patience_s; /* of a wait before the processor is offered to others */
  gi_poll *polls;    /* under way */
  int polling;
  gi_later *laters;
  int *fault;                       /* host memory that kernels write (gik_exchange_step.fault); NULL: none waits */
  int64_t *at, *bytes, *blocks;     /* [size], [size], [4 * size] for collectives that must not allocate */
  int64_t *words;                   /* [size * (1 + GI_WORDS)] of each rank, until the next collective */
  struct gi_nccl_channel *channels; /* of links that NCCL carries, the last one first */
  void (*close_channels)(gable_comm *comm); /* Collective; NULL: there were none */
  void (*abort_channels)(gable_comm *comm); /* likewise, but local: what they carry ends undone */
  struct gi_bounded_call *calls;            /* of libraries, that go on in threads: what is later waits for them */
  int call_left; /* one that a library's first round was left behind in: memory that it knows must stay */
  void *state;   /* the transport's */
};

/* So many ranks run on this machine: whether a wait may keep its processor. */
void gi_comm_share_processors(gable_comm *comm, int ranks);

/* Fills a comm whose ctx, rank, size and transport are set; release gives back what this took, and takes leave of
 * libraries that carried its messages: Collective where close_channels is set. */
gable_status gi_comm_init(gable_comm *comm, const char *where);
void gi_comm_release(gable_comm *comm);

/* What follows is Collective, but for gi_comm_most, and allocates nothing. */

/* out [size * bytes]. */
gable_status gi_comm_allgather(gable_comm *comm, const void *in, size_t bytes, void *out);

/* The error of the first rank whose own is one, on every rank.  agree_on: where none is, comm->words [size * n] are the
 * words [n] of each rank, n <= GI_WORDS.  alike: and the first alike of them are the same on every rank, else
 * GABLE_ERR_ARGUMENT with "what differ: names[k] is ...". */
gable_status gi_comm_agree(gable_comm *comm, gable_status own);
gable_status gi_comm_agree_on(gable_comm *comm, gable_status own, int n, const int64_t *words);
gable_status gi_comm_alike(gable_comm *comm, gable_status own, const char *what, int alike, const char *const *names,
                           int n, const int64_t *words);

/* Local: of comm->words with n of each rank, the largest k-th one. */
int64_t gi_comm_most(const gable_comm *comm, int n, int k);

/* *first: the lowest bit that own has on every rank, or -1; *most: the largest own. */
gable_status gi_comm_first_common(gable_comm *comm, uint64_t own, int *first);
gable_status gi_comm_largest(gable_comm *comm, int64_t own, int64_t *most);

/* from: counts out[r] of items for each rank r, one after another; to: counts in[r] from each.  out, in [size]; an item
 * has bytes.  trade_counts: in[r] is what rank r has as out of this rank; where own is an error, out and in are not
 * used, and every rank has it. */
gable_status gi_trade(gable_comm *comm, const int64_t *out, const int64_t *in, size_t bytes, const void *from,
                      void *to);
gable_status gi_trade_counts(gable_comm *comm, gable_status own, const int64_t *out, int64_t *in);

/* Raises here what rank returned, with "rank 3: " before its message unless that names a rank already. */
gable_status gi_comm_raise_of(int rank, gable_status returned, const char *message, int names_rank);

/* Collective, after a local phase: every rank goes to done: where one rank failed. */
#define GI_AGREE(comm, call)                                                                                           \
  do {                                                                                                                 \
    const gable_status local_status = (call);                                                                          \
    GI_TRY(gi_comm_agree((comm), local_status));                                                                       \
  } while (0)

/* The first local phase of a function that gives *out: out may be NULL on one rank alone. */
#define GI_OUT(out, call) ((out) ? (call) : gi_raise(GABLE_ERR_ARGUMENT, __FILE__, __LINE__, __func__, "out is NULL"))
#define GI_AGREE_OUT(comm, out, call) GI_AGREE(comm, GI_OUT(out, call))

/* Collective.  ptr = count zeros of its own type; every rank goes to done: where one has no memory. */
#define GI_AGREE_ALLOC(comm, ptr, count)                                                                               \
  do {                                                                                                                 \
    const double wanted = (double)(count) * (double)sizeof *(ptr);                                                     \
    (ptr) = gi_alloc_zero((comm)->ctx, (count), sizeof *(ptr));                                                        \
    GI_AGREE(comm, (ptr) ? GABLE_OK : gi_raise_memory(wanted, NULL, __FILE__, __LINE__, __func__));                    \
  } while (0)

/* One unsuccessful look while waiting for rank: polls what is under way, backs off; an error past the deadline. */
gable_status gi_comm_wait(gable_comm *comm, int rank, unsigned *looks, double *since);

void gi_comm_poll_add(gable_comm *comm, gi_poll *p);
void gi_comm_poll_remove(gable_comm *comm, gi_poll *p);

/* GABLE_ERR_DEADLINE where a kernel of this rank has waited in vain. */
gable_status gi_comm_check_kernels(gable_comm *comm);

/* Whether a wait of this rank has ended at its deadline: what only all ranks together can give back then stays. */
int gi_comm_lost(const gable_comm *comm);

/* l->free is called when the stream has come to l->event.  reap: for those that are done.  drain: for all; where a
 * library carries messages, which may wait for a rank that never comes, they are given up at the deadline. */
void gi_comm_later(gable_comm *comm, gi_later *l);
void gi_comm_reap(gable_comm *comm);
void gi_comm_drain(gable_comm *comm);

/* Collective.  The comm of one rank, and the one over messages, each with its own memory from ctx. */
gable_status gi_ranks_self(gable_context *ctx, gable_comm **out);
gable_status gi_mpi_create(gable_context *ctx, const gable_message_passing *m, gable_comm **out);

#endif
