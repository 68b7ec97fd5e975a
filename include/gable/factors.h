/* factors.h: exports the factors of a solver as compressed columns with permutations and scalings, and imports factors
 * of other packages. docs/solver.md has an example of each. */
#ifndef GABLE_FACTORS_H
#define GABLE_FACTORS_H

#include <gable/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A factorization of A, n by n.  With R = diag(row_scale), C = diag(col_scale) and A'(i,j) = (R A C)(row_order[i],
 * col_order[j]), so that row row_order[i] of A comes i-th,
 *
 *   A' = L U + F   L unit lower triangular, U upper triangular, both block diagonal where there is an F; F has the
 *                  entries right of the diagonal blocks of a block triangular form
 *   A' = L L^T     when u is NULL: L with its diagonal, no F
 *
 * f is NULL when there is no F.  l, u and f point to views with sizes of their own. */
typedef struct gable_factors_view {
  size_t size; /* of this struct, so that it can grow */
  gable_idx n;
  const gable_matrix_view *l, *u, *f;
  const gable_idx *row_order, *col_order; /* [n] from 0; NULL: as they are */
  const double *row_scale, *col_scale;    /* [n] factors of the rows and columns of A, not of A'; NULL: ones */
  gable_idx n_supernodes;
  const gable_idx *supernodes; /* [n_supernodes+1] first column of L of each, n at the end; 0 and NULL: not known */
} gable_factors_view;
#define GABLE_FACTORS_VIEW_INIT                                                                                        \
  {                                                                                                                    \
    sizeof(gable_factors_view), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL                                   \
  }

typedef struct gable_factors gable_factors; /* owns what its view shows */

/* Local.  A copy of the factors of s: L and U (with U's diagonal) by columns, base 0, rows increasing, GABLE_TYPE_D;
 * zeros that supernodes store are left out.  The identity above holds to rounding (of float, if the factor is) but for
 * the GABLE_SOLVER_PERTURBED_PIVOTS, whose diagonal entries were replaced.  row_order has the interchanges inside
 * supernodes in it, which GABLE_SOLVER_ROW_ORDER has not.  L D L^T leaves as L U, with interchanges of columns in
 * col_order, too.  L has its ones stored.  supernodes are those of the panels, none where GABLE_SOLVER_ELEMENTWISE
 * is 1.  The object belongs to the caller and may outlive s, but not its context.  GABLE_ERR_STATE: there is no factor;
 * GABLE_ERR_MEMORY. */
GABLE_API gable_status gable_solver_export(const gable_solver *s, gable_factors **out);

/* Borrowed views and arrays of f, valid until it is destroyed. */
GABLE_API gable_status gable_factors_get_view(const gable_factors *f, gable_factors_view *view);

/* NULL is fine; sets *f to NULL. */
GABLE_API void gable_factors_destroy(gable_factors **f);

/* Local.  Makes f the factor of s, whatever s held before; the arrays are copied.  CSR or CSC, base 0 or 1, 32 or 64
 * bit offsets, GABLE_TYPE_S or GABLE_TYPE_D; indices increase within a row (column); the ones of a unit L may be
 * missing.  L U need not be exact: an incomplete factorization is welcome.  a: the matrix, with values, or NULL.  Then
 *   gable_solver_solve     refines against a; without a it is one sweep, the backward error is NaN, and no tolerance is
 *                          missed;
 *   gable_solver_apply     works as for a factor of gable_solver_factor;
 *   GABLE_SOLVER_ELEMENTWISE  is 1 when the pattern of L U, eliminated, has more than 1.5 times the entries of L and U
 *                          and there is no F: each triangle is then kept as it is and solved element by element, on a
 *                          GPU too (there GABLE_PLACE_SHORTER takes the CPU: nothing predicts these solves); the keys
 *                          about supernodes, tree and flops are GABLE_ERR_STATE.  A solve_method by name takes the
 *                          panels of that pattern, zeros and all (GABLE_ERR_MEMORY where they do not fit), and
 *                          ELEMENTWISE is then 0;
 *   gable_solver_rcond, gable_solver_forward_error, gable_solver_save and the keys about A want a (else
 *                          GABLE_ERR_STATE);
 *   supernodes             of f are those of the panels, as they are: their columns stay together, whatever their
 *                          width, with zeros where the lists of rows differ.  Without them, for ELEMENTWISE, and where
 *                          an entry over its pivot overflows, they are found again or not used;
 *   gable_solver_factor    is GABLE_ERR_STATE, whatever is to be reused: the structure belongs to L and U alone; after
 *                          gable_solver_analyse s is as any other.
 * Factor type and tolerance are those of the options of s.  GABLE_ERR_ARGUMENT names what is out of place: sizes that
 * differ, entries on the wrong side of the diagonal or of the blocks, out of range or out of order, an order that is no
 * permutation, a scale of zero, supernodes that do not cut the columns; GABLE_ERR_SINGULAR a diagonal entry that is
 * missing or zero; GABLE_ERR_NOT_FINITE; GABLE_ERR_MEMORY.  After an error s holds nothing. */
GABLE_API gable_status gable_solver_import(gable_solver *s, const gable_factors_view *f, const gable_matrix_view *a);

/* Local.  Returns why and sets gable_last_error of this thread to text, which is copied.  For callbacks, and for code
 * between the library and its user, such as gable/adapters/.  GABLE_OK changes nothing. */
GABLE_API gable_status gable_set_error(gable_status why, const char *text);

#ifdef __cplusplus
}
#endif
#endif
