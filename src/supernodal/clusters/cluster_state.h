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
  gable_idx *most_inputs[2]; /* [n_levels] of a cluster, backward and forward; in host memory */
} gi_device_side;

struct gi_cluster_solver {
  gable_context *ctx;
  const gi_cluster_panels *panels;
  const gik_cluster_steps *steps;
  gable_idx *first;    /* first, ptr, value_at, values, dinv, coupling and order: of panels */
  gi_device_side l, u; /* u: l's lists where the layout is symmetric, its values NULL where lower serves */
  double *dinv, *coupling;
  gable_idx *order; /* [n] number in A' of the k-th in solve order */
  gable_idx *order_of, *row_of,
      *col_of;                   /* [n] place in solve order of a number in A', and of the caller's row and column */
  gable_off *off_ptr[2];         /* [n+1] F by rows and by columns, in solve order, or NULL */
  gable_idx *off_col[2];         /* [nnz F] */
  double *row_scale, *col_scale; /* [n] or NULL */
  gable_off bytes;
  gi_cluster_dataflow *flow; /* of all parts together */
};

struct gi_cluster_work {
  gable_context *ctx;
  const gi_cluster_solver *solver;
  gable_idx most;        /* right-hand sides at a time: 1, 4, 16, or a multiple of GIK_CLUSTER_WIDE */
  double *v, *y, *slots; /* [n][most], [n][most], [slots][most] */
  gi_dataflow_work *flow;
};

/* Device memory for count numbers of size bytes, with those of host unless it is NULL; adds to *bytes unless NULL. */
gable_status gi_cluster_to_device(gable_context *ctx, const void *host, gable_off count, size_t size, void **out,
                                  gable_off *bytes);

#endif
