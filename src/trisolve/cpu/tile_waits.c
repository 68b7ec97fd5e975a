/* tile_waits.c: what each tile waits for: transitive reduction by vector clocks. */
#include <string.h>

#include "trisolve/cpu/tile_builder.h"

/* known[k*threads + q]: tiles of thread q that are finished when tile k is, k in the order of making. */
typedef struct clocks {
  const gi_tile_builder *b;
  const gable_idx *made; /* [count] the order of making of each final number */
  const gable_idx *first;
  gable_idx *known;
  gable_idx *now;  /* [threads*threads] what each thread knows so far */
  gable_idx *need; /* [threads] of the tile at hand */
  gi_wait_for *wait;
  gable_off used, room;
} clocks;

static void collect_needs(clocks *c, gable_idx k)
{
  const gi_tile_builder *b = c->b;
  memset(c->need, 0, (size_t)b->threads * sizeof *c->need);
  for (gable_off p = b->c->pred_ptr[b->list[k]]; p < b->c->pred_ptr[b->list[k] + 1]; p++) {
    const gi_tile *from = &b->tiles[b->tile_of[b->c->pred[p]]];
    if (from->step > c->need[from->thread]) c->need[from->thread] = from->step;
  }
  c->need[b->tiles[k].thread] = 0;
}

/* The newest tile that is needed and not known yet, or -1: waiting for it may bring the others along. */
static gable_idx newest_need(const clocks *c, const gable_idx *own)
{
  gable_idx newest = -1;
  for (int q = 0; q < c->b->threads; q++) {
    if (c->need[q] <= own[q]) continue;
    const gable_idx k = c->made[c->first[q] + c->need[q] - 1];
    if (k > newest) newest = k;
  }
  return newest;
}

static gable_status waits_of(clocks *c, gable_idx k)
{
  gable_status status = GABLE_OK;
  const int threads = c->b->threads;
  const gi_tile *t = &c->b->tiles[k];
  gable_idx *own = c->now + (gable_off)t->thread * threads;
  collect_needs(c, k);
  for (gable_idx from = newest_need(c, own); from >= 0; from = newest_need(c, own)) {
    const gi_tile *f = &c->b->tiles[from];
    const gable_idx *brings = c->known + (gable_off)from * threads;
    GI_RESERVE(c->b->ctx, c->wait, c->used, c->used + 1, c->room, NULL);
    c->wait[c->used++] = (gi_wait_for){f->thread, f->step};
    for (int q = 0; q < threads; q++)
      if (brings[q] > own[q]) own[q] = brings[q];
  }
  own[t->thread] = t->step;
  memcpy(c->known + (gable_off)k * threads, own, (size_t)threads * sizeof *own);
done:
  return status;
}

gable_status gi_tile_waits(const gi_tile_builder *b, gi_tiles *out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = b->ctx;
  clocks c = {.b = b, .first = out->first};
  gable_idx *made = NULL, *begin = NULL; /* [count+1] of each tile's waits, in the order of making */
  gable_idx used = 0;
  GI_ALLOC(ctx, made, b->count);
  GI_ALLOC(ctx, begin, (gable_off)b->count + 1);
  GI_ALLOC(ctx, c.known, (gable_off)b->count * b->threads);
  GI_ALLOC_ZERO(ctx, c.now, (gable_off)b->threads * b->threads);
  GI_ALLOC(ctx, c.need, b->threads);
  for (gable_idx k = 0; k < b->count; k++) made[out->sequence[k]] = k;
  c.made = made;
  begin[0] = 0;
  for (gable_idx k = 0; k < b->count; k++) {
    if (b->threads > 1) GI_TRY(waits_of(&c, k));
    begin[k + 1] = (gable_idx)c.used;
  }
  GI_ALLOC(ctx, out->wait_start, (gable_off)b->count + 1);
  GI_ALLOC(ctx, out->wait, c.used);
  for (gable_idx f = 0; f < b->count; f++) {
    out->wait_start[f] = used;
    for (gable_idx w = begin[made[f]]; w < begin[made[f] + 1]; w++) out->wait[used++] = c.wait[w];
  }
  out->wait_start[b->count] = used;
done:
  GI_FREE(ctx, made, begin, c.known, c.now, c.need, c.wait);
  return status;
}
