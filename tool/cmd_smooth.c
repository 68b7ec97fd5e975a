/* cmd_smooth.c: Gauss-Seidel and SOR sweeps, measured, with their residuals. */
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
#include "verbs.h"

typedef struct request {
  const char *path, *sweep, *method, *where, *json_path;
  double omega;
  long sweeps, expected, repeat, threads;
  int strict;
} request;

typedef struct result {
  gable_smoother_info info;
  gable_idx n;
  gable_off duplicates; /* of the file */
  double *history;      /* [sweeps+1] */
  double analyse_s, update_s, apply_s;
  double plan_bound; /* bytes; NAN: not known */
} result;

static gable_sweep sweep_of(const request *q)
{
  return !strcmp(q->sweep, "forward")    ? GABLE_SWEEP_FORWARD
         : !strcmp(q->sweep, "backward") ? GABLE_SWEEP_BACKWARD
                                         : GABLE_SWEEP_SYMMETRIC;
}

/* b and x where the sweeps run, between two events of the place's clock. */
typedef struct place {
  gable_context *ctx;
  gable_event *begin, *end;
  gable_vectors_view b, x;
} place;

static void place_close(place *p)
{
  gable_device_free(p->ctx, &p->b.data);
  gable_device_free(p->ctx, &p->x.data);
  gable_event_destroy(&p->begin);
  gable_event_destroy(&p->end);
}

static gable_status place_open(gable_context *ctx, gable_idx n, place *p)
{
  const size_t bytes = ((size_t)n + 1) * sizeof(double);
  double *ones = malloc(bytes);
  *p = (place){ctx, NULL, NULL, GABLE_VECTORS_VIEW_INIT, GABLE_VECTORS_VIEW_INIT};
  gable_status status = ones ? GABLE_OK : GABLE_ERR_MEMORY;
  p->b.n = p->x.n = n;
  p->b.ld = p->x.ld = n;
  p->b.space = p->x.space = gable_context_space(ctx);
  for (gable_idx i = 0; i < n && !status; i++) ones[i] = 1;
  if (!status) status = gable_device_alloc(ctx, bytes, &p->b.data);
  if (!status) status = gable_device_alloc(ctx, bytes, &p->x.data);
  if (!status) status = gable_device_copy_in(ctx, p->b.data, ones, (size_t)n * sizeof(double), NULL);
  if (!status) status = gable_device_synchronise(ctx, NULL);
  if (!status) status = gable_event_create(ctx, &p->begin);
  if (!status) status = gable_event_create(ctx, &p->end);
  free(ones);
  return status;
}

/* Seconds of the sweeps from x = 0. */
static gable_status apply(place *p, gable_smoother *s, int sweeps, double *history, double *seconds)
{
  gable_status status = gable_device_fill(p->ctx, p->x.data, 0, (size_t)p->x.n * sizeof(double), NULL);
  if (!status) status = gable_event_record(p->begin, NULL);
  if (!status) status = gable_smoother_apply(s, &p->b, &p->x, sweeps, history);
  if (!status) status = gable_event_record(p->end, NULL);
  if (!status) status = gable_event_elapsed(p->begin, p->end, seconds);
  if (!status) status = gable_smoother_status(s, NULL);
  return status || !stop_asked() ? status : GABLE_ERR_CANCELLED;
}

/* The median of q->repeat, then once more for the residuals. */
static gable_status measure(gable_context *ctx, gable_smoother *s, const request *q, result *r)
{
  place p;
  double once = 0, *times = malloc((size_t)q->repeat * sizeof *times);
  gable_status status = place_open(ctx, r->n, &p);
  if (!times) status = GABLE_ERR_MEMORY;
  if (!status) status = apply(&p, s, (int)q->sweeps, NULL, &once);
  for (long k = 0; k < q->repeat && !status; k++) status = apply(&p, s, (int)q->sweeps, NULL, &times[k]);
  if (!status) status = apply(&p, s, (int)q->sweeps, r->history, &once);
  if (!status) r->apply_s = stopwatch_quartiles(times, q->repeat).median;
  place_close(&p);
  free(times);
  return status;
}

static gable_status run(session *s, const request *q, result *r)
{
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_matrix *a = NULL;
  gable_smoother *smoother = NULL;
  options.method = q->method;
  options.sweep = sweep_of(q);
  options.omega = q->omega;
  options.solves = q->expected < 0 ? q->sweeps : q->expected;
  gable_status status = session_read_whole(s, q->path, q->strict, &a, &view, &r->duplicates);
  if (!status) status = gable_smoother_create(s->ctx, &options, &smoother);
  r->n = view.n_rows;
  size_t host = 0, device = 0;
  r->plan_bound = NAN;
  if (!status && view.n_rows == view.n_cols &&
      !gable_smoother_plan_bound(smoother, view.n_rows, ((const int64_t *)view.ptr)[view.n_rows], view.value_type,
                                 &host, &device))
    r->plan_bound = (double)host + (double)device;
  double start = stopwatch_now();
  if (!status) status = gable_smoother_analyse(smoother, &view);
  r->analyse_s = stopwatch_now() - start;
  start = stopwatch_now();
  if (!status) status = gable_smoother_update(smoother, view.val);
  r->update_s = stopwatch_now() - start;
  if (!status) status = measure(s->ctx, smoother, q, r);
  if (!status) status = gable_smoother_get_info(smoother, &r->info);
  gable_smoother_destroy(&smoother);
  gable_matrix_destroy(&a);
  return status;
}

static void report(const request *q, const char *where, const result *r, json *j)
{
  FILE *out = report_stream(q->json_path);
  const double passes = sweep_of(q) == GABLE_SWEEP_SYMMETRIC ? 2 : 1;
  const double gflops = 2e-9 * passes * (double)r->info.nnz * (double)q->sweeps / r->apply_s;
  fprintf(out, "%s: %ld %s sweep%s on %s, omega %g, b = 1, x = 0\n", session_name(q->path), q->sweeps, q->sweep,
          q->sweeps == 1 ? "" : "s", where, q->omega);
  report_line(out, "rows, entries", "%s, %s", human_count(r->n).s, human_count((double)r->info.nnz).s);
  report_line(out, "levels", "%s forward, %s backward", human_count(r->info.levels_forward).s,
              human_count(r->info.levels_backward).s);
  report_line(out, "method", "%s (%s)", r->info.method_used, r->info.why);
  report_line(out, "in place", "%s",
              r->info.in_place ? "yes: the pattern is symmetric" : "no: the pattern is not symmetric");
  report_line(out, "analyse, update", "%s, %s", human_seconds(r->analyse_s).s, human_seconds(r->update_s).s);
  report_plan_bytes(out, (double)r->info.plan_bytes_host + (double)r->info.plan_bytes_device, r->plan_bound);
  report_line(out, "a sweep", "%s, %s", human_seconds(r->apply_s / (double)q->sweeps).s,
              human_rate(1e9 * gflops, "flop").s);
  report_line(out, "residual", "%.3g before, %.3g after", r->history[0], r->history[q->sweeps]);
  json_text(j, "sweep", q->sweep);
  json_number(j, "omega", q->omega);
  json_integer(j, "sweeps", q->sweeps);
  json_text(j, "method", q->method);
  json_text(j, "method_used", r->info.method_used);
  json_text(j, "where", where);
  json_integer(j, "n", r->n);
  json_integer(j, "nnz", r->info.nnz);
  json_integer(j, "duplicates", r->duplicates);
  json_integer(j, "levels_forward", r->info.levels_forward);
  json_integer(j, "levels_backward", r->info.levels_backward);
  json_bool(j, "in_place", r->info.in_place);
  json_integer(j, "plan_bytes", (long long)(r->info.plan_bytes_host + r->info.plan_bytes_device));
  json_number(j, "plan_bound", r->plan_bound);
  json_number(j, "analyse_s", r->analyse_s);
  json_number(j, "update_s", r->update_s);
  json_number(j, "apply_s", r->apply_s);
  json_number(j, "gflops", gflops);
  json_numbers(j, "history", r->history, q->sweeps + 1);
  json_text(j, "why", r->info.why);
}

int cmd_smooth(int argc, char **argv)
{
  request q = {.sweep = "symmetric", .method = "auto", .omega = 1, .sweeps = 10, .expected = -1, .repeat = 5};
  result r;
  int rc;
  const option options[] = {
      option_choice(0, "sweep", "forward|backward|symmetric", "direction of a sweep (default symmetric)", &q.sweep),
      option_real(0, "omega", "W", "relaxation factor; 1 is Gauss-Seidel (default 1)", &q.omega, 1e-6, 1.999999),
      option_integer('n', "sweeps", "N", "number of sweeps (default 10)", &q.sweeps, 1, 1000000),
      option_integer(0, "expected-solves", "N",
                     "sweeps that an analysis has to pay for; 0: many (default: those of --sweeps)", &q.expected, 0,
                     INT32_MAX),
      option_method("method, as of trisolve (default auto)", &q.method),
      option_place(&q.where),
      option_integer('r', "repeat", "R", "measure R times (default 5)", &q.repeat, 1, 100000),
      option_threads(&q.threads),
      option_strict(&q.strict),
      option_json(&q.json_path),
      OPTION_END,
  };
  const command usage = {"smooth",
                         "A.mtx",
                         "Gauss-Seidel or SOR sweeps with A, b = 1, from x = 0: time and residuals.",
                         options,
                         "gable smooth A.mtx --sweeps 20\ngable smooth A.mtx --sweep forward --omega 1.5 --json -\n"
                         "gable smooth A.mtx --where cuda:0 --method elmr\n",
                         1,
                         1,
                         "FILE"};
  session s;
  memset(&r, 0, sizeof r);
  r.info = (gable_smoother_info)GABLE_SMOOTHER_INFO_INIT;
  if (options_parse(&usage, argc, argv, &q.path, &rc)) return rc;
  if (!json_available(q.json_path)) return EXIT_FAILED;
  r.history = calloc((size_t)q.sweeps + 1, sizeof *r.history);
  json *j = json_create();
  json_text(j, "matrix", q.path);
  stop_prepare("smooth", j, q.json_path);
  gable_status status = session_open(&s, q.where, (int)q.threads);
  if (!status) status = r.history ? run(&s, &q, &r) : GABLE_ERR_MEMORY;
  if (status) {
    rc = failure_report(&s, "smooth", status, NULL, &j, q.json_path);
  } else {
    report(&q, gable_context_where(s.ctx), &r, j);
    rc = json_write(&j, q.json_path);
  }
  session_close(&s);
  free(r.history);
  return rc;
}
