/* sweep_rows.c: see sweep_rows.h.  One thread takes the rows in the order of their levels, so nothing waits: levels and
 * elements are the same loop, and published values are not used. */
#include "kernels/trisolve/sweep_rows.h"

#define BODY "kernels/trisolve/sweep_rows.inc"
#include "kernels/trisolve/each_type_pair.inc"

static gable_status sweep(const gik_rows *a, const gik_sweep_order *o, const gik_sweep *s)
{
  (a->value_type == GABLE_TYPE_D ? sweep_dd : s->type == GABLE_TYPE_D ? sweep_sd : sweep_ss)(a, o, s);
  return GABLE_OK;
}

static gable_status prepare(gik_control *control, void *published, gable_idx n, gable_type type, void *stream)
{
  (void)published;
  (void)n;
  (void)type;
  (void)stream;
  *control = (gik_control){.fault_row = -1};
  return GABLE_OK;
}

const gik_row_sweeps gik_row_sweeps_cpu = {sweep, sweep, prepare};
