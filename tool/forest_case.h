/* forest_case.h: a random forest over all ranks, the same on each, its data, and what a serial program makes of them.
 */
#ifndef TOOL_FOREST_CASE_H
#define TOOL_FOREST_CASE_H

#include <gable/gable.h>

typedef struct forest_random {
  uint64_t state;
} forest_random;

uint64_t forest_random_next(forest_random *r);
int64_t forest_random_below(forest_random *r, int64_t n); /* uniform in [0, n), n > 0 */

/* What one rank has. */
typedef struct forest_part {
  gable_off n_roots, n_leaves, leaf_space;
  gable_off *leaf; /* [n_leaves], as given to gable_forest_create */
  gable_root *root;
  gable_off *order;      /* [n_leaves] leaves by increasing position */
  gable_off n_multi;     /* roots of the multi forest */
  gable_off *first_slot; /* [n_roots + 1] of each root among them */
} forest_part;

typedef struct forest_case {
  int ranks;
  forest_part *part; /* [ranks] */
  gable_plan_options plan;
  gable_off *root_stride, *leaf_stride; /* [ranks] */
  size_t number;                        /* bytes */
} forest_case;

/* Case number of the seed; NULL when out of memory.  space: of both arrays. */
forest_case *forest_case_create(int ranks, uint64_t seed, int64_t number, gable_space space);
void forest_case_destroy(forest_case **c);

/* The arrays of every rank. */
typedef struct forest_data {
  int ranks;
  unsigned char **root, **leaf, **update; /* [ranks][bytes] */
  size_t *root_bytes, *leaf_bytes;
} forest_data;

/* New values of every entry for this epoch, the same on every rank; NULL when out of memory. */
forest_data *forest_data_create(const forest_case *c, int64_t epoch);
void forest_data_destroy(forest_data **d);

/* forest_oracle.c: the exchange of all ranks, edge by edge in the order of (rank, position). */
void forest_oracle(const forest_case *c, forest_data *d);

/* The bytes of a number of each unit. */
size_t forest_unit_bytes(gable_unit_type unit);

/* Whether the unit has the op. */
int forest_unit_has(gable_unit_type unit, gable_forest_op op);

#endif
