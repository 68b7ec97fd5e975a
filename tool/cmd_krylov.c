/* cmd_krylov.c: A x = b by an iterative solver with a preconditioner. */
#include <stdlib.h>
#include <string.h>

#include <gable/gable.h>

#include "failure.h"
#include "json.h"
#include "options.h"
#include "report.h"
#include "session.h"
#include "verbs.h"

typedef struct request {
  const char *path, *solver, *precond, *method, *where, *json_path;
  double tolerance;
  long iterations, restart, threads;
  int strict;
} request;

static const char *const solvers[] = {"cg", "bicgstab", "gmres"};
static const char *const preconditioners[] = {"none", "jacobi", "gs", "ilu0", "ic0"};

static int place_of(const char *name, const char *const *names, int count)
{
  int k = 0;
  while (k < count - 1 && strcmp(name, names[k])) k++;
  return k;
}

/* b = A times ones, so that the answer is known. */
static void multiply_ones(const gable_matrix_view *a, double *b)
{
  const int64_t *ptr = a->ptr;
  for (gable_idx j = 0; j < a->n_cols; j++)
    for (int64_t p = ptr[j]; p < ptr[j + 1]; p++) b[a->idx[p]] += ((const double *)a->val)[p];
}

static gable_status run(session *s, const request *q, gable_off *duplicates, gable_krylov_info *info, double *history)
{
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_matrix *file = NULL, *a = NULL;
  gable_krylov *k = NULL;
  double *b = NULL, *x = NULL;
  options.solver = (gable_krylov_solver)place_of(q->solver, solvers, 3);
  options.preconditioner = (gable_preconditioner)place_of(q->precond, preconditioners, 5);
  options.method = q->method;
  options.tolerance = q->tolerance;
  options.max_iterations = (gable_idx)q->iterations;
  options.restart = (gable_idx)q->restart;
  reading.strict = q->strict;
  reading.accept_complex = 0;
  reading.accept_pattern = 0;
  gable_status status = session_read(s, q->path, &reading, &file, duplicates);
  if (!status) status = gable_matrix_expand(file, &a);
  gable_matrix_destroy(&file);
  if (!status) status = gable_matrix_get_view(a, &view);
  if (!status) status = gable_krylov_create(s->ctx, &options, &k);
  view.part = GABLE_FULL;
  view.structure = GABLE_GENERAL;
  if (!status) status = gable_krylov_set_matrix(k, &view);
  if (!status) {
    b = calloc((size_t)view.n_rows + 1, sizeof *b);
    x = calloc((size_t)view.n_rows + 1, sizeof *x);
    status = b && x ? GABLE_OK : GABLE_ERR_MEMORY;
  }
  if (!status) {
    multiply_ones(&view, b);
    status = gable_krylov_solve(k, b, x, history);
    if (!status || status == GABLE_ERR_TOLERANCE) (void)gable_krylov_get_info(k, info);
  }
  gable_krylov_destroy(&k);
  gable_matrix_destroy(&a);
  free(b);
  free(x);
  return status;
}

static void report(const request *q, const char *where, const gable_krylov_info *info, const double *history, json *j)
{
  FILE *out = report_stream(q->json_path);
  const double iteration = info->solve_s / (info->iterations > 0 ? info->iterations : 1);
  fprintf(out, "%s: %s with %s on %s, b = A times ones\n", q->path, q->solver, q->precond, where);
  report_line(out, "iterations", "%s, %s", human_count(info->iterations).s, info->stop);
  report_line(out, "residual", "%.3g by the recurrence, %.3g by b - A x", info->residual, info->true_residual);
  if (info->method_used[0]) report_line(out, "triangular solves", "%s", info->method_used);
  if (info->shift > 0) report_line(out, "IC(0) shift", "%.3g of the diagonal", info->shift);
  report_line(out, "set-up, solve", "%s, %s (%s an iteration)", human_seconds(info->setup_s).s,
              human_seconds(info->solve_s).s, human_seconds(iteration).s);
  if (info->precond_s > 0) report_line(out, "preconditioner", "%s of the solve", human_seconds(info->precond_s).s);
  json_text(j, "solver", q->solver);
  json_text(j, "precond", q->precond);
  json_text(j, "where", where);
  json_text(j, "method_used", info->method_used);
  json_integer(j, "iterations", info->iterations);
  json_text(j, "stop", info->stop);
  json_bool(j, "converged", info->converged);
  json_number(j, "residual", info->residual);
  json_number(j, "true_residual", info->true_residual);
  json_number(j, "tolerance", q->tolerance);
  json_number(j, "shift", info->shift);
  json_number(j, "setup_s", info->setup_s);
  json_number(j, "solve_s", info->solve_s);
  json_number(j, "iteration_s", iteration);
  if (info->precond_s > 0) json_number(j, "precond_s", info->precond_s);
  json_numbers(j, "history", history, info->iterations + 1);
}

int cmd_krylov(int argc, char **argv)
{
  request q = {.solver = "cg",
               .precond = "none",
               .method = "auto",
               .where = "cpu",
               .tolerance = 1e-8,
               .iterations = 1000,
               .restart = 30};
  gable_krylov_info info = GABLE_KRYLOV_INFO_INIT;
  gable_off duplicates = 0;
  int rc;
  const option options[] = {
      option_choice(0, "solver", "cg|bicgstab|gmres", "the iteration (default cg: symmetric positive definite A)",
                    &q.solver),
      option_choice(0, "precond", "none|jacobi|gs|ilu0|ic0", "the preconditioner (default none)", &q.precond),
      option_choice('m', "method", "auto|serial|levr|levc|elmr|elmc|gsf|tiles|rows",
                    "of its triangular solves (default auto)", &q.method),
      option_text('w', "where", "PLACE", "cpu, cuda:N or auto (default cpu)", &q.where),
      option_real(0, "tolerance", "E", "on ||b - A x|| / ||b|| (default 1e-8)", &q.tolerance, 1e-16, 0.99),
      option_integer(0, "iterations", "N", "at most so many (default 1000)", &q.iterations, 1, 10000000),
      option_integer(0, "restart", "K", "of gmres (default 30)", &q.restart, 1, 10000),
      option_integer('t', "threads", "T", "at most so many (default: one per processor)", &q.threads, 0, 1024),
      option_strict(&q.strict),
      option_json(&q.json_path),
      OPTION_END,
  };
  const command usage = {"krylov",
                         "A.mtx",
                         "Solves A x = b by an iterative solver, b = A times ones.",
                         options,
                         "gable krylov A.mtx --solver cg --precond ic0\n"
                         "gable krylov A.mtx --solver bicgstab --precond ilu0 --where cuda:0\n"
                         "gable krylov A.mtx --solver gmres --precond ilu0 --restart 50 --json -\n",
                         1,
                         1};
  session s;
  if (options_parse(&usage, argc, argv, &q.path, &rc)) return rc;
  if (!json_available(q.json_path)) return EXIT_FAILED;
  double *history = calloc((size_t)q.iterations + 2, sizeof *history);
  json *j = json_create();
  json_text(j, "matrix", q.path);
  gable_status status = session_open(&s, q.where, (int)q.threads);
  if (!status) status = history ? run(&s, &q, &duplicates, &info, history) : GABLE_ERR_MEMORY;
  if (!status || status == GABLE_ERR_TOLERANCE) {
    report(&q, gable_context_where(s.ctx), &info, history, j);
    json_integer(j, "duplicates", duplicates);
  }
  rc = status ? failure_report(&s, "krylov", status, NULL, &j, q.json_path) : json_write(&j, q.json_path);
  session_close(&s);
  free(history);
  return rc;
}
