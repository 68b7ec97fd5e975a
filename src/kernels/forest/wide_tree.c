/* wide_tree.c: see wide_tree.h. */
#include "kernels/forest/wide_tree.h"

#include <stddef.h>

enum { BLOCK = GIK_WIDE_BLOCK, LANES = GIK_WIDE_LANES };

/* Values by step, or by list where it is not NULL. */
typedef struct source {
  const char *at;
  const int64_t *list;
  int64_t stride, n;
} source;

static int64_t blocks_of(int64_t n)
{
  return n / BLOCK + (n % BLOCK != 0);
}

int64_t gik_tree_items(int64_t n)
{
  int64_t items = LANES;
  for (; n > BLOCK; n = blocks_of(n)) items += LANES;
  return items + 1;
}

static char *lane_of(const gik_tree *t, int64_t level, int64_t lane)
{
  return t->lanes + (level * LANES + lane) * (int64_t)t->op->number * t->width;
}

static void feed(const gik_tree *t, int64_t level, int64_t at, source s);

/* Block number b of a level has n values: its lanes become value b of the next level. */
static void close_block(const gik_tree *t, int64_t level, int64_t b, int64_t n)
{
  for (int64_t h = LANES / 2; h; h /= 2) {
    const int64_t pairs = n - h < h ? n - h : h;
    if (pairs > 0) t->op->strided(lane_of(t, level, 0), 1, lane_of(t, level, h), 1, pairs, t->width);
  }
  feed(t, level + 1, b, (source){lane_of(t, level, 0), NULL, 1, 1});
}

/* The first LANES values of a block start its lanes, the others are folded into them. */
static void feed(const gik_tree *t, int64_t level, int64_t at, source s)
{
  const int64_t item = (int64_t)t->op->number * t->width;
  while (s.n > 0) {
    const int64_t lane = at % LANES, n = s.n < LANES - lane ? s.n : LANES - lane;
    const gik_combine *c = at % BLOCK < LANES ? t->copy : t->op;
    if (s.list) {
      c->indexed(lane_of(t, level, lane), NULL, s.at, s.list, n, t->width);
      s.list += n;
    } else {
      c->strided(lane_of(t, level, lane), 1, s.at, s.stride, n, t->width);
      s.at += n * s.stride * item;
    }
    s.n -= n;
    at += n;
    if (at % BLOCK == 0) close_block(t, level, at / BLOCK - 1, BLOCK);
  }
}

void gik_tree_feed(const gik_tree *t, int64_t at, const char *from, const gik_map *map)
{
  gik_walk w;
  if (map->kind == GIK_MAP_LIST) {
    feed(t, 0, at, (source){from, map->list, 0, map->n});
    return;
  }
  for (gik_walk_begin(&w, map); w.piece < w.pieces; gik_walk_next(&w)) {
    feed(t, 0, at, (source){from + w.at * (int64_t)t->op->number * t->width, NULL, w.stride, w.n});
    at += w.n;
  }
}

void gik_tree_finish(const gik_tree *t, int64_t n, char *root)
{
  int64_t level = 0;
  do {
    if (n % BLOCK) close_block(t, level, n / BLOCK, n % BLOCK);
    n = blocks_of(n);
    level++;
  } while (n > 1);
  t->op->strided(root, 1, lane_of(t, level, 0), 1, 1, t->width);
}
