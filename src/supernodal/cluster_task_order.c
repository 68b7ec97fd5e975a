/* cluster_task_order.c: a list schedule of the tasks of a solve.
 *
 *   1. who stores each place; from that, who waits for whom
 *   2. the longest way from each task to the end
 *   3. workers take, one after the other, the ready task with the longest way */
#include "supernodal/cluster_tasks.h"

/* Times in us on one H200: a task, a byte of its record and values, from a store to the reader's load. */
static const double TASK_US = 0.6, BYTE_US = 1 / 32e3, HOP_US = 1;

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
  const gi_cluster_tasks *tasks;
  gable_idx *producer;        /* [places] task, or -1 */
  gable_idx *seen;            /* [tasks] */
  gable_idx *waits;           /* [tasks] for so many */
  gable_off *next_ptr;        /* [tasks+2] */
  gable_idx *next;            /* who waits for a task */
  double *cost, *way, *ready; /* [tasks] us */
  heap coming, available, worker;
} schedule;

static const gik_flow_task *task_of(const schedule *s, gable_idx k)
{
  return (const gik_flow_task *)(s->tasks->records + s->tasks->at[k].record);
}

static void find_producers(schedule *s)
{
  for (gable_off k = 0; k < s->tasks->places; k++) s->producer[k] = -1;
  for (gable_idx k = 0; k < s->tasks->count; k++) {
    const gik_flow_task *t = task_of(s, k);
    const gik_flow_out *out = (const gik_flow_out *)((const unsigned char *)t + t->out);
    const gik_flow_at *at = s->tasks->at + k;
    for (gable_idx o = 0; o < t->outputs; o++)
      if (out[o].id >= 0) s->producer[out[o].id] = k;
    s->cost[k] = TASK_US + BYTE_US * (double)(at[1].record - at->record + at[1].values - at->values);
  }
}

/* k waits for the producer of place: counted (fill 0), or written to its list. */
static void link_place(schedule *s, gable_idx k, gable_idx place, int fill)
{
  const gable_idx from = s->producer[place];
  if (from < 0 || s->seen[from] == 2 * k + fill + 1) return;
  s->seen[from] = 2 * k + fill + 1;
  if (fill)
    s->next[s->next_ptr[from + 1]++] = k;
  else
    s->next_ptr[from + 2]++;
  s->waits[k] += !fill;
}

static void link_tasks(schedule *s, int fill)
{
  for (gable_idx k = 0; k < s->tasks->count; k++) {
    const gik_flow_task *t = task_of(s, k);
    const unsigned char *record = (const unsigned char *)t;
    const gable_idx *term = (const gable_idx *)(record + t->term);
    const int terms = ((const uint16_t *)(record + t->ptr))[t->sums];
    for (int e = 0; e < terms; e++)
      if (term[e] >= 0) link_place(s, k, term[e], fill);
    if (!t->product_ptr) continue;
    const gable_idx *product = (const gable_idx *)(record + t->product);
    const int products = ((const uint16_t *)(record + t->product_ptr))[t->sums];
    for (int e = 0; e < products; e++) link_place(s, k, product[2 * e + 1], fill);
  }
}

static gable_status find_links(gable_context *ctx, schedule *s)
{
  gable_status status = GABLE_OK;
  const gable_idx count = s->tasks->count;
  link_tasks(s, 0);
  for (gable_idx k = 0; k < count; k++) s->next_ptr[k + 2] += s->next_ptr[k + 1];
  GI_ALLOC(ctx, s->next, s->next_ptr[count + 1]);
  link_tasks(s, 1);
done:
  return status;
}

/* In some order in which every task comes after those it waits for, backwards. */
static gable_status find_ways(gable_context *ctx, schedule *s)
{
  gable_status status = GABLE_OK;
  const gable_idx count = s->tasks->count;
  gable_idx *line = NULL, *waits = NULL, end = 0;
  GI_ALLOC(ctx, line, count);
  GI_ALLOC(ctx, waits, count);
  for (gable_idx k = 0; k < count; k++)
    if (!(waits[k] = s->waits[k])) line[end++] = k;
  for (gable_idx i = 0; i < end; i++)
    for (gable_off e = s->next_ptr[line[i]]; e < s->next_ptr[line[i] + 1]; e++)
      if (!--waits[s->next[e]]) line[end++] = s->next[e];
  GI_REQUIRE(end == count, GABLE_ERR_ARGUMENT, "%d tasks of a solve wait for each other in a circle", count - end);
  for (gable_idx i = count - 1; i >= 0; i--) {
    const gable_idx k = line[i];
    s->way[k] = 0;
    for (gable_off e = s->next_ptr[k]; e < s->next_ptr[k + 1]; e++)
      if (s->way[s->next[e]] + HOP_US > s->way[k]) s->way[k] = s->way[s->next[e]] + HOP_US;
    s->way[k] += s->cost[k];
  }
done:
  gi_free(ctx, line);
  gi_free(ctx, waits);
  return status;
}

static void take_tasks(schedule *s, gable_idx workers, gable_idx *order)
{
  const gable_idx count = s->tasks->count;
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
      const double there = now + s->cost[k] + HOP_US;
      if (s->ready[after] < there) s->ready[after] = there;
      if (!--s->waits[after]) heap_push(&s->coming, s->ready[after], after);
    }
  }
}

static gable_status schedule_init(gable_context *ctx, gable_idx workers, schedule *s)
{
  gable_status status = GABLE_OK;
  const gable_idx count = s->tasks->count;
  GI_ALLOC(ctx, s->producer, s->tasks->places);
  GI_ALLOC_ZERO(ctx, s->seen, count);
  GI_ALLOC_ZERO(ctx, s->waits, count);
  GI_ALLOC_ZERO(ctx, s->next_ptr, count + 2);
  GI_ALLOC(ctx, s->cost, count);
  GI_ALLOC(ctx, s->way, count);
  GI_ALLOC(ctx, s->ready, count);
  GI_ALLOC(ctx, s->coming.at, count);
  GI_ALLOC(ctx, s->available.at, count);
  GI_ALLOC(ctx, s->worker.at, workers);
done:
  return status;
}

static void schedule_release(gable_context *ctx, schedule *s)
{
  void *const own[] = {s->producer, s->seen,  s->waits,     s->next_ptr,     s->next,     s->cost,
                       s->way,      s->ready, s->coming.at, s->available.at, s->worker.at};
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) gi_free(ctx, own[k]);
}

gable_status gi_cluster_tasks_order(gable_context *ctx, const gi_cluster_tasks *tasks, gable_idx workers,
                                    gable_idx *order)
{
  gable_status status = GABLE_OK;
  schedule s = {.tasks = tasks};
  GI_TRY(schedule_init(ctx, workers, &s));
  find_producers(&s);
  GI_TRY(find_links(ctx, &s));
  GI_TRY(find_ways(ctx, &s));
  take_tasks(&s, workers, order);
done:
  schedule_release(ctx, &s);
  return status;
}
