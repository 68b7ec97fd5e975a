/* substitution_cpu.h: substitution over a run of rows (gather) or columns (scatter) that lie in memory in the order in
 * which they are solved. */
#ifndef GIK_SUBSTITUTION_CPU_H
#define GIK_SUBSTITUTION_CPU_H

#include <gable/types.h>

/* Rows can also be packed in blocks: up to GIK_BLOCK_ROWS rows that follow each other in the schedule, need the same
 * unknowns from before the block, and each all the earlier ones of the block.  A run is blocks of one kind.  A block's
 * indices are those of the unknowns before it, once for all its rows; its values are those of each such unknown in row
 * after row, then those inside the block, row after row. */
enum { GIK_BLOCK_ROWS = 4, GIK_SHORT = 8, GIK_ROWS = GIK_SHORT + 1, GIK_BLOCKS };

typedef struct gik_run {
  int32_t kind;                /* 0..GIK_SHORT: single rows of so many entries; GIK_ROWS: single rows; GIK_BLOCKS */
  gable_idx row, block, count; /* the first row and block, and how many blocks */
  gable_off idx, val;          /* where theirs begin */
} gik_run;

/* What m->len says of a block of a run of kind GIK_BLOCKS; of GIK_ROWS it is the number of entries. */
static inline int32_t gik_row_block_shape(int32_t len, int rows)
{
  return len * GIK_BLOCK_ROWS + rows - 1;
}

/* A strict triangle and the reciprocals of its diagonal, in schedule order.  List k belongs to row row[k]; its entries
 * are idx, val [start of list k, + len[k]) with idx in the matrix's numbering: the unknowns that row[k] needs (rows of
 * the triangle) or feeds (columns). */
typedef struct gik_lists {
  gable_idx n;
  gable_idx *row; /* [n] */
  int32_t *len;   /* [n] */
  gable_idx *idx; /* [nnz] */
  void *val;      /* [nnz] of value_type */
  double *rdiag;  /* [n] 1 / diagonal of row[k] */
  gable_type value_type;
  gik_run *run; /* [runs] packed: len is [blocks], idx is shorter than val; NULL: not packed */
  gable_idx runs;
} gik_lists;

/* One or more right-hand sides, entry (i,j) at i*row + j*rhs. */
typedef struct gik_vectors {
  const void *b;
  void *x;
  ptrdiff_t b_row, b_rhs, x_row, x_rhs;
  gable_idx count;
  double omega;  /* gik_relaxation_for only: the factor of relaxation, */
  ptrdiff_t old; /* and where the old value of unknown i is: at row i + old of x */
} gik_vectors;

enum { GIK_RHS_BLOCK = 8 }; /* right-hand sides that one pass over the matrix serves */

typedef struct gik_substitution {
  /* x_i = (b_i - sum_j l_ij x_j) / l_ii for lists k0 <= k < k1 in order; p0 is the start of list k0.  v->count at most
   * GIK_RHS_BLOCK. */
  void (*rows)(const gik_lists *m, gable_idx k0, gable_idx k1, gable_off p0, const gik_vectors *v);

  /* The same for runs r0 <= r < r1 of packed lists. */
  void (*packed)(const gik_lists *m, gable_idx r0, gable_idx r1, const gik_vectors *v);

  /* x holds b on entry.  Lists k1 > k >= k0 from the last to the first: x_i /= l_ii, then x_j -= l_ij x_i; p1 is the
   * end of list k1-1.  The transpose of the system that rows solves from the same lists. */
  void (*columns_back)(const gik_lists *m, gable_idx k0, gable_idx k1, gable_off p1, const gik_vectors *v);

  /* The same for runs r1 > r >= r0 of packed lists. */
  void (*packed_back)(const gik_lists *m, gable_idx r0, gable_idx r1, const gik_vectors *v);

  /* x = b, rows i0 <= i < i1. */
  void (*copy)(const gik_vectors *v, gable_idx i0, gable_idx i1);

  /* lists' val[p] = source[from[p]]; source of value_type. */
  void (*gather)(void *val, const void *source, const gable_off *from, gable_off count);

  /* The sum of (b_i - sum_j a_ij x_j - x_i / rdiag)^2 over all rows, of one right-hand side, in list order. */
  double (*residual)(const gik_lists *m, const gik_vectors *v);
} gik_substitution;

/* The same table for sweeps: rows does x_i = y + omega ((b_i - sum_j a_ij x_j) / a_ii - y) with y the old value of x_i.
 */
const gik_substitution *gik_relaxation_for(gable_type value_type, gable_type vector_type);

/* The kernels for a matrix and vectors of these types, or NULL: (S,S), (S,D) and (D,D) there are. */
const gik_substitution *gik_substitution_for(gable_type value_type, gable_type vector_type);

#endif
