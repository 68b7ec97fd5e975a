/* wide_tree.h: the fixed tree by which a root with many leaves is reduced.
 *
 *   T(v[0..n-1]), n > GIK_WIDE_DEGREE values by increasing (rank, position of the leaf):
 *   1  blocks of BLOCK consecutive values; within a block lane l folds v[l], v[l + LANES], v[l + 2*LANES], ... in order
 *   2  of a block's lanes, for h = LANES/2, LANES/4, ..., 1: lane l < h takes lane l + h where there is one
 *   3  lane 0 of each block is a value of the next level: again from 1, until one value is left
 *   root = op(root, that value)
 *
 * Lanes make the reduction vectors on a CPU and warps on a GPU; blocks are independent of each other.  The order
 * depends on n alone, so the bits are the same wherever it is computed and however the values arrive. */
#ifndef GIK_FOREST_WIDE_TREE_H
#define GIK_FOREST_WIDE_TREE_H

#include "kernels/forest/combine.h"

enum { GIK_WIDE_DEGREE = 64, GIK_WIDE_BLOCK = 256, GIK_WIDE_LANES = 32 };

/* A tree that is fed value after value: the lanes of the block under way on each level, and the result behind them. */
typedef struct gik_tree {
  const gik_combine *op, *copy;
  int64_t width; /* numbers of an item */
  char *lanes;   /* [gik_tree_items(n)] items */
} gik_tree;

/* Items of the lanes of a tree of n values. */
int64_t gik_tree_items(int64_t n);

/* Values number at, at + 1, ... are item p(i) of from, i < map->n; at: as many as were fed before. */
void gik_tree_feed(const gik_tree *t, int64_t at, const char *from, const gik_map *map);

/* After n values: root = op(root, T). */
void gik_tree_finish(const gik_tree *t, int64_t n, char *root);

#endif
