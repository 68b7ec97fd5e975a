/* device_staged.c: messages that go by the transport's link.  Staged: kernels write them to pinned memory, from where
 * the link takes them, and read what has come there.  Linked: kernels write and read the link's own memory: in device
 * memory (a CUDA-aware MPI) or pinned (threads). */
#include <string.h>

#include "forest/device_exchange.h"

gable_status gi_device_links(gable_exchange *x, const gi_device_shapes *shapes)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  gable_comm *comm = x->plan->forest->comm;
  const gi_transport *t = comm->transport;
  const gable_path path = x->plan->options.path;
  gi_room *const all[] = {&d->out, &d->in, &d->reply_out, &d->reply_in};
  gi_link_room room[4];
  if (!t->device_link_create || (path != GABLE_PATH_AUTO && path != GABLE_PATH_AWARE)) return GABLE_OK;
  GI_AGREE(comm, gi_device_place(d, shapes));
  for (int k = 0; k < 4; k++) room[k] = (gi_link_room){NULL, all[k]->at};
  status = t->device_link_create(comm, &shapes->link, path, &room[0], &room[1], &x->link);
  if (status == GABLE_ERR_UNAVAILABLE && path == GABLE_PATH_AUTO) {
    gi_device_rooms_release(d);
    return GABLE_OK;
  }
  d->linked = !status;
  if (!status && x->plan->moves == GABLE_DIRECTION_FETCH)
    status = t->device_link_create(comm, &shapes->reply, path, &room[2], &room[3], &x->reply);
  for (int k = 0; k < 4; k++) {
    all[k]->bytes = room[k].bytes;
    all[k]->link = k < 2 ? x->link : x->reply;
    all[k]->incoming = k % 2;
  }
done:
  return status;
}

gable_status gi_device_await(gi_device_exchange *d)
{
  d->syncs++;
  return d->ctx->device->synchronise(d->ctx, d->stream);
}

gable_status gi_device_await_sent(gable_exchange *x, gi_link *link, const gi_forest_side *s)
{
  gable_status status = GABLE_OK;
  for (int k = 0; x->device->linked && k < s->n; k++) {
    void *message = NULL;
    if (k != s->self) GI_TRY(link->transport->out(link, gi_link_number(s, k), &message));
  }
done:
  return status;
}

/* A link in device memory is used on its device; leave the device after it. */
static gable_status enter_linked(const gi_device_exchange *d, int *before)
{
  return d->linked ? d->ctx->device->enter(d->ctx, before) : GABLE_OK;
}

/* Messages from the room to the link's other ends. */
static gable_status post_all(gable_exchange *x, gi_link *link, const gi_forest_side *s, const gi_room *room)
{
  gable_status status = GABLE_OK;
  const gable_plan *p = x->plan;
  const gi_device_exchange *d = x->device;
  const gi_transport *t = link->transport;
  int before = GI_NOT_ENTERED;
  GI_TRY(enter_linked(d, &before));
  for (int k = 0; k < s->n; k++) {
    void *message = NULL;
    const int m = gi_link_number(s, k);
    if (k == s->self) continue;
    GI_TRY(t->out(link, m, &message));
    if (!d->linked) memcpy(message, room->bytes + room->at[m], (size_t)(s->map[k].n * p->item * p->options.fields));
    GI_TRY(t->post(link, m));
  }
done:
  d->ctx->device->leave(d->ctx, before);
  return status;
}

/* Messages may come in from now on: the stream is done with the rooms of the last round. */
gable_status gi_device_post_sent(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  GI_TRY(x->link->transport->start(x->link));
  if (x->reply) GI_TRY(x->reply->transport->start(x->reply));
  GI_TRY(post_all(x, x->link, gi_out_side(x->plan), &x->device->out));
done:
  return status;
}

gable_status gi_device_take_all(gable_exchange *x, gi_link *link, const gi_forest_side *s, const gi_room *room)
{
  gable_status status = GABLE_OK;
  const gable_plan *p = x->plan;
  const gi_device_exchange *d = x->device;
  const gi_transport *t = link->transport;
  int before = GI_NOT_ENTERED;
  GI_TRY(enter_linked(d, &before));
  for (int k = 0; k < s->n; k++) {
    const void *message = NULL;
    const int m = gi_link_number(s, k);
    if (k == s->self) continue;
    GI_TRY(t->in(link, m, &message));
    if (!d->linked) memcpy(room->bytes + room->at[m], message, (size_t)(s->map[k].n * p->item * p->options.fields));
    t->done(link, m);
  }
done:
  d->ctx->device->leave(d->ctx, before);
  return status;
}

gable_status gi_device_fetch_roots(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  const gi_forest_side *s = &x->plan->forest->roots;
  GI_TRY(gi_device_take_all(x, x->link, s, &d->in));
  GI_TRY(gi_device_await_sent(x, x->reply, s));
  GI_TRY(gi_device_run(x, d->steps->fetch, &d->fetch, d->stream));
  GI_TRY(gi_device_await(d));
  GI_TRY(post_all(x, x->reply, s, &d->reply_out));
done:
  return status;
}

gable_status gi_device_fetch_leaves(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  GI_TRY(gi_device_take_all(x, x->reply, &x->plan->forest->leaves, &d->reply_in));
  GI_TRY(gi_device_run(x, d->steps->receive, &d->receive, d->stream));
  GI_TRY(gi_device_give_out(x));
done:
  return status;
}
