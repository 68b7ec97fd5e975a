/* device_staged.c: messages that are staged: kernels write them to pinned memory, from where the transport's link takes
 * them, and read what has come there. */
#include <string.h>

#include "forest/device_exchange.h"

gable_status gi_device_await(gi_device_exchange *d)
{
  d->syncs++;
  return d->ctx->device->synchronise(d->ctx, d->stream);
}

/* Messages from the room to the link's other ends. */
gable_status gi_device_post_all(gable_exchange *x, gi_link *link, const gi_forest_side *s, const gi_room *room)
{
  gable_status status = GABLE_OK;
  const gable_plan *p = x->plan;
  const gi_transport *t = link->transport;
  for (int k = 0; k < s->n; k++) {
    void *message = NULL;
    const int m = gi_link_number(s, k);
    if (k == s->self) continue;
    GI_TRY(t->out(link, m, &message));
    memcpy(message, room->bytes + room->at[m], (size_t)(s->map[k].n * p->item * p->options.fields));
    GI_TRY(t->post(link, m));
  }
done:
  return status;
}

gable_status gi_device_take_all(gable_exchange *x, gi_link *link, const gi_forest_side *s, const gi_room *room)
{
  gable_status status = GABLE_OK;
  const gable_plan *p = x->plan;
  const gi_transport *t = link->transport;
  for (int k = 0; k < s->n; k++) {
    const void *message = NULL;
    const int m = gi_link_number(s, k);
    if (k == s->self) continue;
    GI_TRY(t->in(link, m, &message));
    memcpy(room->bytes + room->at[m], message, (size_t)(s->map[k].n * p->item * p->options.fields));
    t->done(link, m);
  }
done:
  return status;
}

gable_status gi_device_fetch_roots(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  const gi_forest_side *s = &x->plan->forest->roots;
  GI_TRY(gi_device_await(d)); /* the room may still be read */
  GI_TRY(gi_device_take_all(x, x->link, s, &d->in));
  GI_TRY(gi_device_run(x, d->steps->fetch, &d->fetch, d->stream));
  GI_TRY(gi_device_await(d));
  GI_TRY(gi_device_post_all(x, x->reply, s, &d->reply_out));
done:
  return status;
}

gable_status gi_device_fetch_leaves(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  GI_TRY(gi_device_await(d));
  GI_TRY(gi_device_take_all(x, x->reply, &x->plan->forest->leaves, &d->reply_in));
  GI_TRY(gi_device_run(x, d->steps->receive, &d->receive, d->stream));
  GI_TRY(gi_device_give_out(x));
done:
  return status;
}
