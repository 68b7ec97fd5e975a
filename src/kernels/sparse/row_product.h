/* row_product.h: products with the rows of a matrix or with the part of them on one side of the diagonal, and the other
 * long vectors that a sweep is made of; on the CPU and on a GPU. */
#ifndef GIK_ROW_PRODUCT_H
#define GIK_ROW_PRODUCT_H

#include <stddef.h>

#include <gable/types.h>

#include "base/status.h"
#include "kernels/list.h"

/* A square matrix by rows, in the memory of the place where the kernels run. */
typedef struct gik_rows {
  gable_idx n;
  unsigned nnz;
  const unsigned *ptr;      /* [n+1] */
  const unsigned *diagonal; /* [n] place of the row's diagonal entry */
  const gable_idx *idx;     /* [nnz] increasing within a row */
  const void *val;          /* [nnz] of value_type */
  gable_type value_type;
} gik_rows;

typedef enum gik_part {
  GIK_WHOLE,
  GIK_BELOW,
  GIK_ABOVE
} gik_part; /* of a row: all, or left or right of the diagonal */

typedef struct gik_product {
  gik_part part;
  gable_type type;                        /* of the vectors */
  const void *b;                          /* entry i at i*b_step; NULL: y = A x */
  const void *relaxed;                    /* [n] d of the matrix's type: sweeps add (d_i - a_ii) x_i; or NULL */
  int exact;                              /* 1: d is diag(A), which is not read then */
  const void *x;                          /* entry i at i*x_step; NULL: zero */
  void *y;                                /* [n], not x; column j at y + j*n */
  ptrdiff_t b_step, x_step, b_rhs, x_rhs; /* column j of b at j*b_rhs, of x at j*x_rhs */
  int count;                              /* columns */
  int threads;                            /* on the CPU */
  void *stream;                           /* on a GPU: everything below is asynchronous on it */
} gik_product;

/* Sums of squares: partial sums in a fixed order, so that they are the same in every run. */
enum { GIK_SQUARE_PARTS = 256 };

/* A word that notes the lowest wrong row begins with four such bytes: no row, and above them all. */
enum { GIK_NO_ROW_BYTE = 0x7f, GIK_NO_ROW = 0x7f7f7f7f };

struct gik_row_products {
  /* y_i = b_i - sum_{j in part} a_ij x_j + (d_i - a_ii) x_i, or with b == NULL y_i = sum_{j in part} a_ij x_j. */
  gable_status (*product)(const gik_rows *a, const gik_product *p);

  /* y = b - y + (2 d - diag(A)) x: after (d + L) x = y, the right-hand side of the sweep that comes back, and likewise
   * with U. */
  gable_status (*return_rhs)(const gik_rows *a, const gik_product *p);

  /* d_i = a_ii / omega.  fault: [2] the lowest row whose d_i or 1 / d_i is zero or infinite, and the lowest that is not
   * finite; both are lowered only. */
  gable_status (*relax)(const gik_rows *a, double omega, void *d, int *fault, void *stream);

  /* to[k] = source[from[k]], values of this type. */
  gable_status (*gather)(void *to, const void *source, const unsigned *from, unsigned count, gable_type type,
                         void *stream);

  /* to[i*to_step] = from[i*from_step]; from == NULL: zeros. */
  gable_status (*copy)(gable_idx n, gable_type type, const void *from, ptrdiff_t from_step, void *to, ptrdiff_t to_step,
                       void *stream);

  /* *sum = the sum of y_i^2; parts: [GIK_SQUARE_PARTS] scratch. */
  gable_status (*square)(gable_idx n, gable_type type, const void *y, double *parts, double *sum, void *stream);
};

#endif
