/* cluster_preparation.h: the lists of a factor's panels on the device, and what its values are copied through. */
#ifndef GI_CLUSTER_PREPARATION_H
#define GI_CLUSTER_PREPARATION_H

#include "device/staging.h"
#include "kernels/supernodal/cluster_inverse.h"
#include "supernodal/clusters/cluster_state.h"

struct gi_cluster_preparation {
  const gik_cluster_inverses *kernels;
  gik_cluster_inverse inverse; /* everything but after and before */
  gi_staging staging;
  gik_panel *panel; /* [n_super] */
  gik_panel_part *part;
  gable_idx parts;
  gable_idx *moves; /* [2][n] after and before of gik_cluster_inverse; NULL: Cholesky */

  /* In the device's memory. */
  gable_idx *moves_there, *off_from[2];
  void *vector; /* [max(n, nnz F)] values of the factor */
  void *room;   /* those of a part */
  void *own[32];
  int owned;
};

/* gi_cluster_to_device through p's staging buffers; host may change when it returns. */
gable_status gi_cluster_list_to_device(gable_context *ctx, const gi_cluster_panels *p, const void *host,
                                       gable_off count, size_t size, void **out, gable_off *bytes);

/* p->preparation and p->lists. */
gable_status gi_cluster_preparation_create(gable_context *ctx, gi_cluster_panels *p);
void gi_cluster_preparation_destroy(gable_context *ctx, gi_cluster_preparation **preparation); /* NULL is fine */
gable_off gi_cluster_preparation_bytes(const gi_cluster_panels *p);                            /* of host memory */

#endif
