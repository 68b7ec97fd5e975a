/* device_target.c: the kinds of messages that kernels store; and messages that the sender's kernel may store in the
 * receiver's array instead of in a slot.
 *
 * Such a message replaces one run of the receiver's array, and is long enough for a second pass over it to cost more
 * than a launch.  begin publishes where it goes, on the stream, after whatever has read the array before; the sender
 * takes that place or the slot (exchange_steps.h), and end moves what lies in the slot. */
#include "forest/device_exchange.h"
#include "kernels/forest/wide_tree.h"

int64_t gi_device_target_least = 1 << 20, gi_device_flagged_most = GIK_FLAGGED_PARTS * GIK_FLAGGED_BYTES;

/* A root of several leaves takes their values in order, from slots. */
static int has_target(const gable_plan *p, const gi_forest_side *s, int k)
{
  const int alone = p->moves == GABLE_DIRECTION_BCAST || p->forest->max_degree < 2;
  return p->options.op == GABLE_FOREST_OP_REPLACE && p->moves != GABLE_DIRECTION_FETCH && p->options.fields == 1 &&
         alone && k != s->self && s->map[k].kind == GIK_MAP_CONTIGUOUS &&
         s->map[k].n * p->item >= gi_device_target_least;
}

/* Whether incoming messages are of flagged words: all, where they have few parts, and an eighth of these where roots
 * are shared, since a thread takes a root's values itself; wide roots have theirs from slots. */
static int are_flagged(const gable_plan *p, const gi_forest_side *s)
{
  const int alone = p->moves == GABLE_DIRECTION_BCAST || p->options.atomics || p->forest->max_degree < 2;
  const int wide = !alone && p->options.op != GABLE_FOREST_OP_REPLACE && p->forest->max_degree > GIK_WIDE_DEGREE;
  const int64_t bytes = p->item * p->options.fields, items = GIK_FLAGGED_BYTES / bytes;
  const int64_t most = alone ? gi_device_flagged_most : gi_device_flagged_most / 8;
  int64_t parts = 0, all = 0;
  if (wide || p->moves == GABLE_DIRECTION_FETCH || !items) return 0;
  for (int k = 0; k < s->n; k++) {
    if (k == s->self) continue;
    if (p->options.fields > 1 && s->map[k].n > items) return 0;
    parts += (s->map[k].n + items - 1) / items;
    all += s->map[k].n * bytes;
  }
  return parts <= GIK_FLAGGED_PARTS && all <= most;
}

int gi_device_kinds(const gable_plan *p, int64_t *kinds)
{
  const gi_forest_side *s = gi_in_side(p);
  const int flagged = are_flagged(p, s);
  int found = 0;
  for (int k = 0; k < s->n; k++) {
    const int has = !flagged && has_target(p, s, k);
    if (k != s->self && kinds)
      kinds[gi_link_number(s, k)] = flagged ? GI_FLAGGED_MESSAGE : has ? GI_MESSAGE_WITH_TARGET : GI_PLAIN_MESSAGE;
    found |= has;
  }
  return found;
}

/* Entries of an array: from first to last - 1. */
typedef struct span {
  int64_t first, last;
} span;

static span add_run(span a, int64_t first, int64_t last)
{
  if (a.first == a.last) return (span){first, last};
  return (span){first < a.first ? first : a.first, last > a.last ? last : a.last};
}

void gi_device_find_spans(gable_exchange *x)
{
  gi_device_exchange *d = x->device;
  const gi_forest_side *out = gi_out_side(x->plan), *in = gi_in_side(x->plan);
  span sent = {0, 0}, targets = {0, 0};
  for (int64_t e = 0; e < gi_edges(out); e++) sent = add_run(sent, out->index[e], out->index[e] + 1);
  for (int k = 0; k < in->n; k++)
    if (has_target(x->plan, in, k)) targets = add_run(targets, in->map[k].start, in->map[k].start + in->map[k].n);
  d->sent[0] = sent.first;
  d->sent[1] = sent.last;
  d->target[0] = targets.first;
  d->target[1] = targets.last;
}

/* Where what is sent and what is received lie among each other a sender could be earlier than this rank's own send. */
static int apart(const gable_exchange *x)
{
  const gi_device_exchange *d = x->device;
  const uintptr_t from = (uintptr_t)x->from, to = (uintptr_t)x->to, item = (uintptr_t)x->plan->item;
  return d->sent[0] == d->sent[1] || from + (uintptr_t)d->sent[1] * item <= to + (uintptr_t)d->target[0] * item ||
         to + (uintptr_t)d->target[1] * item <= from + (uintptr_t)d->sent[0] * item;
}

/* Whether kernels of all these senders reach the array. */
static int reached(const gable_exchange *x)
{
  const gi_device_exchange *d = x->device;
  const gi_forest_side *s = gi_in_side(x->plan);
  for (int k = 0; k < s->n; k++)
    if (has_target(x->plan, s, k) && !d->ctx->device->reached_by(d->ctx, x->to, d->window->memory->ctx[s->rank[k]]))
      return 0;
  return 1;
}

gable_status gi_device_publish(gable_exchange *x)
{
  gi_device_exchange *d = x->device;
  d->receive.target = apart(x) && reached(x) ? x->to : NULL;
  return gi_device_run(x, d->steps->publish, &d->receive, d->stream);
}

void gi_device_withdraw(gable_exchange *x)
{
  gi_device_exchange *d = x->device;
  if (d && d->side && d->window) (void)gi_device_follow(d, d->stream, d->side); /* it reads and writes the arrays */
  if (!d || !d->receive.targets) return;
  if (!d->ctx->device->fill(d->ctx, &d->receive.control->aborted, 1, sizeof d->receive.control->aborted, d->stream))
    (void)gi_device_run(x, d->steps->receive, &d->receive, d->stream);
}
