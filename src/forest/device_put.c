/* device_put.c: messages of windows that are copied to the receiver instead of stored there by kernels: by the copy
 * engine (path copy), or by NVSHMEM's put with signal (path put).
 *
 *   copy  begin  send packs messages in `staged`, but those that are copied from the array
 *                on the side stream: wait until the slots are empty, copy, raise the flags
 *         end    receive, as of every window
 *
 *   put   begin  on the side stream: wait until the slots are empty, send, put (each message's flag follows it)
 *         end    receive; calls on the stream tell the senders that slots are empty
 *
 * What is captured has fixed addresses, so a message has one slot: a round's copy waits for the end of the receiver's
 * last round. */
#include "forest/device_exchange.h"

/* The largest message that this rank sends; -1: one of them is not a run of the array. */
static int64_t largest_run(const gable_plan *p)
{
  const gi_forest_side *s = gi_out_side(p);
  int64_t most = 0;
  for (int k = 0; k < s->n; k++) {
    const int64_t bytes = s->map[k].n * p->item;
    if (k == s->self) continue;
    if (s->map[k].kind != GIK_MAP_CONTIGUOUS) return -1;
    most = bytes > most ? bytes : most;
  }
  return most;
}

gable_status gi_device_choose_path(const gable_plan *p, gable_path *path)
{
  gable_status status = GABLE_OK;
  gable_comm *comm = p->forest->comm;
  const int64_t bar = comm->ctx->device->gpu_class(comm->ctx)->copy_least;
  enum { TARGETS, LEAST, RUN, WORDS };
  *path = p->options.path;
  if (*path != GABLE_PATH_AUTO || !comm->transport->copies || p->options.fields > 1 ||
      p->moves == GABLE_DIRECTION_FETCH)
    return GABLE_OK;
  const int64_t own[WORDS] = {gi_device_kinds(p, NULL), bar, largest_run(p)};
  GI_TRY(gi_comm_agree_on(comm, GABLE_OK, WORDS, own));    /* ranks may have unlike devices, and choose alike */
  if (gi_comm_most(comm, WORDS, TARGETS)) return GABLE_OK; /* stores then need no second pass */
  int runs = 1;
  for (int r = 0; r < comm->size; r++) runs &= comm->words[r * WORDS + RUN] >= 0;
  if (runs && gi_comm_most(comm, WORDS, RUN) >= gi_comm_most(comm, WORDS, LEAST)) *path = GABLE_PATH_COPY;
done:
  return status;
}

gable_status gi_device_empty(gable_exchange *x, int replies)
{
  gi_device_exchange *d = x->device;
  gik_exchange_step *step = replies ? &d->put_back : &d->put;
  return step->n_rows ? gi_device_run(x, d->steps->empty, step, d->side) : GABLE_OK;
}

gable_status gi_device_put(gable_exchange *x, int replies)
{
  gable_status status = GABLE_OK;
  gi_device_exchange *d = x->device;
  const gable_plan *p = x->plan;
  const gi_window *w = replies ? d->reply : d->window;
  const gi_room *room = replies ? &d->reply_out : &d->out;
  const gi_forest_side *s = replies ? gi_in_side(p) : gi_out_side(p);
  gik_exchange_step *step = replies ? &d->put_back : &d->put;
  if (!step->n_rows) goto done;
  gi_device_each_memory(d, gi_kernels_begin);
  for (int k = 0; k < s->n && !status; k++) {
    const int m = gi_link_number(s, k);
    if (k == s->self) continue;
    const gik_map *map = &s->map[k];
    const char *from =
        gi_device_goes_from_array(room, map) ? x->from + map->start * p->item : room->bytes + room->at[m];
    status = gi_window_send(w, m, s->rank[k], from, map->n * p->item * p->options.fields, d->side);
    d->launches++;
  }
  gi_device_each_memory(d, gi_kernels_end);
  if (!status && w->path == GABLE_PATH_COPY) GI_TRY(gi_device_run(x, d->steps->filled, step, d->side));
done:
  return status;
}

gable_status gi_device_taken(gable_exchange *x, const gi_window *w, const gi_forest_side *s, void *stream)
{
  gable_status status = GABLE_OK;
  if (!w || w->path != GABLE_PATH_PUT) goto done;
  for (int k = 0; k < s->n; k++) {
    if (k == s->self) continue;
    GI_TRY(gi_window_emptied(w, gi_link_number(s, k), s->rank[k], stream));
    x->device->launches++;
  }
done:
  return status;
}
