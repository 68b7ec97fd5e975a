/* cmd_solve.c: from a matrix file to a checked answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <gable/gable.h>

#include "failure.h"
#include "json.h"
#include "options.h"
#include "order_name.h"
#include "outfile.h"
#include "report.h"
#include "rhs.h"
#include "session.h"
#include "solve_request.h"
#include "stop.h"
#include "stopwatch.h"
#include "verbs.h"
#include "workbench.h"

/* Everything that one run owns. */
typedef struct solve_run {
  session session;
  gable_matrix *matrix; /* both triangles, until the solver has its copy */
  gable_matrix_view view;
  gable_idx rows;
  gable_idx *user_order;
  gable_solver *solver;
  gable_solver_work *work;
  double *b, *x;
  char wrong[200]; /* what the library does not say itself, or "" */
} solve_run;

static gable_op op_of(const solve_request *q)
{
  return q->transpose ? GABLE_OP_T : GABLE_OP_N;
}

static gable_status read_matrix(solve_run *r, const solve_request *q, solve_outcome *o)
{
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  gable_matrix *file = NULL;
  double begin = stopwatch_now();
  reading.strict = q->strict;
  reading.accept_pattern = 0;
  reading.accept_complex = 0;
  o->matrix = (gable_matrix_info)GABLE_MATRIX_INFO_INIT;
  session_about(q->matrix);
  gable_status status = gable_matrix_read(r->session.ctx, q->matrix, &reading, &file);
  if (!status) status = gable_matrix_get_info(file, &o->matrix);
  if (!status && o->matrix.part != GABLE_PART_FULL) {
    status = gable_matrix_expand(file, &r->matrix);
    gable_matrix_destroy(&file);
  } else {
    r->matrix = file;
  }
  if (!status) status = gable_matrix_get_view(r->matrix, &r->view);
  o->read_s = stopwatch_now() - begin;
  if (status) return status;
  r->rows = r->view.n_rows;
  if (r->rows == r->view.n_cols) return GABLE_OK;
  snprintf(r->wrong, sizeof r->wrong, "%.100s is %d by %d: a system to solve has a square matrix",
           session_name(q->matrix), r->rows, r->view.n_cols);
  return GABLE_ERR_ARGUMENT;
}

/* --order NAME or FILE. */
static gable_status choose_order(solve_run *r, const solve_request *q, gable_solver_options *options)
{
  options->order = q->order_taken;
  if (options->order != GABLE_ORDER_USER) return GABLE_OK;
  r->user_order = malloc(((size_t)r->view.n_cols + 1) * sizeof *r->user_order);
  options->user_order = r->user_order;
  return r->user_order ? gable_order_read(r->session.ctx, q->order, r->view.n_cols, r->user_order) : GABLE_ERR_MEMORY;
}

/* Before the factorization, whose memory may be scarce. */
static void drop_matrix(solve_run *r)
{
  gable_matrix_destroy(&r->matrix);
  r->view = (gable_matrix_view)GABLE_MATRIX_VIEW_INIT;
}

/* Solves below which no GPU is looked at: starting and filling one costs more, whatever the matrix
 * (src/pipeline/device_cost.c predicts at least 5 windows of right-hand sides on one thread). */
enum { LEAST_SOLVES = 5, WINDOW = 16 };

static gable_idx columns_expected(const solve_request *q)
{
  return q->rhs ? (gable_idx)q->rhs : 1;
}

/* Those of --repeat where they are more than a few; who solves once here may well solve again. */
static long solves_expected(const solve_request *q)
{
  const long usual = 10;
  return q->expected_solves ? q->expected_solves : q->repeat >= LEAST_SOLVES ? q->repeat : usual;
}

/* What a GPU has against being used, or "". */
static void ask_for_gpu(char *why, size_t room)
{
  gable_context *gpu = NULL;
  if (gable_context_create("cuda:0", NULL, &gpu)) snprintf(why, room, "no GPU: %s", gable_last_error());
  gable_context_destroy(&gpu);
}

/* --where auto: the GPU is left alone where few solves are asked for; else the solver predicts. */
static gable_status open_place(solve_run *r, const solve_request *q, solve_outcome *o)
{
  const int chosen = strcmp(q->where, "auto") != 0;
  const long solves = q->expected_solves ? q->expected_solves : q->repeat;
  const int few = solves * ((columns_expected(q) + WINDOW - 1) / WINDOW) < LEAST_SOLVES;
  gable_status status = session_open(&r->session, !chosen && few ? "cpu" : q->where, (int)q->threads);
  if (status || chosen) return status;
  if (few)
    snprintf(o->why, sizeof o->why, "fewer than %d solves do not repay a GPU", LEAST_SOLVES);
  else if (gable_context_space(r->session.ctx) == GABLE_SPACE_HOST)
    ask_for_gpu(o->why, sizeof o->why);
  return GABLE_OK;
}

/* Where the sweeps run, now that there is a factor. */
static gable_status find_place(solve_run *r, const solve_request *q, solve_outcome *o)
{
  int64_t on_device = 0;
  int64_t elementwise = 0, full = 0;
  double host_s = 0, device_s = 0;
  gable_status status = gable_solver_get(r->solver, GABLE_SOLVER_ON_DEVICE, &on_device, sizeof on_device);
  if (!status) status = gable_solver_get(r->solver, GABLE_SOLVER_ELEMENTWISE, &elementwise, sizeof elementwise);
  if (!status) status = gable_solver_get(r->solver, GABLE_SOLVER_PLACE_FALLBACK, &full, sizeof full);
  if (!status && !elementwise)
    status = gable_solver_get(r->solver, GABLE_SOLVER_PREDICTED_HOST_S, &host_s, sizeof host_s);
  if (!status && !elementwise)
    status = gable_solver_get(r->solver, GABLE_SOLVER_PREDICTED_DEVICE_S, &device_s, sizeof device_s);
  o->where = on_device ? gable_context_where(r->session.ctx) : "cpu";
  o->threads = gable_context_threads(r->session.ctx);
  if (full)
    snprintf(o->why, sizeof o->why, "the GPU has too little memory for the prepared factor");
  else if (!strcmp(q->where, "auto") && !*o->why && elementwise)
    snprintf(o->why, sizeof o->why, "nothing predicts solves element by element");
  else if (!strcmp(q->where, "auto") && !*o->why)
    snprintf(o->why, sizeof o->why, "%ld solves take %.2g s on the CPU and %.2g s on the GPU, as predicted",
             solves_expected(q), host_s, device_s);
  return status;
}

static gable_method method_named(const char *name)
{
  int m = GABLE_METHOD_LDLT;
  while (m > 0 && strcmp(solve_methods[m], name)) m--;
  return (gable_method)m;
}

static gable_solve_method solve_method_named(const char *name)
{
  int m = GABLE_SOLVE_PARTITIONED_CUSPARSE;
  while (m > 0 && strcmp(gable_solve_method_text((gable_solve_method)m), name)) m--;
  return (gable_solve_method)m;
}

static gable_status analyse_and_factor(solve_run *r, const solve_request *q, solve_outcome *o)
{
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.tolerance = q->tolerance;
  options.refine_steps = (int)q->refine;
  options.strict = q->strict;
  options.blas = !strcmp(q->blas, "openblas") ? GABLE_BLAS_OPENBLAS
                 : !strcmp(q->blas, "own")    ? GABLE_BLAS_OWN
                                              : GABLE_BLAS_AUTO;
  options.method = method_named(q->method);
  options.place = strcmp(q->where, "auto") ? GABLE_PLACE_CONTEXT : GABLE_PLACE_SHORTER;
  options.solves = solves_expected(q);
  options.solve_method = solve_method_named(q->solve_method);
  options.merge_blocks = q->merge_blocks;
  options.solve_rhs = o->columns;
  options.match = !strcmp(q->match, "always")  ? GABLE_CHOICE_ALWAYS
                  : !strcmp(q->match, "never") ? GABLE_CHOICE_NEVER
                                               : GABLE_CHOICE_AUTO;
  gable_status status = choose_order(r, q, &options);
  if (!status) status = gable_solver_create(r->session.ctx, &options, &r->solver);
  if (status) return status;
  o->solver = r->solver;
  double begin = stopwatch_now();
  if (q->load_path) {
    status = gable_solver_load(r->solver, &r->view, q->load_path);
    drop_matrix(r);
    o->load_s = stopwatch_now() - begin;
  } else {
    status = gable_solver_analyse(r->solver, &r->view);
    drop_matrix(r);
    if (!status) status = gable_solver_factor(r->solver, NULL, GABLE_REUSE_NOTHING);
  }
  begin = stopwatch_now();
  if (!status && q->save_path) {
    status = gable_solver_save(r->solver, q->save_path);
    o->save_s = stopwatch_now() - begin;
  }
  return status;
}

static gable_vectors_view vectors_of(const solve_run *r, gable_idx count, double *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.n = r->rows;
  v.count = count;
  v.ld = v.n;
  v.data = data;
  return v;
}

/* Where the timed sweeps read b and write x: on the CPU the caller's memory, on a GPU memory of its own. */
typedef struct timed_vectors {
  gable_context *ctx;
  gable_vectors_view b, x;
  size_t bytes; /* of each */
} timed_vectors;

static void timed_vectors_release(timed_vectors *t)
{
  if (t->b.space != GABLE_SPACE_DEVICE) return;
  gable_device_free(t->ctx, &t->b.data);
  gable_device_free(t->ctx, &t->x.data);
}

static gable_status timed_vectors_init(gable_context *ctx, int on_device, const gable_vectors_view *b,
                                       const gable_vectors_view *x, timed_vectors *t)
{
  gable_status status = GABLE_OK;
  *t = (timed_vectors){ctx, *b, *x, (size_t)b->n * (size_t)b->count * sizeof(double)};
  if (!on_device) return status;
  t->b.space = t->x.space = GABLE_SPACE_DEVICE;
  t->b.data = t->x.data = NULL;
  status = gable_device_alloc(ctx, t->bytes, &t->b.data);
  if (!status) status = gable_device_alloc(ctx, t->bytes, &t->x.data);
  return status;
}

/* One timed sweep with the entries of b, from x poisoned. */
static gable_status time_one(solve_run *r, const solve_request *q, const double *b, timed_vectors *t, double *seconds)
{
  gable_status status = GABLE_OK;
  if (t->b.space == GABLE_SPACE_DEVICE) {
    status = gable_device_copy_in(t->ctx, t->b.data, b, t->bytes, NULL);
    if (!status) status = gable_device_fill(t->ctx, t->x.data, 0xff, t->bytes, NULL);
    if (!status) status = gable_device_synchronise(t->ctx, NULL);
  } else {
    memset(t->x.data, 0xff, t->bytes);
  }
  const double begin = stopwatch_now();
  if (!status) status = gable_solver_apply(r->solver, r->work, op_of(q), GABLE_FACTOR_ALL, &t->b, &t->x);
  if (!status) status = gable_device_synchronise(t->ctx, NULL);
  *seconds = stopwatch_now() - begin;
  return status;
}

/* Reading the bytes of a solve once: on a GPU, and on the CPU where solves are repeated, which is worth the time. */
static void measure_floor(const solve_run *r, const solve_request *q, solve_outcome *o)
{
  double bytes = 0;
  if ((q->repeat < 2 && !strcmp(o->where, "cpu")) ||
      gable_solver_get(r->solver, GABLE_SOLVER_SOLVE_BYTES, &bytes, sizeof bytes))
    return;
  bytes += 16.0 * r->rows * (o->columns - 1);
  o->floor_s = workbench_floor(o->where, bytes, 0, o->threads).s;
}

/* repeat sweeps without refinement; b changes, and x is poisoned, before each.  A sweep that stands alone on a GPU has
 * one before it that does not count: the first launch of a kernel loads it. */
static gable_status time_solves(solve_run *r, const solve_request *q, solve_outcome *o)
{
  size_t entries = (size_t)r->rows * (size_t)o->columns;
  double *times = malloc((size_t)q->repeat * sizeof *times), *b = malloc((entries + 1) * sizeof *b);
  timed_vectors t;
  const gable_vectors_view vb = vectors_of(r, o->columns, b), vx = vectors_of(r, o->columns, r->x);
  gable_status status = timed_vectors_init(r->session.ctx, strcmp(o->where, "cpu") != 0, &vb, &vx, &t);
  if (!times || !b) status = GABLE_ERR_MEMORY;
  const long first = q->repeat == 1 && strcmp(o->where, "cpu") ? -1 : 0;
  for (long k = first; k < q->repeat && !status; k++) {
    for (size_t i = 0; i < entries; i++) b[i] = r->b[i] * (1 + (double)((i + (size_t)(k - first)) % 8) / 8);
    status = time_one(r, q, b, &t, &times[k > 0 ? k : 0]);
    if (!status && stop_asked()) status = GABLE_ERR_CANCELLED;
  }
  if (!status) {
    quartiles sorted = stopwatch_quartiles(times, q->repeat);
    o->solve_q1_s = sorted.q1;
    o->solve_s = sorted.median;
    o->solve_q3_s = sorted.q3;
  }
  timed_vectors_release(&t);
  free(times);
  free(b);
  return status;
}

/* Condition, and the forward error of the column that is worst off. */
static gable_status estimate(solve_run *r, const solve_request *q, solve_outcome *o)
{
  double begin = stopwatch_now();
  gable_status status = gable_solver_rcond(r->solver, r->work, &o->rcond);
  if (!status && o->columns) {
    size_t skip = (size_t)o->report.worst * (size_t)r->rows;
    gable_vectors_view b = vectors_of(r, 1, r->b + skip), x = vectors_of(r, 1, r->x + skip);
    status = gable_solver_forward_error(r->solver, r->work, op_of(q), &b, &x, &o->forward_error);
  }
  o->estimate_s = stopwatch_now() - begin;
  return status;
}

static gable_status make_right_sides(solve_run *r, const solve_request *q, solve_outcome *o)
{
  gable_status status;
  gable_idx rows = r->rows;
  o->columns = q->rhs ? (gable_idx)q->rhs : 1;
  if (q->b_path)
    status = rhs_read(&r->session, q->b_path, q->strict, &r->b, &rows, &o->columns);
  else
    status = rhs_make(&r->view, op_of(q), (gable_idx)q->rhs, &r->b);
  if (!status && rows != r->rows) {
    snprintf(r->wrong, sizeof r->wrong, "%.100s has %d rows, the matrix %d", session_name(q->b_path), rows, r->rows);
    return GABLE_ERR_MISMATCH;
  }
  if (status) return status;
  session_about(q->matrix); /* no longer the file of b */
  r->x = malloc(((size_t)r->rows * (size_t)o->columns + 1) * sizeof *r->x);
  return r->x ? GABLE_OK : GABLE_ERR_MEMORY;
}

/* A missed tolerance and a numerically singular matrix go to o->status, for there is an answer; all other failures are
 * returned. */
static gable_status solve(solve_run *r, const solve_request *q, solve_outcome *o)
{
  gable_status status = gable_solver_work_create(r->solver, o->columns > 0 ? o->columns : 1, &r->work);
  if (!status) status = time_solves(r, q, o);
  if (status) return status;
  measure_floor(r, q, o);
  gable_vectors_view vb = vectors_of(r, o->columns, r->b), vx = vectors_of(r, o->columns, r->x);
  o->report = (gable_solve_report)GABLE_SOLVE_REPORT_INIT;
  status = gable_solver_solve(r->solver, r->work, op_of(q), &vb, &vx);
  if (status && status != GABLE_ERR_TOLERANCE && status != GABLE_NUMERICALLY_SINGULAR) return status;
  o->status = status;
  status = gable_solver_work_report(r->work, &o->report);
  if (!status) status = estimate(r, q, o);
  double begin = stopwatch_now();
  if (!status && q->x_path) status = rhs_write(r->session.ctx, q->x_path, r->rows, o->columns, r->x);
  o->write_s = stopwatch_now() - begin;
  return status;
}

/* What is left behind when a signal stops the run. */
static void watch_for_stop(const solve_request *q)
{
  json *j = json_create();
  json_text(j, "matrix", q->matrix);
  json_bool(j, "solved", 0);
  stop_prepare("solve", j, q->json_path);
  json_destroy(&j);
  stop_writes(q->x_path);
  if (q->save_path) stop_writes(q->save_path);
}

static gable_status run_all(solve_run *r, const solve_request *q, solve_outcome *o)
{
  struct rusage usage;
  int64_t memory = 0;
  double begin = stopwatch_now();
  watch_for_stop(q);
  gable_status status = open_place(r, q, o);
  if (!status) status = read_matrix(r, q, o);
  if (!status) status = make_right_sides(r, q, o);
  if (!status) status = analyse_and_factor(r, q, o);
  if (!status) status = find_place(r, q, o);
  if (!status) status = solve(r, q, o);
  if (status) return status;
  status = gable_solver_get(r->solver, GABLE_SOLVER_MEMORY, &memory, sizeof memory);
  o->memory_bytes = memory;
  o->peak_bytes = getrusage(RUSAGE_SELF, &usage) ? 0 : (double)usage.ru_maxrss * 1024;
  o->total_s = stopwatch_now() - begin;
  return status;
}

static void release(solve_run *r)
{
  gable_solver_work_destroy(&r->work);
  gable_solver_destroy(&r->solver);
  gable_matrix_destroy(&r->matrix);
  free(r->user_order);
  free(r->b);
  free(r->x);
  session_close(&r->session);
}

/* Reports what was found; the exit status. */
static int finish(solve_run *r, const solve_request *q, const solve_outcome *o, gable_status status)
{
  json *j = json_create();
  json_text(j, "matrix", q->matrix);
  if (status) {
    json_bool(j, "solved", 0);
    return failure_report(&r->session, "solve", status, r->wrong, &j, q->json_path);
  }
  progress_erase(&r->session.bar);
  solve_report_print(report_stream(q->json_path), q, o);
  solve_report_json(j, q, o);
  int rc = json_write(&j, q->json_path);
  if (o->status == GABLE_ERR_TOLERANCE) {
    fprintf(stderr, "gable solve: the backward error is %.2e: %s%s\n", o->report.backward_error, o->report.reason,
            q->x_path ? " (x was written)" : "");
    rc = EXIT_FAILED;
  }
  return rc;
}

static int parse(int argc, char **argv, solve_request *q, int *rc)
{
  const option options[] = {
      option_text('b', "rhs-file", "B.mtx", "FILE", "right-hand sides, array or coordinate (default: A times ones)",
                  &q->b_path),
      option_output('o', "output", "X.mtx", "write x to this file", &q->x_path),
      option_integer(0, "rhs", "K", "K seeded right-hand sides instead", &q->rhs, 1, 1000000),
      option_text(0, "order", "NAME", ORDER_WORDS "|FILE",
                  "metis, amd, colamd, natural, or a file with a permutation (default: AMD's or METIS's)", &q->order),
      option_integer(0, "expected-solves", "N",
                     "solves that analysis and GPU have to pay for (default: --repeat, or 10 if that is below 5)",
                     &q->expected_solves, 1, 1000000000),
      option_choice(0, "method", "auto|lu|cholesky|ldlt",
                    "the factorization; auto: symmetric where the values are and that is good enough", &q->method),
      option_choice(0, "solve-method", "auto|levels|batched|inverted|merged|partitioned|partitioned-cusparse",
                    "how the sweeps run; auto: Gable's own, the others those of the literature", &q->solve_method),
      option_flag(0, "merge-blocks", "these methods merge block columns of one pattern", &q->merge_blocks),
      option_choice(0, "match", "auto|never|always", "rows to columns first, for large entries on the diagonal",
                    &q->match),
      option_place_of(&q->where,
                      "cpu, cuda:N or auto: a GPU where it makes the solves of --repeat end sooner (default auto)"),
      option_threads(&q->threads),
      option_integer(0, "repeat", "R", "time the solve R times and report the median", &q->repeat, 1, 1000000),
      option_integer(0, "refine", "N", "at most N steps of refinement; 0: none (default: as many as help)", &q->refine,
                     0, 1000000),
      option_real(0, "tolerance", "T", "of the componentwise backward error (default: 1e-12)", &q->tolerance, 1e-300,
                  1),
      option_flag(0, "transpose", "solve with the transpose of A", &q->transpose),
      option_choice(0, "blas", "auto|own|openblas",
                    "what multiplies large blocks; auto: OpenBLAS where it serves and is fast", &q->blas),
      option_flag(0, "strict", "duplicate entries and a numerically singular matrix are errors, else warnings",
                  &q->strict),
      option_output(0, "save-factor", "F", "save the factor", &q->save_path),
      option_text(0, "load-factor", "F", "FILE", "load a factor of the same matrix instead of factoring",
                  &q->load_path),
      option_json(&q->json_path),
      OPTION_END,
  };
  const command usage = {
      "solve",
      "A.mtx",
      "Solves A x = b by a direct factorization, refined until the componentwise backward error is at\n"
      "most the tolerance, and reports each phase.  Exit status 0 only if the tolerance is met.  The CPU analyses\n"
      "and factors; a GPU keeps the factor and solves with it.",
      options,
      "gable solve A.mtx\n"
      "gable solve A.mtx.gz -b B.mtx -o X.mtx\n"
      "gable solve A.mtx --rhs 16 --repeat 9 --json -\n"
      "gable solve A.mtx --save-factor A.factor && gable solve A.mtx --load-factor A.factor -b B.mtx\n",
      1,
      1,
      "FILE"};
  if (options_parse(&usage, argc, argv, &q->matrix, rc)) return 1;
  *rc = EXIT_DONE;
  if (q->b_path && !strcmp(q->b_path, "-") && !strcmp(q->matrix, "-"))
    *rc = options_wrong("solve", "the matrix and -b both read standard input: name a file for one of them");
  if (q->b_path && q->rhs) *rc = options_wrong("solve", "-b gives the right-hand sides: leave --rhs out");
  if (q->load_path && (q->order || q->save_path))
    *rc = options_wrong("solve", "a loaded factor has its order, and is saved already: leave %s out",
                        q->order ? "--order" : "--save-factor");
  if (q->load_path && (strcmp(q->method, "auto") || strcmp(q->match, "auto")))
    *rc = options_wrong("solve", "a loaded factor has its method and its matching: leave --%s out",
                        strcmp(q->method, "auto") ? "method" : "match");
  if (q->merge_blocks && !strcmp(q->solve_method, "auto"))
    *rc = options_wrong("solve", "--merge-blocks goes with a --solve-method other than auto");
  return *rc != EXIT_DONE;
}

int cmd_solve(int argc, char **argv)
{
  solve_request q = {
      .repeat = 1, .refine = -1, .blas = "auto", .method = "auto", .match = "auto", .solve_method = "auto"};
  solve_outcome o = {.report = GABLE_SOLVE_REPORT_INIT};
  solve_run r = {.view = GABLE_MATRIX_VIEW_INIT};
  int rc;
  if (parse(argc, argv, &q, &rc)) return rc;
  if (!json_available(q.json_path)) return EXIT_FAILED;
  if (q.order && order_named("solve", q.order, &q.order_taken)) return EXIT_FAILED;
  if (outfile_takes_matrix("gable solve", q.x_path, GABLE_FILE_AUTO) || outfile_possible("gable solve", q.save_path))
    return EXIT_FAILED;
  gable_status status = run_all(&r, &q, &o);
  rc = finish(&r, &q, &o, status);
  release(&r);
  return rc;
}
