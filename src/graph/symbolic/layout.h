/* layout.h: the supernodal layout of a factor: what symbolic analysis makes, and what every numeric factorization and
 * solve (CPU, GPU, distributed) reads.
 *
 * The matrix A' = P_row A P_col^T has been permuted already; all numbers here are rows and columns of A'.
 *
 *             J = super[s] .. super[s+1]-1, w columns
 *            +-------+----------------+
 *            | diag  |  U: w x nu     |   columns ucol[...] > J, increasing
 *            | w x w |  stored as its |
 *            +-------+  transpose     |
 *            |   L   |----------------+
 *            | nl x w|
 *            +-------+
 *     rows lrow[...] > J, increasing
 *
 * Values: the L panel of s is (w + nl) x w, column major, ld = w + nl, at l + lval[s]: the diagonal block (after LU:
 * unit L below, U on and above the diagonal; after Cholesky: L in its lower triangle) on top of the rows of L.  The U
 * panel is U(J, ucol)^T: nu x w, column major, ld = nu, at u + uval[s].  So both panels are tall, and one kernel serves
 * both. A symmetric pattern has lrow == ucol (one array, two names); Cholesky has no U values.
 *
 * The structure is closed under row interchanges inside each diagonal block, so a factorization may pivot there.
 *
 * Block triangular form: super-nodes of one diagonal block of the form are consecutive, no panel leaves its block, and
 * the entries of A' right of the diagonal blocks are kept as they are (off_*): A' = L U + F with L, U block diagonal.
 */
#ifndef GI_LAYOUT_H
#define GI_LAYOUT_H

#include "base/context.h"

typedef struct gi_layout {
  gable_idx n, n_super;
  int symmetric;     /* 1: lrow and ucol are the same arrays */
  gable_idx *super;  /* [n_super+1] first column of each supernode */
  gable_idx *of;     /* [n] supernode of each column */
  gable_idx *parent; /* [n_super] in the supernodal elimination tree (of A'+A'^T within a block), -1 at roots; parent >
                        child */
  gable_off *lptr;   /* [n_super+1] offsets into lrow */
  gable_idx *lrow;   /* [lptr[n_super]] */
  gable_off *uptr;   /* [n_super+1] offsets into ucol */
  gable_idx *ucol;   /* [uptr[n_super]] */
  gable_off *lval;   /* [n_super+1] offsets of the L panels, in values */
  gable_off *uval;   /* [n_super+1] offsets of the U panels, in values */

  gable_idx n_blocks; /* of the block triangular form; 1 when irreducible or not asked for */
  gable_idx *block;   /* [n_blocks+1] first column of each */
  gable_off *off_ptr; /* [n+1] offsets into off_row by column of A', or NULL when n_blocks is 1 */
  gable_idx *off_row; /* [off_ptr[n]] rows of A' above the column's own block */

  /* Counts, exact for the structure without relaxation. */
  gable_off nnz_l, nnz_u; /* with the diagonal in each */
  double flops;           /* of the numeric factorization, relaxed structure, multiply and add counted apart */
  gable_idx height;       /* of the column elimination tree, in nodes */
} gi_layout;

void gi_layout_destroy(gable_context *ctx, gi_layout **layout); /* NULL is fine */

/* Fills lval, uval and flops from super, lptr and uptr. */
void gi_layout_measure(gi_layout *y, int cholesky);

/* A layout that nobody here has made: everything but of, lval, uval and flops was given (arrays as long as their last
 * offsets say, lptr[0] not looked at yet).  *fault = NULL, and those are allocated and filled, where it keeps all that
 * docs/layout.md promises but "closed", which only the matrix can tell, and "not wide", which nothing relies on; else
 * what is wrong.  O(n + rows in the lists). GABLE_ERR_MEMORY. */
gable_status gi_layout_complete(gable_context *ctx, gi_layout *y, int cholesky, const char **fault);

static inline gable_idx gi_layout_width(const gi_layout *y, gable_idx s)
{
  return y->super[s + 1] - y->super[s];
}
static inline gable_idx gi_layout_nl(const gi_layout *y, gable_idx s)
{
  return (gable_idx)(y->lptr[s + 1] - y->lptr[s]);
}
static inline gable_idx gi_layout_nu(const gi_layout *y, gable_idx s)
{
  return (gable_idx)(y->uptr[s + 1] - y->uptr[s]);
}

#endif
