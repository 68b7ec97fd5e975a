/* cmd_bench.c: every method on grids or matrices, beside cuSPARSE where it is, in tables, JSON lines and a picture. */
#include <stdlib.h>
#include <string.h>

#include "bench_queue.h"
#include "json.h"
#include "options.h"
#include "outfile.h"
#include "report.h"
#include "session.h"
#include "stop.h"
#include "verbs.h"

static const char *const gpu_methods = "cusparse,auto,tiles,rows,levr,levc,elmr,elmc,gsf";
static const char *const cpu_methods = "auto,serial,tiles,levr,levc,elmr,elmc,gsf";

/* One run: who takes part, and what came out. */
typedef struct contest {
  session session;
  const bench_request *q;
  char *names; /* owned: the list of methods, cut at its commas */
  const char *method[BENCH_MOST_METHODS];
  bench_solver solver[BENCH_MOST_METHODS], sweeper[BENCH_MOST_METHODS]; /* name NULL: takes no part */
  int count;
  bench_results results;
  FILE *out, *json;
  double begun;
  int matrices;
} contest;

/* A pair of sweeps takes one vector of doubles and the matrix itself. */
static int sweeps_possible(const bench_request *q)
{
  return q->rhs == 1 && *q->op == 'n' && !strcmp(q->type, "d");
}

static int measures(const bench_request *q, const char *what)
{
  return !strcmp(q->measure, "both") || !strcmp(q->measure, what);
}

/* The run ends: one line on standard error, and one of JSON.  matrix: at which one, "*": none of them. */
static int fail(contest *c, const char *matrix, gable_status status, const char *reason)
{
  if (stop_asked()) stop_hold(); /* the timer's handler would say it again */
  progress_erase(&c->session.bar);
  fprintf(stderr, "gable bench: %s\n", reason);
  if (c->json) bench_json_failure(c->json, c->q, matrix, status, reason);
  return EXIT_FAILED;
}

/* Whether the library has the method here; if not, that was said, and *rc is the exit status. */
static int has_method(contest *c, const char *name, int *rc)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve *plan = NULL;
  options.method = name;
  const gable_status status = gable_trisolve_create(c->session.ctx, &options, &plan);
  gable_trisolve_destroy(&plan);
  *rc = EXIT_DONE;
  if (status == GABLE_ERR_ARGUMENT) *rc = options_wrong("bench", "--methods: %s", session_reason(status).text);
  if (status && !*rc) fprintf(stderr, "gable bench: %s: left out\n", session_reason(status).text);
  return !status;
}

static int add_method(contest *c, const char *name)
{
  int rc;
  char why[240];
  if (c->count == BENCH_MOST_METHODS) return options_wrong("bench", "--methods names more than %d", BENCH_MOST_METHODS);
  const int k = c->count;
  if (!strcmp(name, "cusparse")) {
    if (!bench_solver_cusparse(&c->solver[k], why, sizeof why)) {
      fprintf(stderr, "gable bench: %s: left out\n", why);
      return EXIT_DONE;
    }
  } else if (!has_method(c, name, &rc)) {
    return rc;
  } else if (!bench_solver_gable(name, &c->solver[k]) || !bench_solver_sweeps(name, &c->sweeper[k])) {
    return fail(c, "*", GABLE_ERR_MEMORY, "out of memory");
  }
  c->method[k] = name;
  c->count++;
  return EXIT_DONE;
}

static int open_methods(contest *c)
{
  const char *asked = c->q->methods;
  if (!asked) asked = gable_context_space(c->session.ctx) == GABLE_SPACE_DEVICE ? gpu_methods : cpu_methods;
  const size_t bytes = strlen(asked) + 1;
  c->names = malloc(bytes);
  if (!c->names) return fail(c, "*", GABLE_ERR_MEMORY, "out of memory");
  memcpy(c->names, asked, bytes);
  for (char *name = c->names; *name;) {
    const size_t length = strcspn(name, ",");
    const int last = !name[length];
    name[length] = 0;
    const int rc = length ? add_method(c, name) : EXIT_DONE;
    if (rc) return rc;
    name += length + !last;
  }
  return c->count ? EXIT_DONE : options_wrong("bench", "--methods names none that can run here");
}

static void say(contest *c, const bench_result *b)
{
  progress_erase(&c->session.bar);
  fprintf(c->out, "%-34s %-6s %-8s ", b->matrix, bench_part_name(b->part), b->method);
  if (b->failed)
    fprintf(c->out, "not measured: %s\n", b->entry.why);
  else
    fprintf(c->out, "%-8s solve %10.4f ms, analyse %9.3f ms, update %8.3f ms, %s %.2g\n", b->entry.used,
            1e3 * b->solve.median, 1e3 * b->entry.analyse_s, 1e3 * b->entry.update_s,
            b->part == GABLE_PART_FULL ? "difference" : "error over bound", b->error);
  fflush(c->out);
}

static int record(contest *c, const bench_result *b)
{
  bench_result *kept = bench_results_add(&c->results);
  if (!kept) return fail(c, b->matrix, GABLE_ERR_MEMORY, "out of memory");
  *kept = *b;
  say(c, b);
  if (c->json) bench_json(c->json, c->q, gable_context_where(c->session.ctx), b);
  return EXIT_DONE;
}

/* All solvers on one triangle, or (a whole matrix) all sweepers. */
static int run_part(contest *c, const char *name, const bench_rows *rows, const bench_rows *transposed)
{
  bench_problem p;
  const int sweeps = rows->part == GABLE_PART_FULL, threads = gable_context_threads(c->session.ctx);
  const bench_shape shape = {.rhs = (gable_idx)(sweeps ? 1 : c->q->rhs),
                             .op = *c->q->op == 't' ? GABLE_OP_T : GABLE_OP_N,
                             .values = *c->q->type == 's' ? GABLE_TYPE_S : GABLE_TYPE_D,
                             .vectors = strcmp(c->q->type, "s") ? GABLE_TYPE_D : GABLE_TYPE_S,
                             .major = *c->q->layout == 'r' ? GABLE_MAJOR_ROW : GABLE_MAJOR_COL,
                             .both_ops = c->q->both_ops};
  solve_floor floor = {0, 0, 0};
  int rc = EXIT_DONE;
  gable_status status =
      bench_problem_open(c->session.ctx, rows, shape.op == GABLE_OP_T ? transposed : rows, &shape, &p);
  if (status) {
    char why[240];
    snprintf(why, sizeof why, "%s: no room for its vectors: %s", name, gable_status_text(status));
    rc = fail(c, name, status, why);
  }
  progress_forget(&c->session.bar);
  for (int k = 0; k < c->count && rc == EXIT_DONE; k++) {
    bench_solver *one = sweeps ? &c->sweeper[k] : &c->solver[k];
    bench_result b;
    if (!one->name) continue;
    memset(&b, 0, sizeof b);
    snprintf(b.matrix, sizeof b.matrix, "%s", name);
    progress_show(&c->session.bar, name, (double)k / c->count);
    bench_measure(one, &p, c->q->repeat, threads, &b);
    if (stop_asked()) rc = fail(c, name, GABLE_ERR_CANCELLED, stop_reason);
    if (rc) break;
    if (floor.s == 0) floor = workbench_floor(gable_context_where(c->session.ctx), b.bytes, b.levels, 1);
    b.floor = floor;
    rc = record(c, &b);
  }
  bench_problem_close(&p);
  return rc;
}

static int run_matrix(contest *c, const bench_matrix *m)
{
  int rc = EXIT_DONE;
  for (int k = 0; k < 2 && rc == EXIT_DONE && measures(c->q, "solves"); k++)
    if (!strcmp(c->q->uplo, "both") || !strcmp(c->q->uplo, k ? "upper" : "lower"))
      rc = run_part(c, m->name, &m->part[k], &m->transposed[k]);
  if (rc == EXIT_DONE && measures(c->q, "sweeps") && sweeps_possible(c->q)) {
    bench_rows whole;
    const gable_status status = bench_matrix_whole(m, &whole);
    char why[240];
    snprintf(why, sizeof why, "%s: sweeps: %s", m->name, gable_status_text(status));
    rc = status ? fail(c, m->name, status, why) : run_part(c, m->name, &whole, NULL);
    bench_rows_free(&whole);
  }
  return rc;
}

static int run_next(contest *c, bench_queue *queue)
{
  bench_matrix m;
  char why[240] = "";
  const char *name = bench_queue_name(queue);
  const gable_status status = bench_queue_take(queue, &m, why, sizeof why);
  if (status && stop_asked()) return fail(c, name, GABLE_ERR_CANCELLED, stop_reason);
  if (status && c->q->n_files) return fail(c, name, status, why); /* who names a file wants it measured */
  if (status) {
    progress_erase(&c->session.bar);
    fprintf(stderr, "gable bench: left out: %s\n", why);
    return EXIT_DONE;
  }
  session_say_duplicates(&c->session, m.name, m.duplicates);
  c->matrices++;
  const int rc = run_matrix(c, &m);
  bench_matrix_close(&m);
  return rc;
}

static int is_late(const contest *c)
{
  return c->q->limit_s > 0 && stopwatch_now() - c->begun > c->q->limit_s;
}

/* All matrices; while a GPU is busy with one, the next ones are made ready, by at most half of the processors. */
static int run_all(contest *c)
{
  enum { MOST_AHEAD = 6 };
  const int half = gable_context_threads(c->session.ctx) / 2, ahead = half < MOST_AHEAD ? half : MOST_AHEAD;
  bench_queue queue;
  int rc = bench_queue_open(c->q, gable_context_space(c->session.ctx) == GABLE_SPACE_DEVICE ? ahead : 0, &queue);
  while (rc == EXIT_DONE && bench_queue_name(&queue) && !is_late(c)) rc = run_next(c, &queue);
  if (rc == EXIT_DONE && bench_queue_name(&queue))
    fprintf(stderr, "gable bench: the time is over (--limit-seconds), left out:");
  for (; rc == EXIT_DONE && bench_queue_name(&queue); queue.next++)
    fprintf(stderr, " %s%s", bench_queue_name(&queue), queue.next + 1 < queue.count ? "," : "\n");
  bench_queue_close(&queue);
  return rc;
}

static int any_wrong(const contest *c)
{
  for (size_t k = 0; k < c->results.count; k++)
    if (c->results.list[k].wrong) return 1;
  return 0;
}

static int answer(contest *c)
{
  if (!strcmp(c->q->what, "supernodal")) return bench_supernodal(&c->session, c->q, c->out, c->json);
  int rc = open_methods(c);
  if (rc == EXIT_DONE) rc = run_all(c);
  progress_erase(&c->session.bar);
  if (rc) return rc;
  if (!c->matrices) return fail(c, "*", GABLE_ERR_ARGUMENT, "no matrix was measured");
  bench_tables(c->out, &c->results, c->method, c->count, c->q->machine,
               !strncmp(gable_context_where(c->session.ctx), "cuda", 4));
  if (c->q->plot) {
    char title[160];
    snprintf(title, sizeof title, "Triangular solves, %ld right-hand side%s, %s", c->q->rhs, c->q->rhs == 1 ? "" : "s",
             c->q->machine);
    rc = bench_plot(c->q->plot, &c->results, c->method, c->count, title);
  }
  if (rc == EXIT_DONE && any_wrong(c)) {
    fprintf(stderr, "gable bench: some solution misses its error bound\n");
    rc = EXIT_FAILED;
  }
  return rc;
}

/* The last line of JSON when a signal ends the run. */
static void watch_for_stop(const bench_request *q)
{
  bench_request copy = *q;
  char *line = NULL;
  size_t bytes = 0;
  FILE *f = q->json ? open_memstream(&line, &bytes) : NULL;
  if (!copy.machine) copy.machine = q->where;
  if (f) bench_json_failure(f, &copy, "*", GABLE_ERR_CANCELLED, stop_reason);
  if (f && fclose(f)) bytes = 0;
  stop_prepare_line("bench", bytes ? line : NULL, q->json);
  free(line);
}

static int run(bench_request *q)
{
  contest c;
  memset(&c, 0, sizeof c);
  c.q = q;
  c.begun = stopwatch_now();
  c.out = report_stream(q->json);
  if (q->json) c.json = strcmp(q->json, "-") ? fopen(q->json, "w") : stdout;
  if (q->json && !c.json) {
    perror("gable bench: --json");
    return EXIT_FAILED;
  }
  watch_for_stop(q);
  gable_status status = session_open(&c.session, q->where, (int)q->threads);
  if (!q->machine) q->machine = status ? q->where : gable_context_where(c.session.ctx);
  int rc = status ? session_fail(&c.session, "bench", status) : answer(&c);
  if (status && c.json) bench_json_failure(c.json, q, "*", status, session_reason(status).text);
  stop_hold();
  for (int k = 0; k < c.count; k++) {
    bench_solver_free(&c.solver[k]);
    bench_solver_free(&c.sweeper[k]);
  }
  if (c.json && c.json != stdout) {
    const int wrong = ferror(c.json);
    if (fclose(c.json) || wrong) {
      perror("gable bench: --json");
      rc = EXIT_FAILED;
    }
  }
  bench_results_free(&c.results);
  free(c.names);
  session_close(&c.session);
  return rc;
}

static int parse(int argc, char **argv, bench_request *q, const char **argument, int *rc)
{
  char methods[200];
  snprintf(methods, sizeof methods,
           "LIST|%s|cusparse|cudss|levels|batched|inverted|merged|partitioned|partitioned-cusparse",
           gable_trisolve_methods());
  const option options[] = {
      option_text(
          'm', "methods", "LIST", methods,
          "commas between; of Gable's, and cusparse (default: all, and cusparse on a GPU);\nof supernodal: "
          "auto, levels, batched, inverted, merged, partitioned, partitioned-cusparse, and on a GPU cusparse, cudss",
          &q->methods),
      option_place(&q->where),
      option_text('l', "list", "FILE", "FILE",
                  "names of matrices, one a line, each perhaps with what generates it\nwhere no folder has it and, of "
                  "supernodal, lu, cholesky or ldlt\n(default bench/lists/gpu-matrices.txt)",
                  &q->list),
      option_text(0, "folder", "DIR[:DIR]", "FOLDER", "where the matrices of a list are (default $GABLE_MATRICES)",
                  &q->folder),
      option_text(0, "only", "TEXT[,TEXT]", NULL, "those with one of these in their name", &q->only),
      option_text(0, "cudss", "FILE", "FILE", "supernodal: the library of method cudss (default libcudss.so.1)",
                  &q->cudss),
      option_flag(0, "merge-blocks", "supernodal: named methods merge block columns of one pattern", &q->merge_blocks),
      option_flag(0, "permuted", "the grids numbered at random, with random values", &q->permuted),
      option_choice(0, "uplo", "both|lower|upper", "which triangles (default both)", &q->uplo),
      option_choice(0, "op", "n|t", "solves with the triangle or its transpose (default n)", &q->op),
      option_choice(0, "type", "d|s|sd", "double, single, or a single matrix with double vectors (default d)",
                    &q->type),
      option_choice(0, "layout", "column|row", "of several right-hand sides (default column)", &q->layout),
      option_flag(0, "both-ops", "Gable's plans serve both ops, the library's default (here: the measured op alone)",
                  &q->both_ops),
      option_choice(0, "measure", "both|solves|sweeps",
                    "triangular solves, pairs of Gauss-Seidel sweeps (default both)", &q->measure),
      option_integer(0, "rhs", "K", "right-hand sides at once; sweeps take one (default 1)", &q->rhs, 1, 100000),
      option_text(0, "widths", "K[,K]", NULL,
                  "supernodal: each of these numbers of right-hand sides, of one factor (default: --rhs)", &q->widths),
      option_integer('r', "repeat", "R", "solves to time, fewer where they take over a second (default 9)", &q->repeat,
                     3, 100000),
      option_real(0, "limit-seconds", "S", "begin no new matrix after so long (default: no limit)", &q->limit_s, 0,
                  1e9),
      option_threads(&q->threads),
      option_strict(&q->strict),
      option_output('p', "plot", "OUT.svg", "draw the times and their floors", &q->plot),
      option_output(0, "json", "FILE", "one JSON object a line for each measurement, '-' for standard output",
                    &q->json),
      option_text(0, "machine", "TEXT", NULL, "its name in the results (default: the place)", &q->machine),
      option_text(0, "commit", "TEXT", NULL, "of the sources, in the results", &q->commit),
      OPTION_END,
  };
  const command usage = {
      "bench",
      "laplacian|matrices|supernodal [A.mtx ...]",
      "Measures triangular solves and Gauss-Seidel sweeps by every method, beside cuSPARSE on a GPU.\n"
      "laplacian: the 20 grids of Li and Zhang's tables 1 and 2; matrices: the files that are named, any number of\n"
      "them, else a list; supernodal: solves with the factors of these matrices by every solve method.\n"
      "b changes and x is poisoned before every solve; solutions are held against their error bound.",
      options,
      "gable bench laplacian --where cuda:0 --json laplacian.json --plot laplacian.svg\n"
      "gable bench laplacian --permuted --only 27-point --methods cusparse,auto\n"
      "gable bench matrices --folder ../shared/matrices --rhs 16 --limit-seconds 300\n"
      "gable bench matrices A.mtx B.mtx.gz --where cpu --methods auto,serial --measure solves\n"
      "gable bench supernodal A.mtx laplacian7:30x30x30 --widths 1,16 --json supernodal.json\n",
      1,
      argc,
      "laplacian|matrices|supernodal|FILE"};
  if (options_parse(&usage, argc, argv, argument, rc)) return 1;
  q->what = argument[0];
  q->files = argument + 1;
  for (int inputs = 0; q->files[q->n_files]; q->n_files++) {
    inputs += !strcmp(q->files[q->n_files], "-");
    if (inputs > 1) *rc = options_wrong("bench", "standard input is named twice, and can be read once");
    if (*rc) return 1;
  }
  const int supernodal = !strcmp(q->what, "supernodal");
  if (strcmp(q->what, "laplacian") && strcmp(q->what, "matrices") && !supernodal)
    *rc = options_wrong("bench", "'%s' is not measured: say laplacian, matrices or supernodal", q->what);
  else if (supernodal && q->plot)
    *rc = options_wrong("bench", "supernodal draws no picture: leave --plot out");
  else if (!supernodal && (q->merge_blocks || q->widths))
    *rc = options_wrong("bench", "--merge-blocks and --widths go with supernodal");
  else if (supernodal && (*q->op != 'n' || *q->type != 'd' || *q->layout != 'c' || q->both_ops))
    *rc = options_wrong("bench", "--op, --type, --layout and --both-ops go with triangles, not with supernodal");
  else if (!supernodal && !strcmp(q->measure, "sweeps") && !sweeps_possible(q))
    *rc = options_wrong("bench", "sweeps are measured with --rhs 1, --op n and --type d alone");
  else if (q->n_files && !strcmp(q->what, "laplacian"))
    *rc = options_wrong("bench", "laplacian takes no files");
  return *rc != EXIT_DONE;
}

int cmd_bench(int argc, char **argv)
{
  bench_request q = {.list = "bench/lists/gpu-matrices.txt",
                     .folder = getenv("GABLE_MATRICES"),
                     .uplo = "both",
                     .measure = "both",
                     .op = "n",
                     .type = "d",
                     .layout = "column",
                     .commit = "unknown",
                     .rhs = 1,
                     .repeat = 9};
  const char **argument = calloc((size_t)argc + 1, sizeof *argument); /* NULL behind the last */
  int rc = EXIT_FAILED;
  if (!argument) fprintf(stderr, "gable bench: out of memory\n");
  if (argument && !parse(argc, argv, &q, argument, &rc))
    rc = outfile_possible("gable bench", q.plot) ? EXIT_FAILED : run(&q);
  free(argument);
  return rc;
}
