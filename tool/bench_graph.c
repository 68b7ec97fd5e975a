/* bench_graph.c: see bench_graph.h. */
#include "bench_graph.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

struct bench_graph {
  cudaStream_t stream;
  cudaGraphExec_t ready;
};

/* An error of a capture that did not succeed is nobody else's. */
static bench_graph *give_up(bench_graph *g, cudaGraph_t graph)
{
  if (graph) cudaGraphDestroy(graph);
  free(g);
  (void)cudaGetLastError();
  return NULL;
}

bench_graph *bench_graph_capture(void *stream, int (*run)(void *user), void *user)
{
  bench_graph *g = calloc(1, sizeof *g);
  cudaGraph_t graph = NULL;
  if (!g) return NULL;
  g->stream = stream;
  if (cudaStreamBeginCapture(g->stream, cudaStreamCaptureModeThreadLocal)) return give_up(g, NULL);
  const int failed = run(user);
  if (cudaStreamEndCapture(g->stream, &graph) || failed || !graph) return give_up(g, graph);
  if (cudaGraphInstantiate(&g->ready, graph, 0)) return give_up(g, graph);
  cudaGraphDestroy(graph);
  return g;
}

int bench_graph_launch(bench_graph *g)
{
  return cudaGraphLaunch(g->ready, g->stream) ? -1 : 0;
}

void bench_graph_destroy(bench_graph *g)
{
  if (!g) return;
  cudaGraphExecDestroy(g->ready);
  free(g);
}
