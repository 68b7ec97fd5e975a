/* A solve captured in a CUDA graph and replayed: with another b, with new values, between other solves of its plan. */
#include <cuda_runtime.h>

#include "support/test.h"

#include "support/place.h"
#include "support/triangles.h"

#define CHECK_CUDA(call) CHECK((call) == cudaSuccess, "%s", cudaGetErrorString(cudaGetLastError()))

static gable_context *ctx;

struct problem {
  test_triangle t;
  gable_trisolve *plan;
  gable_work *w;
  gable_vectors_view b, x;
  void *stream;
  double *host_b, *host_x;
  size_t bytes;
};

static void open_problem(problem *p, const char *method)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  gable_matrix_view view = GABLE_MATRIX_VIEW_INIT;
  const gable_vectors_view none = GABLE_VECTORS_VIEW_INIT;
  int kind = 0;
  while (strcmp(test_triangle_name(kind), "9 point grid")) kind++;
  p->t = test_triangle_make(kind, 5);
  view.n_rows = view.n_cols = p->t.n;
  view.part = GABLE_LOWER;
  view.ptr = p->t.ptr;
  view.idx = p->t.idx;
  options.method = method;
  CHECK_OK(gable_trisolve_create(ctx, &options, &p->plan));
  CHECK_OK(gable_trisolve_analyse(p->plan, &view));
  CHECK_OK(gable_trisolve_update(p->plan, p->t.val));
  CHECK_OK(gable_stream_create(ctx, &p->stream));
  CHECK_OK(gable_work_create(p->plan, 1, &p->w));
  CHECK_OK(gable_work_set_stream(p->w, p->stream));
  p->bytes = (size_t)p->t.n * 8;
  p->host_b = (double *)malloc(p->bytes);
  p->host_x = (double *)malloc(p->bytes);
  p->b = none;
  p->b.space = GABLE_DEVICE;
  p->b.n = p->t.n;
  p->b.ld = p->t.n;
  p->x = p->b;
  CHECK_OK(gable_device_alloc(ctx, p->bytes, &p->b.data));
  CHECK_OK(gable_device_alloc(ctx, p->bytes, &p->x.data));
}

static void close_problem(problem *p)
{
  gable_work_destroy(&p->w);
  gable_trisolve_destroy(&p->plan);
  gable_stream_destroy(ctx, &p->stream);
  gable_device_free(ctx, &p->b.data);
  gable_device_free(ctx, &p->x.data);
  test_triangle_free(&p->t);
  free(p->host_b);
  free(p->host_x);
}

static void new_b(problem *p, int round)
{
  for (gable_idx i = 0; i < p->t.n; i++) p->host_b[i] = 1 + (i + 7 * round) % 13;
  CHECK_OK(gable_device_copy_in(ctx, p->b.data, p->host_b, p->bytes, p->stream));
  CHECK_OK(gable_device_fill(ctx, p->x.data, 0xff, p->bytes, p->stream));
}

static void check_x(problem *p, const char *method, int round)
{
  CHECK_OK(gable_device_copy_out(ctx, p->host_x, p->x.data, p->bytes, p->stream));
  CHECK_OK(gable_work_status(p->w, NULL));
  const double ratio = test_bound_ratio(&p->t, p->host_x, p->host_b, 1, 0);
  CHECK(ratio <= 1, "%s, replay %d: error over bound %g", method, round, ratio);
}

static void check_graph(const char *method)
{
  problem p;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  open_problem(&p, method);
  const cudaStream_t stream = (cudaStream_t)p.stream;
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK_OK(gable_trisolve_solve(p.plan, p.w, GABLE_N, &p.b, &p.x));
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&replay, graph, 0));
  for (int round = 0; round < 60; round++) {
    new_b(&p, round);
    if (round == 30) { /* the graph reads the plan's values, so it sees new ones */
      for (int64_t k = 0; k < p.t.ptr[p.t.n]; k++) p.t.val[k] *= k % 2 ? 1.5 : 1.25;
      CHECK_OK(gable_trisolve_update(p.plan, p.t.val));
    }
    if (round % 5 == 4)
      CHECK_OK(gable_trisolve_solve(p.plan, p.w, GABLE_N, &p.b, &p.x));
    else
      CHECK_CUDA(cudaGraphLaunch(replay, stream));
    check_x(&p, method, round);
  }
  CHECK_CUDA(cudaGraphExecDestroy(replay));
  CHECK_CUDA(cudaGraphDestroy(graph));
  close_problem(&p);
}

int main(int argc, char **argv)
{
  char program[] = "test_trisolve_graph", place[] = "cuda:0";
  char *words[] = {program, place, NULL};
  ctx = test_place(2, argc > 1 ? argv : words, NULL);
  for (const char *const *method = test_place_methods(ctx); *method; method++) check_graph(*method);
  gable_context_destroy(&ctx);
  return 0;
}
