/* factor_file.h: a saved factor taken apart, to be changed and put together again with right checksums. */
#ifndef TEST_FACTOR_FILE_H
#define TEST_FACTOR_FILE_H

#include "pipeline/store.h"

/* The arrays of a file, in their order. */
typedef enum factor_part {
  ROW_PERM,
  COL_PERM,
  R,
  C,
  SUPER,
  PARENT,
  LPTR,
  LROW,
  UPTR,
  UCOL,
  BLOCK,
  OFF_PTR,
  OFF_ROW,
  L,
  DINV,
  U,
  COUPLING,
  PIVOT,
  OFF,
  PARTS
} factor_part;

typedef struct factor_file {
  gi_store_header h;
  struct {
    char *bytes;
    size_t count, size; /* size 0: not there */
  } part[PARTS];
  size_t more; /* bytes behind the last part */
} factor_file;

/* An array of the file, which must be there and be of this type. */
gable_idx *indices(const factor_file *f, factor_part p);
gable_off *offsets(const factor_file *f, factor_part p);
double *reals(const factor_file *f, factor_part p);

/* What files are made from: a solver that has factored v by this method in this order. */
gable_solver *factor_file_source(gable_context *ctx, const gable_matrix_view *v, gable_method method,
                                 gable_order order);
/* x [n] := A^-1 b of the factor of s, n rows, for a b that is always the same; no refinement. */
void factor_file_sweep(gable_solver *s, gable_idx n, double *x);

/* What s saves; to be released. */
factor_file factor_file_of(const gable_solver *s);
void factor_file_release(factor_file *f);

/* *s: a new solver that has read f for the matrix v, or, when that is refused, nothing. */
gable_status factor_file_load(gable_context *ctx, factor_file *f, const gable_matrix_view *v, gable_solver **s);

#endif
