/* petsc_sf.c: PetscSF in the tests of `gable forest`, for bench/forest.py.
 *
 *   mpirun -n 2 petsc_sf MOST        rows of every test for messages of 8 bytes to MOST, one JSON line each
 *
 * As tool/forest_bench.c: one way is half a round trip, a bcast and the reduce back; one exchange is checked; a batch
 * takes about two milliseconds; median and quartiles are over 15 batches.  setup_s: the graph, its set-up and the first
 * exchange in both directions.  raw: MPI_Send and MPI_Recv of the same bytes, without PETSc.
 *
 * With -DON_GPU and a PETSc that has CUDA, arrays lie in the memory of a GPU for each process, and raw is left out. */
#include <petscsf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ON_GPU
#include <cuda_runtime_api.h>
#include <petscdevice.h>
#endif

enum { BATCHES = 15 };

static int rank, ranks;

#ifdef ON_GPU
static void need(cudaError_t error)
{
  if (error) fprintf(stderr, "petsc_sf: %s\n", cudaGetErrorString(error));
  if (error) MPI_Abort(MPI_COMM_WORLD, 1);
}

static double *take(long n)
{
  void *p;
  need(cudaMalloc(&p, ((size_t)n + 1) * sizeof(double)));
  need(cudaMemset(p, 0, ((size_t)n + 1) * sizeof(double)));
  return p;
}

static void move(double *to, const double *from, long n)
{
  need(cudaMemcpy(to, from, (size_t)n * sizeof *to, cudaMemcpyDefault));
}

static void clear(double *p, long n)
{
  need(cudaMemset(p, 0, (size_t)n * sizeof *p));
}

static void give_back(double *p)
{
  need(cudaFree(p));
}

static void finish(void)
{
  need(cudaDeviceSynchronize());
}
#else
static double *take(long n)
{
  return calloc((size_t)n + 1, sizeof(double));
}

static void move(double *to, const double *from, long n)
{
  memcpy(to, from, (size_t)n * sizeof *to);
}

static void clear(double *p, long n)
{
  memset(p, 0, (size_t)n * sizeof *p);
}

static void give_back(double *p)
{
  free(p);
}

static void finish(void) {}
#endif

static int by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

typedef struct bench {
  PetscSF sf;
  long n_roots, n_leaves, leaf_space;
  double *root[2], *leaf[2];
  int apart;
  MPI_Op down, up;
  PetscInt *place;
  PetscSFNode *to;
} bench;

static PetscErrorCode round_trips(bench *b, long n)
{
  PetscFunctionBeginUser;
  for (long k = 0; k < n; k++) {
    PetscCall(PetscSFBcastBegin(b->sf, MPI_DOUBLE, b->root[0], b->leaf[b->apart], b->down));
    PetscCall(PetscSFBcastEnd(b->sf, MPI_DOUBLE, b->root[0], b->leaf[b->apart], b->down));
    PetscCall(PetscSFReduceBegin(b->sf, MPI_DOUBLE, b->leaf[0], b->root[b->apart], b->up));
    PetscCall(PetscSFReduceEnd(b->sf, MPI_DOUBLE, b->leaf[0], b->root[b->apart], b->up));
  }
  PetscFunctionReturn(0);
}

/* MPI alone. */
static PetscErrorCode raw_trips(bench *b, long n)
{
  PetscFunctionBeginUser;
  for (long k = 0; k < n && rank < 2; k++) {
    if (rank == 0) MPI_Send(b->root[0], (int)b->n_roots, MPI_DOUBLE, 1, 0, PETSC_COMM_WORLD);
    if (rank == 0) MPI_Recv(b->root[1], (int)b->n_roots, MPI_DOUBLE, 1, 0, PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Recv(b->leaf[1], (int)b->n_leaves, MPI_DOUBLE, 0, 0, PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(b->leaf[0], (int)b->n_leaves, MPI_DOUBLE, 0, 0, PETSC_COMM_WORLD);
  }
  PetscFunctionReturn(0);
}

typedef PetscErrorCode (*trips)(bench *b, long n);

static PetscErrorCode time_batches(bench *b, trips f, double *t)
{
  double begun, each;
  PetscFunctionBeginUser;
  PetscCall(f(b, 3));
  finish();
  begun = MPI_Wtime();
  PetscCall(f(b, 5));
  finish();
  each = (MPI_Wtime() - begun) / 5;
  MPI_Bcast(&each, 1, MPI_DOUBLE, 0, PETSC_COMM_WORLD);
  const double wanted = 2e-3 / (each > 1e-9 ? each : 1e-9);
  const long n = wanted < 3 ? 3 : wanted > 5000 ? 5000 : (long)wanted;
  for (int k = 0; k < BATCHES; k++) {
    MPI_Barrier(PETSC_COMM_WORLD);
    begun = MPI_Wtime();
    PetscCall(f(b, n));
    finish();
    t[k] = (MPI_Wtime() - begun) / (2.0 * (double)n);
  }
  qsort(t, BATCHES, sizeof *t, by_value);
  PetscFunctionReturn(0);
}

/* Edges of the test: of a pair of ranks, or of a periodic grid of n x n cells a rank, the ranks in one row. */
static void make_edges(bench *b, const char *test, long n)
{
  const int halo = !strcmp(test, "halo");
  const long w = n + 2;
  b->n_roots = halo ? n * n : rank ? 0 : n;
  b->n_leaves = halo ? w * w - 4 : rank == 1 || (rank == 0 && !strcmp(test, "scatter")) ? n : 0;
  b->leaf_space = halo ? w * w : b->n_leaves;
  b->place = halo ? malloc((size_t)b->n_leaves * sizeof *b->place) : NULL;
  b->to = malloc(((size_t)b->n_leaves + 1) * sizeof *b->to);
  for (long i = 0; i < b->n_leaves && !halo; i++) b->to[i] = (PetscSFNode){0, (PetscInt)i};
  for (long y = -1, at = 0; halo && y <= n; y++)
    for (long x = -1; x <= n; x++) {
      if ((y < 0 || y == n) && (x < 0 || x == n)) continue;
      const int owner = y < 0 ? (rank + ranks - 1) % ranks : y == n ? (rank + 1) % ranks : rank;
      b->place[at] = (PetscInt)((y + 1) * w + x + 1);
      b->to[at++] = (PetscSFNode){owner, (PetscInt)((y + n) % n * n + (x + n) % n)};
    }
}

static PetscErrorCode run_one(const char *test, long n)
{
  const int halo = !strcmp(test, "halo"), sums = !strcmp(test, "unpack") || !strcmp(test, "scatter");
  const int raw = !strcmp(test, "raw");
  bench b = {.apart = !strcmp(test, "pingpong")};
  double t[BATCHES] = {0}, begun, setup;
  int wrong = 0, any = 0;
  PetscFunctionBeginUser;
  b.down = sums ? MPI_SUM : MPI_REPLACE;
  b.up = sums || halo ? MPI_SUM : MPI_REPLACE;
  make_edges(&b, test, n);
  double *host = calloc((size_t)(b.n_roots > b.leaf_space ? b.n_roots : b.leaf_space) + 1, sizeof *host);
  for (long i = 0; i < b.n_roots; i++) host[i] = 1 + (double)(i % 9);
  for (int k = 0; k < 2; k++) {
    b.root[k] = take(b.n_roots);
    b.leaf[k] = take(b.leaf_space);
    move(b.root[k], host, b.n_roots);
  }
  MPI_Barrier(PETSC_COMM_WORLD);
  begun = MPI_Wtime();
  PetscCall(PetscSFCreate(PETSC_COMM_WORLD, &b.sf));
  PetscCall(PetscSFSetFromOptions(b.sf));
  PetscCall(PetscSFSetGraph(b.sf, (PetscInt)b.n_roots, (PetscInt)b.n_leaves, b.place, PETSC_COPY_VALUES, b.to,
                            PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(b.sf));
  PetscCall(PetscSFBcastBegin(b.sf, MPI_DOUBLE, b.root[0], b.leaf[b.apart], b.down));
  PetscCall(PetscSFBcastEnd(b.sf, MPI_DOUBLE, b.root[0], b.leaf[b.apart], b.down));
  finish();
  move(host, b.leaf[b.apart], b.leaf_space);
  for (long i = 0; i < b.n_leaves; i++) wrong |= host[b.place ? b.place[i] : i] != 1 + (double)(b.to[i].index % 9);
  PetscCall(PetscSFReduceBegin(b.sf, MPI_DOUBLE, b.leaf[0], b.root[b.apart], b.up));
  PetscCall(PetscSFReduceEnd(b.sf, MPI_DOUBLE, b.leaf[0], b.root[b.apart], b.up));
  finish();
  setup = MPI_Wtime() - begun;
  for (int k = 0; k < 2; k++) {
    clear(b.root[k], b.n_roots);
    clear(b.leaf[k], b.leaf_space);
  }
  PetscCall(time_batches(&b, raw ? raw_trips : round_trips, t));
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  if (!rank)
    printf("{\"test\": \"%s\", \"n\": %ld, \"bytes\": %ld, \"one_way_s\": %.6g, \"q1_s\": %.6g, \"q3_s\": %.6g, "
           "\"setup_s\": %.6g, \"checked\": %s}\n",
           test, n, 8 * n, t[BATCHES / 2], t[BATCHES / 4], t[3 * BATCHES / 4], setup, any ? "false" : "true");
  PetscCall(PetscSFDestroy(&b.sf));
  for (int k = 0; k < 2; k++) {
    give_back(b.root[k]);
    give_back(b.leaf[k]);
  }
  free(host);
  free(b.place);
  free(b.to);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  static const char *const tests[] = {"raw", "pingpong", "newpingpong", "unpack", "scatter", "halo"};
  const long most = argc > 1 ? atol(argv[1]) : 4 << 20;
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
#ifdef ON_GPU
  int gpus = 0;
  need(cudaGetDeviceCount(&gpus));
  need(cudaSetDevice(rank % gpus));
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA)); /* else PETSc takes every pointer to be of host memory */
  const size_t first = 1;
#else
  const size_t first = 0;
#endif
  for (size_t k = first; k < sizeof tests / sizeof *tests; k++) {
    const int halo = !strcmp(tests[k], "halo");
    for (long n = halo ? 4 : 1; (halo ? 8 * n * n : 8 * n) <= most; n *= 2) PetscCall(run_one(tests[k], n));
  }
  PetscCall(PetscFinalize());
  return 0;
}
