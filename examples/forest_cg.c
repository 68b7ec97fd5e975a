/* forest_cg.c: conjugate gradients on a grid of SIDE x SIDE points that is cut over ranks by rows; the halo of p and
 * the sums over all ranks go along star forests.  One source for every place:
 *
 *   cc forest_cg.c $(pkg-config --cflags --libs gable) -lm && ./a.out cpu/ranks:4
 *   mpicc -DPROCESSES forest_cg.c $(pkg-config --cflags --libs gable) -lm && mpirun -n 4 ./a.out */
#include <gable/gable.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef PROCESSES
#include <gable/mpi.h>
#endif

enum { SIDE = 60, MOST = 200, NEIGHBOURS = 4 };

/* A rank has the points [first, first + n) of all; p has their neighbours on other ranks behind them. */
typedef struct domain {
  int ranks;
  gable_off first, n, ghosts;
  gable_off *column; /* [n * 4] places in p; -1: outside the grid */
  gable_exchange *halo, *sums;
  double *parts; /* [ranks] */
  double *x, *r, *p, *q;
} domain;

/* Neighbour k of point i of all, or -1. */
static gable_off neighbour(gable_off i, int k)
{
  const gable_off x = i % SIDE, y = i / SIDE;
  if (k == 0) return y > 0 ? i - SIDE : -1;
  if (k == 1) return x > 0 ? i - 1 : -1;
  if (k == 2) return x < SIDE - 1 ? i + 1 : -1;
  return y < SIDE - 1 ? i + SIDE : -1;
}

static gable_status bcast_of(gable_forest *f, gable_exchange **out)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT; /* one double, replaced */
  gable_plan *plan = NULL;
  gable_status status = gable_plan_create(f, &o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, out);
  gable_plan_destroy(&plan);
  return status;
}

/* A neighbour on another rank is a leaf behind the own points, joined to the root that its number names: ghosts are at
 * most one row of points above the own ones and one below. */
static gable_status domain_open(gable_comm *comm, domain *d)
{
  gable_forest *f = NULL, *all = NULL;
  gable_off leaf[2 * SIDE], global[2 * SIDE], place_of[2 * SIDE];
  const gable_off rank = gable_comm_rank(comm), points = SIDE * SIDE;
  d->ranks = gable_comm_size(comm);
  d->first = rank * points / d->ranks;
  d->n = (rank + 1) * points / d->ranks - d->first;
  const size_t room = (size_t)d->n + 2 * SIDE;
  d->column = calloc(room * NEIGHBOURS, sizeof *d->column);
  d->parts = calloc((size_t)d->ranks, sizeof *d->parts);
  d->x = calloc(room, sizeof *d->x);
  d->r = calloc(room, sizeof *d->r);
  d->p = calloc(room, sizeof *d->p);
  d->q = calloc(room, sizeof *d->q);
  const int there = d->column && d->parts && d->x && d->r && d->p && d->q;
  gable_status status = gable_comm_agree(comm, there ? GABLE_OK : GABLE_ERR_MEMORY);
  for (int k = 0; k < 2 * SIDE; k++) place_of[k] = -1;
  for (gable_off i = 0; i < d->n && !status; i++)
    for (int k = 0; k < NEIGHBOURS; k++) {
      const gable_off j = neighbour(d->first + i, k), own = j - d->first;
      gable_off *place = &d->column[i * NEIGHBOURS + k];
      *place = own;
      if (j < 0) *place = -1;
      if (j < 0 || (own >= 0 && own < d->n)) continue;
      gable_off *seen = &place_of[own < 0 ? -own - 1 : SIDE + own - d->n];
      if (*seen < 0) {
        *seen = leaf[d->ghosts] = d->n + d->ghosts;
        global[d->ghosts++] = j;
      }
      *place = *seen;
    }
  if (!status) status = gable_forest_create_global(comm, d->n, d->ghosts, leaf, global, &f);
  if (!status) status = bcast_of(f, &d->halo);
  if (!status) status = gable_forest_create_pattern(comm, GABLE_PATTERN_ALLGATHER, 1, &all);
  if (!status) status = bcast_of(all, &d->sums);
  gable_forest_destroy(&f);
  gable_forest_destroy(&all);
  return status;
}

static void domain_close(domain *d)
{
  gable_exchange_destroy(&d->halo);
  gable_exchange_destroy(&d->sums);
  free(d->column);
  free(d->parts);
  free(d->x);
  free(d->r);
  free(d->p);
  free(d->q);
}

/* y = (5 I - neighbours) p: the terms of the own points are added while the ghosts travel. */
static gable_status product(domain *d, double *p, double *y)
{
  gable_status status = gable_bcast_begin(d->halo, p, p);
  for (gable_off i = 0; i < d->n && !status; i++) {
    y[i] = 5 * p[i];
    for (int k = 0; k < NEIGHBOURS; k++) {
      const gable_off j = d->column[i * NEIGHBOURS + k];
      if (j >= 0 && j < d->n) y[i] -= p[j];
    }
  }
  if (!status) status = gable_exchange_end(d->halo);
  for (gable_off i = 0; i < d->n && !status; i++)
    for (int k = 0; k < NEIGHBOURS; k++) {
      const gable_off j = d->column[i * NEIGHBOURS + k];
      if (j >= d->n) y[i] -= p[j];
    }
  return status;
}

/* The same bits on every rank: each adds the sums of all by increasing rank. */
static gable_status dot(domain *d, const double *u, const double *v, double *out)
{
  double own = 0;
  for (gable_off i = 0; i < d->n; i++) own += u[i] * v[i];
  gable_status status = gable_bcast_begin(d->sums, &own, d->parts);
  if (!status) status = gable_exchange_end(d->sums);
  *out = 0;
  for (int k = 0; k < d->ranks; k++) *out += d->parts[k];
  return status;
}

/* A x = A times ones, from x = 0. */
static gable_status solve(domain *d, int *iterations)
{
  double rr = 0, pq = 0, least = 0;
  for (gable_off i = 0; i < d->n; i++) d->p[i] = 1;
  gable_status status = product(d, d->p, d->r);
  for (gable_off i = 0; i < d->n; i++) d->p[i] = d->r[i];
  if (!status) status = dot(d, d->r, d->r, &rr);
  for (least = 1e-30 * rr; !status && rr > least && *iterations < MOST; ++*iterations) {
    const double old = rr;
    status = product(d, d->p, d->q);
    if (!status) status = dot(d, d->p, d->q, &pq);
    for (gable_off i = 0; i < d->n && !status; i++) {
      d->x[i] += old / pq * d->p[i];
      d->r[i] -= old / pq * d->q[i];
    }
    if (!status) status = dot(d, d->r, d->r, &rr);
    for (gable_off i = 0; i < d->n && !status; i++) d->p[i] = d->r[i] + rr / old * d->p[i];
  }
  return status;
}

/* What each rank runs. */
static gable_status run(gable_comm *comm, void *user)
{
  domain d = {0};
  int iterations = 0;
  double error = 0, sum = 0;
  gable_status status = domain_open(comm, &d);
  if (!status) status = solve(&d, &iterations);
  for (gable_off i = 0; i < d.n && !status; i++) d.r[i] = d.x[i] - 1;
  if (!status) status = dot(&d, d.r, d.r, &error);
  for (gable_off i = 0; i < d.n && !status; i++) d.r[i] = 1;
  if (!status) status = dot(&d, d.x, d.r, &sum);
  if (!status && !gable_comm_rank(comm))
    printf("%s: %d points, %d iterations, sum of x %.17g, error %.1e\n", gable_comm_where(comm), SIDE * SIDE,
           iterations, sum, sqrt(error) / SIDE);
  domain_close(&d);
  (void)user;
  return status;
}

int main(int argc, char **argv)
{
#ifdef PROCESSES
  gable_context *ctx = NULL;
  gable_comm *comm = NULL;
  MPI_Init(&argc, &argv);
  gable_status status = gable_context_create("cpu", NULL, &ctx);
  if (!status) status = gable_comm_from_mpi(ctx, MPI_COMM_WORLD, &comm);
  if (!status) status = run(comm, NULL);
  if (status) fprintf(stderr, "%s\n", gable_last_error());
  if (status) MPI_Abort(MPI_COMM_WORLD, 1);
  gable_comm_destroy(&comm);
  gable_context_destroy(&ctx);
  MPI_Finalize();
#else
  const gable_status status = gable_comm_run(argc > 1 ? argv[1] : "cpu/ranks:2", run, NULL);
  if (status) fprintf(stderr, "%s\n", gable_last_error());
#endif
  return status != GABLE_OK;
}
