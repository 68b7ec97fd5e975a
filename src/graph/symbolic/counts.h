/* counts.h: how many entries each column of the Cholesky factor has, without computing the factor.
 *
 * Gilbert, Ng and Peyton, "An efficient algorithm to compute row and column counts for sparse Cholesky factorization",
 * SIAM J. Matrix Anal. Appl. 15 (1994).  O(nnz * alpha(nnz, n)). */
#ifndef GI_COUNTS_H
#define GI_COUNTS_H

#include <gable/types.h>

/* Column k of the strict lower triangle of the symmetric pattern holds the rows i > k; any order, repeated entries do
 * no harm.  parent [n], post [n]: its elimination tree and a postorder of it.
 * count [n]: entries of each column of L, the diagonal counted.  work [4n]. */
void gi_column_counts(gable_idx n, const gable_off *lower_ptr, const gable_idx *lower_idx, const gable_idx *parent,
                      const gable_idx *post, gable_idx *count, gable_idx *work);

#endif
