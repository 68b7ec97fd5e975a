/* bench_graph.h: a sequence of launches, captured once and launched as a whole: what it takes without the host's share.
 */
#ifndef TOOL_BENCH_GRAPH_H
#define TOOL_BENCH_GRAPH_H

typedef struct bench_graph bench_graph;

/* Captures what run(user) enqueues on stream; run returns 0 when that went well.  NULL: there is no GPU, or what was
 * enqueued cannot be captured. */
bench_graph *bench_graph_capture(void *stream, int (*run)(void *user), void *user);

/* 0: enqueued on the stream of the capture. */
int bench_graph_launch(bench_graph *g);
void bench_graph_destroy(bench_graph *g); /* NULL is fine */

#endif
