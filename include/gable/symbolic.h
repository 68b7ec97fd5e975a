/* symbolic.h: predicts order, fill, supernodes, flops and memory of the factors of a matrix, without factoring it.
 *
 * With the same values and options the structure is that of gable_solver_analyse.  gable_solver_factor may reject it by
 * the pivots and take another one (GABLE_SOLVER_ANALYSES above 1).  With options.values the numbers are factored, too,
 * and the structure is the one that gable_solver_factor keeps.  docs/algorithms/symbolic.md explains the algorithm,
 * docs/layout.md the arrays. */
#ifndef GABLE_SYMBOLIC_H
#define GABLE_SYMBOLIC_H

#include <gable/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gable_symbolic gable_symbolic;

typedef enum gable_form {
  GABLE_FORM_AUTO = 0,        /* the one that gable_solver_analyse takes */
  GABLE_FORM_SYMMETRIC = 1,   /* the pattern of A + A^T: one list for the rows of L and the columns of U */
  GABLE_FORM_UNSYMMETRIC = 2, /* the exact pattern of L U without interchanges between supernodes */
  GABLE_FORM_CHOLESKY = 3,    /* of L L^T: symmetric, no U */
  GABLE_FORM_LDLT = 4         /* of L D L^T: symmetric, no U, rows that a matching pairs stay together */
} gable_form;

typedef struct gable_symbolic_options {
  size_t size;                 /* of this struct, so that it can grow */
  const char *order;           /* "auto", "metis", "amd", "colamd", "natural", "user"; NULL: "auto" */
  const gable_idx *user_order; /* [n] of "user": user_order[k] comes k-th; read by create only */
  gable_form form;
  int keep_rows;       /* 1: no matching; missing diagonal entries count as present */
  int keep_whole;      /* 1: no block triangular form */
  gable_idx max_width; /* of a supernode; 0: the default */
  int exact;           /* 1: supernodes are not merged where that stores explicit zeros */
  int64_t solves;      /* expected with one factor, as in gable_solver_options; at least 0 */
  int values;          /* 1: factors the values, and takes the structure that gable_solver_factor keeps */
} gable_symbolic_options;
#define GABLE_SYMBOLIC_OPTIONS_INIT                                                                                    \
  {                                                                                                                    \
    sizeof(gable_symbolic_options), NULL, NULL, GABLE_FORM_AUTO, 0, 0, 0, 0, 10, 0                                     \
  }

/* Local.  Square a in host memory: CSR or CSC, base 0 or 1, 32 or 64 bit offsets, full or, if symmetric, one triangle.
 * Values (GABLE_TYPE_S and GABLE_TYPE_D; other types are not read) decide method and matching as in
 * gable_solver_analyse.  Without values the entries are matched, unless the pattern is symmetric.  A structurally
 * singular matrix is no error: its diagonal counts as present, and structural_rank tells.  Nothing of a is kept.  The
 * caller destroys *out.
 *
 * options.values costs a factorization.  It needs values, form auto, cholesky or ldlt, max_width 0 and exact 0, else
 * GABLE_ERR_ARGUMENT.  It adds the errors of gable_solver_factor, and GABLE_ERR_SINGULAR: structurally singular.
 *
 * GABLE_ERR_ARGUMENT: an entry that breaks a declared symmetry (named), or GABLE_FORM_LDLT of an unsymmetric pattern;
 * GABLE_ERR_NOT_FINITE; GABLE_ERR_UNAVAILABLE: the order's library is not in this build; GABLE_ERR_MEMORY, _CANCELLED.
 */
GABLE_API gable_status gable_symbolic_create(gable_context *ctx, const gable_matrix_view *a,
                                             const gable_symbolic_options *options, gable_symbolic **out);

typedef struct gable_symbolic_info {
  size_t size;
  gable_idx n;
  gable_off nnz;                   /* of A, both triangles */
  const char *order;               /* the one that was taken: never "auto" */
  gable_form form;                 /* never GABLE_FORM_AUTO */
  int matched;                     /* 1: rows were matched with columns; 2: and then by partial pivoting (values) */
  gable_idx structural_rank;       /* n when it was not looked for */
  gable_idx blocks, largest_block; /* of the block triangular form; largest: rows */
  gable_idx long_rows;             /* put last in their block, apart from the order */
  gable_idx supernodes, widest;    /* widest: columns */
  gable_idx height;                /* of the elimination tree, in columns */
  gable_off nnz_l, nnz_u;          /* exact, the diagonal in both; Cholesky: nnz_u is that of L^T */
  gable_off stored;                /* numbers in the panels, zeros for the sake of wider supernodes included */
  gable_off indices;               /* in the lists of rows and columns */
  double flops;                    /* of the numeric factorization, multiplications and additions apart */
  gable_off memory_bytes;          /* of structure and factor in double precision */
  double match_s, order_s, symbolic_s;
  int analyses; /* structures that were tried; 1 without options.values */
} gable_symbolic_info;
#define GABLE_SYMBOLIC_INFO_INIT                                                                                       \
  {                                                                                                                    \
    sizeof(gable_symbolic_info), 0, 0, NULL, GABLE_FORM_AUTO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0     \
  }

/* Local. */
GABLE_API gable_status gable_symbolic_get_info(const gable_symbolic *s, gable_symbolic_info *info);

/* The arrays, borrowed until s is destroyed; rows and columns are those of A' = A(rows, cols). */
typedef struct gable_symbolic_view {
  size_t size;
  const gable_idx *rows, *cols; /* [n] row and column of A that come k-th */
  gable_idx supernodes, blocks;
  const gable_idx *super;   /* [supernodes+1] first column of each */
  const gable_idx *parent;  /* [supernodes] in the elimination tree, -1 at roots */
  const gable_off *l_ptr;   /* [supernodes+1] into l_row */
  const gable_idx *l_row;   /* rows of L below each supernode, increasing */
  const gable_off *u_ptr;   /* [supernodes+1] into u_col */
  const gable_idx *u_col;   /* columns of U right of each supernode, increasing */
  const gable_idx *block;   /* [blocks+1] first column of each diagonal block */
  const gable_off *off_ptr; /* [n+1] into off_row, by columns, or NULL when there is one block */
  const gable_idx *off_row; /* rows of A' above the block of the column */
} gable_symbolic_view;
#define GABLE_SYMBOLIC_VIEW_INIT                                                                                       \
  {                                                                                                                    \
    sizeof(gable_symbolic_view), NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL                \
  }
GABLE_API gable_status gable_symbolic_get_view(const gable_symbolic *s, gable_symbolic_view *view);

/* Local.  The block columns that a triangular solve with L takes level by level: supernodes (merged 0), or the clusters
 * into which a solve on a GPU merges them (1).  *n_blocks: their number; they come by increasing level.  level,
 * columns, rows: NULL or [supernodes], of each block its level from 0, its number of columns, and of rows of L below
 * them.  Cost: a sort of the rows of L.  GABLE_ERR_MEMORY. */
GABLE_API gable_status gable_symbolic_get_blocks(const gable_symbolic *s, int merged, gable_idx *n_blocks,
                                                 gable_idx *level, gable_idx *columns, gable_idx *rows);

/* NULL is fine; sets *s to NULL. */
GABLE_API void gable_symbolic_destroy(gable_symbolic **s);

#ifdef __cplusplus
}
#endif
#endif
