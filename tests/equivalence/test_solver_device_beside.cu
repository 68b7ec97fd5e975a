/* Solves by every method, alone and refined, on four streams at once beside a kernel that fills every multiprocessor
 * again and again: they have the bits of a solve alone, and no wait reaches its deadline.  auto, whose factor wants the
 * whole GPU: a hundred rounds; the other methods ten; levels, thousands of launches a solve: of a smaller grid.  A work
 * may go, and its solver get new values, while its solve is in flight. */
#include <cuda_runtime.h>

#include "support/test.h"

extern "C" {
#include "support/systems.h"
}

#include "support/place.h"

#define CHECK_CUDA(call) CHECK((call) == cudaSuccess, "%s", #call)

enum { LANES = 4, ROUNDS = 100, THREADS = 1024 };

static const unsigned long long FILL_NS = 300000;

static gable_context *ctx;

/* Every resident block stays for a while: 2048 threads a multiprocessor leave room for none of a solve's. */
__global__ void __launch_bounds__(THREADS) fill_kernel(unsigned long long ns)
{
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < ns);
}

static gable_vectors_view vectors(gable_idx n, void *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.space = gable_context_space(ctx);
  v.n = v.ld = n;
  v.count = 1;
  v.data = data;
  return v;
}

static void *take(size_t bytes)
{
  void *p = NULL;
  CHECK_OK(gable_device_alloc(ctx, bytes, &p));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  return p;
}

/* A factor and a b in device memory. */
typedef struct problem {
  const gable_solver *s;
  gable_solve_method method;
  gable_idx n;
  void *b;
} problem;

/* A sweep, or with refinement a solve. */
static void run(const problem *p, gable_solver_work *w, gable_op op, int refined, void *x)
{
  gable_vectors_view in = vectors(p->n, p->b), out = vectors(p->n, x);
  CHECK_OK(refined ? gable_solver_solve(p->s, w, op, &in, &out)
                   : gable_solver_apply(p->s, w, op, GABLE_FACTOR_ALL, &in, &out));
}

/* alone [2][n]: x of both ops; all: the x of a lane and round. */
static void check_rounds(const problem *p, int refined, int rounds, int blocks)
{
  const size_t bytes = sizeof(double) * (size_t)p->n;
  gable_solver_work *w[LANES];
  cudaStream_t stream[LANES + 1];
  char *all = (char *)take(bytes * LANES * (size_t)rounds);
  double *alone = (double *)malloc(2 * bytes), *x = (double *)malloc(bytes);
  for (int k = 0; k <= LANES; k++) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream[k], cudaStreamNonBlocking));
    if (k == LANES) break;
    CHECK_OK(gable_solver_work_create(p->s, 1, &w[k]));
    CHECK_OK(gable_solver_work_set_stream(w[k], stream[k]));
  }
  for (int op = 0; op < 2; op++) {
    run(p, w[0], (gable_op)op, refined, all);
    CHECK_OK(gable_device_copy_out(ctx, alone + op * p->n, all, bytes, stream[0]));
    CHECK_OK(gable_solver_work_status(w[0]));
  }
  for (int round = 0; round < rounds; round++) {
    fill_kernel<<<blocks, THREADS, 0, stream[LANES]>>>(FILL_NS);
    CHECK_CUDA(cudaGetLastError());
    for (int k = 0; k < LANES; k++) run(p, w[k], (gable_op)(k % 2), refined, all + bytes * (size_t)(round * LANES + k));
  }
  for (int k = 0; k < LANES; k++) CHECK_OK(gable_solver_work_status(w[k]));
  CHECK_CUDA(cudaStreamSynchronize(stream[LANES]));
  for (int e = 0; e < rounds * LANES; e++) {
    CHECK_OK(gable_device_copy_out(ctx, x, all + bytes * (size_t)e, bytes, stream[0]));
    CHECK_OK(gable_device_synchronise(ctx, stream[0]));
    CHECK(!memcmp(x, alone + e % 2 * p->n, bytes), "%s%s: other bits in round %d, stream %d",
          gable_solve_method_text(p->method), refined ? ", refined" : "", e / LANES, e % LANES);
  }
  for (int k = 0; k <= LANES; k++) {
    if (k < LANES) gable_solver_work_destroy(&w[k]);
    CHECK_CUDA(cudaStreamDestroy(stream[k]));
  }
  void *memory = all;
  gable_device_free(ctx, &memory);
  free(alone);
  free(x);
}

/* A work goes while its solve waits behind a long kernel: the memory that it gives back is not another one's before. */
static void check_destroyed(const problem *p)
{
  enum { BLOCKS = 64 };
  const size_t bytes = sizeof(double) * (size_t)p->n;
  gable_solver_work *w = NULL;
  cudaStream_t stream;
  void *x = take(bytes), *other[BLOCKS] = {NULL};
  double *alone = (double *)malloc(bytes), *is = (double *)malloc(bytes);
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int refined = 0; refined < 2; refined++) {
    for (int late = 0; late < 2; late++) {
      CHECK_OK(gable_solver_work_create(p->s, 1, &w));
      CHECK_OK(gable_solver_work_set_stream(w, stream));
      if (late) fill_kernel<<<1, THREADS, 0, stream>>>(100 * FILL_NS);
      CHECK_CUDA(cudaGetLastError());
      run(p, w, GABLE_OP_N, refined, x);
      if (!late) CHECK_OK(gable_solver_work_status(w));
      gable_solver_work_destroy(&w);
      size_t size = 256;
      for (int k = 0; k < BLOCKS && late; k++, size += size / 5) { /* whatever blocks are free */
        CHECK_OK(gable_device_alloc(ctx, size, &other[k]));
        CHECK_OK(gable_device_fill(ctx, other[k], 0, size, NULL));
      }
      CHECK_OK(gable_device_copy_out(ctx, late ? is : alone, x, bytes, stream));
      CHECK_OK(gable_device_synchronise(ctx, stream));
    }
    for (int k = 0; k < BLOCKS; k++) gable_device_free(ctx, &other[k]);
    CHECK(!memcmp(is, alone, bytes), "%s: other bits of a work that is gone", refined ? "refined" : "a sweep");
  }
  CHECK_CUDA(cudaStreamDestroy(stream));
  gable_device_free(ctx, &x);
  free(alone);
  free(is);
}

/* New values while a solve waits behind a long kernel: it is of the old ones, the next one of the new. */
static void check_replaced(const problem *p, gable_solver *s, const gable_matrix_view *v)
{
  const size_t bytes = sizeof(double) * (size_t)p->n;
  const gable_off nnz = ((const int64_t *)v->ptr)[v->n_rows];
  gable_solver_work *w = NULL;
  cudaStream_t stream;
  void *x = take(bytes);
  double *twice = (double *)malloc(sizeof(double) * (size_t)nnz);
  double *is[3] = {(double *)malloc(bytes), (double *)malloc(bytes), (double *)malloc(bytes)};
  for (gable_off q = 0; q < nnz; q++) twice[q] = 2 * ((const double *)v->val)[q];
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  CHECK_OK(gable_solver_work_set_stream(w, stream));
  for (int k = 0; k < 3; k++) {
    if (k == 1) fill_kernel<<<1, THREADS, 0, stream>>>(200000000ull);
    CHECK_CUDA(cudaGetLastError());
    run(p, w, GABLE_OP_N, 0, x);
    if (k == 1) CHECK_OK(gable_solver_factor(s, twice, GABLE_REUSE_ALL));
    CHECK_OK(gable_device_copy_out(ctx, is[k], x, bytes, stream));
    CHECK_OK(gable_device_synchronise(ctx, stream));
  }
  CHECK(!memcmp(is[1], is[0], bytes), "a solve in flight read new values");
  for (gable_idx i = 0; i < p->n; i++)
    CHECK(fabs(2 * is[2][i] - is[0][i]) <= 1e-9 * fabs(is[0][i]), "row %d: not of the new values", i);
  CHECK_OK(gable_solver_factor(s, NULL, GABLE_REUSE_ALL));
  gable_solver_work_destroy(&w);
  CHECK_CUDA(cudaStreamDestroy(stream));
  gable_device_free(ctx, &x);
  free(twice);
  for (int k = 0; k < 3; k++) free(is[k]);
}

/* Methods first .. last on the factor of a grid. */
static void check_grid(const char *kind, int first, int last, int blocks)
{
  gable_matrix *matrix = NULL;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  CHECK_OK(gable_matrix_generate(ctx, kind, 1, &matrix));
  CHECK_OK(gable_matrix_get_view(matrix, &v));
  const size_t bytes = sizeof(double) * (size_t)v.n_cols;
  double *b = (double *)malloc(bytes);
  void *db = take(bytes);
  for (int i = 0; i < v.n_cols; i++) b[i] = (i * 7 + 3) % 13 - 6.25;
  CHECK_OK(gable_device_copy_in(ctx, db, b, bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  for (int m = first; m <= last; m++) {
    gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
    options.solve_method = (gable_solve_method)m;
    gable_solver *s = test_factored(ctx, &v, &options);
    const problem p = {s, (gable_solve_method)m, v.n_cols, db};
    for (int refined = 0; refined < 2; refined++)
      check_rounds(&p, refined, m == GABLE_SOLVE_AUTO ? ROUNDS : ROUNDS / 10, blocks);
    check_destroyed(&p);
    check_replaced(&p, s, &v);
    gable_solver_destroy(&s);
  }
  gable_device_free(ctx, &db);
  free(b);
  gable_matrix_destroy(&matrix);
}

int main(int argc, char **argv)
{
  char program[] = "test_solver_device_beside", where[] = "cuda:0";
  char *words[] = {program, where, NULL};
  int processors = 0;
  ctx = test_place(2, argc > 1 ? argv : words, NULL);
  if (!test_place_is_gpu(ctx)) SKIP("kernels side by side on a GPU");
  CHECK_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  check_grid("laplacian5:200x200", GABLE_SOLVE_AUTO, GABLE_SOLVE_AUTO, 2 * processors);
  check_grid("laplacian5:40x40", GABLE_SOLVE_LEVELS, GABLE_SOLVE_LEVELS, 2 * processors);
  check_grid("laplacian5:200x200", GABLE_SOLVE_BATCHED, GABLE_SOLVE_PARTITIONED_CUSPARSE, 2 * processors);
  gable_context_destroy(&ctx);
  return 0;
}
