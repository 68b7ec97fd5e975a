/* A solve captured in a CUDA graph and replayed: with another b, with new values, between other solves of its plan; of
 * either op, with a schedule of its own or without, of doubles and of floats, of one and of several right-hand sides,
 * in one launch, in one for each level, and between two that turn the vectors. */
#include <cuda_runtime.h>

#include "support/test.h"

#include "support/large_triangles.h"
#include "support/place.h"
#include "support/triangles.h"

#define CHECK_CUDA(call) CHECK((call) == cudaSuccess, "%s", cudaGetErrorString(cudaGetLastError()))

static gable_context *ctx;

/* What is captured. */
struct request {
  const char *method;
  gable_op op;
  int ops; /* of the plan: 0 for both */
  gable_idx rhs;
  gable_type type;
  gable_idx longest; /* of the rows of two levels that are taken one after the other; 0: of a grid */
  int wide;          /* levels so wide, not of a grid, that many right-hand sides are transposed */
};

struct problem {
  request q;
  test_triangle t, meant; /* meant: op(t) by rows */
  gable_trisolve *plan;
  gable_trisolve_work *w;
  gable_vectors_view b, x;
  void *stream;
  void *host_b, *host_x;
  size_t bytes;
};

static double number(const problem *p, const void *data, size_t k)
{
  return p->q.type == GABLE_TYPE_D ? ((const double *)data)[k] : (double)((const float *)data)[k];
}

static void put(const problem *p, void *data, size_t k, double value)
{
  if (p->q.type == GABLE_TYPE_D)
    ((double *)data)[k] = value;
  else
    ((float *)data)[k] = (float)value;
}

/* t's values, as the plan has them: rounded where they are floats. */
static void new_values(problem *p)
{
  const size_t nnz = (size_t)p->t.ptr[p->t.n];
  void *val = malloc(nnz * 8);
  for (size_t k = 0; k < nnz; k++) {
    put(p, val, k, p->t.val[k]);
    p->t.val[k] = number(p, val, k);
  }
  CHECK_OK(gable_trisolve_update(p->plan, val));
  if (p->q.op == GABLE_OP_T) test_triangle_free(&p->meant);
  p->meant = p->q.op == GABLE_OP_T ? test_triangle_transpose(&p->t) : p->t;
  free(val);
}

static void open_problem(problem *p, const request *q)
{
  gable_trisolve_options options = GABLE_TRISOLVE_OPTIONS_INIT;
  const gable_vectors_view none = GABLE_VECTORS_VIEW_INIT;
  memset(p, 0, sizeof *p);
  p->q = *q;
  p->t = q->longest ? test_two_levels(q->longest)
         : q->wide  ? test_wide_levels()
                    : test_triangle_named("9 point grid", 5);
  gable_matrix_view view = test_triangle_view(&p->t);
  view.value_type = q->type;
  view.val = NULL; /* the pattern alone */
  options.method = q->method;
  options.solves = 0;
  options.ops = q->ops;
  CHECK_OK(gable_trisolve_create(ctx, &options, &p->plan));
  CHECK_OK(gable_trisolve_analyse(p->plan, &view));
  new_values(p);
  CHECK_OK(gable_stream_create(ctx, &p->stream));
  CHECK_OK(gable_trisolve_work_create(p->plan, q->rhs, &p->w));
  CHECK_OK(gable_trisolve_work_set_stream(p->w, p->stream));
  p->bytes = (size_t)p->t.n * (size_t)q->rhs * 8;
  p->host_b = malloc(p->bytes);
  p->host_x = malloc(p->bytes);
  p->b = none;
  p->b.space = GABLE_SPACE_DEVICE;
  p->b.type = q->type;
  p->b.n = p->t.n;
  p->b.ld = p->t.n;
  p->b.count = q->rhs;
  p->x = p->b;
  CHECK_OK(gable_device_alloc(ctx, p->bytes, &p->b.data));
  CHECK_OK(gable_device_alloc(ctx, p->bytes, &p->x.data));
}

static void close_problem(problem *p)
{
  gable_trisolve_work_destroy(&p->w);
  gable_trisolve_destroy(&p->plan);
  gable_stream_destroy(ctx, &p->stream);
  gable_device_free(ctx, &p->b.data);
  gable_device_free(ctx, &p->x.data);
  if (p->q.op == GABLE_OP_T) test_triangle_free(&p->meant);
  test_triangle_free(&p->t);
  free(p->host_b);
  free(p->host_x);
}

static void new_b(problem *p, int round)
{
  for (size_t k = 0; k < p->bytes / 8; k++) put(p, p->host_b, k, 1 + (double)((k + 7 * (size_t)round) % 13));
  CHECK_OK(gable_device_copy_in(ctx, p->b.data, p->host_b, p->bytes, p->stream));
  CHECK_OK(gable_device_fill(ctx, p->x.data, 0xff, p->bytes, p->stream));
}

static void check_x(problem *p, int round)
{
  const size_t n = (size_t)p->t.n;
  double *x = (double *)malloc(2 * n * sizeof *x), *b = x + n;
  CHECK_OK(gable_device_copy_out(ctx, p->host_x, p->x.data, p->bytes, p->stream));
  CHECK_OK(gable_trisolve_work_status(p->w, NULL));
  for (size_t j = 0; j < (size_t)p->q.rhs; j++) {
    for (size_t i = 0; i < n; i++) {
      x[i] = number(p, p->host_x, i + j * n);
      b[i] = number(p, p->host_b, i + j * n);
    }
    const double ratio = test_bound_ratio(&p->meant, x, b, 1, p->q.type == GABLE_TYPE_S);
    CHECK(ratio <= 1, "%s, op %d, ops %d, right-hand side %d of %d, replay %d: error over bound %g", p->q.method,
          (int)p->q.op, p->q.ops, (int)j, p->q.rhs, round, ratio);
  }
  free(x);
}

/* Both ops have the launches that the test is for, where they have a schedule. */
static void check_launches(const problem *p)
{
  gable_trisolve_info info = GABLE_TRISOLVE_INFO_INIT;
  if (!p->q.longest || (p->q.ops && p->q.op == GABLE_OP_T)) return;
  CHECK_OK(gable_trisolve_get_info(p->plan, p->q.op, &info));
  CHECK(info.launches > 1 && !info.waits, "op %d, ops %d, longest row %d: %lld launches, %lld waits", (int)p->q.op,
        p->q.ops, p->q.longest, (long long)info.launches, (long long)info.waits);
}

static void check_graph(const request *q)
{
  const int rounds = q->longest || q->wide ? 5 : 20;
  problem p;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  open_problem(&p, q);
  check_launches(&p);
  const cudaStream_t stream = (cudaStream_t)p.stream;
  CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK_OK(gable_trisolve_solve(p.plan, p.w, q->op, &p.b, &p.x));
  CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  CHECK_CUDA(cudaGraphInstantiate(&replay, graph, 0));
  for (int round = 0; round < rounds; round++) {
    new_b(&p, round);
    if (round == rounds / 2) { /* the graph reads the plan's values, so it sees new ones */
      for (int64_t k = 0; k < p.t.ptr[p.t.n]; k++) p.t.val[k] *= k % 2 ? 1.5 : 1.25;
      new_values(&p);
    }
    if (round % 5 == 4)
      CHECK_OK(gable_trisolve_solve(p.plan, p.w, q->op, &p.b, &p.x));
    else
      CHECK_CUDA(cudaGraphLaunch(replay, stream));
    check_x(&p, round);
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
  for (int k = 0; k < 16; k++) {
    request q = {NULL,
                 k & 1 ? GABLE_OP_T : GABLE_OP_N,
                 k & 2 ? GABLE_TRISOLVE_N : 0,
                 k & 4 ? 5 : 1,
                 k & 8 ? GABLE_TYPE_S : GABLE_TYPE_D,
                 0,
                 0};
    for (const char *const *method = test_place_methods(ctx); *method; method++) {
      q.method = *method;
      check_graph(&q);
    }
    q.method = "rows";
    for (q.longest = 6; q.longest < 4000; q.longest += 2994) check_graph(&q); /* whole rows, and some split */
  }
  const request transposed = {"rows", GABLE_OP_N, GABLE_TRISOLVE_N, 61, GABLE_TYPE_D, 0, 1}; /* 64,000 rows: 31 MB */
  check_graph(&transposed);
  gable_context_destroy(&ctx);
  return 0;
}
