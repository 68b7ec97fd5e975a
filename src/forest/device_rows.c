/* device_rows.c: where an exchange's messages are packed; neighbours, indices and shared roots of a forest, as its
 * steps read them on a device. */
#include <string.h>

#include "forest/device_exchange.h"
#include "kernels/forest/wide_tree.h"

enum { MESSAGE = 256 /* alignment */ };
enum { MOST_LONG = 16 * GIK_LONG_BLOCKS };     /* blocks of a launch, most of which may have no work */
enum { ROOTS_AN_EDGE = 64, FEW_ROOTS = 1024 }; /* up to where a bit for each root is worth its memory */

int64_t gi_device_long_least = 1 << 20;

static gable_status place_messages(gable_context *ctx, int n, const int64_t *bytes, gable_path path, gi_room *room)
{
  gable_status status = GABLE_OK;
  GI_ALLOC_ZERO(ctx, room->at, n + 1);
  room->n = n;
  for (int k = 0; k < n; k++)
    room->at[k + 1] = room->at[k] + (gi_window_sent(path, bytes[k]) + MESSAGE - 1) / MESSAGE * MESSAGE;
  room->words = path == GABLE_PATH_PUT;
done:
  return status;
}

gable_status gi_device_place(gi_device_exchange *d, const gi_device_shapes *shapes)
{
  gable_status status = GABLE_OK;
  const gable_path path = GABLE_PATH_AUTO;
  GI_TRY(place_messages(d->ctx, shapes->link.n_out, shapes->link.out_bytes, path, &d->out));
  GI_TRY(place_messages(d->ctx, shapes->link.n_in, shapes->link.in_bytes, path, &d->in));
  GI_TRY(place_messages(d->ctx, shapes->reply.n_out, shapes->reply.out_bytes, path, &d->reply_out));
  GI_TRY(place_messages(d->ctx, shapes->reply.n_in, shapes->reply.in_bytes, path, &d->reply_in));
done:
  return status;
}

/* Rooms of stream links on the device, else of what is staged. */
static gable_status make_rooms(gi_device_exchange *d, const gi_device_shapes *shapes, int on_device)
{
  gable_status status = GABLE_OK;
  gi_room *const all[] = {&d->out, &d->in, &d->reply_out, &d->reply_in};
  GI_TRY(gi_device_place(d, shapes));
  for (int k = 0; k < 4; k++) {
    void *p = NULL;
    const size_t bytes = (size_t)all[k]->at[all[k]->n];
    GI_TRY(on_device ? gi_arena_take(&d->memory, bytes, &p) : d->ctx->device->pinned_alloc(d->ctx, bytes, &p));
    all[k]->bytes = p;
    all[k]->pinned = !on_device;
  }
done:
  return status;
}

/* What is copied to windows is packed beside their slots. */
static gable_status stage(gi_device_exchange *d, const gi_device_shapes *shapes)
{
  gable_status status = GABLE_OK;
  const gable_path path = d->window->path;
  GI_TRY(place_messages(d->ctx, shapes->link.n_out, shapes->link.out_bytes, path, &d->out));
  d->out.bytes = d->window->staged;
  if (!d->reply) goto done;
  GI_TRY(place_messages(d->ctx, shapes->reply.n_out, shapes->reply.out_bytes, path, &d->reply_out));
  d->reply_out.bytes = d->reply->staged;
done:
  return status;
}

gable_status gi_device_rooms(gi_device_exchange *d, const gi_device_shapes *shapes, int carries)
{
  if (d->linked) return GABLE_OK;
  if (!d->window) return make_rooms(d, shapes, carries);
  return gi_window_copies(d->window->path) ? stage(d, shapes) : GABLE_OK;
}

void gi_device_rooms_release(gi_device_exchange *d)
{
  gi_room *const all[] = {&d->out, &d->in, &d->reply_out, &d->reply_in};
  for (int k = 0; k < 4; k++) {
    if (all[k]->pinned) d->ctx->device->pinned_release(d->ctx, all[k]->bytes);
    gi_free(d->ctx, all[k]->at);
    all[k]->at = NULL;
  }
}

/* *device: a copy of bytes. */
static gable_status put(gi_arena *m, const void *host, size_t bytes, const void **device)
{
  gable_status status = GABLE_OK;
  void *p = NULL;
  if (!bytes) goto done;
  GI_TRY(gi_arena_take(m, bytes, &p));
  GI_TRY(m->ctx->device->copy_in(m->ctx, p, host, bytes, NULL));
  GI_TRY(m->ctx->device->synchronise(m->ctx, NULL)); /* host may go */
done:
  *device = p;
  return status;
}

/* index [n], with 32 bits where all fit. */
static gable_status put_list(gi_arena *m, const int64_t *index, int64_t n, gik_indices *out)
{
  gable_status status = GABLE_OK;
  int32_t *narrow = NULL;
  const void *p = NULL;
  int64_t most = 0;
  for (int64_t i = 0; i < n; i++) most = index[i] > most ? index[i] : most;
  if (most > INT32_MAX) {
    GI_TRY(put(m, index, (size_t)n * sizeof *index, &p));
    out->list_64 = p;
    goto done;
  }
  GI_ALLOC(m->ctx, narrow, n);
  for (int64_t i = 0; i < n; i++) narrow[i] = (int32_t)index[i];
  GI_TRY(put(m, narrow, (size_t)n * sizeof *narrow, &p));
  out->list = p;
done:
  gi_free(m->ctx, narrow);
  return status;
}

gable_status gi_device_indices(gi_arena *m, const gi_forest_side *s, int k, gik_indices *out)
{
  gable_status status = GABLE_OK;
  const gik_map *map = &s->map[k];
  *out = (gik_indices){.n = map->n, .start = map->start, .kind = (int)map->kind, .small = map->n <= INT32_MAX};
  memcpy(out->stride, map->stride, sizeof out->stride);
  for (int d = 0; d < 2; d++) out->extent[d] = gik_divisor_of(map->extent[d] > 0 ? map->extent[d] : 1);
  if (map->kind != GIK_MAP_RUNS && map->kind != GIK_MAP_LIST) goto done;
  out->kind = GIK_MAP_LIST;
  GI_TRY(put_list(m, s->index + s->ptr[k], map->n, out));
done:
  return status;
}

gable_status gi_device_rows(gi_arena *m, const gi_forest_side *s, const gi_window_end *ends, const gi_room *room,
                            gik_exchange_step *step, const gik_row **rows)
{
  gable_status status = GABLE_OK;
  gik_row *host = NULL;
  gik_row_target *target = NULL;
  const void *p = NULL;
  int n = 0, targets = 0;
  GI_ALLOC_ZERO(m->ctx, host, s->n);
  GI_ALLOC_ZERO(m->ctx, target, s->n);
  for (int k = 0; k < s->n; k++) {
    const int message = gi_link_number(s, k);
    if (k == s->self || (room && gi_device_goes_from_array(room, &s->map[k]))) continue;
    gik_row *r = &host[n];
    GI_TRY(gi_device_indices(m, s, k, &r->mine));
    r->rank = s->rank[k];
    if (ends) {
      memcpy(r->slot, ends[message].slot, sizeof r->slot);
      r->await = ends[message].await;
      r->raise = ends[message].raise;
      r->holds = ends[message].holds;
      if (ends[message].flagged) r->flagged = gik_flagged_items(r->mine.n, step->item, step->fields);
      if (r->flagged) r->parts = (int)((r->mine.n + r->flagged - 1) / r->flagged);
      target[n] = (gik_row_target){ends[message].target, ends[message].stored};
      targets |= target[n].at != NULL;
    } else if (room->link && !room->bytes) {
      room->link->transport->slots(room->link, message, room->incoming, r->slot);
    } else {
      r->slot[0] = r->slot[1] = room->bytes + room->at[message];
      if (room->words) r->raise = gi_word_behind(r->slot[0], r->mine.n * step->item * step->fields);
    }
    const int64_t numbers = gik_row_numbers(r, step->width);
    if (numbers > step->largest) step->largest = numbers;
    if (rows == &step->rows) step->flagged += r->flagged > 0;
    if (rows == &step->rows && n < GIK_ROWS_INLINE) step->few[n] = *r;
    n++;
  }
  step->n_rows = n;
  if (rows == &step->rows) step->windows = ends != NULL;
  GI_TRY(put(m, host, (size_t)n * sizeof *host, &p));
  *rows = p;
  if (targets) GI_TRY(put(m, target, (size_t)n * sizeof *target, &p));
  if (targets) step->targets = p;
done:
  GI_FREE(m->ctx, host, target);
  return status;
}

void gi_device_long_rows(const gi_forest_side *s, int64_t bytes, int packs, gik_exchange_step *step)
{
  const gik_shared_roots *q = &step->roots;
  int64_t all = 0, longest = 0;
  if (step->width > 1 || step->atomics || step->own > INT32_MAX) return;
  step->own_apart = step->own > 0 && step->own * bytes >= gi_device_long_least;
  for (int k = 0; k < s->n; k++) {
    const int64_t n = k == s->self ? 0 : s->map[k].n;
    all += n;
    if (n > longest) longest = n;
  }
  const int flagged = step->flagged && (!packs || step->flagged == step->n_rows);
  const int slots = !packs && (q->wide || (q->n && !q->shared)); /* roots alone take what lies there */
  if (flagged || slots || !all || all * bytes < gi_device_long_least || longest > INT32_MAX) return;
  const int64_t share = GIK_LONG_BLOCKS * longest / all, most = MOST_LONG / (s->n + 1);
  step->long_blocks = (int)(share < 1 || most < 1 ? 1 : share < most ? share : most);
  step->own_apart = step->own > 0;
}

gable_status gi_device_copy_step(gi_arena *m, gik_exchange_step *step)
{
  const void *here = NULL;
  const gable_status status = put(m, step, sizeof *step, &here);
  step->here = here;
  return status;
}

/* Host arrays of gik_shared_roots, filled from the edges of the roots side. */
typedef struct lists {
  int64_t n, wide, edges;
  int64_t *order, *room; /* [edges of the side] by root, each root's in the order of sums */
  int64_t *ptr, *root, *item;
  int32_t *row;
  uint32_t *shared;
} lists;

/* Which neighbour edge e of the side belongs to. */
static int neighbour_of(const gi_forest_side *s, int64_t e)
{
  int low = 0, high = s->n;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    *(e < s->ptr[middle] ? &high : &low) = middle;
  }
  return low;
}

static void add_edge(const gable_forest *f, lists *l, int64_t e)
{
  const gi_forest_side *s = &f->roots;
  const int k = neighbour_of(s, e), own = k == s->self;
  const int64_t i = e - s->ptr[k];
  l->row[l->edges] = own ? s->n - (s->self >= 0) : gi_link_number(s, k);
  l->item[l->edges++] = own ? f->leaves.index[f->leaves.ptr[f->leaves.self] + i] : i;
}

/* Roots of degree least to most. */
static void add_roots(const gable_forest *f, int64_t edges, int64_t least, int64_t most, lists *l)
{
  const int64_t *index = f->roots.index;
  for (int64_t from = 0, to; from < edges; from = to) {
    const int64_t root = index[l->order[from]];
    for (to = from; to < edges && index[l->order[to]] == root;) to++;
    if (to - from < least || to - from > most) continue;
    if (l->shared) l->shared[root / 32] |= UINT32_C(1) << (root % 32);
    l->root[l->n] = root;
    l->ptr[l->n++] = l->edges;
    for (int64_t k = from; k < to; k++) add_edge(f, l, l->order[k]);
  }
  l->ptr[l->n] = l->edges;
}

static gable_status put_lists(gi_arena *m, const lists *l, int64_t words, gik_shared_roots *out)
{
  gable_status status = GABLE_OK;
  const void *p[5] = {NULL, NULL, NULL, NULL, NULL};
  GI_TRY(put(m, l->ptr, (size_t)(l->n + 1) * sizeof *l->ptr, &p[0]));
  GI_TRY(put(m, l->root, (size_t)l->n * sizeof *l->root, &p[1]));
  GI_TRY(put(m, l->row, (size_t)l->edges * sizeof *l->row, &p[2]));
  GI_TRY(put(m, l->item, (size_t)l->edges * sizeof *l->item, &p[3]));
  if (l->shared) GI_TRY(put(m, l->shared, (size_t)words * sizeof *l->shared, &p[4]));
  *out = (gik_shared_roots){l->n, l->wide, p[0], p[1], p[2], p[3], p[4]};
done:
  return status;
}

gable_status gi_device_roots(gi_arena *m, const gable_forest *f, gable_forest_op op, int fetch, gik_shared_roots *out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = m->ctx;
  lists l = {0};
  const int64_t edges = f->roots.n ? f->roots.ptr[f->roots.n] : 0, words = f->n_roots / 32 + 1;
  *out = (gik_shared_roots){0};
  if (!edges || (!fetch && f->max_degree < 2)) goto done;
  GI_ALLOC(ctx, l.order, edges);
  GI_ALLOC(ctx, l.room, edges);
  GI_ALLOC(ctx, l.ptr, edges + 1);
  GI_ALLOC(ctx, l.root, edges);
  GI_ALLOC(ctx, l.item, edges);
  GI_ALLOC(ctx, l.row, edges);
  if (!fetch && f->n_roots / ROOTS_AN_EDGE <= edges + FEW_ROOTS) GI_ALLOC_ZERO(ctx, l.shared, words);
  gi_sort_order(f->roots.index, edges, l.order, l.room);
  const int tree = !fetch && op != GABLE_FOREST_OP_REPLACE;
  add_roots(f, edges, l.shared ? 2 : 1, tree ? GIK_WIDE_DEGREE : edges, &l);
  const int64_t narrow = l.n;
  if (tree) add_roots(f, edges, GIK_WIDE_DEGREE + 1, edges, &l);
  l.wide = l.n - narrow;
  GI_TRY(put_lists(m, &l, words, out));
done:
  GI_FREE(ctx, l.order, l.room, l.ptr, l.root, l.item, l.row, l.shared);
  return status;
}
