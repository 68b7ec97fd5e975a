/* cmd_trisolve.c: one triangular solve, measured and checked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gable/gable.h>

#include "failure.h"
#include "json.h"
#include "options.h"
#include "report.h"
#include "session.h"
#include "stop.h"
#include "stopwatch.h"
#include "triangle.h"
#include "verbs.h"
#include "workbench.h"

typedef struct request {
  const char *path, *uplo, *op, *type, *method, *where, *layout, *diagonal, *json_path;
  long rhs, expected, repeat, threads;
  int time_candidates, strict;
} request;

typedef struct result {
  double first_s, bytes, worst;
  double plan_bound; /* bytes; NAN: not known */
  solve_floor floor;
  quartiles solve;
  gable_trisolve_info info;
} result;

static gable_op op_of(const request *q)
{
  return strcmp(q->op, "t") ? GABLE_OP_N : GABLE_OP_T;
}

static gable_diag diag_of(const request *q)
{
  return !strcmp(q->diagonal, "unit")      ? GABLE_DIAG_UNIT
         : strcmp(q->diagonal, "dominant") ? GABLE_DIAG_STORED
                                           : GABLE_DIAG_SEPARATE;
}

static gable_type vector_type_of(const request *q)
{
  return strcmp(q->type, "s") ? GABLE_TYPE_D : GABLE_TYPE_S;
}

static gable_vectors_view vectors_of(const request *q, gable_idx n)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.type = vector_type_of(q);
  v.n = n;
  v.count = (gable_idx)q->rhs;
  v.major = strcmp(q->layout, "row") ? GABLE_MAJOR_COL : GABLE_MAJOR_ROW;
  v.ld = v.major == GABLE_MAJOR_COL ? n : v.count;
  return v;
}

/* repeat solves; b changes and x is poisoned before each, and each x is held against the bound. */
static gable_status measure(gable_trisolve *plan, gable_trisolve_work *work, const triangle *t, const request *q,
                            workbench *w, result *r)
{
  double *times = malloc((size_t)(q->repeat + 1) * sizeof *times);
  gable_status status = times ? gable_trisolve_work_set_stream(work, w->stream) : GABLE_ERR_MEMORY;
  for (long k = 0; k <= q->repeat && !status; k++) {
    status = workbench_start(w, 0xff);
    if (!status) status = gable_trisolve_solve(plan, work, op_of(q), &w->there_b[k % 2], &w->there_x);
    if (!status) status = workbench_stop(w, &times[k]);
    if (!status) status = gable_trisolve_work_status(work, NULL);
    if (!status) status = workbench_fetch(w);
    if (!status && stop_asked()) status = GABLE_ERR_CANCELLED;
    if (status) break;
    double ratio = triangle_bound_ratio(t, op_of(q), &w->b[k % 2], &w->x);
    if (!(ratio <= r->worst)) r->worst = ratio;
  }
  if (!status) {
    r->first_s = times[0];
    r->solve = stopwatch_quartiles(times + 1, q->repeat);
  }
  free(times);
  return status;
}

/* A GPU's plan keeps all values of the matrix.  NAN: an error. */
static double plan_bound(const session *s, const gable_trisolve *plan, const triangle *t)
{
  const gable_off all = ((const int64_t *)t->view.ptr)[t->view.n_cols];
  const gable_off nnz = gable_context_space(s->ctx) == GABLE_SPACE_DEVICE ? all : t->nnz;
  size_t host = 0, device = 0;
  const gable_status status = gable_trisolve_plan_bound(plan, t->view.n_rows, nnz, t->view.value_type, &host, &device);
  return status ? NAN : (double)host + (double)device;
}

static gable_status run(session *s, const triangle *t, const request *q, result *r)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve *plan = NULL;
  gable_trisolve_work *work = NULL;
  workbench bench = {0};
  options.method = q->method;
  options.uplo = t->uplo;
  options.diag = t->diag;
  options.ops = op_of(q) == GABLE_OP_N ? GABLE_TRISOLVE_N : GABLE_TRISOLVE_T;
  options.time_candidates = q->time_candidates;
  options.typical_rhs = (gable_idx)q->rhs;
  options.solves = q->expected < 0 ? q->repeat : q->expected;
  gable_status status = gable_trisolve_create(s->ctx, &options, &plan);
  r->plan_bound = status ? NAN : plan_bound(s, plan, t);
  if (!status) status = gable_trisolve_analyse(plan, &t->view);
  if (!status) status = triangle_update(t, plan);
  if (!status && t->view.n_rows) status = triangle_update(t, plan); /* the second is the one that is reported */
  if (!status) status = gable_trisolve_work_create(plan, (gable_idx)q->rhs, &work);
  const gable_vectors_view shape = vectors_of(q, t->view.n_rows);
  if (!status) status = workbench_open(s->ctx, &shape, &bench);
  if (!status) status = measure(plan, work, t, q, &bench, r);
  if (!status) status = gable_trisolve_get_info(plan, op_of(q), &r->info);
  r->bytes = workbench_bytes(&shape, (double)t->nnz, t->value_type);
  if (!status) r->floor = workbench_floor(gable_context_where(s->ctx), r->bytes, r->info.levels, r->info.threads);
  gable_trisolve_work_destroy(&work);
  workbench_close(&bench);
  gable_trisolve_destroy(&plan);
  return status;
}

static double share_of(const result *r)
{
  return r->solve.median > 0 ? r->floor.s / r->solve.median : 0;
}

static void print(FILE *out, const request *q, const char *where, const triangle *t, const result *r)
{
  const double flops = 2.0 * (double)t->nnz * (double)q->rhs;
  fprintf(out, "%s, %s triangle, op %s, %s, %ld right-hand side%s, on %s\n", session_name(q->path), q->uplo, q->op,
          q->type, q->rhs, q->rhs == 1 ? "" : "s", where);
  report_line(out, "rows, entries", "%s, %s", human_count(r->info.n).s, human_count((double)r->info.nnz).s);
  if (r->info.widest > 0)
    report_line(out, "levels", "%s, the widest %s rows", human_count(r->info.levels).s, human_count(r->info.widest).s);
  else /* a GPU's schedule does not count the rows of a level */
    report_line(out, "levels", "%s", human_count(r->info.levels).s);
  if (strcmp(where, "cpu"))
    report_line(out, "vectors", "in its memory; the matrix comes from the host at analyse and update");
  report_line(out, "method", "%s on %d %s%s (%s)", r->info.method_used, r->info.threads,
              strcmp(where, "cpu") ? "lane" : "thread", r->info.threads == 1 ? "" : "s", r->info.why);
  report_line(out, "a solve does", "%s tiles, %s waits, %s barriers, %s atomics, %s launches",
              human_count((double)r->info.tiles).s, human_count((double)r->info.waits).s,
              human_count((double)r->info.barriers).s, human_count((double)r->info.atomics).s,
              human_count((double)r->info.launches).s);
  report_line(out, "analyse, update", "%s, %s", human_seconds(r->info.analyse_s).s, human_seconds(r->info.update_s).s);
  report_plan_bytes(out, (double)r->info.plan_bytes_host + (double)r->info.plan_bytes_device, r->plan_bound);
  report_line(out, "solve", "%s (first %s, quartiles %s to %s)", human_seconds(r->solve.median).s,
              human_seconds(r->first_s).s, human_seconds(r->solve.q1).s, human_seconds(r->solve.q3).s);
  report_line(out, "rate", "%s, %s", human_rate(flops / r->solve.median, "flop").s,
              human_rate(r->bytes / r->solve.median, "B").s);
  if (r->floor.hops_s > 0)
    report_line(out, "floor", "%s: bytes %s, a hop for each level %s; %.0f%% of it is reached",
                human_seconds(r->floor.s).s, human_seconds(r->floor.bytes_s).s, human_seconds(r->floor.hops_s).s,
                100 * share_of(r));
  else
    report_line(out, "floor", "%s to read the bytes; %.0f%% of it is reached", human_seconds(r->floor.s).s,
                100 * share_of(r));
  report_line(out, "error over bound", "%.3g (at most 1)", r->worst);
}

static void fill_json(json *j, const request *q, const char *where, const triangle *t, const result *r)
{
  json_text(j, "method", q->method);
  json_text(j, "method_used", r->info.method_used);
  json_text(j, "where", where);
  json_text(j, "uplo", q->uplo);
  json_text(j, "op", q->op);
  json_text(j, "type", q->type);
  json_integer(j, "rhs", q->rhs);
  json_integer(j, "n", r->info.n);
  json_integer(j, "nnz", r->info.nnz);
  json_integer(j, "duplicates", t->duplicates);
  json_integer(j, "levels", r->info.levels);
  json_integer(j, "widest_level", r->info.widest);
  json_integer(j, "threads", r->info.threads);
  json_integer(j, "tiles", r->info.tiles);
  json_integer(j, "waits", r->info.waits);
  json_integer(j, "barriers", r->info.barriers);
  json_integer(j, "atomics", r->info.atomics);
  json_integer(j, "launches", r->info.launches);
  json_integer(j, "plan_bytes", (long long)(r->info.plan_bytes_host + r->info.plan_bytes_device));
  json_number(j, "plan_bound", r->plan_bound);
  json_number(j, "model_s", r->info.model_s);
  json_number(j, "analyse_s", r->info.analyse_s);
  json_number(j, "update_s", r->info.update_s);
  json_number(j, "first_solve_s", r->first_s);
  json_number(j, "solve_s", r->solve.median);
  json_number(j, "solve_q1_s", r->solve.q1);
  json_number(j, "solve_q3_s", r->solve.q3);
  json_number(j, "gflops", 2e-9 * (double)t->nnz * (double)q->rhs / r->solve.median);
  json_number(j, "gbytes_s", 1e-9 * r->bytes / r->solve.median);
  json_number(j, "floor_s", r->floor.s);
  json_number(j, "floor_bytes_s", r->floor.bytes_s);
  json_number(j, "floor_hops_s", r->floor.hops_s);
  json_number(j, "share_of_floor", share_of(r));
  json_number(j, "max_error_bound_ratio", r->worst);
  json_text(j, "why", r->info.why);
}

/* Reads, runs and reports; the exit status.  Frees *j. */
static int answer(session *s, const request *q, json **j)
{
  triangle t;
  result r;
  memset(&r, 0, sizeof r);
  r.info = (gable_trisolve_info)GABLE_TRISOLVE_INFO_INIT;
  gable_status status =
      triangle_open(s, q->path, q->strict, strcmp(q->uplo, "upper") ? GABLE_PART_LOWER : GABLE_PART_UPPER,
                    strcmp(q->type, "d") ? GABLE_TYPE_S : GABLE_TYPE_D, diag_of(q), &t);
  if (!status) status = run(s, &t, q, &r);
  int rc = EXIT_FAILED;
  if (status) {
    rc = failure_report(s, "trisolve", status, t.wrong, j, q->json_path);
  } else {
    print(report_stream(q->json_path), q, gable_context_where(s->ctx), &t, &r);
    fill_json(*j, q, gable_context_where(s->ctx), &t, &r);
    rc = json_write(j, q->json_path);
    if (rc == EXIT_DONE && !(r.worst <= 1)) {
      if (isfinite(r.worst))
        fprintf(stderr, "gable trisolve: the solution misses its error bound %.3g times\n", r.worst);
      else
        fprintf(stderr, "gable trisolve: the solution misses its error bound: its residual is infinite or no number\n");
      rc = EXIT_FAILED;
    }
  }
  triangle_close(&t);
  return rc;
}

int cmd_trisolve(int argc, char **argv)
{
  request q = {.uplo = "lower",
               .op = "n",
               .type = "d",
               .method = "auto",
               .layout = "column",
               .diagonal = "stored",
               .rhs = 1,
               .expected = -1,
               .repeat = 10};
  int rc;
  const option options[] = {
      option_choice(0, "uplo", "lower|upper", "which triangle of A (default lower)", &q.uplo),
      option_choice(0, "op", "n|t", "the triangle or its transpose (default n)", &q.op),
      option_choice(0, "type", "d|s|sd", "double, single, or a single matrix with double vectors (default d)", &q.type),
      option_choice(0, "diagonal", "stored|unit|dominant",
                    "A's own, ones, or 1.1 times the magnitudes of row and column (default stored)", &q.diagonal),
      option_method("serial on a CPU only, rows on a GPU only (default auto)", &q.method),
      option_flag(0, "time", "auto times its candidates instead of using its cost model", &q.time_candidates),
      option_place(&q.where),
      option_threads(&q.threads),
      option_integer(0, "rhs", "K", "right-hand sides at once (default 1)", &q.rhs, 1, 100000),
      option_choice(0, "layout", "column|row", "of the right-hand sides (default column)", &q.layout),
      option_integer(0, "expected-solves", "N",
                     "solves that an analysis has to pay for, with --method auto; 0: many (default: those of --repeat)",
                     &q.expected, 0, INT32_MAX),
      option_integer('r', "repeat", "R", "solves to time, after a first one (default 10)", &q.repeat, 1, 1000000),
      option_strict(&q.strict),
      option_json(&q.json_path),
      OPTION_END,
  };
  const command usage = {"trisolve",
                         "A.mtx",
                         "Solves with one triangle of A, measures it, and checks the result against its error bound.\n"
                         "b changes and x is poisoned before every solve.  On a GPU b and x lie in its memory, and\n"
                         "times are taken between two events of a stream.",
                         options,
                         "gable trisolve A.mtx\n"
                         "gable trisolve A.mtx --uplo upper --op t --method tiles --repeat 100 --json -\n",
                         1,
                         1,
                         "FILE"};
  session s;
  if (options_parse(&usage, argc, argv, &q.path, &rc)) return rc;
  if (!json_available(q.json_path)) return EXIT_FAILED;
  json *j = json_create();
  json_text(j, "matrix", q.path);
  stop_prepare("trisolve", j, q.json_path);
  gable_status status = session_open(&s, q.where, (int)q.threads);
  rc = status ? failure_report(&s, "trisolve", status, NULL, &j, q.json_path) : answer(&s, &q, &j);
  session_close(&s);
  return rc;
}
