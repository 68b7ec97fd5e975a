/* supersteps.c: see supersteps.h. */
#include <stdlib.h>
#include <string.h>

#include "base/index_heap.h"
#include "trisolve/cpu/supersteps.h"

enum { ROW = 3, NOBODY = -1, FIRST_WEIGHT = 64 };
static const double growth = 1.5;      /* of what each thread may take, from look to look */
static const double busy_enough = 0.6; /* of the threads' time: below it, a step stays short */
static const double falling = 0.97;    /* of the best ratio so far, below which a step has grown too far */

void gi_supersteps_release(gable_context *ctx, gi_supersteps *s)
{
  GI_FREE(ctx, s->order, s->cuts, s->owner, s->step);
  memset(s, 0, sizeof *s);
}

/* One thread's part of the step at hand. */
typedef struct part {
  gable_idx next, end;   /* what is left of its share of the ready rows */
  gable_idx *heap, size; /* rows that became ready by its own, lowest first */
  gable_off heap_room;
  gable_idx *taken, count; /* its rows, in the order in which it took them, */
  gable_idx keep;          /* and how many there were at the best look */
  gable_off taken_room;
  gable_off weight;
} part;

typedef struct growth_state {
  gable_context *ctx;
  gable_idx n;
  const gable_off *ptr;
  const gable_idx *col;
  int threads;
  gable_off wait;
  gable_off *succ_ptr;           /* [n+2] */
  gable_idx *succ;               /* [nnz] */
  gable_idx *missing;            /* [n] rows that it depends on and nobody has taken */
  gable_idx *step;               /* [n] in which it was taken, or NOBODY */
  int *owner;                    /* [n] */
  gable_idx now;                 /* the step */
  gable_idx *ready, ready_count; /* [n] */
  part *parts;                   /* [threads] */
} growth_state;

static gable_off weight_of(const growth_state *g, gable_idx row)
{
  return ROW + g->ptr[row + 1] - g->ptr[row];
}

static gable_status push(growth_state *g, part *p, gable_idx row)
{
  gable_status status = GABLE_OK;
  GI_RESERVE(g->ctx, p->heap, p->size, p->size + 1, p->heap_room, NULL);
  gi_heap_push(p->heap, &p->size, row);
done:
  return status;
}

/* Whether the row needs, of this step, rows of thread t alone. */
static int is_own(const growth_state *g, gable_idx row, int t)
{
  for (gable_off q = g->ptr[row]; q < g->ptr[row + 1]; q++)
    if (g->step[g->col[q]] == g->now && g->owner[g->col[q]] != t) return 0;
  return 1;
}

static gable_status take(growth_state *g, int t, gable_idx row)
{
  gable_status status = GABLE_OK;
  part *p = &g->parts[t];
  GI_RESERVE(g->ctx, p->taken, p->count, p->count + 1, p->taken_room, NULL);
  g->step[row] = g->now;
  g->owner[row] = t;
  p->taken[p->count++] = row;
  p->weight += weight_of(g, row);
  for (gable_off q = g->succ_ptr[row]; q < g->succ_ptr[row + 1]; q++) {
    const gable_idx to = g->succ[q];
    if (!--g->missing[to] && is_own(g, to, t)) GI_TRY(push(g, p, to));
  }
done:
  return status;
}

/* Each thread takes rows until they weigh so much; *moved: whether any did. */
static gable_status take_round(growth_state *g, gable_off weight, int *moved)
{
  gable_status status = GABLE_OK;
  *moved = 0;
  for (int t = 0; t < g->threads; t++) {
    part *p = &g->parts[t];
    while (p->weight < weight && (p->next < p->end || p->size)) {
      const int own = p->size && (p->next == p->end || p->heap[0] < g->ready[p->next]);
      GI_TRY(take(g, t, own ? gi_heap_pop(p->heap, &p->size) : g->ready[p->next++]));
      *moved = 1;
    }
  }
done:
  return status;
}

/* The ready rows in shares of equal weight. */
static void share_out(growth_state *g)
{
  gable_off all = 0, sum = 0;
  gable_idx k = 0;
  for (gable_idx q = 0; q < g->ready_count; q++) all += weight_of(g, g->ready[q]);
  for (int t = 0; t < g->threads; t++) {
    part *p = &g->parts[t];
    p->next = k;
    for (; k < g->ready_count && (t == g->threads - 1 || sum * g->threads < all * (t + 1)); k++)
      sum += weight_of(g, g->ready[k]);
    p->end = k;
    p->size = p->count = p->keep = 0;
    p->weight = 0;
  }
}

static double ratio_of(const growth_state *g, int *crowded)
{
  gable_off all = 0, most = 0;
  for (int t = 0; t < g->threads; t++) {
    all += g->parts[t].weight;
    if (g->parts[t].weight > most) most = g->parts[t].weight;
  }
  *crowded = (double)all >= busy_enough * (double)(g->threads * most);
  return (double)all / (double)(most + g->wait);
}

/* Back to the best look. */
static void give_back(growth_state *g)
{
  for (int t = 0; t < g->threads; t++) {
    part *p = &g->parts[t];
    for (gable_idx k = p->keep; k < p->count; k++) {
      const gable_idx row = p->taken[k];
      g->step[row] = NOBODY;
      for (gable_off q = g->succ_ptr[row]; q < g->succ_ptr[row + 1]; q++) g->missing[g->succ[q]]++;
    }
    p->count = p->keep;
  }
}

static int by_number(const void *p, const void *q)
{
  const gable_idx a = *(const gable_idx *)p, b = *(const gable_idx *)q;
  return (a > b) - (a < b);
}

/* What is ready after the step: what was and is left, and what its rows have freed. */
static void find_ready(growth_state *g)
{
  gable_idx count = 0;
  for (gable_idx k = 0; k < g->ready_count; k++)
    if (g->step[g->ready[k]] == NOBODY) g->ready[count++] = g->ready[k];
  for (int t = 0; t < g->threads; t++)
    for (gable_idx k = 0; k < g->parts[t].count; k++) {
      const gable_idx row = g->parts[t].taken[k];
      for (gable_off q = g->succ_ptr[row]; q < g->succ_ptr[row + 1]; q++) {
        const gable_idx to = g->succ[q];
        if (g->missing[to] || g->step[to] != NOBODY) continue;
        g->missing[to] = NOBODY; /* found; rows that are ready count no more */
        g->ready[count++] = to;
      }
    }
  g->ready_count = count;
  qsort(g->ready, (size_t)count, sizeof *g->ready, by_number);
  for (gable_idx k = 0; k < count; k++) g->missing[g->ready[k]] = 0;
}

static gable_status grow_step(growth_state *g)
{
  gable_status status = GABLE_OK;
  double best = 0, weight = FIRST_WEIGHT;
  int moved = 1, crowded = 0;
  share_out(g);
  while (moved) {
    GI_TRY(take_round(g, (gable_off)weight, &moved));
    const double ratio = ratio_of(g, &crowded);
    if (ratio < falling * best) break;
    if (ratio > best) best = ratio;
    for (int t = 0; t < g->threads; t++) g->parts[t].keep = g->parts[t].count;
    if (!crowded && weight > (double)g->wait / 2) break; /* others could help once this is done */
    weight *= growth;
  }
  give_back(g);
done:
  return status;
}

static gable_status begin(growth_state *g, gi_supersteps *out)
{
  gable_status status = GABLE_OK;
  const gable_idx n = g->n;
  GI_ALLOC_ZERO(g->ctx, g->succ_ptr, (gable_off)n + 2);
  GI_ALLOC(g->ctx, g->succ, g->ptr[n]);
  GI_ALLOC(g->ctx, g->missing, n);
  GI_ALLOC(g->ctx, g->step, n);
  GI_ALLOC(g->ctx, g->owner, n);
  GI_ALLOC(g->ctx, g->ready, n);
  GI_ALLOC_ZERO(g->ctx, g->parts, g->threads);
  GI_ALLOC(g->ctx, out->order, n);
  for (gable_off q = 0; q < g->ptr[n]; q++) g->succ_ptr[g->col[q] + 2]++;
  for (gable_idx k = 0; k < n; k++) g->succ_ptr[k + 2] += g->succ_ptr[k + 1];
  for (gable_idx k = 0; k < n; k++) {
    for (gable_off q = g->ptr[k]; q < g->ptr[k + 1]; q++) g->succ[g->succ_ptr[g->col[q] + 1]++] = k;
    g->missing[k] = (gable_idx)(g->ptr[k + 1] - g->ptr[k]);
    g->step[k] = NOBODY;
    if (!g->missing[k]) g->ready[g->ready_count++] = k;
  }
done:
  return status;
}

static void end(growth_state *g)
{
  for (int t = 0; g->parts && t < g->threads; t++) GI_FREE(g->ctx, g->parts[t].taken, g->parts[t].heap);
  GI_FREE(g->ctx, g->parts, g->succ_ptr, g->succ, g->missing, g->step, g->owner, g->ready);
}

typedef struct step_rooms {
  gable_off cuts, owner, step;
} step_rooms;

/* The step's parts go to out. */
static gable_status put_step(const growth_state *g, gable_idx *used, step_rooms *room, gi_supersteps *out)
{
  gable_status status = GABLE_OK;
  const gable_idx most = out->count + g->threads;
  GI_RESERVE(g->ctx, out->cuts, out->count, most + 1, room->cuts, NULL);
  GI_RESERVE(g->ctx, out->owner, out->count, most, room->owner, NULL);
  GI_RESERVE(g->ctx, out->step, out->count, most, room->step, NULL);
  for (int t = 0; t < g->threads; t++) {
    const part *p = &g->parts[t];
    if (!p->count) continue;
    out->cuts[out->count] = *used;
    out->step[out->count] = out->steps;
    out->owner[out->count++] = t;
    memcpy(out->order + *used, p->taken, (size_t)p->count * sizeof *p->taken);
    *used += p->count;
  }
  out->cuts[out->count] = *used;
  out->steps++;
done:
  return status;
}

gable_status gi_supersteps_grow(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *col,
                                int threads, gable_off wait, gi_supersteps *out)
{
  gable_status status = GABLE_OK;
  growth_state g = {.ctx = ctx, .n = n, .ptr = ptr, .col = col, .threads = threads, .wait = wait};
  step_rooms room = {0, 0, 0};
  gable_idx used = 0;
  memset(out, 0, sizeof *out);
  GI_TRY(begin(&g, out));
  for (; used < n; g.now++) {
    GI_TRY(grow_step(&g));
    GI_TRY(put_step(&g, &used, &room, out));
    find_ready(&g);
  }
done:
  end(&g);
  if (status) gi_supersteps_release(ctx, out);
  return status;
}
