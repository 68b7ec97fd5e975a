/* cluster_task_order.c: a list schedule of the tasks of a solve.
 *
 *   1. who stores each place; from that, who waits for whom
 *   2. the longest way from each task to the end
 *   3. workers take, one after the other, the ready task with the longest way */
#include "device/device.h"
#include "supernodal/clusters/cluster_piece.h"

typedef struct heap {
  struct {
    double key;
    gable_idx item;
  } * at;
  gable_idx count;
} heap;

/* The least key on top, the least item among equal ones. */
static int before(const heap *h, gable_idx a, gable_idx b)
{
  return h->at[a].key != h->at[b].key ? h->at[a].key < h->at[b].key : h->at[a].item < h->at[b].item;
}

static void swap(heap *h, gable_idx a, gable_idx b)
{
  const double key = h->at[a].key;
  const gable_idx item = h->at[a].item;
  h->at[a] = h->at[b];
  h->at[b].key = key;
  h->at[b].item = item;
}

static void heap_push(heap *h, double key, gable_idx item)
{
  gable_idx i = h->count++;
  h->at[i].key = key;
  h->at[i].item = item;
  for (; i && before(h, i, (i - 1) / 2); i = (i - 1) / 2) swap(h, i, (i - 1) / 2);
}

static gable_idx heap_pop(heap *h)
{
  const gable_idx item = h->at[0].item;
  h->at[0] = h->at[--h->count];
  for (gable_idx i = 0, child; (child = 2 * i + 1) < h->count; i = child) {
    if (child + 1 < h->count && before(h, child + 1, child)) child++;
    if (!before(h, child, i)) break;
    swap(h, child, i);
  }
  return item;
}

typedef struct schedule {
  const gi_task_schedule *of;
  const gik_task_costs *us;
  int threads;
  gable_idx *producer;        /* [places] task, or -1 */
  gable_idx *waits;           /* [tasks] for so many */
  gable_off *before_ptr;      /* [tasks+1] */
  gable_idx *before;          /* for which ones */
  gable_off *next_ptr;        /* [tasks+2] */
  gable_idx *next;            /* who waits for a task */
  double *cost, *way, *ready; /* [tasks] us */
  gable_idx *line, *left;     /* [tasks] of find_ways */
  heap coming, available, worker;
} schedule;

/* ---- who waits for whom, by all threads ---- */

static void find_producers(schedule *s)
{
  const gi_task_ref *task = s->of->task;
  GI_OMP(parallel for num_threads(s->threads) schedule(static))
  for (gable_off k = 0; k < s->of->places; k++) s->producer[k] = -1;
  GI_OMP(parallel for num_threads(s->threads) schedule(static))
  for (gable_idx k = 0; k < s->of->count; k++) {
    const gik_flow_task *t = (const gik_flow_task *)task[k].record;
    const gik_flow_out *out = (const gik_flow_out *)(task[k].record + t->out);
    for (gable_idx o = 0; o < t->outputs; o++)
      if (out[o].id >= 0) s->producer[out[o].id] = k;
    s->cost[k] = s->us->task_us + s->us->byte_us * (double)(task[k].bytes + task[k].values);
  }
}

/* The tasks that k waits for, each once: their number; seen[t] is mark where t was met.  list NULL: only counted. */
static gable_idx find_before(const schedule *s, gable_idx k, gable_idx *seen, gable_idx mark, gable_idx *list)
{
  const unsigned char *record = s->of->task[k].record;
  const gik_flow_task *t = (const gik_flow_task *)record;
  const gable_idx *term = (const gable_idx *)(record + t->term), *product = (const gable_idx *)(record + t->product);
  const int terms = ((const uint16_t *)(record + t->ptr))[t->sums];
  const int products = t->product_ptr ? ((const uint16_t *)(record + t->product_ptr))[t->sums] : 0;
  gable_idx count = 0;
  for (int e = 0; e < terms + products; e++) {
    const gable_idx place = e < terms ? term[e] : product[2 * (e - terms) + 1];
    const gable_idx from = place < 0 ? -1 : s->producer[place];
    if (from < 0 || seen[from] == mark) continue;
    seen[from] = mark;
    if (list) list[count] = from;
    count++;
  }
  return count;
}

/* Counted (fill 0), or written. */
static void link_tasks(schedule *s, gable_idx *seen, int fill)
{
  const gable_idx count = s->of->count;
  GI_OMP(parallel for num_threads(s->threads) schedule(dynamic, 32))
  for (gable_idx k = 0; k < count; k++) {
    gable_idx *own = seen + (gable_off)omp_get_thread_num() * count;
    const gable_idx found = find_before(s, k, own, 2 * k + fill + 1, fill ? s->before + s->before_ptr[k] : NULL);
    if (!fill) s->waits[k] = found;
  }
}

static gable_status find_links(gable_context *ctx, schedule *s)
{
  gable_status status = GABLE_OK;
  const gable_idx count = s->of->count;
  gable_idx *seen = NULL;
  GI_ALLOC_ZERO(ctx, seen, (gable_off)s->threads * count);
  link_tasks(s, seen, 0);
  s->before_ptr[0] = 0;
  for (gable_idx k = 0; k < count; k++) s->before_ptr[k + 1] = s->before_ptr[k] + s->waits[k];
  GI_ALLOC(ctx, s->before, s->before_ptr[count]);
  GI_ALLOC(ctx, s->next, s->before_ptr[count]);
  link_tasks(s, seen, 1);
done:
  gi_free(ctx, seen);
  return status;
}

/* ---- the schedule of a list, by one thread ---- */

static void turn_links(schedule *s)
{
  const gable_idx count = s->of->count;
  for (gable_off e = 0; e < s->before_ptr[count]; e++) s->next_ptr[s->before[e] + 2]++;
  for (gable_idx k = 0; k < count; k++) s->next_ptr[k + 2] += s->next_ptr[k + 1];
  for (gable_idx k = 0; k < count; k++)
    for (gable_off e = s->before_ptr[k]; e < s->before_ptr[k + 1]; e++) s->next[s->next_ptr[s->before[e] + 1]++] = k;
}

/* The ways, in some order in which every task comes after those it waits for, backwards.  Returns how many tasks wait
 * for each other in a circle. */
static gable_idx find_ways(schedule *s)
{
  const gable_idx count = s->of->count;
  gable_idx *line = s->line, *waits = s->left, end = 0;
  turn_links(s);
  for (gable_idx k = 0; k < count; k++)
    if (!(waits[k] = s->waits[k])) line[end++] = k;
  for (gable_idx i = 0; i < end; i++)
    for (gable_off e = s->next_ptr[line[i]]; e < s->next_ptr[line[i] + 1]; e++)
      if (!--waits[s->next[e]]) line[end++] = s->next[e];
  if (end < count) return count - end;
  for (gable_idx i = count - 1; i >= 0; i--) {
    const gable_idx k = line[i];
    s->way[k] = 0;
    for (gable_off e = s->next_ptr[k]; e < s->next_ptr[k + 1]; e++)
      if (s->way[s->next[e]] + s->us->hop_us > s->way[k]) s->way[k] = s->way[s->next[e]] + s->us->hop_us;
    s->way[k] += s->cost[k];
  }
  return 0;
}

static void take_tasks(schedule *s)
{
  const gable_idx count = s->of->count, workers = s->of->workers;
  gable_idx *order = s->of->order;
  gable_idx taken = 0;
  for (gable_idx w = 0; w < workers; w++) heap_push(&s->worker, 0, w);
  for (gable_idx k = 0; k < count; k++) {
    s->ready[k] = 0;
    if (!s->waits[k]) heap_push(&s->coming, 0, k);
  }
  while (taken < count) {
    double now = s->worker.at[0].key;
    const gable_idx w = heap_pop(&s->worker);
    if (!s->available.count && s->coming.at[0].key > now) now = s->coming.at[0].key;
    while (s->coming.count && s->coming.at[0].key <= now) {
      const gable_idx k = heap_pop(&s->coming);
      heap_push(&s->available, -s->way[k], k);
    }
    const gable_idx k = heap_pop(&s->available);
    order[taken++] = k;
    heap_push(&s->worker, now + s->cost[k], w);
    for (gable_off e = s->next_ptr[k]; e < s->next_ptr[k + 1]; e++) {
      const gable_idx after = s->next[e];
      const double there = now + s->cost[k] + s->us->hop_us;
      if (s->ready[after] < there) s->ready[after] = there;
      if (!--s->waits[after]) heap_push(&s->coming, s->ready[after], after);
    }
  }
}

static gable_status schedule_init(gable_context *ctx, const gi_task_schedule *of, schedule *s)
{
  gable_status status = GABLE_OK;
  const gable_idx count = of->count;
  s->of = of;
  s->us = &ctx->device->gpu_class(ctx)->task;
  GI_ALLOC(ctx, s->producer, of->places);
  GI_ALLOC(ctx, s->waits, count);
  GI_ALLOC(ctx, s->before_ptr, count + 1);
  GI_ALLOC_ZERO(ctx, s->next_ptr, count + 2);
  GI_ALLOC(ctx, s->cost, count);
  GI_ALLOC(ctx, s->way, count);
  GI_ALLOC(ctx, s->ready, count);
  GI_ALLOC(ctx, s->line, count);
  GI_ALLOC(ctx, s->left, count);
  GI_ALLOC(ctx, s->coming.at, count);
  GI_ALLOC(ctx, s->available.at, count);
  GI_ALLOC(ctx, s->worker.at, of->workers);
done:
  return status;
}

static void schedule_release(gable_context *ctx, schedule *s)
{
  void *const own[] = {s->producer, s->waits, s->before_ptr, s->before, s->next_ptr,  s->next,         s->cost,
                       s->way,      s->ready, s->line,       s->left,   s->coming.at, s->available.at, s->worker.at};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) gi_free(ctx, own[k]);
}

gable_status gi_task_schedules_make(gable_context *ctx, gi_task_schedule *of, int count, int threads)
{
  gable_status status = GABLE_OK;
  gable_idx circle = 0;
  schedule *s = NULL;
  GI_ALLOC_ZERO(ctx, s, count);
  for (int k = 0; k < count; k++) {
    GI_TRY(schedule_init(ctx, of + k, s + k));
    s[k].threads = threads;
    find_producers(s + k);
    GI_TRY(find_links(ctx, s + k));
  }
  GI_OMP(parallel for num_threads(threads < count ? threads : count) schedule(dynamic) reduction(max : circle))
  for (int k = 0; k < count; k++) {
    const gable_idx left = find_ways(s + k);
    if (!left) take_tasks(s + k);
    circle = left > circle ? left : circle;
  }
  GI_REQUIRE(!circle, GABLE_ERR_ARGUMENT, "%d tasks of a solve wait for each other in a circle", circle);
done:
  for (int k = 0; s && k < count; k++) schedule_release(ctx, s + k);
  gi_free(ctx, s);
  return status;
}
