/* bench_solver_gable.c: methods of Gable's, solving and sweeping. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_solver.h"
#include "stopwatch.h"

typedef struct solver {
  gable_trisolve *plan;
  gable_trisolve_work *work;
  gable_smoother *smoother;
  gable_op op;
} solver;

/* The reason of the last failure, one line. */
static int failed(contest_entry *e)
{
  snprintf(e->why, sizeof e->why, "%s", gable_last_error());
  return -1;
}

static gable_matrix_view view_of(const bench_problem *p)
{
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  a.n_rows = a.n_cols = p->rows->n;
  a.offset_type = GABLE_TYPE_I32;
  a.value_type = p->shape.values;
  a.part = p->rows->part;
  a.space = gable_context_space(p->ctx);
  a.ptr = p->ptr;
  a.idx = p->idx;
  return a;
}

/* Seconds of an update, with whatever it leaves to be done on the default stream. */
static gable_status timed_update(const bench_problem *p, gable_trisolve *plan, double *seconds)
{
  gable_event *begin = NULL, *end = NULL;
  gable_status status = gable_event_create(p->ctx, &begin);
  if (!status) status = gable_event_create(p->ctx, &end);
  if (!status) status = gable_event_record(begin, NULL);
  if (!status) status = gable_trisolve_update(plan, p->val);
  if (!status) status = gable_event_record(end, NULL);
  if (!status) status = gable_event_elapsed(begin, end, seconds);
  gable_event_destroy(&begin);
  gable_event_destroy(&end);
  return status;
}

static int gable_prepare(bench_solver *c, const bench_problem *p, contest_entry *e)
{
  solver *s = c->state;
  gable_trisolve_options o = GABLE_TRISOLVE_OPTIONS_INIT;
  const gable_matrix_view a = view_of(p);
  s->op = p->shape.op;
  o.method = c->name;
  o.solves = 0; /* many: analysis has a column of its own */
  o.ops = p->shape.both_ops ? 0 : p->shape.op == GABLE_OP_T ? GABLE_TRISOLVE_T : GABLE_TRISOLVE_N;
  o.typical_rhs = p->bench.x.count;
  gable_status status = gable_trisolve_create(p->ctx, &o, &s->plan);
  for (int twice = 0; twice < 2 && !status; twice++) {
    const double start = stopwatch_now();
    status = gable_trisolve_analyse(s->plan, &a);
    if (!status) status = gable_device_synchronise(p->ctx, NULL);
    e->analyse_s = stopwatch_now() - start;
  }
  for (int twice = 0; twice < 2 && !status; twice++) status = timed_update(p, s->plan, &e->update_s);
  if (!status) status = gable_trisolve_work_create(s->plan, p->bench.x.count, &s->work);
  if (!status) status = gable_trisolve_work_set_stream(s->work, p->bench.stream);
  return status ? failed(e) : 0;
}

static int gable_solve(bench_solver *c, const bench_problem *p, int turn)
{
  solver *s = c->state;
  gable_vectors_view x = p->bench.there_x;
  return gable_trisolve_solve(s->plan, s->work, s->op, &p->bench.there_b[turn], &x) ? -1 : 0;
}

static int gable_verdict(bench_solver *c, contest_entry *e)
{
  solver *s = c->state;
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  if (gable_trisolve_work_status(s->work, NULL) || gable_trisolve_get_info(s->plan, s->op, &info)) return failed(e);
  memcpy(e->used, info.method_used, sizeof e->used);
  memcpy(e->why, info.why, sizeof e->why);
  return 0;
}

static void clear(bench_solver *c)
{
  solver *s = c->state;
  gable_trisolve_work_destroy(&s->work);
  gable_trisolve_destroy(&s->plan);
  gable_smoother_destroy(&s->smoother);
}

static int bench_solver_of(const char *method, bench_solver *c)
{
  *c = (bench_solver){.name = method, .start = 0xff, .clear = clear};
  c->state = calloc(1, sizeof(solver));
  return c->state != NULL;
}

int bench_solver_gable(const char *method, bench_solver *c)
{
  const int rc = bench_solver_of(method, c);
  c->prepare = gable_prepare;
  c->solve = gable_solve;
  c->verdict = gable_verdict;
  return rc;
}

static int sweeps_prepare(bench_solver *c, const bench_problem *p, contest_entry *e)
{
  solver *s = c->state;
  gable_smoother_options o = GABLE_SMOOTHER_OPTIONS_INIT;
  const gable_matrix_view a = view_of(p);
  o.method = c->name;
  o.sweep = GABLE_SWEEP_SYMMETRIC;
  o.solves = 0; /* many */
  gable_status status = gable_smoother_create(p->ctx, &o, &s->smoother);
  if (!status) status = gable_smoother_set_stream(s->smoother, p->bench.stream);
  for (int twice = 0; twice < 2 && !status; twice++) {
    double start = stopwatch_now();
    status = gable_smoother_analyse(s->smoother, &a);
    if (!status) status = gable_device_synchronise(p->ctx, NULL);
    e->analyse_s = stopwatch_now() - start;
    start = stopwatch_now();
    if (!status) status = gable_smoother_update(s->smoother, p->val);
    if (!status) status = gable_device_synchronise(p->ctx, p->bench.stream);
    e->update_s = stopwatch_now() - start;
  }
  return status ? failed(e) : 0;
}

static int sweeps_solve(bench_solver *c, const bench_problem *p, int turn)
{
  solver *s = c->state;
  gable_vectors_view x = p->bench.there_x;
  return gable_smoother_apply(s->smoother, &p->bench.there_b[turn], &x, 1, NULL) ? -1 : 0;
}

static int sweeps_verdict(bench_solver *c, contest_entry *e)
{
  solver *s = c->state;
  gable_smoother_info info = GABLE_SMOOTHER_INFO_INIT;
  if (gable_smoother_status(s->smoother, NULL) || gable_smoother_get_info(s->smoother, &info)) return failed(e);
  memcpy(e->used, info.method_used, sizeof e->used);
  memcpy(e->why, info.why, sizeof e->why);
  return 0;
}

int bench_solver_sweeps(const char *method, bench_solver *c)
{
  const int rc = bench_solver_of(method, c);
  c->start = 0;
  c->prepare = sweeps_prepare;
  c->solve = sweeps_solve;
  c->verdict = sweeps_verdict;
  return rc;
}
