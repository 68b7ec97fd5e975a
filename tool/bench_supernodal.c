/* bench_supernodal.c: `gable bench supernodal`: solves with the factors of whole matrices by every solve method. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "bench_factors.h"
#include "bench_graph.h"
#include "options.h"
#include "report.h"
#include "stop.h"
#include "twin.h"
#include "verbs.h"

static const char *const every_method = "cusparse,auto,levels,batched,inverted,merged,partitioned,partitioned-cusparse";

typedef struct supernodal_run {
  session *session;
  const bench_request *q;
  FILE *out, *json;         /* json: lines, or NULL */
  gable_matrix_view matrix; /* of the source at hand */
  const char *name;
  gable_method kind;      /* of its factorization */
  gable_solver *factored; /* by method first, of which its factor is in the form */
  int first;              /* a gable_solve_method; -1: packages alone run, and it stays on the CPU */
  void *saved;            /* [saved_bytes] its factor, once another method takes it */
  size_t saved_bytes;
  gable_idx width[BENCH_MOST_WIDTHS]; /* [n_widths] right-hand sides at once */
  workbench bench[BENCH_MOST_WIDTHS]; /* [n_widths] of the source at hand */
  int n_widths;
  double begun;
  int matrices, missed;
} supernodal_run;

static int fail(supernodal_run *r, gable_status status, const char *reason)
{
  if (stop_asked()) stop_hold(); /* the timer's handler would say it again */
  progress_erase(&r->session->bar);
  fprintf(stderr, "gable bench: %s: %s\n", r->name, reason);
  if (r->json) bench_json_failure(r->json, r->q, r->name, status, reason);
  return EXIT_FAILED;
}

static int is_late(const supernodal_run *r)
{
  return r->q->limit_s > 0 && stopwatch_now() - r->begun > r->q->limit_s;
}

/* For want of time. */
static void say_left_out(supernodal_run *r, const char *method, gable_idx width)
{
  progress_erase(&r->session->bar);
  fprintf(stderr, "gable bench: the time is over (--limit-seconds), left out: %s, %s, %d right-hand side%s\n", r->name,
          method, width, width == 1 ? "" : "s");
}

static double real_of(const gable_solver *s, gable_solver_key key)
{
  double value = 0;
  (void)gable_solver_get(s, key, &value, sizeof value);
  return value;
}

static int64_t integer_of(const gable_solver *s, gable_solver_key key)
{
  int64_t value = 0;
  (void)gable_solver_get(s, key, &value, sizeof value);
  return value;
}

/* A method of Gable's as a sweep. */
typedef struct method_sweep {
  const gable_solver *solver;
  gable_solver_work *work;
  workbench *bench;
} method_sweep;

static int method_solve_turn(bench_sweep *s, int turn)
{
  method_sweep *g = s->state;
  return gable_solver_apply(g->solver, g->work, GABLE_OP_N, GABLE_FACTOR_ALL, &g->bench->there_b[turn],
                            &g->bench->there_x) != GABLE_OK;
}

/* One solve from each b. */
typedef struct one_turn {
  bench_sweep *sweep;
  int turn;
} one_turn;

static int run_turn(void *user)
{
  one_turn *t = user;
  return t->sweep->solve(t->sweep, t->turn);
}

/* x poisoned, then a sweep from one b: of the graph, where there is one. */
static gable_status time_one(bench_graph *graph, one_turn *turn, workbench *bench, double *seconds)
{
  gable_status status = workbench_start(bench, 0xff);
  if (!status && (graph ? bench_graph_launch(graph) : run_turn(turn))) status = GABLE_ERR_BACKEND;
  return status ? status : workbench_stop(bench, seconds);
}

/* Sweeps with b of two kinds in turn, fewer than asked for where they take over a second: captured in a graph where
 * that goes, so that a GPU and not the host's launches are timed, but for very long ones, of which the first two count,
 * too. */
static gable_status time_sweeps(const supernodal_run *r, bench_sweep *sweep, workbench *bench, supernodal_result *out)
{
  static const double longest = 0.25, all = 1;
  long repeat = r->q->repeat;
  double once = 0;
  one_turn turns[2] = {{sweep, 0}, {sweep, 1}};
  bench_graph *graph[2] = {NULL, NULL};
  double *times = malloc((size_t)repeat * sizeof *times);
  gable_status status = times ? GABLE_OK : GABLE_ERR_MEMORY;
  for (int k = 0; k < 2 && !status; k++) status = time_one(NULL, &turns[k], bench, &times[k]);
  if (!status) once = times[1];
  if (once * (double)repeat > all) repeat = once * 3 > all ? 3 : (long)(all / once);
  for (int k = 0; k < 2 && !status && !sweep->direct && once < longest; k++)
    graph[k] = bench_graph_capture(bench->stream, run_turn, &turns[k]);
  out->graph = graph[0] && graph[1];
  for (long k = once < longest ? 0 : 2; k < repeat && !status; k++) {
    status = time_one(out->graph ? graph[k % 2] : NULL, &turns[k % 2], bench, &times[k]);
    if (!status && stop_asked()) status = GABLE_ERR_CANCELLED;
  }
  if (!status) out->solve = stopwatch_quartiles(times, repeat);
  for (int k = 0; k < 2; k++) bench_graph_destroy(graph[k]);
  free(times);
  return status;
}

/* The sweeps, then one refined solve for the backward error. */
static gable_status measure(supernodal_run *r, const gable_solver *s, workbench *bench, supernodal_result *out)
{
  method_sweep own = {s, NULL, bench};
  bench_sweep sweep = {.solve = method_solve_turn, .state = &own};
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  gable_status status = gable_solver_work_create(s, bench->x.count, &own.work);
  if (!status) status = gable_solver_work_set_stream(own.work, bench->stream);
  if (!status) status = time_sweeps(r, &sweep, bench, out);
  if (!status) {
    const gable_status solved = gable_solver_solve(s, own.work, GABLE_OP_N, &bench->b[0], &bench->x);
    out->missed = solved == GABLE_ERR_TOLERANCE;
    if (!out->missed && solved != GABLE_NUMERICALLY_SINGULAR) status = solved;
  }
  if (!status) status = gable_solver_work_report(own.work, &report);
  out->backward_error = report.backward_error;
  out->first_error = report.first_error;
  gable_solver_work_destroy(&own.work);
  return status;
}

static void say(supernodal_run *r, const supernodal_result *b)
{
  progress_erase(&r->session->bar);
  fprintf(
      r->out,
      "%-24s %-12s %-9s prepare %9s, solve %9s (%s to %s), floor of %s %9s %5s, backward error %.1e, refined %.1e\n",
      b->matrix, b->method, b->kind, human_seconds(b->prepare_s + b->upload_s).s, human_seconds(b->solve.median).s,
      human_seconds(b->solve.q1).s, human_seconds(b->solve.q3).s, b->floor_of, human_seconds(b->floor_s).s,
      human_percent(b->solve.median > 0 ? b->floor_s / b->solve.median : 0).s, b->first_error, b->backward_error);
  fflush(r->out);
}

/* What every method has in common, of the factor at hand. */
static supernodal_result describe(const supernodal_run *r, const char *method, gable_idx width)
{
  supernodal_result b;
  memset(&b, 0, sizeof b);
  b.matrix = r->name;
  b.method = method;
  b.where = gable_context_where(r->session->ctx);
  b.kind = gable_method_text((gable_method)integer_of(r->factored, GABLE_SOLVER_METHOD));
  b.n = r->matrix.n_rows;
  b.rhs = width;
  b.nnz_l = integer_of(r->factored, GABLE_SOLVER_NNZ_L);
  b.nnz_u = integer_of(r->factored, GABLE_SOLVER_NNZ_U);
  return b;
}

/* The floor: bytes once for all right-hand sides, or 2 operations an entry of L and U and right-hand side. */
static void record(supernodal_run *r, supernodal_result *b, double bytes, int threads)
{
  const double bytes_s = workbench_floor(b->where, bytes, 0, threads).s;
  const double flops_s = workbench_flops_floor(b->where, 2.0 * (double)(b->nnz_l + b->nnz_u) * (double)b->rhs);
  b->floor_s = bytes_s > flops_s ? bytes_s : flops_s;
  b->floor_of = bytes_s > flops_s ? "bytes" : "flops";
  say(r, b);
  if (r->json) bench_json_supernodal(r->json, r->q, b);
  r->missed += b->missed;
}

/* One method with one width. */
static gable_status run_width(supernodal_run *r, const gable_solver *s, gable_solve_method method, int w)
{
  supernodal_result b = describe(r, gable_solve_method_text(method), r->width[w]);
  gable_status status = measure(r, s, &r->bench[w], &b);
  if (status) return status;
  b.levels = integer_of(s, GABLE_SOLVER_SOLVE_LEVELS);
  b.device_bytes = integer_of(s, GABLE_SOLVER_DEVICE_BYTES);
  b.upload_s = real_of(s, GABLE_SOLVER_UPLOAD_S);
  b.prepare_s = real_of(s, GABLE_SOLVER_PREPARE_S);
  record(r, &b, real_of(s, GABLE_SOLVER_SOLVE_BYTES) + 16.0 * r->matrix.n_rows * ((double)b.rhs - 1),
         method == GABLE_SOLVE_AUTO ? gable_context_threads(r->session->ctx) : 1);
  return GABLE_OK;
}

/* The factor at hand in a solver of another method. */
static gable_status take_factor(supernodal_run *r, gable_solve_method method, gable_solver **s)
{
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_status status = GABLE_OK;
  options.solve_method = method;
  options.merge_blocks = r->q->merge_blocks;
  if (!r->saved) {
    status = gable_solver_save_memory(r->factored, NULL, &r->saved_bytes);
    if (!status) r->saved = malloc(r->saved_bytes + 1);
    if (!status)
      status = r->saved ? gable_solver_save_memory(r->factored, r->saved, &r->saved_bytes) : GABLE_ERR_MEMORY;
  }
  if (!status) status = gable_solver_create(r->session->ctx, &options, s);
  if (!status) status = gable_solver_load_memory(*s, &r->matrix, r->saved, r->saved_bytes);
  return status;
}

/* One method on the factor at hand, which it prepares once for all widths. */
static gable_status run_method(supernodal_run *r, gable_solve_method method)
{
  gable_solver *own = NULL;
  gable_status status = (int)method == r->first || is_late(r) ? GABLE_OK : take_factor(r, method, &own);
  for (int w = 0; w < r->n_widths && !status; w++)
    if (is_late(r))
      say_left_out(r, gable_solve_method_text(method), r->width[w]);
    else
      status = run_width(r, own ? own : r->factored, method, w);
  gable_solver_destroy(&own);
  return status;
}

/* Backward error of the last solve's first column. */
static gable_status judge(bench_sweep *sweep, workbench *bench, supernodal_result *out)
{
  gable_status status = run_turn(&(one_turn){sweep, 0}) ? GABLE_ERR_BACKEND : workbench_fetch(bench);
  if (!status) out->first_error = sweep->error(sweep, bench->b[0].data, bench->x.data);
  out->backward_error = out->first_error; /* they refine nothing here */
  return status;
}

static int open_other(const supernodal_run *r, const char *method, workbench *bench, bench_sweep *sweep, char *why,
                      size_t why_bytes)
{
  if (strncmp(gable_context_where(bench->ctx), "cuda", 4)) {
    snprintf(why, why_bytes, "it runs on a GPU alone");
    return 0;
  }
  if (!strcmp(method, "cusparse")) return bench_factors_cusparse(r->factored, bench, sweep, why, why_bytes);
  return bench_factors_cudss(r->q->cudss, &r->matrix, (gable_method)integer_of(r->factored, GABLE_SOLVER_METHOD), bench,
                             sweep, why, why_bytes);
}

/* Another package; where it is missing or fails that is said and no more. */
static gable_status run_other(supernodal_run *r, const char *method, int w)
{
  bench_sweep sweep;
  workbench *bench = &r->bench[w];
  supernodal_result b = describe(r, method, r->width[w]);
  char why[240];
  if (!open_other(r, method, bench, &sweep, why, sizeof why)) {
    progress_erase(&r->session->bar);
    fprintf(stderr, "gable bench: %s: %s: left out\n", method, why);
    return GABLE_OK;
  }
  gable_status status = time_sweeps(r, &sweep, bench, &b);
  if (!status) status = judge(&sweep, bench, &b);
  b.prepare_s = sweep.prepare_s;
  if (!status) record(r, &b, sweep.bytes, 1);
  sweep.close(&sweep);
  return status;
}

static void drop_factor(supernodal_run *r)
{
  gable_solver_destroy(&r->factored);
  free(r->saved);
  r->saved = NULL;
}

/* -1: there is none. */
static int method_named(const char *name, size_t length)
{
  for (int m = GABLE_SOLVE_AUTO; m <= GABLE_SOLVE_PARTITIONED_CUSPARSE; m++) {
    const char *word = gable_solve_method_text((gable_solve_method)m);
    if (strlen(word) == length && !strncmp(word, name, length)) return m;
  }
  return -1;
}

/* The package of that name, or NULL: a method of Gable's. */
static const char *package_named(const char *name, size_t length)
{
  static const char *const packages[] = {"cusparse", "cudss"};
  for (size_t k = 0; k < sizeof packages / sizeof *packages; k++)
    if (strlen(packages[k]) == length && !strncmp(name, packages[k], length)) return packages[k];
  return NULL;
}

/* The first of Gable's methods among the names, -1: there is none. */
static int first_method(const char *name)
{
  for (size_t length; *name; name += length + (name[length] == ',')) {
    length = strcspn(name, ",");
    if (length && !package_named(name, length)) return method_named(name, length);
  }
  return -1;
}

/* The factor that all methods take: made once, by the CPU, and brought into the form of the first at once, for copies
 * of large ones take as long as solves of it. */
static gable_status make_factor(supernodal_run *r)
{
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.method = r->kind;
  options.place = r->first < 0 ? GABLE_PLACE_HOST : GABLE_PLACE_CONTEXT;
  options.solve_method = r->first < 0 ? GABLE_SOLVE_AUTO : (gable_solve_method)r->first;
  options.merge_blocks = r->q->merge_blocks;
  gable_status status = gable_solver_create(r->session->ctx, &options, &r->factored);
  if (!status) status = gable_solver_analyse(r->factored, &r->matrix);
  if (!status) status = gable_solver_factor(r->factored, NULL, GABLE_REUSE_NOTHING);
  return status;
}

/* Vectors of each width. */
static gable_status open_benches(supernodal_run *r)
{
  gable_vectors_view shape = GABLE_VECTORS_VIEW_INIT;
  gable_status status = GABLE_OK;
  shape.n = r->matrix.n_rows;
  shape.ld = shape.n;
  memset(r->bench, 0, sizeof r->bench);
  for (int w = 0; w < r->n_widths && !status; w++) {
    shape.count = r->width[w];
    status = workbench_open(r->session->ctx, &shape, &r->bench[w]);
  }
  return status;
}

/* The method of that name, or the package, with all widths; a package describes its factor anew for each. */
static gable_status run_named(supernodal_run *r, const char *name, size_t length)
{
  gable_status status = GABLE_OK;
  const char *package = package_named(name, length);
  if (!package) return run_method(r, (gable_solve_method)method_named(name, length));
  for (int w = 0; w < r->n_widths && !status; w++)
    if (is_late(r))
      say_left_out(r, package, r->width[w]);
    else
      status = run_other(r, package, w);
  return status;
}

/* Each method of the list in turn; on a GPU cuSPARSE first. */
static gable_status run_methods(supernodal_run *r)
{
  const int on_gpu = !strncmp(gable_context_where(r->session->ctx), "cuda", 4);
  const char *name = r->q->methods ? r->q->methods : on_gpu ? every_method : every_method + strlen("cusparse,");
  r->first = first_method(name);
  gable_status status = make_factor(r);
  if (!status) status = open_benches(r);
  for (size_t length; *name && !status; name += length + (name[length] == ',')) {
    length = strcspn(name, ",");
    progress_forget(&r->session->bar);
    if (length) status = run_named(r, name, length);
    if (status == GABLE_ERR_UNAVAILABLE) { /* a method whose library is missing */
      progress_erase(&r->session->bar);
      fprintf(stderr, "gable bench: %.*s: %s: left out\n", (int)length, name, session_reason(status).text);
      status = GABLE_OK;
    }
  }
  drop_factor(r);
  for (int w = 0; w < r->n_widths; w++) workbench_close(&r->bench[w]);
  return status;
}

/* --widths, or the one of --rhs.  0: they are not understood. */
static int read_widths(supernodal_run *r)
{
  const char *at = r->q->widths;
  if (!at) r->width[r->n_widths++] = (gable_idx)r->q->rhs;
  for (char *end; at; at = *end ? end + 1 : NULL) {
    const long width = strtol(at, &end, 10);
    if (end == at || (*end && *end != ',') || width < 1 || width > 100000 || r->n_widths == BENCH_MOST_WIDTHS) return 0;
    r->width[r->n_widths++] = (gable_idx)width;
  }
  return 1;
}

static int run_source(void *user, const bench_source *source)
{
  supernodal_run *r = user;
  gable_matrix *matrix = NULL;
  gable_off duplicates;
  gable_status status;
  char reason[TWIN_REASON_BYTES] = "";
  if (is_late(r)) {
    fprintf(stderr, "gable bench: the time is over (--limit-seconds), left out: %s\n", source->name);
    return EXIT_DONE;
  }
  r->name = source->name;
  r->kind = source->method;
  r->matrix = (gable_matrix_view)GABLE_MATRIX_VIEW_INIT;
  if (strchr(source->path, ':') && access(source->path, R_OK)) {
    gable_matrix *stored = NULL;
    status = twin_or_generate(r->session->ctx, source->path, 1, &stored, reason);
    if (!status) status = gable_matrix_expand(stored, &matrix);
    gable_matrix_destroy(&stored);
    if (!status) status = gable_matrix_get_view(matrix, &r->matrix);
  } else {
    status = session_read_whole(r->session, source->path, r->q->strict, &matrix, &r->matrix, &duplicates);
  }
  if (!status) status = run_methods(r);
  const int rc = status ? fail(r, status, *reason ? reason : session_reason(status).text) : EXIT_DONE;
  gable_matrix_destroy(&matrix);
  r->matrices++;
  return rc;
}

int bench_supernodal(session *s, const bench_request *q, FILE *out, FILE *lines)
{
  supernodal_run r = {.session = s, .q = q, .out = out, .json = lines, .name = "*", .begun = stopwatch_now()};
  for (const char *name = q->methods ? q->methods : ""; *name; name += *name == ',') {
    const size_t length = strcspn(name, ",");
    const int method = method_named(name, length);
    if (length && method < 0 && !package_named(name, length))
      return options_wrong("bench", "--methods: no solve method '%.*s': say %s", (int)length, name, every_method);
    name += length;
  }
  if (!read_widths(&r))
    return options_wrong("bench", "--widths '%s': say up to %d numbers from 1 to 100000, commas between", q->widths,
                         BENCH_MOST_WIDTHS);
  const int rc = bench_sources(q, run_source, &r);
  progress_erase(&s->bar);
  if (rc) return rc;
  if (!r.matrices) return fail(&r, GABLE_ERR_ARGUMENT, "no matrix was measured");
  if (r.missed) fprintf(stderr, "gable bench: some refined solution misses the tolerance\n");
  return r.missed ? EXIT_FAILED : EXIT_DONE;
}
