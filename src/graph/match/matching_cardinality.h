/* matching_cardinality.h: how many rows and columns can be paired by entries: the structural rank. */
#ifndef GI_MATCHING_CARDINALITY_H
#define GI_MATCHING_CARDINALITY_H

#include "base/context.h"

/* A largest matching of a pattern (CSC, may be rectangular).  row_of [n_cols]: row of each column, or -1; *size: pairs.
 * J. E. Hopcroft and R. M. Karp, An n^(5/2) algorithm for maximum matchings in bipartite graphs, SIAM J. Comput. 2
 * (1973): O(nnz sqrt(n)). */
gable_status gi_matching_cardinality(gable_context *ctx, gable_idx n_rows, gable_idx n_cols, const gable_off *ptr,
                                     const gable_idx *idx, gable_idx *row_of, gable_idx *size);

#endif
