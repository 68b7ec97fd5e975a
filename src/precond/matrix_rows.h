/* matrix_rows.h: a square matrix of doubles by rows where the context runs, its values replaced without reading the
 * pattern again. */
#ifndef GI_MATRIX_ROWS_H
#define GI_MATRIX_ROWS_H

#include "smooth/resident_csr.h"
#include "sparse/csc.h"

typedef struct gi_matrix_rows {
  gable_idx n;
  int on_device;          /* 1: device, in the memory of a GPU; 0: host and from */
  gi_csc host;            /* its columns are the rows of the matrix */
  gable_off *from;        /* [nnz] place of each entry in the caller's values; NULL: their order */
  gi_resident_csr device; /* 32-bit offsets */
} gi_matrix_rows;

/* The pattern of a, whose value_type is double and whose part is full.  need_diagonal: on a GPU a row without a
 * diagonal entry is GABLE_ERR_SINGULAR.  out must be zeroed, and is released by its owner even after an error. */
gable_status gi_matrix_rows_init(gable_context *ctx, const gable_matrix_view *a, int need_diagonal,
                                 gi_matrix_rows *out);

/* Values in the order and the memory of the matrix that init saw; on a GPU on stream. */
gable_status gi_matrix_rows_update(gable_context *ctx, gi_matrix_rows *r, const void *val, void *stream);

/* y = A x in the memory of the place; on a GPU on stream, without a wait.  The same bits for any number of threads.
 */
gable_status gi_matrix_rows_multiply(const gi_matrix_rows *r, int threads, const double *x, double *y, void *stream);

/* The pattern by rows, in the memory of the place; values are those of gi_matrix_rows_values. */
gable_matrix_view gi_matrix_rows_view(const gi_matrix_rows *r);
gable_matrix_view gi_rows_view(const gi_csc *rows); /* of the columns of rows as rows, in host memory */
size_t gi_rows_bytes(const gi_csc *rows);           /* of its arrays; 0 of a zeroed one */

/* The values of the last update, in the order of the pattern and the memory of the place; their number. */
const double *gi_matrix_rows_values(const gi_matrix_rows *r);
gable_off gi_matrix_rows_nnz(const gi_matrix_rows *r);

/* What kernels take of it; *wide: its 64-bit offsets, where there are no others, else NULL (gik_incomplete.wide). */
gik_rows gi_matrix_rows_for_kernels(const gi_matrix_rows *r, const gable_off **wide);
gik_rows gi_rows_for_kernels(const gi_csc *rows); /* without offsets, which are rows->ptr */

/* Bytes of its arrays, added to what is there; and at most, for n rows and nnz entries. */
void gi_matrix_rows_add_bytes(const gi_matrix_rows *r, size_t *host, size_t *device);
void gi_matrix_rows_add_bound(const gable_context *ctx, gable_idx n, gable_off nnz, size_t *host, size_t *device);

/* Rows in host memory: d [n] = diag(A).  *bad_row: the lowest row whose diagonal entry is missing, zero or not finite,
 * or has no finite reciprocal; -1: none. */
void gi_matrix_rows_diagonal(const gi_matrix_rows *r, double *d, gable_idx *bad_row);

void gi_matrix_rows_release(gable_context *ctx, gi_matrix_rows *r); /* fine on a zeroed one, and twice */

#endif
