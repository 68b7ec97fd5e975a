/* serial.c: substitution in the natural order on one thread, with reciprocal diagonals. */
#include "trisolve/cpu/cpu.h"

static gable_status build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_op_plan *op_plan)
{
  gable_status status = GABLE_OK;
  const gable_idx n = p->rows.n;
  gable_idx *order = NULL;
  GI_ALLOC(ctx, order, n);
  for (gable_idx k = 0; k < n; k++) order[k] = gi_natural(&p->rows, k);
  GI_TRY(gi_lists_build(ctx, &p->rows, order, value_type, 0, &op_plan->lists));
  op_plan->threads = 1;
done:
  gi_free(ctx, order);
  return status;
}

static void run(gi_run *r)
{
  r->kernels->rows(&r->op_plan->lists.m, 0, r->op_plan->lists.m.n, 0, r->v);
}

const gi_cpu_method gi_cpu_serial = {.name = "serial", .build = build, .run = run};
