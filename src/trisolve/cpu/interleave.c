/* interleave.c: groups of rows, each sorted by its own levels. */
#include <string.h>

#include "trisolve/cpu/interleave.h"

enum { GROUP = 16384, SMALL = 64 };

void gi_interleaved_release(gable_context *ctx, gi_interleaved *o)
{
  GI_FREE(ctx, o->order, o->start);
  memset(o, 0, sizeof *o);
}

typedef struct grouping {
  gi_row_cost_model *row_cost;
  gable_idx begin;
  gable_idx *level; /* [GROUP] of row begin + k inside the group, from 0 */
  gable_idx *count; /* [GROUP+1] */
} grouping;

static gable_idx level_in_group(const grouping *g, gable_idx row)
{
  gable_idx level = 0;
  const gable_off *ptr = g->row_cost->ptr;
  const gable_idx *col = g->row_cost->col;
  for (gable_off p = ptr[row + 1] - 1; p >= ptr[row] && col[p] >= g->begin; p--)
    if (g->level[col[p] - g->begin] >= level) level = g->level[col[p] - g->begin] + 1;
  return level;
}

/* Rows begin..end-1 by level, unless the natural order is nearly as fast. */
static void sort_group(const grouping *g, gable_idx end, gable_idx depth, gable_idx *order)
{
  const gable_idx rows = end - g->begin;
  memset(g->count, 0, ((size_t)depth + 1) * sizeof *g->count);
  for (gable_idx k = 0; k < rows; k++) g->count[g->level[k] + 1]++;
  for (gable_idx l = 0; l < depth; l++) g->count[l + 1] += g->count[l];
  for (gable_idx k = 0; k < rows; k++) order[g->begin + g->count[g->level[k]]++] = g->begin + k;
  if (gi_row_cost(g->row_cost, order, g->begin, end) < 0.85 * gi_row_cost(g->row_cost, NULL, g->begin, end)) return;
  for (gable_idx k = g->begin; k < end; k++) order[k] = k;
}

/* Whether the group had better end before this row, which begins no deeper than a chain does. */
static int ends_before(gable_idx rows, gable_idx depth, gable_idx level, gable_idx last, gable_idx width)
{
  if (rows == GROUP) return 1;
  if (2 * rows < (2 * width - 1) * depth) return 0;
  return (level < last && 2 * level <= depth) || rows >= 2 * width * depth;
}

gable_status gi_interleave(gable_context *ctx, gable_idx n, gi_row_cost_model *row_cost, gable_idx width,
                           gi_interleaved *out)
{
  gable_status status = GABLE_OK;
  grouping g = {row_cost, 0, NULL, NULL};
  gable_idx depth = 0;
  memset(out, 0, sizeof *out);
  GI_ALLOC(ctx, g.level, GROUP);
  GI_ALLOC(ctx, g.count, GROUP + 1);
  GI_ALLOC(ctx, out->order, n);
  GI_ALLOC(ctx, out->start, (gable_off)n / SMALL + 2);
  out->start[0] = 0;
  for (gable_idx row = 0; row < n; row++) {
    gable_idx level = level_in_group(&g, row), rows = row - g.begin;
    if (rows && ends_before(rows, depth, level, g.level[rows - 1], width)) {
      sort_group(&g, row, depth, out->order);
      if (row - out->start[out->groups] >= SMALL) out->start[++out->groups] = row;
      g.begin = row;
      rows = level = depth = 0;
    }
    g.level[rows] = level;
    if (level >= depth) depth = level + 1;
  }
  if (n) {
    sort_group(&g, n, depth, out->order);
    out->start[++out->groups] = n;
  }
done:
  GI_FREE(ctx, g.level, g.count);
  if (status) gi_interleaved_release(ctx, out);
  return status;
}
