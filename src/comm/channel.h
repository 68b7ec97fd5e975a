/* channel.h: links through memory that both ranks see, threads of a process or processes of a node.
 *
 * Each message has a channel of two slots, so that a sender may be one round ahead of its receiver.  A slot begins with
 * its flag, and a short message shares the flag's cache line; a longer one begins at the next.
 *
 * A message may also be offered where it lies.  The receiver claims it and reads it there, one copy in all; where the
 * sender needs its memory back before the receiver has come, it copies the message to the slot and claims it back. */
#ifndef GI_COMM_CHANNEL_H
#define GI_COMM_CHANNEL_H

#include "comm/comm.h"

enum { GI_CHANNEL_SLOTS = 2, GI_CHANNEL_LINE = 64 };

/* From one rank to another.  It holds no address, so it may lie anywhere in each process; aligned to a line. */
typedef struct gi_channel {
  _Alignas(GI_CHANNEL_LINE) atomic_uint emptied; /* rounds that the receiver is done with */
  atomic_int holders;                            /* ends; nobody touches it at 0 */
  int64_t bytes, slot_bytes;
  _Alignas(GI_CHANNEL_LINE) unsigned char slots[]; /* [SLOTS][slot_bytes] */
} gi_channel;

/* One end of a channel. */
typedef struct gi_channel_end {
  gi_channel *channel;
  int rank;         /* at the other end */
  unsigned rounds;  /* begun by this end */
  unsigned emptied; /* the sender's last look at the receiver's count */
} gi_channel_end;

/* Where channels lie, and how ranks wait and read there. */
typedef struct gi_channel_memory {
  /* Collective.  For the messages that come in, in [n].channel, initialised.  The same status on every rank: of one
   * whose own is an error, which makes none, or of one that makes them in vain; then none is left. */
  gable_status (*make)(gable_comm *comm, gable_status own, int n, gi_channel_end *in, const int64_t *bytes);
  /* A number that tells rank where its end of the channel is, and the channel that rank's number means. */
  int64_t (*tell)(gable_comm *comm, const gi_channel *c);
  gi_channel *(*find)(gable_comm *comm, int rank, int64_t told);
  void (*drop)(gable_comm *comm, gi_channel *c); /* by whoever let go of it last */
  /* Until *flag has come to value (modulo 2^32), which rank stores. */
  gable_status (*wait)(gable_comm *comm, atomic_uint *flag, unsigned value, int rank);
  /* Copies from the memory of rank; NULL: its addresses are those of this rank. */
  gable_status (*read)(gable_comm *comm, int rank, const void *from, void *to, int64_t bytes);
} gi_channel_memory;

typedef struct gi_channel_link {
  gi_link base;
  const gi_channel_memory *memory;
  int n_out, n_in;
  gi_channel_end *out, *in; /* [n_out], [n_in] */
} gi_channel_link;

static inline int gi_reached(atomic_uint *flag, unsigned value)
{
  return (int)(atomic_load_explicit(flag, memory_order_acquire) - value) >= 0;
}

/* Bytes of a channel for messages of so many; init: for two ends. */
int64_t gi_channel_bytes(int64_t message);
void gi_channel_init(gi_channel *c, int64_t message);

/* The link entries of gi_transport; create takes the memory besides, and sets the transport's in the link. */
gable_status gi_channel_link_create(gable_comm *comm, const gi_channel_memory *memory, const gi_transport *transport,
                                    const gi_link_shape *shape, gi_link **out);
void gi_channel_link_destroy(gi_link *link);
gable_status gi_channel_start(gi_link *link);
gable_status gi_channel_out(gi_link *link, int k, void **message);
gable_status gi_channel_post(gi_link *link, int k);
gable_status gi_channel_offer(gi_link *link, int k, const void *message);
gable_status gi_channel_settle(gi_link *link, int k);
gable_status gi_channel_in(gi_link *link, int k, const void **message);
gable_status gi_channel_take(gi_link *link, int k, void *to);
int gi_channel_here(gi_link *link, int k);
void gi_channel_done(gi_link *link, int k);

/* Of links whose messages kernels read where they lie: done leaves the slot as it is, and the next start empties it. */
void gi_channel_slots(gi_link *link, int k, int incoming, char *at[2]);
void gi_channel_done_later(gi_link *link, int k);
gable_status gi_channel_start_later(gi_link *link);

#endif
