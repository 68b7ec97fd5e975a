/* triangles.h: lower triangles of many shapes for the tests of triangular solves, and the written bound. */
#ifndef TEST_TRIANGLES_H
#define TEST_TRIANGLES_H

#include <gable/gable.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A square matrix by rows, base 0; lower triangular with its diagonal unless said otherwise. */
typedef struct test_triangle {
  gable_idx n;
  int64_t *ptr;   /* [n+1] */
  gable_idx *idx; /* [ptr[n]] increasing within a row */
  double *val;    /* [ptr[n]] rows sum to less than 1 beside a diagonal between 1 and 2 */
} test_triangle;

/* The shapes by number, 0 up to the first for which the name is NULL. */
const char *test_triangle_name(int kind);
test_triangle test_triangle_make(int kind, uint64_t seed);
/* The same with at most so many rows. */
test_triangle test_triangle_make_small(int kind, uint64_t seed, gable_idx most);
/* The shape of this name. */
test_triangle test_triangle_named(const char *name, uint64_t seed);
test_triangle test_triangle_named_small(const char *name, uint64_t seed, gable_idx most);
void test_triangle_set_diagonal(test_triangle *t, double value);
/* Its lower part; borrows. */
gable_matrix_view test_triangle_view(const test_triangle *t);
test_triangle test_triangle_transpose(const test_triangle *t);
void test_triangle_free(test_triangle *t);

/* The largest |b - op(T) x|_i over 4 nnz_i eps (|T||x| + |b|)_i with eps 2^-53 or 2^-24, T by rows.  Entries (i,0) at
 * i*stride.  Infinite when x has a NaN. */
double test_bound_ratio(const test_triangle *t, const double *x, const double *b, ptrdiff_t stride, int is_float);

#ifdef __cplusplus
}
#endif

#endif
