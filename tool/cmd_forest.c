/* cmd_forest.c: star forests on ranks: checked against a serial program, measured, shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gable/gable.h>

#include "failure.h"
#include "forest_check.h"
#include "json.h"
#include "options.h"
#include "report.h"
#include "session.h"
#include "verbs.h"

typedef struct request {
  const char *test, *where, *json_path;
  long cases, seed;
  double deadline;
} request;

/* What the ranks make together; written by rank 0, but for failed. */
typedef struct outcome {
  const request *q;
  forest_check_result check;
  char wrong[256];
  int ranks;
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

static gable_status run_rank(gable_comm *comm, void *user)
{
  outcome *o = user;
  gable_status status = gable_comm_set_deadline(comm, o->q->deadline);
  if (!gable_comm_rank(comm)) o->ranks = gable_comm_size(comm);
  return status ? status : run_check(comm, o);
}

static int report_check(const request *q, const outcome *o, json *j)
{
  FILE *out = report_stream(q->json_path);
  fprintf(out, "forest check on %s, seed %ld\n", q->where, q->seed);
  report_line(out, "cases", "%s, %s edges", human_count((double)o->check.cases).s,
              human_count((double)o->check.edges).s);
  report_line(out, "exchanges", "%s, %s", human_count((double)o->check.exchanges).s,
              o->wrong[0] ? "one of them wrong" : "each with the bits of a serial program");
  json_text(j, "test", q->test);
  json_text(j, "where", q->where);
  json_integer(j, "ranks", o->ranks);
  json_integer(j, "cases", o->check.cases);
  json_integer(j, "seed", q->seed);
  json_integer(j, "edges", o->check.edges);
  json_integer(j, "exchanges", o->check.exchanges);
  json_bool(j, "checked", !o->wrong[0]);
  if (o->wrong[0]) fprintf(stderr, "gable forest: %s\n", o->wrong);
  return o->wrong[0] ? EXIT_FAILED : EXIT_DONE;
}

int cmd_forest(int argc, char **argv)
{
  request q = {.where = "cpu/ranks:2", .cases = 200, .seed = 1, .deadline = 60};
  int rc;
  const option options[] = {
      option_text('w', "where", "PLACE", "cpu, cpu/ranks:N, mirror/ranks:N (default cpu/ranks:2)", &q.where),
      option_integer(0, "cases", "N", "of check (default 200)", &q.cases, 1, 1000000000),
      option_integer(0, "seed", "S", "of check (default 1)", &q.seed, 0, 1000000000),
      option_real(0, "deadline", "S", "a rank waits so many seconds for another (default 60)", &q.deadline, 1e-3, 1e6),
      option_json(&q.json_path),
      OPTION_END,
  };
  const command usage = {"forest",
                         "TEST",
                         "Runs a test of star forests on ranks.\n"
                         "check: random forests, units, ops and directions against a serial program, bit by bit.",
                         options,
                         "gable forest check --where cpu/ranks:4 --cases 1000 --seed 7\n"
                         "gable forest check --where mirror/ranks:3 --json -\n",
                         1,
                         1};
  if (options_parse(&usage, argc, argv, &q.test, &rc)) return rc;
  if (!json_available(q.json_path)) return EXIT_FAILED;
  if (strcmp(q.test, "check")) return options_wrong("forest", "no test '%s': say check", q.test);
  outcome *o = calloc(1, sizeof *o);
  session s;
  json *j = json_create();
  gable_status status = session_open(&s, "cpu", 1);
  if (o) o->q = &q;
  if (!status) status = o ? gable_comm_run(q.where, run_rank, o) : GABLE_ERR_MEMORY;
  if (status)
    rc = failure_report(&s, "forest", status, NULL, &j, q.json_path);
  else {
    const int checked = report_check(&q, o, j);
    rc = json_write(&j, q.json_path);
    if (!rc) rc = checked;
  }
  session_close(&s);
  free(o);
  return rc;
}
