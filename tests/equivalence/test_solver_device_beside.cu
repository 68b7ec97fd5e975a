/* Solves of a factor that wants the whole GPU, on four streams at once beside a kernel that fills every multiprocessor
 * again and again: a hundred rounds have the bits of a solve alone, and no wait reaches its deadline. */
#include <cuda_runtime.h>

#include "support/test.h"

extern "C" {
#include "support/systems.h"
}

#include "support/place.h"

#define CHECK_CUDA(call) CHECK((call) == cudaSuccess, "%s", #call)

enum { SIDE = 200, N = SIDE * SIDE, LANES = 4, ROUNDS = 100, THREADS = 1024 };

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

static gable_vectors_view vectors(void *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.space = gable_context_space(ctx);
  v.n = v.ld = N;
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

/* alone [2][N]: x of both ops; all: the x of a lane and round. */
static void check_method(const gable_solver *s, gable_solve_method method, const void *b, int blocks)
{
  const size_t bytes = sizeof(double) * N;
  const int rounds = method == GABLE_SOLVE_AUTO ? ROUNDS : ROUNDS / 10;
  gable_solver_work *w[LANES];
  cudaStream_t stream[LANES + 1];
  char *all = (char *)take(bytes * LANES * (size_t)rounds);
  double *alone = (double *)malloc(2 * bytes), *x = (double *)malloc(bytes);
  gable_vectors_view in = vectors((void *)b);
  for (int k = 0; k <= LANES; k++) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream[k], cudaStreamNonBlocking));
    if (k == LANES) break;
    CHECK_OK(gable_solver_work_create(s, 1, &w[k]));
    CHECK_OK(gable_solver_work_set_stream(w[k], stream[k]));
  }
  for (int op = 0; op < 2; op++) {
    gable_vectors_view out = vectors(all);
    CHECK_OK(gable_solver_apply(s, w[0], (gable_op)op, GABLE_FACTOR_ALL, &in, &out));
    CHECK_OK(gable_device_copy_out(ctx, alone + op * N, all, bytes, stream[0]));
    CHECK_OK(gable_solver_work_status(w[0]));
  }
  for (int round = 0; round < rounds; round++) {
    fill_kernel<<<blocks, THREADS, 0, stream[LANES]>>>(FILL_NS);
    CHECK_CUDA(cudaGetLastError());
    for (int k = 0; k < LANES; k++) {
      gable_vectors_view out = vectors(all + bytes * (size_t)(round * LANES + k));
      CHECK_OK(gable_solver_apply(s, w[k], (gable_op)(k % 2), GABLE_FACTOR_ALL, &in, &out));
    }
  }
  for (int k = 0; k < LANES; k++) CHECK_OK(gable_solver_work_status(w[k]));
  CHECK_CUDA(cudaStreamSynchronize(stream[LANES]));
  for (int e = 0; e < rounds * LANES; e++) {
    CHECK_OK(gable_device_copy_out(ctx, x, all + bytes * (size_t)e, bytes, stream[0]));
    CHECK_OK(gable_device_synchronise(ctx, stream[0]));
    CHECK(!memcmp(x, alone + e % 2 * N, bytes), "%s: other bits in round %d, stream %d",
          gable_solve_method_text(method), e / LANES, e % LANES);
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

int main(int argc, char **argv)
{
  char program[] = "test_solver_device_beside", where[] = "cuda:0";
  char *words[] = {program, where, NULL};
  int processors = 0;
  ctx = test_place(2, argc > 1 ? argv : words, NULL);
  if (!test_place_is_gpu(ctx)) SKIP("kernels side by side on a GPU");
  CHECK_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  gable_matrix *matrix = NULL;
  gable_matrix_view v = GABLE_MATRIX_VIEW_INIT;
  CHECK_OK(gable_matrix_generate(ctx, "laplacian5:200x200", 1, &matrix));
  CHECK_OK(gable_matrix_get_view(matrix, &v));
  const size_t bytes = sizeof(double) * N;
  double *b = (double *)malloc(bytes);
  void *db = take(bytes);
  for (int i = 0; i < N; i++) b[i] = (i * 7 + 3) % 13 - 6.25;
  CHECK_OK(gable_device_copy_in(ctx, db, b, bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  const gable_solve_method methods[] = {GABLE_SOLVE_AUTO, GABLE_SOLVE_MERGED, GABLE_SOLVE_PARTITIONED,
                                        GABLE_SOLVE_PARTITIONED_CUSPARSE};
  for (gable_solve_method m : methods) {
    gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
    options.solve_method = m;
    gable_solver *s = test_factored(ctx, &v, &options);
    check_method(s, m, db, 2 * processors);
    gable_solver_destroy(&s);
  }
  gable_device_free(ctx, &db);
  free(b);
  gable_matrix_destroy(&matrix);
  gable_context_destroy(&ctx);
  return 0;
}
