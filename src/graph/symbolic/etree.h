/* etree.h: the elimination tree of a symmetric pattern, and postorders of it.
 *
 * Liu, "The role of elimination trees in sparse factorization", SIAM J. Matrix Anal. Appl. 11 (1990). */
#ifndef GI_ETREE_H
#define GI_ETREE_H

#include <gable/types.h>

/* Column k of the strict upper triangle holds the rows i < k; any order, repeated entries do no harm.
 * parent [n]: min { i > k : L(i,k) != 0 }, -1 at roots.  work [n].  O(nnz log n), in practice O(nnz). */
void gi_etree(gable_idx n, const gable_off *upper_ptr, const gable_idx *upper_idx, gable_idx *parent, gable_idx *work);

/* post [n]: children before parents, subtrees consecutive, trees in the order of their roots; among siblings the one
 * with the largest weight [n] (in 1..n) comes last, and by number where weights are equal or weight is NULL.
 * work [3n], [2n] without weight.  O(n), not recursive. */
void gi_postorder(gable_idx n, const gable_idx *parent, const gable_idx *weight, gable_idx *post, gable_idx *work);

/* Nodes on the longest path from a root to a leaf.  parent[k] > k or -1.  work [n].  O(n). */
gable_idx gi_tree_height(gable_idx n, const gable_idx *parent, gable_idx *work);

#endif
