/* export.h: factors as compressed columns, for others to read, and factors of others for Gable to solve with. */
#ifndef GI_EXPORT_H
#define GI_EXPORT_H

#include "factor/factor.h"

/* LU: row row_of[k] of A' is row k of L U + F.  l is unit lower triangular with its ones stored, u upper triangular.
 * Cholesky: A' = l l^T, row_of is the identity, u and f are empty (ptr NULL), and so is f without a block triangular
 * form.  L D L^T comes out as an LU whose columns were interchanged, too: column col_of[k] of A' is column k of L U,
 * and rows of a pivot of two columns once more, for a triangle each.  Entries that are exactly zero (supernodes hold
 * some) are left out, the diagonals are not. */
typedef struct gi_factor_columns {
  gi_csc l, u, f;
  gable_idx *row_of; /* [n] */
  gable_idx *col_of; /* [n], or NULL: the identity */
} gi_factor_columns;

/* The interchanges of f's pivots: row row_of[k] of A' is row k of L U, position [n] the inverse. */
void gi_factor_resolve_interchanges(const gi_factor *f, gable_idx *row_of, gable_idx *position);

/* out zeroed; release frees it, also after an error.  GABLE_ERR_MEMORY. */
gable_status gi_factor_export(gable_context *ctx, const gi_factor *factor, gi_factor_columns *out);
void gi_factor_columns_release(gable_context *ctx, gi_factor_columns *c);

/* Is this what gi_factor_import takes?  Its errors but for GABLE_ERR_MEMORY. */
gable_status gi_factor_check_columns(const gi_csc *l, const gi_csc *u, const gi_csc *off, gable_type type);

/* *grows: 1 when the pattern of l and u (NULL: l^T), eliminated, has more than 1.5 times their entries, which panels
 * would store.  Checked columns.  Stops counting there.  GABLE_ERR_MEMORY. */
gable_status gi_factor_grows(gable_context *ctx, const gi_csc *l, const gi_csc *u, int *grows);

/* A factor of the matrix M = l u + off (u NULL: l l^T) with its rows and columns renumbered: entry (i,j) of A' is entry
 * (perm[i], perm[j]) of M.  perm [n]: out, a postorder that makes supernodes of the columns.  begins [n]: 1 where a
 * supernode of M begins, and these are used, but for factors with a quotient that is not finite (import.c); NULL: they
 * are found.  Whoever has P A Q = l u
 * composes it with both sides.  l: lower triangular, for LU with or without its unit diagonal; u: upper triangular with
 * its diagonal; off: NULL, or what stands right of the diagonal blocks of l and u.  The layout and the factor are the
 * caller's.  GABLE_ERR_ARGUMENT names the first entry that is out of
 * place, GABLE_ERR_SINGULAR a zero on a diagonal (or what has no finite reciprocal), GABLE_ERR_NOT_FINITE. */
gable_status gi_factor_import(gable_context *ctx, const gi_csc *l, const gi_csc *u, const gi_csc *off, gable_type type,
                              const unsigned char *begins, gable_idx *perm, gi_layout **layout, gi_factor **factor);

#endif
