/* A rank that returns, stops for ever or is killed between two rounds of an exchange: each of the others, which waits
 * in kernels, in a library or on the host, ends with an error that names it within the deadline, and then gives back
 * all that it has.  The last rank is the one that is lost.
 *
 * usage: lost_rank PLACE PATH return|stop|kill DEADLINE NUMBERS, as `mpirun -n 2 lost_rank cuda/mpi direct stop 2
 * 1000`; of threads, as cuda:0,1/peer, a rank returns or stays away.  PATH: as `gable forest --path`.  NUMBERS: of a
 * message. Prints one JSON line for each of the others.  test_lost.sh starts it and counts the lines with
 * "checked":true. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <gable/gable.h>

#include "../../tool/forest_place.h"
#include "../../tool/mpi_place.h"
#include "base/timer.h"

enum { ROUNDS = 10 };                /* before the last rank is lost */
static const double start_s = 60.0;  /* processes wait for each other to make the comm */
static const double margin_s = 2.0;  /* beyond the deadline: launches and copies of a machine with other work */
static const double at_once_s = 0.5; /* destroying awaits nobody */
static const double on_time = 0.999; /* of the deadline: two clocks measure it */

typedef struct request {
  forest_place place;
  const char *by;
  double deadline_s;
  gable_off numbers;
  atomic_int ended, wrong; /* ranks of this process that have given up; those without the error */
} request;

/* What a rank has. */
typedef struct parts {
  gable_forest *forest;
  gable_plan *plan;
  gable_exchange *exchange;
  void *root, *leaf;
} parts;

static int is(const char *text, const char *other)
{
  return !strcmp(text, other);
}

static int on_device(const request *q)
{
  return strncmp(q->place.where, "cpu", 3) != 0;
}

static gable_status take(gable_comm *comm, const request *q, gable_off n, void **p)
{
  gable_context *ctx = gable_comm_context(comm);
  const size_t bytes = (size_t)n * sizeof(double);
  if (!on_device(q)) return (*p = calloc((size_t)n, sizeof(double))) != NULL ? GABLE_OK : GABLE_ERR_MEMORY;
  const gable_status status = gable_device_alloc(ctx, bytes, p);
  return status ? status : gable_device_fill(ctx, *p, 0, bytes, NULL);
}

/* Every rank has leaves of the roots of every other one. */
static gable_status make(gable_comm *comm, const request *q, parts *p)
{
  const int me = gable_comm_rank(comm), others = gable_comm_size(comm) - 1;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_root *root = malloc((size_t)(others * q->numbers + 1) * sizeof *root);
  if (!root) return GABLE_ERR_MEMORY;
  for (int k = 0; k < others; k++)
    for (gable_off i = 0; i < q->numbers; i++) root[k * q->numbers + i] = (gable_root){k + (k >= me), i};
  o.path = forest_place_path(&q->place);
  if (on_device(q)) o.root_space = o.leaf_space = GABLE_SPACE_DEVICE;
  gable_status status = gable_forest_create(comm, q->numbers, others * q->numbers, NULL, root, &p->forest);
  free(root);
  if (!status) status = gable_plan_create(p->forest, &o, &p->plan);
  if (!status) status = gable_exchange_create(p->plan, NULL, &p->exchange);
  if (!status) status = take(comm, q, q->numbers, &p->root);
  if (!status) status = take(comm, q, others * q->numbers, &p->leaf);
  if (!status && on_device(q)) status = gable_device_synchronise(gable_comm_context(comm), NULL);
  return gable_comm_agree(comm, status);
}

static void give_back(gable_comm *comm, const request *q, parts *p)
{
  gable_context *ctx = gable_comm_context(comm);
  gable_exchange_destroy(&p->exchange);
  gable_plan_destroy(&p->plan);
  gable_forest_destroy(&p->forest);
  if (on_device(q)) {
    gable_device_free(ctx, &p->root);
    gable_device_free(ctx, &p->leaf);
  } else {
    free(p->root);
    free(p->leaf);
  }
}

static gable_status run_round(parts *p)
{
  gable_status status = gable_bcast_begin(p->exchange, p->root, p->leaf);
  if (!status) status = gable_exchange_end(p->exchange);
  return status ? status : gable_exchange_wait(p->exchange);
}

/* Of threads the process goes on, so one that stops comes back when the others have given up. */
static void be_lost(gable_comm *comm, request *q)
{
  const int processes = mpi_place_is(q->place.where);
  if (is(q->by, "kill")) raise(SIGKILL);
  if (is(q->by, "stop") && processes) raise(SIGSTOP);
  while (is(q->by, "stop") && atomic_load(&q->ended) < gable_comm_size(comm) - 1)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Rounds until one fails, and what is wrong with its error. */
static void outlive(gable_comm *comm, request *q, parts *p)
{
  const int me = gable_comm_rank(comm), last = gable_comm_size(comm) - 1;
  char of_last[48], said[400];
  int rounds = ROUNDS;
  double from = gi_now();
  gable_status status = run_round(p);
  for (; !status && rounds < 2 * ROUNDS; rounds++) {
    from = gi_now();
    status = run_round(p);
  }
  const double waited_s = gi_now() - from;
  snprintf(said, sizeof said, "%s", status ? gable_last_error() : "no error");
  atomic_fetch_add(&q->ended, 1);
  from = gi_now();
  give_back(comm, q, p);
  const double destroyed_s = gi_now() - from;
  snprintf(of_last, sizeof of_last, "for rank %d, which", last);
  const int in_time = waited_s > on_time * q->deadline_s && waited_s < q->deadline_s + margin_s;
  const int gone = is(q->by, "return") && !mpi_place_is(q->place.where) && waited_s < q->deadline_s + margin_s;
  const int named = rounds == ROUNDS && strstr(said, of_last);
  const int right = named && (gone || (status == GABLE_ERR_DEADLINE && in_time)) && destroyed_s < at_once_s;
  if (!right) atomic_fetch_add(&q->wrong, 1);
  printf("{\"test\":\"lost rank\",\"where\":\"%s\",\"path\":\"%s\",\"by\":\"%s\",\"bytes\":%lld,\"rank\":%d,"
         "\"deadline_s\":%g,\"waited_s\":%.3f,\"destroyed_s\":%.3f,\"said\":\"%s\",\"checked\":%s}\n",
         q->place.where, q->place.path, q->by, (long long)(8 * q->numbers), me, q->deadline_s, waited_s, destroyed_s,
         said, right ? "true" : "false");
  fflush(stdout);
}

static gable_status run_rank(gable_comm *comm, void *user)
{
  request *q = user;
  parts p = {NULL, NULL, NULL, NULL, NULL};
  gable_status status = make(comm, q, &p);
  for (int k = 0; k < ROUNDS && !status; k++) status = run_round(&p);
  if (!status) status = gable_comm_barrier(comm);
  if (!status) status = gable_comm_set_deadline(comm, q->deadline_s);
  if (status) return status;
  if (gable_comm_rank(comm) < gable_comm_size(comm) - 1) {
    outlive(comm, q, &p);
    return GABLE_OK;
  }
  be_lost(comm, q);
  give_back(comm, q, &p);
  return GABLE_OK;
}

int main(int argc, char **argv)
{
  request q = {.place = {.where = argc > 5 ? argv[1] : "", .path = argc > 5 ? argv[2] : ""}};
  int rank = 0, rc = 0;
  if (argc != 6) {
    fprintf(stderr, "usage: lost_rank PLACE PATH return|stop|kill DEADLINE NUMBERS\n");
    return 2;
  }
  q.by = argv[3];
  q.deadline_s = atof(argv[4]);
  q.numbers = atol(argv[5]);
  const int processes = mpi_place_is(q.place.where);
  if (processes && (rc = mpi_place_enter(q.place.where, argv, &rank)) != 0) return rc;
  const gable_status status =
      processes ? mpi_place_run(q.place.where, start_s, run_rank, &q) : gable_comm_run(q.place.where, run_rank, &q);
  if (status)
    fprintf(stderr, "lost_rank: %s: %s\n", status == GABLE_ERR_UNAVAILABLE ? "not here" : gable_status_text(status),
            gable_last_error());
  const int wrong = status || q.wrong;
  /* A process that was stopped or killed comes to no MPI_Finalize; MPI_Abort ends the others, and what they print. */
  const int lost = wrong || !is(q.by, "return");
  if (processes && lost) sleep(1);
  if (processes) mpi_place_leave(lost);
  return wrong;
}
