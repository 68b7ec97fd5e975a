/* cluster_state.h: what a gi_cluster_solver and a gi_cluster_work hold. */
#ifndef GI_CLUSTER_STATE_H
#define GI_CLUSTER_STATE_H

#include "kernels/supernodal/cluster_steps.h"
#include "supernodal/clusters/cluster_dataflow.h"
#include "supernodal/clusters/cluster_solve.h"

/* One triangle's lists on the device. */
typedef struct gi_device_side {
  gable_off *ptr, *in_ptr, *in_slot, *value_at;
  gable_idx *row;
  void *values;
} gi_device_side;

struct gi_cluster_solver {
  gable_context *ctx;
  const gi_cluster_panels *panels;
  const gik_cluster_steps *steps;
  gable_idx *first;    /* first, ptr, value_at, values, dinv, coupling and order: of panels */
  gi_device_side l, u; /* u: l's lists where the layout is symmetric, its values NULL where lower serves */
  double *dinv, *coupling;
  gable_idx *order;              /* [n] number in A' of the k-th in solve order */
  double *row_scale, *col_scale; /* [n] or NULL */
  gable_off bytes;
  gi_cluster_dataflow *flow; /* of all parts together */
};

struct gi_cluster_work {
  gable_context *ctx;
  const gi_cluster_solver *solver;
  gable_idx rhs;         /* columns of the work vectors: 1, 4 or 16 */
  double *v, *y, *slots; /* [n][rhs], [n][rhs], [slots][rhs] */
  gi_dataflow_work *flow;
};

/* Device memory for count numbers of size bytes, with those of host unless it is NULL; adds to *bytes unless NULL. */
gable_status gi_cluster_to_device(gable_context *ctx, const void *host, gable_off count, size_t size, void **out,
                                  gable_off *bytes);

#endif
