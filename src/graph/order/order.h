/* order.h: in which order to eliminate: fill-reducing permutations of the symmetrised pattern.
 *
 * AMD: Amestoy, Davis and Duff, SIAM J. Matrix Anal. Appl. 17 (1996).  METIS: Karypis and Kumar, SIAM J. Sci. Comput.
 * 20 (1998).  COLAMD: Davis, Gilbert, Larimore and Ng, ACM TOMS 30 (2004). */
#ifndef GI_ORDER_H
#define GI_ORDER_H

#include "base/context.h"

typedef enum gi_order_method {
  GI_ORDER_AUTO = 0, /* AMD or METIS, whichever predicts less fill, block by block */
  GI_ORDER_METIS = 1,
  GI_ORDER_AMD = 2,
  GI_ORDER_COLAMD = 3,
  GI_ORDER_NATURAL = 4,
  GI_ORDER_USER = 5,
  GI_ORDER_METHODS
} gi_order_method;

typedef struct gi_order_options {
  gi_order_method method;
  const gable_idx *user;  /* [n] the permutation of GI_ORDER_USER: user[k] comes k-th */
  gable_idx n_blocks;     /* of the block triangular form that perm makes on entry; 0 or 1: none */
  const gable_idx *block; /* [n_blocks+1] first place in perm of each */
  int mirrored;           /* 1: see gi_symbolic_options */
  struct gi_tree *tree;   /* NULL, or a zeroed one: out, the tree of the order, for gi_symbolic, where one was made on
                             the way (else it stays zeroed); the caller releases it */
  double solves;          /* expected with the factor, for GI_ORDER_AUTO; 0: 10 */
} gi_order_options;

typedef struct gi_order_report {
  gi_order_method used;           /* GI_ORDER_METIS when at least one block took it; never GI_ORDER_AUTO */
  gable_off fill_amd, fill_metis; /* nnz(L) predicted by those of them that were tried, else 0 */
  gable_idx long_rows;            /* put last, apart from the others */
  int metis_starved;              /* 1: a block is AMD's because METIS had too little memory (of GI_ORDER_AUTO alone) */
  double tree_s;                  /* seconds of the time taken that went into options->tree */
} gi_order_report;

/* "auto", "metis", "amd", "colamd", "natural", "user"; never NULL. */
const char *gi_order_name(gi_order_method method);

/* ptr [n+1], idx: pattern of A (CSC, square, n; any order within a column; both triangles or one), its rows already
 * matched with its columns: one permutation goes to both sides.
 * perm [n]: in, the blocks of a block triangular form in their places (without one it is not read); out, perm[k] = the
 * row and column that comes k-th; each block keeps its places.  options, report may be NULL. The same for every number
 * of threads.  GABLE_ERR_UNAVAILABLE when the library for the method is not in this build (never for GI_ORDER_AUTO),
 * GABLE_ERR_ARGUMENT when user is no permutation, _LIMIT, _MEMORY, _CANCELLED. */
gable_status gi_order(gable_context *ctx, gable_idx n, const gable_off *ptr, const gable_idx *idx,
                      const gi_order_options *options, gable_idx *perm, gi_order_report *report);

/* Is perm [n] a permutation of 0..n-1?  GABLE_ERR_ARGUMENT names the first entry that is wrong. */
gable_status gi_order_check(gable_context *ctx, gable_idx n, const gable_idx *perm);

/* A permutation from a text file: n integers, from 0 or from 1 (told from the smallest), separated by white space,
 * lines that begin with % or # left out.  GABLE_ERR_IO, GABLE_ERR_FORMAT with the line. */
gable_status gi_order_read(gable_context *ctx, const char *path, gable_idx n, gable_idx *perm);

#endif
