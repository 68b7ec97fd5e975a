/* btf.h: the block upper triangular form of a reducible matrix.
 *
 * The strongly connected components of its graph, by Tarjan's depth-first search (SIAM J. Comput. 1, 1972); see Duff
 * and Reid, ACM TOMS 4 (1978). */
#ifndef GI_BTF_H
#define GI_BTF_H

#include "base/context.h"

/* ptr [n+1], idx: pattern of A (CSC, square) with its rows matched: row_of[j] is the row of A that stands on the
 * diagonal of column j (NULL: row j). perm [n]: out, columns of A; with B(i,j) = A(row_of[perm[i]], perm[j]) every
 * entry below the diagonal blocks of B is zero and no diagonal block can be divided further.  block [n+1]: out, first
 * place of each block, block[*n_blocks] = n. The order of columns inside a block is theirs in A.  O(nnz + n), not
 * recursive.  GABLE_ERR_MEMORY. */
gable_status gi_btf(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                    const gable_idx *row_of, gable_idx *perm, gable_idx *block, gable_idx *n_blocks);

#endif
