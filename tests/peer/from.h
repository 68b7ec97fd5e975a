/* from.h: somebody else's factorization, for foreign_factors.c.  One program for each library. */
#ifndef FROM_H
#define FROM_H

#include <gable/gable.h>

typedef struct from_matrix { /* by columns, from 0 */
  int n;
  int *ptr, *idx;
  double *val;
} from_matrix;

typedef struct from_columns {
  int *ptr, *idx;
  double *val;
} from_columns;

from_columns from_room(int n, int nnz);
void from_sort(int n, from_columns *c); /* rows increasing in each column */
gable_matrix_view from_view(int n, const from_columns *c);

extern const char *const from_name;
extern const int from_definite; /* 1: it factors positive definite matrices alone */

/* Factors a and says what came out; the arrays are the program's, never freed.  0: done. */
int from_factor(const from_matrix *a, gable_factors_view *f);

#endif
