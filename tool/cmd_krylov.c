/* cmd_krylov.c: A x = b by an iterative solver with a preconditioner. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gable/gable.h>

#include "failure.h"
#include "json.h"
#include "options.h"
#include "outfile.h"
#include "report.h"
#include "rhs.h"
#include "session.h"
#include "stop.h"
#include "verbs.h"

typedef struct request {
  const char *path, *b_path, *x_path, *solver, *precond, *method, *where, *json_path;
  double tolerance, drop;
  long iterations, restart, threads, level, row_fill, expected;
  int strict;
} request;

/* name: one of the words that the options allow */
static gable_krylov_solver solver_of(const char *name)
{
  int k = GABLE_KRYLOV_AUTO;
  while (k < GABLE_KRYLOV_GMRES && strcmp(name, gable_krylov_solver_text((gable_krylov_solver)k))) k++;
  return (gable_krylov_solver)k;
}

static gable_preconditioner preconditioner_of(const char *name)
{
  int k = GABLE_PRECOND_NONE;
  while (k < GABLE_PRECOND_ILUT && strcmp(name, gable_preconditioner_text((gable_preconditioner)k))) k++;
  return (gable_preconditioner)k;
}

typedef struct answer {
  gable_krylov_info info;
  gable_precond_info precond;
  gable_idx n;
  gable_off nnz, duplicates;
  double *b, *x, *history; /* [n], [n], [iterations + 2] */
  session_text wrong;      /* what is wrong where the library's last message is of something else */
} answer;

static gable_status make_vectors(session *s, const request *q, const gable_matrix_view *a, answer *r)
{
  gable_status status;
  gable_idx rows = r->n, columns = 1;
  if (q->b_path)
    status = rhs_read(s, q->b_path, q->strict, &r->b, &rows, &columns);
  else
    status = rhs_make(a, GABLE_OP_N, 0, &r->b);
  if (!status && (rows != r->n || columns != 1)) {
    snprintf(r->wrong.text, sizeof r->wrong.text, "%.100s is %d x %d: give one column of %d rows",
             session_name(q->b_path), rows, columns, r->n);
    return GABLE_ERR_MISMATCH;
  }
  if (status) return status;
  session_about(q->path); /* no longer the file of b */
  r->x = calloc((size_t)r->n + 1, sizeof *r->x);
  r->history = calloc((size_t)q->iterations + 2, sizeof *r->history);
  return r->x && r->history ? GABLE_OK : GABLE_ERR_MEMORY;
}

/* Of a missed tolerance there is an answer too. */
static gable_status iterate(session *s, const request *q, gable_krylov *k, answer *r)
{
  const gable_status status = gable_krylov_solve(k, r->b, r->x, r->history);
  if (status && status != GABLE_ERR_TOLERANCE) return status;
  const session_text missed = session_reason(status);
  (void)gable_krylov_get_info(k, &r->info);
  const gable_status written = q->x_path ? rhs_write(s->ctx, q->x_path, r->n, 1, r->x) : GABLE_OK;
  if (written) return written;
  if (status) r->wrong = missed;
  return status;
}

/* *p stays NULL for "none". */
static gable_status make_precond(session *s, const request *q, const gable_matrix_view *a, answer *r, gable_precond **p)
{
  gable_precond_options options = GABLE_PRECOND_OPTIONS_INIT;
  options.kind = preconditioner_of(q->precond);
  options.method = q->method;
  options.level = (gable_idx)q->level;
  options.drop = q->drop;
  options.row_fill = (gable_idx)q->row_fill;
  options.solves = q->expected;
  if (options.kind == GABLE_PRECOND_NONE) return GABLE_OK;
  gable_status status = gable_precond_create(s->ctx, &options, p);
  if (!status) status = gable_precond_analyse(*p, a);
  if (!status) status = gable_precond_update(*p, a->val);
  if (!status) status = gable_precond_get_info(*p, &r->precond);
  return status;
}

static gable_status run(session *s, const request *q, answer *r)
{
  gable_krylov_options options = GABLE_KRYLOV_OPTIONS_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_matrix *a = NULL;
  gable_krylov *k = NULL;
  gable_precond *p = NULL;
  options.solver = solver_of(q->solver);
  options.method = q->method;
  options.tolerance = q->tolerance;
  options.max_iterations = (gable_idx)q->iterations;
  options.restart = (gable_idx)q->restart;
  gable_status status = session_read_whole(s, q->path, q->strict, &a, &view, &r->duplicates);
  if (!status) status = gable_krylov_create(s->ctx, &options, &k);
  view.structure = GABLE_STRUCTURE_GENERAL;
  if (!status) status = make_precond(s, q, &view, r, &p);
  if (!status) status = gable_krylov_set_precond(k, p);
  if (!status) status = gable_krylov_set_matrix(k, &view);
  if (!status) {
    r->n = view.n_rows;
    r->nnz = ((const int64_t *)view.ptr)[view.n_cols];
    status = make_vectors(s, q, &view, r);
  }
  if (!status) status = iterate(s, q, k, r);
  r->info.setup_s += r->precond.analyse_s + r->precond.update_s;
  gable_krylov_destroy(&k);
  gable_precond_destroy(&p);
  gable_matrix_destroy(&a);
  return status;
}

static void report(const request *q, const char *where, const answer *r, json *j)
{
  const gable_krylov_info *info = &r->info;
  FILE *out = report_stream(q->json_path);
  const double iteration = info->solve_s / (info->iterations > 0 ? info->iterations : 1);
  const char *solver = gable_krylov_solver_text(info->solver);
  fprintf(out, "%s: %s with %s on %s, b %s\n", session_name(q->path), solver, q->precond, where,
          q->b_path ? session_name(q->b_path) : "= A times ones");
  report_line(out, "iterations", "%s, %s", human_count(info->iterations).s, info->stop);
  report_line(out, "residual", "%.3g by the recurrence, %.3g by b - A x", info->residual, info->true_residual);
  if (info->method_used[0]) report_line(out, "triangular solves", "%s", info->method_used);
  if (r->precond.nnz)
    report_line(out, "factors", "%s entries, %.2f for one of the matrix", human_count((double)r->precond.nnz).s,
                (double)r->precond.nnz / (double)(r->nnz ? r->nnz : 1));
  if (info->shift > 0) report_line(out, "IC(0) shift", "%.3g of the diagonal", info->shift);
  report_line(out, "set-up, solve", "%s, %s (%s an iteration)", human_seconds(info->setup_s).s,
              human_seconds(info->solve_s).s, human_seconds(iteration).s);
  if (info->precond_s > 0) report_line(out, "preconditioner", "%s of the solve", human_seconds(info->precond_s).s);
  json_text(j, "solver", solver);
  json_text(j, "precond", q->precond);
  json_text(j, "where", where);
  json_integer(j, "n", r->n);
  json_integer(j, "nnz", r->nnz);
  json_integer(j, "duplicates", r->duplicates);
  json_text(j, "method", q->method);
  json_text(j, "method_used", info->method_used);
  json_integer(j, "iterations", info->iterations);
  json_text(j, "stop", info->stop);
  json_bool(j, "converged", info->converged);
  json_number(j, "residual", info->residual);
  json_number(j, "true_residual", info->true_residual);
  json_number(j, "tolerance", q->tolerance);
  json_number(j, "shift", info->shift);
  if (r->precond.nnz) json_integer(j, "precond_nnz", r->precond.nnz);
  json_number(j, "setup_s", info->setup_s);
  json_number(j, "solve_s", info->solve_s);
  json_number(j, "iteration_s", iteration);
  if (info->precond_s > 0) json_number(j, "precond_s", info->precond_s);
  json_numbers(j, "history", r->history, info->iterations + 1);
}

int cmd_krylov(int argc, char **argv)
{
  request q = {.solver = "auto",
               .precond = "none",
               .method = "auto",
               .tolerance = 1e-8,
               .drop = 1e-3,
               .iterations = 1000,
               .restart = 30,
               .level = 1,
               .row_fill = 10,
               .expected = 10};
  answer r = {.info = GABLE_KRYLOV_INFO_INIT, .precond = GABLE_PRECOND_INFO_INIT};
  int rc;
  const option options[] = {
      option_text('b', "rhs-file", "B.mtx", "FILE", "the right-hand side, array or coordinate (default: A times ones)",
                  &q.b_path),
      option_output('o', "output", "X.mtx", "write x to this file", &q.x_path),
      option_choice(0, "solver", "auto|cg|bicgstab|gmres",
                    "the iteration (default auto: cg for a symmetric A with a positive diagonal, else bicgstab)",
                    &q.solver),
      option_choice(0, "precond", "none|jacobi|gs|ilu0|ic0|iluk|ilut", "the preconditioner (default none)", &q.precond),
      option_integer(0, "level", "K", "of iluk: fill up to this level (default 1)", &q.level, 0, 1000000),
      option_real(0, "drop", "T", "of ilut: leave out what is below T times the norm of its row (default 1e-3)",
                  &q.drop, 0, 1e9),
      option_integer(0, "row-fill", "P", "of ilut: keep P entries of a row on either side of the diagonal (default 10)",
                     &q.row_fill, 0, 2000000000),
      option_method("of its triangular solves (default auto)", &q.method),
      option_integer(
          0, "expected-solves", "N",
          "solves of 30 iterations that an analysis has to pay for, with --method auto; 0: many (default 10)",
          &q.expected, 0, INT32_MAX),
      option_place(&q.where),
      option_real(0, "tolerance", "E", "on ||b - A x|| / ||b|| (default 1e-8)", &q.tolerance, 1e-16, 0.99),
      option_integer(0, "iterations", "N", "at most N (default 1000)", &q.iterations, 1, 10000000),
      option_integer(0, "restart", "K", "of gmres (default 30)", &q.restart, 1, 10000),
      option_threads(&q.threads),
      option_strict(&q.strict),
      option_json(&q.json_path),
      OPTION_END,
  };
  const command usage = {"krylov",
                         "A.mtx",
                         "Solves A x = b by an iterative solver.",
                         options,
                         "gable krylov A.mtx --solver cg --precond ic0\n"
                         "gable krylov A.mtx --solver bicgstab --precond ilu0 --where cuda:0\n"
                         "gable krylov A.mtx --precond ilut --drop 1e-4 --row-fill 20\n"
                         "gable krylov A.mtx --solver gmres --precond ilu0 --restart 50 -b B.mtx -o X.mtx --json -\n",
                         1,
                         1,
                         "FILE"};
  session s;
  if (options_parse(&usage, argc, argv, &q.path, &rc)) return rc;
  if (q.b_path && !strcmp(q.b_path, "-") && !strcmp(q.path, "-"))
    return options_wrong("krylov", "the matrix and -b both read standard input: name a file for one of them");
  if (!json_available(q.json_path) || outfile_takes_matrix("gable krylov", q.x_path, GABLE_FILE_AUTO))
    return EXIT_FAILED;
  json *j = json_create();
  json_text(j, "matrix", q.path);
  stop_prepare("krylov", j, q.json_path);
  stop_writes(q.x_path);
  gable_status status = session_open(&s, q.where, (int)q.threads);
  if (!status) status = run(&s, &q, &r);
  if (!status || status == GABLE_ERR_TOLERANCE) report(&q, gable_context_where(s.ctx), &r, j);
  rc = status ? failure_report(&s, "krylov", status, r.wrong.text, &j, q.json_path) : json_write(&j, q.json_path);
  session_close(&s);
  free(r.history);
  free(r.b);
  free(r.x);
  return rc;
}
