/* teams.h: how several threads share a solve: the candidates, and their lists.  For tiles.c. */
#ifndef GI_TRISOLVE_TEAMS_H
#define GI_TRISOLVE_TEAMS_H

#include "trisolve/cpu/cpu.h"
#include "trisolve/cpu/interleave.h"
#include "trisolve/cpu/orders.h"
#include "trisolve/cpu/tiles.h"

/* What candidates are made from: the graph of blocks, or of rows where there are none. */
typedef struct gi_team_problem {
  gable_context *ctx;
  gi_block_order_problem order;
  const gi_levels *levels;    /* of the graph */
  const gi_interleaved *base; /* an order of it */
  gi_row_cost_model *row_cost;
  gable_off size_by; /* entries of the triangle for each one of the graph */
  gable_idx window;  /* blocks of a tile that are sorted together at most; 0: all */
} gi_team_problem;

enum { GI_TEAM_PLANS = 3 };

/* The best plans for so many threads, two at least, as the model sees them: plans[0] first, model_s with the launch;
 * *count of them. */
gable_status gi_team_plans(const gi_team_problem *p, int threads, gi_tiles *plans, int *count);

/* Takes the tiles: schedule, lists and counters of op_plan from them. */
gable_status gi_tiles_adopt(const gi_team_problem *p, gi_tiles *tiles, gi_op_plan *op_plan);

/* What gi_tiles_adopt has made; leaves the rest of op_plan.  Fine where there is nothing. */
void gi_tiles_drop(gable_context *ctx, gi_op_plan *op_plan);

#endif
