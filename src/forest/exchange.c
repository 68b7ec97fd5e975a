/* exchange.c: begin sends, end receives.
 *
 * begin  1 pack the message to each neighbour and post it
 *        2 combine the edges within this rank, where the order of sums allows it before the others
 * end    3 by increasing rank: wait for the neighbour's message and combine it, this rank's own edges in their place
 *        4 combine the trees of wide roots into them */
#include "forest/plan.h"

#include "base/checked.h"
#include "device/require.h"
#include "forest/device_exchange.h"
#include "kernels/forest/wide_tree.h"

static int64_t stride_of(const gable_plan *p, const gi_forest_side *s)
{
  return s == &p->forest->roots ? p->options.root_stride : p->options.leaf_stride;
}

void gi_pack(const gable_exchange *x, const gi_forest_side *s, int64_t stride, int k, const char *array, char *message)
{
  const gable_plan *p = x->plan;
  const gik_map *from = &s->map[k];
  const gik_map whole = {.kind = GIK_MAP_CONTIGUOUS, .n = from->n};
  for (int64_t f = 0; f < p->options.fields; f++)
    gik_combine_maps(p->copy, message + f * from->n * p->item, &whole, array + f * stride * p->item, from,
                     p->options.count);
}

void gi_unpack(const gable_exchange *x, const gi_forest_side *s, int64_t stride, int k, const gik_combine *c,
               char *array, const char *message)
{
  const gable_plan *p = x->plan;
  const gik_map *to = &s->map[k];
  const gik_map whole = {.kind = GIK_MAP_CONTIGUOUS, .n = to->n};
  for (int64_t f = 0; f < p->options.fields; f++)
    gik_combine_maps(c, array + f * stride * p->item, to, message + f * to->n * p->item, &whole, p->options.count);
}

/* The wide roots that a plan takes by trees; NULL: none. */
static const gi_wide *trees_of(const gable_plan *p)
{
  return p->moves == GABLE_DIRECTION_REDUCE && p->options.op != GABLE_FOREST_OP_REPLACE ? p->forest->wide : NULL;
}

/* The tree of wide root i of a field. */
static gik_tree tree_of(const gable_exchange *x, const gi_wide *w, int64_t field, int64_t i)
{
  const gable_plan *p = x->plan;
  return (gik_tree){p->combine, p->copy, p->options.count, x->lanes + (field * w->lane[w->n] + w->lane[i]) * p->item};
}

/* Neighbour k's leaves, of which a field is so many items of from: into narrow roots, and into the trees of wide ones.
 */
static void reduce_wide(const gable_exchange *x, const gi_wide *w, int k, const char *from, int64_t items)
{
  const gable_plan *p = x->plan;
  for (int64_t f = 0; f < p->options.fields; f++, from += items * p->item) {
    gik_combine_maps(p->combine, x->to + f * p->options.root_stride * p->item, &w->to[k], from, &w->from[k],
                     p->options.count);
    for (int64_t i = w->part_ptr[k]; i < w->part_ptr[k + 1]; i++) {
      const gi_wide_part *part = &w->part[i];
      const gik_tree t = tree_of(x, w, f, part->root);
      gik_tree_feed(&t, part->first, from, &part->from);
    }
  }
}

static void finish_wide(const gable_exchange *x)
{
  const gable_plan *p = x->plan;
  const gi_wide *w = trees_of(p);
  for (int64_t f = 0; w && f < p->options.fields; f++)
    for (int64_t i = 0; i < w->n; i++) {
      const gik_tree t = tree_of(x, w, f, i);
      gik_tree_finish(&t, w->degree[i], x->to + (f * p->options.root_stride + w->root[i]) * p->item);
    }
}

/* This rank's leaves of its own roots. */
static void combine_local(const gable_exchange *x)
{
  const gable_plan *p = x->plan;
  const gi_forest_side *out = gi_out_side(p), *in = gi_in_side(p);
  if (out->self < 0) return;
  if (trees_of(p)) {
    reduce_wide(x, trees_of(p), in->self, x->from, p->options.leaf_stride);
    return;
  }
  for (int64_t f = 0; f < p->options.fields; f++)
    gik_combine_maps(p->combine, x->to + f * stride_of(p, in) * p->item, &in->map[in->self],
                     x->from + f * stride_of(p, out) * p->item, &out->map[out->self], p->options.count);
}

static void combine_message(const gable_exchange *x, int k, const char *message)
{
  const gable_plan *p = x->plan;
  const gi_forest_side *s = gi_in_side(p);
  if (trees_of(p))
    reduce_wide(x, trees_of(p), k, message, s->map[k].n);
  else
    gi_unpack(x, s, stride_of(p, s), k, p->combine, x->to, message);
}

/* Whether the local edges may come first. */
static int local_first(const gable_plan *p)
{
  return p->moves == GABLE_DIRECTION_BCAST || (p->moves == GABLE_DIRECTION_REDUCE && p->forest->self_first);
}

/* Whether neighbour k's message is one run of the caller's array, in host memory. */
static int is_plain(const gable_exchange *x, const gi_forest_side *s, int k)
{
  return s->map[k].kind == GIK_MAP_CONTIGUOUS && x->plan->options.fields == 1 && !x->plan->on_device;
}

/* Where neighbour k may read its message in the caller's array: of so many bytes that a copy costs more. */
static const char *message_in_place(const gable_exchange *x, const gi_forest_side *s, int k)
{
  const gable_plan *p = x->plan;
  const gik_map *m = &s->map[k];
  const int offers = x->offer_least && m->n * p->item >= x->offer_least && is_plain(x, s, k);
  return offers ? x->from + m->start * p->item : NULL;
}

static gable_status send_all(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  const gable_plan *p = x->plan;
  const gi_transport *t = x->link->transport;
  const gi_forest_side *s = gi_out_side(p);
  for (int k = 0; k < s->n; k++) {
    void *message = NULL;
    const int m = gi_link_number(s, k);
    if (k == s->self) continue;
    const char *in_place = message_in_place(x, s, k);
    if (in_place) {
      GI_TRY(t->offer(x->link, m, in_place));
      continue;
    }
    GI_TRY(t->out(x->link, m, &message));
    gi_pack(x, s, stride_of(p, s), k, x->from, message);
    GI_TRY(t->post(x->link, m));
  }
done:
  return status;
}

/* What was offered is the caller's again.  A neighbour that is awaited in vain does not keep the others from being
 * settled: a late one would read an array that the caller uses anew. */
static gable_status settle_all(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  const gi_forest_side *s = gi_out_side(x->plan);
  for (int k = 0; k < s->n && x->link; k++) {
    if (k == s->self || !message_in_place(x, s, k)) continue;
    const gable_status one = x->link->transport->settle(x->link, gi_link_number(s, k));
    if (!status) status = one;
  }
  return status;
}

/* An array of the caller's is there, and, where that is known, in the memory that it is said to be in. */
static gable_status check_array(const gable_exchange *x, const gi_forest_side *s, const void *array, const char *name)
{
  gable_status status = GABLE_OK;
  const gable_plan *p = x->plan;
  const int roots = s == &p->forest->roots;
  const int64_t items = roots ? p->forest->root_space : p->forest->leaf_space;
  if (!s->n) goto done;
  GI_REQUIRE(array, GABLE_ERR_ARGUMENT, "%s is NULL", name);
  const gable_space space = roots ? p->options.root_space : p->options.leaf_space;
  gable_context *ctx = p->forest->ctx;
  const size_t bytes = (size_t)(((p->options.fields - 1) * stride_of(p, s) + items) * p->item);
  if (space == GABLE_SPACE_DEVICE) GI_TRY(gi_require_memory(ctx, array, bytes, name));
done:
  return status;
}

/* From arrays in host memory messages go out, and the own edges that may come first. */
static gable_status send(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  GI_TRY(x->link->transport->start(x->link));
  if (x->reply) GI_TRY(x->reply->transport->start(x->reply));
  GI_TRY(send_all(x));
  if (local_first(x->plan)) combine_local(x);
done:
  return status;
}

/* Whether an exchange may begin with these arrays; no exchange begins twice at once. */
static gable_status check_begin(const gable_exchange_arrays *a)
{
  gable_status status = GABLE_OK;
  gable_exchange *x = a->exchange;
  const gable_plan *p = x->plan;
  GI_REQUIRE(x->phase == GI_IDLE, GABLE_ERR_STATE,
             x->phase == GI_BROKEN ? "the exchange has failed before" : "the exchange has not ended");
  GI_REQUIRE(!x->chosen, GABLE_ERR_STATE, "an exchange begins twice at once");
  GI_TRY(check_array(x, gi_out_side(p), a->from, "what is sent"));
  GI_TRY(check_array(x, gi_in_side(p), a->to, "what is received"));
  if (p->moves == GABLE_DIRECTION_FETCH) {
    GI_TRY(check_array(x, &p->forest->leaves, a->update, "update"));
    GI_REQUIRE(a->update != a->from || !p->forest->leaves.n, GABLE_ERR_ARGUMENT,
               "update is the array of the leaves: give the fetched values one of their own");
  }
done:
  return status;
}

static gable_status check_end(const gable_exchange *x)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(x->phase != GI_IDLE && !x->chosen, GABLE_ERR_STATE, "the exchange has not begun");
  GI_REQUIRE(x->phase != GI_BROKEN, GABLE_ERR_STATE, "the exchange has failed before");
done:
  return status;
}

/* Whether all n may begin, or end, on one stream where they are on a device. */
static gable_status check_all(int64_t n, const gable_exchange_arrays *each, int begins)
{
  gable_status status = GABLE_OK;
  const gable_exchange *first = NULL;
  int64_t chosen = 0;
  for (; chosen < n; chosen++) {
    gable_exchange *x = each[chosen].exchange;
    GI_TRY(begins ? check_begin(&each[chosen]) : check_end(x));
    if (x->device && !first) first = x;
    GI_REQUIRE(!x->device || x->device->stream == first->device->stream, GABLE_ERR_ARGUMENT,
               "exchange %lld is on another stream than one before it", (long long)chosen);
    x->chosen = 1;
  }
done:
  for (int64_t k = 0; k < chosen; k++) each[k].exchange->chosen = 0;
  return status;
}

/* After an error none of them goes on, and what was offered is the caller's again. */
static void break_all(int64_t n, const gable_exchange_arrays *each)
{
  for (int64_t k = 0; k < n; k++) {
    gable_exchange *x = each[k].exchange;
    gi_comm_poll_remove(x->plan->forest->comm, &x->poll);
    if (x->phase != GI_IDLE) (void)settle_all(x);
    if (x->phase != GI_IDLE) gi_device_withdraw(x);
    x->phase = GI_BROKEN;
  }
}

/* From arrays in host memory all is sent then. */
static gable_status start(const gable_exchange_arrays *a)
{
  gable_status status = GABLE_OK;
  gable_exchange *x = a->exchange;
  x->from = a->from;
  x->to = a->to;
  x->update = a->update;
  x->phase = GI_BROKEN; /* until all is sent */
  if (!x->device) GI_TRY(send(x));
done:
  return status;
}

static void begun(gable_exchange *x)
{
  x->rounds++;
  x->phase = GI_SENT;
  if (x->reply) gi_comm_poll_add(x->plan->forest->comm, &x->poll);
}

gable_status gi_exchange_begin_all(int64_t n, const gable_exchange_arrays *each)
{
  gable_status status = n == 1 ? check_begin(each) : check_all(n, each, 1);
  if (status) return status;
  for (int64_t k = 0; k < n; k++) GI_TRY(start(&each[k]));
  if (n != 1 || each->exchange->device) GI_TRY(gi_device_send_all(n, each));
  for (int64_t k = 0; k < n; k++) begun(each[k].exchange);
done:
  if (status) break_all(n, each);
  return status;
}

gable_status gi_exchange_begin(const gable_exchange_arrays *a)
{
  return gi_exchange_begin_all(1, a);
}

static gable_status receive_all(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  const gable_plan *p = x->plan;
  const gi_transport *t = x->link->transport;
  const gi_forest_side *s = gi_in_side(p);
  const int local = !local_first(p);
  for (int k = 0; k < s->n; k++) {
    const void *message = NULL;
    const int m = gi_link_number(s, k);
    if (k != s->self && p->options.op == GABLE_FOREST_OP_REPLACE && t->take && is_plain(x, s, k)) {
      GI_TRY(t->take(x->link, m, x->to + s->map[k].start * p->item));
      t->done(x->link, m);
      continue;
    }
    if (k != s->self) GI_TRY(t->in(x->link, m, &message));
    if (message)
      combine_message(x, k, message);
    else if (local)
      combine_local(x);
    if (message) t->done(x->link, m);
  }
  finish_wide(x);
done:
  return status;
}

/* Of a fetch without windows: the roots' half, unless it has been polled, and the leaves'. */
static gable_status end_fetch(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  const gi_phase phase = x->phase;
  gi_comm_poll_remove(x->plan->forest->comm, &x->poll);
  x->phase = GI_BROKEN;
  if (phase == GI_FETCH_FAILED) {
    gi_adopt_error(&x->said);
    GI_TRY(x->failure);
  }
  if (phase == GI_SENT) GI_TRY(gi_fetch_roots(x));
  GI_TRY(gi_fetch_leaves(x));
done:
  return status;
}

/* Of arrays in host memory, and of fetches without windows, all that is to do. */
static gable_status finish(gable_exchange *x)
{
  if (x->reply) return end_fetch(x);
  return x->device ? GABLE_OK : receive_all(x);
}

gable_status gi_exchange_end_all(int64_t n, const gable_exchange_arrays *each)
{
  gable_status status = n == 1 ? check_end(each->exchange) : check_all(n, each, 0);
  if (status) return status;
  for (int64_t k = 0; k < n; k++) GI_TRY(finish(each[k].exchange));
  if (n != 1 || each->exchange->device) GI_TRY(gi_device_receive_all(n, each));
  for (int64_t k = 0; k < n; k++) {
    GI_TRY(settle_all(each[k].exchange));
    each[k].exchange->phase = GI_IDLE;
  }
done:
  if (status) break_all(n, each);
  return status;
}

gable_status gi_exchange_end(const gable_exchange_arrays *a)
{
  return gi_exchange_end_all(1, a);
}

gable_status gi_exchange_wait(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  GI_REQUIRE(x->phase == GI_IDLE, GABLE_ERR_STATE,
             x->phase == GI_BROKEN ? "the exchange has failed before" : "the exchange has not ended");
  if (!x->device) goto done;
  x->phase = GI_BROKEN;
  GI_TRY(gi_device_wait(x));
  x->phase = GI_IDLE;
done:
  return status;
}

void gi_exchange_describe(const gable_exchange *x, gable_exchange_info *info)
{
  const gi_forest_side *s = gi_out_side(x->plan), *reply = gi_in_side(x->plan);
  info->rounds = x->rounds;
  info->messages = x->rounds * (s->n - (s->self >= 0));
  if (x->plan->moves == GABLE_DIRECTION_FETCH) info->messages += x->rounds * (reply->n - (reply->self >= 0));
  if (!x->device) return;
  if (x->device->window) info->puts = info->messages;
  info->launches = x->device->launches;
  info->syncs = x->device->syncs;
}

/* Bytes of each message and the ranks at its other end; ranks and bytes [s->n]. */
static int link_side(const gable_plan *p, const gi_forest_side *s, int *ranks, int64_t *bytes)
{
  int n = 0;
  for (int k = 0; k < s->n; k++) {
    if (k == s->self) continue;
    ranks[n] = s->rank[k];
    bytes[n++] = s->map[k].n * p->item * p->options.fields;
  }
  return n;
}

typedef struct shapes {
  int *root_rank, *leaf_rank;
  int64_t *root_bytes, *leaf_bytes;
} shapes;

static gable_status make_exchange(gable_plan *p, shapes *w, gable_exchange **out)
{
  gable_status status = GABLE_OK;
  const gable_forest *f = p->forest;
  const gi_wide *wide = trees_of(p);
  int64_t bytes = 0;
  GI_ALLOC(f->ctx, w->root_rank, f->roots.n);
  GI_ALLOC(f->ctx, w->root_bytes, f->roots.n);
  GI_ALLOC(f->ctx, w->leaf_rank, f->leaves.n);
  GI_ALLOC(f->ctx, w->leaf_bytes, f->leaves.n);
  GI_ALLOC_ZERO(f->ctx, *out, 1);
  if (!wide) goto done;
  GI_REQUIRE(!gi_mul_off(wide->lane[wide->n], p->item, &bytes) && !gi_mul_off(bytes, p->options.fields, &bytes),
             GABLE_ERR_LIMIT, "%lld wide roots, %lld fields of %lld bytes: their partial sums pass 2^63 bytes",
             (long long)wide->n, (long long)p->options.fields, (long long)p->item);
  GI_ALLOC(f->ctx, (*out)->lanes, bytes);
done:
  return status;
}

/* Bytes from which messages are offered; 0: none are. */
static int64_t least_offer(const gable_plan *p, const gi_transport *t)
{
  if (!t->offer || p->options.path == GABLE_PATH_BUFFER || p->options.path == GABLE_PATH_WINDOW) return 0;
  if (p->options.path == GABLE_PATH_DIRECT) return 1;
  return t->offer_replaces && p->options.op != GABLE_FOREST_OP_REPLACE ? 0 : t->offer_least;
}

gable_status gi_exchange_create(gable_plan *plan, void *stream, gable_exchange **out)
{
  gable_status status = GABLE_OK;
  const gable_forest *f = plan->forest;
  gable_comm *comm = f->comm;
  gable_exchange *x = NULL;
  shapes w = {NULL, NULL, NULL, NULL};
  GI_AGREE_OUT(comm, out, make_exchange(plan, &w, &x));
  x->poll.poll = gi_fetch_poll;
  x->plan = plan;
  x->stream = stream;
  plan->references++;
  const int n_roots = link_side(plan, &f->roots, w.root_rank, w.root_bytes);
  const int n_leaves = link_side(plan, &f->leaves, w.leaf_rank, w.leaf_bytes);
  const gi_link_shape down = {n_roots, n_leaves, w.root_rank, w.leaf_rank, w.root_bytes, w.leaf_bytes};
  const gi_link_shape up = {n_leaves, n_roots, w.leaf_rank, w.root_rank, w.leaf_bytes, w.root_bytes};
  const int fetches = plan->moves == GABLE_DIRECTION_FETCH;
  const gable_path asked = plan->options.path;
  gi_device_shapes links = {plan->moves == GABLE_DIRECTION_BCAST ? down : up, {0}};
  if (fetches) links.reply = down;
  if (plan->on_device) GI_TRY(gi_device_create(x, &links));
  GI_REQUIRE(asked < GABLE_PATH_NCCL || x->device, GABLE_ERR_UNAVAILABLE,
             "paths nccl, nvshmem, put, copy and aware are of arrays in device memory");
  GI_REQUIRE(asked != GABLE_PATH_DIRECT || !x->device || comm->size == 1 || comm->transport->device_create ||
                 comm->transport->messages,
             GABLE_ERR_UNAVAILABLE, "the transport %s stages arrays in device memory: it has no path direct for them",
             comm->transport->name);
  if (!x->link && (!x->device || (!x->device->window && !x->device->carried))) {
    const int of_devices = asked == GABLE_PATH_DIRECT || asked >= GABLE_PATH_NCCL;
    const gable_path path = x->device && of_devices ? GABLE_PATH_AUTO : asked; /* staged */
    GI_TRY(comm->transport->link_create(comm, &links.link, path, &x->link));
    if (fetches) GI_TRY(comm->transport->link_create(comm, &down, path, &x->reply));
    x->offer_least = least_offer(plan, x->link->transport);
  }
  *out = x;
  x = NULL;
done:
  if (x && x->plan) {
    gi_exchange_destroy(x);
  } else if (x) {
    GI_FREE(comm->ctx, x->lanes, x);
  }
  GI_FREE(comm->ctx, w.root_rank, w.root_bytes, w.leaf_rank, w.leaf_bytes);
  return status;
}

void gi_exchange_destroy(gable_exchange *x)
{
  gable_plan *plan = x->plan;
  gable_comm *comm = plan->forest->comm;
  gi_comm_poll_remove(comm, &x->poll);
  const int later = x->device && x->device->linked; /* the links go with it */
  if (x->link && !later) x->link->transport->link_destroy(x->link);
  if (x->reply && !later) x->reply->transport->link_destroy(x->reply);
  gi_free(comm->ctx, x->lanes);
  gi_device_destroy(x);
  gi_free(comm->ctx, x);
  gi_forest_plan_release(plan);
}
