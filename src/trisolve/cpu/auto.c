/* auto.c: tiles, or serial where tiles would do the same. */
#include <stdio.h>

#include "base/portable.h"
#include "trisolve/cpu/cpu.h"

static const char *order_of(const gi_op_plan *s, char *text, size_t room)
{
  if (s->width)
    snprintf(text, room, "windows of %d", s->width);
  else
    snprintf(text, room, "%s",
             s->reordered                ? "interleaved"
             : s->alone_s < s->natural_s ? "natural in runs"
                                         : "natural");
  return text;
}

gable_status gi_auto_build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_op_plan *op_plan)
{
  gable_status status = GABLE_OK;
  const gi_op_plan fresh = *op_plan;
  char seen[200], order[24];
  if (op_plan->threads > omp_get_num_procs())
    op_plan->threads = omp_get_num_procs(); /* threads taking turns only wait */
  op_plan->method = &gi_cpu_tiles;          /* before build: it knows how to release what a build left behind */
  op_plan->sparing = 1;
  GI_TRY(gi_cpu_tiles.build(ctx, p, value_type, op_plan));
  snprintf(seen, sizeof seen,
           "%d levels, %.0f rows and %.0f entries each; one thread timed: natural %.3g ms, %s %.3g ms; model: serial "
           "%.3g ms, %d thread%s %.3g ms",
           op_plan->levels, (double)p->rows.n / (op_plan->levels > 0 ? op_plan->levels : 1),
           (double)p->rows.ptr[p->rows.n] / (op_plan->levels > 0 ? op_plan->levels : 1), 1e3 * op_plan->natural_s,
           order_of(op_plan, order, sizeof order), 1e3 * op_plan->alone_s, 1e3 * op_plan->serial_model_s,
           op_plan->threads, op_plan->threads == 1 ? "" : "s", 1e3 * op_plan->model_s);
  if (op_plan->as_serial) {
    const double serial_s = op_plan->serial_model_s;
    gable_idx *level = op_plan->level;
    op_plan->level = NULL;
    gi_op_plan_release(ctx, op_plan);
    *op_plan = fresh;
    op_plan->level = level;
    op_plan->method = &gi_cpu_serial;
    GI_TRY(gi_cpu_serial.build(ctx, p, value_type, op_plan));
    op_plan->model_s = op_plan->serial_model_s = serial_s;
  }
  snprintf(op_plan->why, sizeof op_plan->why, "%s: %s", seen, op_plan->method->name);
done:
  return status;
}
