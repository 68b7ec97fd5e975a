/* triangle.h: one triangle of a matrix file, for the verbs about triangular solves: its view, right-hand sides that
 * change, and the written bound that a solution has to keep. */
#ifndef TOOL_TRIANGLE_H
#define TOOL_TRIANGLE_H

#include <gable/gable.h>

#include "session.h"

typedef struct triangle {
  gable_matrix *matrix; /* owned; both triangles */
  gable_matrix_view view;
  gable_part uplo;
  gable_type value_type; /* of what the solve is given */
  float *single;         /* [nnz] values in single precision, or NULL */
  gable_diag diag;
  void *diagonal;       /* [n] of value_type where diag is GABLE_DIAG_SEPARATE, else NULL */
  gable_off nnz;        /* in the triangle, the diagonal included */
  gable_off duplicates; /* of the file: refused when strict, else summed and said */
  char wrong[400];      /* after an error: what the tool itself found, or "" */
} triangle;

/* diag: GABLE_DIAG_SEPARATE makes a diagonal of 1.1 times the sum of magnitudes of its row and column, so that any
 * triangle is regular. */
gable_status triangle_open(session *s, const char *path, int strict, gable_part uplo, gable_type value_type,
                           gable_diag diag, triangle *out);
void triangle_close(triangle *t);

/* update of a plan with these values. */
gable_status triangle_update(const triangle *t, gable_trisolve *plan);

/* b(i,j) between -1 and 1, another in each round. */
void triangle_fill(gable_vectors_view *b, long round);

/* The largest |b - op(T) x|_i over 4 nnz_i eps (|T||x| + |b|)_i, eps 2^-53 or 2^-24 with the vectors' type, over all
 * right-hand sides; infinite for NaN, or when memory is short. */
double triangle_bound_ratio(const triangle *t, gable_op op, const gable_vectors_view *b, const gable_vectors_view *x);

#endif
