/* side.c: one side of a forest: neighbours, indices, and the map of each neighbour's indices. */
#include <string.h>

#include "forest/graph.h"

gable_status gi_forest_side_init(gable_context *ctx, gi_forest_side *s, int own, int size, const int64_t *edges,
                                 int64_t *index)
{
  gable_status status = GABLE_OK;
  int n = 0;
  s->self = -1;
  for (int r = 0; r < size; r++) n += edges[r] > 0;
  GI_ALLOC(ctx, s->rank, n);
  GI_ALLOC(ctx, s->ptr, n + 1);
  GI_ALLOC_ZERO(ctx, s->map, n);
  s->ptr[0] = 0;
  for (int r = 0; r < size; r++) {
    if (!edges[r]) continue;
    if (r == own) s->self = s->n;
    s->rank[s->n] = r;
    s->ptr[s->n + 1] = s->ptr[s->n] + edges[r];
    s->n++;
  }
  s->index = index;
done:
  return status;
}

/* Where runs are long, they take the place of the list. */
gable_status gi_forest_side_maps(gable_context *ctx, gi_forest_side *s)
{
  gable_status status = GABLE_OK;
  int64_t total = 0;
  for (int k = 0; k < s->n; k++) {
    gik_map *m = &s->map[k];
    *m = gik_map_of(s->index + s->ptr[k], s->ptr[k + 1] - s->ptr[k]);
    if (m->kind != GIK_MAP_LIST) continue;
    m->runs = gik_map_runs(m->list, m->n, NULL);
    if (m->runs * GIK_RUN_LEAST <= m->n) total += 2 * m->runs;
  }
  if (!total) goto done;
  GI_ALLOC(ctx, s->runs, total);
  for (int64_t k = 0, at = 0; k < s->n; k++) {
    gik_map *m = &s->map[k];
    if (m->kind != GIK_MAP_LIST || m->runs * GIK_RUN_LEAST > m->n) continue;
    gik_map_runs(m->list, m->n, s->runs + at);
    m->kind = GIK_MAP_RUNS;
    m->list = s->runs + at;
    at += 2 * m->runs;
  }
done:
  return status;
}

void gi_forest_side_release(gable_context *ctx, gi_forest_side *s)
{
  GI_FREE(ctx, s->rank, s->ptr, s->index, s->map, s->runs);
  memset(s, 0, sizeof *s);
}
