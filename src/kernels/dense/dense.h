/* dense.h: small dense kernels on column-major blocks, the arithmetic of the supernodal factorization.
 *
 * Leaves: they own nothing, allocate nothing and never fail.  One body for double (_d) and float (_s).  The order of
 * the operations on an entry depends on the shapes alone, so that results repeat bit by bit. */
#ifndef GIK_DENSE_H
#define GIK_DENSE_H

#include <gable/types.h>

#include "kernels/dense/blas.h"

enum { GIK_PACK_COLUMNS = 240, GIK_PACK_DEPTH = 256 }; /* packed at a time: they stay in a second level cache */

/* Values of scratch that products of at most m x n x k need: packed operands, or a product of an OpenBLAS. */
static inline gable_off gik_pack_size(gable_off m, gable_off n, gable_off k)
{
  const gable_off columns = n < GIK_PACK_COLUMNS ? n : GIK_PACK_COLUMNS,
                  depth = k < GIK_PACK_DEPTH ? k : GIK_PACK_DEPTH;
  const gable_off packed = (m + columns + 32) * depth;
  return packed > m * columns ? packed : m * columns;
}

/* What the kernels for any size work with. */
typedef struct gik_tools {
  void *pack;           /* [gik_pack_size] values of the largest product */
  const gik_blas *blas; /* for the products that it says; NULL: none */
} gik_tools;

#define GIK_DENSE(real, t)                                                                                             \
  /* C(rows[i], columns[j]) -= sum over p < k of A(i,p) B(p,j), A m x k with leading dimension lda, B(p,j) at          \
   * b[j*across + p*down], rows [m] and columns [n] or NULL: in order.  Written for k, n up to about 64. */            \
  void gik_multiply_##t(gable_idx m, gable_idx n, gable_idx k, const real *a, gable_off lda, const real *b,            \
                        gable_off across, gable_off down, real *c, gable_off ldc, const gable_idx *rows,               \
                        const gable_idx *columns);                                                                     \
  /* The same for any size.  lower: rows and columns count the same things in the same order, and entry (i, j) is      \
   * wanted for i >= j alone; above the diagonal C may or may not be touched. */                                       \
  void gik_multiply_large_##t(gable_idx m, gable_idx n, gable_idx k, const real *a, gable_off lda, const real *b,      \
                              gable_off across, gable_off down, real *c, gable_off ldc, const gable_idx *rows,         \
                              const gable_idx *columns, int lower, const gik_tools *tools);                            \
  /* X T = B in place, X m x n, T upper triangular with T(p,j) at t[j*across + p*down]; inverse [n]: reciprocals of    \
   * the diagonal of T, NULL: the diagonal is one. */                                                                  \
  void gik_solve_right_##t(gable_idx m, gable_idx n, real *x, gable_off ldx, const real *t, gable_off across,          \
                           gable_off down, const real *inverse);                                                       \
  /* The same for any size. */                                                                                         \
  void gik_solve_right_large_##t(gable_idx m, gable_idx n, real *x, gable_off ldx, const real *t, gable_off across,    \
                                 gable_off down, const real *inverse, const gik_tools *tools);                         \
  /* P A = L U in place, n x n, pivots LAPACK style with 0 based pivot [n]; inverse [n] = 1/diag(U).  The diagonal     \
   * stays the pivot where it is at least `prefer` times the largest of its column; a pivot below tiny is replaced by  \
   * +-tiny.  Returns how many were. */                                                                                \
  gable_idx gik_lu_##t(gable_idx n, real *a, gable_off lda, gable_idx *pivot, real *inverse, real tiny, real prefer,   \
                       const gik_tools *tools);                                                                        \
  /* A = L L^T in place, n x n, lower triangle read and written; inverse [n] = 1/diag(L).  Returns 0, or j+1 when      \
   * pivot j is not positive (or NaN). */                                                                              \
  gable_idx gik_cholesky_##t(gable_idx n, real *a, gable_off lda, real *inverse, const gik_tools *tools);              \
  /* The largest magnitude of x [m x n]; infinity or NaN when one is there. */                                         \
  real gik_largest_##t(gable_idx m, gable_idx n, const real *x, gable_off ldx);

GIK_DENSE(double, d)
GIK_DENSE(float, s)

#endif
