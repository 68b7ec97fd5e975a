/* forest_steps.c: see forest_steps.h. */
#include "forest_steps.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTION static inline
#define STEP(name) FUNCTION void name(gable_off i, const forest_arrays *a)
#define PLUS(x, y) ((x) + (y))
#define TIMES(x, y) ((x) * (y))
#define UNROLLED
#include "forest_steps.inc"

forest_arrays forest_arrays_at(const forest_arrays *a, char *block)
{
  forest_arrays to = *a;
  void *const all[] = {&to.order, &to.ptr, &to.col,   &to.val,   &to.x,   &to.r,     &to.q,
                       &to.b,     &to.p,   &to.lanes, &to.folds, &to.own, &to.parts, &to.s};
  to.block = block;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    char *at;
    memcpy(&at, all[k], sizeof at);
    at = block + (at - a->block);
    memcpy(all[k], &at, sizeof at);
  }
  return to;
}

/* Lanes [from, to) of (u, v), in the order of memory. */
static void sum_lanes(const forest_arrays *a, const double *u, const double *v, gable_off from, gable_off to)
{
  memset(a->lanes + from, 0, (size_t)(to - from) * sizeof *a->lanes);
  for (gable_off k = 0; k < a->n; k += FOREST_LANES)
    for (gable_off l = from; l < to && k + l < a->n; l++) a->lanes[l] = PLUS(a->lanes[l], TIMES(u[k + l], v[k + l]));
}

#define ALL(name)                                                                                                      \
  for (gable_off i = from; i < to; i++) name(i, a)

static void run_here(forest_step step, const forest_arrays *a, gable_off from, gable_off to)
{
  switch (step) {
  case FOREST_PRODUCT: ALL(product); break;
  case FOREST_START: ALL(start); break;
  case FOREST_LANE_PQ: sum_lanes(a, a->p, a->q, from, to); break;
  case FOREST_LANE_RR: sum_lanes(a, a->r, a->r, from, to); break;
  case FOREST_FOLD: ALL(fold); break;
  case FOREST_TOTAL: ALL(total); break;
  case FOREST_BEGIN: ALL(begin); break;
  case FOREST_UPDATE: ALL(update); break;
  case FOREST_DIRECTION: ALL(direction); break;
  case FOREST_ADVANCE: ALL(advance); break;
  }
}

static gable_status run_on_mirror(gable_context *ctx, forest_step step, const forest_arrays *a, gable_off from,
                                  gable_off to)
{
  char *copy = malloc(a->bytes);
  gable_status status = copy ? gable_device_copy_out(ctx, copy, a->block, a->bytes, NULL) : GABLE_ERR_MEMORY;
  if (!status) status = gable_device_synchronise(ctx, NULL);
  if (!status) {
    const forest_arrays here = forest_arrays_at(a, copy);
    run_here(step, &here, from, to);
    status = gable_device_copy_in(ctx, a->block, copy, a->bytes, NULL);
  }
  free(copy);
  return status;
}

gable_status forest_steps_run(gable_context *ctx, forest_step step, const forest_arrays *a, gable_off from,
                              gable_off to)
{
  if (from >= to) return GABLE_OK;
  if (!strncmp(gable_context_where(ctx), "cuda", 4)) return forest_steps_gpu(ctx, step, a, from, to);
  if (gable_context_space(ctx) == GABLE_SPACE_DEVICE) return run_on_mirror(ctx, step, a, from, to);
  run_here(step, a, from, to);
  return GABLE_OK;
}
