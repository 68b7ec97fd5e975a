/* channel.c: see channel.h. */
#include "comm/channel.h"

#include <string.h>

enum { SLOTS = GI_CHANNEL_SLOTS, LINE = GI_CHANNEL_LINE };

/* Where a message is. */
enum { IN_SLOT, OFFERED, TAKEN };

/* A slot, and after it the message. */
typedef struct head {
  atomic_uint flag; /* 1 + the round whose message this is */
  atomic_int claim;
  const void *source; /* of an offered message, in the sender's process */
} head;

static head *slot_of(gi_channel *c, unsigned round)
{
  return (head *)(void *)(c->slots + (round % SLOTS) * (size_t)c->slot_bytes);
}

/* From the slot's begin on: in its line where the message fits there. */
static int64_t message_at(int64_t bytes)
{
  return bytes + (int64_t)sizeof(head) <= LINE ? (int64_t)sizeof(head) : LINE;
}

static void *message_of(const gi_channel *c, head *h)
{
  return (char *)h + message_at(c->bytes);
}

static int64_t slot_bytes(int64_t message)
{
  return (message_at(message) + message + LINE - 1) / LINE * LINE;
}

int64_t gi_channel_bytes(int64_t message)
{
  return (int64_t)sizeof(gi_channel) + SLOTS * slot_bytes(message);
}

void gi_channel_init(gi_channel *c, int64_t message)
{
  atomic_init(&c->emptied, 0);
  atomic_init(&c->holders, 2);
  c->slot_bytes = slot_bytes(message);
  c->bytes = message;
  for (unsigned s = 0; s < SLOTS; s++) {
    atomic_init(&slot_of(c, s)->flag, 0);
    atomic_init(&slot_of(c, s)->claim, IN_SLOT);
  }
}

static void let_go(gi_channel_link *l, gi_channel *c)
{
  if (c && atomic_fetch_sub_explicit(&c->holders, 1, memory_order_acq_rel) == 1) l->memory->drop(l->base.comm, c);
}

/* tells: zeros for what pass_channels trades. */
static gable_status make_ends(gable_comm *comm, const gi_link_shape *shape, gi_channel_link **out, int64_t **tells)
{
  gable_status status = GABLE_OK;
  gi_channel_link *l = NULL;
  GI_ALLOC_ZERO(comm->ctx, l, 1);
  *out = l;
  l->base.comm = comm;
  GI_ALLOC_ZERO(comm->ctx, l->out, shape->n_out);
  GI_ALLOC_ZERO(comm->ctx, l->in, shape->n_in);
  l->n_out = shape->n_out;
  l->n_in = shape->n_in;
  for (int k = 0; k < l->n_out; k++) l->out[k].rank = shape->out_rank[k];
  for (int k = 0; k < l->n_in; k++) l->in[k].rank = shape->in_rank[k];
  GI_ALLOC_ZERO(comm->ctx, *tells, 2 * (int64_t)comm->size + l->n_in + l->n_out);
done:
  return status;
}

/* told [n_out]: by the receivers. */
static gable_status find_channels(gi_channel_link *l, const gi_link_shape *shape, const int64_t *told)
{
  gable_status status = GABLE_OK;
  gable_comm *comm = l->base.comm;
  for (int k = 0; k < l->n_out; k++) {
    gi_channel *c = l->memory->find(comm, l->out[k].rank, told[k]);
    l->out[k].channel = c;
    GI_REQUIRE(c->bytes == shape->out_bytes[k], GABLE_ERR_BACKEND, "rank %d expects another length than rank %d",
               l->out[k].rank, comm->rank);
  }
done:
  return status;
}

/* Receivers, who make channels, tell senders where they are. */
static gable_status pass_channels(gi_channel_link *l, const gi_link_shape *shape, int64_t *tells)
{
  gable_status status = GABLE_OK;
  gable_comm *comm = l->base.comm;
  int64_t *asks = tells + comm->size, *here = asks + comm->size, *told = here + l->n_in;
  for (int k = 0; k < l->n_in; k++) {
    tells[l->in[k].rank] = 1;
    here[k] = l->memory->tell(comm, l->in[k].channel);
  }
  for (int k = 0; k < l->n_out; k++) asks[l->out[k].rank] = 1;
  GI_TRY(gi_trade(comm, tells, asks, sizeof *here, here, told));
  GI_AGREE(comm, find_channels(l, shape, told));
done:
  return status;
}

gable_status gi_channel_link_create(gable_comm *comm, const gi_channel_memory *memory, const gi_transport *transport,
                                    const gi_link_shape *shape, gi_link **out)
{
  gable_status status = GABLE_OK;
  gi_channel_link *l = NULL;
  int64_t *tells = NULL;
  const gable_status own = make_ends(comm, shape, &l, &tells);
  if (l) l->memory = memory;
  if (l) l->base.transport = transport;
  GI_TRY(memory->make(comm, own, shape->n_in, l ? l->in : NULL, shape->in_bytes));
  GI_TRY(pass_channels(l, shape, tells));
  *out = &l->base;
  l = NULL;
done:
  if (l) {
    /* No sender holds the channels of this rank: they are let go of for both ends, but where a rank was awaited in
     * vain, which may still look: then they go with their context. */
    const int all_know = !atomic_load_explicit(&comm->waits.failed, memory_order_relaxed);
    for (int k = 0; l->in && all_know && k < l->n_in; k++) let_go(l, l->in[k].channel);
    for (int k = 0; l->out && k < l->n_out; k++) l->out[k].channel = NULL;
    gi_channel_link_destroy(&l->base);
  }
  gi_free(comm->ctx, tells);
  return status;
}

void gi_channel_link_destroy(gi_link *link)
{
  gi_channel_link *l = (gi_channel_link *)link;
  if (!l) return;
  for (int k = 0; l->out && k < l->n_out; k++) let_go(l, l->out[k].channel);
  for (int k = 0; l->in && k < l->n_in; k++) let_go(l, l->in[k].channel);
  GI_FREE(l->base.comm->ctx, l->out, l->in, l);
}

gable_status gi_channel_start(gi_link *link)
{
  (void)link;
  return GABLE_OK;
}

static gable_status wait_for(gi_link *link, atomic_uint *flag, unsigned value, int rank)
{
  return ((gi_channel_link *)link)->memory->wait(link->comm, flag, value, rank);
}

/* Round n (from 0) takes slot n modulo 2, free once round n - 2 is emptied. */
static gable_status free_slot(gi_link *link, gi_channel_end *e)
{
  gable_status status = GABLE_OK;
  if ((int)(e->emptied + SLOTS - 1 - e->rounds) < 0) {
    GI_TRY(wait_for(link, &e->channel->emptied, e->rounds - (SLOTS - 1), e->rank));
    e->emptied = atomic_load_explicit(&e->channel->emptied, memory_order_acquire);
  }
done:
  return status;
}

static void publish(gi_channel_end *e, int claim)
{
  head *h = slot_of(e->channel, e->rounds);
  atomic_store_explicit(&h->claim, claim, memory_order_relaxed);
  gi_publish(&h->flag, ++e->rounds);
}

gable_status gi_channel_out(gi_link *link, int k, void **message)
{
  gable_status status = GABLE_OK;
  gi_channel_end *e = &((gi_channel_link *)link)->out[k];
  GI_TRY(free_slot(link, e));
  *message = message_of(e->channel, slot_of(e->channel, e->rounds));
done:
  return status;
}

gable_status gi_channel_post(gi_link *link, int k)
{
  publish(&((gi_channel_link *)link)->out[k], IN_SLOT);
  return GABLE_OK;
}

gable_status gi_channel_offer(gi_link *link, int k, const void *message)
{
  gable_status status = GABLE_OK;
  gi_channel_end *e = &((gi_channel_link *)link)->out[k];
  GI_TRY(free_slot(link, e));
  slot_of(e->channel, e->rounds)->source = message;
  publish(e, OFFERED);
done:
  return status;
}

/* Looks for the receiver for about as long as a copy takes, then copies. */
gable_status gi_channel_settle(gi_link *link, int k)
{
  gable_status status = GABLE_OK;
  gi_channel_end *e = &((gi_channel_link *)link)->out[k];
  gi_channel *c = e->channel;
  head *h = slot_of(c, e->rounds - 1);
  int claim = atomic_load_explicit(&h->claim, memory_order_relaxed);
  if (claim == IN_SLOT || gi_reached(&c->emptied, e->rounds)) return GABLE_OK;
  for (int64_t looks = c->bytes / LINE; looks > 0 && claim == OFFERED; looks -= 2) {
    gi_pause();
    claim = atomic_load_explicit(&h->claim, memory_order_relaxed);
  }
  if (claim == OFFERED) {
    memcpy(message_of(c, h), h->source, (size_t)c->bytes);
    if (atomic_compare_exchange_strong_explicit(&h->claim, &claim, IN_SLOT, memory_order_release, memory_order_relaxed))
      return GABLE_OK;
  }
  GI_TRY(wait_for(link, &c->emptied, e->rounds, e->rank)); /* it is reading */
done:
  return status;
}

/* Waits for the message; *source: where it lies, when this rank has claimed it, else NULL. */
static gable_status claim_message(gi_link *link, int k, head **at, const void **source)
{
  gable_status status = GABLE_OK;
  gi_channel_end *e = &((gi_channel_link *)link)->in[k];
  head *h = slot_of(e->channel, e->rounds);
  *at = h;
  *source = NULL;
  GI_TRY(wait_for(link, &h->flag, e->rounds + 1, e->rank));
  int claim = atomic_load_explicit(&h->claim, memory_order_acquire);
  if (claim == OFFERED &&
      atomic_compare_exchange_strong_explicit(&h->claim, &claim, TAKEN, memory_order_acquire, memory_order_acquire))
    *source = h->source;
done:
  return status;
}

gable_status gi_channel_in(gi_link *link, int k, const void **message)
{
  gable_status status = GABLE_OK;
  const gi_channel_link *l = (const gi_channel_link *)link;
  const gi_channel_end *e = &l->in[k];
  const void *source = NULL;
  head *h = NULL;
  GI_TRY(claim_message(link, k, &h, &source));
  *message = source ? source : message_of(e->channel, h);
  if (!source || !l->memory->read) goto done;
  GI_TRY(l->memory->read(link->comm, e->rank, source, message_of(e->channel, h),
                         e->channel->bytes)); /* the sender leaves the slot */
  *message = message_of(e->channel, h);
done:
  return status;
}

gable_status gi_channel_take(gi_link *link, int k, void *to)
{
  gable_status status = GABLE_OK;
  const gi_channel_link *l = (const gi_channel_link *)link;
  const gi_channel_end *e = &l->in[k];
  const void *source = NULL;
  head *h = NULL;
  GI_TRY(claim_message(link, k, &h, &source));
  if (source && l->memory->read)
    GI_TRY(l->memory->read(link->comm, e->rank, source, to, e->channel->bytes));
  else
    memcpy(to, source ? source : message_of(e->channel, h), (size_t)e->channel->bytes);
done:
  return status;
}

int gi_channel_here(gi_link *link, int k)
{
  gi_channel_end *e = &((gi_channel_link *)link)->in[k];
  return gi_reached(&slot_of(e->channel, e->rounds)->flag, e->rounds + 1);
}

void gi_channel_done(gi_link *link, int k)
{
  gi_channel_end *e = &((gi_channel_link *)link)->in[k];
  gi_publish(&e->channel->emptied, ++e->rounds);
}

void gi_channel_slots(gi_link *link, int k, int incoming, char *at[2])
{
  const gi_channel_link *l = (const gi_channel_link *)link;
  gi_channel *c = incoming ? l->in[k].channel : l->out[k].channel;
  for (unsigned round = 0; round < SLOTS; round++) at[round] = message_of(c, slot_of(c, round));
}

void gi_channel_done_later(gi_link *link, int k)
{
  ((gi_channel_link *)link)->in[k].rounds++;
}

gable_status gi_channel_start_later(gi_link *link)
{
  gi_channel_link *l = (gi_channel_link *)link;
  for (int k = 0; k < l->n_in; k++) gi_publish(&l->in[k].channel->emptied, l->in[k].rounds);
  return GABLE_OK;
}
