/* cmd_forest.c: star forests on ranks: checked against a serial program, measured, shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gable/gable.h>

#include "failure.h"
#include "forest_bench.h"
#include "forest_check.h"
#include "json.h"
#include "mpi_place.h"
#include "options.h"
#include "report.h"
#include "session.h"
#include "verbs.h"

static const char *const tests[] = {"check", "pingpong", "newpingpong", "unpack", "scatter", "halo"};
enum { N_TESTS = sizeof tests / sizeof *tests };

typedef struct request {
  const char *test, *where, *json_path;
  long cases, seed, most;
  double deadline;
} request;

/* What the ranks make together; rank 0 writes it. */
typedef struct outcome {
  const request *q;
  forest_check_result check;
  char wrong[256]; /* the first wrong array of any rank */
  forest_row rows[FOREST_ROWS];
  int n_rows, ranks;
} outcome;

static gable_status run_check(gable_comm *comm, outcome *o)
{
  forest_check_result r;
  char all[1024][sizeof r.first];
  gable_status status = forest_check(comm, o->q->cases, (uint64_t)o->q->seed, &r);
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
  const gable_status status = forest_bench(comm, o->q->test, o->q->most, rows, &n);
  if (status || gable_comm_rank(comm)) return status;
  memcpy(o->rows, rows, sizeof rows);
  o->n_rows = n;
  return GABLE_OK;
}

static gable_status run_rank(gable_comm *comm, void *user)
{
  outcome *o = user;
  gable_status status = gable_comm_set_deadline(comm, o->q->deadline);
  if (!gable_comm_rank(comm)) o->ranks = gable_comm_size(comm);
  if (status) return status;
  return strcmp(o->q->test, "check") ? run_bench(comm, o) : run_check(comm, o);
}

static int report_check(const request *q, const outcome *o, json *j)
{
  FILE *out = report_stream(q->json_path);
  fprintf(out, "forest check on %s, seed %ld\n", q->where, q->seed);
  report_line(out, "cases", "%s, %s edges", human_count((double)o->check.cases).s,
              human_count((double)o->check.edges).s);
  report_line(out, "exchanges", "%s, %s", human_count((double)o->check.exchanges).s,
              o->wrong[0] ? "one of them wrong" : "each with the bits of a serial program");
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
  fprintf(out, "forest %s on %s, one way: median, quartiles\n", q->test, q->where);
  for (int k = 0; k < o->n_rows; k++) {
    const forest_row *r = &o->rows[k];
    json *row = json_object(rows, NULL);
    fprintf(out, "  %12s  %10s  %10s  %10s  %6.2f GB/s  %s%s\n", human_bytes((double)r->bytes).s,
            human_seconds(r->one_way_s).s, human_seconds(r->q1_s).s, human_seconds(r->q3_s).s, r->gbytes_s, r->codec,
            r->checked ? "" : "  WRONG");
    json_integer(row, "n", r->n);
    json_integer(row, "bytes", r->bytes);
    json_number(row, "one_way_s", r->one_way_s);
    json_number(row, "q1_s", r->q1_s);
    json_number(row, "q3_s", r->q3_s);
    json_number(row, "gbytes_s", r->gbytes_s);
    json_integer(row, "messages", r->messages);
    json_text(row, "codec", r->codec);
    json_number(row, "checksum", r->checksum);
    json_bool(row, "checked", r->checked);
    wrong |= !r->checked;
  }
  json_text(j, "unit", "d");
  json_text(j, "op", !strcmp(q->test, "unpack") || !strcmp(q->test, "scatter") ? "sum" : "replace");
  json_bool(j, "atomics", 0);
  if (wrong) fprintf(stderr, "gable forest: a leaf has not its root's value\n");
  return wrong ? EXIT_FAILED : EXIT_DONE;
}

static int report(const request *q, const outcome *o, json **j)
{
  json_text(*j, "test", q->test);
  json_text(*j, "where", q->where);
  json_integer(*j, "ranks", o->ranks);
  const int checked = strcmp(q->test, "check") ? report_bench(q, o, *j) : report_check(q, o, *j);
  const int written = json_write(j, q->json_path);
  return checked ? checked : written;
}

/* On processes all of them come here, and rank 0 alone reports. */
static int run(session *s, const request *q, outcome *o)
{
  int rank = 0;
  json *j = json_create();
  gable_status status = session_open(s, "cpu", 1);
  o->q = q;
  if (!status)
    status =
        mpi_place_is(q->where) ? mpi_place_run(q->where, run_rank, o, &rank) : gable_comm_run(q->where, run_rank, o);
  if (status) return failure_report(s, "forest", status, NULL, &j, rank ? NULL : q->json_path);
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
  request q = {.where = "auto", .cases = 200, .seed = 1, .most = 4 << 20, .deadline = 60};
  int rc;
  const option options[] = {
      option_text('w', "where", "PLACE", "auto|cpu|cpu/ranks:2|cpu/ranks:4|mirror/ranks:2|cpu/mpi",
                  "cpu, cpu/ranks:N, mirror/ranks:N, cpu/mpi under mpirun, or auto: cpu/ranks:2\n(default auto)",
                  &q.where),
      option_integer(0, "cases", "N", "of check (default 200)", &q.cases, 1, 1000000000),
      option_integer(0, "seed", "S", "of check (default 1)", &q.seed, 0, 1000000000),
      option_integer(0, "most", "B", "largest message in bytes, for halo the largest block (default 4194304)", &q.most,
                     8, 1L << 40),
      option_real(0, "deadline", "S", "a rank waits so many seconds for another (default 60)", &q.deadline, 1e-3, 1e6),
      option_json(&q.json_path),
      OPTION_END,
  };
  const command usage = {"forest",
                         "TEST",
                         "Runs a test of star forests on ranks:\n"
                         "  check         random forests, units, ops, directions against a serial program, bit by bit\n"
                         "  pingpong      a message from rank 0 to rank 1 and back, sent and received apart\n"
                         "  newpingpong   the same with one array on each rank\n"
                         "  unpack        the same with sums\n"
                         "  scatter       the same with sums, and leaves on rank 0 too\n"
                         "  halo          ghost cells of a periodic grid, n x n cells a rank",
                         options,
                         "gable forest check --where cpu/ranks:4 --cases 1000 --seed 7\n"
                         "gable forest pingpong --where cpu/ranks:2 --json pingpong.json\n"
                         "mpirun -n 4 gable forest halo --where cpu/mpi\n",
                         1,
                         1,
                         "check|pingpong|newpingpong|unpack|scatter|halo"};
  session s;
  if (options_parse(&usage, argc, argv, &q.test, &rc)) return rc;
  if (!strcmp(q.where, "auto")) q.where = "cpu/ranks:2";
  if (!known_test(q.test)) return options_wrong("forest", "no test '%s': 'gable forest --help' lists them", q.test);
  if (mpi_place_is(q.where) && (rc = mpi_place_enter(q.where, argv - 1)) != 0) return rc;
  if (!json_available(q.json_path)) return EXIT_FAILED;
  outcome *o = calloc(1, sizeof *o);
  if (!o) return EXIT_FAILED;
  rc = run(&s, &q, o);
  session_close(&s);
  free(o);
  if (mpi_place_is(q.where)) mpi_place_leave();
  return rc;
}
