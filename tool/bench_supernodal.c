/* bench_supernodal.c: `gable bench supernodal`: solves with the factors of whole matrices by every solve method. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "options.h"
#include "report.h"
#include "stop.h"
#include "verbs.h"

static const char *const every_method = "auto,levels,batched,inverted,merged,partitioned";

typedef struct supernodal_run {
  session *session;
  const bench_request *q;
  FILE *out, *json;         /* json: lines, or NULL */
  gable_matrix_view matrix; /* of the source at hand */
  const char *name;
  int matrices, missed;
} supernodal_run;

static int fail(supernodal_run *r, gable_status status, const char *reason)
{
  progress_erase(&r->session->bar);
  fprintf(stderr, "gable bench: %s: %s\n", r->name, reason);
  if (r->json) bench_json_failure(r->json, r->q, r->name, status, reason);
  return EXIT_FAILED;
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

/* repeat sweeps with b of two kinds in turn and x poisoned, then one refined solve for the backward error. */
static gable_status measure(supernodal_run *r, const gable_solver *s, workbench *bench, supernodal_result *out)
{
  gable_solver_work *work = NULL;
  gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
  const long repeat = r->q->repeat;
  double *times = malloc((size_t)repeat * sizeof *times);
  gable_status status = times ? gable_solver_work_create(s, bench->x.count, &work) : GABLE_ERR_MEMORY;
  if (!status) status = gable_solver_work_set_stream(work, bench->stream);
  for (long k = 0; k < repeat && !status; k++) {
    status = workbench_start(bench, 0xff);
    if (!status)
      status = gable_solver_apply(s, work, GABLE_OP_N, GABLE_FACTOR_ALL, &bench->there_b[k % 2], &bench->there_x);
    if (!status) status = workbench_stop(bench, &times[k]);
    if (!status && stop_asked()) status = GABLE_ERR_CANCELLED;
  }
  if (!status) out->solve = stopwatch_quartiles(times, repeat);
  if (!status) {
    const gable_status solved = gable_solver_solve(s, work, GABLE_OP_N, &bench->b[0], &bench->x);
    out->missed = solved == GABLE_ERR_TOLERANCE;
    if (!out->missed && solved != GABLE_NUMERICALLY_SINGULAR) status = solved;
  }
  if (!status) status = gable_solver_work_report(work, &report);
  out->backward_error = report.backward_error;
  out->first_error = report.first_error;
  gable_solver_work_destroy(&work);
  free(times);
  return status;
}

static void say(supernodal_run *r, const supernodal_result *b)
{
  progress_erase(&r->session->bar);
  fprintf(r->out,
          "%-24s %-12s %-9s prepare %9s, solve %9s (%s to %s), floor %9s %5s, backward error %.1e, refined %.1e\n",
          b->matrix, b->method, b->kind, human_seconds(b->prepare_s).s, human_seconds(b->solve.median).s,
          human_seconds(b->solve.q1).s, human_seconds(b->solve.q3).s, human_seconds(b->floor_s).s,
          human_percent(b->solve.median > 0 ? b->floor_s / b->solve.median : 0).s, b->first_error, b->backward_error);
  fflush(r->out);
}

/* One method on the matrix at hand. */
static gable_status run_method(supernodal_run *r, gable_solve_method method, workbench *bench)
{
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  gable_solver *s = NULL;
  supernodal_result b;
  memset(&b, 0, sizeof b);
  options.solve_method = method;
  options.merge_blocks = r->q->merge_blocks;
  gable_status status = gable_solver_create(r->session->ctx, &options, &s);
  if (!status) status = gable_solver_analyse(s, &r->matrix);
  if (!status) status = gable_solver_factor(s, NULL, GABLE_REUSE_NOTHING);
  if (!status) status = measure(r, s, bench, &b);
  if (!status) {
    const double bytes = real_of(s, GABLE_SOLVER_SOLVE_BYTES) + 16.0 * r->matrix.n_rows * ((double)r->q->rhs - 1);
    b.matrix = r->name;
    b.method = gable_solve_method_text(method);
    b.where = gable_context_where(r->session->ctx);
    b.kind = gable_method_text((gable_method)integer_of(s, GABLE_SOLVER_METHOD));
    b.n = r->matrix.n_rows;
    b.nnz_l = integer_of(s, GABLE_SOLVER_NNZ_L);
    b.nnz_u = integer_of(s, GABLE_SOLVER_NNZ_U);
    b.levels = integer_of(s, GABLE_SOLVER_SOLVE_LEVELS);
    b.prepare_s = real_of(s, GABLE_SOLVER_PREPARE_S) + real_of(s, GABLE_SOLVER_UPLOAD_S);
    b.floor_s =
        workbench_floor(b.where, bytes, 0, method == GABLE_SOLVE_AUTO ? gable_context_threads(r->session->ctx) : 1).s;
    say(r, &b);
    if (r->json) bench_json_supernodal(r->json, r->q, &b);
    r->missed += b.missed;
  }
  gable_solver_destroy(&s);
  return status;
}

/* -1: there is none. */
static int method_named(const char *name, size_t length)
{
  for (int m = GABLE_SOLVE_AUTO; m <= GABLE_SOLVE_PARTITIONED; m++) {
    const char *word = gable_solve_method_text((gable_solve_method)m);
    if (strlen(word) == length && !strncmp(word, name, length)) return m;
  }
  return -1;
}

/* Each method of the list in turn; on a GPU Gable's own alone. */
static gable_status run_methods(supernodal_run *r)
{
  const int on_device = gable_context_space(r->session->ctx) == GABLE_SPACE_DEVICE;
  const char *name = r->q->methods ? r->q->methods : on_device ? "auto" : every_method;
  gable_vectors_view shape = GABLE_VECTORS_VIEW_INIT;
  workbench bench;
  shape.n = r->matrix.n_rows;
  shape.ld = shape.n;
  shape.count = (gable_idx)r->q->rhs;
  gable_status status = workbench_open(r->session->ctx, &shape, &bench);
  for (size_t length; *name && !status; name += length + (name[length] == ',')) {
    length = strcspn(name, ",");
    progress_forget(&r->session->bar);
    if (length) status = run_method(r, (gable_solve_method)method_named(name, length), &bench);
  }
  workbench_close(&bench);
  return status;
}

static int run_source(void *user, const bench_source *source)
{
  supernodal_run *r = user;
  gable_matrix *matrix = NULL;
  gable_off duplicates;
  gable_status status;
  r->name = source->name;
  r->matrix = (gable_matrix_view)GABLE_MATRIX_VIEW_INIT;
  if (strchr(source->path, ':') && access(source->path, R_OK)) {
    gable_matrix *stored = NULL;
    status = gable_matrix_generate(r->session->ctx, source->path, 1, &stored);
    if (!status) status = gable_matrix_expand(stored, &matrix);
    gable_matrix_destroy(&stored);
    if (!status) status = gable_matrix_get_view(matrix, &r->matrix);
  } else {
    status = session_read_whole(r->session, source->path, r->q->strict, &matrix, &r->matrix, &duplicates);
  }
  if (!status) status = run_methods(r);
  const int rc = status ? fail(r, status, session_reason(status).text) : EXIT_DONE;
  gable_matrix_destroy(&matrix);
  r->matrices++;
  return rc;
}

int bench_supernodal(session *s, const bench_request *q, FILE *out, FILE *lines)
{
  supernodal_run r = {.session = s, .q = q, .out = out, .json = lines, .name = "*"};
  for (const char *name = q->methods ? q->methods : ""; *name; name += *name == ',') {
    const size_t length = strcspn(name, ",");
    const int method = method_named(name, length);
    if (length && method < 0)
      return options_wrong("bench", "--methods: no solve method '%.*s': say %s", (int)length, name, every_method);
    if (method > 0 && gable_context_space(s->ctx) == GABLE_SPACE_DEVICE)
      return options_wrong("bench", "--methods: '%.*s' has no form on a GPU: say auto, or --where cpu", (int)length,
                           name);
    name += length;
  }
  const int rc = bench_sources(q, run_source, &r);
  progress_erase(&s->bar);
  if (rc) return rc;
  if (!r.matrices) return fail(&r, GABLE_ERR_ARGUMENT, "no matrix was measured");
  if (r.missed) fprintf(stderr, "gable bench: some refined solution misses the tolerance\n");
  return r.missed ? EXIT_FAILED : EXIT_DONE;
}
