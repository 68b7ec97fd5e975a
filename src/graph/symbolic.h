/* symbolic.h: from a pattern and an order to a supernodal layout. */
#ifndef GI_SYMBOLIC_H
#define GI_SYMBOLIC_H

#include "graph/layout.h"

typedef enum gi_symbolic_form {
  GI_SYMBOLIC_AUTO = 0,       /* the cheaper in predicted fill */
  GI_SYMBOLIC_SYMMETRIC = 1,  /* pattern of A + A^T */
  GI_SYMBOLIC_UNSYMMETRIC = 2 /* exact pattern of LU without pivoting, closed under exchanges inside diagonal blocks */
} gi_symbolic_form;

typedef struct gi_symbolic_options {
  gi_symbolic_form form;
  int cholesky;         /* 1: the layout has no U values */
  int block_triangular; /* 1: the pattern is in block triangular form already, blocks in block[] */
  gable_idx max_width;  /* of a supernode; 0: the default */
  int relax;            /* 0: exact supernodes only */
} gi_symbolic_options;

/* ptr, idx: pattern of A (CSC, square, n) with a zero-free diagonal after the row matching was applied.
 * perm [n]: in, the order wanted (perm[k] = the row and column of A that comes k-th); out, the same order postordered.
 * *out: the layout of A(perm, perm).  GABLE_ERR_MEMORY, GABLE_ERR_LIMIT. */
gable_status gi_symbolic(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx, gable_idx *perm,
                         const gi_symbolic_options *options, gi_layout **out);

#endif
