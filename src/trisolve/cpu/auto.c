/* auto.c: tiles, or serial where tiles would do the same or could not earn their analysis. */
#include <stdio.h>

#include "base/portable.h"
#include "trisolve/cpu/cpu.h"
#include "trisolve/cpu/row_cost_model.h"

/* Seconds for each row and entry that tiles take to be found: 125 to 270 ns on one x86-64 server core at 2.6 GHz
 * (G2_circuit, bcsstk18, cage10, xenon1). */
static const double tiles_find_s = 150e-9;

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

/* Serial in place of what op_plan holds; fresh: how it was handed over, without its levels of rows. */
static gable_status take_serial(gable_context *ctx, const gi_pattern *p, gable_type value_type, const gi_op_plan *fresh,
                                double seconds, gi_op_plan *op_plan)
{
  gable_status status = GABLE_OK;
  gable_idx *level = op_plan->level;
  op_plan->level = NULL;
  gi_op_plan_release(ctx, op_plan);
  *op_plan = *fresh;
  op_plan->level = level;
  op_plan->method = &gi_cpu_serial;
  GI_TRY(gi_cpu_serial.build(ctx, p, value_type, op_plan));
  op_plan->model_s = op_plan->serial_model_s = seconds;
done:
  return status;
}

/* Seconds of a solve by serial: no method can save more. */
static gable_status model_serial(gable_context *ctx, const gi_triangle *t, double *seconds)
{
  gable_status status = GABLE_OK;
  gi_row_cost_model model = {0};
  GI_TRY(gi_row_cost_model_init(ctx, t->n, t->ptr, t->col, &model));
  *seconds = gi_row_cost(&model, NULL, 0, t->n);
done:
  gi_row_cost_model_release(ctx, &model);
  return status;
}

gable_status gi_auto_build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_op_plan *op_plan)
{
  gable_status status = GABLE_OK;
  const gi_op_plan fresh = *op_plan;
  const double find_s = tiles_find_s * ((double)p->rows.n + (double)p->rows.ptr[p->rows.n]);
  double serial_s = 0;
  char seen[200], order[24];
  if (op_plan->solves) {
    GI_TRY(model_serial(ctx, &p->rows, &serial_s));
    if (find_s >= (double)op_plan->solves * serial_s) {
      GI_TRY(take_serial(ctx, p, value_type, &fresh, serial_s, op_plan));
      snprintf(op_plan->why, sizeof op_plan->why, "model: %.3g ms; %lld solves cannot earn %.3g ms for tiles: serial",
               1e3 * serial_s, (long long)op_plan->solves, 1e3 * find_s);
      goto done;
    }
  }
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
  if (op_plan->as_serial) GI_TRY(take_serial(ctx, p, value_type, &fresh, op_plan->serial_model_s, op_plan));
  snprintf(op_plan->why, sizeof op_plan->why, "%s: %s", seen, op_plan->method->name);
done:
  return status;
}
