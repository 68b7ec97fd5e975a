/* cmd_forest.c: star forests on ranks: checked against a serial program, measured, used by products and solves, shown.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <gable/gable.h>

#include "failure.h"
#include "forest_bench.h"
#include "forest_check.h"
#include "forest_codec.h"
#include "forest_parts.h"
#include "forest_place.h"
#include "forest_show.h"
#include "forest_solve.h"
#include "json.h"
#include "mpi_place.h"
#include "options.h"
#include "outfile.h"
#include "pin.h"
#include "report.h"
#include "session.h"
#include "stop.h"
#include "verbs.h"

static const char *const tests[] = {"check", "pingpong", "newpingpong", "unpack", "scatter",
                                    "halo",  "codecs",   "spmv",        "cg",     "show"};
enum { N_TESTS = sizeof tests / sizeof *tests };

typedef struct request {
  const char *argument[2]; /* the test, and the matrix of those that have one */
  const char *test, *matrix, *where, *json_path, *parts, *plot;
  forest_place place; /* of where */
  int captured, apart, atomics, strict, pin;
  long cases, seed, most, iterations, plans;
  double deadline, tolerance;
} request;

/* What the ranks make together; rank 0 writes it. */
typedef struct outcome {
  const request *q;
  forest_check_result check;
  char wrong[256]; /* the first wrong array of any rank */
  forest_row rows[FOREST_ROWS];
  forest_codec_row moves[FOREST_CODEC_ROWS];
  int n_rows, ranks; /* of rows or moves */
  int lost;          /* a rank of processes did not come */
  forest_solve_result solved;
  forest_shape shape;
  session *s;
  char title[400]; /* of what show shows */
  gable_matrix *a; /* of spmv and cg: of this process, read by all its ranks */
  gable_off duplicates;
  int32_t *part;
  int cpu[PIN_CPUS], n_cpus; /* of the process, before ranks are bound to them */
} outcome;

static int is(const request *q, const char *test)
{
  return !strcmp(q->test, test);
}

static int solves(const request *q)
{
  return is(q, "spmv") || is(q, "cg");
}

static gable_status run_check(gable_comm *comm, outcome *o)
{
  forest_check_result r;
  char all[1024][sizeof r.first];
  gable_status status = forest_check(comm, o->q->cases, (uint64_t)o->q->seed, forest_place_path(&o->q->place), &r);
  if (!status) status = gable_comm_allgather(comm, r.first, sizeof r.first, all);
  if (status || gable_comm_rank(comm)) return status;
  o->check = r;
  for (int k = gable_comm_size(comm) - 1; k >= 0; k--)
    if (all[k][0]) memcpy(o->wrong, all[k], sizeof o->wrong);
  return GABLE_OK;
}

static gable_status run_bench(gable_comm *comm, outcome *o)
{
  forest_row rows[FOREST_ROWS];
  int n = 0;
  const forest_bench_options options = {
      o->q->most,    forest_place_path(&o->q->place),        o->q->captured, (int)o->q->plans, o->q->apart,
      o->q->atomics, forest_place_synchronises(&o->q->place)};
  const gable_status status = forest_bench(comm, o->q->test, &options, rows, &n);
  if (status || gable_comm_rank(comm)) return status;
  memcpy(o->rows, rows, sizeof rows);
  o->n_rows = n;
  return GABLE_OK;
}

static gable_status run_codecs(gable_comm *comm, outcome *o)
{
  forest_codec_row rows[FOREST_CODEC_ROWS];
  int n = 0;
  const forest_bench_options options = {
      .most = o->q->most, .path = forest_place_path(&o->q->place), .captured = o->q->captured};
  const gable_status status = forest_codecs(comm, &options, rows, &n);
  if (status || gable_comm_rank(comm)) return status;
  memcpy(o->moves, rows, sizeof rows);
  o->n_rows = n;
  return GABLE_OK;
}

/* Both triangles of a file's matrix, or of a generated one. */
static gable_status read_matrix(outcome *o, const char *path)
{
  gable_read_options reading = GABLE_READ_OPTIONS_INIT;
  gable_matrix *one = NULL;
  struct stat about;
  reading.strict = o->q->strict;
  reading.accept_complex = 0;
  reading.accept_pattern = 0;
  gable_status status = stat(path, &about) && strchr(path, ':')
                            ? gable_matrix_generate(o->s->ctx, path, 1, &one)
                            : session_read(o->s, path, &reading, &one, &o->duplicates);
  if (!status) status = gable_matrix_expand(one, &o->a);
  gable_matrix_destroy(&one);
  return status;
}

static gable_status read_problem(outcome *o, int ranks)
{
  gable_matrix_info info = GABLE_MATRIX_INFO_INIT;
  gable_status status = read_matrix(o, o->q->matrix);
  if (!status) status = gable_matrix_get_info(o->a, &info);
  if (status) return status;
  if (info.n_rows != info.n_cols) {
    snprintf(o->wrong, sizeof o->wrong, "%.100s is %d x %d: give a square matrix", o->q->matrix, info.n_rows,
             info.n_cols);
    return GABLE_ERR_ARGUMENT;
  }
  o->part = malloc(((size_t)info.n_rows + 1) * sizeof *o->part);
  return o->part ? forest_parts(o->a, o->q->parts, ranks, o->part, o->wrong, sizeof o->wrong) : GABLE_ERR_MEMORY;
}

/* Threads share what rank 0 reads; each process reads for itself. */
static gable_status share_problem(gable_comm *comm, outcome *o, gable_matrix_view *view)
{
  const int ranks = gable_comm_size(comm);
  gable_status status = gable_comm_agree(comm, gable_comm_rank(comm) ? GABLE_OK : read_problem(o, ranks));
  if (!status) status = gable_comm_agree(comm, o->part ? GABLE_OK : read_problem(o, ranks));
  return status ? status : gable_matrix_get_view(o->a, view);
}

static gable_status run_solve(gable_comm *comm, outcome *o)
{
  const forest_solve_options options = {.cg = is(o->q, "cg"),
                                        .tolerance = o->q->tolerance,
                                        .iterations = o->q->iterations,
                                        .path = forest_place_path(&o->q->place),
                                        .captured = o->q->captured,
                                        .model_a = forest_place_synchronises(&o->q->place)};
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  forest_solve_result r;
  gable_status status = share_problem(comm, o, &view);
  if (!status) status = forest_solve(comm, &view, o->part, &options, &r);
  if (status || gable_comm_rank(comm)) return status;
  o->solved = r;
  return GABLE_OK;
}

/* The halo of a matrix, or of the periodic grid with the largest blocks. */
static gable_status run_show(gable_comm *comm, outcome *o)
{
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  gable_forest *grid = NULL;
  forest_rows rows;
  forest_shape shape;
  gable_off n = 4;
  memset(&rows, 0, sizeof rows);
  memset(&shape, 0, sizeof shape);
  while (8 * 4 * n * n <= o->q->most) n *= 2;
  gable_status status = o->q->matrix ? share_problem(comm, o, &view) : forest_bench_grid(comm, n, &grid);
  if (!status && o->q->matrix) status = forest_rows_open(comm, &view, o->part, GABLE_PATH_AUTO, &rows);
  if (!status) status = forest_shape_open(comm, grid ? grid : rows.halo, &shape);
  forest_rows_close(&rows);
  gable_forest_destroy(&grid);
  if (status || gable_comm_rank(comm)) {
    forest_shape_close(&shape);
    return status;
  }
  o->shape = shape;
  if (!o->q->matrix)
    snprintf(o->title, sizeof o->title, "periodic grid, %lld x %lld cells a rank", (long long)n, (long long)n);
  return GABLE_OK;
}

/* Rank r on the r-th CPU of the process. */
static gable_status pin_rank(gable_comm *comm, const outcome *o)
{
  const int ranks = gable_comm_size(comm);
  char why[120];
  if (ranks > o->n_cpus) {
    snprintf(why, sizeof why, "--pin binds each rank to a CPU: %d ranks, and this process may use %d CPU%s", ranks,
             o->n_cpus, o->n_cpus == 1 ? "" : "s");
    return gable_set_error(GABLE_ERR_UNAVAILABLE, why);
  }
  const int cpu = o->cpu[gable_comm_rank(comm)], wrong = pin_thread(cpu);
  if (!wrong) return GABLE_OK;
  snprintf(why, sizeof why, "--pin: CPU %d: %.60s", cpu, strerror(wrong));
  return gable_set_error(GABLE_ERR_UNAVAILABLE, why);
}

static gable_status run_rank(gable_comm *comm, void *user)
{
  outcome *o = user;
  gable_status status = gable_comm_set_deadline(comm, o->q->deadline);
  if (!gable_comm_rank(comm)) o->ranks = gable_comm_size(comm);
  if (!status && o->q->pin) status = gable_comm_agree(comm, pin_rank(comm, o));
  if (status) return status;
  if (solves(o->q)) return run_solve(comm, o);
  if (is(o->q, "show")) return run_show(comm, o);
  if (is(o->q, "codecs")) return run_codecs(comm, o);
  return is(o->q, "check") ? run_check(comm, o) : run_bench(comm, o);
}

static int report_check(const request *q, const outcome *o, json *j)
{
  FILE *out = report_stream(q->json_path);
  fprintf(out, "forest check on %s, seed %ld\n", q->where, q->seed);
  report_line(out, "cases", "%s, %s edges", human_count((double)o->check.cases).s,
              human_count((double)o->check.edges).s);
  report_line(out, "exchanges", "%s, %s", human_count((double)o->check.exchanges).s,
              o->wrong[0] ? "one of them wrong" : "each with the bits of a serial program");
  json_text(j, "model", forest_place_model(&q->place, -1));
  json_integer(j, "cases", o->check.cases);
  json_integer(j, "seed", q->seed);
  json_integer(j, "edges", o->check.edges);
  json_integer(j, "exchanges", o->check.exchanges);
  json_bool(j, "checked", !o->wrong[0]);
  if (o->wrong[0]) fprintf(stderr, "gable forest: %s\n", o->wrong);
  return o->wrong[0] ? EXIT_FAILED : EXIT_DONE;
}

static int report_bench(const request *q, const outcome *o, json *j)
{
  FILE *out = report_stream(q->json_path);
  json *rows = json_array(j, "rows");
  int wrong = 0;
  fprintf(out, "forest %s on %s, one way: median, quartiles, model\n", q->test, q->where);
  if (q->plans > 1)
    report_line(out, "plans", "%ld in flight at once, %s: %.3g launches", q->plans,
                q->apart ? "one by one" : "together", o->rows[0].launches);
  for (int k = 0; k < o->n_rows; k++) {
    const forest_row *r = &o->rows[k];
    json *row = json_object(rows, NULL);
    fprintf(out, "  %12s  %10s  %10s  %10s  %10s  %6.2f GB/s  %s%s\n", human_bytes((double)r->bytes).s,
            human_seconds(r->one_way_s).s, human_seconds(r->q1_s).s, human_seconds(r->q3_s).s,
            r->model_s > 0 ? human_seconds(r->model_s).s : "-", r->gbytes_s, r->codec, r->checked ? "" : "  WRONG");
    json_integer(row, "n", r->n);
    json_integer(row, "bytes", r->bytes);
    json_number(row, "one_way_s", r->one_way_s);
    json_number(row, "q1_s", r->q1_s);
    json_number(row, "q3_s", r->q3_s);
    json_number(row, "setup_s", r->setup_s);
    json_number(row, "floor_s", r->floor_s);
    json_number(row, "model_s", r->model_s > 0 ? r->model_s : NAN);
    json_number(row, "gbytes_s", r->gbytes_s);
    json_number(row, "syncs", r->syncs);
    json_number(row, "launches", r->launches);
    json_integer(row, "messages", r->messages);
    json_number(row, "puts", r->puts);
    json_text(row, "codec", r->codec);
    json_number(row, "checksum", r->checksum);
    json_bool(row, "checked", r->checked);
    wrong |= !r->checked;
  }
  json_text(j, "model", forest_place_model(&q->place, o->n_rows && o->rows[0].syncs > 0));
  json_text(j, "unit", "d");
  json_text(j, "op", is(q, "unpack") || is(q, "scatter") ? "sum" : is(q, "halo") ? "replace, sum" : "replace");
  json_bool(j, "atomics", q->atomics);
  json_integer(j, "plans", q->plans);
  json_bool(j, "together", q->plans > 1 && !q->apart);
  if (wrong) fprintf(stderr, "gable forest: a leaf has not its root's value, or a root not what its leaves make\n");
  return wrong ? EXIT_FAILED : EXIT_DONE;
}

static int report_codecs(const request *q, const outcome *o, json *j)
{
  if (forest_codec_report(o->moves, o->n_rows, q->where, report_stream(q->json_path), j)) return EXIT_DONE;
  fprintf(stderr, "gable forest: an entry has not the value that was moved there\n");
  return EXIT_FAILED;
}

static void say_not_converged(const forest_solve_result *r)
{
  const char *how = r->underflowed ? "underflowed" : isfinite(r->residual) ? "stopped" : "overflowed";
  fprintf(stderr, "gable forest: cg %s after %d iterations%s\n", how, (int)r->iterations,
          *how == 's' ? " above the tolerance" : ": scale the matrix");
}

static int report_solve(const request *q, const outcome *o, json *j)
{
  FILE *out = report_stream(q->json_path);
  const forest_solve_result *r = &o->solved;
  const int cg = is(q, "cg");
  fprintf(out, "forest %s on %s: %s, parts %s\n", q->test, q->where, session_name(q->matrix), q->parts);
  report_line(out, "rows, entries", "%s, %s; %s to %s rows a rank", human_count(r->n).s, human_count((double)r->nnz).s,
              human_count(r->rows_least).s, human_count(r->rows_most).s);
  report_line(out, "halo", "%s ghosts of all ranks, %s; rank 0 sends %d message%s%s%s", human_count((double)r->edges).s,
              human_bytes(8.0 * (double)r->edges).s, r->messages, r->messages == 1 ? "" : "s",
              *r->codec ? ", the first " : "", r->codec);
  if (cg)
    report_line(out, "iterations", "%s, %s; residual %.3g by the recurrence, %.3g by b - A x",
                human_count((double)r->iterations).s, r->converged ? "converged" : "not converged", r->residual,
                r->true_residual);
  report_line(out, cg ? "an iteration" : "a product", "%s (quartiles %s, %s); its sums alone %s",
              human_seconds(r->one_way_s).s, human_seconds(r->q1_s).s, human_seconds(r->q3_s).s,
              human_seconds(r->local_s).s);
  report_line(out, "floor, model", "%s, %s", human_seconds(r->floor_s).s,
              r->model_s > 0 ? human_seconds(r->model_s).s : "-");
  report_line(out, "check", r->checked ? "the bits of the serial program" : "NOT the bits of the serial program");
  json_text(j, "model", forest_place_model(&q->place, r->syncs > 0));
  json_text(j, "parts", q->parts);
  json_integer(j, "n", r->n);
  json_integer(j, "nnz", r->nnz);
  json_text(j, "unit", "d");
  json_text(j, "op", "replace");
  json_integer(j, "bytes", 8 * r->edges);
  json_integer(j, "rows_least", r->rows_least);
  json_integer(j, "rows_most", r->rows_most);
  json_number(j, "one_way_s", r->one_way_s);
  json_number(j, "q1_s", r->q1_s);
  json_number(j, "q3_s", r->q3_s);
  json_number(j, "local_s", r->local_s);
  json_number(j, "floor_s", r->floor_s);
  json_number(j, "model_s", r->model_s > 0 ? r->model_s : NAN);
  json_number(j, "gbytes_s", 8e-9 * (double)r->edges / r->one_way_s);
  json_number(j, "syncs", r->syncs);
  json_number(j, "launches", r->launches);
  json_number(j, "puts", r->puts);
  json_integer(j, "messages", r->messages);
  json_text(j, "codec", *r->codec ? r->codec : NULL);
  json_bool(j, "atomics", 0);
  if (cg) {
    json_integer(j, "iterations", r->iterations);
    json_bool(j, "converged", r->converged);
    json_number(j, "residual", r->residual);
    json_number(j, "true_residual", r->true_residual);
  }
  json_number(j, "checksum", r->checksum);
  json_bool(j, "checked", r->checked);
  if (!r->checked) fprintf(stderr, "gable forest: the ranks have other bits than the serial program\n");
  if (cg && !r->converged) say_not_converged(r);
  return r->checked && (!cg || r->converged) ? EXIT_DONE : EXIT_FAILED;
}

static int report_show(const request *q, const outcome *o, json *j)
{
  FILE *out = report_stream(q->json_path);
  char title[600];
  if (q->matrix)
    snprintf(title, sizeof title, "halo of %.300s on %.60s, parts %.200s", session_name(q->matrix), q->where, q->parts);
  else
    snprintf(title, sizeof title, "halo of a %.300s on %.60s", o->title, q->where);
  fprintf(out, "%s\n", title);
  forest_show(&o->shape, out, j);
  return q->plot ? plot_forest(q->plot, title, &o->shape) : EXIT_DONE;
}

static json *request_json(const request *q)
{
  json *j = json_create();
  json_text(j, "test", q->test);
  if (q->matrix) json_text(j, "matrix", q->matrix);
  json_text(j, "where", q->where);
  json_text(j, "path", q->place.path);
  json_bool(j, "captured", q->captured);
  json_bool(j, "pinned", q->pin);
  return j;
}

static int report(const request *q, const outcome *o, json **j)
{
  json_integer(*j, "ranks", o->ranks);
  if (q->matrix) json_integer(*j, "duplicates", o->duplicates);
  const int checked = solves(q)         ? report_solve(q, o, *j)
                      : is(q, "show")   ? report_show(q, o, *j)
                      : is(q, "check")  ? report_check(q, o, *j)
                      : is(q, "codecs") ? report_codecs(q, o, *j)
                                        : report_bench(q, o, *j);
  const int written = json_write(j, q->json_path);
  return checked ? checked : written;
}

/* On processes all of them come here, and rank 0 alone reports. */
static int run(session *s, const request *q, int rank, outcome *o)
{
  json *j = request_json(q);
  if (!rank) stop_prepare("forest", j, q->json_path);
  gable_status status = session_open(s, "cpu", 1);
  o->q = q;
  o->s = s;
  if (q->pin) pin_list(o->cpu, &o->n_cpus);
  if (!status)
    status = mpi_place_is(q->where) ? mpi_place_run(q->where, q->deadline, run_rank, o)
                                    : gable_comm_run(q->where, run_rank, o);
  o->lost = status == GABLE_ERR_DEADLINE || status == GABLE_ERR_BACKEND;
  if (status) return failure_report(s, "forest", status, o->wrong, &j, rank ? NULL : q->json_path);
  if (!rank) return report(q, o, &j);
  json_destroy(&j);
  return EXIT_DONE;
}

static int known_test(const char *name)
{
  int k = 0;
  while (k < N_TESTS && strcmp(name, tests[k])) k++;
  return k < N_TESTS;
}

int cmd_forest(int argc, char **argv)
{
  request q = {.where = "auto",
               .cases = 200,
               .seed = 1,
               .most = 4 << 20,
               .deadline = 60,
               .place = {.path = "auto"},
               .parts = "block",
               .iterations = 1000,
               .plans = 1,
               .tolerance = 1e-8};
  int rc, rank = 0;
  const option options[] = {
      option_text(
          'w', "where", "PLACE",
          "auto|cpu|cpu/ranks:2|cpu/ranks:4|mirror/ranks:2|mirror/peer:2|mirror/mpi|cpu/mpi|cuda/mpi|"
          "cuda/nvshmem|cuda:0,1/peer|cuda:0,1/nccl",
          "cpu, cpu/ranks:N, cpu/mpi, mirror/mpi, cuda/mpi and cuda/nvshmem under mpirun, cuda:0,1/peer and\n"
          "cuda:0,1/nccl (a rank each; cuda:0/peer:2 for two on one GPU), cuda:0/ranks:N (staged by the host),\n"
          "mirror/peer:N, mirror/ranks:N, or auto: cpu/ranks:2 (default auto)",
          &q.where),
      option_integer(0, "cases", "N", "of check (default 200)", &q.cases, 1, 1000000000),
      option_integer(0, "seed", "S", "of check (default 1)", &q.seed, 0, 1000000000),
      option_integer(0, "most", "B", "largest message in bytes, for halo the largest block (default 4194304)", &q.most,
                     8, 1L << 40),
      option_real(0, "deadline", "S", "a rank waits so many seconds for another (default 60)", &q.deadline, 1e-3, 1e6),
      option_flag(0, "pin", "each rank's thread on a CPU of its own, of those that the process may use, in their order",
                  &q.pin),
      option_choice(0, "path", "auto|direct|buffer|request|window|nccl|nvshmem|put|copy|aware",
                    "of messages: direct (read where they lie), buffer (of threads), request\n(MPI's, "
                    "persistent), window (of processes of one node), nccl, nvshmem, put (by NVSHMEM),\n"
                    "copy (by the copy engine), aware (by a CUDA-aware MPI) (device memory) (default auto)",
                    &q.place.path),
      option_text(0, "parts", "P", "block|metis|FILE",
                  "of spmv and cg, the rank of each row: block (neighbouring rows), metis, or a file with\none rank a "
                  "line (default block)",
                  &q.parts),
      option_real(0, "tolerance", "E", "of cg, on ||b - A x|| / ||b|| (default 1e-8)", &q.tolerance, 1e-16, 0.99),
      option_integer(0, "iterations", "N", "of cg, at most N (default 1000)", &q.iterations, 1, 10000000),
      option_choice(0, "model", "a|b|c",
                    "synchronisation on a GPU: a, of the GPU before each exchange; b, of the stream before sends\n"
                    "(places that stage); c, none (all others) (default b or c)",
                    &q.place.model),
      option_flag(0, "captured", "exchanges replayed from a graph; of places on a GPU", &q.captured),
      option_integer(0, "plans", "K",
                     "of pingpong to halo: K plans in flight at once, which begin and end together, on peer by\n"
                     "one launch each (default 1)",
                     &q.plans, 1, FOREST_PLANS),
      option_flag(0, "apart", "several plans begin and end one by one", &q.apart),
      option_flag(0, "atomics",
                  "of unpack, scatter and halo: sums by atomic operations, in no fixed order; of device memory",
                  &q.atomics),
      option_strict(&q.strict),
      option_output('p', "plot", "OUT.svg", "of show: draw ranks, edges, bytes, codecs", &q.plot),
      option_json(&q.json_path),
      OPTION_END,
  };
  const command usage = {"forest",
                         "TEST [A.mtx|KIND]",
                         "Runs a test of star forests on ranks:\n"
                         "  check         random forests, units, ops, directions against a serial program, bit by bit\n"
                         "  pingpong      a message from rank 0 to rank 1 and back, sent and received apart\n"
                         "  newpingpong   the same with one array on each rank\n"
                         "  unpack        the same with sums\n"
                         "  scatter       the same with sums, and leaves on rank 0 too\n"
                         "  halo          ghost cells of a periodic grid, n x n cells a rank\n"
                         "  codecs        pack and unpack alone, by how indices are written down, 1 MiB to --most\n"
                         "  spmv A.mtx    y = A x, rows of A cut over ranks, against the serial product, bit by bit\n"
                         "  cg A.mtx      conjugate gradients for A x = A times ones, the same way\n"
                         "  show [A.mtx]  who sends what to whom: the halo of A, or of a periodic grid\n"
                         "A matrix is a file or what 'gable generate' takes, as laplacian5:300x300.",
                         options,
                         "gable forest check --where cpu/ranks:4 --cases 1000 --seed 7\n"
                         "gable forest pingpong --where cpu/ranks:2 --json pingpong.json\n"
                         "gable forest cg laplacian5:300x300 --where cpu/ranks:4 --parts metis\n"
                         "gable forest show laplacian5:300x300 --where cpu/ranks:4 --plot halo.svg\n"
                         "mpirun -n 4 gable forest halo --where cpu/mpi\n",
                         1,
                         2,
                         "check|pingpong|newpingpong|unpack|scatter|halo|codecs|spmv|cg|show|FILE"};
  session s;
  if (options_parse(&usage, argc, argv, q.argument, &rc)) return rc;
  q.test = q.argument[0];
  q.matrix = q.argument[1];
  if (!strcmp(q.where, "auto")) q.where = "cpu/ranks:2";
  if (!known_test(q.test)) return options_wrong("forest", "no test '%s': 'gable forest --help' lists them", q.test);
  if (solves(&q) && !q.matrix) return options_wrong("forest", "%s of which matrix? give a file or a kind", q.test);
  if (!solves(&q) && !is(&q, "show") && q.matrix) return options_wrong("forest", "%s has no matrix", q.test);
  if ((q.plans > 1 || q.apart) && (q.matrix || is(&q, "check") || is(&q, "show")))
    return options_wrong("forest", "--plans and --apart are of pingpong and its neighbours and halo, not of %s",
                         q.test);
  if (q.atomics && !is(&q, "unpack") && !is(&q, "scatter") && !is(&q, "halo"))
    return options_wrong("forest", "--atomics is of unpack, scatter and halo, not of %s", q.test);
  if (q.pin && mpi_place_is(q.where))
    return options_wrong("forest", "--pin is of ranks that are threads: mpirun --bind-to core binds processes");
  if (q.strict && !q.matrix) return options_wrong("forest", "--strict is of tests with a matrix");
  if (!is(&q, "show") && q.plot) return options_wrong("forest", "--plot is of show");
  if (is(&q, "show") && strcmp(q.place.path, "auto"))
    return options_wrong("forest", "--path is of tests that send messages, not of show");
  if (is(&q, "halo") && q.most < FOREST_LEAST_HALO)
    return options_wrong("forest", "--most %ld of halo: the smallest block has %d bytes", q.most, FOREST_LEAST_HALO);
  if (q.matrix && !strcmp(q.matrix, "-") && mpi_place_is(q.where))
    return options_wrong("forest", "standard input is of one process: name a file for %s", q.where);
  q.place.where = q.where;
  const int on_gpu = !strncmp(q.where, "cuda", 4);
  if ((q.place.model || q.captured) && !on_gpu)
    return options_wrong("forest", "--%s is of places on a GPU: %s has no streams",
                         q.place.model ? "model" : "captured", q.where);
  if (q.captured && (is(&q, "check") || is(&q, "show")))
    return options_wrong("forest", "--captured is of tests that are timed, not of %s", q.test);
  if (forest_place_wrong(&q.place))
    return options_wrong("forest", "--model %s of %s: %s", q.place.model, q.where, forest_place_wrong(&q.place));
  if (forest_place_synchronises(&q.place) && (q.captured || is(&q, "check") || is(&q, "codecs") || is(&q, "show")))
    return options_wrong("forest", "--model a is of exchanges that are timed, not captured");
  if (mpi_place_is(q.where) && (rc = mpi_place_enter(q.where, argv - 1, &rank)) != 0) return rc;
  if (on_gpu) setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0); /* streams of ranks on one GPU in queues of their own */
  if (!json_available(q.json_path) || outfile_possible("gable forest", q.plot)) return EXIT_FAILED;
  outcome *o = calloc(1, sizeof *o);
  if (!o) return EXIT_FAILED;
  rc = run(&s, &q, rank, o);
  const int lost = o->lost;
  gable_matrix_destroy(&o->a);
  forest_shape_close(&o->shape);
  free(o->part);
  session_close(&s);
  free(o);
  if (mpi_place_is(q.where)) mpi_place_leave(lost);
  return rc;
}
