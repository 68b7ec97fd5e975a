/* ranks_link.c: links between threads: each message has a channel of two slots, so that a sender may be one round ahead
 * of its receiver.  A slot begins with its flag, and a short message shares the flag's cache line.
 *
 * A message may also be offered where it lies.  The receiver claims it and reads it there, one copy in all; where the
 * sender needs its memory back before the receiver has come, it copies the message to the slot and claims it back. */
#include "comm/ranks.h"

#include <string.h>

enum { SLOTS = 2, LINE = 64 };

/* Where a message is. */
enum { IN_SLOT, OFFERED, TAKEN };

/* A slot, and after it the message. */
typedef struct head {
  atomic_uint flag; /* 1 + the round whose message this is */
  atomic_int claim;
  const void *source; /* of an offered message */
} head;

/* From one rank to another; whoever lets go of it last frees it. */
typedef struct channel {
  _Alignas(LINE) atomic_uint emptied; /* rounds that the receiver is done with */
  atomic_int holders;
  gable_context *ctx;
  size_t slot_bytes;
  int64_t bytes;
  _Alignas(LINE) unsigned char slots[]; /* [SLOTS][slot_bytes] */
} channel;

/* One end of a channel. */
typedef struct end {
  channel *channel;
  int rank;         /* at the other end */
  unsigned rounds;  /* begun by this end */
  unsigned emptied; /* the sender's last look at the receiver's count */
} end;

typedef struct ranks_link {
  gi_link base;
  int n_out, n_in;
  end *out, *in; /* [n_out], [n_in] */
} ranks_link;

static head *slot_of(channel *c, unsigned round)
{
  return (head *)(void *)(c->slots + (round % SLOTS) * c->slot_bytes);
}

static void *message_of(head *h)
{
  return h + 1;
}

static void let_go(channel *c)
{
  if (c && atomic_fetch_sub_explicit(&c->holders, 1, memory_order_acq_rel) == 1) gi_free(c->ctx, c);
}

static gable_status make_channel(gable_context *ctx, int64_t bytes, channel **out)
{
  gable_status status = GABLE_OK;
  const size_t slot = ((size_t)bytes + sizeof(head) + LINE - 1) / LINE * LINE;
  channel *c = gi_alloc(ctx, 1, sizeof *c + SLOTS * slot);
  GI_REQUIRE(c, GABLE_ERR_MEMORY, "out of memory: %.1f MB for messages", (double)(SLOTS * slot) / 1e6);
  atomic_init(&c->emptied, 0);
  atomic_init(&c->holders, 2);
  c->ctx = ctx;
  c->slot_bytes = slot;
  c->bytes = bytes;
  for (unsigned s = 0; s < SLOTS; s++) {
    atomic_init(&slot_of(c, s)->flag, 0);
    atomic_init(&slot_of(c, s)->claim, IN_SLOT);
  }
  *out = c;
done:
  return status;
}

/* This rank's ends, and the channels of what comes in, which are the receiver's to make. */
static gable_status make_ends(gable_comm *comm, const gi_link_shape *shape, ranks_link **out)
{
  gable_status status = GABLE_OK;
  gable_context *shared = ((gi_ranks_end *)comm->state)->all->ctx;
  ranks_link *l = NULL;
  GI_ALLOC_ZERO(comm->ctx, l, 1);
  *out = l;
  l->base.comm = comm;
  GI_ALLOC_ZERO(comm->ctx, l->out, shape->n_out);
  GI_ALLOC_ZERO(comm->ctx, l->in, shape->n_in);
  l->n_out = shape->n_out;
  l->n_in = shape->n_in;
  for (int k = 0; k < l->n_out; k++) l->out[k].rank = shape->out_rank[k];
  for (int k = 0; k < l->n_in; k++) {
    l->in[k].rank = shape->in_rank[k];
    GI_TRY(make_channel(shared, shape->in_bytes[k], &l->in[k].channel));
  }
done:
  return status;
}

/* Receivers tell senders where their channels are. */
static gable_status pass_channels(gable_comm *comm, ranks_link *l, const gi_link_shape *shape)
{
  gable_status status = GABLE_OK;
  channel **to = NULL, **from = NULL;
  int64_t *at = NULL, *to_bytes = NULL, *from_bytes = NULL;
  GI_ALLOC_ZERO(comm->ctx, to, comm->size);
  GI_ALLOC_ZERO(comm->ctx, from, comm->size);
  GI_ALLOC_ZERO(comm->ctx, at, comm->size);
  GI_ALLOC_ZERO(comm->ctx, to_bytes, comm->size);
  GI_ALLOC_ZERO(comm->ctx, from_bytes, comm->size);
done:
  status = gi_comm_agree(comm, status);
  if (!status) {
    for (int r = 0; r < comm->size; r++) at[r] = r * (int64_t)sizeof *to;
    for (int k = 0; k < l->n_in; k++) {
      to[l->in[k].rank] = l->in[k].channel;
      to_bytes[l->in[k].rank] = sizeof *to;
    }
    for (int k = 0; k < l->n_out; k++) from_bytes[l->out[k].rank] = sizeof *from;
    const gi_blocks give = {(char *)to, at, to_bytes}, take = {(char *)from, at, from_bytes};
    status = comm->transport->alltoall(comm, &give, &take);
    for (int k = 0; k < l->n_out && !status; k++) {
      l->out[k].channel = from[l->out[k].rank];
      if (l->out[k].channel->bytes != shape->out_bytes[k])
        status = gi_raise(GABLE_ERR_BACKEND, __FILE__, __LINE__, __func__,
                          "rank %d expects another length than rank %d", l->out[k].rank, comm->rank);
    }
    status = gi_comm_agree(comm, status);
  }
  gi_free(comm->ctx, to);
  gi_free(comm->ctx, from);
  gi_free(comm->ctx, at);
  gi_free(comm->ctx, to_bytes);
  gi_free(comm->ctx, from_bytes);
  return status;
}

gable_status gi_ranks_link_create(gable_comm *comm, const gi_link_shape *shape, gi_link **out)
{
  gable_status status = GABLE_OK;
  ranks_link *l = NULL;
  GI_AGREE(comm, make_ends(comm, shape, &l));
  GI_TRY(pass_channels(comm, l, shape));
  *out = &l->base;
  l = NULL;
done:
  if (l) {
    /* No sender holds the channels of this rank: they are let go of for both ends, but where a rank was awaited in
     * vain, which may still look: then they go with their context. */
    const int all_know = !atomic_load_explicit(&comm->waits.failed, memory_order_relaxed);
    for (int k = 0; l->in && all_know && k < l->n_in; k++) let_go(l->in[k].channel);
    for (int k = 0; l->out && k < l->n_out; k++) l->out[k].channel = NULL;
    gi_ranks_link_destroy(&l->base);
  }
  return status;
}

void gi_ranks_link_destroy(gi_link *link)
{
  ranks_link *l = (ranks_link *)link;
  if (!l) return;
  for (int k = 0; k < l->n_out; k++) let_go(l->out[k].channel);
  for (int k = 0; k < l->n_in; k++) let_go(l->in[k].channel);
  gi_free(l->base.comm->ctx, l->out);
  gi_free(l->base.comm->ctx, l->in);
  gi_free(l->base.comm->ctx, l);
}

gable_status gi_ranks_start(gi_link *link)
{
  (void)link;
  return GABLE_OK;
}

/* Round n (from 0) takes slot n modulo 2, free once round n - 2 is emptied. */
static gable_status free_slot(gi_link *link, end *e)
{
  gable_status status = GABLE_OK;
  if ((int)(e->emptied + SLOTS - 1 - e->rounds) < 0) {
    GI_TRY(gi_ranks_wait(link->comm, &e->channel->emptied, e->rounds - (SLOTS - 1), e->rank));
    e->emptied = atomic_load_explicit(&e->channel->emptied, memory_order_acquire);
  }
done:
  return status;
}

static void publish(end *e, int claim)
{
  head *h = slot_of(e->channel, e->rounds);
  atomic_store_explicit(&h->claim, claim, memory_order_relaxed);
  gi_publish(&h->flag, ++e->rounds);
}

gable_status gi_ranks_out(gi_link *link, int k, void **message)
{
  gable_status status = GABLE_OK;
  end *e = &((ranks_link *)link)->out[k];
  GI_TRY(free_slot(link, e));
  *message = message_of(slot_of(e->channel, e->rounds));
done:
  return status;
}

gable_status gi_ranks_post(gi_link *link, int k)
{
  publish(&((ranks_link *)link)->out[k], IN_SLOT);
  return GABLE_OK;
}

gable_status gi_ranks_offer(gi_link *link, int k, const void *message)
{
  gable_status status = GABLE_OK;
  end *e = &((ranks_link *)link)->out[k];
  GI_TRY(free_slot(link, e));
  slot_of(e->channel, e->rounds)->source = message;
  publish(e, OFFERED);
done:
  return status;
}

/* Looks for the receiver for about as long as a copy takes, then copies. */
gable_status gi_ranks_settle(gi_link *link, int k)
{
  gable_status status = GABLE_OK;
  end *e = &((ranks_link *)link)->out[k];
  channel *c = e->channel;
  head *h = slot_of(c, e->rounds - 1);
  int claim = atomic_load_explicit(&h->claim, memory_order_relaxed);
  if (claim == IN_SLOT || gi_reached(&c->emptied, e->rounds)) return GABLE_OK;
  for (int64_t looks = c->bytes / LINE; looks > 0 && claim == OFFERED; looks -= 2) {
    gi_pause();
    claim = atomic_load_explicit(&h->claim, memory_order_relaxed);
  }
  if (claim == OFFERED) {
    memcpy(message_of(h), h->source, (size_t)c->bytes);
    if (atomic_compare_exchange_strong_explicit(&h->claim, &claim, IN_SLOT, memory_order_release, memory_order_relaxed))
      return GABLE_OK;
  }
  GI_TRY(gi_ranks_wait(link->comm, &c->emptied, e->rounds, e->rank)); /* it is reading */
done:
  return status;
}

gable_status gi_ranks_in(gi_link *link, int k, const void **message)
{
  gable_status status = GABLE_OK;
  end *e = &((ranks_link *)link)->in[k];
  head *h = slot_of(e->channel, e->rounds);
  GI_TRY(gi_ranks_wait(link->comm, &h->flag, e->rounds + 1, e->rank));
  int claim = atomic_load_explicit(&h->claim, memory_order_acquire);
  *message = message_of(h);
  if (claim == OFFERED &&
      atomic_compare_exchange_strong_explicit(&h->claim, &claim, TAKEN, memory_order_acquire, memory_order_acquire))
    *message = h->source;
done:
  return status;
}

int gi_ranks_here(gi_link *link, int k)
{
  end *e = &((ranks_link *)link)->in[k];
  return gi_reached(&slot_of(e->channel, e->rounds)->flag, e->rounds + 1);
}

void gi_ranks_done(gi_link *link, int k)
{
  end *e = &((ranks_link *)link)->in[k];
  gi_publish(&e->channel->emptied, ++e->rounds);
}
