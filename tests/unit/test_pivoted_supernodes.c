/* The supernodes after partial pivoting: few expected solves take wider ones with more zeros, many take fewer. */
#include "pipeline/pipeline.h"
#include "support/grid.h"
#include "support/test.h"

enum { SIDE = 14 };

static gable_context *ctx;

/* Numbers in the panels, zeros included. */
static double panel_values(gable_solver *s, gi_csc *columns, int64_t solves)
{
  gable_solver_options options = s->options;
  gi_arrangement a = {0};
  options.solves = solves;
  CHECK_OK(gi_arrange_pivots(ctx, columns, &options, 0.1, &s->arrangement, &a));
  const double values = (double)(a.layout->lval[a.layout->n_super] + a.layout->uval[a.layout->n_super]);
  gi_arrangement_release(ctx, &a);
  return values;
}

int main(void)
{
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  gable_solver *s = NULL;
  gi_csc box = {0};
  CHECK_OK(gable_context_create("cpu", NULL, &ctx));
  grid_matrix(ctx, SIDE, 0.3, &box);
  a.n_rows = a.n_cols = box.n_cols;
  a.ptr = box.ptr;
  a.idx = box.idx;
  a.val = box.val;
  options.method = GABLE_METHOD_LU;
  options.order = GABLE_ORDER_NATURAL;
  CHECK_OK(gable_solver_create(ctx, &options, &s));
  CHECK_OK(gable_solver_analyse(s, &a));
  const double few = panel_values(s, &box, 1), usual = panel_values(s, &box, 10), many = panel_values(s, &box, 1000);
  CHECK(few > usual && usual > many, "%g, %g and %g numbers", few, usual, many);
  CHECK(panel_values(s, &box, 100) == usual, "100 solves are not as 10");
  gable_solver_destroy(&s);
  gi_csc_release(ctx, &box);
  gable_context_destroy(&ctx);
  return 0;
}
