/* solve_plan.c: creates plans and works; gives the rows above each part their slots. */
#include "supernodal/cpu/solve_plan.h"

#include <stdlib.h>

#include "kernels/panel/panel_sweep.h"

/* Four megabytes of doubles: with less than that for each, meeting costs two threads most of what they save. */
static const gable_off default_thread_values = 524288;

/* The slots while they are handed out. */
typedef struct slots {
  gable_idx *place; /* [n] n + slot of a row above the part at hand, else -1 */
  gable_idx *list;  /* [n] rows above the part at hand */
  gable_idx *row;   /* [room] of each slot */
  gable_off room;
} slots;

static int by_value(const void *a, const void *b)
{
  const gable_idx x = *(const gable_idx *)a, y = *(const gable_idx *)b;
  return (x > y) - (x < y);
}

/* Adds the rows >= end of idx[0:count) that are not in the list yet. */
static gable_idx collect(const gable_idx *idx, gable_off count, gable_idx end, slots *s, gable_idx found)
{
  for (gable_off q = 0; q < count; q++) {
    if (idx[q] < end || s->place[idx[q]] >= 0) continue;
    s->place[idx[q]] = 0;
    s->list[found++] = idx[q];
  }
  return found;
}

static void relabel(gable_idx *to, const gable_idx *from, gable_off count, gable_idx end, const gable_idx *place)
{
  for (gable_off q = 0; q < count; q++) to[q] = from[q] < end ? from[q] : place[from[q]];
}

static gable_status place_part(gi_solve_plan *p, gi_solve_piece *part, slots *s)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = p->layout;
  const gable_idx end = y->super[part->s1];
  const gable_off l0 = y->lptr[part->s0], l1 = y->lptr[part->s1], u0 = y->uptr[part->s0], u1 = y->uptr[part->s1];
  gable_idx found = collect(y->lrow + l0, l1 - l0, end, s, 0);
  if (!y->symmetric) found = collect(y->ucol + u0, u1 - u0, end, s, found);
  GI_REQUIRE(found <= INT32_MAX - y->n - p->slots, GABLE_ERR_LIMIT, "the parts of the tree share more than 2^31 rows");
  GI_RESERVE(p->ctx, s->row, p->slots, p->slots + found, s->room, "slots");
  qsort(s->list, (size_t)found, sizeof *s->list, by_value);
  part->slot0 = p->slots;
  part->slots = found;
  for (gable_idx k = 0; k < found; k++) {
    s->place[s->list[k]] = y->n + p->slots + k;
    s->row[p->slots + k] = s->list[k];
  }
  p->slots += found;
  relabel(p->lrow + l0, y->lrow + l0, l1 - l0, end, s->place);
  if (!y->symmetric) relabel(p->ucol + u0, y->ucol + u0, u1 - u0, end, s->place);
  for (gable_idx k = 0; k < found; k++) s->place[s->list[k]] = -1;
done:
  return status;
}

/* Slots by row, those of one row in the order of the parts.  count: [n] zeros. */
static gable_status list_folds(gi_solve_plan *p, const slots *s, gable_idx *count)
{
  gable_status status = GABLE_OK;
  const gable_idx n = p->layout->n;
  for (gable_idx k = 0; k < p->slots; k++) p->n_folds += !count[s->row[k]]++;
  GI_ALLOC(p->ctx, p->fold_row, p->n_folds);
  GI_ALLOC(p->ctx, p->fold_ptr, p->n_folds + 1);
  GI_ALLOC(p->ctx, p->fold_slot, p->slots);
  gable_idx fold = 0, total = 0;
  for (gable_idx i = 0; i < n; i++) {
    if (!count[i]) continue;
    p->fold_row[fold] = i;
    p->fold_ptr[fold++] = total;
    total += count[i];
    count[i] = total - count[i];
  }
  p->fold_ptr[fold] = total;
  for (gable_idx k = 0; k < p->slots; k++) p->fold_slot[count[s->row[k]]++] = n + k;
  for (gable_idx g = 0, k = 0; g < p->n_segments; g++) {
    gi_solve_segment *segment = &p->segment[g];
    segment->fold0 = k;
    while (k < p->n_folds && p->fold_row[k] < p->layout->super[segment->s1]) k++;
    segment->fold1 = k;
  }
done:
  return status;
}

static gable_status place_slots(gi_solve_plan *p)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = p->layout;
  const gable_off rows = y->lptr[y->n_super], columns = y->uptr[y->n_super];
  slots s = {0};
  gable_idx *count = NULL;
  GI_ALLOC(p->ctx, p->lrow, rows);
  relabel(p->lrow, y->lrow, rows, y->n, NULL);
  if (y->symmetric) {
    p->ucol = p->lrow;
  } else {
    GI_ALLOC(p->ctx, p->ucol, columns);
    relabel(p->ucol, y->ucol, columns, y->n, NULL);
  }
  GI_ALLOC(p->ctx, s.place, y->n);
  GI_ALLOC(p->ctx, s.list, y->n);
  GI_ALLOC_ZERO(p->ctx, count, y->n);
  for (gable_idx i = 0; i < y->n; i++) s.place[i] = -1;
  for (gable_idx k = 0; k < p->n_parts; k++) GI_TRY(place_part(p, &p->part[k], &s));
  GI_TRY(list_folds(p, &s, count));
done:
  GI_FREE(p->ctx, s.place, s.list, s.row, count);
  return status;
}

static void measure(gi_solve_plan *p)
{
  const gi_layout *y = p->layout;
  for (gable_idx s = 0; s < y->n_super; s++) {
    const gable_idx l_rows = gi_layout_width(y, s) + gi_layout_nl(y, s), u_rows = gi_layout_nu(y, s);
    p->longest = l_rows > p->longest ? l_rows : p->longest;
    p->longest = u_rows > p->longest ? u_rows : p->longest;
  }
  p->values = y->lval[y->n_super] + y->uval[y->n_super];
  for (gable_idx k = 0, s = 0; k <= y->n_blocks; k++) {
    const gable_idx end = y->block ? y->block[k] : k * y->n;
    while (s < y->n_super && y->super[s] < end) s++;
    p->super_of_block[k] = s;
  }
}

gable_status gi_solve_plan_create(gable_context *ctx, const gi_layout *layout, const gi_solve_plan_options *options,
                                  gi_solve_plan **out)
{
  gable_status status = GABLE_OK;
  gi_solve_plan *p = NULL;
  *out = NULL;
  GI_ALLOC_ZERO(ctx, p, 1);
  p->ctx = ctx;
  p->layout = layout;
  p->lrow = layout->lrow;
  p->ucol = layout->ucol;
  GI_ALLOC(ctx, p->super_of_block, layout->n_blocks + 1);
  GI_ALLOC(ctx, p->segment, layout->n_blocks);
  GI_ALLOC(ctx, p->part, layout->n_super);
  GI_ALLOC(ctx, p->top, layout->n_super);
  measure(p);
  p->thread_values = options && options->thread_values ? options->thread_values : default_thread_values;
  GI_TRY(gi_solve_cut(p, options));
  if (p->n_parts) {
    p->lrow = p->ucol = NULL;
    GI_TRY(place_slots(p));
  }
  *out = p;
  p = NULL;
done:
  gi_solve_plan_destroy(ctx, &p);
  return status;
}

void gi_solve_plan_destroy(gable_context *ctx, gi_solve_plan **plan)
{
  gi_solve_plan *p = *plan;
  if (!p) return;
  if (p->ucol != p->lrow && p->ucol != p->layout->ucol) gi_free(ctx, p->ucol);
  if (p->lrow != p->layout->lrow) gi_free(ctx, p->lrow);
  GI_FREE(ctx, p->super_of_block, p->segment, p->part, p->top, p->fold_row, p->fold_ptr, p->fold_slot, p);
  *plan = NULL;
}

gable_off gi_solve_plan_bytes(const gi_solve_plan *p)
{
  const gi_layout *y = p->layout;
  gable_off bytes = (gable_off)sizeof *p + (y->n_blocks + 1) * (gable_off)(4 + sizeof *p->segment) +
                    2 * (gable_off)sizeof *p->part * y->n_super;
  if (p->n_parts) bytes += 4 * y->lptr[y->n_super] + 4 * (2 * (gable_off)p->n_folds + p->slots);
  if (p->n_parts && !y->symmetric) bytes += 4 * y->uptr[y->n_super];
  return bytes;
}

/* Parts to threads, the dearest first, each to the thread with the least: fixed, so that a part mostly finds its panels
 * in the cache of the core that swept it last time. */
static void assign_parts(gi_solve_work *w)
{
  const gi_solve_plan *p = w->plan;
  for (int t = 0; t < w->threads; t++) w->load[t] = 0;
  for (gable_idx k = 0; k < p->n_parts; k++) w->owner[k] = -1;
  for (gable_idx done = 0; done < p->n_parts; done++) {
    gable_idx dearest = -1;
    int least = 0;
    for (gable_idx k = 0; k < p->n_parts; k++) {
      if (w->owner[k] < 0 && (dearest < 0 || p->part[k].cost > p->part[dearest].cost)) dearest = k;
    }
    for (int t = 1; t < w->threads; t++) least = w->load[t] < w->load[least] ? t : least;
    w->owner[dearest] = least;
    w->load[least] += p->part[dearest].cost;
  }
}

/* What a work of a plan needs. */
typedef struct work_sizes {
  int threads;
  gable_off stride, y, z;
  gable_idx items;
} work_sizes;

int gi_solve_plan_threads(const gi_solve_plan *plan, int most)
{
  const gable_off worth = plan->values / plan->thread_values;
  return worth < most ? (worth < 1 ? 1 : (int)worth) : most;
}

static work_sizes sizes_for(const gi_solve_plan *plan, int threads, gable_idx rhs)
{
  work_sizes need;
  need.threads = gi_solve_plan_threads(plan, threads);
  need.stride = ((gable_off)plan->longest + 16 + 15) / 8 * 8;
  need.y = ((gable_off)plan->layout->n + plan->slots) * rhs;
  need.z = need.stride * need.threads;
  need.items = plan->n_parts > need.threads ? plan->n_parts : need.threads;
  return need;
}

static void take_plan(gi_solve_work *w, const gi_solve_plan *plan, const work_sizes *need)
{
  w->plan = plan;
  w->threads = need->threads;
  w->stride = need->stride;
  w->phase = 0;
  for (gable_idx i = 0; i < w->items_room; i++) atomic_init(w->claimed + i, 0);
  gi_team_choice_begin(&w->choice);
  assign_parts(w);
}

gable_status gi_solve_work_create(gable_context *ctx, const gi_solve_plan *plan, int threads, gable_idx max_rhs,
                                  gi_solve_work **out)
{
  gable_status status = GABLE_OK;
  gi_solve_work *w = NULL;
  *out = NULL;
  GI_REQUIRE(threads >= 1 && max_rhs >= 0, GABLE_ERR_ARGUMENT, "%d threads and %d right-hand sides", threads, max_rhs);
  GI_ALLOC_ZERO(ctx, w, 1);
  w->ctx = ctx;
  w->rhs = max_rhs <= 1 ? 1 : gik_panel_kernels_for(GABLE_TYPE_D, GABLE_TYPE_D, max_rhs)->rhs;
  w->threads_wanted = threads;
  const work_sizes need = sizes_for(plan, threads, w->rhs);
  w->y_room = need.y;
  w->z_room = need.z;
  w->parts_room = plan->n_parts;
  w->items_room = need.items;
  w->threads_room = need.threads;
  GI_ALLOC(ctx, w->y, w->y_room);
  GI_ALLOC_ZERO(ctx, w->z, w->z_room);
  GI_ALLOC(ctx, w->owner, w->parts_room);
  GI_ALLOC(ctx, w->claimed, w->items_room);
  GI_ALLOC(ctx, w->load, w->threads_room);
  take_plan(w, plan, &need);
  *out = w;
  w = NULL;
done:
  gi_solve_work_destroy(ctx, &w);
  return status;
}

int gi_solve_work_fit(gi_solve_work *w, const gi_solve_plan *plan)
{
  const work_sizes need = sizes_for(plan, w->threads_wanted, w->rhs);
  if (need.y > w->y_room || need.z > w->z_room || plan->n_parts > w->parts_room || need.items > w->items_room ||
      need.threads > w->threads_room)
    return 0;
  memset(w->z, 0, (size_t)w->z_room * sizeof *w->z);
  take_plan(w, plan, &need);
  return 1;
}

void gi_solve_work_destroy(gable_context *ctx, gi_solve_work **work)
{
  gi_solve_work *w = *work;
  if (!w) return;
  GI_FREE(ctx, w->y, w->z, w->owner, w->claimed, w->load, w);
  *work = NULL;
}
