#include "factor/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "factor/numeric.h"

enum { TOP = -1, SHARES = 24 /* chunks a thread, about */ };

typedef struct chunk {
  gable_idx id;
  double weight;
} chunk;

static int heavier(const void *a, const void *b)
{
  const chunk *p = a, *q = b;
  if (p->weight != q->weight) return p->weight < q->weight ? 1 : -1;
  return p->id < q->id ? -1 : p->id > q->id;
}

/* weight[j] = work of the subtree of j; returns that of all. */
static double weigh(const gi_layout *y, const gi_plan *plan, double *weight)
{
  double total = 0;
  for (gable_idx j = 0; j < y->n_super; j++)
    weight[j] = plan->work[j] + GI_BEGIN * (double)(1 + plan->ptr[j + 1] - plan->ptr[j]);
  for (gable_idx j = 0; j < y->n_super; j++) {
    const gable_idx p = y->parent[j];
    if (p >= 0)
      weight[p] += weight[j];
    else
      total += weight[j];
  }
  return total;
}

/* of[j] = chunk of supernode j, or TOP; returns the number of chunks, whose weights are in list. */
static gable_idx bundle(const gi_layout *y, const double *weight, double limit, gable_idx *of, chunk *list)
{
  gable_idx n = 0;
  for (gable_idx j = 0; j < y->n_super; j++) {
    const gable_idx p = y->parent[j];
    of[j] = TOP;
    if (weight[j] > limit || (p >= 0 && weight[p] <= limit)) continue;
    if (n == 0 || list[n - 1].weight + weight[j] > limit) {
      list[n] = (chunk){n, 0};
      n++;
    }
    of[j] = n - 1;
    list[n - 1].weight += weight[j];
  }
  for (gable_idx j = y->n_super - 1; j >= 0; j--)
    if (weight[j] <= limit && of[j] == TOP) of[j] = of[y->parent[j]];
  return n;
}

/* Members of the chunks, the heaviest chunk first. */
static void list_members(const gi_layout *y, const gable_idx *of, chunk *list, gable_idx *ticket, gi_schedule *s)
{
  qsort(list, (size_t)s->n_chunks, sizeof *list, heavier);
  memset(s->chunk_ptr, 0, ((size_t)s->n_chunks + 1) * sizeof *s->chunk_ptr);
  for (gable_idx t = 0; t < s->n_chunks; t++) ticket[list[t].id] = t;
  for (gable_idx j = 0; j < y->n_super; j++)
    if (of[j] != TOP) s->chunk_ptr[ticket[of[j]] + 1]++;
  for (gable_idx t = 0; t < s->n_chunks; t++) {
    s->chunk_ptr[t + 1] += s->chunk_ptr[t];
    list[t].weight = 0;
  }
  for (gable_idx j = y->n_super - 1; j >= 0; j--)
    if (of[j] != TOP) s->member[--s->chunk_ptr[ticket[of[j]] + 1]] = j;
  for (gable_idx t = 0; t < s->n_chunks; t++) s->chunk_ptr[t] = s->chunk_ptr[t + 1];
  s->chunk_ptr[s->n_chunks] = y->n_super - s->n_top;
}

/* The top by the heaviest way to the end of the work, through all that each supernode updates: before what it updates.
 */
static void list_top(const gi_factor *f, const gi_plan *plan, const gable_idx *of, double *way, chunk *list,
                     gi_schedule *s)
{
  const gable_idx n = f->layout->n_super;
  memset(way, 0, (size_t)n * sizeof *way);
  for (gable_idx j = n - 1; j >= 0; j--) {
    if (of[j] != TOP) continue;
    way[j] += plan->work[j] + 1;
    for (gable_off q = plan->ptr[j]; q < plan->ptr[j + 1]; q++) {
      const gable_idx k = plan->update[q].k;
      if (way[j] > way[k]) way[k] = way[j];
    }
  }
  gable_idx count = 0;
  for (gable_idx j = 0; j < n; j++)
    if (of[j] == TOP) list[count++] = (chunk){j, way[j]};
  qsort(list, (size_t)count, sizeof *list, heavier);
  s->tile_ptr[0] = 0;
  for (gable_idx t = 0; t < count; t++) {
    s->top[t] = list[t].id;
    s->tile_ptr[t + 1] = s->tile_ptr[t] + gi_tile_count(f, list[t].id);
  }
}

/* For one thread: a single chunk of all supernodes in order, nothing at the top. */
static gable_status schedule_alone(gable_context *ctx, gable_idx n, gi_schedule *s)
{
  gable_status status = GABLE_OK;
  GI_ALLOC(ctx, s->chunk_ptr, 2);
  GI_ALLOC(ctx, s->member, n);
  s->n_chunks = n > 0;
  s->chunk_ptr[0] = 0;
  s->chunk_ptr[s->n_chunks] = n;
  for (gable_idx j = 0; j < n; j++) s->member[j] = j;
done:
  return status;
}

gable_off gi_schedule_bytes(const gi_layout *y)
{
  return y->n_super * (gable_off)(5 * sizeof(gable_idx) + sizeof(gable_off) + sizeof(double) + sizeof(chunk));
}

gable_status gi_schedule_create(gable_context *ctx, const gi_factor *f, int threads, gi_schedule **out)
{
  gable_status status = GABLE_OK;
  const gi_layout *y = f->layout;
  const gable_idx n = y->n_super;
  gi_schedule *s = NULL;
  gable_idx *of = NULL, *ticket = NULL;
  double *weight = NULL;
  chunk *list = NULL;
  GI_ALLOC_ZERO(ctx, s, 1);
  if (threads == 1) {
    GI_TRY(schedule_alone(ctx, n, s));
    *out = s;
    s = NULL;
    goto done;
  }
  GI_ALLOC(ctx, of, n);
  GI_ALLOC(ctx, ticket, n);
  GI_ALLOC(ctx, weight, n);
  GI_ALLOC(ctx, list, n);
  const double total = weigh(y, f->plan, weight);
  s->n_chunks = bundle(y, weight, total / threads / SHARES, of, list);
  for (gable_idx j = 0; j < n; j++) s->n_top += of[j] == TOP;
  GI_ALLOC(ctx, s->chunk_ptr, (gable_off)s->n_chunks + 1);
  GI_ALLOC(ctx, s->member, n - s->n_top);
  GI_ALLOC(ctx, s->top, s->n_top);
  GI_ALLOC(ctx, s->tile_ptr, (gable_off)s->n_top + 1);
  list_members(y, of, list, ticket, s);
  list_top(f, f->plan, of, weight, list, s);
  *out = s;
  s = NULL;
done:
  gi_schedule_destroy(ctx, &s);
  GI_FREE(ctx, of, ticket, weight, list);
  return status;
}

void gi_schedule_destroy(gable_context *ctx, gi_schedule **schedule)
{
  gi_schedule *s = schedule ? *schedule : NULL;
  if (!s) return;
  GI_FREE(ctx, s->chunk_ptr, s->member, s->top, s->tile_ptr, s);
  *schedule = NULL;
}
