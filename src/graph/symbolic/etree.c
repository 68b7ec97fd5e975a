#include "graph/symbolic/etree.h"

#include <string.h>

void gi_etree(gable_idx n, const gable_off *upper_ptr, const gable_idx *upper_idx, gable_idx *parent, gable_idx *work)
{
  gable_idx *ancestor = work; /* compressed paths towards the root of the tree so far */
  for (gable_idx k = 0; k < n; k++) {
    parent[k] = ancestor[k] = -1;
    for (gable_off p = upper_ptr[k]; p < upper_ptr[k + 1]; p++) {
      gable_idx i = upper_idx[p];
      while (ancestor[i] != k) {
        const gable_idx next = ancestor[i];
        ancestor[i] = k;
        if (next < 0) {
          parent[i] = k;
          break;
        }
        i = next;
      }
    }
  }
}

/* Lists of children: first[v], then next[.]; -1 ends.  Pushed so that the node pushed last comes first. */
static void push_child(const gable_idx *parent, gable_idx v, gable_idx *first, gable_idx *next)
{
  const gable_idx p = parent[v];
  if (p < 0) return;
  next[v] = first[p];
  first[p] = v;
}

/* Heaviest pushed first, so that it comes last; equal weights by number.  order is the head of buckets by weight. */
static void push_by_weight(gable_idx n, const gable_idx *parent, const gable_idx *weight, gable_idx *first,
                           gable_idx *next, gable_idx *bucket)
{
  /* A bucket is a list through next until its nodes are pushed. */
  memset(bucket, 0xff, (size_t)n * sizeof *bucket);
  for (gable_idx v = 0; v < n; v++) {
    next[v] = bucket[weight[v] - 1];
    bucket[weight[v] - 1] = v;
  }
  for (gable_idx w = n - 1; w >= 0; w--) {
    for (gable_idx v = bucket[w], after; v >= 0; v = after) {
      after = next[v];
      push_child(parent, v, first, next);
    }
  }
}

void gi_postorder(gable_idx n, const gable_idx *parent, const gable_idx *weight, gable_idx *post, gable_idx *work)
{
  gable_idx *first = work, *next = work + n, count = 0;
  memset(first, 0xff, (size_t)n * sizeof *first);
  if (weight) {
    push_by_weight(n, parent, weight, first, next, work + 2 * (size_t)n);
  } else {
    for (gable_idx v = n - 1; v >= 0; v--) push_child(parent, v, first, next);
  }
  for (gable_idx root = 0; root < n; root++) {
    if (parent[root] >= 0) continue;
    gable_idx v = root;
    for (;;) {
      while (first[v] >= 0) { /* down to a leaf, taking each first child off its list */
        const gable_idx child = first[v];
        first[v] = next[child];
        v = child;
      }
      post[count++] = v;
      if (v == root) break;
      v = parent[v];
    }
  }
}

gable_idx gi_tree_height(gable_idx n, const gable_idx *parent, gable_idx *work)
{
  gable_idx *depth = work, height = 0;
  for (gable_idx k = n - 1; k >= 0; k--) {
    depth[k] = parent[k] < 0 ? 1 : depth[parent[k]] + 1;
    if (depth[k] > height) height = depth[k];
  }
  return height;
}
