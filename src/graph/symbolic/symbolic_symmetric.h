/* symbolic_symmetric.h: the symmetrised form: elimination tree, counts, supernodes, structure of A + A^T. */
#ifndef GI_SYMBOLIC_SYMMETRIC_H
#define GI_SYMBOLIC_SYMMETRIC_H

#include "graph/adjacency.h"
#include "graph/symbolic/symbolic.h"

/* What is known of L of A(perm,perm) + its transpose before its structure is: n, and arrays that it owns.  Labels are
 * places in the order after `post`: column k is row and column perm[k] of A. */
typedef struct gi_tree {
  gable_idx n;
  gable_idx *parent;    /* [n] elimination tree, postordered, the child with the longest column last */
  gable_idx *count;     /* [n] entries of each column of L, the diagonal counted */
  gable_off nnz;        /* their sum */
  gable_idx height;     /* of the tree, in nodes */
  gable_off *lower_ptr; /* [n+1] strict lower triangle of the pattern in the order first given */
  gable_idx *lower_idx;
  unsigned char *tied;    /* [n] 1: columns k and k+1 are a pair (gi_symbolic_options); NULL: there are none */
  unsigned char *begins;  /* [n] 1: a given supernode begins at column k; NULL: none were given */
  gable_idx *old, *place; /* [n] from places to the order first given, and back */
} gi_tree;

/* The tree of a graph (the edges of A + A^T inside its diagonal blocks); of the options, those about supernodes count.
 * perm [n]: the order, postordered in place.  O(edges alpha).  GABLE_ERR_MEMORY. */
gable_status gi_tree_of_graph(gable_context *ctx, const gi_adjacency *graph, gable_idx *perm,
                              const gi_symbolic_options *options, gi_tree *out);
void gi_tree_release(gable_context *ctx, gi_tree *tree); /* fine on a zeroed one, and twice */

/* How many numbers the panels of gi_tree_layout, L and U, would hold. */
gable_status gi_tree_values(gable_context *ctx, const gi_tree *tree, const gi_symbolic_options *options,
                            gable_off *values);

/* The supernodal layout that the tree stands for. */
gable_status gi_tree_layout(gable_context *ctx, const gi_tree *tree, const gi_symbolic_options *options,
                            gi_layout **out);

#endif
