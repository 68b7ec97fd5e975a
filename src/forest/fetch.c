/* fetch.c: fetch-and-op: a root's values go to its leaves one by one, each before the leaf's own is combined into it.
 *
 * Leaves send in begin.  The roots' rank combines by increasing (rank, leaf) and replies: in its own end, or while it
 * waits for anything else, so that exchanges that end in different orders do not wait in a circle.  But a step on the
 * mirror waits for messages in windows itself and polls nothing: there ranks end fetches, which are staged, in one
 * order with exchanges by windows. */
#include "forest/device_exchange.h"
#include "forest/plan.h"

/* Combines neighbour k's values, in message (NULL: this rank's own leaves), fetched values into reply. */
static void fetch_from(gable_exchange *x, int k, const char *message, char *reply)
{
  const gable_plan *p = x->plan;
  const gable_forest *f = p->forest;
  const gik_map *to = &f->roots.map[k];
  const gik_map whole = {.kind = GIK_MAP_CONTIGUOUS, .n = to->n};
  const gik_map *leaves = message ? &whole : &f->leaves.map[f->leaves.self];
  const int64_t field = (message ? to->n : p->options.leaf_stride) * p->item;
  for (int64_t i = 0; i < p->options.fields; i++)
    gik_fetch_maps(p->combine, reply + i * field, leaves, x->to + i * p->options.root_stride * p->item, to,
                   (message ? message : x->from) + i * field, leaves, p->options.count, f->apart[k]);
}

gable_status gi_fetch_roots(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  const gi_forest_side *s = &x->plan->forest->roots;
  const gi_transport *t = x->link->transport;
  if (x->device) return gi_device_fetch_roots(x);
  for (int k = 0; k < s->n; k++) {
    const void *message = NULL;
    void *reply = x->update;
    const int m = gi_link_number(s, k);
    if (k != s->self) {
      GI_TRY(t->in(x->link, m, &message));
      GI_TRY(t->out(x->reply, m, &reply));
    }
    fetch_from(x, k, message, reply);
    if (k == s->self) continue;
    t->done(x->link, m);
    GI_TRY(t->post(x->reply, m));
  }
done:
  return status;
}

gable_status gi_fetch_leaves(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  const gable_plan *p = x->plan;
  const gi_forest_side *s = &p->forest->leaves;
  const gi_transport *t = x->link->transport;
  if (x->device) return gi_device_fetch_leaves(x);
  for (int k = 0; k < s->n; k++) {
    const void *message = NULL;
    const int m = gi_link_number(s, k);
    if (k == s->self) continue;
    GI_TRY(t->in(x->reply, m, &message));
    gi_unpack(x, s, p->options.leaf_stride, k, p->copy, x->update, message);
    t->done(x->reply, m);
  }
done:
  return status;
}

void gi_fetch_poll(gi_poll *poll)
{
  gable_exchange *x = (gable_exchange *)poll; /* its first member */
  const gi_forest_side *s = &x->plan->forest->roots;
  const gi_transport *t = x->link->transport;
  if (x->phase != GI_SENT) return;
  for (int k = 0; k < s->n; k++)
    if (k != s->self && !t->here(x->link, gi_link_number(s, k))) return;
  x->failure = gi_fetch_roots(x);
  if (x->failure) gi_keep_error(&x->said);
  x->phase = x->failure ? GI_FETCH_FAILED : GI_FETCHED;
}
