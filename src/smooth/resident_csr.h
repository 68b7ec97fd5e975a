/* resident_csr.h: a square matrix by rows, in the memory of the context's place. */
#ifndef GI_TRISOLVE_WHOLE_ROWS_H
#define GI_TRISOLVE_WHOLE_ROWS_H

#include "kernels/sparse/row_product.h"
#include "trisolve/plan.h"

typedef struct gi_resident_csr {
  const gik_row_products *kernels;
  gable_space space;        /* of the arrays, all in the memory of the context's device */
  gik_rows a;               /* what the kernels see: the arrays below */
  unsigned *ptr, *diagonal; /* [n+1], [n] */
  gable_idx *idx;           /* [nnz] */
  unsigned *from;           /* [nnz] place of each entry in the caller's values; NULL: their order */
  void *val, *caller_val;   /* [nnz]; caller_val: room for values that are gathered, or NULL */
  int symmetric;            /* 1: the pattern is */
  int takes_host_values;    /* 1: the caller's values come from host memory, and this place has its own */
} gi_resident_csr;

/* The pattern of a, which shape describes.  GABLE_ERR_ARGUMENT: an index out of range or out of order;
 * GABLE_ERR_SINGULAR: a row without a diagonal entry, when need_diagonal; each with *bad_row (-1: none).  O(nnz log
 * of a row) by the device's kernels where a lies by rows; columns are transposed on the host.  out must be zeroed; what
 * is there after an error is released by its owner. */
gable_status gi_resident_csr_init(gable_context *ctx, const gi_shape *shape, const gable_matrix_view *a,
                                  int need_diagonal, gable_idx *bad_row, gi_resident_csr *out);

/* Values in the order and the memory space of the analysed matrix. */
gable_status gi_resident_csr_update(gable_context *ctx, gi_resident_csr *w, const void *val, void *stream);

/* Bytes of its arrays; at most, for n rows and nnz entries where it may have all of them. */
size_t gi_resident_csr_bytes(const gi_resident_csr *w);
size_t gi_resident_csr_bound(gable_idx n, gable_off nnz, gable_type value_type);

/* The matrix as a view for plans of this context: by rows, 32-bit offsets, in the memory of the place. */
gable_matrix_view gi_resident_csr_view(const gi_resident_csr *w);

/* Fine on a zeroed one, and twice. */
void gi_resident_csr_release(gable_context *ctx, gi_resident_csr *w);

#endif
