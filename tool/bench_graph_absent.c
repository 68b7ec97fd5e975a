/* bench_graph_absent.c: this build has no CUDA. */
#include "bench_graph.h"

#include <stddef.h>

bench_graph *bench_graph_capture(void *stream, int (*run)(void *user), void *user)
{
  (void)stream, (void)run, (void)user;
  return NULL;
}

int bench_graph_launch(bench_graph *g)
{
  (void)g;
  return -1;
}

void bench_graph_destroy(bench_graph *g)
{
  (void)g;
}
