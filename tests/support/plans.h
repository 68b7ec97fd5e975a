/* plans.h: from a matrix to a plan that can solve, for tests that want to see any of the steps fail. */
#ifndef TEST_PLANS_H
#define TEST_PLANS_H

#include <gable/gable.h>

/* A triangular solve by a method, with room for one right-hand side. */
typedef struct test_plan {
  gable_trisolve *solve;
  gable_trisolve_work *work;
} test_plan;

/* The status of the first step that fails; the caller destroys what is there in any case. */
gable_status test_plan_create(gable_context *ctx, const gable_matrix_view *view, const double *val, const char *method,
                              test_plan *out);
void test_plan_destroy(test_plan *p);

/* The same for Gauss-Seidel sweeps; the caller destroys *out. */
gable_status test_smoother_create(gable_context *ctx, const gable_matrix_view *view, const double *val,
                                  const char *method, gable_smoother **out);

#endif
