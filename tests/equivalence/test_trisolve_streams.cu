/* Streams of the program's own, all cudaStreamNonBlocking: four of them solve while a fifth updates the values a
 * hundred times, and nobody waits for the host; updates in a captured graph; a CUDA error that the program has pending,
 * and the CUDA device that its thread has, are as they were after every call.
 *
 * [place] is cuda:0 without arguments.  On a machine with two GPUs the last part has a context on the second one while
 * the thread's device is the first. */
#include <cuda_runtime.h>

#include "support/test.h"

#include "support/large_triangles.h"
#include "support/place.h"
#include "support/triangles.h"

#define CHECK_CUDA(call) CHECK((call) == cudaSuccess, "%s", #call)

enum { LANES = 4, UPDATES = 100, SCALES = 7 };

/* A lower triangle in device memory, with its values times 2^-3, 2^-2, ... 2^3. */
struct matrix {
  test_triangle t;
  gable_matrix_view view;
  void *ptr, *idx, *val[SCALES];
};

static double scale_of(int round)
{
  return ldexp(1.0, round % SCALES - SCALES / 2);
}

static void *device_copy(gable_context *ctx, const void *host, size_t bytes)
{
  void *p = NULL;
  CHECK_OK(gable_device_alloc(ctx, bytes, &p));
  if (host) CHECK_OK(gable_device_copy_in(ctx, p, host, bytes, NULL));
  CHECK_OK(gable_device_synchronise(ctx, NULL));
  return p;
}

static matrix matrix_make(gable_context *ctx, test_triangle t)
{
  const size_t n = (size_t)t.n, nnz = (size_t)t.ptr[t.n];
  double *scaled = (double *)malloc(nnz * sizeof *scaled);
  matrix m = {t, test_triangle_view(&t), NULL, NULL, {}};
  m.ptr = device_copy(ctx, t.ptr, (n + 1) * sizeof *t.ptr);
  m.idx = device_copy(ctx, t.idx, nnz * sizeof *t.idx);
  for (int k = 0; k < SCALES; k++) {
    for (size_t q = 0; q < nnz; q++) scaled[q] = scale_of(k) * t.val[q];
    m.val[k] = device_copy(ctx, scaled, nnz * sizeof *scaled);
  }
  m.view.space = gable_context_space(ctx);
  m.view.ptr = m.ptr;
  m.view.idx = (const gable_idx *)m.idx;
  m.view.val = NULL;
  free(scaled);
  return m;
}

static void matrix_drop(gable_context *ctx, matrix *m)
{
  gable_device_free(ctx, &m->ptr);
  gable_device_free(ctx, &m->idx);
  for (int k = 0; k < SCALES; k++) gable_device_free(ctx, &m->val[k]);
  test_triangle_free(&m->t);
}

static gable_trisolve *plan_of(gable_context *ctx, const matrix *m, const char *method, int ops, void *stream)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_trisolve *plan = NULL;
  options.method = method;
  options.solves = 0;
  options.ops = ops;
  CHECK_OK(gable_trisolve_create(ctx, &options, &plan));
  CHECK_OK(gable_trisolve_set_stream(plan, stream));
  CHECK_OK(gable_trisolve_analyse(plan, &m->view));
  return plan;
}

static gable_vectors_view vector_of(gable_context *ctx, const matrix *m, void *data)
{
  gable_vectors_view v = GABLE_VECTORS_VIEW_INIT;
  v.space = gable_context_space(ctx);
  v.n = v.ld = m->t.n;
  v.count = 1;
  v.data = data;
  return v;
}

static double *ones(gable_idx n)
{
  double *b = (double *)malloc((size_t)n * sizeof *b);
  for (gable_idx i = 0; i < n; i++) b[i] = 1 - 0.25 * (i % 5);
  return b;
}

/* The method that solves op: one that is not planned is solved by another than was asked for. */
static gable_trisolve_info info_of(const gable_trisolve *plan, gable_op op)
{
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  CHECK_OK(gable_trisolve_get_info(plan, op, &info));
  return info;
}

/* x is first, which solves with the values times 1, over the scale of this round. */
static void check_round(const char *what, const char *method, const double *x, const double *first, size_t n, int round,
                        int lane)
{
  const double rounding = test_method_repeats(method) ? 0 : 1e-9;
  for (size_t i = 0; i < n; i++) {
    const double meant = first[i] / scale_of(round);
    CHECK(fabs(x[i] - meant) <= rounding * fabs(meant), "%s, %s: round %d, stream %d, row %zu: %.17g, not %.17g", what,
          method, round, lane, i, x[i], meant);
  }
}

static void updates_between_solves(gable_context *ctx, const matrix *m, const char *method, gable_op op, int ops)
{
  const size_t n = (size_t)m->t.n, bytes = n * sizeof(double);
  cudaStream_t updater, stream[LANES];
  gable_trisolve_work *w[LANES];
  double *host_b = ones(m->t.n), *all = (double *)malloc(bytes * LANES * UPDATES);
  void *b = device_copy(ctx, host_b, bytes), *x = device_copy(ctx, NULL, bytes * LANES * UPDATES);
  gable_vectors_view from = vector_of(ctx, m, b);
  CHECK_CUDA(cudaStreamCreateWithFlags(&updater, cudaStreamNonBlocking));
  gable_trisolve *plan = plan_of(ctx, m, method, ops, updater);
  for (int k = 0; k < LANES; k++) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream[k], cudaStreamNonBlocking));
    CHECK_OK(gable_trisolve_work_create(plan, 1, &w[k]));
    CHECK_OK(gable_trisolve_work_set_stream(w[k], stream[k]));
  }
  for (int round = 0; round < UPDATES; round++) {
    CHECK_OK(gable_trisolve_update(plan, m->val[round % SCALES]));
    for (int k = 0; k < LANES; k++) {
      gable_vectors_view to = vector_of(ctx, m, (char *)x + bytes * (size_t)(round * LANES + k));
      CHECK_OK(gable_trisolve_solve(plan, w[k], op, &from, &to));
    }
  }
  for (int k = 0; k < LANES; k++) CHECK_OK(gable_trisolve_work_status(w[k], NULL));
  CHECK_OK(gable_device_copy_out(ctx, all, x, bytes * LANES * UPDATES, stream[0]));
  CHECK_OK(gable_device_synchronise(ctx, stream[0]));
  const double *first = all + n * LANES * (SCALES / 2); /* its scale is 1 */
  const gable_trisolve_info info = info_of(plan, op);
  for (int round = 0; round < UPDATES; round++)
    for (int k = 0; k < LANES; k++)
      check_round("updates between solves", info.method_used, all + n * (size_t)(round * LANES + k), first, n, round,
                  k);
  if (op == GABLE_OP_N) CHECK(test_bound_ratio(&m->t, first, host_b, 1, 0) <= 1, "%s: beyond the bound", method);
  for (int k = 0; k < LANES; k++) gable_trisolve_work_destroy(&w[k]);
  gable_trisolve_destroy(&plan);
  for (int k = 0; k < LANES; k++) CHECK_CUDA(cudaStreamDestroy(stream[k]));
  CHECK_CUDA(cudaStreamDestroy(updater));
  gable_device_free(ctx, &b);
  gable_device_free(ctx, &x);
  free(host_b);
  free(all);
}

/* An update and a solve as one graph: replays take what the array of values holds. */
static void update_in_graph(gable_context *ctx, const matrix *m, const char *method, gable_op op, int ops)
{
  const size_t n = (size_t)m->t.n, bytes = n * sizeof(double), all = (size_t)m->t.ptr[n] * sizeof(double);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  gable_trisolve_work *w = NULL;
  gable_idx row = -1;
  double *host_b = ones(m->t.n), *first = (double *)malloc(bytes), *host_x = (double *)malloc(bytes);
  void *b = device_copy(ctx, host_b, bytes), *x = device_copy(ctx, NULL, bytes), *val = device_copy(ctx, NULL, all);
  gable_vectors_view from = vector_of(ctx, m, b), to = vector_of(ctx, m, x);
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  gable_trisolve *plan = plan_of(ctx, m, method, ops, stream);
  CHECK_OK(gable_trisolve_work_create(plan, 1, &w));
  CHECK_OK(gable_trisolve_work_set_stream(w, stream));
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK_OK(gable_trisolve_update(plan, val));
  CHECK_OK(gable_trisolve_solve(plan, w, op, &from, &to));
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&replay, graph, 0));
  const gable_trisolve_info info = info_of(plan, op);
  for (int round = SCALES / 2; round < 20; round++) {
    CHECK_CUDA(cudaMemcpyAsync(val, m->val[round % SCALES], all, cudaMemcpyDeviceToDevice, stream));
    if (round % 5 == 4) { /* not by the graph */
      CHECK_OK(gable_trisolve_update(plan, val));
      CHECK_OK(gable_trisolve_solve(plan, w, op, &from, &to));
    } else {
      CHECK_CUDA(cudaGraphLaunch(replay, stream));
    }
    CHECK_CUDA(cudaMemcpyAsync(round == SCALES / 2 ? first : host_x, x, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK_OK(gable_trisolve_work_status(w, NULL));
    check_round("graph", info.method_used, round == SCALES / 2 ? first : host_x, first, n, round, 0);
  }
  CHECK_CUDA(cudaMemsetAsync(val, 0, all, stream));
  CHECK_CUDA(cudaGraphLaunch(replay, stream));
  CHECK(gable_trisolve_work_status(w, &row) == GABLE_ERR_SINGULAR && row >= 0, "%s: a replay's zero diagonal, row %d",
        method, row);
  CHECK_OK(gable_trisolve_update(plan, m->val[0]));
  CHECK_OK(gable_trisolve_work_status(w, NULL));
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  CHECK_CUDA(cudaGraphExecDestroy(replay));
  CHECK_CUDA(cudaGraphDestroy(graph));
  CHECK_CUDA(cudaStreamDestroy(stream));
  gable_device_free(ctx, &b);
  gable_device_free(ctx, &x);
  gable_device_free(ctx, &val);
  free(host_b);
  free(first);
  free(host_x);
}

/* The values of m with a row of which an entry overflows when divided by the diagonal entry; *row names it. */
static void *overflowing_values(gable_context *ctx, const matrix *m, gable_idx *row)
{
  const size_t nnz = (size_t)m->t.ptr[m->t.n];
  double *val = (double *)malloc(nnz * sizeof *val);
  *row = m->t.n / 2;
  memcpy(val, m->t.val, nnz * sizeof *val);
  for (int64_t q = m->t.ptr[*row]; q < m->t.ptr[*row + 1]; q++) val[q] = m->t.idx[q] == *row ? 1e-200 : 1e150;
  void *p = device_copy(ctx, val, nnz * sizeof *val);
  free(val);
  return p;
}

/* A captured solve by records keeps the plan to them: an overflow is an error, however often, and goes with its values.
 */
static void overflow_in_graph(gable_context *ctx, const matrix *m, const char *method)
{
  const size_t bytes = (size_t)m->t.n * sizeof(double);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  gable_trisolve_work *w = NULL;
  gable_idx row = -1, wrong = -1;
  double *host_b = ones(m->t.n), *host_x = (double *)malloc(bytes);
  void *b = device_copy(ctx, host_b, bytes), *x = device_copy(ctx, NULL, bytes);
  void *large = overflowing_values(ctx, m, &row);
  gable_vectors_view from = vector_of(ctx, m, b), to = vector_of(ctx, m, x);
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  gable_trisolve *plan = plan_of(ctx, m, method, GABLE_TRISOLVE_N, stream);
  CHECK_OK(gable_trisolve_work_create(plan, 1, &w));
  CHECK_OK(gable_trisolve_work_set_stream(w, stream));
  CHECK_OK(gable_trisolve_update(plan, m->val[SCALES / 2]));
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK_OK(gable_trisolve_solve(plan, w, GABLE_OP_N, &from, &to));
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&replay, graph, 0));
  for (int again = 0; again < 2; again++) {
    CHECK_OK(gable_trisolve_update(plan, large));
    CHECK(gable_trisolve_work_status(w, &wrong) == GABLE_ERR_LIMIT && wrong == row, "%s: row %d: %s", method, wrong,
          gable_last_error());
  }
  CHECK_OK(gable_trisolve_update(plan, m->val[SCALES / 2]));
  CHECK_CUDA(cudaGraphLaunch(replay, stream));
  CHECK_CUDA(cudaMemcpyAsync(host_x, x, bytes, cudaMemcpyDeviceToHost, stream));
  CHECK_OK(gable_trisolve_work_status(w, NULL));
  CHECK(test_bound_ratio(&m->t, host_x, host_b, 1, 0) <= 1, "%s: beyond the bound", method);
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  CHECK_CUDA(cudaGraphExecDestroy(replay));
  CHECK_CUDA(cudaGraphDestroy(graph));
  CHECK_CUDA(cudaStreamDestroy(stream));
  gable_device_free(ctx, &b);
  gable_device_free(ctx, &x);
  gable_device_free(ctx, &large);
  free(host_b);
  free(host_x);
}

/* After each call: the device is the one that the thread had, and the error that was pending still is. */
#define CHECK_LEFT_ALONE(call)                                                                                         \
  do {                                                                                                                 \
    int now = -1;                                                                                                      \
    CHECK_OK(call);                                                                                                    \
    CHECK(cudaPeekAtLastError() == pending, "%s: the pending error is %s", #call,                                      \
          cudaGetErrorName(cudaPeekAtLastError()));                                                                    \
    CHECK(cudaGetDevice(&now) == cudaSuccess && now == mine, "%s: the device is %d, not %d", #call, now, mine);        \
  } while (0)

/* Everything from a context to its end, while the thread's device is mine. */
static void leave_alone(const char *place, int mine, cudaError_t pending, const char *method, test_triangle t)
{
  const size_t n = (size_t)t.n, bytes = n * sizeof(double);
  const gable_matrix_view view = test_triangle_view(&t);
  gable_matrix_view whole = view;
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_smoother_options sweeps = GABLE_SMOOTHER_OPTIONS_INIT;
  gable_context *ctx = NULL;
  gable_trisolve *plan = NULL;
  gable_smoother *smoother = NULL;
  gable_trisolve_work *w = NULL;
  void *stream = NULL, *b = NULL, *x = NULL;
  double *host_b = ones(t.n), *host_x = (double *)calloc(n, sizeof *host_x);
  gable_vectors_view from = GABLE_VECTORS_VIEW_INIT, to;
  options.method = method;
  sweeps.sweep = GABLE_SWEEP_FORWARD;
  sweeps.solves = 0;
  whole.part = GABLE_PART_FULL;
  CHECK_LEFT_ALONE(gable_context_create(place, NULL, &ctx));
  CHECK_LEFT_ALONE(gable_stream_create(ctx, &stream));
  CHECK_LEFT_ALONE(gable_device_alloc(ctx, bytes, &b));
  CHECK_LEFT_ALONE(gable_device_alloc(ctx, bytes, &x));
  CHECK_LEFT_ALONE(gable_device_copy_in(ctx, b, host_b, bytes, stream));
  CHECK_LEFT_ALONE(gable_trisolve_create(ctx, &options, &plan));
  CHECK_LEFT_ALONE(gable_trisolve_analyse(plan, &view));
  CHECK_LEFT_ALONE(gable_trisolve_update(plan, t.val));
  CHECK_LEFT_ALONE(gable_trisolve_work_create(plan, 1, &w));
  CHECK_LEFT_ALONE(gable_trisolve_work_set_stream(w, stream));
  from.space = gable_context_space(ctx);
  from.n = from.ld = t.n;
  from.count = 1;
  to = from;
  from.data = b;
  to.data = x;
  CHECK_LEFT_ALONE(gable_trisolve_solve(plan, w, GABLE_OP_N, &from, &to));
  CHECK_LEFT_ALONE(gable_trisolve_work_status(w, NULL));
  CHECK_LEFT_ALONE(gable_trisolve_get_schedule(plan, GABLE_OP_N, NULL, NULL));
  CHECK_LEFT_ALONE(gable_device_copy_out(ctx, host_x, x, bytes, stream));
  CHECK_LEFT_ALONE(gable_device_synchronise(ctx, stream));
  CHECK(test_bound_ratio(&t, host_x, host_b, 1, 0) <= 1, "%s: beyond the bound", method);
  CHECK_LEFT_ALONE(gable_smoother_create(ctx, &sweeps, &smoother));
  CHECK_LEFT_ALONE(gable_smoother_set_stream(smoother, stream));
  CHECK_LEFT_ALONE(gable_smoother_analyse(smoother, &whole));
  CHECK_LEFT_ALONE(gable_smoother_update(smoother, t.val));
  CHECK_LEFT_ALONE(gable_smoother_apply(smoother, &from, &to, 2, NULL));
  CHECK_LEFT_ALONE(gable_smoother_status(smoother, NULL));
  gable_smoother_destroy(&smoother);
  gable_trisolve_work_destroy(&w);
  gable_trisolve_destroy(&plan);
  gable_device_free(ctx, &b);
  gable_device_free(ctx, &x);
  gable_stream_destroy(ctx, &stream);
  gable_context_destroy(&ctx);
  CHECK_LEFT_ALONE(GABLE_OK);
  test_triangle_free(&t);
  free(host_b);
  free(host_x);
}

static void program_is_left_alone(const char *place)
{
  static const char *const methods[] = {"tiles", "rows", "levr", "elmc"};
  int devices = 0;
  CHECK_CUDA(cudaGetDeviceCount(&devices));
  CHECK_CUDA(cudaSetDevice(0));
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    leave_alone(place, 0, cudaSuccess, methods[k], test_large_grid());
    CHECK(cudaSetDevice(12345) == cudaErrorInvalidDevice, "there is no such device");
    leave_alone(place, 0, cudaErrorInvalidDevice, methods[k], test_large_grid());
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice, "the program's own error");
    if (devices > 1) leave_alone("cuda:1", 0, cudaSuccess, methods[k], test_large_grid());
  }
}

int main(int argc, char **argv)
{
  char program[] = "test_trisolve_streams", place[] = "cuda:0";
  char *words[] = {program, place, NULL};
  gable_context *ctx = test_place(2, argc > 1 ? argv : words, NULL);
  if (!test_place_is_gpu(ctx)) SKIP("the streams of a GPU");
  matrix m = matrix_make(ctx, test_large_grid());
  for (const char *const *method = test_place_methods(ctx); *method; method++) {
    updates_between_solves(ctx, &m, *method, GABLE_OP_N, 0);
    update_in_graph(ctx, &m, *method, GABLE_OP_N, 0);
  }
  updates_between_solves(ctx, &m, "rows", GABLE_OP_T, GABLE_TRISOLVE_N);
  update_in_graph(ctx, &m, "rows", GABLE_OP_T, GABLE_TRISOLVE_N);
  overflow_in_graph(ctx, &m, "rows");
  overflow_in_graph(ctx, &m, "tiles");
  matrix_drop(ctx, &m);
  program_is_left_alone(gable_context_where(ctx));
  gable_context_destroy(&ctx);
  return 0;
}
