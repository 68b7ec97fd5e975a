/* cluster_dataflow.c: the tasks of both directions on the device, and the boards of their values. */
#include "supernodal/clusters/cluster_dataflow.h"

#include <string.h>

#include "kernels/supernodal/cluster_flow.h"
#include "supernodal/clusters/cluster_preparation.h"
#include "supernodal/clusters/cluster_tasks.h"

enum { DIRECTIONS = 2, WIDTHS = 3 };
static const double DEADLINE_S = 10; /* of one wait */
static const gable_idx WIDTH[] = {1, 4, 16};

/* Tasks of op N or T. */
typedef struct direction {
  gable_idx tasks;
  gable_idx blocks[WIDTHS], ring[WIDTHS];
  gable_off places, sources;
  gik_flow_at *at;
  gik_flow_source *source;
  unsigned char *records, *values;
} direction;

struct gi_cluster_dataflow {
  gable_context *ctx;
  const gi_cluster_panels *panels;
  const gik_cluster_flows *kernels;
  gik_flow_limits limits;
  direction way[DIRECTIONS];
  int shared;          /* op T is op N */
  double *coefficient; /* [2 off] -F by rows, then by columns */
  gable_off off;       /* entries of F */
  gable_off bytes, stream_bytes;
};

/* A board holds the values of one direction and width, with a control block of its own. */
struct gi_dataflow_work {
  double *board[DIRECTIONS][WIDTHS];
  gik_control *control; /* [DIRECTIONS][WIDTHS] */
};

/* ---- the values ---- */

/* -F in double, both ways, and the operators in the strips of each direction. */
static gable_status launch_update(gi_cluster_dataflow *f, void *stream)
{
  gable_status status = GABLE_OK;
  const gi_cluster_panels *p = f->panels;
  for (int side = 0; side < 2 && f->off; side++) {
    const gik_inverse_gather g = {.count = f->off,
                                  .type = p->type,
                                  .to_type = GABLE_TYPE_D,
                                  .from = p->off[side],
                                  .factor = -1,
                                  .to = f->coefficient + side * f->off};
    GI_TRY(f->ctx->device->kernels->cluster_inverses->gather(f->ctx, &g, stream));
  }
  for (int k = 0; k < DIRECTIONS; k++) {
    const direction *d = &f->way[k];
    const gik_flow_pack pack = {.sources = d->sources,
                                .source = d->source,
                                .type = p->type,
                                .operators = {p->lower, p->upper, p->inverse},
                                .packed = d->values};
    GI_TRY(f->kernels->pack(f->ctx, &pack, stream));
  }
done:
  return status;
}

gable_status gi_cluster_dataflow_update(gi_cluster_dataflow *f, void *stream)
{
  int before = GI_NOT_ENTERED;
  gable_status status = f->ctx->device->enter(f->ctx, &before);
  gi_kernels_begin(f->ctx);
  if (!status) status = launch_update(f, gi_stream_of(f->ctx, stream));
  gi_kernels_end(f->ctx);
  f->ctx->device->leave(f->ctx, before);
  return status;
}

/* ---- the tasks ---- */

static gi_task_plan plan_direction(const gi_cluster_dataflow *f, gable_op op, const gable_idx *source,
                                   const gable_idx *target)
{
  const gi_cluster_panels *p = f->panels;
  const gi_clusters *c = p->clusters;
  const int lu = p->upper_at != NULL, side = op == GABLE_OP_N ? 0 : 1;
  const gi_task_sweep lower = {&c->l, p->lower_at, 0, 0}, upper = {&c->u, p->upper_at, 0, 1};
  gi_task_plan plan = {.clusters = c,
                       .forward = lu && op == GABLE_OP_T ? upper : lower,
                       .backward = lu && op == GABLE_OP_N ? upper : lower,
                       .inverse = {NULL, p->inverse_at, lu && op == GABLE_OP_T, 2},
                       .source = source,
                       .target = target,
                       .off_ptr = p->off_ptr[side],
                       .off_col = p->off_col[side],
                       .off_at = side * f->off,
                       .type = p->type,
                       .limits = f->limits};
  plan.forward.transposed = lu && op == GABLE_OP_T;
  plan.backward.transposed = !lu || op == GABLE_OP_T;
  return plan;
}

static gable_status tasks_to_device(gi_cluster_dataflow *f, direction *d, const gi_cluster_tasks *t)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = f->ctx;
  const gik_flow_at end = t->at[t->count];
  int before = GI_NOT_ENTERED;
  d->tasks = t->count;
  d->places = t->places;
  d->sources = t->sources;
  GI_TRY(gi_cluster_list_to_device(ctx, f->panels, t->at, t->count + 1, sizeof *t->at, (void **)&d->at, &f->bytes));
  GI_TRY(gi_cluster_list_to_device(ctx, f->panels, t->records, end.record, 1, (void **)&d->records, &f->bytes));
  GI_TRY(gi_cluster_list_to_device(ctx, f->panels, t->source, t->sources, sizeof *t->source, (void **)&d->source,
                                   &f->bytes));
  GI_TRY(gi_cluster_to_device(ctx, NULL, end.values, 1, (void **)&d->values, &f->bytes));
  GI_TRY(ctx->device->enter(ctx, &before));
  for (int k = 0; k < WIDTHS; k++) {
    gik_cluster_flow p = {.tasks = d->tasks, .limits = f->limits, .type = f->panels->type, .rhs = WIDTH[k]};
    GI_TRY(f->kernels->prepare(ctx, &p));
    d->blocks[k] = p.blocks;
    d->ring[k] = p.ring;
  }
done:
  ctx->device->leave(ctx, before);
  return status;
}

static gable_status read_limits(gi_cluster_dataflow *f)
{
  int before = GI_NOT_ENTERED;
  gable_status status = f->ctx->device->enter(f->ctx, &before);
  if (!status) status = f->kernels->limits(f->ctx, &f->limits);
  f->ctx->device->leave(f->ctx, before);
  return status;
}

static gable_status make_directions(gi_cluster_dataflow *f, const gi_cluster_outside *o)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = f->ctx;
  const gi_clusters *c = f->panels->clusters;
  gable_idx *rows = NULL, *cols = NULL;
  gi_cluster_tasks tasks[DIRECTIONS] = {{0}};
  GI_ALLOC(ctx, rows, c->n);
  GI_ALLOC(ctx, cols, c->n);
  for (gable_idx k = 0; k < c->n; k++) {
    rows[k] = o->row_perm ? o->row_perm[c->order[k]] : c->order[k];
    cols[k] = o->col_perm ? o->col_perm[c->order[k]] : c->order[k];
  }
  f->shared = f->panels->kind != GI_LU && !memcmp(rows, cols, (size_t)c->n * sizeof *rows);
  const gi_task_plan plan[DIRECTIONS] = {plan_direction(f, GABLE_OP_N, rows, cols),
                                         plan_direction(f, GABLE_OP_T, cols, rows)};
  const int directions = f->shared ? 1 : DIRECTIONS;
  GI_TRY(gi_cluster_tasks_init(ctx, plan, directions, tasks));
  for (int k = 0; k < directions; k++) GI_TRY(tasks_to_device(f, &f->way[k], &tasks[k]));
  f->stream_bytes = tasks[0].at[tasks[0].count].record + tasks[0].at[tasks[0].count].values;
done:
  for (int k = 0; k < DIRECTIONS; k++) gi_cluster_tasks_release(ctx, &tasks[k]);
  GI_FREE(ctx, rows, cols);
  return status;
}

gable_status gi_cluster_dataflow_create(gable_context *ctx, const gi_cluster_panels *panels,
                                        const gi_cluster_outside *outside, gi_cluster_dataflow **out)
{
  gable_status status = GABLE_OK;
  gi_cluster_dataflow *f = NULL;
  GI_ALLOC_ZERO(ctx, f, 1);
  f->ctx = ctx;
  f->panels = panels;
  f->kernels = ctx->device->kernels->cluster_flows;
  GI_TRY(read_limits(f));
  f->off = panels->off[0] ? panels->off_ptr[0][panels->clusters->n] : 0;
  GI_TRY(gi_cluster_to_device(ctx, NULL, 2 * f->off, sizeof *f->coefficient, (void **)&f->coefficient, &f->bytes));
  GI_TRY(make_directions(f, outside));
  *out = f;
  f = NULL;
done:
  gi_cluster_dataflow_destroy(ctx, &f);
  return status;
}

void gi_cluster_dataflow_destroy(gable_context *ctx, gi_cluster_dataflow **flow)
{
  gi_cluster_dataflow *f = flow ? *flow : NULL;
  if (!f) return;
  *flow = NULL;
  for (int k = 0; k < DIRECTIONS; k++) {
    ctx->device->release(ctx, f->way[k].at);
    ctx->device->release(ctx, f->way[k].records);
    ctx->device->release(ctx, f->way[k].source);
    ctx->device->release(ctx, f->way[k].values);
  }
  ctx->device->release(ctx, f->coefficient);
  gi_free(ctx, f);
}

gable_off gi_cluster_dataflow_bytes(const gi_cluster_dataflow *f)
{
  return f->bytes;
}

gable_off gi_cluster_dataflow_stream(const gi_cluster_dataflow *f)
{
  return f->stream_bytes;
}

/* ---- the boards ---- */

/* Both copies of a board become empty. */
static gable_status clear_board(const gi_cluster_dataflow *f, const gi_dataflow_work *w, int way, int width,
                                void *stream)
{
  const gable_off places = 2 * f->way[way].places * WIDTH[width];
  gi_kernels_begin(f->ctx);
  const gable_status status = f->kernels->clear(f->ctx, w->board[way][width], places, gi_stream_of(f->ctx, stream));
  gi_kernels_end(f->ctx);
  return status;
}

gable_status gi_dataflow_work_create(const gi_cluster_dataflow *f, gable_idx rhs, gi_dataflow_work **out)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = f->ctx;
  gik_control start[DIRECTIONS * WIDTHS];
  gi_dataflow_work *w = NULL;
  memset(start, 0, sizeof start);
  for (int k = 0; k < DIRECTIONS * WIDTHS; k++) start[k].fault_row = -1;
  GI_ALLOC_ZERO(ctx, w, 1);
  GI_TRY(ctx->device->alloc(ctx, sizeof start, (void **)&w->control));
  GI_TRY(ctx->device->copy_in(ctx, w->control, start, sizeof start, NULL));
  for (int way = 0; way < DIRECTIONS; way++)
    for (int k = 0; k < WIDTHS && WIDTH[k] <= rhs && !(way && f->shared); k++) {
      const gable_off places = 2 * f->way[way].places * WIDTH[k];
      GI_TRY(ctx->device->alloc(ctx, (size_t)places * sizeof(double), (void **)&w->board[way][k]));
      GI_TRY(clear_board(f, w, way, k, NULL));
    }
  GI_TRY(ctx->device->synchronise(ctx, NULL)); /* solves may run on other streams */
  *out = w;
  w = NULL;
done:
  gi_dataflow_work_destroy(ctx, &w);
  return status;
}

void gi_dataflow_work_destroy(gable_context *ctx, gi_dataflow_work **work)
{
  gi_dataflow_work *w = work ? *work : NULL;
  if (!w) return;
  *work = NULL;
  for (int way = 0; way < DIRECTIONS; way++)
    for (int k = 0; k < WIDTHS; k++) ctx->device->release(ctx, w->board[way][k]);
  ctx->device->release(ctx, w->control);
  gi_free(ctx, w);
}

gable_status gi_dataflow_solve(const gi_cluster_dataflow *f, gi_dataflow_work *w, const gi_dataflow_launch *launch)
{
  const int way = launch->op == GABLE_OP_N || f->shared ? 0 : 1;
  const int width = launch->rhs == 1 ? 0 : launch->rhs == 4 ? 1 : 2;
  const direction *d = &f->way[way];
  const gik_cluster_flow p = {
      .tasks = d->tasks,
      .at = d->at,
      .records = d->records,
      .values = d->values,
      .type = f->panels->type,
      .coefficient = f->coefficient,
      .places = d->places,
      .limits = f->limits,
      .blocks = d->blocks[width],
      .ring = d->ring[width],
      .rhs = launch->rhs,
      .count = launch->count,
      .board = w->board[way][width],
      .control = w->control + way * WIDTHS + width,
      .b = launch->b,
      .x = launch->x,
      .skip = launch->skip,
      .deadline_ns = (unsigned long long)((launch->deadline_s > 0 ? launch->deadline_s : DEADLINE_S) * 1e9)};
  gi_kernels_begin(f->ctx);
  const gable_status status = f->kernels->solve(f->ctx, &p, launch->stream);
  gi_kernels_end(f->ctx);
  return status;
}

gable_status gi_dataflow_work_check(const gi_cluster_dataflow *f, gi_dataflow_work *w, void *stream)
{
  gable_status status = GABLE_OK;
  gable_context *ctx = f->ctx;
  gik_control now[DIRECTIONS * WIDTHS];
  const int none = -1;
  int cluster = -1;
  GI_TRY(ctx->device->copy_out(ctx, now, w->control, sizeof now, stream));
  GI_TRY(ctx->device->synchronise(ctx, stream));
  for (int k = 0; k < DIRECTIONS * WIDTHS; k++) {
    if (now[k].fault_row < 0) continue;
    cluster = now[k].fault_row;
    GI_TRY(ctx->device->copy_in(ctx, &w->control[k].fault_row, &none, sizeof none, stream));
    GI_TRY(clear_board(f, w, k / WIDTHS, k % WIDTHS, stream));
  }
  if (cluster < 0) goto done;
  const gi_clusters *c = f->panels->clusters;
  const gable_idx *member = c->member + c->member_ptr[cluster], more = c->member_ptr[cluster + 1] - 1;
  GI_REQUIRE(0, GABLE_ERR_DEADLINE,
             "cluster %d of a solve (supernodes %d to %d) waits for a value that does not come: x is not the solution",
             cluster, *member, c->member[more]);
done:
  return status;
}
