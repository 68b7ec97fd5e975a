/* tiles.c: chunks, their graph, and the simulation that hands them out. */
#include <string.h>

#include "base/index_heap.h"
#include "trisolve/cpu/tile_builder.h"

enum { LOOK_AHEAD = 8 }; /* chunks that are compared before one is handed out */

static const double tile_s = 20e-9;  /* of a tile beside its rows */
static const double hop_s = 100e-9;  /* from one thread's store to another's load */
static const double remote_s = 2e-9; /* of a cache line of unknowns that another thread has computed */

static void builder_release(gi_tile_builder *b)
{
  GI_FREE(b->ctx, b->tiles, b->tile_of, b->list, b->missing, b->heap, b->steps, b->free_at);
}

void gi_tiles_release(gable_context *ctx, gi_tiles *t)
{
  GI_FREE(ctx, t->order, t->start, t->first, t->wait_start, t->wait, t->sequence);
  memset(t, 0, sizeof *t);
}

/* When thread could start the chunk, and what its remote entries cost. */
static double available(const gi_tile_builder *b, gable_idx chunk, int thread, double *remote)
{
  double at = 0;
  *remote = 0;
  for (gable_off p = b->c->pred_ptr[chunk]; p < b->c->pred_ptr[chunk + 1]; p++) {
    const gable_idx t = b->tile_of[b->c->pred[p]];
    if (b->tiles[t].thread == thread) continue;
    *remote += b->remote_s * b->c->pred_lines[p];
    if (b->tiles[t].finish + hop_s > at) at = b->tiles[t].finish + hop_s;
  }
  return at;
}

/* The ready chunk, of the lowest few, and the thread that can start it first; the others go back. */
static gable_idx choose(gi_tile_builder *b, int *thread, double *start, double *remote)
{
  gable_idx chunk[LOOK_AHEAD];
  int best = 0, found = 0, k = 0;
  if (b->owner) {
    chunk[0] = gi_heap_pop(b->heap, &b->heap_size);
    *thread = b->owner[chunk[0]];
    *start = available(b, chunk[0], *thread, remote);
    if (b->free_at[*thread] > *start) *start = b->free_at[*thread];
    return chunk[0];
  }
  while (k < LOOK_AHEAD && b->heap_size) chunk[k++] = gi_heap_pop(b->heap, &b->heap_size);
  for (int q = 0; q < k; q++)
    for (int t = 0; t < b->threads; t++) {
      double cost, at = available(b, chunk[q], t, &cost);
      if (b->free_at[t] > at) at = b->free_at[t];
      if (found && at + cost >= *start + *remote) continue;
      found = 1;
      best = q;
      *start = at;
      *remote = cost;
      *thread = t;
    }
  for (int q = 0; q < k; q++)
    if (q != best) gi_heap_push(b->heap, &b->heap_size, chunk[q]);
  return chunk[best];
}

/* Hands out one more chunk. */
static void make_tile(gi_tile_builder *b)
{
  int thread = 0;
  double start = 0, remote = 0;
  const gable_idx chunk = choose(b, &thread, &start, &remote);
  gi_tile *t = &b->tiles[b->count];
  b->list[b->count] = chunk;
  b->tile_of[chunk] = b->count++;
  t->thread = thread;
  t->step = ++b->steps[thread];
  t->finish = b->free_at[thread] = start + remote + tile_s + b->c->seconds[chunk];
  for (gable_off p = b->c->succ_ptr[chunk]; p < b->c->succ_ptr[chunk + 1]; p++)
    if (!--b->missing[b->c->succ[p]]) gi_heap_push(b->heap, &b->heap_size, b->c->succ[p]);
}

static gable_status simulate(gi_tile_builder *b)
{
  gable_status status = GABLE_OK;
  const gable_idx m = b->c->count;
  GI_ALLOC(b->ctx, b->tiles, m);
  GI_ALLOC(b->ctx, b->tile_of, m);
  GI_ALLOC(b->ctx, b->list, m);
  GI_ALLOC(b->ctx, b->missing, m);
  GI_ALLOC(b->ctx, b->heap, m);
  GI_ALLOC_ZERO(b->ctx, b->steps, b->threads);
  GI_ALLOC_ZERO(b->ctx, b->free_at, b->threads);
  for (gable_idx k = 0; k < m; k++) {
    b->missing[k] = (gable_idx)(b->c->pred_ptr[k + 1] - b->c->pred_ptr[k]);
    if (!b->missing[k]) gi_heap_push(b->heap, &b->heap_size, k);
  }
  while (b->count < m) make_tile(b);
done:
  return status;
}

/* Final numbers: thread after thread, in the order in which they were made. */
static gable_status number_tiles(const gi_tile_builder *b, gi_tiles *out)
{
  gable_status status = GABLE_OK;
  out->threads = b->threads;
  out->count = b->count;
  GI_ALLOC(b->ctx, out->first, b->threads + 1);
  GI_ALLOC(b->ctx, out->sequence, b->count);
  out->first[0] = 0;
  for (int t = 0; t < b->threads; t++) {
    out->first[t + 1] = out->first[t] + b->steps[t];
    if (b->free_at[t] > out->model_s) out->model_s = b->free_at[t];
  }
  for (gable_idx k = 0; k < b->count; k++) out->sequence[k] = out->first[b->tiles[k].thread] + b->tiles[k].step - 1;
done:
  return status;
}

/* Rows, tile after tile, as base has them. */
static gable_status place_rows(const gi_tile_builder *b, gable_idx n, const gable_idx *base, gi_tiles *out)
{
  gable_status status = GABLE_OK;
  GI_ALLOC(b->ctx, out->order, n);
  GI_ALLOC(b->ctx, out->start, (gable_off)b->count + 1);
  out->start[0] = 0;
  for (gable_idx k = 0; k < b->count; k++)
    out->start[out->sequence[k] + 1] = b->c->start[b->list[k] + 1] - b->c->start[b->list[k]];
  for (gable_idx f = 0; f < b->count; f++) out->start[f + 1] += out->start[f];
  for (gable_idx k = 0; k < b->count; k++) {
    gable_idx q = out->start[out->sequence[k]];
    for (gable_idx r = b->c->start[b->list[k]]; r < b->c->start[b->list[k] + 1]; r++)
      out->order[q++] = base ? base[r] : r;
  }
done:
  return status;
}

gable_status gi_tiles_build(gable_context *ctx, gable_idx n, gi_row_cost_model *row_cost, const gi_tile_plan *plan,
                            gi_tiles *out)
{
  gable_status status = GABLE_OK;
  gi_chunks chunks;
  gi_tile_builder b;
  memset(out, 0, sizeof *out);
  memset(&b, 0, sizeof b);
  memset(&chunks, 0, sizeof chunks);
  b.ctx = ctx;
  b.c = &chunks;
  b.owner = plan->owner;
  b.threads = plan->threads;
  b.remote_s = remote_s;
  if (b.threads > 2) b.remote_s *= 0.5 * b.threads; /* lines come from farther away, and all threads ask at once */
  GI_TRY(gi_chunks_cut(ctx, n, row_cost, plan->base, plan->cuts, plan->size, &chunks));
  GI_TRY(simulate(&b));
  GI_TRY(number_tiles(&b, out));
  GI_TRY(place_rows(&b, n, plan->base, out));
  GI_TRY(gi_tile_waits(&b, out));
done:
  builder_release(&b);
  gi_chunks_release(ctx, &chunks);
  if (status) gi_tiles_release(ctx, out);
  return status;
}
