/* stream_link.h: messages between device memories that a library carries in the order of a stream (NCCL, NVSHMEM).
 *
 * A link joins a rank with fixed neighbours, as those of comm.h.  One call enqueues a round: every message goes out
 * from this rank's device memory, and every message for it comes in.  Nothing of a round is counted on the host, so
 * that a captured graph can be replayed.  Links of one comm may be under way in orders that differ between ranks, each
 * on a stream of its own. */
#ifndef GI_STREAM_LINK_H
#define GI_STREAM_LINK_H

#include "comm/comm.h"

typedef struct gi_stream_link {
  const struct gi_stream_messages *by;
  gable_comm *comm;
} gi_stream_link;

/* Message k of the shape is at bytes + at[k]. */
typedef struct gi_stream_room {
  char *bytes;
  const int64_t *at;
} gi_stream_room;

typedef struct gi_stream_messages {
  /* Collective, the same status on every rank.  The messages of both rooms, which stay where they are, are undefined
   * after it.  stream: done with what create has asked of it.  GABLE_ERR_UNAVAILABLE: no library, or it refuses these
   * ranks.  Where it fails stream may still have rounds under way; they end soon. */
  gable_status (*create)(gable_comm *comm, const gi_link_shape *shape, gi_stream_room out, gi_stream_room in,
                         void *stream, gi_stream_link **link);
  void (*destroy)(gi_stream_link *link);                     /* local; no stream uses it any more */
  gable_status (*round)(gi_stream_link *link, void *stream); /* local; enqueues */

  /* Local.  The link's rounds under way on this rank's streams end soon, undone, so that their memory may be freed when
   * the streams have come to their end; the link is of no use any more.  abort: all links of the comm. */
  void (*give_up)(gi_stream_link *link);
  void (*abort)(gable_comm *comm);
} gi_stream_messages;

extern const gi_stream_messages gi_nccl_messages; /* entries are NULL in a build without */

#endif
