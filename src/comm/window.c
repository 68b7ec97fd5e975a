/* window.c: see window.h.
 *
 *   1  each rank lays its lines and slots out in its own bytes: a line for each message that goes out, then a line and
 *      two slots (four of flagged words) for each that comes in; symmetric memory has the bytes of the largest.
 *      Where messages are copied one slot, and at the end the messages that go out
 *   2  receivers tell senders where their slots are, senders tell receivers where they await that these are empty */
#include "comm/window.h"

#include "comm/mpi.h"
#include "device/device.h"
#include "kernels/forest/exchange_steps.h"

enum { LINE = 128, SLOT = 256, SECOND = 16 /* what follows the first word of a line */ };

/* Where a message's words and slots are in a rank's bytes, the message's length and kind. */
typedef struct place {
  int64_t at, bytes, kind;
} place;

typedef struct layout {
  place *out, *in;         /* [n_out], [n_in] of this rank */
  place *far_out, *far_in; /* [n_in], [n_out] of their other ends */
  int64_t *to, *from;      /* [size] 1: a message goes to the rank, comes from it */
  int64_t staged, bytes;
} layout;

static int64_t round_up(int64_t n, int64_t to)
{
  return (n + to - 1) / to * to;
}

/* A message's slot. */
static int64_t slot_bytes(gable_path path, const place *p)
{
  return round_up(p->kind == GI_FLAGGED_MESSAGE ? gik_flagged_slot(p->bytes) : gi_window_sent(path, p->bytes), SLOT);
}

static gable_status make_layout(gable_comm *comm, const gi_link_shape *shape, const int64_t *kinds, gable_path path,
                                layout *l)
{
  gable_status status = GABLE_OK;
  const int copies = gi_window_copies(path);
  gable_context *ctx = comm->ctx;
  GI_ALLOC_ZERO(ctx, l->out, shape->n_out);
  GI_ALLOC_ZERO(ctx, l->in, shape->n_in);
  GI_ALLOC_ZERO(ctx, l->far_out, shape->n_in);
  GI_ALLOC_ZERO(ctx, l->far_in, shape->n_out);
  GI_ALLOC_ZERO(ctx, l->to, comm->size);
  GI_ALLOC_ZERO(ctx, l->from, comm->size);
  for (int k = 0; k < shape->n_out; k++) l->to[shape->out_rank[k]] = 1;
  for (int k = 0; k < shape->n_in; k++) l->from[shape->in_rank[k]] = 1;
  for (int k = 0; k < shape->n_out; k++) {
    l->out[k] = (place){l->bytes, shape->out_bytes[k], 0};
    l->bytes += LINE;
  }
  l->bytes = round_up(l->bytes, SLOT);
  for (int k = 0; k < shape->n_in; k++) {
    l->in[k] = (place){l->bytes, shape->in_bytes[k], kinds && !copies ? kinds[k] : GI_PLAIN_MESSAGE};
    const int slots = copies ? 1 : l->in[k].kind == GI_FLAGGED_MESSAGE ? GIK_FLAGGED_SLOTS : 2;
    l->bytes += SLOT + slots * slot_bytes(path, &l->in[k]);
  }
  l->staged = l->bytes;
  for (int k = 0; copies && k < shape->n_out; k++)
    l->bytes += round_up(gi_window_sent(path, shape->out_bytes[k]), SLOT);
done:
  return status;
}

static gable_status make_window(gable_comm *comm, const gi_link_shape *shape, gi_window **out)
{
  gable_status status = GABLE_OK;
  gi_window *w = NULL;
  GI_ALLOC_ZERO(comm->ctx, w, 1);
  *out = w;
  GI_ALLOC_ZERO(comm->ctx, w->out, shape->n_out);
  GI_ALLOC_ZERO(comm->ctx, w->in, shape->n_in);
done:
  return status;
}

/* The message in rank's bytes. */
static gi_window_end end_of(const gi_window *w, int rank, const place *in)
{
  char *first = w->memory->at[rank] + in->at + SLOT, *second = first + slot_bytes(w->path, in);
  return (gi_window_end){.slot = {first, gi_window_copies(w->path) ? first : second},
                         .flagged = in->kind == GI_FLAGGED_MESSAGE};
}

/* far: the word at the other end. */
static void set_words(const gi_window *w, gi_window_end *e, char *here, char *far)
{
  e->await = (unsigned *)(void *)here;
  if (w->path == GABLE_PATH_PUT)
    e->signal = far;
  else
    e->raise = (unsigned *)(void *)far;
}

/* at_sender, at_receiver: the message's lines. */
static void set_target(const gi_window *w, gi_window_end *e, const place *in, char *at_sender, char *at_receiver)
{
  if (in->kind != GI_MESSAGE_WITH_TARGET || !w->memory->ctx) return;
  e->target = (gik_target *)(void *)(at_sender + SECOND);
  e->stored = (unsigned *)(void *)(at_receiver + SECOND);
}

static gable_status connect(gable_comm *comm, const gi_link_shape *shape, const layout *l, gi_window *w)
{
  gable_status status = GABLE_OK;
  const gi_shared *s = w->memory;
  for (int k = 0; k < shape->n_out; k++) {
    const int r = shape->out_rank[k];
    GI_REQUIRE(l->far_in[k].bytes == shape->out_bytes[k], GABLE_ERR_BACKEND,
               "rank %d expects another length than rank %d", r, comm->rank);
    w->out[k] = end_of(w, r, &l->far_in[k]);
    char *here = s->at[comm->rank] + l->out[k].at, *far = s->at[r] + l->far_in[k].at;
    set_words(w, &w->out[k], here, far);
    set_target(w, &w->out[k], &l->far_in[k], here, far);
  }
  for (int k = 0; k < shape->n_in; k++) {
    const int r = shape->in_rank[k];
    w->in[k] = end_of(w, comm->rank, &l->in[k]);
    char *here = s->at[comm->rank] + l->in[k].at, *far = s->at[r] + l->far_out[k].at;
    set_words(w, &w->in[k], here, far);
    if (w->path == GABLE_PATH_COPY) w->in[k].holds = w->in[k].await;
    if (w->path == GABLE_PATH_PUT) w->in[k].holds = gi_word_behind(w->in[k].slot[0], l->in[k].bytes);
    set_target(w, &w->in[k], &l->in[k], far, here);
  }
  w->staged = s->at[comm->rank] + l->staged;
done:
  return status;
}

gable_status gi_window_create(gable_comm *comm, const gi_link_shape *shape, const int64_t *kinds, gable_path path,
                              gi_window **out)
{
  gable_status status = GABLE_OK;
  layout l = {0};
  gi_window *w = NULL;
  gable_status own = make_layout(comm, shape, kinds, path, &l);
  if (!own) own = make_window(comm, shape, &w);
  GI_TRY(gi_comm_agree_on(comm, own, 1, &l.bytes));
  w->path = path;
  GI_TRY(gi_shared_create_on_device(comm, gi_comm_most(comm, 1, 0), path, &w->memory));
  GI_TRY(gi_trade(comm, l.from, l.to, sizeof *l.in, l.in, l.far_in));
  GI_TRY(gi_trade(comm, l.to, l.from, sizeof *l.out, l.out, l.far_out));
  GI_AGREE(comm, connect(comm, shape, &l, w));
  *out = w;
  w = NULL;
done:
  if (w && !w->memory) {
    GI_FREE(comm->ctx, w->out, w->in, w);
  } else {
    gi_window_destroy(w);
  }
  GI_FREE(comm->ctx, l.out, l.in, l.far_out, l.far_in, l.to, l.from);
  return status;
}

gable_status gi_window_send(const gi_window *w, int k, int rank, const void *from, int64_t bytes, void *stream)
{
  gable_status status = GABLE_OK;
  gable_comm *comm = w->memory->comm;
  const gi_device *device = comm->ctx->device;
  const gi_window_end *e = &w->out[k];
  int before = GI_NOT_ENTERED;
  const size_t sent = (size_t)gi_window_sent(w->path, bytes);
  if (w->path == GABLE_PATH_PUT) return gi_nvshmem_put(comm, rank, e->slot[0], from, sent, e->signal, stream);
  GI_TRY(device->enter(comm->ctx, &before));
  GI_TRY(device->kernels->exchange_steps->copy(e->slot[0], from, sent, stream));
done:
  device->leave(comm->ctx, before);
  return status;
}

gable_status gi_window_emptied(const gi_window *w, int k, int rank, void *stream)
{
  return gi_nvshmem_signal(w->memory->comm, rank, w->in[k].signal, stream);
}

void gi_window_destroy(gi_window *w)
{
  if (!w) return;
  gable_context *ctx = w->memory->comm->ctx;
  gi_shared_destroy(w->memory);
  GI_FREE(ctx, w->out, w->in, w);
}
