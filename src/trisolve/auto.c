/* auto.c: chooses between serial and tiles by simulating both. */
#include <stdio.h>
#include <string.h>

#include "base/portable.h"
#include "trisolve/cpu.h"

/* Bytes that a solve reads up to which caches serve it; beyond, the natural order is read as one stream. */
static const double cached = 16e6;

/* The model is not exact: it knows no caches, which favour the natural order where memory is read. */
int gi_worth_interleaving(const gi_pattern *p, double tiles_s, double serial_s)
{
  const double bytes = 12.0 * (double)p->rows.ptr[p->rows.n] + 40.0 * p->rows.n;
  return serial_s > (bytes < cached ? 1.15 : 2.1) * tiles_s;
}

/* Several threads have to promise so much; where they do not keep it, tiles go on one thread (tiles.c). */
static double promise(int threads)
{
  return threads == 2 ? 1.1 : 1.3;
}

static int takes_tiles(const gi_pattern *p, int threads, double tiles_s, double serial_s)
{
  return threads == 1 ? gi_worth_interleaving(p, tiles_s, serial_s) : serial_s > promise(threads) * tiles_s;
}

gable_status gi_auto_build(gable_context *ctx, const gi_pattern *p, gable_type value_type, gi_side *side)
{
  gable_status status = GABLE_OK;
  const gi_side fresh = *side;
  double tiles_s, serial_s;
  char seen[160];
  int threads;
  if (side->threads > omp_get_num_procs()) side->threads = omp_get_num_procs(); /* threads taking turns only wait */
  side->method = &gi_cpu_tiles; /* before build: it knows how to release what a build left behind */
  GI_TRY(gi_cpu_tiles.build(ctx, p, value_type, side));
  tiles_s = side->model_s;
  serial_s = side->serial_model_s;
  threads = side->threads;
  snprintf(seen, sizeof seen,
           "%d levels, %.0f rows and %.0f entries each; model: serial %.3g ms, tiles on %d thread%s %.3g ms",
           side->levels, (double)p->rows.n / (side->levels > 0 ? side->levels : 1),
           (double)p->rows.ptr[p->rows.n] / (side->levels > 0 ? side->levels : 1), 1e3 * serial_s, threads,
           threads == 1 ? "" : "s", 1e3 * tiles_s);
  if (!takes_tiles(p, threads, tiles_s, serial_s)) {
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
