/* plans.c: see plans.h. */
#include "support/plans.h"

gable_status test_plan_create(gable_context *ctx, const gable_matrix_view *view, const double *val, const char *method,
                              test_plan *out)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  *out = (test_plan){0};
  options.method = method;
  options.solves = 0;
  gable_status status = gable_trisolve_create(ctx, &options, &out->solve);
  if (!status) status = gable_trisolve_analyse(out->solve, view);
  if (!status) status = gable_trisolve_update(out->solve, val);
  if (!status) status = gable_trisolve_work_create(out->solve, 1, &out->work);
  return status;
}

void test_plan_destroy(test_plan *p)
{
  gable_trisolve_work_destroy(&p->work);
  gable_trisolve_destroy(&p->solve);
}

gable_status test_smoother_create(gable_context *ctx, const gable_matrix_view *view, const double *val,
                                  const char *method, gable_smoother **out)
{
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  *out = NULL;
  options.method = method;
  options.solves = 0;
  gable_status status = gable_smoother_create(ctx, &options, out);
  if (!status) status = gable_smoother_analyse(*out, view);
  if (!status) status = gable_smoother_update(*out, val);
  return status;
}
