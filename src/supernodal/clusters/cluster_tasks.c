/* cluster_tasks.c: the lists of tasks of whole solves, made by all threads.
 *
 *   1. pieces: clusters of a level with about PIECE tasks, or a part of the tiles of a large one
 *   2. the tasks of a piece, by one thread (cluster_piece.c); those that it adds to the board number from one place on
 *   3. places of all pieces, one behind the other
 *   4. a list schedule (cluster_task_order.c), and the records in its order
 *
 * Pieces depend on the clusters alone, so lists have the same bytes for any number of threads. */
#include "supernodal/clusters/cluster_tasks.h"

#include <string.h>

#include "base/type_size.h"
#include "device/device.h"
#include "supernodal/clusters/cluster_piece.h"

enum { PIECE = 16 }; /* tasks of a piece, about */

/* One plan's pieces are first .. first + count - 1 of all. */
typedef struct plan_list {
  const gi_task_plan *plan;
  gable_off first, count;
  gi_task_ref *task;
  gi_task_schedule schedule;
  gi_cluster_tasks *out;
} plan_list;

typedef struct list_maker {
  gable_context *ctx;
  gi_task_piece *piece;
  gable_off pieces, capacity;
  plan_list *list;
  gi_task_builder **builder; /* [threads] */
  int lists, threads;
} list_maker;

/* ---- pieces ---- */

static gable_status add_piece(list_maker *m, gi_task_piece piece)
{
  gable_status status = GABLE_OK;
  if (piece.begin == piece.end) goto done;
  GI_RESERVE(m->ctx, m->piece, m->pieces, m->pieces + 1, m->capacity, "the tasks of a solve");
  m->piece[m->pieces++] = piece;
done:
  return status;
}

/* Bytes of a task of this level. */
static gable_off find_target(const gi_task_plan *p, gable_off least, int forward, gable_idx begin, gable_idx end)
{
  const gable_off most = p->limits.bytes * (gable_off)3 / 4; /* the rest is for lists */
  double bytes = 0;
  for (gable_idx j = begin; j < end; j++) bytes += (double)gi_task_cluster_bytes(p, forward, j);
  bytes /= p->limits.workers;
  const gable_off target = bytes < (double)least ? least : bytes < (double)most ? (gable_off)bytes : most;
  return target < most ? target : most;
}

/* Into how many pieces the tiles of cluster j go.  Each gathers the cluster's terms anew: about half of what its tasks
 * write, at most. */
static gable_idx parts_of(const gi_task_plan *p, int forward, gable_idx j, gable_off target)
{
  enum { WRITTEN = 200 }; /* list entries of a task, about */
  const gi_cluster_side *side = forward ? p->forward.side : p->backward.side;
  const gable_idx *first = p->clusters->first;
  const gable_off begin = first[j] + side->ptr[j], end = first[j + 1] + side->ptr[j + 1];
  const gable_off terms = (forward ? side->in_ptr[end] - side->in_ptr[begin] : 0) + end - begin;
  const gable_off tasks = gi_task_cluster_bytes(p, forward, j) / target, most = WRITTEN * tasks / terms;
  const gable_off parts = tasks / PIECE < most ? tasks / PIECE : most;
  return parts < 2 ? 1 : (gable_idx)parts;
}

static gable_status list_level(list_maker *m, const gi_task_plan *p, int forward, gable_idx level)
{
  gable_status status = GABLE_OK;
  const gable_idx begin = p->clusters->level_ptr[level], end = p->clusters->level_ptr[level + 1];
  const gable_off least = m->ctx->device->gpu_class(m->ctx)->task.least_bytes;
  const gable_off target = find_target(p, least, forward, begin, end), most = PIECE * target;
  gi_task_piece next = {.plan = p, .forward = forward, .begin = begin, .parts = 1, .target = target};
  gable_off bytes = 0;
  for (gable_idx j = begin; j < end; j++) {
    const gable_off own = gi_task_cluster_bytes(p, forward, j);
    const gable_idx parts = parts_of(p, forward, j, target);
    next.end = parts > 1 ? j : j + 1;
    bytes += own;
    if (bytes < most && j + 1 < end) continue;
    GI_TRY(add_piece(m, next));
    gi_task_piece large = next;
    large.begin = j;
    large.end = j + 1;
    large.parts = parts;
    for (large.part = 0; parts > 1 && large.part < parts; large.part++) GI_TRY(add_piece(m, large));
    next.begin = j + 1;
    bytes = 0;
  }
done:
  return status;
}

static gable_status list_pieces(list_maker *m, plan_list *l)
{
  gable_status status = GABLE_OK;
  const gable_idx levels = l->plan->clusters->n_levels;
  l->first = m->pieces;
  for (gable_idx level = 0; level < levels; level++) GI_TRY(list_level(m, l->plan, 1, level));
  for (gable_idx level = levels - 1; level >= 0; level--) GI_TRY(list_level(m, l->plan, 0, level));
  l->count = m->pieces - l->first;
done:
  return status;
}

/* The error of the first piece that has one. */
static gable_status build_pieces(list_maker *m)
{
  gable_status status = GABLE_OK;
  gable_off failed = m->pieces;
  gi_error error;
  GI_OMP(parallel for num_threads(m->threads) schedule(dynamic))
  for (gable_off k = 0; k < m->pieces; k++) {
    const gable_status own = gi_task_piece_build(m->builder[omp_get_thread_num()], m->piece + k);
    if (!own) continue;
    GI_OMP(critical(gi_task_piece_failed))
    if (k < failed) {
      failed = k;
      status = own;
      gi_keep_error(&error);
    }
  }
  if (status) gi_adopt_error(&error);
  return status;
}

/* ---- lists ---- */

/* Numbers the tasks and places of a plan's pieces one behind the other. */
static gable_status number_pieces(list_maker *m, plan_list *l)
{
  gable_status status = GABLE_OK;
  gable_off shift = 0, tasks = 0, start = 0; /* start: of the cluster whose parts these are */
  for (gable_off k = l->first; k < l->first + l->count; k++) {
    gi_task_piece *p = m->piece + k;
    if (!p->part) start = shift;
    p->shift = start;
    p->first = tasks;
    shift += p->places;
    tasks += p->tasks;
  }
  l->out->places = gi_task_places(l->plan) + shift;
  GI_REQUIRE(l->out->places < 1 << 30, GABLE_ERR_LIMIT, "%lld values between the tasks of a solve",
             (long long)l->out->places);
  GI_REQUIRE(tasks < INT32_MAX - 1, GABLE_ERR_LIMIT, "%lld tasks in a solve", (long long)tasks);
  l->out->count = (gable_idx)tasks;
  GI_ALLOC(m->ctx, l->task, tasks);
  GI_ALLOC(m->ctx, l->schedule.order, tasks);
  l->schedule.task = l->task;
  l->schedule.count = l->out->count;
  l->schedule.workers = l->plan->limits.workers;
  l->schedule.places = l->out->places;
done:
  return status;
}

/* Places of sums of the record of a task, moved by shift. */
static void shift_places(unsigned char *record, gable_idx from, gable_idx shift)
{
  const gik_flow_task *t = (const gik_flow_task *)record;
  gik_flow_out *out = (gik_flow_out *)(record + t->out);
  gable_idx *term = (gable_idx *)(record + t->term);
  const int terms = ((const uint16_t *)(record + t->ptr))[t->sums];
  for (gable_idx o = 0; o < t->outputs; o++) out[o].id += out[o].id >= from ? shift : 0;
  for (int e = 0; e < terms; e++) term[e] += term[e] >= from ? shift : 0;
}

/* Adds shift to its places, and writes its tasks to task. */
static void place_piece(const gi_task_piece *piece, gi_task_ref *task)
{
  const gi_records *r = piece->records;
  const gable_idx from = (gable_idx)gi_task_places(piece->plan);
  for (gable_idx k = piece->from; k < piece->from + piece->tasks; k++, task++) {
    const gik_flow_at at = r->at[k], end = r->at[k + 1];
    if (piece->shift) shift_places(r->records + at.record, from, (gable_idx)piece->shift);
    *task = (gi_task_ref){r->records + at.record, r->source + r->first[k], (gable_idx)(end.record - at.record),
                          (gable_idx)(end.values - at.values), (gable_idx)(r->first[k + 1] - r->first[k])};
  }
}

static gable_status place_pieces(list_maker *m)
{
  gable_status status = GABLE_OK;
  for (int k = 0; k < m->lists; k++) GI_TRY(number_pieces(m, m->list + k));
  for (int k = 0; k < m->lists; k++) {
    const plan_list *l = m->list + k;
    GI_OMP(parallel for num_threads(m->threads) schedule(dynamic))
    for (gable_off e = l->first; e < l->first + l->count; e++) place_piece(m->piece + e, l->task + m->piece[e].first);
  }
done:
  return status;
}

/* Task order[k] becomes number k. */
static gable_status arrange(list_maker *m, const plan_list *l)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = m->ctx;
  gi_cluster_tasks *t = l->out;
  gable_off *first = NULL;
  const gable_off value_bytes = (gable_off)gi_type_size(l->plan->type);
  GI_ALLOC(ctx, t->at, t->count + 1);
  GI_ALLOC(ctx, first, t->count + 1);
  t->at[0] = (gik_flow_at){0, 0};
  first[0] = 0;
  for (gable_idx k = 0; k < t->count; k++) {
    const gi_task_ref *from = l->task + l->schedule.order[k];
    t->at[k + 1] = (gik_flow_at){t->at[k].record + from->bytes, t->at[k].values + from->values};
    first[k + 1] = first[k] + from->sources;
  }
  t->sources = first[t->count];
  GI_ALLOC(ctx, t->records, t->at[t->count].record);
  GI_ALLOC(ctx, t->source, t->sources);
  GI_OMP(parallel for num_threads(m->threads) schedule(static))
  for (gable_idx k = 0; k < t->count; k++) {
    const gi_task_ref *from = l->task + l->schedule.order[k];
    memcpy(t->records + t->at[k].record, from->record, (size_t)from->bytes);
    for (gable_idx e = 0; e < from->sources; e++) {
      t->source[first[k] + e] = from->source[e];
      t->source[first[k] + e].to += t->at[k].values / value_bytes;
    }
  }
done:
  gi_free(ctx, first);
  return status;
}

static gable_status make_lists(list_maker *m)
{
  gable_status status = GABLE_OK;
  gi_task_schedule *schedule = NULL;
  for (int k = 0; k < m->lists; k++) GI_TRY(list_pieces(m, m->list + k));
  if (m->pieces / 2 < m->threads) m->threads = (int)(m->pieces / 2) + 1;
  GI_ALLOC_ZERO(m->ctx, m->builder, m->threads);
  for (int t = 0; t < m->threads; t++) GI_TRY(gi_task_builder_create(m->ctx, &m->builder[t]));
  GI_TRY(build_pieces(m));
  GI_TRY(place_pieces(m));
  GI_ALLOC(m->ctx, schedule, m->lists);
  for (int k = 0; k < m->lists; k++) schedule[k] = m->list[k].schedule;
  GI_TRY(gi_task_schedules_make(m->ctx, schedule, m->lists, m->threads));
  for (int k = 0; k < m->lists; k++) GI_TRY(arrange(m, m->list + k));
done:
  gi_free(m->ctx, schedule);
  return status;
}

gable_status gi_cluster_tasks_init(gable_context *ctx, const gi_task_plan *plan, int count, gi_cluster_tasks *out)
{
  gable_status status = GABLE_OK;
  list_maker m = {.ctx = ctx, .lists = count, .threads = ctx->threads};
  memset(out, 0, (size_t)count * sizeof *out);
  GI_ALLOC_ZERO(ctx, m.list, count);
  for (int k = 0; k < count; k++) {
    m.list[k].plan = plan + k;
    m.list[k].out = out + k;
  }
  GI_TRY(make_lists(&m));
done:
  for (int t = 0; m.builder && t < m.threads; t++) gi_task_builder_destroy(ctx, &m.builder[t]);
  GI_FREE(ctx, m.builder, m.piece);
  for (int k = 0; m.list && k < count; k++) {
    GI_FREE(ctx, m.list[k].task, m.list[k].schedule.order);
    if (status) gi_cluster_tasks_release(ctx, out + k);
  }
  gi_free(ctx, m.list);
  return status;
}

void gi_cluster_tasks_release(gable_context *ctx, gi_cluster_tasks *tasks)
{
  GI_FREE(ctx, tasks->at, tasks->records, tasks->source);
  *tasks = (gi_cluster_tasks){0};
}
