/* systems.h: square systems of many kinds for the tests of the solver, and the backward error by its definition. */
#ifndef TEST_SYSTEMS_H
#define TEST_SYSTEMS_H

#include <gable/gable.h>

/* By columns, base 0, both triangles. */
typedef struct test_system {
  gable_idx n;
  int64_t *ptr;   /* [n+1] */
  gable_idx *idx; /* [ptr[n]] increasing within a column */
  double *val;    /* [ptr[n]] */
} test_system;

typedef enum test_kind {
  TEST_DOMINANT,    /* unsymmetric, diagonally dominant */
  TEST_UNSYMMETRIC, /* random values, a random permutation of a full diagonal */
  TEST_REDUCIBLE,   /* a block triangle, permuted */
  TEST_SPD,         /* symmetric positive definite */
  TEST_NEGATIVE,    /* its negative */
  TEST_INDEFINITE,  /* symmetric, diagonal of both signs */
  TEST_SADDLE,      /* symmetric, zero diagonal block */
  TEST_WILD,        /* unsymmetric, rows and columns scaled by 1e-100 .. 1e100 */
  TEST_GROWTH,      /* static pivots grow: needs partial pivoting */
  TEST_PERMUTATION, /* one entry a row */
  TEST_DENSE,
  TEST_KINDS
} test_kind;

const char *test_kind_name(test_kind kind);
test_system test_system_make(test_kind kind, gable_idx n, uint64_t seed);
void test_system_free(test_system *a);

gable_matrix_view test_system_view(const test_system *a);
gable_vectors_view test_vectors(gable_idx n, gable_idx count, double *data);

/* A new solver that has analysed and factored v; options may be NULL; to be destroyed. */
gable_solver *test_factored(gable_context *ctx, const gable_matrix_view *v, const gable_solver_options *options);

/* A solver of a with a factor of other values, so that corrections by it stall; a gets the values.  To be destroyed. */
gable_solver *test_misfit(gable_context *ctx, test_system *a, const gable_solver_options *options);

/* max |b - op(A) x|_i / (|op(A)||x| + |b|)_i in long double, 0/0 = 0; tiny denominators are no excuse here. */
double test_backward_error(const test_system *a, gable_op op, const double *b, const double *x);

#endif
