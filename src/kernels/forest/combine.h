/* combine.h: to[p(i)] = op(to[p(i)], from[q(i)]) for i = 0, 1, ... in this order, for each unit and op. */
#ifndef GIK_FOREST_COMBINE_H
#define GIK_FOREST_COMBINE_H

#include <gable/forest.h>

#include "kernels/forest/index_map.h"

/* An item is width numbers beside each other; strides and indices count items. */
typedef struct gik_combine {
  /* p(i) = i*to_stride, q(i) = i*from_stride, i < n */
  void (*strided)(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n, int64_t width);
  /* p(i) = to_index[i], or i where it is NULL; q likewise */
  void (*indexed)(void *to, const int64_t *to_index, const void *from, const int64_t *from_index, int64_t n,
                  int64_t width);
  size_t number; /* bytes */
} gik_combine;

/* NULL: the unit has no such op. */
const gik_combine *gik_combine_for(gable_unit_type unit, gable_forest_op op);

/* Bytes of a number of the unit, 0 where there is no such unit. */
size_t gik_unit_bytes(gable_unit_type unit);

/* By maps of the same n. */
void gik_combine_maps(const gik_combine *c, void *to, const gik_map *to_map, const void *from, const gik_map *from_map,
                      int64_t width);

/* Item i of update takes to[p(i)], which then becomes op(to[p(i)], from[q(i)]), one i after another; update has the map
 * update_map.  apart: no two p(i) are the same. */
void gik_fetch_maps(const gik_combine *c, void *update, const gik_map *update_map, void *to, const gik_map *to_map,
                    const void *from, const gik_map *from_map, int64_t width, int apart);

#endif
