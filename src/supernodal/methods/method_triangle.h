/* method_triangle.h: a block triangle of a named method in the memory of the context's device: the lists and numbers of
 * supernodal/cpu/block_triangle.h in solve order, and what each launch of each level computes.
 *
 *   levels       each block by calls; in corrections as batched
 *   batched      solve
 *   inverted     product DIAGONAL, product BELOW
 *   merged       product WHOLE
 *   partitioned  rows of Q_l, backward of Q_l^T
 *   partitioned-cusparse: the same, each level a matrix of the library, in place
 *
 * Backward the order is the reverse.  Blocks whose inverse does not serve are substituted in every method: inverted and
 * merged treat them as batched does, beside the others of their level; partitioned substitutes in place, before Q_l. */
#ifndef GI_METHOD_TRIANGLE_H
#define GI_METHOD_TRIANGLE_H

#include "device/resident.h"
#include "kernels/supernodal/block_steps.h"
#include "supernodal/cpu/block_triangle.h"
#include "supernodal/methods/method_order.h"

/* Launches of a level in forward order; one without tiles is left out. */
typedef enum gi_method_launch {
  GI_METHOD_SOLVE,   /* substituted blocks */
  GI_METHOD_PRODUCT, /* DIAGONAL, or WHOLE of merged */
  GI_METHOD_BELOW,   /* of inverted; and forward of blocks of more than `kept` columns that are substituted */
  GI_METHOD_LAUNCHES
} gi_method_launch;

typedef struct gi_method_batch {
  gik_block_part part;
  gi_resident tile;
  gable_idx *at, *wide, *narrow, *most; /* [n_levels] first tile of a level, how many, and gik_block_tiles.most */
} gi_method_batch;

/* Rows of Q_l, or of Q_l^T, of all levels: numbers are of [v; y], in place of v alone; in place ptr has the offsets of
 * each level from 0, those of level l at at[l] + l. */
typedef struct gi_method_rows {
  gi_resident row, ptr, col, value;
  gable_off *entries;    /* [n_levels] */
  uint64_t pattern;      /* in place: a checksum of levels, rows and columns */
  gable_idx *at, *lanes; /* [n_levels+1], [n_levels] */
} gi_method_rows;

typedef struct gi_method_triangle {
  gable_solve_method method;
  int in_place; /* of partitioned-cusparse */
  gable_idx n, n_blocks, n_levels;
  gable_idx *group;           /* [n_groups+1] first level of each */
  gable_idx *level;           /* [n_levels+1] into block */
  gable_idx *block;           /* [n_blocks] blocks by level */
  gable_idx *first;           /* [n_blocks+1] in solve order */
  gable_off *row_at;          /* [n_blocks+1] */
  gable_off *value_at;        /* [n_blocks] */
  unsigned char *substituted; /* [n_blocks], in solve order */
  gable_idx n_substituted;
  gable_idx fill; /* thread blocks that fill the device */
  gable_idx kept; /* columns of the widest block that is solved with in the launch of its product */
  gi_resident d_first, d_row_at, d_row, d_value_at, d_value, d_in_ptr, d_in_slot;
  gi_method_batch batch[2][GI_METHOD_LAUNCHES]; /* forward, backward */
  gi_method_rows rows[2];
  double floor_bytes; /* that a sweep reads at least */
} gi_method_triangle;

/* Copies host, which may go when the context's stream is done; d is zeroed, or from an earlier call for the same
 * layout, method and merging.  in_place: partitioned for a library's SpMV.  *moved: see resident.h; it becomes 1 where
 * other blocks are substituted than before, in place with another pattern, too.  GABLE_ERR_MEMORY, GABLE_ERR_LIMIT;
 * what was made so far is d's.
 */
gable_status gi_method_triangle_bring(gable_context *ctx, const gi_block_triangle *host, const gi_method_order *order,
                                      int in_place, gi_method_triangle *d, int *moved);
void gi_method_triangle_release(gable_context *ctx, gi_method_triangle *d);
gable_off gi_method_triangle_launches(const gi_method_triangle *d, int transposed); /* of a sweep */
gable_off gi_method_triangle_bytes(const gi_method_triangle *d);                    /* of device memory */

#endif
