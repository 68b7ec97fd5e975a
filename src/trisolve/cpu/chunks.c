/* chunks.c: cuts rows into chunks and finds the edges between them. */
#include <string.h>

#include "trisolve/cpu/chunks.h"

enum { LINE = 8 }; /* unknowns in a cache line */

void gi_chunks_release(gable_context *ctx, gi_chunks *c)
{
  GI_FREE(ctx, c->start, c->seconds, c->pred_ptr, c->pred, c->pred_lines, c->succ_ptr, c->succ);
  memset(c, 0, sizeof *c);
}

typedef struct graph {
  gable_idx n;
  const gable_off *ptr;
  const gable_idx *col, *base, *cuts;
} graph;

static gable_idx row_at(const graph *g, gable_idx k)
{
  return g->base ? g->base[k] : k;
}

/* Sets start (or only counts) and the chunk of each row; returns the number of chunks. */
static gable_idx cut(const graph *g, gable_off size, gable_idx *start, gable_idx *chunk_of)
{
  gable_idx count = 0;
  gable_off used = 0;
  const gable_idx *next = g->cuts;
  for (gable_idx k = 0; k < g->n; k++) {
    const int must = next && *next == k;
    if (must) next++;
    const gable_idx row = row_at(g, k);
    const gable_off cost = 1 + g->ptr[row + 1] - g->ptr[row];
    if (k == 0 || must || used + cost > size) {
      if (start) start[count] = k;
      count++;
      used = 0;
    }
    used += cost;
    if (chunk_of) chunk_of[row] = count - 1;
  }
  if (start) start[count] = g->n;
  return count;
}

/* Edges into chunk m; at[q] is the place of edge q -> m or below pred_ptr[m].  With pred NULL only counts. */
static gable_off edges_into(const graph *g, gi_chunks *c, gable_idx m, const gable_idx *chunk_of, gable_off *at,
                            gable_idx *line_of, gable_off used)
{
  const gable_off begin = used;
  for (gable_idx k = c->start[m]; k < c->start[m + 1]; k++) {
    const gable_idx row = row_at(g, k);
    for (gable_off p = g->ptr[row]; p < g->ptr[row + 1]; p++) {
      const gable_idx q = chunk_of[g->col[p]];
      if (q == m) continue;
      if (at[q] < begin) {
        at[q] = used++;
        if (c->pred) {
          c->pred[at[q]] = q;
          c->pred_lines[at[q]] = 0;
        }
      }
      if (c->pred && line_of[g->col[p] / LINE] != m) c->pred_lines[at[q]] += 1;
      line_of[g->col[p] / LINE] = m;
    }
  }
  return used;
}

static gable_status find_edges(gable_context *ctx, const graph *g, const gable_idx *chunk_of, gi_chunks *c)
{
  gable_status status = GABLE_OK;
  const gable_idx count = c->count;
  gable_off *at = NULL, used = 0;
  gable_idx *line_of = NULL; /* the last chunk that needed each line */
  GI_ALLOC(ctx, at, count);
  GI_ALLOC(ctx, line_of, g->n / LINE + 1);
  GI_ALLOC(ctx, c->pred_ptr, (gable_off)count + 1);
  for (int pass = 0; pass < 2; pass++) {
    used = 0;
    for (gable_idx m = 0; m < count; m++) at[m] = -1;
    for (gable_idx k = 0; k < g->n / LINE + 1; k++) line_of[k] = -1;
    for (gable_idx m = 0; m < count; m++) {
      c->pred_ptr[m] = used;
      used = edges_into(g, c, m, chunk_of, at, line_of, used);
    }
    c->pred_ptr[count] = used;
    if (pass == 1) break;
    GI_ALLOC(ctx, c->pred, used);
    GI_ALLOC(ctx, c->pred_lines, used);
  }
  GI_ALLOC_ZERO(ctx, c->succ_ptr, (gable_off)count + 2);
  GI_ALLOC(ctx, c->succ, used);
  for (gable_off p = 0; p < used; p++) c->succ_ptr[c->pred[p] + 2]++;
  for (gable_idx m = 0; m < count; m++) c->succ_ptr[m + 1] += c->succ_ptr[m];
  for (gable_idx m = 0; m < count; m++)
    for (gable_off p = c->pred_ptr[m]; p < c->pred_ptr[m + 1]; p++) c->succ[c->succ_ptr[c->pred[p] + 1]++] = m;
done:
  GI_FREE(ctx, at, line_of);
  return status;
}

gable_status gi_chunks_cut(gable_context *ctx, gable_idx n, gi_row_cost_model *row_cost, const gable_idx *base,
                           const gable_idx *cuts, gable_off size, gi_chunks *out)
{
  gable_status status = GABLE_OK;
  const graph g = {n, row_cost->ptr, row_cost->col, base, cuts};
  gable_idx *chunk_of = NULL;
  memset(out, 0, sizeof *out);
  out->count = cut(&g, size, NULL, NULL);
  GI_ALLOC(ctx, chunk_of, n);
  GI_ALLOC(ctx, out->start, (gable_off)out->count + 1);
  GI_ALLOC(ctx, out->seconds, out->count);
  cut(&g, size, out->start, chunk_of);
  for (gable_idx m = 0; m < out->count; m++)
    out->seconds[m] = gi_row_cost(row_cost, base, out->start[m], out->start[m + 1]);
  GI_TRY(find_edges(ctx, &g, chunk_of, out));
done:
  gi_free(ctx, chunk_of);
  if (status) gi_chunks_release(ctx, out);
  return status;
}
