/* device_exchange.c: see device_exchange.h.
 *
 * With windows                   with stream links                   staged, or links in device memory
 * begin  publish targets, send   send; on the side stream a round,   send, wait for the stream, post the messages
 *        fetch, on the side      of a fetch: fetch, a round back
 *        (copied: send packs, on the side the copies, after a fetch the replies'; by put send is on the side, too,
 *        behind the wait for slots)
 * end    receive                 receive                             wait for the messages, receive (of a fetch: fetch,
 *                                                                    post replies, wait for those of others, receive)
 */
#include "forest/device_exchange.h"

#include <string.h>

#include "comm/bounded_call.h"
#include "kernels/forest/wide_tree.h"

/* Device memory that kernels of this rank touch is open for the mirror's: its own, and where windows lie. */
void gi_device_each_memory(const gi_device_exchange *d, void (*of)(gable_context *ctx))
{
  const gi_window *const windows[] = {d->window, d->reply};
  of(d->ctx);
  for (int k = 0; k < 2; k++)
    for (int r = 0; windows[k] && windows[k]->memory->ctx && r < windows[k]->memory->comm->size; r++)
      of(windows[k]->memory->ctx[r]);
}

gable_status gi_device_run(gable_exchange *x, gi_device_step *step, gik_exchange_step *s, void *stream)
{
  const gi_device_exchange *d = x->device;
  int before = GI_NOT_ENTERED;
  s->deadline_s = x->plan->forest->comm->waits.deadline_s;
  gable_status status = d->ctx->device->enter(d->ctx, &before);
  gi_device_each_memory(d, gi_kernels_begin);
  if (!status) status = step(s, stream);
  gi_device_each_memory(d, gi_kernels_end);
  d->ctx->device->leave(d->ctx, before);
  return status;
}

/* Blocks of a launch that waits: ranks that are threads share their GPU's multiprocessors but GIK_NOT_WAITING. */
static int most_waiting(const gi_device_exchange *d)
{
  const gi_shared *s = d->window ? d->window->memory : NULL;
  int ranks = 0;
  for (int r = 0; s && s->ctx && r < s->comm->size; r++) ranks += !strcmp(s->ctx[r]->where, d->ctx->where);
  const int share = (d->ctx->device->gpu_class(d->ctx)->processors - GIK_NOT_WAITING) / (ranks > 1 ? ranks : 1);
  return share < 1 ? 1 : share < GIK_WAITING ? share : GIK_WAITING;
}

/* What all steps of the exchange share. */
static gable_status init_step(const gable_exchange *x, gik_exchange_control *controls, int number,
                              const gi_forest_side *from, gik_exchange_step *s)
{
  gable_status status = GABLE_OK;
  const gable_plan *p = x->plan;
  void *done_of_rows = NULL;
  const size_t bytes = (size_t)(from->n + 2) * sizeof *s->row_done;
  gi_arena *m = &x->device->memory;
  *s = (gik_exchange_step){.unit = p->options.unit, .op = p->options.op, .atomics = p->options.atomics};
  s->fields = p->options.fields;
  s->width = p->options.count;
  s->item = p->item;
  s->control = controls + number;
  s->controls = controls;
  s->launches = &x->device->launches;
  s->waiting = most_waiting(x->device);
  s->fault = p->forest->comm->fault;
  GI_TRY(gi_arena_take(m, bytes, &done_of_rows));
  GI_TRY(m->ctx->device->fill(m->ctx, done_of_rows, 0, bytes, NULL));
  s->row_done = done_of_rows;
done:
  return status;
}

static gable_status own_edges(const gable_exchange *x, const gi_forest_side *from, const gi_forest_side *to,
                              gik_exchange_step *s)
{
  gable_status status = GABLE_OK;
  gi_arena *m = &x->device->memory;
  const int all_shared = s->roots.n && !s->roots.shared;
  if (from->self < 0 || all_shared) goto done;
  GI_TRY(gi_device_indices(m, from, from->self, &s->own_from));
  GI_TRY(gi_device_indices(m, to, to->self, &s->own_to));
  s->own = s->own_from.n;
done:
  return status;
}

/* Whether messages are copied to windows. */
static int copies_of(const gi_device_exchange *d)
{
  return d->window && gi_window_copies(d->window->path);
}

static gable_status take_lanes(gi_device_exchange *d, size_t bytes, gik_exchange_step *s)
{
  void *p = NULL;
  const gable_status status = gi_arena_take(&d->memory, bytes, &p);
  s->lanes = p;
  return status;
}

static gable_status make_steps(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  const gable_plan *p = x->plan;
  const gable_forest *f = p->forest;
  const int fetches = p->moves == GABLE_DIRECTION_FETCH, down = p->moves == GABLE_DIRECTION_BCAST;
  const gi_forest_side *from = down ? &f->roots : &f->leaves, *to = down ? &f->leaves : &f->roots;
  const int64_t from_stride = down ? p->options.root_stride : p->options.leaf_stride;
  const int64_t to_stride = down ? p->options.leaf_stride : p->options.root_stride;
  const int stores = !copies_of(d);
  const gi_window_end *out = d->window && stores ? d->window->out : NULL, *in = d->window ? d->window->in : NULL;
  const gi_window_end *reply_out = d->reply && stores ? d->reply->out : NULL,
                      *reply_in = d->reply ? d->reply->in : NULL;
  const size_t bytes = GIK_EXCHANGE_STEPS * sizeof(gik_exchange_control);
  void *controls = NULL;
  GI_TRY(gi_arena_take(&d->memory, bytes, &controls));
  GI_TRY(d->ctx->device->fill(d->ctx, controls, 0, bytes, NULL));
  GI_TRY(init_step(x, controls, 0, from, &d->send));
  GI_TRY(init_step(x, controls, 1, to, fetches ? &d->fetch : &d->receive));
  gik_exchange_step *last = fetches ? &d->fetch : &d->receive;
  if (!down && !p->options.atomics) GI_TRY(gi_device_roots(&d->memory, f, p->options.op, fetches, &last->roots));
  if (last->roots.wide) GI_TRY(take_lanes(d, (size_t)(gik_tree_items(f->max_degree) * p->item), last));
  d->send.roots = last->roots;
  GI_TRY(own_edges(x, from, to, &d->send));
  GI_TRY(gi_device_rows(&d->memory, from, out, &d->out, &d->send, &d->send.rows));
  GI_TRY(gi_device_rows(&d->memory, to, in, &d->in, last, &last->rows));
  d->send.from_stride = last->from_stride = from_stride;
  d->send.to_stride = last->to_stride = to_stride;
  if (!stores) GI_TRY(init_step(x, controls, 3, from, &d->put));
  if (!stores) GI_TRY(gi_device_rows(&d->memory, from, d->window->out, NULL, &d->put, &d->put.rows));
  if (!fetches) goto done;
  if (!stores) GI_TRY(init_step(x, controls, 4, to, &d->put_back));
  if (!stores) GI_TRY(gi_device_rows(&d->memory, to, d->reply->out, NULL, &d->put_back, &d->put_back.rows));
  GI_TRY(gi_device_rows(&d->memory, to, reply_out, &d->reply_out, last, &last->reply));
  GI_TRY(init_step(x, controls, 2, from, &d->receive));
  d->receive.op = GABLE_FOREST_OP_REPLACE;
  d->receive.to_stride = p->options.leaf_stride;
  GI_TRY(gi_device_rows(&d->memory, from, reply_in, &d->reply_in, &d->receive, &d->receive.rows));
done:
  return status;
}

static gable_status make_device(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = x->plan->forest->ctx;
  gi_device_exchange *d = NULL;
  GI_ALLOC_ZERO(ctx, d, 1);
  x->device = d;
  d->ctx = ctx;
  d->steps = ctx->device->kernels->exchange_steps;
  d->memory = gi_arena_of(ctx);
  d->stream = gi_stream_of(ctx, x->stream);
  GI_TRY(ctx->device->event_create(ctx, &d->later.event));
done:
  return status;
}

/* What carries the plan's messages between device memories; NULL: windows do, or the host. */
static const gi_stream_messages *messages_of(const gable_plan *p)
{
  if (p->options.path == GABLE_PATH_NCCL) return &gi_nccl_messages;
  return p->options.path == GABLE_PATH_AUTO || p->options.path == GABLE_PATH_DIRECT
             ? p->forest->comm->transport->messages
             : NULL;
}

static gable_status fill_device(gable_exchange *x, const gi_device_shapes *shapes)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  const gi_forest_side *out = gi_out_side(x->plan);
  const int64_t bytes = x->plan->item * x->plan->options.fields;
  const int carries = messages_of(x->plan) != NULL;
  const int copies = copies_of(d);
  GI_TRY(gi_device_rooms(d, shapes, carries));
  d->out.elsewhere = copies && d->window->path == GABLE_PATH_COPY && x->plan->options.fields == 1;
  if (d->reply || carries || copies) {
    GI_TRY(d->ctx->device->stream_create(d->ctx, &d->side));
    GI_TRY(d->ctx->device->event_create(d->ctx, &d->turn));
  }
  GI_TRY(gi_shadows_create(x->plan, &d->memory, &d->shadows));
  GI_TRY(make_steps(x));
  if (d->receive.targets) gi_device_find_spans(x);
  gi_device_long_rows(out, bytes, 1, &d->send);
  gi_device_long_rows(x->plan->moves == GABLE_DIRECTION_FETCH ? out : gi_in_side(x->plan), bytes, 0, &d->receive);
  GI_TRY(gi_device_copy_step(&d->memory, &d->send));
  GI_TRY(gi_device_copy_step(&d->memory, &d->receive));
  GI_TRY(d->ctx->device->synchronise(d->ctx, NULL));
done:
  return status;
}

/* Whether the exchange may have windows.  A fetch needs a stream beside the caller's, which a device where a call
 * returns when it is done has not. */
static int wants_windows(const gable_plan *p)
{
  const gable_path path = p->options.path;
  const int fetches = p->moves == GABLE_DIRECTION_FETCH;
  return p->forest->comm->transport->device_create &&
         (path == GABLE_PATH_AUTO || path == GABLE_PATH_DIRECT ||
          (path >= GABLE_PATH_NVSHMEM && path != GABLE_PATH_AWARE)) &&
         !(fetches && p->forest->ctx->device->in_host);
}

/* Collective.  Both, or neither where these ranks have none and the path leaves the choice.  kinds [n_in]. */
static gable_status make_windows(gable_exchange *x, const gi_device_shapes *shapes, const int64_t *kinds)
{
  gi_device_exchange *d = x->device;
  gable_comm *comm = x->plan->forest->comm;
  gable_path path;
  gable_status status = gi_device_choose_path(x->plan, &path);
  if (!status) status = gi_window_create(comm, &shapes->link, kinds, path, &d->window);
  if (status == GABLE_ERR_UNAVAILABLE && x->plan->options.path == GABLE_PATH_AUTO) return GABLE_OK;
  if (status == GABLE_ERR_UNAVAILABLE &&
      path == GABLE_PATH_NVSHMEM) { /* PEs without addresses of each other's memory */
    path = GABLE_PATH_PUT;
    status = gi_window_create(comm, &shapes->link, NULL, path, &d->window);
  }
  if (!status && x->plan->moves == GABLE_DIRECTION_FETCH)
    status = gi_window_create(comm, &shapes->reply, NULL, path, &d->reply);
  return status;
}

/* Collective. */
static gable_status make_carried(gable_exchange *x, const gi_device_shapes *shapes)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  gable_comm *comm = x->plan->forest->comm;
  const gi_stream_messages *by = messages_of(x->plan);
  const gi_stream_room out = {d->out.bytes, d->out.at}, in = {d->in.bytes, d->in.at};
  const gi_stream_room reply_out = {d->reply_out.bytes, d->reply_out.at},
                       reply_in = {d->reply_in.bytes, d->reply_in.at};
  GI_REQUIRE(by->create, GABLE_ERR_UNAVAILABLE, "this build has no path nccl");
  gi_device_each_memory(d, gi_kernels_begin); /* the first round is made there */
  status = by->create(comm, &shapes->link, out, in, d->side, &d->carried);
  if (!status && x->plan->moves == GABLE_DIRECTION_FETCH)
    status = by->create(comm, &shapes->reply, reply_out, reply_in, d->side, &d->carried_back);
  gi_device_each_memory(d, gi_kernels_end);
done:
  return status;
}

gable_status gi_device_create(gable_exchange *x, const gi_device_shapes *shapes)
{
  gable_status status = GABLE_OK;
  gable_comm *comm = x->plan->forest->comm;
  int64_t *kinds = NULL;
  gi_comm_reap(comm);
  GI_AGREE(comm, make_device(x));
  if (wants_windows(x->plan)) {
    GI_AGREE_ALLOC(comm, kinds, shapes->link.n_in);
    gi_device_kinds(x->plan, kinds);
    GI_TRY(make_windows(x, shapes, kinds));
  }
  if (!x->device->window && !messages_of(x->plan)) GI_TRY(gi_device_links(x, shapes));
  GI_AGREE(comm, fill_device(x, shapes));
  if (messages_of(x->plan)) GI_TRY(make_carried(x, shapes));
done:
  gi_free(comm->ctx, kinds);
  return status;
}

static void free_device(gi_later *l)
{
  gi_device_exchange *d = (gi_device_exchange *)l; /* its first member */
  gable_context *ctx = d->ctx;
  if (d->side) ctx->device->stream_destroy(ctx, d->side);
  if (d->carried) d->carried->by->destroy(d->carried);
  if (d->carried_back) d->carried_back->by->destroy(d->carried_back);
  if (d->link) d->link->transport->link_destroy(d->link);
  if (d->link_back) d->link_back->transport->link_destroy(d->link_back);
  gi_window_destroy(d->window);
  gi_window_destroy(d->reply);
  gi_arena_release(&d->memory);
  gi_shadows_release(ctx, &d->shadows);
  gi_device_rooms_release(d);
  if (d->turn) ctx->device->event_destroy(ctx, d->turn);
  if (d->later.event) ctx->device->event_destroy(ctx, d->later.event);
  gi_free(ctx, d);
}

gable_status gi_device_follow(gi_device_exchange *d, void *stream, void *earlier)
{
  const gable_status status = d->ctx->device->event_record(d->ctx, d->turn, earlier);
  return status ? status : d->ctx->device->await_event(d->ctx, stream, d->turn);
}

/* Where making it failed, or begin or end, the side stream may have work that reads and writes the exchange's memory,
 * and that the stream does not await: kernels, which end at the deadline, and what a library carries, which ends when
 * it is given up. */
static void *last_stream(const gable_exchange *x)
{
  gi_device_exchange *d = x->device;
  const int alone = (x->phase != GI_IDLE || !x->rounds) && d->turn;
  return alone && !gi_device_follow(d, d->side, d->stream) ? d->side : d->stream;
}

void gi_device_destroy(gable_exchange *x)
{
  gi_device_exchange *d = x->device;
  gable_comm *comm = x->plan->forest->comm;
  if (!d) return;
  if (x->phase == GI_SENT) gi_device_withdraw(x);
  if (x->phase != GI_IDLE && d->carried) d->carried->by->give_up(d->carried);
  if (x->phase != GI_IDLE && d->carried_back) d->carried_back->by->give_up(d->carried_back);
  if (comm->call_left && d->side) return; /* it may still ask the side stream for rounds */
  if (d->linked) {
    d->link = x->link;
    d->link_back = x->reply;
  }
  d->later.free = free_device;
  if (d->later.event && !d->ctx->device->event_record(d->ctx, d->later.event, last_stream(x)))
    gi_comm_later(comm, &d->later);
  else
    free_device(&d->later);
}

/* On the mirror the library that carries messages is one that reads and writes at once. */
static gable_status run_round(gable_exchange *x, gi_stream_link *l)
{
  gi_device_exchange *d = x->device;
  gi_device_each_memory(d, gi_kernels_begin);
  const gable_status status = l->by->round(l, d->side);
  gi_device_each_memory(d, gi_kernels_end);
  d->launches++;
  return status;
}

/* What follows the send on the side stream: messages that a library carries or that are copied, and of a fetch the
 * roots' half and the replies. */
static gable_status go_on_beside(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  const int copies = copies_of(d);
  GI_TRY(gi_device_follow(d, d->side, d->stream));
  if (d->carried) GI_TRY(run_round(x, d->carried));
  if (copies) GI_TRY(gi_device_empty(x, 0));
  if (gi_device_packs_late(d)) GI_TRY(gi_device_run(x, d->steps->send, &d->send, d->side));
  if (copies) GI_TRY(gi_device_put(x, 0));
  if (x->plan->moves != GABLE_DIRECTION_FETCH) goto done;
  if (copies) GI_TRY(gi_device_empty(x, 1)); /* first: what fetch packs is put in any case */
  GI_TRY(gi_device_run(x, d->steps->fetch, &d->fetch, d->side));
  if (d->carried_back) GI_TRY(run_round(x, d->carried_back));
  if (copies) GI_TRY(gi_device_taken(x, d->window, gi_in_side(x->plan), d->side));
  if (copies) GI_TRY(gi_device_put(x, 1));
done:
  return status;
}

/* The arrays of this round; those in host memory are copied in. */
static gable_status prepare(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  const int fetches = x->plan->moves == GABLE_DIRECTION_FETCH;
  gik_exchange_step *last = fetches ? &d->fetch : &d->receive;
  GI_TRY(gi_comm_check_kernels(x->plan->forest->comm));
  if (gi_shadows_any(&d->shadows)) {
    d->syncs++;
    GI_TRY(gi_device_wait(x));
    GI_TRY(gi_shadows_in(x, &d->shadows, d->stream));
  }
  d->send.from = last->from = x->from;
  d->send.to = last->to = x->to;
  if (fetches) d->fetch.update = d->receive.to = x->update;
  GI_TRY(gi_device_await_sent(x, x->link, gi_out_side(x->plan)));
  if (d->receive.targets) GI_TRY(gi_device_publish(x));
done:
  return status;
}

/* What follows the send; packed: the stream has done it, where messages are staged. */
static gable_status pass_on(gable_exchange *x, int *packed)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  if (d->side) return go_on_beside(x);
  if (d->window) return GABLE_OK;
  if (!*packed) GI_TRY(gi_device_await(d));
  *packed = 1;
  GI_TRY(gi_device_post_sent(x));
done:
  return status;
}

/* Those of n exchanges whose step is done together: between device arrays; of receives not those of staged fetches,
 * which have ended.  From *k on, GIK_TOGETHER at most; returns how many. */
static int choose(int64_t n, const gable_exchange_arrays *each, int receives, int64_t *k, gable_exchange **chosen)
{
  int found = 0;
  for (; *k < n && found < GIK_TOGETHER; ++*k) {
    gable_exchange *x = each[*k].exchange;
    if (x->device && !(receives && x->reply)) chosen[found++] = x;
  }
  return found;
}

/* The step of each, in one launch. */
static gable_status run_together(gable_exchange *const *x, int n, int receives)
{
  int before = GI_NOT_ENTERED;
  const gi_device_exchange *first = x[0]->device;
  const gik_exchange_steps *steps = first->steps;
  const gik_exchange_step *step[GIK_TOGETHER];
  gable_status status = first->ctx->device->enter(first->ctx, &before);
  for (int k = 0; k < n; k++) {
    gik_exchange_step *s = receives ? &x[k]->device->receive : &x[k]->device->send;
    s->deadline_s = x[k]->plan->forest->comm->waits.deadline_s;
    gi_device_each_memory(x[k]->device, gi_kernels_begin);
    step[k] = s;
  }
  if (!status && n > 1) status = (receives ? steps->receive_all : steps->send_all)(step, n, first->stream);
  if (!status && n == 1) status = (receives ? steps->receive : steps->send)(step[0], first->stream);
  for (int k = 0; k < n; k++) gi_device_each_memory(x[k]->device, gi_kernels_end);
  first->ctx->device->leave(first->ctx, before);
  return status;
}

gable_status gi_device_send_all(int64_t n, const gable_exchange_arrays *each)
{
  gable_status status = GABLE_OK;
  gable_exchange *x[GIK_TOGETHER], *packs[GIK_TOGETHER];
  for (int64_t done_so_far = 0; done_so_far < n;) {
    int packed = 0, packing = 0;
    const int chosen = choose(n, each, 0, &done_so_far, x);
    for (int k = 0; k < chosen; k++) GI_TRY(prepare(x[k]));
    for (int k = 0; k < chosen; k++)
      if (!gi_device_packs_late(x[k]->device)) packs[packing++] = x[k];
    if (packing) GI_TRY(run_together(packs, packing, 0));
    for (int k = 0; k < chosen; k++) GI_TRY(pass_on(x[k], &packed));
  }
done:
  return status;
}

/* What was received for arrays in host memory. */
gable_status gi_device_give_out(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  if (!d->shadows.to.users && !d->shadows.update.users) goto done;
  GI_TRY(gi_shadows_out(x, &d->shadows, d->stream));
  d->syncs++;
  GI_TRY(gi_device_wait(x));
  gi_shadows_put(x, &d->shadows);
done:
  return status;
}

/* Until the messages are where the receive reads them.  Where they are staged begin has waited for the stream, so those
 * of the last round have been read. */
static gable_status fetch_in(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  GI_TRY(gi_comm_check_kernels(x->plan->forest->comm));
  if (!d->window && !d->carried) GI_TRY(gi_device_take_all(x, x->link, gi_in_side(x->plan), &d->in));
  if (d->side) GI_TRY(gi_device_follow(d, d->stream, d->side));
done:
  return status;
}

gable_status gi_device_receive_all(int64_t n, const gable_exchange_arrays *each)
{
  gable_status status = GABLE_OK;
  gable_exchange *x[GIK_TOGETHER];
  for (int64_t done_so_far = 0; done_so_far < n;) {
    const int chosen = choose(n, each, 1, &done_so_far, x);
    for (int k = 0; k < chosen; k++) GI_TRY(fetch_in(x[k]));
    if (chosen) GI_TRY(run_together(x, chosen, 1));
    for (int k = 0; k < chosen; k++) {
      const gi_device_exchange *d = x[k]->device;
      const gi_window *read = d->reply ? d->reply : d->window;
      GI_TRY(gi_device_taken(x[k], read, d->reply ? gi_out_side(x[k]->plan) : gi_in_side(x[k]->plan), d->stream));
      GI_TRY(gi_device_give_out(x[k]));
    }
  }
done:
  return status;
}

/* What the library carries is given up, and the stream's end behind it awaited, which is soon: then nothing uses the
 * caller's arrays any more. */
static void give_up_carried(gable_exchange *x)
{
  gi_device_exchange *d = x->device;
  gable_comm *comm = x->plan->forest->comm;
  d->carried->by->abort(comm);
  const double until = gi_now() + gi_share_after_wait * comm->waits.deadline_s;
  while (!d->ctx->device->event_done(d->ctx, d->later.event, 0) && gi_now() < until) gi_sleep();
}

/* A library's messages have no deadline of their own: where the stream has not come to its end by then, they are given
 * up. */
static gable_status await_carried(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  gable_comm *comm = x->plan->forest->comm;
  const gi_forest_side *s = gi_in_side(x->plan);
  const int awaited = s->n > 1 && s->self == 0 ? s->rank[1] : s->n ? s->rank[0] : comm->rank;
  unsigned looks = 0;
  double since = 0.0;
  GI_TRY(d->ctx->device->event_record(d->ctx, d->later.event, d->stream));
  while (!d->ctx->device->event_done(d->ctx, d->later.event, 0)) GI_TRY(gi_comm_wait(comm, awaited, &looks, &since));
done:
  if (status) give_up_carried(x);
  return status;
}

gable_status gi_device_wait(gable_exchange *x)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  if (d->carried) GI_TRY(await_carried(x));
  GI_TRY(d->ctx->device->synchronise(d->ctx, d->stream));
  GI_TRY(gi_comm_check_kernels(x->plan->forest->comm));
done:
  return status;
}
