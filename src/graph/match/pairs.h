/* pairs.h: the pivots of two columns of a symmetric indefinite matrix, found before it is ordered.
 *
 * A matching of greatest product is a set of cycles of the symmetric graph; an entry of a cycle off the diagonal is a
 * good pivot of its row and column together.  I. S. Duff and S. Pralet, Strategies for scaling and pivoting for sparse
 * symmetric indefinite problems, SIAM J. Matrix Anal. Appl. 27 (2005); O. Schenk and K. Gaertner, On fast factorization
 * pivoting methods for sparse symmetric indefinite systems, ETNA 23 (2006). */
#ifndef GI_PAIRS_H
#define GI_PAIRS_H

#include "sparse/csc.h"

/* a: symmetric, both triangles, with values or without.  row_of [n]: row matched with each column, all matched; scale
 * [n]: of rows and columns alike.  mate [n], out: the other of a pair, or the row itself.  A cycle of even length is
 * cut into pairs in that of the two ways whose pairs share more neighbours, of an odd one the row with the largest
 * scaled diagonal stays alone.  O(nnz).  GABLE_ERR_MEMORY. */
gable_status gi_pairs(gable_context *ctx, const gi_csc *a, const gable_idx *row_of, const double *scale,
                      gable_idx *mate);

/* The pattern with each pair as one node.  of [n]: the node of each row; node [n]: first row of each node, by
 * increasing row.  out (zeroed): both triangles, rows increasing, no values. */
gable_status gi_pairs_gather(gable_context *ctx, const gi_csc *a, const gable_idx *mate, gable_idx *of, gable_idx *node,
                             gi_csc *out);

/* And back: rows of a pair get what both have.  small: as gi_pairs_gather leaves it. */
gable_status gi_pairs_spread(gable_context *ctx, const gi_csc *small, const gable_idx *mate, const gable_idx *node,
                             gable_idx n, gi_csc *out);

/* perm [n] of the rows, pairs together, from the order [n_small] of the nodes. */
void gi_pairs_expand(gable_idx n_small, const gable_idx *order, const gable_idx *mate, const gable_idx *node,
                     gable_idx *perm);

#endif
