/* window.h: messages of fixed lengths to fixed neighbours, which kernels store in the receiver's memory.  By the paths
 * copy and put a message is copied there instead (src/forest/device_put.c): it then has one slot, and memory of the
 * sender's, `staged`, where kernels may pack it.
 *
 * The link of a transport whose symmetric memory is on devices.  A message has two slots, so that a sender may be a
 * round ahead.  Two words a message count rounds: the sender raises `filled` at the receiver, the receiver raises
 * `emptied` at the sender; each lies in a cache line of the one who awaits it.  Flagged words need no
 * `filled`; messages that are copied have one word more, `holds`. */
#ifndef GI_COMM_WINDOW_H
#define GI_COMM_WINDOW_H

#include "comm/shared.h"

/* One message.  All addresses are of device memory. */
typedef struct gi_window_end {
  char *slot[2];   /* at the receiver, aligned to 256 */
  unsigned *await; /* here */
  unsigned *holds; /* in, paths copy and put: the round whose message lies in the slot (exchange_steps.h) */
  unsigned *raise; /* at the other end; NULL by the path put */
  void *signal;    /* the path put: raise, as a symmetric address of NVSHMEM's */

  /* Of messages with a target (exchange_steps.h), else NULL: at the sender; and at the receiver. */
  struct gik_target *target;
  unsigned *stored;
  int flagged; /* 1: a message of flagged words */
} gi_window_end;

typedef struct gi_window {
  gi_shared *memory;
  gi_window_end *out, *in; /* [n_out], [n_in] of the shape */
  gable_path path;         /* as create was asked for it */
  char *staged;            /* paths copy and put: outgoing messages one after another, each aligned to 256 */
} gi_window;

/* Whether messages go by copies and have one slot. */
static inline int gi_window_copies(gable_path path)
{
  return path == GABLE_PATH_COPY || path == GABLE_PATH_PUT;
}

/* What a message of bytes takes where it is packed, and in its slot. */
static inline int64_t gi_window_sent(gable_path path, int64_t bytes)
{
  return path == GABLE_PATH_PUT ? (bytes + 3) / 4 * 4 + (int64_t)sizeof(unsigned) : bytes;
}

/* Of a message of the path put: the word at the end of what is sent, which says what round it is of. */
static inline unsigned *gi_word_behind(char *message, int64_t bytes)
{
  return (unsigned *)(void *)(message + gi_window_sent(GABLE_PATH_PUT, bytes)) - 1;
}

/* Kinds of messages that kernels store (exchange_steps.h): plain ones; those that have a target where the ranks are
 * threads; and those of flagged words. */
enum { GI_PLAIN_MESSAGE, GI_MESSAGE_WITH_TARGET, GI_FLAGGED_MESSAGE };

/* Collective.  path: see comm.h.  kinds [n_in]: of the incoming messages; NULL: all are plain.  GABLE_ERR_UNAVAILABLE:
 * these ranks share no device memory; _MEMORY, _BACKEND (ranks that expect different lengths). */
gable_status gi_window_create(gable_comm *comm, const gi_link_shape *shape, const int64_t *kinds, gable_path path,
                              gi_window **out);

/* Paths copy and put: enqueues message k to rank, of bytes from device memory; by the path put the receiver's flag
 * follows it, and from is `staged`. */
gable_status gi_window_send(const gi_window *w, int k, int rank, const void *from, int64_t bytes, void *stream);

/* The path put: tells rank that incoming message k has been read. */
gable_status gi_window_emptied(const gi_window *w, int k, int rank, void *stream);

void gi_window_destroy(gi_window *w); /* Local; when no kernel of this rank uses it any more; NULL is fine */

#endif
