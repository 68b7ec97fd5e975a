/* forest_bench.c: ping-pong with and without sums and edges within a rank, and halos of a grid.
 *
 * One way is half a round trip: a bcast and the reduce back.  After a first exchange that is checked, a few round trips
 * say how many make a batch of about two milliseconds, and each batch says it for the next one; the median and
 * quartiles are over batches.  Last come a round trip or a graph's with new values, whose roots are checked. */
#include "forest_bench.h"

#include "bench_graph.h"
#include "forest_model.h"
#include "forest_streams.h"
#include "stopwatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 15, CAPTURED = 20 /* round trips of a graph */ };

/* A bcast and a reduce of one of the plans, and this rank's arrays: two of each for pingpong, where what is sent is not
 * what was received. */
typedef struct pair {
  gable_exchange *down, *up;
  double *root[2], *leaf[2]; /* memory of the place */
} pair;

/* A forest with plans on it. */
typedef struct bench {
  gable_comm *comm;
  const forest_bench_options *o;
  gable_forest *f;
  gable_forest_info info;
  pair plan[FOREST_PLANS];
  gable_exchange_arrays down[FOREST_PLANS], up[FOREST_PLANS]; /* of a round trip */
  double *host;                                               /* as large as the larger array */
  int apart;                                                  /* arrays in turn */
  int adds_down, adds_up;                                     /* bcasts, reduces sum, else they replace */
  bench_graph *graph;                                         /* of CAPTURED round trips; NULL: each is enqueued */
  double setup_s;
} bench;

static gable_status make_exchange(const bench *b, gable_direction direction, gable_forest_op op, gable_exchange **out)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_plan *plan = NULL;
  o.root_space = o.leaf_space = gable_context_space(gable_comm_context(b->comm));
  o.direction = direction;
  o.op = op;
  o.path = b->o->path;
  o.atomics = b->o->atomics && direction == GABLE_DIRECTION_REDUCE;
  gable_status status = gable_plan_create(b->f, &o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, out);
  gable_plan_destroy(&plan);
  return status;
}

static double stamp(gable_off i)
{
  return 1 + (double)(i % 9);
}

/* n zeros, or stamps. */
static gable_status set(bench *b, double *array, gable_off n, int stamped)
{
  for (gable_off i = 0; i < n; i++) b->host[i] = stamped ? stamp(i) : 0;
  return gable_device_copy_in(gable_comm_context(b->comm), array, b->host, (size_t)n * sizeof *array, NULL);
}

static gable_status set_all(bench *b, int roots)
{
  gable_status status = GABLE_OK;
  for (int k = 0; k < 2 * b->o->plans && !status; k++) {
    const pair *p = &b->plan[k / 2];
    status = set(b, p->root[k % 2], b->info.n_roots, roots);
    if (!status) status = set(b, p->leaf[k % 2], b->info.leaf_space, 0);
  }
  return status;
}

static gable_status take_arrays(bench *b)
{
  gable_context *ctx = gable_comm_context(b->comm);
  const gable_off most = b->info.n_roots > b->info.leaf_space ? b->info.n_roots : b->info.leaf_space;
  const size_t roots = ((size_t)b->info.n_roots + 1) * sizeof(double);
  const size_t leaves = ((size_t)b->info.leaf_space + 1) * sizeof(double);
  gable_status status = GABLE_OK;
  b->host = malloc(((size_t)most + 1) * sizeof *b->host);
  if (!b->host) return GABLE_ERR_MEMORY;
  for (int k = 0; k < 2 * b->o->plans && !status; k++) {
    pair *p = &b->plan[k / 2];
    status = gable_device_alloc(ctx, roots, (void **)&p->root[k % 2]);
    if (!status) status = gable_device_alloc(ctx, leaves, (void **)&p->leaf[k % 2]);
  }
  for (int k = 0; k < b->o->plans; k++) {
    const pair *p = &b->plan[k];
    b->down[k] = (gable_exchange_arrays){p->down, p->root[0], p->leaf[b->apart], NULL};
    b->up[k] = (gable_exchange_arrays){p->up, p->leaf[0], p->root[b->apart], NULL};
  }
  return status ? status : set_all(b, 1);
}

static gable_status open_bench(bench *b)
{
  const gable_forest_op down = b->adds_down ? GABLE_FOREST_OP_SUM : GABLE_FOREST_OP_REPLACE;
  const gable_forest_op up = b->adds_up ? GABLE_FOREST_OP_SUM : GABLE_FOREST_OP_REPLACE;
  b->info = (gable_forest_info)GABLE_FOREST_INFO_INIT;
  gable_status status = gable_forest_get_info(b->f, &b->info);
  const double begun = stopwatch_now();
  for (int k = 0; k < b->o->plans && !status; k++) {
    status = make_exchange(b, GABLE_DIRECTION_BCAST, down, &b->plan[k].down);
    if (!status) status = make_exchange(b, GABLE_DIRECTION_REDUCE, up, &b->plan[k].up);
  }
  b->setup_s += stopwatch_now() - begun;
  return status ? status : gable_comm_agree(b->comm, take_arrays(b));
}

static void close_bench(bench *b)
{
  gable_context *ctx = gable_comm_context(b->comm);
  bench_graph_destroy(b->graph);
  for (int k = 0; k < 2 * b->o->plans; k++) {
    pair *p = &b->plan[k / 2];
    gable_device_free(ctx, (void **)&p->root[k % 2]);
    gable_device_free(ctx, (void **)&p->leaf[k % 2]);
    gable_exchange_destroy(&p->down);
    gable_exchange_destroy(&p->up);
  }
  free(b->host);
  gable_forest_destroy(&b->f);
}

/* All plans one way: together, or one by one, all of them in flight at once. */
static gable_status go(const bench *b, const gable_exchange_arrays *each, int down)
{
  gable_status status = forest_before(b->comm, b->o->model_a);
  const int n = b->o->plans;
  if (n > 1 && !b->o->apart) {
    if (!status) status = gable_exchange_begin_all(n, each);
    if (!status) status = gable_exchange_end_all(n, each);
    return status ? status : forest_after(b->comm, b->o->model_a);
  }
  for (int k = 0; k < n && !status; k++)
    status = (down ? gable_bcast_begin : gable_reduce_begin)(each[k].exchange, each[k].from, each[k].to);
  for (int k = 0; k < n && !status; k++) status = gable_exchange_end(each[k].exchange);
  return status ? status : forest_after(b->comm, b->o->model_a);
}

static gable_status enqueue(bench *b, long n)
{
  gable_status status = GABLE_OK;
  for (long k = 0; k < n && !status; k++) {
    status = go(b, b->down, 1);
    if (!status) status = go(b, b->up, 0);
  }
  return status;
}

static int enqueue_captured(void *user)
{
  return enqueue(user, CAPTURED) != GABLE_OK;
}

/* Until they are done; captured ones by the graph. */
static gable_status round_trips(bench *b, long n)
{
  gable_status status = GABLE_OK;
  if (b->graph)
    for (long k = 0; k < n && !status; k += CAPTURED)
      status = bench_graph_launch(b->graph) ? GABLE_ERR_BACKEND : GABLE_OK;
  else
    status = enqueue(b, n);
  for (int k = 0; k < b->o->plans && !status; k++) {
    status = gable_exchange_wait(b->plan[k].down);
    if (!status) status = gable_exchange_wait(b->plan[k].up);
  }
  return status;
}

/* n of an array into b->host. */
static gable_status fetch(bench *b, const double *array, gable_off n)
{
  gable_context *ctx = gable_comm_context(b->comm);
  gable_status status = gable_device_copy_out(ctx, b->host, array, (size_t)n * sizeof *array, NULL);
  return status ? status : gable_device_synchronise(ctx, NULL);
}

/* Collective.  Nothing is wrong on any rank. */
static gable_status agree_right(const bench *b, int wrong, forest_row *row)
{
  int all[1024];
  const gable_status status = gable_comm_allgather(b->comm, &wrong, sizeof wrong, all);
  row->checked &= !status;
  for (int r = 0; r < gable_comm_size(b->comm) && !status; r++) row->checked &= !all[r];
  return status;
}

/* After one bcast every leaf has its root's value (op REPLACE and SUM onto zeros alike). */
static gable_status check(bench *b, forest_row *row)
{
  const gable_off n = b->info.n_leaves;
  gable_off *leaf = malloc(((size_t)n + 1) * sizeof *leaf);
  gable_root *root = malloc(((size_t)n + 1) * sizeof *root);
  int wrong = 0;
  gable_status status = gable_comm_agree(b->comm, leaf && root ? GABLE_OK : GABLE_ERR_MEMORY);
  if (!status) status = go(b, b->down, 1);
  if (!status) status = gable_forest_get_leaves(b->f, leaf, root);
  for (int k = 0; k < b->o->plans && !status; k++) {
    status = gable_exchange_wait(b->plan[k].down);
    if (!status) status = fetch(b, b->plan[k].leaf[b->apart], b->info.leaf_space);
    for (gable_off i = 0; i < n && !status; i++) wrong |= b->host[leaf[i]] != stamp(root[i].index);
  }
  row->checked = 1;
  if (!status) status = agree_right(b, wrong, row);
  free(leaf);
  free(root);
  return status;
}

/* A stamped root after so many round trips, whose leaves were zeros; all of them have had one value.  Whole numbers
 * below 2^53: a root of 4 leaves grows 5 times in each of CAPTURED trips.  Roots of pingpong have what was in leaves.
 */
static double root_after(const bench *b, gable_off i, gable_off degree, int trips)
{
  double root = stamp(i), leaf = 0;
  if (b->apart) return degree ? root : 0;
  for (int k = 0; k < trips && degree; k++) {
    leaf = b->adds_down ? leaf + root : root;
    root = b->adds_up ? root + (double)degree * leaf : leaf;
  }
  return root;
}

/* Round trips as they were timed, with values that none had before: what the reduces wrote, and the bcasts of pingpong
 * and newpingpong, which have leaf i of root i. */
static gable_status check_roots(bench *b, forest_row *row)
{
  const gable_off n = b->info.n_roots;
  gable_off *degree = malloc(((size_t)n + 1) * sizeof *degree);
  int wrong = 0;
  gable_status status = gable_comm_agree(b->comm, degree ? gable_forest_get_degree(b->f, degree) : GABLE_ERR_MEMORY);
  if (!status) status = set_all(b, 1);
  for (int k = 0; k < b->o->plans && b->apart && !status; k++) {
    status = set(b, b->plan[k].root[1], n, 0);
    if (!status) status = set(b, b->plan[k].leaf[0], b->info.leaf_space, 1);
  }
  if (!status) status = gable_comm_barrier(b->comm);
  if (!status) status = round_trips(b, 1);
  for (int k = 0; k < b->o->plans && !status; k++) {
    status = fetch(b, b->plan[k].root[b->apart], n);
    for (gable_off i = 0; i < n && !status; i++)
      wrong |= b->host[i] != root_after(b, i, degree[i], b->graph ? CAPTURED : 1);
    if (!status && !b->adds_up) status = fetch(b, b->plan[k].leaf[b->apart], b->info.leaf_space);
    for (gable_off i = 0; i < b->info.leaf_space && !b->adds_up && !status; i++) wrong |= b->host[i] != stamp(i);
  }
  if (!status) status = agree_right(b, wrong, row);
  free(degree);
  return status;
}

/* Sums of all exchanges so far. */
static gable_status count(const bench *b, double sign, forest_row *row)
{
  gable_status status = GABLE_OK;
  for (int k = 0; k < 2 * b->o->plans && !status; k++) {
    const pair *p = &b->plan[k / 2];
    gable_exchange_info info = GABLE_EXCHANGE_INFO_INIT;
    status = gable_exchange_get_info(k % 2 ? p->up : p->down, &info);
    row->puts += sign * (double)info.puts;
    row->launches += sign * (double)info.launches;
    row->syncs += sign * (double)info.syncs;
  }
  return status;
}

/* One round trip by itself: what it makes the rank do. */
static gable_status count_one(bench *b, forest_row *row)
{
  gable_status status = count(b, -0.5, row);
  if (!status) status = enqueue(b, 1);
  for (int k = 0; k < b->o->plans && !status; k++) status = gable_exchange_wait(b->plan[k].up);
  return status ? status : count(b, 0.5, row);
}

/* Round trips of a batch of about 2 ms, where one takes so many seconds; few enough that a batch ends soon where ranks
 * lose their processors and each trip takes milliseconds. */
static long batch_length(const bench *b, double trip_s)
{
  const double wanted = 2e-3 / (trip_s > 1e-9 ? trip_s : 1e-9);
  const long few = wanted < 3 ? 3 : wanted > 1000 ? 1000 : (long)wanted;
  return b->o->captured ? (few + CAPTURED - 1) / CAPTURED * CAPTURED : few;
}

static gable_status measure(bench *b, forest_row *row)
{
  double t[BATCHES], all[1024], mine = 0;
  gable_status status = check(b, row);
  for (gable_off i = 0; i < b->info.n_leaves && !status; i++) mine += b->host[i];
  if (!status) status = gable_comm_allgather(b->comm, &mine, sizeof mine, all);
  for (int r = 0; r < gable_comm_size(b->comm) && !status; r++) row->checksum += all[r];
  if (!status) status = set_all(b, 0); /* sums would grow without end: they are of zeros from here on */
  if (!status) status = gable_comm_barrier(b->comm);
  if (!status) status = count_one(b, row);
  if (!status) status = gable_comm_barrier(b->comm);
  if (b->o->captured) {
    if (!status) b->graph = bench_graph_capture(gable_context_stream(gable_comm_context(b->comm)), enqueue_captured, b);
    if (!status && !b->graph) status = GABLE_ERR_UNAVAILABLE;
    status = gable_comm_agree(b->comm, status); /* no graph is made while kernels of another rank wait */
  }
  double from = stopwatch_now();
  if (!status) status = round_trips(b, 1);
  row->setup_s = b->setup_s + stopwatch_now() - from;
  if (!status) status = round_trips(b, 2);
  from = stopwatch_now();
  if (!status) status = round_trips(b, 5);
  mine = (stopwatch_now() - from) / (b->o->captured ? CAPTURED : 5);
  if (!status) status = gable_comm_allgather(b->comm, &mine, sizeof mine, all);
  if (status) return status;
  long n = batch_length(b, all[0]);
  for (int k = 0; k < BATCHES && !status; k++) {
    status = gable_comm_barrier(b->comm);
    from = stopwatch_now();
    if (!status) status = round_trips(b, n);
    t[k] = (stopwatch_now() - from) / (2.0 * (double)n);
    if (!status) status = gable_comm_allgather(b->comm, &t[k], sizeof *t, all);
    n = batch_length(b, 2.0 * all[0]);
  }
  const quartiles q = stopwatch_quartiles(t, BATCHES);
  row->one_way_s = q.median;
  row->q1_s = q.q1;
  row->q3_s = q.q3;
  row->gbytes_s = 1e-9 * (double)row->bytes * b->o->plans / row->one_way_s;
  return status ? status : check_roots(b, row);
}

/* n roots on rank 0, their leaves on rank 1, and on rank 0 too for scatter. */
static gable_status pair_forest(gable_comm *comm, gable_off n, int local, gable_forest **out)
{
  const int rank = gable_comm_rank(comm);
  const gable_off leaves = rank == 1 || (rank == 0 && local) ? n : 0;
  gable_root *root = malloc(((size_t)leaves + 1) * sizeof *root);
  gable_status status = gable_comm_agree(comm, root ? GABLE_OK : GABLE_ERR_MEMORY);
  for (gable_off i = 0; i < leaves && !status; i++) root[i] = (gable_root){0, i};
  if (!status) status = gable_forest_create(comm, rank ? 0 : n, leaves, NULL, root, out);
  free(root);
  return status;
}

gable_status forest_bench_grid(gable_comm *comm, gable_off n, gable_forest **out)
{
  gable_grid g = GABLE_GRID_INIT;
  const int ranks = gable_comm_size(comm);
  g.ranks[0] = 1;
  while ((g.ranks[0] + 1) * (g.ranks[0] + 1) <= ranks) g.ranks[0]++;
  while (ranks % g.ranks[0]) g.ranks[0]--;
  g.ranks[1] = ranks / g.ranks[0];
  for (int d = 0; d < 2; d++) g.cells[d] = n * g.ranks[d];
  return gable_forest_create_grid(comm, &g, out);
}

static gable_status run_one(gable_comm *comm, const char *test, gable_off n, const forest_bench_options *o,
                            forest_row *row)
{
  const int halo = !strcmp(test, "halo"), sums = !strcmp(test, "unpack") || !strcmp(test, "scatter");
  bench b = {.comm = comm, .o = o, .apart = !strcmp(test, "pingpong"), .adds_down = sums, .adds_up = sums || halo};
  const char *codec = NULL;
  memset(row, 0, sizeof *row);
  row->plans = o->plans;
  row->n = n;
  row->bytes = n * (gable_off)sizeof(double);
  gable_status status = gable_comm_barrier(comm);
  b.setup_s = -stopwatch_now();
  if (!status) status = halo ? forest_bench_grid(comm, n, &b.f) : pair_forest(comm, n, !strcmp(test, "scatter"), &b.f);
  b.setup_s += stopwatch_now();
  if (!status) status = open_bench(&b);
  if (!status && b.info.leaf_ranks) {
    status = gable_forest_get_leaf_rank(b.f, b.info.leaf_ranks - 1, NULL, NULL, &codec);
    if (!status) snprintf(row->codec, sizeof row->codec, "%s", codec);
  }
  row->messages = o->plans * (b.info.leaf_ranks - (b.info.local_edges > 0));
  if (!status) status = measure(&b, row);
  close_bench(&b);
  return status;
}

gable_status forest_bench_messages(gable_comm *comm, const forest_bench_options *o, forest_message_time *l)
{
  forest_row least, largest;
  gable_off n = 1;
  forest_bench_options one = *o;
  one.plans = 1;
  one.atomics = 0;
  while (16 * n <= o->most) n *= 2;
  gable_status status = run_one(comm, "pingpong", 1, &one, &least);
  if (!status) status = run_one(comm, "pingpong", n, &one, &largest);
  if (status) return status;
  l->alpha = least.one_way_s;
  l->beta = (largest.one_way_s - least.one_way_s) / (double)(8 * n);
  return GABLE_OK;
}

gable_status forest_bench(gable_comm *comm, const char *test, const forest_bench_options *o, forest_row *rows,
                          int *count)
{
  const int halo = !strcmp(test, "halo"), several = gable_comm_size(comm) > 1;
  forest_message_time l = {0, 0};
  forest_times times;
  gable_status status = forest_times_open(comm, &times);
  if (!status && several) status = forest_bench_messages(comm, o, &l);
  if (!status) status = run_one(comm, test, halo ? 32 : 1024, o, rows); /* no row pays for the first pages of memory */
  *count = 0;
  for (gable_off n = halo ? 4 : 1; (halo ? 8 * n * n : 8 * n) <= o->most && *count < FOREST_ROWS && !status; n *= 2) {
    forest_row *row = &rows[(*count)++];
    status = run_one(comm, test, n, o, row);
    if (status || gable_comm_rank(comm)) continue;
    row->floor_s = forest_floor(&times, test, row, o->captured);
    row->model_s = several && o->plans == 1 ? forest_model(&times, test, row, &l) : 0;
  }
  return status;
}
