/* index_map.c: finds the shortest form of a list of indices, and walks through any of them. */
#include "kernels/forest/index_map.h"

#include <stddef.h>

/* Blocks of block indices each, of which the first repeats at distance s: how many from the beginning.  b * s may pass
 * 2^63, so it wraps. */
static int64_t repeats(const int64_t *index, int64_t n, int64_t block, int64_t s)
{
  int64_t b = 1;
  for (; (b + 1) * block <= n; b++)
    for (int64_t i = 0; i < block; i++)
      if (index[b * block + i] != (int64_t)((uint64_t)index[i] + (uint64_t)b * (uint64_t)s)) return b;
  return b;
}

gik_map gik_map_of(const int64_t *index, int64_t n)
{
  gik_map m = {GIK_MAP_CONTIGUOUS, n, n ? index[0] : 0, {1, 1, 1}, {1, 0, 0}, 0, NULL};
  int64_t block = 1;
  for (int d = 0; d < 3 && block < n; d++) {
    m.stride[d] = index[block] - index[0];
    m.extent[d] = repeats(index, n, block, m.stride[d]);
    block *= m.extent[d];
    if (n % block) break;
  }
  if (block == n || !n) {
    const int one = m.extent[1] == 1 && m.extent[2] == 1;
    if (!n) m.extent[0] = 0;
    m.kind = one && m.stride[0] == 1 ? GIK_MAP_CONTIGUOUS : GIK_MAP_BOX;
    return m;
  }
  m.kind = GIK_MAP_LIST;
  m.list = index;
  return m;
}

int64_t gik_map_runs(const int64_t *index, int64_t n, int64_t *run)
{
  int64_t runs = 0;
  for (int64_t i = 0, j; i < n; i = j, runs++) {
    for (j = i + 1; j < n && index[j] == index[j - 1] + 1;) j++;
    if (!run) continue;
    run[2 * runs] = index[i];
    run[2 * runs + 1] = j - i;
  }
  return runs;
}

const char *gik_map_name(gik_map_kind kind)
{
  static const char *const names[] = {"contiguous", "box", "runs", "list"};
  return names[kind];
}

/* at, stride, n of piece w->piece */
static void open_piece(gik_walk *w)
{
  const gik_map *m = w->map;
  const int64_t p = w->piece;
  w->stride = m->kind == GIK_MAP_BOX ? m->stride[0] : 1;
  switch (m->kind) {
  case GIK_MAP_CONTIGUOUS:
    w->at = m->start;
    w->n = m->n;
    break;
  case GIK_MAP_BOX:
    w->at = m->start + p % m->extent[1] * m->stride[1] + p / m->extent[1] * m->stride[2];
    w->n = m->extent[0];
    break;
  case GIK_MAP_RUNS:
    w->at = m->list[2 * p];
    w->n = m->list[2 * p + 1];
    break;
  case GIK_MAP_LIST:
    w->at = m->list[p];
    w->n = 1;
    break;
  }
}

void gik_walk_begin(gik_walk *w, const gik_map *map)
{
  const int64_t pieces[] = {map->n > 0, map->n > 0 ? map->extent[1] * map->extent[2] : 0, map->runs, map->n};
  *w = (gik_walk){map, 0, pieces[map->kind], 0, 1, 0};
  if (w->pieces) open_piece(w);
}

void gik_walk_next(gik_walk *w)
{
  if (++w->piece < w->pieces) open_piece(w);
}
