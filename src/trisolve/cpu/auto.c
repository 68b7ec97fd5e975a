/* auto.c: tiles, or serial where tiles would do the same. */
#include <stdio.h>

#include "base/portable.h"
#include "trisolve/cpu/cpu.h"

static const char *order_of(const gi_side *s, char *text, size_t room)
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

gable_status gi_auto_build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_side *side)
{
  gable_status status = GABLE_OK;
  const gi_side fresh = *side;
  char seen[200], order[24];
  if (side->threads > omp_get_num_procs()) side->threads = omp_get_num_procs(); /* threads taking turns only wait */
  side->method = &gi_cpu_tiles; /* before build: it knows how to release what a build left behind */
  side->sparing = 1;
  GI_TRY(gi_cpu_tiles.build(ctx, p, value_type, side));
  snprintf(seen, sizeof seen,
           "%d levels, %.0f rows and %.0f entries each; one thread timed: natural %.3g ms, %s %.3g ms; model: serial "
           "%.3g ms, %d thread%s %.3g ms",
           side->levels, (double)p->rows.n / (side->levels > 0 ? side->levels : 1),
           (double)p->rows.ptr[p->rows.n] / (side->levels > 0 ? side->levels : 1), 1e3 * side->natural_s,
           order_of(side, order, sizeof order), 1e3 * side->alone_s, 1e3 * side->serial_model_s, side->threads,
           side->threads == 1 ? "" : "s", 1e3 * side->model_s);
  if (side->as_serial) {
    const double serial_s = side->serial_model_s;
    gable_idx *level = side->level;
    side->level = NULL;
    gi_side_release(ctx, side);
    *side = fresh;
    side->level = level;
    side->method = &gi_cpu_serial;
    GI_TRY(gi_cpu_serial.build(ctx, p, value_type, side));
    side->model_s = side->serial_model_s = serial_s;
  }
  snprintf(side->why, sizeof side->why, "%s: %s", seen, side->method->name);
done:
  return status;
}
