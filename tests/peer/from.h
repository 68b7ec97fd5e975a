/* from.h: somebody else's factorization, for foreign_factors.c.  One program for each library. */
#ifndef FROM_H
#define FROM_H

#include <gable/gable.h>

typedef struct from_matrix { /* by columns, from 0 */
  int n;
  int *ptr, *idx;
  double *val;
} from_matrix;

extern const char *const from_name;

/* Factors a and says what came out; the arrays are the program's, never freed.  0: done. */
int from_factor(const from_matrix *a, gable_factors_view *f);

#endif
