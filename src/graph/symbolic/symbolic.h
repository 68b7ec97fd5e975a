/* symbolic.h: from a pattern and an order to a supernodal layout. */
#ifndef GI_SYMBOLIC_H
#define GI_SYMBOLIC_H

#include "graph/symbolic/layout.h"

typedef enum gi_symbolic_form {
  GI_SYMBOLIC_AUTO = 0,      /* the cheaper in predicted fill */
  GI_SYMBOLIC_SYMMETRIC = 1, /* pattern of A + A^T */
  GI_SYMBOLIC_UNSYMMETRIC =
      2 /* exact pattern of LU without pivoting, closed under interchanges inside diagonal blocks */
} gi_symbolic_form;

typedef struct gi_symbolic_options {
  gi_symbolic_form form;
  int cholesky;           /* 1: the layout has no U values; form must not be GI_SYMBOLIC_UNSYMMETRIC */
  gable_idx n_blocks;     /* of the block triangular form that perm makes; 0 or 1: none */
  const gable_idx *block; /* [n_blocks+1] first place in perm of each block; entries of A(perm, perm) left of the
                             diagonal blocks are GABLE_ERR_ARGUMENT */
  gable_idx max_width;    /* of a supernode; 0: the default */
  int exact;              /* 1: exact supernodes only, no relaxation */
  double solves;          /* expected with the factor, which relaxation weighs; 0: 10 */
  int mirrored;           /* 1: the caller knows that the pattern is symmetric, both triangles are stored and rows
                             increase within a column: then one triangle is enough to read */
  const gable_idx *mate;  /* [n] pairs of rows with one structure, adjacent in perm, that must stay in one supernode
                             (the row itself: none), or NULL */
  const unsigned char *begins; /* [n] by place in perm: 1: a supernode begins there; then the supernodes are these,
                                  however wide.  The pattern holds an entry between any two neighbours of one.  NULL:
                                  they are found */
  const struct gi_tree *tree;  /* what gi_tree_of_graph makes of this pattern, this perm (which it postordered) and
                                  these options, or NULL */
} gi_symbolic_options;

enum { GI_DEFAULT_MAX_WIDTH = 128 };

static inline gable_idx gi_symbolic_max_width(const gi_symbolic_options *options)
{
  if (options->begins) return INT32_MAX;
  return options->max_width > 0 ? options->max_width : GI_DEFAULT_MAX_WIDTH;
}

/* ptr [n+1], idx [ptr[n]]: pattern of A (CSC, square; any order within a column); the diagonal is taken as there,
 * stored or not.  One triangle of a symmetric pattern does as well as both where form or cholesky say that it is one.
 * perm [n]: in, the order wanted (perm[k] = the row and column of A that comes k-th); out, the same order postordered.
 * Blocks keep their places.  options may be NULL.
 * *out: the layout of A(perm, perm).  GABLE_ERR_MEMORY, GABLE_ERR_ARGUMENT, GABLE_ERR_CANCELLED. */
gable_status gi_symbolic(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx, gable_idx *perm,
                         const gi_symbolic_options *options, gi_layout **out);

#endif
