/* Imported factors that are solved element by element, on a GPU: refined solves and applies captured in a CUDA graph
 * have the bits of those without one; four works on four cudaStreamNonBlocking streams side by side have the same. */
#include <cuda_runtime.h>

#include "support/test.h"

#include "support/incomplete_factors.h"
#include "support/place.h"

#define CHECK_CUDA(call) CHECK((call) == cudaSuccess, "%s", #call)

enum { RHS = 3, LANES = 4, ROUNDS = 25, SIDES = 5 };

static gable_context *ctx;

static gable_vectors_view device_vectors(gable_idx n, void *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.space = GABLE_SPACE_DEVICE;
  v.n = v.ld = n;
  v.count = RHS;
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

/* One call, alone or captured. */
static void call(gable_solver *s, gable_solver_work *w, int refined, gable_op op, gable_idx n, void *b, void *x)
{
  gable_vectors_view in = device_vectors(n, b), out = device_vectors(n, x);
  if (refined)
    CHECK_OK(gable_solver_solve(s, w, op, &in, &out));
  else
    CHECK_OK(gable_solver_apply(s, w, op, GABLE_FACTOR_ALL, &in, &out));
}

static void check(gable_solver *s, gable_idx n, int refined, gable_op op)
{
  const size_t entries = (size_t)n * RHS, bytes = entries * sizeof(double);
  double *host = (double *)test_room(entries, sizeof *host), *wanted = (double *)test_room(SIDES * entries, 8);
  gable_solver_work *w[LANES];
  cudaStream_t stream[LANES];
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  void *b[SIDES], *from = take(bytes), *to[LANES];
  for (int k = 0; k < LANES; k++) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream[k], cudaStreamNonBlocking));
    CHECK_OK(gable_solver_work_create(s, RHS, &w[k]));
    CHECK_OK(gable_solver_work_set_stream(w[k], stream[k]));
    to[k] = take(bytes);
  }
  for (int k = 0; k < SIDES; k++) {
    b[k] = take(bytes);
    for (size_t e = 0; e < entries; e++) host[e] = (double)((e * 7 + (size_t)k * 5) % 13) - 6.25;
    CHECK_CUDA(cudaMemcpy(b[k], host, bytes, cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaStreamSynchronize(NULL)); /* a copy from pageable memory may return before it has arrived */
    call(s, w[0], refined, op, n, b[k], to[0]);
    CHECK_OK(gable_solver_work_status(w[0]));
    CHECK_CUDA(cudaMemcpy(wanted + (size_t)k * entries, to[0], bytes, cudaMemcpyDeviceToHost));
  }
  CHECK_CUDA(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal));
  call(s, w[0], refined, op, n, from, to[0]);
  CHECK_CUDA(cudaStreamEndCapture(stream[0], &graph));
  CHECK_CUDA(cudaGraphInstantiate(&replay, graph, 0));
  for (int k = 0; k < SIDES; k++) {
    CHECK_CUDA(cudaMemcpyAsync(from, b[k], bytes, cudaMemcpyDeviceToDevice, stream[0]));
    CHECK_CUDA(cudaGraphLaunch(replay, stream[0]));
    CHECK_OK(gable_solver_work_status(w[0]));
    CHECK_CUDA(cudaMemcpy(host, to[0], bytes, cudaMemcpyDeviceToHost));
    CHECK(!memcmp(host, wanted + (size_t)k * entries, bytes), "replay %d: other bits", k);
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (int k = 0; k < LANES; k++) call(s, w[k], refined, op, n, b[(round + k) % SIDES], to[k]);
    for (int k = 0; k < LANES; k++) {
      CHECK_OK(gable_solver_work_status(w[k]));
      CHECK_CUDA(cudaMemcpy(host, to[k], bytes, cudaMemcpyDeviceToHost));
      CHECK(!memcmp(host, wanted + (size_t)((round + k) % SIDES) * entries, bytes), "lane %d: other bits", k);
    }
  }
  CHECK_CUDA(cudaGraphExecDestroy(replay));
  CHECK_CUDA(cudaGraphDestroy(graph));
  for (int k = 0; k < LANES; k++) {
    gable_solver_work_destroy(&w[k]);
    CHECK_CUDA(cudaStreamDestroy(stream[k]));
    gable_device_free(ctx, &to[k]);
  }
  for (int k = 0; k < SIDES; k++) gable_device_free(ctx, &b[k]);
  gable_device_free(ctx, &from);
  free(host);
  free(wanted);
}

int main(int argc, char **argv)
{
  char program[] = "test_device_triangles_graph", where[] = "cuda:0";
  char *words[] = {program, where, NULL};
  gable_context *cpu = NULL;
  ctx = test_place(2, argc > 1 ? argv : words, NULL);
  if (!test_place_is_gpu(ctx)) SKIP("the graphs of a GPU");
  CHECK_OK(gable_context_create("cpu", NULL, &cpu));
  incomplete_factors g;
  incomplete_factors_make(cpu, 12, 1e-2, &g);
  for (int type = 0; type < 2; type++) {
    gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
    gable_solver *s = NULL;
    options.factor_type = type ? GABLE_TYPE_S : GABLE_TYPE_D;
    CHECK_OK(gable_solver_create(ctx, &options, &s));
    CHECK_OK(gable_solver_import(s, &g.view, &g.a_view));
    for (int refined = 0; refined < 2; refined++)
      for (int op = 0; op < 2; op++) check(s, g.n, refined, (gable_op)op);
    gable_solver_destroy(&s);
  }
  incomplete_factors_free(&g);
  gable_context_destroy(&ctx);
  gable_context_destroy(&cpu);
  return 0;
}
