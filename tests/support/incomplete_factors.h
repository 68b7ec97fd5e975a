/* incomplete_factors.h: ILUT factors of convection and diffusion on a grid, with permutations and scalings: panels
 * would store many of their zeros, so an import solves them element by element. */
#ifndef TEST_INCOMPLETE_FACTORS_H
#define TEST_INCOMPLETE_FACTORS_H

#include <gable/gable.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A square matrix by rows. */
typedef struct test_lists {
  gable_idx n;
  int64_t *ptr;
  gable_idx *idx;
  double *val;
} test_lists;

typedef struct test_triangle_plan {
  gable_trisolve *t;
  gable_trisolve_work *w;
} test_triangle_plan;

/* Factors of A with A' = (R A C)(row_order, col_order) = L U nearly; l without its ones. */
typedef struct incomplete_factors {
  gable_idx n;
  test_lists a_prime, a, l, u;
  gable_idx *row_order, *col_order;
  double *row_scale, *col_scale;
  gable_factors_view view;
  gable_matrix_view a_view, l_view, u_view; /* view points to the last two */
  test_triangle_plan lower, upper;          /* on the context that they were made with */
} incomplete_factors;

/* side^3 rows; entries below drop times the diagonal are left out. */
void incomplete_factors_make(gable_context *ctx, gable_idx side, double drop, incomplete_factors *g);
void incomplete_factors_free(incomplete_factors *g);

/* x [n] := op(T)^-1 x. */
void test_solve_by_plan(const test_triangle_plan *p, gable_idx n, gable_op op, double *x);

/* x = op(A)^-1 b nearly, by two plans and the definition of the factors. */
void incomplete_factors_by_plans(const incomplete_factors *g, gable_op op, const double *b, double *x);

/* Zeroed memory. */
void *test_room(size_t count, size_t size);

#ifdef __cplusplus
}
#endif

#endif
