/* index_map.c: finds the shortest form of a list of indices, and walks through any of them. */
#include "kernels/forest/index_map.h"

#include <stddef.h>

enum { LOOK = 256 }; /* indices compared without a branch */

/* How many of x[i] == y[i] + d, i = 0, 1, ..., n - 1, hold from the beginning.  d may pass 2^63, so sums wrap. */
static int64_t equal_run(const int64_t *x, const int64_t *y, int64_t n, uint64_t d)
{
  int64_t i = 0;
  for (; i + LOOK <= n; i += LOOK) {
    uint64_t wrong = 0;
    for (int64_t k = i; k < i + LOOK; k++) wrong |= (uint64_t)x[k] ^ ((uint64_t)y[k] + d);
    if (wrong) break;
  }
  while (i < n && (uint64_t)x[i] == (uint64_t)y[i] + d) i++;
  return i;
}

/* Blocks of block indices each, of which the first repeats at distance s: how many from the beginning. */
static int64_t repeats(const int64_t *index, int64_t n, int64_t block, int64_t s)
{
  int64_t b = 1;
  if (block == 1) return 1 + equal_run(index + 1, index, n - 1, (uint64_t)s);
  while ((b + 1) * block <= n && equal_run(index + b * block, index, block, (uint64_t)b * (uint64_t)s) == block) b++;
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
