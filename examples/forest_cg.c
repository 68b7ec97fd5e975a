/* forest_cg.c: conjugate gradients on a grid of SIDE x SIDE points that is cut over ranks by rows; the halo of p and
 * the sums over all ranks go along star forests.  One source for every place:
 *
 *   cc forest_cg.c $(pkg-config --cflags --libs gable) -lm && ./a.out cpu/ranks:4
 *   mpicc -DPROCESSES forest_cg.c $(pkg-config --cflags --libs gable) -lm && mpirun -n 4 ./a.out
 *   nvcc -x cu -arch=sm_90 -fmad=false forest_cg.c $(pkg-config --cflags --libs gable) && ./a.out cuda:0,1/peer
 *   nvcc -ccbin mpicc -DPROCESSES (the rest likewise) -lm && mpirun -n 2 ./a.out cuda   (or: cuda nvshmem)
 *
 * Compiled by nvcc, loops are kernels on a GPU and all vectors lie in its memory; -fmad=false: the bits of a CPU. */
#include <gable/gable.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PROCESSES
#include <gable/mpi.h>
#endif

enum { SIDE = 60, MOST = 200, NEIGHBOURS = 4, LANES = 256 };

/* Of one rank, in memory of its place: the points [first, first + n) of all; p has their neighbours on other ranks
 * behind them. */
typedef struct arrays {
  gable_off n;
  gable_off *column; /* [n * 4] places in p; -1: outside the grid */
  double *x, *r, *p, *q;
  double *lanes; /* [LANES] partial sums */
  double *own;   /* their sum */
  double *parts; /* [ranks] own of each rank */
  double alpha;  /* of the loop that is run */
} arrays;

typedef struct domain {
  gable_context *ctx;
  arrays a;
  int ranks, gpu;
  gable_path path; /* of messages */
  gable_off first, ghosts;
  gable_exchange *halo, *sums;
  double *host; /* [ranks] */
} domain;

/* LOOP(name) { ... } defines name(d, n): the body for each i < n, with the arrays a. */
#ifdef __CUDACC__
#define LOOP(name)                                                                                                     \
  static __host__ __device__ void name##_at(gable_off i, arrays a);                                                    \
  static __global__ void name##_kernel(arrays a, gable_off n)                                                          \
  {                                                                                                                    \
    const gable_off i = (gable_off)blockIdx.x * blockDim.x + threadIdx.x;                                              \
    if (i < n) name##_at(i, a);                                                                                        \
  }                                                                                                                    \
  static void name(const domain *d, gable_off n)                                                                       \
  {                                                                                                                    \
    if (d->gpu && n)                                                                                                   \
      name##_kernel<<<(unsigned)((n + 255) / 256), 256, 0, (cudaStream_t)gable_context_stream(d->ctx)>>>(d->a, n);     \
    for (gable_off i = 0; i < n && !d->gpu; i++) name##_at(i, d->a);                                                   \
  }                                                                                                                    \
  static __host__ __device__ void name##_at(gable_off i, arrays a)
#else
#define LOOP(name)                                                                                                     \
  static void name##_at(gable_off i, arrays a);                                                                        \
  static void name(const domain *d, gable_off n)                                                                       \
  {                                                                                                                    \
    for (gable_off i = 0; i < n; i++) name##_at(i, d->a);                                                              \
  }                                                                                                                    \
  static void name##_at(gable_off i, arrays a)
#endif

/* q = (5 I - neighbours) p: first the terms of the own points. */
LOOP(add_own)
{
  a.q[i] = 5 * a.p[i];
  for (int k = 0; k < NEIGHBOURS; k++) {
    const gable_off j = a.column[i * NEIGHBOURS + k];
    if (j >= 0 && j < a.n) a.q[i] -= a.p[j];
  }
}
LOOP(add_ghosts)
{
  for (int k = 0; k < NEIGHBOURS; k++) {
    const gable_off j = a.column[i * NEIGHBOURS + k];
    if (j >= a.n) a.q[i] -= a.p[j];
  }
}
LOOP(fill_p)
{
  a.p[i] = a.alpha;
}
LOOP(begin)
{
  a.r[i] = a.p[i] = a.q[i];
}
LOOP(advance)
{
  a.x[i] += a.alpha * a.p[i];
  a.r[i] -= a.alpha * a.q[i];
}
LOOP(direct)
{
  a.p[i] = a.r[i] + a.alpha * a.p[i];
}
LOOP(take_error)
{
  a.r[i] = a.x[i] - 1;
}

/* Sums of products, each lane its own terms: one order on every place. */
LOOP(sum_pq)
{
  a.lanes[i] = 0;
  for (gable_off k = i; k < a.n; k += LANES) a.lanes[i] += a.p[k] * a.q[k];
}
LOOP(sum_rr)
{
  a.lanes[i] = 0;
  for (gable_off k = i; k < a.n; k += LANES) a.lanes[i] += a.r[k] * a.r[k];
}
LOOP(sum_xp)
{
  a.lanes[i] = 0;
  for (gable_off k = i; k < a.n; k += LANES) a.lanes[i] += a.x[k] * a.p[k];
}
LOOP(sum_lanes)
{
  a.own[i] = 0;
  for (int k = 0; k < LANES; k++) a.own[i] += a.lanes[k];
}

/* Neighbour k of point i of all, or -1. */
static gable_off neighbour(gable_off i, int k)
{
  const gable_off x = i % SIDE, y = i / SIDE;
  if (k == 0) return y > 0 ? i - SIDE : -1;
  if (k == 1) return x > 0 ? i - 1 : -1;
  if (k == 2) return x < SIDE - 1 ? i + 1 : -1;
  return y < SIDE - 1 ? i + SIDE : -1;
}

static gable_status bcast_of(const domain *d, gable_forest *f, gable_exchange **out)
{
  gable_plan_options o = GABLE_PLAN_OPTIONS_INIT; /* one double, replaced */
  gable_plan *plan = NULL;
  o.path = d->path;
  o.root_space = o.leaf_space = d->gpu ? GABLE_SPACE_DEVICE : GABLE_SPACE_HOST;
  gable_status status = gable_plan_create(f, &o, &plan);
  if (!status) status = gable_exchange_create(plan, NULL, out);
  gable_plan_destroy(&plan);
  return status;
}

/* Zeros in memory of the place. */
static gable_status take(const domain *d, gable_off count, void **out)
{
  const size_t bytes = (size_t)count * 8;
  if (!d->gpu) return (*out = calloc(1, bytes)) ? GABLE_OK : GABLE_ERR_MEMORY;
  const gable_status status = gable_device_alloc(d->ctx, bytes, out);
  return status ? status : gable_device_fill(d->ctx, *out, 0, bytes, NULL);
}

static gable_status take_arrays(domain *d)
{
  arrays *a = &d->a;
  const gable_off room = a->n + 2 * SIDE;
  gable_status status = take(d, room * NEIGHBOURS, (void **)&a->column);
  if (!status) status = take(d, room, (void **)&a->x);
  if (!status) status = take(d, room, (void **)&a->r);
  if (!status) status = take(d, room, (void **)&a->p);
  if (!status) status = take(d, room, (void **)&a->q);
  if (!status) status = take(d, LANES, (void **)&a->lanes);
  if (!status) status = take(d, 1, (void **)&a->own);
  if (!status) status = take(d, d->ranks, (void **)&a->parts);
  d->host = (double *)calloc((size_t)d->ranks, sizeof *d->host);
  return status || d->host ? status : GABLE_ERR_MEMORY;
}

/* column [n * 4]; a neighbour on another rank is a leaf behind the own points, joined to the root that its number
 * names: ghosts are at most one row of points above the own ones and one below. */
static void find_neighbours(domain *d, gable_off *column, gable_off *leaf, gable_off *global)
{
  gable_off place_of[2 * SIDE];
  for (int k = 0; k < 2 * SIDE; k++) place_of[k] = -1;
  for (gable_off i = 0; i < d->a.n; i++)
    for (int k = 0; k < NEIGHBOURS; k++) {
      const gable_off j = neighbour(d->first + i, k), own = j - d->first;
      gable_off *place = &column[i * NEIGHBOURS + k];
      *place = j < 0 ? -1 : own;
      if (j < 0 || (own >= 0 && own < d->a.n)) continue;
      gable_off *seen = &place_of[own < 0 ? -own - 1 : SIDE + own - d->a.n];
      if (*seen < 0) {
        *seen = leaf[d->ghosts] = d->a.n + d->ghosts;
        global[d->ghosts++] = j;
      }
      *place = *seen;
    }
}

static gable_status domain_open(gable_comm *comm, domain *d)
{
  gable_forest *f = NULL, *all = NULL;
  gable_off leaf[2 * SIDE], global[2 * SIDE];
  const gable_off rank = gable_comm_rank(comm), points = SIDE * SIDE;
  d->ctx = gable_comm_context(comm);
  d->ranks = gable_comm_size(comm);
#ifdef __CUDACC__
  d->gpu = !strncmp(gable_context_where(d->ctx), "cuda:", 5);
  if (d->gpu) cudaSetDevice(atoi(gable_context_where(d->ctx) + 5));
#endif
  d->first = rank * points / d->ranks;
  d->a.n = (rank + 1) * points / d->ranks - d->first;
  const size_t bytes = (size_t)d->a.n * NEIGHBOURS * sizeof(gable_off);
  gable_off *column = (gable_off *)malloc(bytes + 1);
  gable_status status = gable_comm_agree(comm, column ? take_arrays(d) : GABLE_ERR_MEMORY);
  if (!status) find_neighbours(d, column, leaf, global);
  if (!status && d->gpu) status = gable_device_copy_in(d->ctx, d->a.column, column, bytes, NULL);
  if (!status && !d->gpu) memcpy(d->a.column, column, bytes);
  free(column);
  status = gable_comm_agree(comm, status);
  if (!status) status = gable_forest_create_global(comm, d->a.n, d->ghosts, leaf, global, &f);
  if (!status) status = bcast_of(d, f, &d->halo);
  if (!status) status = gable_forest_create_pattern(comm, GABLE_PATTERN_ALLGATHER, 1, &all);
  if (!status) status = bcast_of(d, all, &d->sums);
  gable_forest_destroy(&f);
  gable_forest_destroy(&all);
  return status;
}

static void domain_close(domain *d)
{
  void *all[] = {d->a.column, d->a.x, d->a.r, d->a.p, d->a.q, d->a.lanes, d->a.own, d->a.parts};
  gable_exchange_destroy(&d->halo);
  gable_exchange_destroy(&d->sums);
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    if (d->gpu)
      gable_device_free(d->ctx, &all[k]);
    else
      free(all[k]);
  free(d->host);
}

/* The own terms are added while the ghosts travel. */
static gable_status product(domain *d)
{
  gable_status status = gable_bcast_begin(d->halo, d->a.p, d->a.p);
  if (!status) add_own(d, d->a.n);
  if (!status) status = gable_exchange_end(d->halo);
  if (!status) add_ghosts(d, d->a.n);
  return status;
}

/* The same bits on every rank: each adds the sums of all by increasing rank. */
static gable_status dot(domain *d, void (*products)(const domain *, gable_off), double *out)
{
  const size_t bytes = (size_t)d->ranks * sizeof(double);
  products(d, LANES);
  sum_lanes(d, 1);
  gable_status status = gable_bcast_begin(d->sums, d->a.own, d->a.parts);
  if (!status) status = gable_exchange_end(d->sums);
  if (!status) status = gable_exchange_wait(d->sums);
  if (!status && d->gpu) status = gable_device_copy_out(d->ctx, d->host, d->a.parts, bytes, NULL);
  if (!status && d->gpu) status = gable_device_synchronise(d->ctx, NULL);
  if (!d->gpu) memcpy(d->host, d->a.parts, bytes);
  *out = 0;
  for (int k = 0; k < d->ranks; k++) *out += d->host[k];
  return status;
}

/* A x = A times ones, from x = 0. */
static gable_status solve(domain *d, int *iterations)
{
  double rr = 0, pq = 0, least = 0;
  d->a.alpha = 1;
  fill_p(d, d->a.n);
  gable_status status = product(d);
  begin(d, d->a.n);
  if (!status) status = dot(d, sum_rr, &rr);
  for (least = 1e-30 * rr; !status && rr > least && *iterations < MOST; ++*iterations) {
    const double old = rr;
    status = product(d);
    if (!status) status = dot(d, sum_pq, &pq);
    d->a.alpha = old / pq;
    if (!status) advance(d, d->a.n);
    if (!status) status = dot(d, sum_rr, &rr);
    d->a.alpha = rr / old;
    if (!status) direct(d, d->a.n);
  }
  return status;
}

/* What each rank runs.  path: "nvshmem", or NULL: the library chooses. */
static gable_status run(gable_comm *comm, void *path)
{
  domain d;
  int iterations = 0;
  double error = 0, sum = 0;
  memset(&d, 0, sizeof d);
  d.path = path && !strcmp((const char *)path, "nvshmem") ? GABLE_PATH_NVSHMEM : GABLE_PATH_AUTO;
  gable_status status = domain_open(comm, &d);
  if (!status) status = solve(&d, &iterations);
  if (!status) take_error(&d, d.a.n);
  if (!status) status = dot(&d, sum_rr, &error);
  d.a.alpha = 1;
  if (!status) fill_p(&d, d.a.n);
  if (!status) status = dot(&d, sum_xp, &sum);
  if (!status && !gable_comm_rank(comm))
    printf("%s: %d points, %d iterations, sum of x %.17g, error %.1e\n", gable_comm_where(comm), SIDE * SIDE,
           iterations, sum, sqrt(error) / SIDE);
  domain_close(&d);
  return status;
}

#ifdef PROCESSES
/* Of this process: for "cuda" the GPU of its number among the processes of its node. */
static gable_status open_context(const char *where, gable_context **ctx)
{
  char name[32];
  snprintf(name, sizeof name, "%s", where);
#ifdef __CUDACC__
  int gpus = 0, local = 0;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &local);
  MPI_Comm_free(&node);
  cudaGetDeviceCount(&gpus);
  if (!strcmp(where, "cuda")) snprintf(name, sizeof name, "cuda:%d", gpus ? local % gpus : 0);
#endif
  return gable_context_create(name, NULL, ctx);
}
#endif

int main(int argc, char **argv)
{
#ifdef __CUDACC__ /* ranks that share a GPU: no kernel is loaded while another one waits, streams in queues of their   \
                     own */
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
#endif
#ifdef PROCESSES
  gable_context *ctx = NULL;
  gable_comm *comm = NULL;
  MPI_Init(&argc, &argv);
  gable_status status = open_context(argc > 1 ? argv[1] : "cpu", &ctx);
  if (!status) status = gable_comm_from_mpi(ctx, MPI_COMM_WORLD, &comm);
  if (!status) status = run(comm, argc > 2 ? argv[2] : NULL);
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
