/* index_map.h: how the indices i -> p(i), 0 <= i < n, of a neighbour's edges are written down. */
#ifndef GIK_FOREST_INDEX_MAP_H
#define GIK_FOREST_INDEX_MAP_H

#include <stdint.h>

typedef enum gik_map_kind {
  GIK_MAP_CONTIGUOUS = 0, /* p(i) = start + i */
  GIK_MAP_BOX = 1,        /* p(i + n0*(j + n1*k)) = start + s0*i + s1*j + s2*k */
  GIK_MAP_RUNS = 2,       /* one after another: list[2*r], ..., list[2*r] + list[2*r+1] - 1 */
  GIK_MAP_LIST = 3        /* p(i) = list[i] */
} gik_map_kind;

typedef struct gik_map {
  gik_map_kind kind;
  int64_t n, start;
  int64_t extent[3], stride[3]; /* of a box */
  int64_t runs;
  const int64_t *list;
} gik_map;

enum { GIK_RUN_LEAST = 8 }; /* mean length from which runs are shorter to walk than a list */

/* The map of index [n], which it may point to: CONTIGUOUS or BOX where it is one, else LIST. */
gik_map gik_map_of(const int64_t *index, int64_t n);

/* Runs of consecutive numbers in index [n]; run (NULL: only count them) [2 * runs]. */
int64_t gik_map_runs(const int64_t *index, int64_t n, int64_t *run);

/* "contiguous", "box", "runs", "list" */
const char *gik_map_name(gik_map_kind kind);

/* A walk through a map by pieces of constant stride. */
typedef struct gik_walk {
  const gik_map *map;
  int64_t piece, pieces; /* which one */
  int64_t at, stride, n; /* what is left of it: at, at + stride, ... */
} gik_walk;

void gik_walk_begin(gik_walk *w, const gik_map *map);
void gik_walk_next(gik_walk *w);

#endif
