/* forest_solve.c: see forest_solve.h. */
#include "forest_solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forest_cg.h"
#include "forest_model.h"
#include "forest_serial.h"
#include "stopwatch.h"

enum { BATCHES = 15, SOLVES = 3, CAPTURED = 20 /* products of a graph */ };

/* What is solved, by the rows of this rank. */
typedef struct solve {
  const gable_matrix_view *a;
  const int32_t *part;
  const forest_solve_options *o;
  forest_rows rows;
  bench_graph *graph; /* of CAPTURED products or some iterations; NULL: each is enqueued */
  int64_t timed;      /* iterations of a solve that is timed: what is enqueued at once, a whole number of times */
} solve;

/* Of products 1 + (i mod 1024) / 1024, of cg ones. */
static double given(const forest_solve_options *o, gable_idx i)
{
  return o->cg ? 1 : 1 + (double)(i % 1024) / 1024;
}

/* p of this rank's rows, from their numbers in the matrix. */
static gable_status set_own(const solve *e)
{
  const int rank = gable_comm_rank(e->rows.comm);
  double *own = calloc((size_t)e->rows.a.n + 1, sizeof *own);
  gable_off k = 0;
  gable_status status = own ? GABLE_OK : GABLE_ERR_MEMORY;
  for (gable_idx i = 0; i < e->a->n_rows && own; i++)
    if (e->part[i] == rank) own[k++] = given(e->o, i);
  if (!status) status = forest_rows_put(&e->rows, e->rows.a.p, own, (size_t)k * sizeof *own);
  free(own);
  return status;
}

/* own [rows of this rank] becomes all [n of the matrix] on rank 0, by a forest from rank 0's leaves to the owners'
 * roots. */
static gable_status collect(const solve *e, const double *own, double *all)
{
  gable_comm *comm = e->rows.comm;
  const gable_idx n = gable_comm_rank(comm) ? 0 : e->a->n_rows;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  gable_root *root = malloc(((size_t)n + 1) * sizeof *root);
  gable_off *next = calloc((size_t)gable_comm_size(comm), sizeof *next);
  gable_status status = gable_comm_agree(comm, root && next ? GABLE_OK : GABLE_ERR_MEMORY);
  for (gable_idx i = 0; i < n && !status; i++) root[i] = (gable_root){e->part[i], next[e->part[i]]++};
  if (!status) status = gable_forest_create(comm, e->rows.a.n, n, NULL, root, &f);
  if (!status) status = gable_plan_create(f, &o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, &x);
  if (!status) status = gable_bcast_begin(x, own, all);
  if (!status) status = gable_exchange_end(x);
  gable_exchange_destroy(&x);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  free(next);
  free(root);
  return status;
}

/* The serial program may take longer than the deadline: rank 0 tells the others ten times a second that it is at
 * work. */
typedef struct watch {
  gable_comm *comm;
  double told;
  gable_status status; /* of telling */
} watch;

/* Collective.  *first: rank 0's at_work. */
static gable_status tell(gable_comm *comm, char at_work, char *first)
{
  char *all = malloc((size_t)gable_comm_size(comm));
  gable_status status = all ? gable_comm_allgather(comm, &at_work, 1, all) : GABLE_ERR_MEMORY;
  *first = status ? 0 : all[0];
  free(all);
  return status;
}

static gable_status keep_telling(void *user)
{
  watch *w = user;
  char first;
  if (stopwatch_now() - w->told < 0.1) return GABLE_OK;
  w->told = stopwatch_now();
  w->status = tell(w->comm, 1, &first);
  return w->status;
}

/* The serial program on rank 0: the same product or iteration on the whole matrix; found [n]: what the ranks have. */
static gable_status compare(const solve *e, const double *found, watch *w, forest_solve_result *out)
{
  const gable_idx n = e->a->n_rows;
  const size_t bytes = (size_t)n * sizeof(double);
  double *x = calloc(2 * (size_t)n + 1, sizeof *x), *b = x ? x + n : NULL;
  forest_cg_outcome right = {0, 0, 0, 0};
  if (!x) return GABLE_ERR_MEMORY;
  for (gable_idx i = 0; i < n; i++) x[i] = given(e->o, i);
  forest_serial_product(e->a, x, b);
  gable_status status = GABLE_OK;
  if (e->o->cg) {
    status = forest_serial_cg(e->a, e->part, gable_comm_size(e->rows.comm), e->o->tolerance, e->o->iterations, b, x,
                              keep_telling, w, &right, &out->true_residual);
    const int same = right.residual == out->residual || (isnan(right.residual) && isnan(out->residual));
    out->checked = !memcmp(x, found, bytes) && right.iterations == out->iterations && same;
  } else {
    out->checked = !memcmp(b, found, bytes);
  }
  for (gable_idx i = 0; i < n; i++) out->checksum += found[i];
  free(x);
  return status;
}

/* Collective.  Where telling fails, which names the rank that did not come, nothing more is said to the others. */
static gable_status check(const solve *e, const double *found, forest_solve_result *out)
{
  gable_comm *comm = e->rows.comm;
  watch w = {comm, stopwatch_now(), GABLE_OK};
  char at_work = 1;
  gable_status status = GABLE_OK;
  if (!gable_comm_rank(comm)) {
    status = compare(e, found, &w, out);
    if (!w.status) w.status = tell(comm, 0, &at_work);
  }
  while (gable_comm_rank(comm) && !w.status && at_work) w.status = tell(comm, 0, &at_work);
  return w.status ? w.status : gable_comm_agree(comm, status);
}

/* n products, or e->timed iterations; *done: how many products or iterations. */
static gable_status batch(solve *e, long n, long *done)
{
  forest_cg_outcome cg = {1, 0, 0, 0};
  gable_status status = GABLE_OK;
  if (e->o->cg) {
    status = forest_cg(&e->rows, 0, e->timed, e->graph, &cg);
    *done = cg.iterations ? (long)cg.iterations : 1;
    return status;
  }
  *done = e->graph ? (n + CAPTURED - 1) / CAPTURED * CAPTURED : n;
  for (long k = 0; k < *done && !status; k += e->graph ? CAPTURED : 1)
    if (e->graph)
      status = bench_graph_launch(e->graph) ? GABLE_ERR_BACKEND : GABLE_OK;
    else
      status = forest_rows_product(&e->rows);
  return status ? status : forest_rows_wait(&e->rows);
}

/* The product, for cg then b = that product and the solve; its result against the serial program's. */
static gable_status solve_once(solve *e, forest_solve_result *out)
{
  const forest_arrays *a = &e->rows.a;
  const int first = !gable_comm_rank(e->rows.comm);
  const size_t bytes = (size_t)a->n * sizeof(double);
  double *own = calloc((size_t)a->n + 1, sizeof *own);
  long done = 1;
  double *found = first ? calloc((size_t)e->a->n_rows + 1, sizeof *found) : NULL;
  gable_status status = own && (found || !first) ? set_own(e) : GABLE_ERR_MEMORY;
  status = gable_comm_agree(e->rows.comm, status);
  if (!status && e->o->cg) status = forest_rows_product(&e->rows);
  if (!status && !e->o->cg) status = batch(e, 1, &done);
  if (!status) status = forest_rows_wait(&e->rows);
  if (!status) status = forest_rows_get(&e->rows, own, a->q, bytes);
  if (!status && e->o->cg) {
    forest_cg_outcome cg = {0, 0, 0, 0};
    status = forest_rows_put(&e->rows, a->b, own, bytes);
    if (!status) status = gable_comm_barrier(e->rows.comm); /* no copy while kernels of another rank wait */
    if (!status) status = forest_cg(&e->rows, e->o->tolerance, e->o->iterations, e->graph, &cg);
    if (!status) status = forest_rows_get(&e->rows, own, a->x, bytes);
    out->iterations = cg.iterations;
    e->timed = (cg.iterations / FOREST_CG_ENQUEUED + 1) * FOREST_CG_ENQUEUED;
    out->residual = cg.residual;
    out->converged = cg.converged;
    out->underflowed = cg.underflowed;
  }
  if (!status) status = collect(e, own, found);
  if (!status) status = check(e, found, out);
  free(own);
  free(found);
  return status;
}

/* Of both exchanges so far. */
static gable_status count(const solve *e, double weight, forest_solve_result *out)
{
  const gable_exchange *const both[] = {e->rows.exchange, e->rows.sums};
  gable_status status = GABLE_OK;
  for (int k = 0; k < 2 && !status; k++) {
    gable_exchange_info info = GABLE_EXCHANGE_INFO_INIT;
    status = gable_exchange_get_info(both[k], &info);
    out->puts += weight * (double)info.puts;
    out->launches += weight * (double)info.launches;
    out->syncs += weight * (double)info.syncs;
  }
  return status;
}

/* A batch by itself: how many products make one of 2 ms, the same on every rank; and what one makes rank 0 do. */
static gable_status size_batch(solve *e, long *many, forest_solve_result *out)
{
  double *all = malloc((size_t)e->rows.a.ranks * sizeof *all), mine = 0;
  forest_solve_result before = {0}, after = {0};
  long done = 1;
  gable_status status = gable_comm_agree(e->rows.comm, all ? GABLE_OK : GABLE_ERR_MEMORY);
  if (!status) status = batch(e, 1, &done);
  if (!status) status = count(e, 1, &before);
  if (!status) status = gable_comm_barrier(e->rows.comm);
  const double from = stopwatch_now();
  if (!status) status = batch(e, 3, &done);
  mine = (stopwatch_now() - from) / (double)done;
  if (!status) status = count(e, 1, &after);
  out->puts = (after.puts - before.puts) / (double)done;
  out->launches = (after.launches - before.launches) / (double)done;
  out->syncs = (after.syncs - before.syncs) / (double)done;
  if (!status) status = gable_comm_allgather(e->rows.comm, &mine, sizeof mine, all);
  if (!status) *many = all[0] > 2e-3 ? 1 : all[0] < 1e-5 ? 200 : (long)(2e-3 / all[0]);
  free(all);
  return status;
}

/* Batches of products or iterations; seconds of one product or iteration. */
static gable_status measure(solve *e, forest_solve_result *out)
{
  gable_comm *comm = e->rows.comm;
  double t[BATCHES] = {0}, from = 0;
  long many = 1, done = 1;
  gable_status status = size_batch(e, &many, out);
  const int batches = e->o->cg ? SOLVES : BATCHES;
  for (int k = 0; k < batches && !status; k++) {
    status = gable_comm_barrier(comm);
    from = stopwatch_now();
    if (!status) status = batch(e, many, &done);
    t[k] = (stopwatch_now() - from) / (double)done;
  }
  const quartiles q = stopwatch_quartiles(t, batches);
  out->one_way_s = q.median;
  out->q1_s = q.q1;
  out->q3_s = q.q3;
  if (!status) status = gable_comm_barrier(comm);
  for (int k = 0; k < BATCHES && !status; k++) {
    from = stopwatch_now();
    for (long i = 0; i < many && !status; i++) status = forest_rows_local(&e->rows);
    if (!status) status = forest_rows_wait(&e->rows);
    t[k] = (stopwatch_now() - from) / (double)many;
  }
  out->local_s = stopwatch_quartiles(t, BATCHES).median;
  return status;
}

/* After measure. */
static gable_status predict(const solve *e, forest_solve_result *out)
{
  const forest_bench_options messages = {1 << 18, e->o->path, e->o->captured, 1, 0, 0, e->o->model_a};
  const forest_arrays *a = &e->rows.a;
  forest_work w = {e->o->cg, e->o->captured, (int)a->ranks, (double)a->n, (double)a->inner, 0, (double)a->ghosts, 0};
  forest_message_time l = {0, 0};
  forest_times times;
  int64_t entries = 0;
  gable_status status = forest_rows_get(&e->rows, &entries, a->ptr + a->n, sizeof entries);
  status = gable_comm_agree(e->rows.comm, status);
  if (!status) status = forest_times_open(e->rows.comm, &times);
  if (!status && a->ranks > 1) status = forest_bench_messages(e->rows.comm, &messages, &l);
  if (status || gable_comm_rank(e->rows.comm)) return status;
  w.nnz = (double)entries;
  w.local_s = out->local_s;
  out->floor_s = forest_work_floor(&times, &w);
  out->model_s = a->ranks > 1 ? forest_work_model(&times, &w, &l) : 0;
  return GABLE_OK;
}

static int products_captured(void *user)
{
  solve *e = user;
  gable_status status = GABLE_OK;
  for (int k = 0; k < CAPTURED && !status; k++) status = forest_rows_product(&e->rows);
  return status != GABLE_OK;
}

static gable_status capture(solve *e)
{
  if (e->o->cg) return forest_cg_capture(&e->rows, &e->graph);
  const gable_status status = gable_comm_barrier(e->rows.comm);
  if (status) return status;
  e->graph = bench_graph_capture(gable_context_stream(e->rows.ctx), products_captured, e);
  return gable_comm_agree(e->rows.comm, e->graph ? GABLE_OK : GABLE_ERR_UNAVAILABLE);
}

static gable_status describe(const solve *e, forest_solve_result *out)
{
  const int ranks = (int)e->rows.a.ranks;
  const int64_t own[2] = {e->rows.a.n, e->rows.a.ghosts};
  gable_forest_info info = GABLE_FOREST_INFO_INIT;
  int64_t *all = malloc((size_t)ranks * sizeof own);
  gable_status status = gable_comm_agree(e->rows.comm, all ? GABLE_OK : GABLE_ERR_MEMORY);
  if (!status) status = gable_comm_allgather(e->rows.comm, own, sizeof own, all);
  if (!status) status = gable_forest_get_info(e->rows.halo, &info);
  out->n = out->rows_least = e->a->n_rows;
  out->nnz = ((const int64_t *)e->a->ptr)[e->a->n_cols];
  for (int q = 0; q < ranks && !status; q++) {
    if (all[2 * q] < out->rows_least) out->rows_least = (gable_idx)all[2 * q];
    if (all[2 * q] > out->rows_most) out->rows_most = (gable_idx)all[2 * q];
    out->edges += all[2 * q + 1];
  }
  out->messages = info.leaf_ranks; /* no ghost is a rank's own */
  const char *codec = "";
  if (!status && info.leaf_ranks) status = gable_forest_get_leaf_rank(e->rows.halo, 0, NULL, NULL, &codec);
  snprintf(out->codec, sizeof out->codec, "%s", codec);
  free(all);
  return status;
}

gable_status forest_solve(gable_comm *comm, const gable_matrix_view *a, const int32_t *part,
                          const forest_solve_options *o, forest_solve_result *out)
{
  solve e = {.a = a, .part = part, .o = o};
  memset(out, 0, sizeof *out);
  gable_status status = forest_rows_open(comm, a, part, o->path, &e.rows);
  e.rows.model_a = o->model_a;
  if (!status && o->captured) status = capture(&e);
  if (!status) status = solve_once(&e, out);
  if (!status) status = describe(&e, out);
  if (!status) status = measure(&e, out);
  if (!status) status = predict(&e, out);
  bench_graph_destroy(e.graph);
  forest_rows_close(&e.rows);
  return status;
}
