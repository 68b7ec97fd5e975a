#include "graph/symbolic/counts.h"

#include <string.h>

/* Root of the tree of v so far, with path halving. */
static inline gable_idx find_root(gable_idx *ancestor, gable_idx v)
{
  while (ancestor[v] != v) {
    ancestor[v] = ancestor[ancestor[v]];
    v = ancestor[v];
  }
  return v;
}

/* Row i of L is the subtree of i whose leaves are some of the columns j with A(i,j) != 0.  A column's count is the
 * number of row subtrees that hold it: +1 at each leaf, -1 at the least common ancestor of successive leaves, -1 at the
 * parent of i, summed up the tree (Gilbert, Ng and Peyton, section 3). */
void gi_column_counts(gable_idx n, const gable_off *lower_ptr, const gable_idx *lower_idx, const gable_idx *parent,
                      const gable_idx *post, gable_idx *count, gable_idx *work)
{
  gable_idx *first = work;                     /* postorder number of the first descendant */
  gable_idx *ancestor = work + n;              /* disjoint sets of the columns seen */
  gable_idx *max_first = work + 2 * (size_t)n; /* of the leaves of row i so far */
  gable_idx *prev_leaf = work + 3 * (size_t)n; /* of row i */
  memset(first, 0xff, (size_t)n * sizeof *first);
  memset(max_first, 0xff, (size_t)n * sizeof *max_first);
  memset(prev_leaf, 0xff, (size_t)n * sizeof *prev_leaf);
  for (gable_idx k = 0; k < n; k++) {
    gable_idx v = post[k];
    count[v] = first[v] < 0; /* a leaf of the tree holds its own row */
    for (; v >= 0 && first[v] < 0; v = parent[v]) first[v] = k;
  }
  for (gable_idx v = 0; v < n; v++) ancestor[v] = v;

  for (gable_idx k = 0; k < n; k++) {
    const gable_idx j = post[k];
    if (parent[j] >= 0) count[parent[j]]--;
    for (gable_off p = lower_ptr[j]; p < lower_ptr[j + 1]; p++) {
      const gable_idx i = lower_idx[p];
      if (first[j] <= max_first[i]) continue; /* no leaf: row i has a column below j already */
      max_first[i] = first[j];
      count[j]++;
      if (prev_leaf[i] >= 0) count[find_root(ancestor, prev_leaf[i])]--;
      prev_leaf[i] = j;
    }
    if (parent[j] >= 0) ancestor[j] = parent[j];
  }
  for (gable_idx k = 0; k < n; k++) {
    const gable_idx j = post[k];
    if (parent[j] >= 0) count[parent[j]] += count[j];
  }
}
