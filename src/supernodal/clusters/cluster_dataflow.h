/* cluster_dataflow.h: a whole solve with the operators of clusters as one launch, on the context's device.
 *
 * Tasks (cluster_tasks.h) wait for single values, not for levels or stages; see cluster_flow.h for what the kernel
 * does. */
#ifndef GI_CLUSTER_DATAFLOW_H
#define GI_CLUSTER_DATAFLOW_H

#include "kernels/supernodal/cluster_flow.h"
#include "supernodal/clusters/cluster_solve.h"

/* Tasks in device memory; const in a solve. */
typedef struct gi_cluster_dataflow gi_cluster_dataflow;
/* Boards of one solve in flight. */
typedef struct gi_dataflow_work gi_dataflow_work;

/* What a launch gets from the owner of the operators. */
typedef struct gi_dataflow_launch {
  gable_op op;
  gable_idx rhs, count;  /* 1, 4 or 16; columns */
  gik_flow_vectors b, x; /* x does not overlap b */
  void *stream;
  gable_idx skip;    /* tests: so many tasks are missing */
  double deadline_s; /* of a wait; 0: the default */
} gi_dataflow_launch;

/* GABLE_ERR_MEMORY, GABLE_ERR_LIMIT. */
gable_status gi_cluster_dataflow_create(gable_context *ctx, const gi_cluster_panels *panels,
                                        const gi_cluster_outside *outside, gi_cluster_dataflow **out);
void gi_cluster_dataflow_destroy(gable_context *ctx, gi_cluster_dataflow **flow); /* NULL is fine */

/* The operators and coefficients of F that panels holds now, in the order of stream. */
gable_status gi_cluster_dataflow_update(gi_cluster_dataflow *flow, void *stream);
gable_off gi_cluster_dataflow_bytes(const gi_cluster_dataflow *flow); /* of device memory */
gable_off
gi_cluster_dataflow_stream(const gi_cluster_dataflow *flow); /* bytes of the records and values that one solve reads */

/* For up to rhs (1, 4, 16) right-hand sides at once. */
gable_status gi_dataflow_work_create(const gi_cluster_dataflow *flow, gable_idx rhs, gi_dataflow_work **out);
void gi_dataflow_work_destroy(gable_context *ctx, gi_dataflow_work **work); /* NULL is fine */

/* One launch, ordered on its stream. */
gable_status gi_dataflow_solve(const gi_cluster_dataflow *flow, gi_dataflow_work *w, const gi_dataflow_launch *launch);

/* Waits for stream.  GABLE_ERR_DEADLINE, once, where a wait of an earlier solve did not end; names the cluster.  Later
 * solves are then as if nothing had been. */
gable_status gi_dataflow_work_check(const gi_cluster_dataflow *flow, gi_dataflow_work *w, void *stream);

#endif
