/* forest_solve.c: see forest_solve.h.
 *
 * Sums over all rows (u, v) have one order: each rank sums its own rows from the first to the last, then the ranks'
 * sums are added by increasing rank.  The serial program does the same with part[], so every bit of cg is its own. */
#include "forest_solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stopwatch.h"

enum { BATCHES = 15, SOLVES = 3, VECTORS = 5 };

/* The vectors of one rank, or of the serial program; p has the halo. */
typedef struct vectors {
  double *x, *r, *p, *q, *b;
} vectors;

static gable_status vectors_open(vectors *v, gable_idx n, gable_idx ghosts)
{
  double **const all[VECTORS] = {&v->x, &v->r, &v->p, &v->q, &v->b};
  int there = 1;
  for (int k = 0; k < VECTORS; k++) {
    *all[k] = calloc((size_t)n + (size_t)ghosts + 1, sizeof(double));
    there &= *all[k] != NULL;
  }
  return there ? GABLE_OK : GABLE_ERR_MEMORY;
}

static void vectors_close(vectors *v)
{
  free(v->x);
  free(v->r);
  free(v->p);
  free(v->q);
  free(v->b);
}

/* Sums over all ranks, by a forest of one root a rank and all of them as leaves of each. */
typedef struct summation {
  gable_exchange *exchange;
  double *parts; /* [ranks] */
  int ranks;
} summation;

static gable_status summation_open(gable_comm *comm, summation *s)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  s->ranks = gable_comm_size(comm);
  s->parts = calloc((size_t)s->ranks, sizeof *s->parts);
  gable_status status = gable_comm_agree(comm, s->parts ? GABLE_OK : GABLE_ERR_MEMORY);
  if (!status) status = gable_forest_create_pattern(comm, GABLE_PATTERN_ALLGATHER, 1, &f);
  if (!status) status = gable_plan_create(f, &o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, &s->exchange);
  gable_plan_destroy(&plan);
  gable_forest_destroy(&f);
  return status;
}

static void summation_close(summation *s)
{
  gable_exchange_destroy(&s->exchange);
  free(s->parts);
}

/* What the iteration works on: the rows of a rank, or the whole matrix with the parts. */
typedef struct equations {
  forest_rows *rows;
  summation sums;
  const gable_matrix_view *a;
  const int32_t *part;
  gable_idx n;
  double *x, *y; /* of products that are measured: of the rank's vectors, or in device memory */
} equations;

static gable_status product(const equations *e, double *x, double *y)
{
  if (e->rows) return forest_rows_product(e->rows, x, y);
  const int64_t *ptr = e->a->ptr;
  const double *val = e->a->val;
  memset(y, 0, (size_t)e->n * sizeof *y);
  for (gable_idx j = 0; j < e->n; j++)
    for (int64_t k = ptr[j]; k < ptr[j + 1]; k++) y[e->a->idx[k]] += val[k] * x[j];
  return GABLE_OK;
}

static gable_status dot(const equations *e, const double *u, const double *v, double *out)
{
  gable_status status = GABLE_OK;
  double own = 0, sum = 0;
  if (e->rows) {
    for (gable_idx i = 0; i < e->n; i++) own += u[i] * v[i];
    status = gable_bcast_begin(e->sums.exchange, &own, e->sums.parts);
    if (!status) status = gable_exchange_end(e->sums.exchange);
  } else {
    for (int r = 0; r < e->sums.ranks; r++) e->sums.parts[r] = 0;
    for (gable_idx i = 0; i < e->n; i++) e->sums.parts[e->part[i]] += u[i] * v[i];
  }
  for (int r = 0; r < e->sums.ranks; r++) sum += e->sums.parts[r];
  *out = sum;
  return status;
}

typedef struct outcome {
  gable_idx iterations;
  double residual;
  int converged;
} outcome;

/* Conjugate gradients from x = 0 (Saad, Iterative methods for sparse linear systems, algorithm 6.18). */
static gable_status iterate(const equations *e, const forest_solve_options *o, vectors *v, outcome *out)
{
  double bb = 0, rr = 0, pq = 0;
  *out = (outcome){0, 0, 0};
  for (gable_idx i = 0; i < e->n; i++) {
    v->x[i] = 0;
    v->r[i] = v->p[i] = v->b[i];
  }
  gable_status status = dot(e, v->b, v->b, &bb);
  for (rr = bb; !status && out->iterations < o->iterations && rr > o->tolerance * o->tolerance * bb;) {
    const double old = rr;
    status = product(e, v->p, v->q);
    if (!status) status = dot(e, v->p, v->q, &pq);
    if (status || !(pq > 0)) break; /* not positive definite */
    const double alpha = old / pq;
    for (gable_idx i = 0; i < e->n; i++) {
      v->x[i] += alpha * v->p[i];
      v->r[i] -= alpha * v->q[i];
    }
    status = dot(e, v->r, v->r, &rr);
    const double beta = rr / old;
    for (gable_idx i = 0; i < e->n; i++) v->p[i] = v->r[i] + beta * v->p[i];
    out->iterations++;
  }
  out->residual = bb > 0 ? sqrt(rr / bb) : 0;
  out->converged = rr <= o->tolerance * o->tolerance * bb;
  return status;
}

/* all [n of the matrix] on rank 0 becomes own of every rank, by a forest from rank 0's leaves to the owners' roots. */
static gable_status collect(const forest_rows *r, const gable_matrix_view *a, const int32_t *part, const double *own,
                            double *all)
{
  const gable_idx n = gable_comm_rank(r->comm) ? 0 : a->n_rows;
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT;
  gable_forest *f = NULL;
  gable_plan *plan = NULL;
  gable_exchange *x = NULL;
  gable_root *root = malloc(((size_t)n + 1) * sizeof *root);
  gable_off *next = calloc((size_t)gable_comm_size(r->comm), sizeof *next);
  gable_status status = gable_comm_agree(r->comm, root && next ? GABLE_OK : GABLE_ERR_MEMORY);
  for (gable_idx i = 0; i < n && !status; i++) root[i] = (gable_root){part[i], next[part[i]]++};
  if (!status) status = gable_forest_create(r->comm, r->n, n, NULL, root, &f);
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

/* The serial program on rank 0: the same product or iteration on the whole matrix; found [n]: what the ranks have. */
static gable_status compare(const equations *whole, const forest_solve_options *o, const double *found,
                            forest_solve_result *out)
{
  vectors v;
  outcome right = {0, 0, 0};
  gable_status status = vectors_open(&v, whole->n, 0);
  const size_t bytes = (size_t)whole->n * sizeof(double);
  for (gable_idx i = 0; i < whole->n && !status; i++) v.p[i] = o->cg ? 1 : 1 + (double)(i % 1024) / 1024;
  if (!status) status = product(whole, v.p, v.b);
  if (!status && o->cg) {
    double rr = 0, bb = 0;
    status = iterate(whole, o, &v, &right);
    if (!status) status = product(whole, v.x, v.q);
    for (gable_idx i = 0; i < whole->n; i++) v.q[i] = v.b[i] - v.q[i];
    if (!status) status = dot(whole, v.q, v.q, &rr);
    if (!status) status = dot(whole, v.b, v.b, &bb);
    out->true_residual = bb > 0 ? sqrt(rr / bb) : 0;
    out->checked = !memcmp(v.x, found, bytes) && right.iterations == out->iterations && right.residual == out->residual;
  } else if (!status) {
    out->checked = !memcmp(v.b, found, bytes);
  }
  for (gable_idx i = 0; i < whole->n && !status; i++) out->checksum += found[i];
  vectors_close(&v);
  return status;
}

/* What is enqueued is done. */
static gable_status finish(const equations *e)
{
  return gable_device_synchronise(gable_comm_context(e->rows->comm), NULL);
}

/* y = A x of v->p into v->b, by arrays in device memory that stay for the measurement. */
static gable_status product_on_gpu(equations *e, vectors *v)
{
  gable_context *ctx = gable_comm_context(e->rows->comm);
  const size_t n = (size_t)e->n * sizeof(double), ghosts = (size_t)e->rows->ghosts * sizeof(double);
  gable_status status = gable_device_alloc(ctx, n + ghosts, (void **)&e->x);
  if (!status) status = gable_device_alloc(ctx, n, (void **)&e->y);
  if (!status) status = gable_device_copy_in(ctx, e->x, v->p, n + ghosts, NULL);
  status = gable_comm_agree(e->rows->comm, status);
  if (!status) status = product(e, e->x, e->y);
  if (!status) status = gable_exchange_wait(e->rows->exchange); /* before a copy to pageable memory */
  if (!status) status = gable_device_copy_out(ctx, v->b, e->y, n, NULL);
  return status ? status : finish(e);
}

/* Batches of products, or whole solves; seconds of one product or iteration. */
static gable_status measure(const equations *e, const forest_solve_options *o, vectors *v, forest_solve_result *out)
{
  gable_comm *comm = e->rows->comm;
  outcome cg = {0, 0, 0};
  double t[BATCHES], from = stopwatch_now(), first = 0, *all = malloc((size_t)e->sums.ranks * sizeof *all);
  gable_status status = gable_comm_agree(comm, all ? GABLE_OK : GABLE_ERR_MEMORY);
  if (!status) status = product(e, e->x, e->y);
  if (!status) status = finish(e);
  const double mine = stopwatch_now() - from;
  if (!status) status = gable_comm_allgather(comm, &mine, sizeof mine, all);
  if (!status) first = all[0]; /* the same on every rank, and so is the number of products */
  const int batches = o->cg ? SOLVES : BATCHES;
  const long many = first > 2e-3 ? 1 : first < 1e-5 ? 200 : (long)(2e-3 / first);
  for (int k = 0; k < batches && !status; k++) {
    status = gable_comm_barrier(comm);
    from = stopwatch_now();
    for (long i = 0; i < many && !status && !o->cg; i++) status = product(e, e->x, e->y);
    if (!status) status = finish(e);
    if (!status && o->cg) status = iterate(e, o, v, &cg);
    t[k] = (stopwatch_now() - from) / (double)(!o->cg ? many : cg.iterations ? cg.iterations : 1);
  }
  const quartiles q = stopwatch_quartiles(t, batches);
  out->one_way_s = q.median;
  out->q1_s = q.q1;
  out->q3_s = q.q3;
  if (!status) status = gable_comm_barrier(comm);
  for (int k = 0; k < BATCHES && !status; k++) {
    from = stopwatch_now();
    for (long i = 0; i < many && !status; i++) status = forest_rows_local(e->rows, e->x, e->y);
    if (!status) status = finish(e);
    t[k] = (stopwatch_now() - from) / (double)many;
  }
  out->local_s = stopwatch_quartiles(t, BATCHES).median;
  free(all);
  return status;
}

/* b or x of this rank's rows, from their numbers in the matrix. */
static void own_values(const equations *e, int cg, double *p)
{
  const int rank = gable_comm_rank(e->rows->comm);
  gable_idx k = 0;
  for (gable_idx i = 0; i < e->a->n_rows; i++)
    if (e->part[i] == rank) p[k++] = cg ? 1 : 1 + (double)(i % 1024) / 1024;
}

static gable_status describe(const forest_rows *r, const gable_matrix_view *a, forest_solve_result *out)
{
  const int ranks = gable_comm_size(r->comm);
  const int64_t own[2] = {r->n, r->ghosts};
  gable_forest_info info = GABLE_FOREST_INFO_INIT;
  int64_t *all = malloc((size_t)ranks * sizeof own);
  gable_status status = gable_comm_agree(r->comm, all ? GABLE_OK : GABLE_ERR_MEMORY);
  if (!status) status = gable_comm_allgather(r->comm, own, sizeof own, all);
  if (!status) status = gable_forest_get_info(r->halo, &info);
  out->n = out->rows_least = a->n_rows;
  out->nnz = ((const int64_t *)a->ptr)[a->n_cols];
  for (int q = 0; q < ranks && !status; q++) {
    if (all[2 * q] < out->rows_least) out->rows_least = (gable_idx)all[2 * q];
    if (all[2 * q] > out->rows_most) out->rows_most = (gable_idx)all[2 * q];
    out->edges += all[2 * q + 1];
  }
  out->messages = info.leaf_ranks; /* no ghost is a rank's own */
  const char *codec = "";
  if (!status && info.leaf_ranks) status = gable_forest_get_leaf_rank(r->halo, 0, NULL, NULL, &codec);
  snprintf(out->codec, sizeof out->codec, "%s", codec);
  free(all);
  return status;
}

gable_status forest_solve(gable_comm *comm, const gable_matrix_view *a, const int32_t *part,
                          const forest_solve_options *o, forest_solve_result *out)
{
  forest_rows rows;
  vectors v = {NULL, NULL, NULL, NULL, NULL};
  outcome cg = {0, 0, 0};
  double *found = NULL;
  memset(out, 0, sizeof *out);
  gable_status status = forest_rows_open(comm, a, part, &rows);
  equations e = {&rows, {NULL, NULL, 0}, a, part, rows.n, NULL, NULL};
  if (!status) status = summation_open(comm, &e.sums);
  if (!status) {
    found = gable_comm_rank(comm) ? NULL : calloc((size_t)a->n_rows + 1, sizeof *found);
    status = vectors_open(&v, rows.n, rows.ghosts);
    status = gable_comm_agree(comm, !found && !gable_comm_rank(comm) ? GABLE_ERR_MEMORY : status);
  }
  if (!status) {
    own_values(&e, o->cg, v.p);
    status = rows.device ? product_on_gpu(&e, &v) : product(&e, v.p, v.b);
  }
  if (!rows.device) {
    e.x = v.p;
    e.y = v.q;
  }
  if (!status && o->cg) status = iterate(&e, o, &v, &cg);
  out->iterations = cg.iterations;
  out->residual = cg.residual;
  out->converged = cg.converged;
  if (!status) status = collect(&rows, a, part, o->cg ? v.x : v.b, found);
  if (!status) {
    const equations whole = {NULL, e.sums, a, part, a->n_rows, NULL, NULL};
    status = gable_comm_agree(comm, found ? compare(&whole, o, found, out) : GABLE_OK);
  }
  if (!status) status = describe(&rows, a, out);
  if (!status) status = measure(&e, o, &v, out);
  summation_close(&e.sums);
  if (rows.device) {
    gable_device_free(gable_comm_context(comm), (void **)&e.x);
    gable_device_free(gable_comm_context(comm), (void **)&e.y);
  }
  vectors_close(&v);
  forest_rows_close(&rows);
  free(found);
  return status;
}
