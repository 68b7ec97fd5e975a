/* block_triangle.h: a lower block triangle T of a factor in the form that a solve method of the literature reads.
 *
 *            first[b] .. first[b+1]-1: w columns
 *           +---+
 *           | D |  w x w, lower triangular
 *           +---+
 *           | B |  one row for each of row[row_at[b]] .., increasing
 *           +---+
 *
 * Both together are a panel (w + rows) x w, column major, at value[value_at[b]].  Blocks of one level do not depend on
 * each other: a block's level is one more than the highest level of those whose rows meet its columns.  Diagonal blocks
 * of a block triangular form are stages, each with levels of its own.
 *
 * partitioned has the values of inverted blocks in its sparse matrices alone.  Of a substituted block these have B and
 * the unit matrix, and value has D, w x w: Q_l is applied after the substitution (op N), its transpose before it. */
#ifndef GI_BLOCK_TRIANGLE_H
#define GI_BLOCK_TRIANGLE_H

#include <gable/solver.h>

#include "factor/factor.h"

/* First column of a stage; stage n_blocks ends at n.  One block needs no list of blocks. */
static inline gable_idx gi_stage_begin(const gi_layout *y, gable_idx stage)
{
  return stage == 0 ? 0 : stage == y->n_blocks ? y->n : y->block[stage];
}

/* Q_l: the product of the block columns of one level, inverted, as a sparse matrix by rows: the rows that it
 * changes, and their entries, ones on the diagonal included. */
typedef struct gi_level_inverse {
  gable_idx *row_at; /* [n_levels+1] into row */
  gable_idx *row;
  gable_off *ptr; /* [rows+1] into col and value */
  gable_idx *col;
  double *value;
} gi_level_inverse;

/* Of the triangles of a factor in the form of a named method. */
typedef struct gi_method_counts {
  gable_idx levels;              /* of both sweeps of op N, one after another */
  gable_off blocks, substituted; /* of L, and of U of an LU */
} gi_method_counts;

typedef struct gi_block_triangle {
  gable_solve_method method;
  gable_idx n, n_blocks, n_levels, n_stages;
  gable_idx *first;           /* [n_blocks+1] */
  gable_off *row_at;          /* [n_blocks+1] */
  gable_idx *row;             /* [row_at[n_blocks]] */
  gable_off *value_at;        /* [n_blocks+1] */
  double *value;              /* by method: D, B; inverted: D^-1, B; merged: D^-1, B D^-1; partitioned: see below */
  unsigned char *substituted; /* [n_blocks] 1: value has D and B, and sweeps substitute with D */
  gable_idx n_substituted;    /* all of levels and batched; else those whose inverse would lose too much */
  gable_idx *stage;           /* [n_stages+1] first level of each */
  gable_idx *level;           /* [n_levels+1] into order */
  gable_idx *order;           /* [n_blocks] blocks by level */
  gi_level_inverse inverse;   /* of partitioned */
  gable_off bytes;
} gi_block_triangle;

/* upper 0: L, its rows as they stand after the interchanges; 1: (D U)^T of an LU.  partitioned-cusparse is partitioned
 * here.  merge: block columns that follow each other and have one pattern become one.  GABLE_ERR_MEMORY. */
gable_status gi_block_triangle_create(gable_context *ctx, const gi_factor *f, int upper, gable_solve_method method,
                                      int merge, gi_block_triangle **out);
void gi_block_triangle_destroy(gable_context *ctx, gi_block_triangle **triangle); /* NULL is fine */

#endif
