/* An update and an apply of a smoother or a preconditioner as one CUDA graph: replays take what the array of values
 * holds, and the status of the work names what they find wrong.  Updates that the host takes part in are refused.
 *
 * [place] is cuda:0 without arguments. */
#include <cuda_runtime.h>

#include "support/test.h"

#include "support/place.h"
#include "support/scaled_grid.h"

#define CHECK_CUDA(call) CHECK((call) == cudaSuccess, "%s", #call)

/* A smoother or a preconditioner, its work, and the one stream that both have. */
struct subject {
  gable_smoother *smoother;
  gable_smoother_work *sweeps;
  gable_precond *precond;
  gable_precond_work *applies;
  cudaStream_t stream;
  char name[48];
};

static subject smoother_of(gable_context *ctx, const gable_matrix_view *a, const char *method, cudaStream_t stream)
{
  subject s = {};
  gable_smoother_options options = GABLE_SMOOTHER_OPTIONS_INIT;
  snprintf(s.name, sizeof s.name, "smoother, %s", method);
  s.stream = stream;
  options.method = method;
  options.solves = 0;
  CHECK_OK(gable_smoother_create(ctx, &options, &s.smoother));
  CHECK_OK(gable_smoother_analyse(s.smoother, a));
  CHECK_OK(gable_smoother_set_stream(s.smoother, stream));
  CHECK_OK(gable_smoother_work_create(s.smoother, &s.sweeps));
  CHECK_OK(gable_smoother_work_set_stream(s.sweeps, stream));
  return s;
}

static subject precond_of(gable_context *ctx, const gable_matrix_view *a, gable_preconditioner kind,
                          cudaStream_t stream)
{
  subject s = {};
  gable_precond_options options = GABLE_PRECOND_OPTIONS_INIT;
  snprintf(s.name, sizeof s.name, "preconditioner %d", (int)kind);
  s.stream = stream;
  options.kind = kind;
  CHECK_OK(gable_precond_create(ctx, &options, &s.precond));
  CHECK_OK(gable_precond_analyse(s.precond, a));
  CHECK_OK(gable_precond_set_stream(s.precond, stream));
  CHECK_OK(gable_precond_work_create(s.precond, &s.applies));
  CHECK_OK(gable_precond_work_set_stream(s.applies, stream));
  return s;
}

static void destroy(subject *s)
{
  gable_smoother_work_destroy(&s->sweeps);
  gable_smoother_destroy(&s->smoother);
  gable_precond_work_destroy(&s->applies);
  gable_precond_destroy(&s->precond);
}

static gable_status update(subject *s, const void *val)
{
  return s->smoother ? gable_smoother_update(s->smoother, val) : gable_precond_update(s->precond, val);
}

static gable_status status_of(subject *s)
{
  return s->smoother ? gable_smoother_work_status(s->sweeps, NULL) : gable_precond_work_status(s->applies);
}

static void update_and_apply(subject *s, const void *val, const gable_vectors_view *b, gable_vectors_view *x)
{
  CHECK_OK(update(s, val));
  CHECK_CUDA(cudaMemsetAsync(x->data, 0, (size_t)x->n * sizeof(double), s->stream));
  CHECK_OK(s->smoother ? gable_smoother_work_apply(s->sweeps, b, x, 2, NULL)
                       : gable_precond_apply(s->precond, s->applies, b, x));
}

static void replay(gable_context *ctx, const scaled_grid *g, subject s, double rounding)
{
  const size_t n = (size_t)g->view.n_rows, bytes = n * sizeof(double), all = (size_t)g->nnz * sizeof(double);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  double *first = (double *)malloc(bytes), *now = (double *)malloc(bytes);
  void *b = scaled_grid_memory(ctx, g->b, bytes), *x = scaled_grid_memory(ctx, NULL, bytes),
       *val = scaled_grid_memory(ctx, NULL, all);
  gable_vectors_view from = scaled_grid_column(g, b), to = scaled_grid_column(g, x);
  CHECK_CUDA(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeThreadLocal));
  update_and_apply(&s, val, &from, &to); /* the first update of all */
  CHECK_CUDA(cudaStreamEndCapture(s.stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = SCALED_GRID_SCALES / 2; round < 20; round++) {
    double *out = round == SCALED_GRID_SCALES / 2 ? first : now;
    CHECK_CUDA(cudaMemcpyAsync(val, g->val[round % SCALED_GRID_SCALES], all, cudaMemcpyDeviceToDevice, s.stream));
    if (round % 5 == 4) /* not by the graph */
      update_and_apply(&s, val, &from, &to);
    else
      CHECK_CUDA(cudaGraphLaunch(exec, s.stream));
    CHECK_CUDA(cudaMemcpyAsync(out, x, bytes, cudaMemcpyDeviceToHost, s.stream));
    CHECK_OK(status_of(&s));
    CHECK(first[n / 2] != 0 && isfinite(first[n / 2]), "%s: x is %g", s.name, first[n / 2]);
    for (size_t i = 0; i < n; i++) {
      const double meant = first[i] / scaled_grid_scale(round);
      CHECK(fabs(out[i] - meant) <= rounding * fabs(meant), "%s: round %d, row %zu: %.17g, not %.17g", s.name, round, i,
            out[i], meant);
    }
  }
  CHECK_CUDA(cudaMemsetAsync(val, 0, all, s.stream));
  CHECK_CUDA(cudaGraphLaunch(exec, s.stream));
  CHECK(status_of(&s) == GABLE_ERR_SINGULAR, "%s: a replay's zero diagonal: %s", s.name, gable_last_error());
  CHECK_OK(update(&s, val)); /* says so by the status, too */
  CHECK(status_of(&s) == GABLE_ERR_SINGULAR, "%s: a zero diagonal: %s", s.name, gable_last_error());
  CHECK_OK(update(&s, g->val[0]));
  CHECK_OK(status_of(&s));
  destroy(&s);
  CHECK_CUDA(cudaGraphExecDestroy(exec));
  CHECK_CUDA(cudaGraphDestroy(graph));
  scaled_grid_give(ctx, b);
  scaled_grid_give(ctx, x);
  scaled_grid_give(ctx, val);
  free(first);
  free(now);
}

/* While the stream is captured: GABLE_ERR_STATE with this word, and the capture goes on. */
static void refuse(subject s, const void *val, const char *word)
{
  cudaGraph_t graph;
  CHECK_CUDA(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeThreadLocal));
  const gable_status status = update(&s, val);
  CHECK_CUDA(cudaStreamEndCapture(s.stream, &graph));
  CHECK(status == GABLE_ERR_STATE && strstr(gable_last_error(), word), "%s: %d, %s", s.name, (int)status,
        gable_last_error());
  CHECK_CUDA(cudaGraphDestroy(graph));
  destroy(&s);
}

static void refuse_host_values(gable_context *ctx, cudaStream_t stream)
{
  static const int64_t ptr[] = {0, 2, 4};
  static const gable_idx idx[] = {0, 1, 0, 1};
  static const double val[] = {2, -1, -1, 2};
  gable_matrix_view a = GABLE_MATRIX_VIEW_INIT;
  a.n_rows = a.n_cols = 2;
  a.ptr = ptr;
  a.idx = idx;
  refuse(smoother_of(ctx, &a, "auto", stream), val, "host memory");
  refuse(precond_of(ctx, &a, GABLE_PRECOND_ILU0, stream), val, "host memory");
}

int main(int argc, char **argv)
{
  char program[] = "test_device_update_graphs", place[] = "cuda:0";
  char *words[] = {program, place, NULL};
  gable_context *ctx = test_place(2, argc > 1 ? argv : words, NULL);
  cudaStream_t stream;
  if (!test_place_is_gpu(ctx)) SKIP("the streams of a GPU");
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  scaled_grid g = scaled_grid_make(ctx, 150);
  for (const char *const *method = test_place_methods(ctx); *method; method++)
    replay(ctx, &g, smoother_of(ctx, &g.view, *method, stream), test_method_repeats(*method) ? 0 : 1e-9);
  for (int kind = GABLE_PRECOND_JACOBI; kind <= GABLE_PRECOND_ILU0; kind++)
    replay(ctx, &g, precond_of(ctx, &g.view, (gable_preconditioner)kind, stream), 0);
  refuse(precond_of(ctx, &g.view, GABLE_PRECOND_IC0, stream), g.val[0], "IC(0)");
  refuse_host_values(ctx, stream);
  CHECK_CUDA(cudaStreamDestroy(stream));
  scaled_grid_drop(ctx, &g);
  gable_context_destroy(&ctx);
  return 0;
}
