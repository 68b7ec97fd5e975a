/* cluster_tasks.h: the tasks of a whole solve, in the order in which thread blocks take them.
 *
 * Places of the board: y_k of column k at k, slot s of the forward side at n + s, x_k at n + slots + k, then sums of
 * parts and of long lists.  A task waits for the places that it reads and for nothing else: neither levels nor the
 * stages of the block triangular form appear. */
#ifndef GI_CLUSTER_TASKS_H
#define GI_CLUSTER_TASKS_H

#include "kernels/supernodal/cluster_flow.h"
#include "supernodal/clusters/clusters.h"

/* The operators of one sweep: rows of length inputs (direct) or outputs (transposed), see cluster_panels.h. */
typedef struct gi_task_sweep {
  const gi_cluster_side *side;
  const gable_off *value_at; /* [count+1] */
  int transposed;
  gable_idx values; /* which of gik_cluster_flow's values */
} gi_task_sweep;

/* What one direction of a solve computes.  Coefficients are numbered as gik_cluster_flow's: entry k of F negated at
 * off_at + k. */
typedef struct gi_task_plan {
  const gi_clusters *clusters;
  gi_task_sweep forward, backward;
  gi_task_sweep inverse;            /* inside a cluster, both sweeps at once; side is not read */
  const gable_idx *source, *target; /* [n] the caller's row of b, of x for column k */
  const gable_off *off_ptr;         /* [n+1] F by rows, or NULL */
  const gable_idx *off_col;
  gable_off off_at;
  gable_type type; /* of the operators */
  gik_flow_limits limits;
} gi_task_plan;

typedef struct gi_cluster_tasks {
  gable_idx count;
  gik_flow_at *at;         /* [count+1] */
  unsigned char *records;  /* [at[count].record], see cluster_flow.h */
  gable_off sources;       /* of all tasks, in their order */
  gik_flow_source *source; /* [sources] */
  gable_off places;
} gi_cluster_tasks;

/* The tasks of so many plans, on ctx->threads threads; the same bytes for any number.  O(rows + terms, times log of
 * tasks).  GABLE_ERR_MEMORY, GABLE_ERR_LIMIT, GABLE_ERR_ARGUMENT where tasks wait in a circle. */
gable_status gi_cluster_tasks_init(gable_context *ctx, const gi_task_plan *plan, int count, gi_cluster_tasks *out);
void gi_cluster_tasks_release(gable_context *ctx, gi_cluster_tasks *tasks);

#endif
