/* Refined solves captured in a CUDA graph: replays with new b, and after new values, have the bits of the same solves
 * without a graph, GMRES included; four works on four cudaStreamNonBlocking streams side by side, a hundred times, have
 * the same.  With every solve method; levels, thousands of launches a solve that no work records, eight times (a
 * hundred of its applies: test_solver_device_apply).  New values of partitioned-cusparse have other addresses: works
 * and graph are made anew.  The verdict that x is huge is on the values that a replay meets. */
#include <cuda_runtime.h>

#include "support/test.h"

extern "C" {
#include "support/systems.h"
}

#include "support/place.h"

#define CHECK_CUDA(call) CHECK((call) == cudaSuccess, "%s", #call)

enum { N = 400, RHS = 3, LANES = 4, MOST_ROUNDS = 100, SIDES = 5 };

static gable_context *ctx;

/* Right-hand sides number k, another for each k. */
static void fill(double *b, int k)
{
  for (int e = 0; e < N * RHS; e++) b[e] = (e * 7 + k * 5) % 13 - 6.25;
}

static gable_vectors_view device_vectors(void *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.space = gable_context_space(ctx);
  v.n = N;
  v.ld = N;
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

static void check_same(const double *x, const double *wanted, const char *what, int k)
{
  for (int e = 0; e < N * RHS; e++)
    CHECK(x[e] == wanted[e], "%s %d: entry %d is %.17g, not %.17g", what, k, e, x[e], wanted[e]);
}

static void make_works(const gable_solver *s, const cudaStream_t *stream, gable_solver_work **w)
{
  for (int k = 0; k < LANES; k++) {
    gable_solver_work_destroy(&w[k]);
    CHECK_OK(gable_solver_work_create(s, RHS, &w[k]));
    CHECK_OK(gable_solver_work_set_stream(w[k], stream[k]));
  }
}

static cudaGraphExec_t capture(const gable_solver *s, gable_solver_work *w, cudaStream_t stream, void *from, void *to)
{
  gable_vectors_view in = device_vectors(from), out = device_vectors(to);
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &in, &out));
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&replay, graph, 0));
  CHECK_CUDA(cudaGraphDestroy(graph));
  return replay;
}

/* misfit: with a factor of other values, so by GMRES. */
static void check_kind(test_kind kind, gable_type factor_type, gable_solve_method method, int misfit)
{
  const size_t bytes = sizeof(double) * N * RHS;
  const int rounds = method == GABLE_SOLVE_LEVELS ? 8 : MOST_ROUNDS;
  test_system a = test_system_make(kind, N, 11);
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.factor_type = factor_type;
  options.solve_method = method;
  gable_solver *s = misfit ? test_misfit(ctx, &a, &options) : test_factored(ctx, &v, &options);
  const int moves = method == GABLE_SOLVE_PARTITIONED_CUSPARSE;
  gable_solver_work *w[LANES] = {NULL};
  cudaStream_t stream[LANES];
  cudaGraphExec_t replay = NULL;
  void *b[SIDES], *from = take(bytes), *to = take(bytes), *all = take(bytes * LANES * rounds);
  double *host = (double *)malloc(bytes), *wanted = (double *)malloc(bytes * SIDES);
  double *lanes = (double *)malloc(bytes * LANES * rounds);
  CHECK(host && wanted && lanes, "memory");
  for (int k = 0; k < LANES; k++) CHECK_CUDA(cudaStreamCreateWithFlags(&stream[k], cudaStreamNonBlocking));
  for (int k = 0; k < SIDES; k++) {
    b[k] = take(bytes);
    fill(host, k);
    CHECK_OK(gable_device_copy_in(ctx, b[k], host, bytes, stream[0]));
    CHECK_OK(gable_device_synchronise(ctx, stream[0]));
  }
  for (int values = 0; values < 2 - misfit; values++) {
    if (!values || moves) make_works(s, stream, w);
    for (int k = 0; k < SIDES; k++) {
      gable_vectors_view in = device_vectors(b[k]), out = device_vectors(to);
      CHECK_OK(gable_solver_solve(s, w[0], GABLE_OP_N, &in, &out));
      CHECK_OK(gable_solver_work_status(w[0]));
      gable_solve_report report = GABLE_SOLVE_REPORT_INIT;
      CHECK_OK(gable_solver_work_report(w[0], &report));
      CHECK(misfit ? report.gmres_iterations > 5 : !report.gmres_iterations, "%s: %d iterations of GMRES",
            test_kind_name(kind), report.gmres_iterations);
      CHECK_OK(gable_device_copy_out(ctx, wanted + (size_t)k * N * RHS, to, bytes, stream[0]));
      CHECK_OK(gable_device_synchronise(ctx, stream[0]));
      for (int j = 0; j < RHS; j++) {
        fill(host, k);
        const double error = test_backward_error(&a, GABLE_OP_N, host + j * N, wanted + (k * RHS + j) * N);
        CHECK(error <= 1e-9, "%s: backward error %g", test_kind_name(kind), error);
      }
    }
    if (values && moves) CHECK_CUDA(cudaGraphExecDestroy(replay));
    /* else the graph of the first values serves the next ones, under the same analysis */
    if (!values || moves) replay = capture(s, w[0], stream[0], from, to);
    for (int k = 0; k < SIDES; k++) {
      CHECK_CUDA(cudaMemcpyAsync(from, b[k], bytes, cudaMemcpyDeviceToDevice, stream[0]));
      CHECK_CUDA(cudaGraphLaunch(replay, stream[0]));
      CHECK_CUDA(cudaMemcpyAsync(host, to, bytes, cudaMemcpyDeviceToHost, stream[0]));
      CHECK_OK(gable_solver_work_status(w[0]));
      check_same(host, wanted + (size_t)k * N * RHS, "replay", k);
    }
    for (int round = 0; round < rounds; round++)
      for (int k = 0; k < LANES; k++) {
        gable_vectors_view in = device_vectors(b[round % SIDES]);
        gable_vectors_view out = device_vectors((char *)all + bytes * (size_t)(round * LANES + k));
        CHECK_OK(gable_solver_solve(s, w[k], GABLE_OP_N, &in, &out));
      }
    for (int k = 0; k < LANES; k++) CHECK_OK(gable_solver_work_status(w[k]));
    CHECK_OK(gable_device_copy_out(ctx, lanes, all, bytes * LANES * rounds, stream[0]));
    CHECK_OK(gable_device_synchronise(ctx, stream[0]));
    for (int k = 0; k < rounds * LANES; k++)
      check_same(lanes + (size_t)k * N * RHS, wanted + (size_t)(k / LANES % SIDES) * N * RHS, "solve", k);
    for (int64_t k = 0; k < a.ptr[N]; k++) a.val[k] *= 1.25;
    if (!values) CHECK_OK(gable_solver_factor(s, a.val, GABLE_REUSE_ALL));
  }
  CHECK_CUDA(cudaGraphExecDestroy(replay));
  for (int k = 0; k < LANES; k++) {
    gable_solver_work_destroy(&w[k]);
    CHECK_CUDA(cudaStreamDestroy(stream[k]));
  }
  for (int k = 0; k < SIDES; k++) gable_device_free(ctx, &b[k]);
  gable_device_free(ctx, &from);
  gable_device_free(ctx, &to);
  gable_device_free(ctx, &all);
  gable_solver_destroy(&s);
  test_system_free(&a);
  free(host);
  free(wanted);
  free(lanes);
}

/* Captured with regular values; replayed with singular ones, of which the huge x alone tells, and with regular ones. */
static void check_verdict_of_replay(void)
{
  enum { ROWS = 3 };
  int64_t ptr[] = {0, 3, 6, 9};
  gable_idx idx[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  double values[][ROWS * ROWS] = {{4, 1, 1, 1, 4, 1, 1, 1, 4}, {-1, 1, 1, -1, 1, 1, -1, 1, 1}}, b[] = {2, 1, -1};
  const test_system a = {ROWS, ptr, idx, values[0]};
  const gable_matrix_view v = test_system_view(&a);
  gable_solver_options options = GABLE_SOLVER_OPTIONS_INIT;
  options.match = GABLE_CHOICE_NEVER;
  options.method = GABLE_METHOD_LU;
  gable_solver *s = test_factored(ctx, &v, &options);
  gable_solver_work *w = NULL;
  gable_vectors_view in = test_vectors(ROWS, 1, (double *)take(sizeof b));
  gable_vectors_view out = test_vectors(ROWS, 1, (double *)take(sizeof b));
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  in.space = out.space = gable_context_space(ctx);
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK_OK(gable_device_copy_in(ctx, in.data, b, sizeof b, stream));
  CHECK_OK(gable_device_synchronise(ctx, stream));
  CHECK_OK(gable_solver_work_create(s, 1, &w));
  CHECK_OK(gable_solver_work_set_stream(w, stream));
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK_OK(gable_solver_solve(s, w, GABLE_OP_N, &in, &out));
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&replay, graph, 0));
  CHECK_CUDA(cudaGraphDestroy(graph));
  for (int round = 0; round < 6; round++) {
    CHECK_OK(gable_solver_factor(s, values[round % 2], GABLE_REUSE_ALL));
    CHECK_CUDA(cudaGraphLaunch(replay, stream));
    const gable_status status = gable_solver_work_status(w), wanted = round % 2 ? GABLE_NUMERICALLY_SINGULAR : GABLE_OK;
    CHECK(status == wanted, "round %d: %s: %s", round, gable_status_text(status), gable_last_error());
    CHECK_OK(gable_solver_work_status(w));
  }
  CHECK_CUDA(cudaGraphExecDestroy(replay));
  gable_solver_work_destroy(&w);
  CHECK_CUDA(cudaStreamDestroy(stream));
  gable_device_free(ctx, &in.data);
  gable_device_free(ctx, &out.data);
  gable_solver_destroy(&s);
}

int main(int argc, char **argv)
{
  char program[] = "test_solver_device_graph", where[] = "cuda:0";
  char *words[] = {program, where, NULL};
  ctx = test_place(2, argc > 1 ? argv : words, NULL);
  if (!test_place_is_gpu(ctx)) SKIP("the graphs of a GPU");
  const test_kind kinds[] = {TEST_DOMINANT, TEST_REDUCIBLE, TEST_SPD, TEST_INDEFINITE};
  const int first = argc > 2 ? atoi(argv[2]) : GABLE_SOLVE_AUTO,
            last = argc > 2 ? first : GABLE_SOLVE_PARTITIONED_CUSPARSE;
  for (int m = first; m <= last; m++) {
    for (test_kind kind : kinds) check_kind(kind, GABLE_TYPE_D, (gable_solve_method)m, 0);
    check_kind(TEST_UNSYMMETRIC, GABLE_TYPE_D, (gable_solve_method)m, 1);
  }
  check_kind(TEST_SPD, GABLE_TYPE_S, GABLE_SOLVE_AUTO, 0);
  check_verdict_of_replay();
  gable_context_destroy(&ctx);
  return 0;
}
