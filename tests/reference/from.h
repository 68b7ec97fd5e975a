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
extern const int from_definite; /* 1: it factors positive definite matrices alone */

extern int from_sign; /* -1: the last factor is that of -A */

/* Factors a, in the way number k of the package's, and keeps the factor until the next call.  0: done; -1: there is no
 * such way. */
int from_factor(const from_matrix *a, int k);

/* The adapter's import of that factor; v may be NULL. */
gable_status from_import(gable_solver *s, const gable_matrix_view *v);

/* What the adapters take instead of malloc and calloc: from_left allocations from now on, one that fails, and then all
 * again; negative: none fails. */
extern long from_left;
void *from_malloc(size_t bytes);
void *from_calloc(size_t count, size_t bytes);

/* x = A^-1 b by the package.  0: done. */
int from_solve(const double *b, double *x);

/* The package's supernodes: their number, 0 where it has none; *first [+1]: the first column of each, *column: the
 * column of A that stands at each place. */
int from_supernodes(const int **first, const int **column);

/* What the adapter must refuse, tried on s; returns what is wrong, or NULL. */
const char *from_refuses(gable_solver *s);

#endif
